/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/test_options.h"

#include <string.h>

#include "src/cli/output.h"
#include "src/core/text.h"
#include "src/core/units.h"

/* iperf3's: a datagram rate that harms nobody. */
#define USUAL_UDP_BPS (1024 * 1024)

/* Copies text and cuts it at the separator: *second is what is behind it, NULL: nothing is. */
static bool split(const char *text, char separator, char *buf, size_t cap, char **second)
{
	size_t len = strlen(text);

	*second = NULL;
	if (len >= cap)
		return false;
	memcpy(buf, text, len + 1);
	*second = strchr(buf, separator);
	if (*second)
		*(*second)++ = '\0';
	return true;
}

/* RATE or RATE/BURST; 0 is no limit. */
static int read_rate(struct test_settings *s)
{
	char text[64], *slash;
	uint64_t burst = 0;

	if (!s->rate)
		return 0;
	if (!split(s->rate, '/', text, sizeof(text), &slash) || parse_rate(text, &s->rate_bps) ||
	    (s->rate_bps && (s->rate_bps < RUN_MIN_RATE_BPS || s->rate_bps > RUN_MAX_RATE_BPS)) ||
	    (slash && (parse_u64(slash, &burst) || !burst || burst > 1000)))
		return complain(-1, "test: --bitrate %s: want a rate such as 100M, 8 kbit/s to 10 "
				"Tbit/s or 0, and after a / 1 to 1000 blocks", s->rate);
	s->burst_blocks = burst;
	s->rate_given = true;
	return 0;
}

static int read_affinity(struct test_settings *s)
{
	char text[32], *comma;
	uint64_t ours, theirs = 0;

	if (!s->affinity)
		return 0;
	if (!split(s->affinity, ',', text, sizeof(text), &comma) || parse_u64(text, &ours) ||
	    ours >= ND_MAX_CPUS ||
	    (comma && (parse_u64(comma, &theirs) || theirs >= ND_MAX_CPUS)))
		return complain(-1, "test: --affinity %s: want the number of a CPU, or of one here "
				"and one there: 2,5", s->affinity);
	s->client_cpu = ours + 1;
	s->server_cpu = comma ? theirs + 1 : 0;
	return 0;
}

static int read_tos(struct test_settings *s)
{
	if (!s->tos)
		return 0;
	bool hex = !strncmp(s->tos, "0x", 2) || !strncmp(s->tos, "0X", 2);
	int rc = hex ? parse_hex_u64(s->tos + 2, &s->tos_byte) : parse_u64(s->tos, &s->tos_byte);

	if (!hex && s->tos[0] == '0' && s->tos[1]) {
		/* As in C and in iperf3. */
		s->tos_byte = 0;
		rc = strspn(s->tos, "01234567") == strlen(s->tos) && strlen(s->tos) <= 4 ? 0 : -1;
		for (const char *c = s->tos; *c && !rc; c++)
			s->tos_byte = s->tos_byte * 8 + (uint64_t)(*c - '0');
	}
	if (rc || s->tos_byte > 255)
		return complain(-1, "test: --tos %s: want 0 to 255, 0x for hexadecimal, 0 for "
				"octal", s->tos);
	return 0;
}

static const char *contradiction(const struct test_settings *s)
{
	bool amount = s->total_bytes || s->total_blocks;

	if (s->time_ms == 0)
		return "--time 0: a test without an end keeps the peer from everybody else; say "
		       "how long (86400 is a day), or stop it early with Ctrl-C";
	if (s->time_ms != TEST_UNSET && amount)
		return "--time excludes --bytes and --blockcount: the test ends by one of them";
	if (s->total_bytes && s->total_blocks)
		return "--bytes and --blockcount exclude each other";
	if (s->time_ms != TEST_UNSET && s->time_ms < 100)
		return "--time: " TEST_TIME_WANT;
	if (s->interval_ms && s->interval_ms < 100)
		return "--interval: " TEST_INTERVAL_WANT;
	if (s->reverse && s->bidirectional)
		return "--reverse and --bidir exclude each other";
	if (s->send_file && s->zerocopy)
		return "--zerocopy (sendfile) and --no-copy (MSG_ZEROCOPY) exclude each other";
	if (s->udp && (s->send_file || s->zerocopy || s->discard_receive))
		return "--zerocopy, --no-copy and --skip-rx-copy are of TCP, not of --udp";
	if (s->udp && (s->mss_bytes || s->congestion_control || s->no_delay))
		return "--set-mss, --congestion and --no-delay are of TCP, not of --udp";
	if (!s->udp && (s->gso || s->gro || s->dont_fragment))
		return "--gso, --gro and --dont-fragment want --udp";
	if (s->udp && s->block_bytes &&
	    (s->block_bytes < RUN_MIN_DATAGRAM_BYTES || s->block_bytes > RUN_MAX_DATAGRAM_BYTES))
		return "--length: a datagram has 16 to 65507 bytes";
	if (s->bidirectional && s->streams > RUN_MAX_STREAMS / 2)
		return "--bidir: 1024 streams each way at most";
	if (s->tui && (s->json || s->format == REPORT_JSON || s->json_stream))
		return "--tui shows a screen, --report json and --json-stream print: choose one";
	if (s->tui && (s->quiet || s->plain))
		return "--tui and --quiet or --plain exclude each other";
	if ((s->json || s->format == REPORT_JSON) && s->json_stream)
		return "--report json and --json-stream exclude each other";
	return NULL;
}

int test_options_check(struct test_settings *s)
{
	const char *why = contradiction(s);

	if (why)
		return complain(-1, "test: %s", why);
	if (run_spec_set_congestion(&(struct run_spec){ 0 }, s->congestion_control))
		return complain(-1, "--congestion %s: no kernel has such a name",
				s->congestion_control);
	s->json |= s->format == REPORT_JSON;
	if (read_rate(s) || read_affinity(s) || read_tos(s))
		return -1;
	return 0;
}

/*
 * A stream at a rate goes out in small pieces, for a steady rate; whoever says how long a block is
 * means blocks, as with iperf3.
 */
static uint64_t burst_of(const struct test_settings *s)
{
	return !s->burst_blocks && s->block_bytes && s->rate_bps && !s->udp ? 1 : s->burst_blocks;
}

/* Who reads iperf3's JSON finds the last interval in it, also with -i 0: one of all. */
static uint64_t report_of(const struct test_settings *s)
{
	return !s->interval_ms && (s->json || s->json_stream) ? 3600000 : s->interval_ms;
}

static void fill_spec(const struct test_settings *s, struct run_spec *spec)
{
	bool amount = s->total_bytes || s->total_blocks;

	*spec = (struct run_spec){
		.protocol = s->udp ? RUN_UDP : RUN_TCP,
		.bidirectional = s->bidirectional,
		.latency = s->latency,
		.streams = s->streams,
		.block_bytes = s->block_bytes ? s->block_bytes :
			       s->udp ? RUN_DEFAULT_DATAGRAM_BYTES : RUN_DEFAULT_BLOCK_BYTES,
		.warmup_ms = s->omit_ms,
		.window_ms = s->time_ms != TEST_UNSET ? s->time_ms :
			     amount ? RUN_MAX_SECONDS * 1000ULL - s->omit_ms : TEST_USUAL_TIME_MS,
		.total_bytes = s->total_bytes,
		.total_blocks = s->total_blocks,
		.mss_bytes = s->mss_bytes,
		.sndbuf_bytes = s->window_bytes,
		.rcvbuf_bytes = s->window_bytes,
		.rate_bps = s->rate_given ? s->rate_bps : s->udp ? USUAL_UDP_BPS : 0,
		.burst_blocks = burst_of(s),
		.pacing_bps = s->pacing_bps,
		.tos = s->tos_byte,
		.flow_label = s->flow_label,
		.send_path = s->send_file ? RUN_SEND_FILE : s->zerocopy ? RUN_SEND_ZEROCOPY
									: RUN_SEND_COPY,
		.discard_receive = s->discard_receive,
		.no_delay = s->no_delay,
		.dont_fragment = s->dont_fragment,
		.udp_gso = s->gso,
		.udp_gro = s->gro,
		.report_ms = report_of(s),
		.client_cpu = s->client_cpu,
		.server_cpu = s->server_cpu,
	};
	/* test_options_check() has seen that it is one. */
	run_spec_set_congestion(spec, s->congestion_control);
}

void test_options_plan(const struct test_settings *s, struct plan_wishes *out)
{
	*out = (struct plan_wishes){
		.forward = !s->reverse,
		.reverse = s->reverse,
		/* Of a run by bytes the time is only a bound: as long as the peer allows. */
		.window_chosen = !s->total_bytes && !s->total_blocks,
		.warmup_chosen = true,
	};
	fill_spec(s, &out->base);
}

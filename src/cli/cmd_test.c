/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test: the traffic engine alone, for those who know iperf3. */
#include <string.h>

#include "src/cli/commands.h"
#include "src/cli/output.h"
#include "src/cli/peer_options.h"
#include "src/cli/remote.h"
#include "src/cli/remote_words.h"
#include "src/cli/screen.h"
#include "src/cli/stop.h"
#include "src/cli/test_options.h"
#include "src/cli/test_output.h"

#define AT(member_) .offset = offsetof(struct test_settings, member_)

/* The first of the formats that a report has. */
static const char *const test_format_names[] = { "text", "json", NULL };

static const struct option_row test_options[] = {
	PEER_OPTIONS(struct test_settings),
	{ .letter = 't', .name = "time", .kind = OPTION_SECONDS, AT(time_ms),
	  .argument = "SECONDS", .help = "measured seconds (default 10)", .want = TEST_TIME_WANT,
	  .max = RUN_MAX_SECONDS * 1000ULL },
	{ .letter = 'n', .name = "bytes", .kind = OPTION_SIZE, AT(total_bytes),
	  .argument = "BYTES", .help = "instead of a time: until this much was sent", .min = 1,
	  .max = UINT64_C(1) << 53 },
	{ .letter = 'k', .name = "blockcount", .kind = OPTION_SIZE, AT(total_blocks),
	  .argument = "N", .help = "instead of a time: until so many blocks of -l were sent",
	  .want = "want blocks such as 1000 or 64K, at least 1", .min = 1,
	  .max = UINT64_C(1) << 40 },
	{ .letter = 'O', .name = "omit", .kind = OPTION_SECONDS, AT(omit_ms),
	  .argument = "SECONDS", .help = "first let it run so long, not counted (default 0)",
	  .max = 600000 },
	{ .letter = 'i', .name = "interval", .kind = OPTION_SECONDS, AT(interval_ms),
	  .argument = "SECONDS", .help = "a report each (default 1; at least 0.1; 0: only the end)",
	  .want = TEST_INTERVAL_WANT, .max = 3600000 },
	{ .letter = 'P', .name = "parallel", .kind = OPTION_NUMBER, AT(streams), .argument = "N",
	  .help = "streams (default 1)", .min = 1, .max = RUN_MAX_STREAMS },
	{ .letter = 'R', .name = "reverse", .kind = OPTION_FLAG, AT(reverse),
	  .help = "the peer sends" },
	{ .name = "bidir", .kind = OPTION_FLAG, AT(bidirectional),
	  .help = "both send at once, -P streams each way" },
	{ .letter = 'l', .name = "length", .kind = OPTION_SIZE, AT(block_bytes),
	  .argument = "BYTES", .help = "per send or receive call (default 128K); with -u a "
	  "datagram (default 1448)", .min = 1, .max = RUN_MAX_BLOCK_BYTES },
	{ .letter = 'b', .name = "bitrate", .kind = OPTION_TEXT, AT(rate),
	  .argument = "RATE", .help = "of each stream, e.g. 100M, or 100M/10: ten blocks in a row "
	  "(default no limit, with -u 1.05M; 0: no limit)" },
	{ .name = "fq-rate", .kind = OPTION_RATE, AT(pacing_bps), .argument = "RATE",
	  .help = "of each stream, kept by the kernel's pacing", .min = 8000,
	  .max = UINT64_C(10000000000000) },
	{ .letter = 'w', .name = "window", .kind = OPTION_SIZE, AT(window_bytes),
	  .argument = "BYTES",
	  .help = "fix socket buffers (this turns the kernel's autotuning off)",
	  .min = 1024, .max = (1U << 30) - 1 },
	{ .letter = 'M', .name = "set-mss", .kind = OPTION_NUMBER, AT(mss_bytes),
	  .argument = "BYTES", .help = "TCP maximum segment size", .min = 88, .max = 32767 },
	{ .letter = 'C', .name = "congestion", .kind = OPTION_TEXT, AT(congestion_control),
	  .argument = "ALGO", .help = "congestion control of our sockets on both ends" },
	{ .letter = 'N', .name = "no-delay", .kind = OPTION_FLAG, AT(no_delay),
	  .help = "TCP_NODELAY: small blocks are not gathered" },
	{ .letter = 'S', .name = "tos", .kind = OPTION_TEXT, AT(tos), .argument = "TOS",
	  .help = "IP type of service, e.g. 32, 0x20 or 040" },
	{ .letter = 'L', .name = "flowlabel", .kind = OPTION_NUMBER, AT(flow_label),
	  .argument = "N", .help = "IPv6 flow label of what this end sends", .min = 1,
	  .max = 0xfffff },
	{ .name = "latency", .kind = OPTION_FLAG, AT(latency),
	  .help = "measure round trips, idle for 0.4 s first and then under load" },
	{ .letter = 'u', .name = "udp", .kind = OPTION_FLAG, AT(udp), .help = "UDP, not TCP" },
	{ .name = "gso", .kind = OPTION_FLAG, AT(gso),
	  .help = "with -u: the sender's kernel cuts large messages into datagrams" },
	{ .name = "gro", .kind = OPTION_FLAG, AT(gro),
	  .help = "with -u: the receiver's kernel joins datagrams" },
	{ .name = "dont-fragment", .kind = OPTION_FLAG, AT(dont_fragment),
	  .help = "with -u on IPv4: forbid fragments" },
	{ .letter = 'Z', .name = "zerocopy", .kind = OPTION_FLAG, AT(send_file),
	  .help = "send with sendfile(), as iperf3 does" },
	{ .name = "no-copy", .kind = OPTION_FLAG, AT(zerocopy),
	  .help = "send with MSG_ZEROCOPY: the card reads our memory" },
	{ .name = "skip-rx-copy", .kind = OPTION_FLAG, AT(discard_receive),
	  .help = "receive with MSG_TRUNC: the kernel drops the data, TCP only" },
	{ .letter = 'A', .name = "affinity", .kind = OPTION_TEXT, AT(affinity),
	  .argument = "CPUS", .help = "run on CPU N; N,M: and the peer on its CPU M" },
	{ .name = "report", .kind = OPTION_CHOICE, AT(format), .argument = "FORMAT",
	  .help = "text (default) or json: as iperf3 -J, and more under \"netdoctor\"",
	  .choices = test_format_names },
	{ .letter = 'J', .name = "json", .kind = OPTION_FLAG, AT(json),
	  .help = "the same as --report json" },
	{ .name = "json-stream", .kind = OPTION_FLAG, AT(json_stream),
	  .help = "one JSON object a line: start, interval, end" },
	{ .name = "get-server-output", .kind = OPTION_FLAG, AT(server_output),
	  .help = "implied: what the peer saw is always told" },
	{ .letter = 'q', .name = "quiet", .kind = OPTION_FLAG, AT(quiet),
	  .help = "no intervals, no progress: only the end" },
	{ .name = "plain", .kind = OPTION_FLAG, AT(plain), .help = "no progress bar" },
	{ .name = "tui", .kind = OPTION_FLAG, AT(tui),
	  .help = "watch it on the screen, as diagnose's; the end is printed afterwards" },
};
struct watcher { struct stop *stop; struct test_output *output; };

static bool cancelled(void *state)
{
	const struct watcher *w = state;

	return stop_asked(w->stop);
}

static void progress(void *state, const struct exam_progress *p)
{
	const struct watcher *w = state;

	/* From now on there is something to report. */
	if (p->phase == EXAM_RUN_GOES_ON)
		stop_gracefully(w->stop);
	test_output_progress(w->output, p);
}

static void remark(void *state, const char *text)
{
	const struct watcher *w = state;

	test_output_remark(w->output, text);
}

/* On the screen, when it was asked for and the terminal is fit for one. */
static int conduct_on_screen(struct screen *screen, const struct conduct_options *o,
			     struct stop *stop, const char *peer, struct test_output *output)
{
	struct exam *e = NULL;
	int rc = screen_examine(screen, SCENE_TEST, o, stop, peer, &e);

	screen_close(screen);
	if (!rc)
		rc = test_output_end(output, e);
	exam_free(e);
	return rc;
}

static int conduct(const struct test_settings *s, const struct peer_target *target,
		   const char *peer, struct stop *stop, struct test_output *output)
{
	const struct output_settings text = { .format = REPORT_TEXT };
	struct screen *screen = s->tui ? screen_open(&text, SCREEN_ASKED) : NULL;
	struct conduct_options o = { .target = target, .progress = progress,
				     .cancelled = cancelled, .remark = remark };
	struct watcher w = { .stop = stop, .output = output };
	struct error err = { "" };
	struct exam *e = NULL;

	o.state = &w;
	test_options_plan(s, &o.plan);
	if (screen)
		return conduct_on_screen(screen, &o, stop, peer, output);
	if (exam_conduct(&o, &e, &err))
		return test_output_failed(output, err.text);
	int rc = test_output_end(output, e);
	exam_free(e);
	return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct test_settings s = TEST_SETTINGS_DEFAULTS;
	struct peer_target target = { 0 };
	struct test_output output = { 0 };
	struct remote *remote = NULL;
	struct error err = { "" };
	const char *peer = NULL;
	char host[256];
	size_t n;
	int rc = options_parse(self, argc, argv, &s, &peer, 1, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	if (!peer)
		return complain(EXIT_USAGE, "test: want the PEER to test against, a running "
				"netdoctor serve (see netdoctor test --help)");
	if (test_options_check(&s) || peer_target_from(&s.peer, peer, host, sizeof(host), &target))
		return EXIT_USAGE;
	struct stop *stop = stop_watch();
	if (!stop)
		return complain(EXIT_COULD_NOT_TELL, "cannot watch for Ctrl-C");
	if (remote_is_meant(peer)) {
		rc = remote_start(&remote, &s.peer, peer, &target, &err);
		if (rc)
			target = (struct peer_target){ .host = peer };
	}
	test_output_init(&output, &s, &target);
	if (rc)
		rc = test_output_failed(&output, err.text);
	else
		rc = conduct(&s, &target, peer, stop, &output);
	remote_stop(remote);
	return rc;
}

const struct command command_test = {
	.name = "test",
	.arguments = "PEER",
	.summary = "measure the rate alone, for those who know iperf3",
	.description =
		"Drives traffic between this host and PEER (HOST or HOST:PORT of a running\n"
		"`netdoctor serve`, or ssh://[USER@]HOST[:PORT]) and prints what iperf3 would,\n"
		"with the same options, and the busiest core of both ends.  It does not say what\n"
		"limits the rate: see diagnose.",
	.options = test_options,
	.noptions = sizeof(test_options) / sizeof(test_options[0]),
	.foreign = foreign_of_test,
	.run = run,
};

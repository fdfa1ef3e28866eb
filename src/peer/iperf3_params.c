/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of an iperf3 test, JSON both ways. */
#include <errno.h>
#include <string.h>

#include "src/core/text.h"
#include "src/core/value.h"
#include "src/peer/iperf3_wire.h"
#include "src/peer/wire.h"

/* The release whose parameters we send; servers print it. */
#define CLAIMED_CLIENT_VERSION "3.12"

enum { DEFAULT_DATAGRAM_BYTES = 1460, MOST_SEGMENTS = 64 };

/* ---- reading ---- */

/* A key and where its value goes: absent leaves it alone. */
struct number_key {
	const char *key;
	size_t offset;		/* of a uint64_t in struct run_spec */
	uint64_t min, max;
	int error;		/* out of range, or no whole number */
};

#define SPEC_MEMBER(member_) .offset = offsetof(struct run_spec, member_)

static const struct number_key number_keys[] = {
	{ .key = "omit", SPEC_MEMBER(warmup_ms), .max = IPERF3_MAX_OMIT_S,
	  .error = IPERF3_EOMIT },
	{ .key = "time", SPEC_MEMBER(window_ms), .max = RUN_MAX_SECONDS,
	  .error = IPERF3_EDURATION },
	{ .key = "num", SPEC_MEMBER(total_bytes), .max = INT64_MAX, .error = IPERF3_ERECVPARAMS },
	{ .key = "blockcount", SPEC_MEMBER(total_blocks), .max = INT64_MAX,
	  .error = IPERF3_ERECVPARAMS },
	{ .key = "MSS", SPEC_MEMBER(mss_bytes), .max = 32767, .error = IPERF3_EMSS },
	{ .key = "parallel", SPEC_MEMBER(streams), .min = 1, .max = IPERF3_MAX_STREAMS,
	  .error = IPERF3_ENUMSTREAMS },
	{ .key = "window", SPEC_MEMBER(sndbuf_bytes), .max = IPERF3_MAX_BUFFER_BYTES,
	  .error = IPERF3_EBUFSIZE },
	{ .key = "len", SPEC_MEMBER(block_bytes), .min = 1, .max = IPERF3_MAX_TCP_BLOCK_BYTES,
	  .error = IPERF3_EBLOCKSIZE },
	{ .key = "bandwidth", SPEC_MEMBER(rate_bps), .max = INT64_MAX,
	  .error = IPERF3_ERECVPARAMS },
	{ .key = "fqrate", SPEC_MEMBER(pacing_bps), .max = INT64_MAX,
	  .error = IPERF3_ERECVPARAMS },
	{ .key = "burst", SPEC_MEMBER(burst_blocks), .max = 1000, .error = IPERF3_EBURST },
	{ .key = "TOS", SPEC_MEMBER(tos), .max = 255, .error = IPERF3_EBADTOS },
	{ .key = "flowlabel", SPEC_MEMBER(flow_label), .max = 0xfffff,
	  .error = IPERF3_ESETFLOW },
};

static int read_numbers(const cJSON *obj, struct run_spec *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(number_keys); i++) {
		const struct number_key *k = &number_keys[i];
		uint64_t *at = (uint64_t *)((char *)spec + k->offset);

		if (cJSON_GetObjectItemCaseSensitive(obj, k->key) &&
		    !json_get_u64(obj, k->key, k->min, k->max, at))
			return k->error;
	}
	return 0;
}

/* Some switches are true, others the number 1; before 3.18 servers only looked whether they are
 * there. */
static bool is_on(const cJSON *obj, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsTrue(v) || (cJSON_IsNumber(v) && v->valuedouble > 0);
}

static void copy_text(const cJSON *obj, const char *key, char *out, size_t cap)
{
	const char *v = json_get_str(obj, key, cap - 1);

	if (v)
		memcpy(out, v, strlen(v) + 1);
}

static int read_protocol(const cJSON *obj, struct run_spec *spec)
{
	if (is_on(obj, "udp")) {
		spec->protocol = RUN_UDP;
		if (!cJSON_GetObjectItemCaseSensitive(obj, "len"))
			spec->block_bytes = DEFAULT_DATAGRAM_BYTES;
		return spec->block_bytes >= RUN_MIN_DATAGRAM_BYTES &&
		       spec->block_bytes <= RUN_MAX_DATAGRAM_BYTES ? 0 : IPERF3_EUDPBLOCKSIZE;
	}
	if (is_on(obj, "sctp") || is_on(obj, "mptcp"))
		return IPERF3_EPROTOCOL;
	return 0;
}

static int read_switches(const cJSON *obj, struct run_spec *spec)
{
	bool reverse = is_on(obj, "reverse");

	spec->bidirectional = is_on(obj, "bidirectional");
	if (reverse && spec->bidirectional)
		return IPERF3_EREVERSEBIDIR;
	spec->direction = reverse ? RUN_REVERSE : RUN_FORWARD;
	spec->no_delay = is_on(obj, "nodelay");
	spec->dont_fragment = is_on(obj, "dont_fragment");
	spec->discard_receive = is_on(obj, "skip_rx_copy") && spec->protocol == RUN_TCP;
	spec->send_path = is_on(obj, "zerocopy") ? RUN_SEND_FILE : RUN_SEND_COPY;
	return 0;
}

/* What iperf3 takes and our engine does not: as close as it goes. */
static void fit_to_engine(struct run_spec *spec)
{
	if (spec->mss_bytes && spec->mss_bytes < 88)
		spec->mss_bytes = 88;
	if (spec->sndbuf_bytes && spec->sndbuf_bytes < 1024)
		spec->sndbuf_bytes = 1024;
	spec->rcvbuf_bytes = spec->sndbuf_bytes;
	if (spec->rate_bps && spec->rate_bps < RUN_MIN_RATE_BPS)
		spec->rate_bps = RUN_MIN_RATE_BPS;
	if (spec->pacing_bps && spec->pacing_bps < RUN_MIN_RATE_BPS)
		spec->pacing_bps = RUN_MIN_RATE_BPS;
}

void iperf3_round_amount(struct run_spec *s)
{
	uint64_t rest = s->block_bytes ? s->total_bytes % s->block_bytes : 0;

	if (rest)
		s->total_bytes += s->block_bytes - rest;
}

static int read_parameters(const cJSON *obj, struct iperf3_parameters *out)
{
	struct run_spec *spec = &out->spec;
	int rc = read_numbers(obj, spec);

	spec->warmup_ms *= 1000;
	spec->window_ms *= 1000;
	if (rc == 0)
		rc = read_protocol(obj, spec);
	if (rc == 0)
		rc = read_switches(obj, spec);
	if (rc)
		return rc;
	fit_to_engine(spec);
	iperf3_round_amount(spec);
	copy_text(obj, "congestion", spec->congestion_control, sizeof(spec->congestion_control));
	copy_text(obj, "authtoken", out->token, sizeof(out->token));
	copy_text(obj, "client_version", out->client_version, sizeof(out->client_version));
	text_make_printable(out->client_version);
	out->get_server_output = is_on(obj, "get_server_output");
	out->udp_64bit_counters = is_on(obj, "udp_counters_64bit");
	spec->udp_counters_32bit = spec->protocol == RUN_UDP && !out->udp_64bit_counters;
	/* What we take in may always be merged; bursts are only for a client that knows of them. */
	spec->udp_gro = spec->protocol == RUN_UDP;
	spec->udp_gso = spec->protocol == RUN_UDP && is_on(obj, "gso");
	out->netdoctor = cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(obj, "netdoctor"));
	return 0;
}

int iperf3_parse_parameters(const char *text, size_t len, struct iperf3_parameters *out)
{
	cJSON *obj = wire_parse_json(text, len);
	int rc = IPERF3_ERECVPARAMS;

	memset(out, 0, sizeof(*out));
	out->spec.streams = 1;
	out->spec.block_bytes = RUN_DEFAULT_BLOCK_BYTES;
	if (cJSON_IsObject(obj))
		rc = read_parameters(obj, out);
	cJSON_Delete(obj);
	return rc;
}

/* ---- writing ---- */

static bool put_true(cJSON *obj, const char *key, bool on)
{
	return !on || cJSON_AddTrueToObject(obj, key);
}

/* A switch that is a number; 0 is left out. */
static bool put_number(cJSON *obj, const char *key, uint64_t v)
{
	return v == 0 || cJSON_AddNumberToObject(obj, key, (double)v);
}

static bool put_text(cJSON *obj, const char *key, const char *v)
{
	return !*v || cJSON_AddStringToObject(obj, key, v);
}

/*
 * From 3.21 on, and nothing to servers before.  A burst is whole datagrams, all that a message
 * and any kernel (before 6.9: 64) takes; what is read merged has the server's own bound.
 */
static bool write_udp_switches(cJSON *obj, const struct run_spec *s)
{
	uint64_t n = RUN_MAX_DATAGRAM_BYTES / s->block_bytes;

	if (n > MOST_SEGMENTS)
		n = MOST_SEGMENTS;
	if (!put_number(obj, "gro", s->udp_gro))
		return false;
	return !s->udp_gso || (put_number(obj, "gso", 1) &&
			       put_number(obj, "gso_dg_size", s->block_bytes) &&
			       put_number(obj, "gso_bf_size", n * s->block_bytes));
}

static bool write_spec(cJSON *obj, const struct run_spec *s)
{
	const uint64_t omit_s = s->warmup_ms / 1000, time_s = (s->window_ms + 999) / 1000;
	bool udp = s->protocol == RUN_UDP;

	/* omit and time are always sent: a server without them takes its own. */
	return put_true(obj, "tcp", !udp) && put_true(obj, "udp", udp) &&
	       cJSON_AddNumberToObject(obj, "omit", (double)omit_s) &&
	       cJSON_AddNumberToObject(obj, "time", (double)time_s) &&
	       put_number(obj, "num", s->total_bytes) &&
	       put_number(obj, "blockcount", s->total_blocks) &&
	       put_number(obj, "MSS", s->mss_bytes) && put_true(obj, "nodelay", s->no_delay) &&
	       put_number(obj, "parallel", s->streams) &&
	       put_true(obj, "reverse", s->direction == RUN_REVERSE && !s->bidirectional) &&
	       put_true(obj, "bidirectional", s->bidirectional) &&
	       put_number(obj, "window", s->sndbuf_bytes) &&
	       put_number(obj, "len", s->block_bytes) &&
	       put_number(obj, "bandwidth", s->rate_bps) &&
	       put_number(obj, "fqrate", s->pacing_bps) &&
	       put_number(obj, "burst", s->burst_blocks) && put_number(obj, "TOS", s->tos) &&
	       put_number(obj, "flowlabel", s->flow_label) &&
	       put_text(obj, "congestion", s->congestion_control) &&
	       put_number(obj, "zerocopy", s->send_path != RUN_SEND_COPY) &&
	       put_number(obj, "dont_fragment", s->dont_fragment) &&
	       put_number(obj, "skip_rx_copy", s->discard_receive && !udp) &&
	       (!udp || write_udp_switches(obj, s));
}

static bool write_netdoctor(cJSON *obj)
{
	cJSON *ours = cJSON_AddObjectToObject(obj, "netdoctor");

	return ours && json_add_u64(ours, "version", PEER_PROTOCOL_VERSION);
}

int iperf3_format_parameters(const struct iperf3_parameters *p, unsigned char **out, size_t *len)
{
	cJSON *obj = cJSON_CreateObject();
	int rc = -ENOMEM;

	*out = NULL;
	if (obj && write_spec(obj, &p->spec) &&
	    put_number(obj, "get_server_output", p->get_server_output) &&
	    put_number(obj, "udp_counters_64bit", p->udp_64bit_counters) &&
	    put_text(obj, "authtoken", p->token) &&
	    cJSON_AddStringToObject(obj, "client_version", *p->client_version ?
				    p->client_version : CLAIMED_CLIENT_VERSION) &&
	    (!p->netdoctor || write_netdoctor(obj)))
		rc = iperf3_frame(obj, out, len);
	cJSON_Delete(obj);
	return rc;
}

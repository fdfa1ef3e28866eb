/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/test_json.h"

#include <stdio.h>

#include "src/exam/timeline.h"
#include "src/report/test_text.h"

/* iperf3's numbers are JSON numbers, whatever their size: not our decimal strings. */
static bool put(cJSON *o, const char *key, double v)
{
	return cJSON_AddNumberToObject(o, key, v);
}

static bool put_text(cJSON *o, const char *key, const char *v)
{
	return json_put(o, key, json_string(v));
}

static bool put_bool(cJSON *o, const char *key, bool v)
{
	return cJSON_AddBoolToObject(o, key, v);
}

/* iperf3 has no word for unknown; 0 is what it prints where the kernel does not tell. */
static double known_or_zero(struct nd_u64 v)
{
	return v.k == ND_KNOWN ? (double)v.v : 0;
}

/* ---- start ---- */

static cJSON *connected(const struct test_json *t, const struct flow_begin *flows)
{
	cJSON *arr = cJSON_CreateArray();
	size_t n = flows ? run_flows(t->spec) : 0;

	for (size_t i = 0; arr && i < n; i++) {
		cJSON *o = cJSON_CreateObject();
		bool ok = put(o, "socket", test_flow_id(i)) &&
			  put_text(o, "local_host", t->exam->path.local_address.v) &&
			  put(o, "local_port", (double)flows[i].local_port) &&
			  put_text(o, "remote_host", t->exam->path.peer_address.v) &&
			  put(o, "remote_port", (double)flows[i].peer_port);
		if (!ok) {
			cJSON_Delete(o);
			o = NULL;
		}
		if (!json_push(arr, o)) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

static cJSON *timestamp(const struct test_json *t)
{
	const uint64_t s = t->begun_ns / 1000000000ULL, ms = t->begun_ns / 1000000ULL;
	cJSON *o = cJSON_CreateObject();

	if (put_text(o, "time", t->begun_text) && put(o, "timesecs", (double)s) &&
	    put(o, "timemillisecs", (double)ms))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static cJSON *connecting_to(const struct test_json *t)
{
	cJSON *o = cJSON_CreateObject();

	if (put_text(o, "host", t->host) && put(o, "port", (double)t->port))
		return o;
	cJSON_Delete(o);
	return NULL;
}

/* iperf3's seconds are whole numbers here; a fraction is written where there is one. */
static cJSON *test_start(const struct test_json *t)
{
	const struct run_spec *s = t->spec;
	cJSON *o = cJSON_CreateObject();

	if (put_text(o, "protocol", s->protocol == RUN_UDP ? "UDP" : "TCP") &&
	    put(o, "num_streams", (double)s->streams) &&
	    put(o, "blksize", (double)s->block_bytes) &&
	    put(o, "omit", (double)s->warmup_ms / 1e3) &&
	    put(o, "duration", (double)t->duration_ms / 1e3) &&
	    put(o, "bytes", (double)s->total_bytes) && put(o, "blocks", (double)s->total_blocks) &&
	    put(o, "reverse", s->direction == RUN_REVERSE) && put(o, "tos", (double)s->tos) &&
	    put(o, "target_bitrate", (double)s->rate_bps) && put(o, "bidir", s->bidirectional) &&
	    put(o, "fqrate", (double)s->pacing_bps) &&
	    put(o, "interval", t->only_end ? 0 : (double)s->report_ms / 1e3) &&
	    put(o, "gso", s->udp_gso) && put(o, "gro", s->udp_gro))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static bool put_run(const struct test_json *t, const struct flow_begin *flows, cJSON *o)
{
	const struct run_spec *s = t->spec;

	if (!json_put(o, "timestamp", timestamp(t)) ||
	    !json_put(o, "connecting_to", connecting_to(t)) || !put_text(o, "cookie", t->cookie))
		return false;
	if (s->protocol == RUN_TCP &&
	    !put(o, s->mss_bytes ? "tcp_mss" : "tcp_mss_default",
		 s->mss_bytes ? (double)s->mss_bytes : known_or_zero(flows[0].mss_bytes)))
		return false;
	return put(o, "target_bitrate", (double)s->rate_bps) &&
	       put(o, "fq_rate", (double)s->pacing_bps) &&
	       put(o, "sock_bufsize", (double)s->sndbuf_bytes) &&
	       put(o, "sndbuf_actual", known_or_zero(flows[0].sndbuf_bytes)) &&
	       put(o, "rcvbuf_actual", known_or_zero(flows[0].rcvbuf_bytes)) &&
	       json_put(o, "test_start", test_start(t));
}

cJSON *test_json_start(const struct test_json *t, const struct flow_begin *flows)
{
	cJSON *o = cJSON_CreateObject();
	char version[64];

	snprintf(version, sizeof(version), "netdoctor %s", t->tool_version);
	if (json_put(o, "connected", connected(t, flows)) && put_text(o, "version", version) &&
	    put_text(o, "system_info", t->system_info) && (!flows || put_run(t, flows, o)))
		return o;
	cJSON_Delete(o);
	return NULL;
}

/* ---- shared by intervals and end ---- */

/* Bytes of a time, as every row begins; socket < 0: a sum. */
static bool put_rate(cJSON *o, int socket, double start, double seconds, struct nd_u64 bytes)
{
	double n = known_or_zero(bytes);

	return (socket < 0 || put(o, "socket", socket)) && put(o, "start", start) &&
	       put(o, "end", start + seconds) && put(o, "seconds", seconds) &&
	       put(o, "bytes", n) &&
	       put(o, "bits_per_second", seconds > 0 ? n * 8 / seconds : 0);
}

/* What a receiver of datagrams knows; a sender knows of none that was lost. */
static bool put_datagrams(cJSON *o, double jitter_us, struct nd_u64 lost, struct nd_u64 came)
{
	double missing = known_or_zero(lost), all = known_or_zero(came) + missing;

	return put(o, "jitter_ms", jitter_us / 1e3) && put(o, "lost_packets", missing) &&
	       put(o, "packets", all) &&
	       put(o, "lost_percent", all > 0 ? missing * 100 / all : 0);
}

/* ---- intervals ---- */

static bool put_sender_tcp(cJSON *o, const struct beat_flow *f, bool sum)
{
	if (!put(o, "retransmits", known_or_zero(f->retransmits)) || sum)
		return sum && cJSON_HasObjectItem(o, "retransmits");
	return put(o, "snd_cwnd", known_or_zero(f->cwnd_bytes)) &&
	       put(o, "snd_wnd", known_or_zero(f->snd_wnd_bytes)) &&
	       put(o, "rtt", known_or_zero(f->rtt_us)) &&
	       put(o, "rttvar", known_or_zero(f->rttvar_us)) &&
	       put(o, "pmtu", known_or_zero(f->pmtu)) &&
	       put(o, "reorder", known_or_zero(f->reorder_seen));
}

static cJSON *interval_row(const struct test_json *t, const struct beat *b,
			   const struct beat_flow *f, int socket)
{
	bool sends = nd_str_is(f->direction, "send"), ok;
	cJSON *o = cJSON_CreateObject();

	ok = put_rate(o, socket, b->start_s, b->seconds, f->bytes);
	if (ok && t->spec->protocol == RUN_TCP && sends)
		ok = put_sender_tcp(o, f, socket < 0);
	else if (ok && t->spec->protocol == RUN_UDP && sends)
		ok = put(o, "packets", known_or_zero(f->packets));
	else if (ok && t->spec->protocol == RUN_UDP)
		ok = put_datagrams(o, known_or_zero(f->jitter_us), f->lost, f->packets);
	if (ok && put_bool(o, "omitted", b->omitted) && put_bool(o, "sender", sends))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static cJSON *interval_streams(const struct test_json *t, const struct beat *b)
{
	cJSON *arr = cJSON_CreateArray();

	for (size_t i = 0; arr && i < b->nflows; i++) {
		if (!json_push(arr, interval_row(t, b, &b->flows[i], (int)test_flow_id(i)))) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

/* The cores of an end, each with what fills it, and its flows where they are not above. */
static cJSON *interval_end(const struct beat *b, bool flows)
{
	if (!b)
		return cJSON_CreateNull();
	cJSON *o = cJSON_CreateObject();
	const struct core_load *hot = busiest_core(b->cores, b->ncores);
	if (json_put(o, "busiest", hot ? row_to_json(core_load_fields, core_load_nfields, hot)
				       : cJSON_CreateNull()) &&
	    json_put(o, "cores", rows_to_json(core_load_fields, core_load_nfields,
					      sizeof(*b->cores), b->cores, b->ncores)) &&
	    (!flows || json_put(o, "flows", rows_to_json(beat_flow_fields, beat_flow_nfields,
							 sizeof(*b->flows), b->flows,
							 b->nflows))))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static cJSON *interval_extra(const struct beat *ours, const struct beat *peer)
{
	cJSON *o = cJSON_CreateObject();

	if (json_put(o, side_word(SIDE_LOCAL), interval_end(ours, false)) &&
	    json_put(o, side_word(SIDE_PEER), interval_end(peer, true)))
		return o;
	cJSON_Delete(o);
	return NULL;
}

cJSON *test_json_interval(const struct test_json *t, const struct beat *ours,
			  const struct beat *peer)
{
	enum load_role role = run_client_role(t->spec);
	enum load_role other = role == LOAD_SEND ? LOAD_RECEIVE : LOAD_SEND;
	cJSON *o = cJSON_CreateObject();

	if (json_put(o, "streams", interval_streams(t, ours)) &&
	    json_put(o, "sum", interval_row(t, ours, &ours->sums[role], -1)) &&
	    (!t->spec->bidirectional ||
	     json_put(o, "sum_bidir_reverse", interval_row(t, ours, &ours->sums[other], -1))) &&
	    json_put(o, "netdoctor", interval_extra(ours, peer)))
		return o;
	cJSON_Delete(o);
	return NULL;
}

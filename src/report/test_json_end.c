/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a test in the form of `iperf3 -J`. */
#include "src/report/test_json.h"

#include "src/report/test_text.h"

static bool put(cJSON *o, const char *key, double v)
{
	return cJSON_AddNumberToObject(o, key, v);
}

static double number(struct nd_u64 v)
{
	return v.k == ND_KNOWN ? (double)v.v : 0;
}

static double real(struct nd_f64 v)
{
	return v.k == ND_KNOWN ? v.v : 0;
}

/* Over which an end counted what `sender` sent. */
static double seconds_of(const struct run *r, enum side counted, enum side sender)
{
	return number(run_moved_ns(r, counted, sender)) / 1e9;
}

/* The flows of one direction as one row. */
struct totals { struct nd_u64 bytes, retransmits, packets, lost; struct nd_f64 jitter_us; };

static void plus(struct nd_u64 *sum, struct nd_u64 v)
{
	if (v.k == ND_KNOWN)
		*sum = nd_u64(number(*sum) > 0 ? sum->v + v.v : v.v);
}

/* iperf3's jitter of a sum is the mean of its streams'. */
static struct totals totals_of(const struct run_end *e, size_t first, size_t n)
{
	struct totals t = { .jitter_us = nd_f64(0) };
	size_t counted = 0;

	for (size_t i = first; i < first + n && i < e->nflows; i++, counted++) {
		plus(&t.bytes, e->flows[i].bytes);
		plus(&t.retransmits, e->flows[i].retransmits);
		plus(&t.packets, e->flows[i].packets);
		plus(&t.lost, e->flows[i].lost);
		t.jitter_us.v += real(e->flows[i].jitter_us);
	}
	if (counted)
		t.jitter_us.v /= (double)counted;
	return t;
}

static double rate(struct nd_u64 bytes, double seconds)
{
	return seconds > 0 ? number(bytes) * 8 / seconds : 0;
}

static bool put_rate(cJSON *o, int socket, double seconds, struct nd_u64 bytes)
{
	return (socket < 0 || put(o, "socket", socket)) && put(o, "start", 0) &&
	       put(o, "end", seconds) && put(o, "seconds", seconds) &&
	       put(o, "bytes", number(bytes)) &&
	       put(o, "bits_per_second", rate(bytes, seconds));
}

static bool put_datagrams(cJSON *o, double jitter_us, double lost, double came)
{
	return put(o, "jitter_ms", jitter_us / 1e3) && put(o, "lost_packets", lost) &&
	       put(o, "packets", came + lost) &&
	       put(o, "lost_percent", came + lost > 0 ? lost * 100 / (came + lost) : 0);
}

static bool put_round_trips(cJSON *o, const struct flow_summary *f)
{
	return put(o, "retransmits", number(f->retransmits)) &&
	       put(o, "reorder", number(f->reorder_seen)) &&
	       put(o, "max_snd_cwnd", number(f->cwnd_max_bytes)) &&
	       put(o, "max_snd_wnd", number(f->snd_wnd_max_bytes)) &&
	       put(o, "max_rtt", number(f->rtt_max_us)) &&
	       put(o, "min_rtt", number(f->min_rtt_us)) &&
	       put(o, "mean_rtt", (double)(uint64_t)real(f->rtt_us));
}

/* `ours`: what this end does with the flow, which iperf3 says in both rows. */
static cJSON *tcp_row(const struct run_end *e, size_t i, bool sender, bool ours)
{
	static const struct flow_summary none;
	double seconds = number(e->window_ns) / 1e9;
	const struct flow_summary *f = e->present && i < e->nflows ? &e->flows[i] : &none;
	cJSON *o = cJSON_CreateObject();

	if (put_rate(o, (int)test_flow_id(i), seconds, f->bytes) &&
	    (!sender || put_round_trips(o, f)) && cJSON_AddBoolToObject(o, "sender", ours))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static enum side sender_of(const struct run *r, size_t i)
{
	bool ours = run_flow_role(&r->spec, run_client_role(&r->spec), i) == LOAD_SEND;

	return ours ? SIDE_LOCAL : SIDE_PEER;
}

static cJSON *tcp_stream(const struct run *r, size_t i)
{
	enum side tx = sender_of(r, i);
	cJSON *o = cJSON_CreateObject();

	if (json_put(o, "sender", tcp_row(&r->ends[tx], i, true, tx == SIDE_LOCAL)) &&
	    json_put(o, "receiver", tcp_row(&r->ends[side_other(tx)], i, false,
					    tx == SIDE_LOCAL)))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static cJSON *udp_stream(const struct run *r, size_t i)
{
	static const struct flow_summary none;
	enum side tx = sender_of(r, i);
	const struct run_end *rx = &r->ends[side_other(tx)], *s = &r->ends[tx];
	const struct flow_summary *v = rx->present && i < rx->nflows ? &rx->flows[i] : &none;
	const struct flow_summary *f = s->present && i < s->nflows ? &s->flows[i] : v;
	cJSON *o = cJSON_CreateObject(), *udp = cJSON_AddObjectToObject(o, "udp");

	/* Packets are the sender's, as iperf3's are; loss and jitter the receiver's. */
	double sent = number(f->packets);
	double seconds = seconds_of(r, s->present ? tx : side_other(tx), tx);
	if (put_rate(udp, (int)test_flow_id(i), seconds, f->bytes) &&
	    put(udp, "jitter_ms", real(v->jitter_us) / 1e3) &&
	    put(udp, "lost_packets", number(v->lost)) && put(udp, "packets", sent) &&
	    put(udp, "lost_percent", sent > 0 ? number(v->lost) * 100 / sent : 0) &&
	    put(udp, "out_of_order", number(v->out_of_order)) &&
	    cJSON_AddBoolToObject(udp, "sender", tx == SIDE_LOCAL))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static cJSON *streams(const struct run *r)
{
	cJSON *arr = cJSON_CreateArray();

	for (size_t i = 0; arr && i < run_flows(&r->spec); i++) {
		cJSON *o = r->spec.protocol == RUN_UDP ? udp_stream(r, i) : tcp_stream(r, i);
		if (!json_push(arr, o)) {
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

/* Both ends' rows of one direction, and for datagrams their one sum. */
static cJSON *sum_row(const struct run *r, size_t first, enum side s, bool mark)
{
	const struct run_end *e = &r->ends[s];
	enum side tx = sender_of(r, first);
	struct totals t = totals_of(e, first, r->spec.streams);
	cJSON *o = cJSON_CreateObject();
	bool ok = put_rate(o, -1, seconds_of(r, s, tx), t.bytes);

	if (ok && r->spec.protocol == RUN_TCP && s == tx)
		ok = put(o, "retransmits", number(t.retransmits));
	else if (ok && r->spec.protocol == RUN_UDP)
		ok = put_datagrams(o, s == tx ? 0 : t.jitter_us.v, s == tx ? 0 : number(t.lost),
				   number(t.packets));
	if (ok && cJSON_AddBoolToObject(o, "sender", mark))
		return o;
	cJSON_Delete(o);
	return NULL;
}

/* Of the flows from `first` on, which go one way: the sender's bytes and rate, as iperf3's. */
static cJSON *udp_sum(const struct run *r, size_t first)
{
	enum side tx = sender_of(r, first), rx = side_other(tx);
	struct totals sent = totals_of(&r->ends[tx], first, r->spec.streams);
	struct totals came = totals_of(&r->ends[rx], first, r->spec.streams);
	cJSON *o = cJSON_CreateObject();
	double packets = number(sent.packets), seconds = seconds_of(r, rx, tx);

	if (put(o, "start", 0) && put(o, "end", seconds) && put(o, "seconds", seconds) &&
	    put(o, "bytes", number(sent.bytes)) &&
	    put(o, "bits_per_second", rate(sent.bytes, seconds_of(r, tx, tx))) &&
	    put(o, "jitter_ms", came.jitter_us.v / 1e3) &&
	    put(o, "lost_packets", number(came.lost)) && put(o, "packets", packets) &&
	    put(o, "lost_percent", packets > 0 ? number(came.lost) * 100 / packets : 0) &&
	    cJSON_AddBoolToObject(o, "sender", tx == SIDE_LOCAL))
		return o;
	cJSON_Delete(o);
	return NULL;
}

static bool put_sums(const struct run *r, cJSON *o)
{
	static const char *const names[2][3] = {
		{ "sum_sent", "sum_received", "sum" },
		{ "sum_sent_bidir_reverse", "sum_received_bidir_reverse", "sum_bidir_reverse" },
	};
	bool udp = r->spec.protocol == RUN_UDP;

	for (size_t way = 0; way < (r->spec.bidirectional ? 2 : 1); way++) {
		size_t first = way * r->spec.streams;
		enum side tx = sender_of(r, first), rx = side_other(tx);
		bool ours = tx == SIDE_LOCAL;
		if ((udp && !json_put(o, names[way][2], udp_sum(r, first))) ||
		    !json_put(o, names[way][0], sum_row(r, first, tx, udp || ours)) ||
		    !json_put(o, names[way][1], sum_row(r, first, rx, !udp && ours)))
			return false;
	}
	return true;
}

/* What an iperf3 tells of itself. */
static const struct nd_f64 *process_share(const struct run_end *e, size_t member)
{
	switch (member) {
	case offsetof(struct worker_sample, user_us):
		return &e->process_user_cores;
	case offsetof(struct worker_sample, system_us):
		return &e->process_system_cores;
	default:
		return &e->process_cores;
	}
}

/* Per cent of one core, of our threads alone, as iperf3's is of its process. */
static double cpu_percent(const struct run_end *e, size_t member)
{
	const struct nd_f64 *process = process_share(e, member);
	double us = 0, window_us = number(e->window_ns) / 1e3;

	for (size_t i = 0; e->window && i < e->window->nworkers; i++)
		us += number(*(const struct nd_u64 *)
			     ((const char *)&e->window->workers[i] + member));
	if (process->k == ND_KNOWN)
		return process->v * 100;
	return window_us > 0 ? us * 100 / window_us : 0;
}

static cJSON *cpu(const struct run *r)
{
	static const struct { const char *key; enum side side; size_t member; } rows[] = {
		{ "host_total", SIDE_LOCAL, offsetof(struct worker_sample, cpu_us) },
		{ "host_user", SIDE_LOCAL, offsetof(struct worker_sample, user_us) },
		{ "host_system", SIDE_LOCAL, offsetof(struct worker_sample, system_us) },
		{ "remote_total", SIDE_PEER, offsetof(struct worker_sample, cpu_us) },
		{ "remote_user", SIDE_PEER, offsetof(struct worker_sample, user_us) },
		{ "remote_system", SIDE_PEER, offsetof(struct worker_sample, system_us) },
	};
	cJSON *o = cJSON_CreateObject();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!put(o, rows[i].key, cpu_percent(&r->ends[rows[i].side], rows[i].member))) {
			cJSON_Delete(o);
			return NULL;
		}
	return o;
}

static bool put_congestion(const struct run *r, cJSON *o)
{
	enum side tx = sender_of(r, 0);
	const char *const keys[] = { "sender_tcp_congestion", "receiver_tcp_congestion" };

	for (size_t i = 0; i < 2; i++) {
		const struct run_end *e = &r->ends[i ? side_other(tx) : tx];
		if (e->nflows && e->flows[0].congestion_control.k == ND_KNOWN &&
		    !json_put(o, keys[i], json_string(e->flows[0].congestion_control.v)))
			return false;
	}
	return true;
}

cJSON *test_json_end(const struct test_json *t, const struct run *r)
{
	cJSON *o = cJSON_CreateObject();

	(void)t;
	if (!r)
		return o;
	if (json_put(o, "streams", streams(r)) && put_sums(r, o) &&
	    json_put(o, "cpu_utilization_percent", cpu(r)) &&
	    (r->spec.protocol == RUN_UDP || put_congestion(r, o)))
		return o;
	cJSON_Delete(o);
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/test_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/report/tell.h"

/* Of the asked rate: it was no other limit that held. */
#define RATE_KEPT 0.95

enum { VALUE_CAP = 32 };

static void format_scaled(double v, double base, const char *unit, char *buf, size_t cap)
{
	static const char *const prefixes[] = { "", "K", "M", "G", "T" };
	size_t i = 0;

	while (v >= base && i + 1 < ARRAY_SIZE(prefixes)) {
		v /= base;
		i++;
	}
	snprintf(buf, cap, "%4.*f %s%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, prefixes[i], unit);
}

void test_format_bytes(double bytes, char *buf, size_t cap)
{
	format_scaled(bytes, 1024, "Bytes", buf, cap);
}

void test_format_bits(double bits, char *buf, size_t cap)
{
	format_scaled(bits, 1000, "bits", buf, cap);
}

/* What begins a line: the flow, and with traffic both ways what this end does with it. */
static void add_id(const struct run_spec *spec, const char *id, bool sends, struct text *out)
{
	text_printf(out, "[%3s]%s", id, !spec->bidirectional ? "" : sends ? "[TX-C]" : "[RX-C]");
}

static void add_rate(double start_s, double seconds, struct nd_u64 bytes, struct text *out)
{
	char size[VALUE_CAP] = "   - Bytes", rate[VALUE_CAP] = "   - bits";

	if (bytes.k == ND_KNOWN)
		test_format_bytes((double)bytes.v, size, sizeof(size));
	if (bytes.k == ND_KNOWN && seconds > 0)
		test_format_bits((double)bytes.v * 8 / seconds, rate, sizeof(rate));
	text_printf(out, " %6.2f-%-6.2f sec  %s  %s/sec", start_s, start_s + seconds, size, rate);
}

static void add_header(const struct run_spec *spec, bool end, struct text *out)
{
	const char *columns = spec->protocol == RUN_UDP ? "Jitter    Lost/Total Datagrams"
			      : end ? "Retr" : "Retr  Cwnd";

	text_printf(out, "[ ID]%s Interval           Transfer     Bitrate         %s\n",
		    spec->bidirectional ? "[Role]" : "", columns);
}

void test_text_begin(const struct exam *e, const struct run_spec *spec,
		     const struct flow_begin *flows, struct text *out)
{
	const char *local = e->path.local_address.k == ND_KNOWN ? e->path.local_address.v : "?";
	const char *peer = e->path.peer_address.k == ND_KNOWN ? e->path.peer_address.v : "?";

	for (size_t i = 0; i < run_flows(spec); i++) {
		text_printf(out, "[%3u] local ", test_flow_id(i));
		text_add_escaped(out, local);
		text_printf(out, " port %" PRIu64 " connected to ", flows[i].local_port);
		text_add_escaped(out, peer);
		text_printf(out, " port %" PRIu64 "\n", flows[i].peer_port);
	}
	add_header(spec, false, out);
}

/* ---- CPU ---- */

/* What most of a core's time went to. */
static const char *filling(const struct core_load *c, double *share)
{
	const struct { const char *name; struct nd_f64 v; } parts[] = {
		{ "user", c->user }, { "system", c->system }, { "softirq", c->softirq },
		{ "irq", c->irq }, { "steal", c->steal },
	};
	const char *name = NULL;

	*share = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i].v.k != ND_KNOWN || parts[i].v.v <= *share)
			continue;
		name = parts[i].name;
		*share = parts[i].v.v;
	}
	return name;
}

static void add_busiest(const struct core_load *cores, size_t n, struct text *out)
{
	const struct core_load *hot = NULL;
	double share;

	for (size_t i = 0; i < n; i++)
		if (cores[i].busy.k == ND_KNOWN && (!hot || cores[i].busy.v > hot->busy.v))
			hot = &cores[i];
	if (!hot) {
		text_add(out, "not known");
		return;
	}
	const char *what = filling(hot, &share);
	text_printf(out, "core %" PRIu64 " %.0f%%", hot->cpu.v, hot->busy.v * 100);
	if (what)
		text_printf(out, " (%s %.0f%%)", what, share * 100);
}

static void add_cores(const struct exam *e, const struct beat *ours, const struct beat *peer,
		      struct text *out)
{
	bool same = nd_is_true(e->path.same_machine);

	text_printf(out, "[CPU] %6.2f-%-6.2f sec", ours->start_s, ours->start_s + ours->seconds);
	text_printf(out, "  %s: ", same ? "both ends" : "local");
	add_busiest(ours->cores, ours->ncores, out);
	if (peer && !same) {
		text_add(out, "  peer: ");
		add_busiest(peer->cores, peer->ncores, out);
	}
	text_add(out, "\n");
}

/* ---- intervals ---- */

static void add_tcp_columns(const struct beat_flow *sender, struct text *out)
{
	char cwnd[VALUE_CAP];

	if (!sender || sender->retransmits.k != ND_KNOWN) {
		text_add(out, "                  ");
		return;
	}
	text_printf(out, "  %3" PRIu64, sender->retransmits.v);
	if (sender->cwnd_bytes.k != ND_KNOWN) {
		text_add(out, "             ");
		return;
	}
	test_format_bytes((double)sender->cwnd_bytes.v, cwnd, sizeof(cwnd));
	text_printf(out, "   %s       ", cwnd);
}

static void add_udp_columns(const struct beat_flow *sender, const struct beat_flow *receiver,
			    struct text *out)
{
	if (!receiver || receiver->packets.k != ND_KNOWN || receiver->lost.k != ND_KNOWN) {
		if (sender && sender->packets.k == ND_KNOWN)
			text_printf(out, "            -/%" PRIu64, sender->packets.v);
		return;
	}
	double lost = (double)receiver->lost.v, all = lost + (double)receiver->packets.v;

	text_printf(out, "  %5.3f ms  %.0f/%.0f (%.2g%%)",
		    receiver->jitter_us.k == ND_KNOWN ? (double)receiver->jitter_us.v / 1e3 : 0,
		    lost, all, all > 0 ? lost * 100 / all : 0);
}

/* ours and, of the same flow, what the other end saw; NULL: not known. */
static void add_flow(const struct run_spec *spec, const char *id, const struct beat *b,
		     const struct beat_flow *ours, const struct beat_flow *theirs,
		     struct text *out)
{
	bool sends = nd_str_is(ours->direction, "send");

	add_id(spec, id, sends, out);
	add_rate(b->start_s, b->seconds, ours->bytes, out);
	if (spec->protocol == RUN_TCP)
		add_tcp_columns(sends ? ours : theirs, out);
	else
		add_udp_columns(sends ? ours : theirs, sends ? theirs : ours, out);
	text_add(out, b->omitted ? "  (omitted)\n" : "\n");
}

static void add_sum(const struct run_spec *spec, const struct beat *ours,
		    const struct beat *peer, enum load_role role, struct text *out)
{
	const struct beat_flow *sum = &ours->sums[role];
	enum load_role other = role == LOAD_SEND ? LOAD_RECEIVE : LOAD_SEND;
	struct beat_flow mine = *sum, theirs = { 0 };

	if (!sum->flow.v)
		return;
	if (peer && peer->sums[other].flow.v)
		theirs = peer->sums[other];
	/* A sum of windows says nothing that a reader would compare with the lines above. */
	mine.cwnd_bytes = theirs.cwnd_bytes = nd_u64_unknown(ND_NOT_APPLICABLE);
	add_flow(spec, "SUM", ours, &mine, &theirs, out);
}

void test_text_beat(const struct exam *e, const struct run_spec *spec, const struct beat *ours,
		    const struct beat *peer, struct text *out)
{
	bool each = ours->nflows <= BEAT_MAX_FLOWS;

	for (size_t i = 0; each && i < ours->nflows; i++) {
		char id[16];
		snprintf(id, sizeof(id), "%u", test_flow_id(i));
		add_flow(spec, id, ours, &ours->flows[i],
			 peer && i < peer->nflows ? &peer->flows[i] : NULL, out);
	}
	if (spec->streams > 1) {
		add_sum(spec, ours, peer, LOAD_SEND, out);
		add_sum(spec, ours, peer, LOAD_RECEIVE, out);
	}
	add_cores(e, ours, peer, out);
	if (run_flows(spec) > 1)
		text_add(out, "- - - - - - - - - - - - - - - - - - - - - - - - -\n");
}

/* ---- end ---- */

static double window_seconds(const struct run_end *e)
{
	return e->window_ns.k == ND_KNOWN ? (double)e->window_ns.v / 1e9 : 0;
}

/* One flow, or the sum of several, at one end. */
struct end_line { struct nd_u64 bytes, retransmits, packets, lost; double jitter_us; };

static void add_end_datagrams(const struct end_line *l, bool sender, struct text *out)
{
	double lost = sender || l->lost.k != ND_KNOWN ? 0 : (double)l->lost.v;
	double all = l->packets.k == ND_KNOWN ? (double)l->packets.v + lost : 0;

	text_printf(out, "  %5.3f ms  %.0f/%.0f (%.2g%%)  %s\n", sender ? 0 : l->jitter_us / 1e3,
		    lost, all, all > 0 ? lost * 100 / all : 0, sender ? "sender" : "receiver");
}

static void add_end_line(const struct run *r, const char *id, size_t flow, bool sender,
			 const struct end_line *l, double seconds, struct text *out)
{
	bool sends = run_flow_role(&r->spec, run_client_role(&r->spec), flow) == LOAD_SEND;

	add_id(&r->spec, id, sends, out);
	add_rate(0, seconds, l->bytes, out);
	if (r->spec.protocol == RUN_UDP)
		add_end_datagrams(l, sender, out);
	else if (sender && l->retransmits.k == ND_KNOWN)
		text_printf(out, "  %3" PRIu64 "             sender\n", l->retransmits.v);
	else
		text_printf(out, "                  %s\n", sender ? "sender" : "receiver");
}

/* The end that sends flow i. */
static enum side sender_of(const struct run *r, size_t i)
{
	bool ours = run_flow_role(&r->spec, run_client_role(&r->spec), i) == LOAD_SEND;

	return ours ? SIDE_LOCAL : SIDE_PEER;
}

static void plus(struct nd_u64 *sum, struct nd_u64 v)
{
	if (sum->k == ND_KNOWN)
		*sum = v.k == ND_KNOWN ? nd_u64(sum->v + v.v) : v;
}

/* Flows first to first + n of an end; the jitter of several is their mean. */
static struct end_line sum_flows(const struct run_end *e, size_t first, size_t n)
{
	struct end_line l = { nd_u64(0), nd_u64(0), nd_u64(0), nd_u64(0), 0 };

	for (size_t i = first; i < first + n && i < e->nflows; i++) {
		const struct flow_summary *f = &e->flows[i];
		plus(&l.bytes, f->bytes);
		plus(&l.retransmits, f->retransmits);
		plus(&l.packets, f->packets);
		plus(&l.lost, f->lost);
		l.jitter_us += f->jitter_us.k == ND_KNOWN ? f->jitter_us.v / (double)n : 0;
	}
	return l;
}

/* Sender and receiver of flows first to first + n. */
static void add_end_lines(const struct run *r, const char *id, size_t first, size_t n,
			  struct text *out)
{
	enum side tx = sender_of(r, first);

	for (int i = 0; i < EXAM_ENDS; i++) {
		enum side s = i ? side_other(tx) : tx;
		struct end_line l = sum_flows(&r->ends[s], first, n);
		struct nd_u64 ns = run_moved_ns(r, s, tx);
		if (r->ends[s].present && first < r->ends[s].nflows)
			add_end_line(r, id, first, s == tx, &l,
				     ns.k == ND_KNOWN ? (double)ns.v / 1e9 : 0, out);
	}
}

static double worker_share(const struct run_end *e, size_t member)
{
	double us = 0, window_us = window_seconds(e) * 1e6;

	for (size_t i = 0; e->window && i < e->window->nworkers; i++) {
		const struct nd_u64 *v = (const void *)((const char *)&e->window->workers[i] +
							member);
		us += v->k == ND_KNOWN ? (double)v->v : 0;
	}
	return window_us > 0 ? us / window_us : 0;
}

/* What an iperf3 tells of itself: its cores it does not. */
static void add_process(const struct run_end *e, enum side s, struct text *out)
{
	if (e->process_cores.k != ND_KNOWN)
		return;
	text_printf(out, "CPU, %s: its iperf3 %.1f%% of a core", side_word(s),
		    e->process_cores.v * 100);
	if (e->process_user_cores.k == ND_KNOWN && e->process_system_cores.k == ND_KNOWN)
		text_printf(out, " (user %.1f%%, system %.1f%%)", e->process_user_cores.v * 100,
			    e->process_system_cores.v * 100);
	text_add(out, "\n");
}

static void add_cpu(const struct run *r, bool same_machine, struct text *out)
{
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		const struct run_end *e = &r->ends[s];
		if (!e->present)
			continue;
		if (!e->window) {
			add_process(e, s, out);
			continue;
		}
		double user = worker_share(e, offsetof(struct worker_sample, user_us));
		double system = worker_share(e, offsetof(struct worker_sample, system_us));
		text_printf(out, "CPU, %s: our threads %.1f%% of a core (user %.1f%%, system "
			    "%.1f%%)", side_word(s),
			    worker_share(e, offsetof(struct worker_sample, cpu_us)) * 100,
			    user * 100, system * 100);
		text_printf(out, "; busiest%s ", same_machine ? " of both" : "");
		add_busiest(e->cores, e->ncores, out);
		text_add(out, "\n");
	}
}

static void add_share(const char *what, struct nd_f64 part, struct nd_f64 busy, double *rest,
		      struct text *out)
{
	if (part.k != ND_KNOWN || busy.k != ND_KNOWN || busy.v <= 0)
		return;
	double share = part.v / busy.v > 1 ? 1 : part.v / busy.v;
	*rest -= share;
	text_printf(out, "%s %.0f%%, ", what, share * 100);
}

/* The shares below are of the time with data under way: a sender that waits has little of it. */
static bool kept_its_rate(const struct run *r)
{
	const struct run_spec *s = &r->spec;
	uint64_t each = run_asked_bps(s);

	return each && r->goodput_bps.k == ND_KNOWN &&
	       (double)r->goodput_bps.v >= RATE_KEPT * (double)each * (double)s->streams;
}

/* One sending end: round trips, and what the kernel says it waited for. */
static void add_tcp(const struct run *r, enum side s, struct text *out)
{
	const struct run_end *e = &r->ends[s];
	struct nd_u64 low = END_FLOW_MIN(e, min_rtt_us), high = nd_u64_unknown(ND_UNREAD);
	struct nd_f64 mean = END_FLOW_MEAN(e, rtt_us), busy = END_FLOW_MEAN(e, busy_share);
	double rest = 1;

	for (size_t i = 0; i < e->nflows; i++)
		if (e->flows[i].rtt_max_us.k == ND_KNOWN &&
		    (high.k != ND_KNOWN || e->flows[i].rtt_max_us.v > high.v))
			high = e->flows[i].rtt_max_us;
	text_printf(out, "TCP, %s sends", side_word(s));
	if (e->nflows && e->flows[0].congestion_control.k == ND_KNOWN) {
		text_add(out, ", ");
		text_add_escaped(out, e->flows[0].congestion_control.v);
	}
	if (low.k == ND_KNOWN && mean.k == ND_KNOWN && high.k == ND_KNOWN)
		text_printf(out, ": RTT min/mean/max %.3f/%.3f/%.3f ms", (double)low.v / 1e3,
			    mean.v / 1e3, (double)high.v / 1e3);
	if (kept_its_rate(r)) {
		text_add(out, "; limited by the rate that was asked for");
	} else if (busy.k == ND_KNOWN && busy.v > 0) {
		text_add(out, "; limited by ");
		add_share("receiver's window", END_FLOW_MEAN(e, rwnd_limited_share), busy, &rest,
			  out);
		add_share("send buffer", END_FLOW_MEAN(e, sndbuf_limited_share), busy, &rest, out);
		text_printf(out, "path and congestion control %.0f%%", rest > 0 ? rest * 100 : 0);
	}
	text_add(out, "\n");
}

void test_text_end(const struct exam *e, const struct run *r, struct text *out)
{
	size_t n = run_flows(&r->spec);

	if (n == 1)
		text_add(out, "- - - - - - - - - - - - - - - - - - - - - - - - -\n");
	add_header(&r->spec, true, out);
	for (size_t i = 0; i < n && n <= BEAT_MAX_FLOWS; i++) {
		char id[16];
		snprintf(id, sizeof(id), "%u", test_flow_id(i));
		add_end_lines(r, id, i, 1, out);
	}
	for (size_t first = 0; r->spec.streams > 1 && first < n; first += r->spec.streams)
		add_end_lines(r, "SUM", first, r->spec.streams, out);
	text_add(out, "\n");
	add_cpu(r, nd_is_true(e->path.same_machine), out);
	if (r->idle.p50_us.k == ND_KNOWN || r->loaded.p50_us.k == ND_KNOWN) {
		text_add(out, "Round trip: ");
		add_round_trips(e, r, out);
		text_add(out, "\n");
	}
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS && r->spec.protocol == RUN_TCP; s++)
		if (r->ends[s].present &&
		    (r->spec.bidirectional || s == run_sender(r->spec.direction)))
			add_tcp(r, s, out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/flow_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/load/load.h"

/* Where a member of a sample goes in the summary. */
struct member_pair { size_t from, to; };
#define PAIR(from_, to_) { offsetof(struct flow_sample, from_), offsetof(struct flow_summary, to_) }
/* Means that are a plain average of one gauge: nd_u64 in, nd_f64 out. */
static const struct member_pair mean_table[] = {
	PAIR(rtt_us, rtt_us),
	PAIR(cwnd, cwnd),
	PAIR(notsent_bytes, notsent_bytes),
	PAIR(snd_wnd_bytes, snd_wnd_bytes),
	PAIR(rcv_wnd_bytes, rcv_wnd_bytes),
	PAIR(receive_queue_bytes, receive_queue_bytes),
	PAIR(jitter_us, jitter_us),
};

/* Means that are computed from several gauges of one sample. */
enum ratio {
	RATIO_INFLIGHT, RATIO_WINDOW_FILL, RATIO_CWND_FILL, RATIO_SEND_QUEUE, RATIO_RECEIVE_QUEUE,
	RATIO_APP_LIMITED, RATIO_NOTSENT_EMPTY, RATIO_RECOVERY, RATIO_COUNT
};
static const size_t ratio_member[RATIO_COUNT] = {
	[RATIO_INFLIGHT] = offsetof(struct flow_summary, inflight_bytes),
	[RATIO_WINDOW_FILL] = offsetof(struct flow_summary, window_fill),
	[RATIO_CWND_FILL] = offsetof(struct flow_summary, cwnd_fill),
	[RATIO_SEND_QUEUE] = offsetof(struct flow_summary, send_queue_fill),
	[RATIO_RECEIVE_QUEUE] = offsetof(struct flow_summary, receive_queue_fill),
	[RATIO_APP_LIMITED] = offsetof(struct flow_summary, app_limited_share),
	[RATIO_NOTSENT_EMPTY] = offsetof(struct flow_summary, notsent_empty_share),
	[RATIO_RECOVERY] = offsetof(struct flow_summary, recovery_share),
};

/* Differences of counters. */
static const struct member_pair difference_table[] = {
	PAIR(bytes, bytes),
	PAIR(calls, calls),
	PAIR(zerocopy_sends, zerocopy_sends),
	PAIR(zerocopy_copied, zerocopy_copied),
	PAIR(retransmits, retransmits),
	PAIR(bytes_sent, bytes_sent),
	PAIR(bytes_retransmitted, bytes_retransmitted),
	PAIR(dsack_dups, dsack_dups),
	PAIR(reorder_seen, reorder_seen),
	PAIR(timeouts, timeouts),
	PAIR(segments_out, segments_out),
	PAIR(segments_in, segments_in),
	PAIR(delivered_ce, delivered_ce),
	PAIR(packets, packets),
	PAIR(out_of_order, out_of_order),
	PAIR(duplicates, duplicates),
	PAIR(socket_drops, socket_drops),
};

/* Shares of the window made from a counter of microseconds. */
static const struct member_pair share_table[] = {
	PAIR(blocked_us, blocked_share),
	PAIR(busy_us, busy_share),
	PAIR(rwnd_limited_us, rwnd_limited_share),
	PAIR(sndbuf_limited_us, sndbuf_limited_share),
};

/* Taken from the last sample as they are. */
static const struct member_pair last_table[] = {
	PAIR(local_port, local_port), PAIR(peer_port, peer_port), PAIR(snd_mss, snd_mss),
	PAIR(rcv_mss, rcv_mss), PAIR(pmtu, pmtu), PAIR(rcvbuf_bytes, rcvbuf_bytes),
	PAIR(sndbuf_bytes, sndbuf_bytes), PAIR(snd_wscale, snd_wscale),
	PAIR(rcv_wscale, rcv_wscale), PAIR(ssthresh, ssthresh), PAIR(pacing_bps, pacing_bps),
	PAIR(max_pacing_bps, max_pacing_bps), PAIR(reordering, reordering),
	PAIR(incoming_cpu, incoming_cpu), PAIR(incoming_napi, incoming_napi),
	PAIR(min_rtt_us, min_rtt_us), PAIR(udp_gso_segments, udp_gso_segments),
};

struct running_mean { double sum; uint64_t n; enum nd_known why; };

struct flow_state {
	struct flow_sample first, last;
	char congestion_control[32];
	bool sends;
	uint64_t samples;
	struct nd_u64 snd_wnd_max, rtt_max, cwnd_max_bytes;
	struct running_mean means[ARRAY_SIZE(mean_table)];
	struct running_mean ratios[RATIO_COUNT];
};

struct flow_folder { struct flow_state *flows; size_t n, room; };

static const struct nd_u64 *u64_at(const void *row, size_t offset)
{
	return (const struct nd_u64 *)((const char *)row + offset);
}

static void mean_add(struct running_mean *m, double v)
{
	m->sum += v;
	m->n++;
}

static void mean_add_ratio(struct running_mean *m, struct nd_u64 a, struct nd_u64 b, double cap)
{
	if (a.k != ND_KNOWN || b.k != ND_KNOWN || b.v == 0) {
		m->why = a.k != ND_KNOWN ? a.k : b.k != ND_KNOWN ? b.k : ND_NOT_APPLICABLE;
		return;
	}
	double r = (double)a.v / (double)b.v;
	mean_add(m, r > cap ? cap : r);
}

static struct nd_f64 mean_value(const struct running_mean *m)
{
	if (m->n)
		return nd_f64(m->sum / (double)m->n);
	return nd_f64_unknown(m->why);
}

struct nd_u64 flow_lost(struct nd_u64 skipped, struct nd_u64 out_of_order)
{
	if (skipped.k != ND_KNOWN)
		return nd_u64_unknown(skipped.k);
	if (out_of_order.k != ND_KNOWN)
		return nd_u64_unknown(out_of_order.k);
	return nd_u64(skipped.v > out_of_order.v ? skipped.v - out_of_order.v : 0);
}

void flow_summary_mark(const struct load_marked *m, uint64_t window_us, struct flow_summary *out)
{
	out->bytes = nd_u64(m->bytes);
	out->packets = nd_u64(m->packets);
	if (window_us)
		out->goodput_bps = nd_u64((uint64_t)((double)m->bytes * 8e6 / (double)window_us));
	/* A sender misses none. */
	if (out->lost.k != ND_KNOWN)
		return;
	out->out_of_order = nd_u64(m->out_of_order);
	out->duplicates = nd_u64(m->duplicates);
	out->lost = flow_lost(nd_u64(m->skipped), out->out_of_order);
}

struct flow_folder *flow_folder_new(void)
{
	return calloc(1, sizeof(struct flow_folder));
}

void flow_folder_free(struct flow_folder *f)
{
	if (f)
		free(f->flows);
	free(f);
}

struct flow_folder *flow_folder_copy(const struct flow_folder *f)
{
	struct flow_folder *copy = flow_folder_new();

	if (!copy || !f->n)
		return copy;
	copy->flows = calloc(f->n, sizeof(*copy->flows));
	if (!copy->flows) {
		free(copy);
		return NULL;
	}
	memcpy(copy->flows, f->flows, f->n * sizeof(*copy->flows));
	copy->n = copy->room = f->n;
	return copy;
}

/* Among those that were there before; the same flow is mostly at the same place in each sample. */
static struct flow_state *find_state(struct flow_folder *f, const struct flow_sample *s,
				     size_t hint, size_t before)
{
	if (hint < f->n && f->flows[hint].first.flow.v == s->flow.v)
		return &f->flows[hint];
	for (size_t i = 0; i < before; i++)
		if (f->flows[i].first.flow.v == s->flow.v)
			return &f->flows[i];
	return NULL;
}

/* Room for n more; 0 or -ENOMEM. */
static int reserve(struct flow_folder *f, size_t n)
{
	struct flow_state *grown;

	if (f->n + n <= f->room)
		return 0;
	grown = realloc(f->flows, (f->n + n) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	f->flows = grown;
	f->room = f->n + n;
	return 0;
}

static struct flow_state *new_state(struct flow_folder *f, const struct flow_sample *s)
{
	struct flow_state *st = &f->flows[f->n++];

	memset(st, 0, sizeof(*st));
	st->first = *s;
	return st;
}

static void add_ratios(struct flow_state *st, const struct flow_sample *s)
{
	struct running_mean *r = st->ratios;
	struct nd_u64 inflight = s->unacked;

	/* tcpi_unacked counts packets; a flow's segments are of snd_mss, but for the last. */
	if (inflight.k == ND_KNOWN && s->snd_mss.k == ND_KNOWN) {
		inflight.v *= s->snd_mss.v;
		mean_add(&r[RATIO_INFLIGHT], (double)inflight.v);
		/* A window with less than one segment left is full: nothing more may go out. */
		struct nd_u64 reach = nd_u64(inflight.v + (inflight.v ? s->snd_mss.v : 0));
		mean_add_ratio(&r[RATIO_WINDOW_FILL], reach, s->snd_wnd_bytes, 1.0);
	}
	mean_add_ratio(&r[RATIO_CWND_FILL], s->unacked, s->cwnd, 1.0);
	mean_add_ratio(&r[RATIO_SEND_QUEUE], s->wmem_bytes, s->sndbuf_bytes, 10.0);
	mean_add_ratio(&r[RATIO_RECEIVE_QUEUE], s->receive_queue_bytes, s->rcvbuf_bytes, 10.0);
	if (s->app_limited.k == ND_KNOWN)
		mean_add(&r[RATIO_APP_LIMITED], s->app_limited.v);
	if (s->notsent_bytes.k == ND_KNOWN)
		mean_add(&r[RATIO_NOTSENT_EMPTY], s->notsent_bytes.v == 0);
	if (s->ca_state.k == ND_KNOWN)	/* 2 CWR, 3 Recovery, 4 Loss: include/uapi/linux/tcp.h */
		mean_add(&r[RATIO_RECOVERY], s->ca_state.v >= 2);
}

/* The larger; unknown, and why, only as long as nothing was known. */
static void raise_to(struct nd_u64 *max, struct nd_u64 v)
{
	if (v.k == ND_KNOWN ? max->k != ND_KNOWN || v.v > max->v : max->k != ND_KNOWN)
		*max = v;
}

int flow_folder_add(struct flow_folder *f, const struct counters *sample)
{
	/* Within a sample a flow is once: those that this one brings need not be looked for. */
	size_t before = f->n;

	for (size_t i = 0; i < sample->nflows; i++) {
		const struct flow_sample *s = &sample->flows[i];
		struct flow_state *st = find_state(f, s, i, before);
		if (!st && reserve(f, sample->nflows - i))
			return -ENOMEM;
		if (!st)
			st = new_state(f, s);
		st->last = *s;
		st->samples++;
		st->sends = nd_str_is(s->direction, "send");
		if (s->congestion_control.k == ND_KNOWN)
			strncpy(st->congestion_control, s->congestion_control.v,
				sizeof(st->congestion_control) - 1);
		raise_to(&st->snd_wnd_max, s->snd_wnd_bytes);
		raise_to(&st->rtt_max, s->rtt_us);
		if (s->cwnd.k == ND_KNOWN && s->snd_mss.k == ND_KNOWN)
			raise_to(&st->cwnd_max_bytes, nd_u64(s->cwnd.v * s->snd_mss.v));
		else
			raise_to(&st->cwnd_max_bytes, s->cwnd);
		for (size_t m = 0; m < ARRAY_SIZE(mean_table); m++) {
			const struct nd_u64 *v = u64_at(s, mean_table[m].from);
			if (v->k == ND_KNOWN)
				mean_add(&st->means[m], (double)v->v);
			else
				st->means[m].why = v->k;
		}
		add_ratios(st, s);
	}
	return 0;
}

static struct nd_u64 difference(const struct flow_state *st, size_t offset)
{
	const struct nd_u64 *a = u64_at(&st->first, offset), *b = u64_at(&st->last, offset);

	if (a->k != ND_KNOWN)
		return nd_u64_unknown(a->k);
	if (b->k != ND_KNOWN)
		return nd_u64_unknown(b->k);
	return b->v < a->v ? nd_u64_unknown(ND_RESET) : nd_u64(b->v - a->v);
}

static int summarise(const struct flow_state *st, uint64_t window_us, struct arena *mem,
		     struct flow_summary *out)
{
	out->flow = st->first.flow;
	out->direction = nd_str(st->sends ? "send" : "receive");
	out->samples = nd_u64(st->samples);
	for (size_t i = 0; i < ARRAY_SIZE(difference_table); i++)
		*(struct nd_u64 *)((char *)out + difference_table[i].to) =
			difference(st, difference_table[i].from);
	for (size_t i = 0; i < ARRAY_SIZE(last_table); i++)
		*(struct nd_u64 *)((char *)out + last_table[i].to) =
			*u64_at(&st->last, last_table[i].from);
	for (size_t i = 0; i < ARRAY_SIZE(mean_table); i++)
		*(struct nd_f64 *)((char *)out + mean_table[i].to) = mean_value(&st->means[i]);
	for (size_t i = 0; i < RATIO_COUNT; i++)
		*(struct nd_f64 *)((char *)out + ratio_member[i]) = mean_value(&st->ratios[i]);
	for (size_t i = 0; i < ARRAY_SIZE(share_table); i++) {
		struct nd_u64 d = difference(st, share_table[i].from);
		struct nd_f64 share = nd_f64_unknown(d.k);
		if (d.k == ND_KNOWN && window_us)
			share = nd_f64((double)d.v / (double)window_us);
		if (share.k == ND_KNOWN && share.v > 1.0)
			share.v = 1.0;	/* the two clocks are read a moment apart */
		*(struct nd_f64 *)((char *)out + share_table[i].to) = share;
	}
	if (out->bytes.k == ND_KNOWN && window_us)
		out->goodput_bps =
			nd_u64((uint64_t)((double)out->bytes.v * 8e6 / (double)window_us));
	out->snd_wnd_max_bytes = st->snd_wnd_max;
	out->rtt_max_us = st->rtt_max;
	out->cwnd_max_bytes = st->cwnd_max_bytes;
	out->lost = flow_lost(difference(st, offsetof(struct flow_sample, skipped)),
			      out->out_of_order);
	out->udp_gro = st->last.udp_gro;
	out->option_wscale = st->last.option_wscale;
	out->option_sack = st->last.option_sack;
	out->option_timestamps = st->last.option_timestamps;
	out->congestion_control = nd_str_unknown(st->last.congestion_control.k);
	if (st->congestion_control[0]) {
		const char *name = arena_strdup(mem, st->congestion_control);
		if (!name)
			return -ENOMEM;
		out->congestion_control = nd_str(name);
	}
	return 0;
}

int flow_folder_finish(const struct flow_folder *f, uint64_t window_us, struct arena *mem,
		       struct flow_summary **rows, size_t *nrows)
{
	*rows = NULL;
	*nrows = 0;
	if (!f->n)
		return 0;
	struct flow_summary *out = arena_alloc_array(mem, f->n, sizeof(*out));
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		int rc = summarise(&f->flows[i], window_us, mem, &out[i]);
		if (rc)
			return rc;
	}
	*rows = out;
	*nrows = f->n;
	return 0;
}

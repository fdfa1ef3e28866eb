/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/flow_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static struct nd_f64 from_float(float v)
{
	return isnan(v) ? nd_f64_unknown(ND_UNREAD) : nd_f64((double)v);
}

static struct nd_f64 from_u64(struct nd_u64 v)
{
	return v.k == ND_KNOWN ? nd_f64((double)v.v) : nd_f64_unknown(v.k);
}

static void set_sender(struct flow_row *row, enum side side, bool sends)
{
	row->sender_known = true;
	row->sender = sends ? side : side_other(side);
}

static void add_moment(struct flow_row *row, enum side side, const struct history_flow *f)
{
	set_sender(row, side, f->sends);
	row->cpu[side] = f->cpu >= 0 ? nd_u64((uint64_t)f->cpu) : nd_u64_unknown(ND_UNREAD);
	if (!f->sends || row->rate_bps.k != ND_KNOWN)
		row->rate_bps = from_float(f->rate_bps);
	if (!f->sends)
		return;
	row->cwnd_bytes = from_float(f->cwnd_bytes);
	row->snd_wnd_bytes = from_float(f->snd_wnd_bytes);
	row->rtt_us = from_float(f->rtt_us);
	row->retransmits_ps = from_float(f->retransmits_ps);
	row->busy = from_float(f->busy);
	row->rwnd_limited = from_float(f->rwnd_limited);
	row->sndbuf_limited = from_float(f->sndbuf_limited);
}

static void add_summary(struct flow_row *row, enum side side, const struct flow_summary *f,
			double seconds)
{
	bool sends = nd_str_is(f->direction, "send");

	if (f->direction.k == ND_KNOWN)
		set_sender(row, side, sends);
	row->cpu[side] = f->incoming_cpu;
	if (!sends || row->rate_bps.k != ND_KNOWN)
		row->rate_bps = from_u64(f->goodput_bps);
	if (!sends)
		return;
	row->cwnd_bytes = f->cwnd;
	/* The kernel counts it in segments. */
	if (f->cwnd.k == ND_KNOWN)
		row->cwnd_bytes = f->snd_mss.k == ND_KNOWN
			? nd_f64(f->cwnd.v * (double)f->snd_mss.v) : nd_f64_unknown(f->snd_mss.k);
	row->snd_wnd_bytes = f->snd_wnd_bytes;
	row->rtt_us = f->rtt_us;
	row->retransmits_ps = from_u64(f->retransmits);
	if (row->retransmits_ps.k == ND_KNOWN)
		row->retransmits_ps = seconds > 0 ? nd_f64(row->retransmits_ps.v / seconds)
						  : nd_f64_unknown(ND_UNREAD);
	row->busy = f->busy_share;
	row->rwnd_limited = f->rwnd_limited_share;
	row->sndbuf_limited = f->sndbuf_limited_share;
}

static bool is_momentary(const struct shown_run *r)
{
	return (r->sample[SIDE_LOCAL] && r->sample[SIDE_LOCAL]->nflows) ||
	       (r->sample[SIDE_PEER] && r->sample[SIDE_PEER]->nflows);
}

/* Rows by flow number, with holes: seen[] of those that no end told of is false. */
static size_t gather(const struct shown_run *r, struct flow_row *rows)
{
	bool momentary = is_momentary(r);
	size_t end = 0;

	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		const struct history_sample *sample = r->sample[side];
		const struct run_end *e = shown_run_end(r, side);
		double seconds = e && e->window_ns.k == ND_KNOWN ? (double)e->window_ns.v / 1e9
								 : 0;
		size_t n = momentary ? sample ? sample->nflows : 0 : e ? e->nflows : 0;

		for (size_t i = 0; i < n; i++) {
			uint64_t flow = momentary ? sample->flows[i].flow
				: e->flows[i].flow.k == ND_KNOWN ? e->flows[i].flow.v
								 : FLOW_ROWS_MAX;
			if (flow >= FLOW_ROWS_MAX)
				continue;
			rows[flow].flow = (uint32_t)flow;
			rows[flow].seen[side] = true;
			if (momentary)
				add_moment(&rows[flow], side, &sample->flows[i]);
			else
				add_summary(&rows[flow], side, &e->flows[i], seconds);
			end = flow + 1 > end ? (size_t)flow + 1 : end;
		}
	}
	return end;
}

static double known(struct nd_f64 v)
{
	return v.k == ND_KNOWN ? v.v : NAN;
}

static double sort_key(const struct flow_row *row, unsigned int sort)
{
	enum side receiver = side_other(row->sender);

	switch (sort) {
	case FLOW_SORT_RATE:
		return known(row->rate_bps);
	case FLOW_SORT_CWND:
		return known(row->cwnd_bytes);
	case FLOW_SORT_RWND:
		return known(row->snd_wnd_bytes);
	case FLOW_SORT_RTT:
		return known(row->rtt_us);
	case FLOW_SORT_RETRANSMITS:
		return known(row->retransmits_ps);
	case FLOW_SORT_LIMITED:
		return known(row->rwnd_limited) + known(row->sndbuf_limited);
	case FLOW_SORT_CPU:
		return row->cpu[receiver].k == ND_KNOWN ? (double)row->cpu[receiver].v : NAN;
	default:
		return -(double)row->flow;	/* the only one that begins with the lowest */
	}
}

/* Largest first; what is unknown is last, whichever the order. */
static int descending(const void *a, const void *b)
{
	const struct flow_row *x = a, *y = b;

	if (isnan(x->sort_key) || isnan(y->sort_key)) {
		if (isnan(x->sort_key) != isnan(y->sort_key))
			return isnan(x->sort_key) ? 1 : -1;
	} else if (x->sort_key > y->sort_key || x->sort_key < y->sort_key) {
		return x->sort_key > y->sort_key ? -1 : 1;
	}
	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

int flow_rows_make(const struct view_state *v, const struct shown_run *r, struct flow_rows *out)
{
	*out = (struct flow_rows){ .momentary = is_momentary(r) };
	out->rows = calloc(FLOW_ROWS_MAX, sizeof(*out->rows));
	if (!out->rows)
		return -ENOMEM;
	size_t end = gather(r, out->rows);
	for (size_t i = 0; i < end; i++) {
		struct flow_row *row = &out->rows[out->n];
		if (!out->rows[i].seen[SIDE_LOCAL] && !out->rows[i].seen[SIDE_PEER])
			continue;
		*row = out->rows[i];
		row->sort_key = sort_key(row, v->sort) * (v->ascending ? -1 : 1);
		out->n++;
	}
	if (out->n)
		qsort(out->rows, out->n, sizeof(*out->rows), descending);
	return 0;
}

void flow_rows_free(struct flow_rows *rows)
{
	free(rows->rows);
	*rows = (struct flow_rows){ 0 };
}

size_t flow_rows_count(const struct shown_run *r)
{
	struct flow_row *rows = calloc(FLOW_ROWS_MAX, sizeof(*rows));
	size_t n = 0, end = rows ? gather(r, rows) : 0;

	for (size_t i = 0; i < end; i++)
		n += rows[i].seen[SIDE_LOCAL] || rows[i].seen[SIDE_PEER];
	free(rows);
	return n;
}

const struct flow_summary *flow_summary_of(const struct shown_run *r, enum side side,
					   uint32_t flow)
{
	const struct run_end *e = shown_run_end(r, side);

	for (size_t i = 0; e && i < e->nflows; i++)
		if (nd_u64_is(e->flows[i].flow, flow))
			return &e->flows[i];
	return NULL;
}

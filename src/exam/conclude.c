/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/conclude.h"

#include <math.h>

/* A window of less than this share of what was asked for is not the run that was asked for. */
#define LEAST_SHARE 0.25

/*
 * Share of the sent bytes that had to be sent again, less what the receiver reported as
 * duplicates (DSACK, RFC 2883): those were late, not lost.
 */
static struct nd_f64 loss_of(const struct run_end *tx)
{
	struct nd_u64 sent = END_FLOW_SUM(tx, bytes_sent),
		      again = END_FLOW_SUM(tx, bytes_retransmitted),
		      duplicates = END_FLOW_SUM(tx, dsack_dups), mss = END_FLOW_MIN(tx, snd_mss);
	double late = 0;

	if (sent.k != ND_KNOWN || again.k != ND_KNOWN)
		return nd_f64_unknown(sent.k != ND_KNOWN ? sent.k : again.k);
	if (!sent.v)
		return nd_f64_unknown(ND_NOT_APPLICABLE);
	if (duplicates.k == ND_KNOWN && mss.k == ND_KNOWN)
		late = (double)duplicates.v * (double)mss.v;
	return nd_f64((double)again.v > late ? ((double)again.v - late) / (double)sent.v : 0);
}

/* Datagrams are counted where they arrive; the sender knows nothing of their loss. */
static struct nd_f64 loss_of_datagrams(const struct run_end *rx)
{
	struct nd_u64 lost = END_FLOW_SUM(rx, lost);
	uint64_t packets = 0;

	if (lost.k != ND_KNOWN)
		return nd_f64_unknown(lost.k);
	/* At an end that sends, too, its own packets are none of these. */
	for (size_t i = 0; i < rx->nflows; i++)
		if (rx->flows[i].lost.k == ND_KNOWN && rx->flows[i].packets.k == ND_KNOWN)
			packets += rx->flows[i].packets.v;
	if (packets + lost.v == 0)
		return nd_f64_unknown(ND_NOT_APPLICABLE);
	return nd_f64((double)lost.v / (double)(packets + lost.v));
}

/*
 * A pause that takes a fifth of the window: the rate is no longer the path's.  Shorter ones come
 * of full CPUs alone, and the traffic goes on.
 */
#define PAUSE_US 1500000
#define PAUSE_SHARE 0.2

/* Longest time for which the end was not run at all; unknown when it does not tell. */
static struct nd_u64 pause_of(const struct run_end *e)
{
	struct nd_u64 held = e->held_up_us, asleep = e->suspended_us;

	if (held.k != ND_KNOWN || (asleep.k == ND_KNOWN && asleep.v > held.v))
		return asleep;
	return held;
}

/* The end whose pause spoils the run, into *us; EXAM_ENDS: neither's does. */
static int spoilt_by(const struct run *r, struct nd_u64 *us)
{
	int who = EXAM_ENDS;

	*us = nd_u64_unknown(ND_UNREAD);
	for (int side = 0; side < EXAM_ENDS; side++) {
		const struct run_end *e = &r->ends[side];
		struct nd_u64 pause = pause_of(e);
		double window_us = (double)r->spec.window_ms * 1e3;

		if (pause.k != ND_KNOWN)
			continue;
		if (us->k != ND_KNOWN)
			*us = nd_u64(0);
		/* The clock of the window goes on in a pause, but not while the machine sleeps. */
		if (e->present && e->window_ns.k == ND_KNOWN)
			window_us = (double)e->window_ns.v / 1e3;
		if (pause.v < PAUSE_US || (double)pause.v < PAUSE_SHARE * window_us ||
		    pause.v <= us->v)
			continue;
		*us = pause;
		who = side;
	}
	return who;
}

/* The reason why an end is no whole one, NULL: it is. */
static const char *missing_part(const struct run *r, int side, struct arena *mem)
{
	const struct run_end *e = &r->ends[side];
	const char *whose = side == SIDE_LOCAL ? "our end" : "the peer's end";
	double asked_s = (double)r->spec.window_ms / 1e3;

	if (!e->present)
		return arena_printf(mem, "%s measured nothing: %s", whose,
				    e->problem.k == ND_KNOWN ? e->problem.v : "no reason given");
	if (e->broken_flows.k == ND_KNOWN && e->broken_flows.v)
		return e->problem.k == ND_KNOWN ? e->problem.v : "connections ended early";
	if (r->spec.total_bytes || r->spec.total_blocks)
		return NULL;	/* its window is as long as that took */
	double measured_s = e->window_ns.k == ND_KNOWN ? (double)e->window_ns.v / 1e9 : 0;
	if (e->marked_ns.k == ND_KNOWN)
		measured_s = fmin(measured_s, (double)e->marked_ns.v / 1e9);
	if (measured_s < LEAST_SHARE * asked_s || measured_s <= 0)
		return arena_printf(mem, "%s measured only %.3f of %.3g s: it began late or was "
				    "cut short", whose, measured_s, asked_s);
	return NULL;
}

/* Far below 2^64, where the cast would be undefined. */
static struct nd_u64 rate_over(struct nd_u64 bytes, struct nd_u64 ns)
{
	if (bytes.k != ND_KNOWN)
		return bytes;
	if (ns.k != ND_KNOWN || !ns.v)
		return nd_u64_unknown(ND_INVALID);
	double bps = (double)bytes.v * 8e9 / (double)ns.v;
	return bps < 1e18 ? nd_u64((uint64_t)bps) : nd_u64_unknown(ND_INVALID);
}

/*
 * What one end counted of one direction.  At an end that sends as well its own bytes are of the
 * other one.
 */
static struct nd_u64 rate_of(const struct run *r, enum side s, bool sent)
{
	const struct run_end *e = &r->ends[s];
	struct nd_u64 bytes = r->spec.bidirectional ? end_bytes_of(e, sent ? "send" : "receive")
						    : e->bytes;

	return rate_over(bytes, run_moved_ns(r, s, sent ? s : side_other(s)));
}

/* An end alone knows its own window only. */
static void set_rates_of_marked(struct run *r)
{
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		const struct run_end *e = &r->ends[s];
		for (size_t i = 0; e->marked_ns.k == ND_KNOWN && i < e->nflows; i++) {
			struct flow_summary *f = &e->flows[i];
			bool sent = nd_str_is(f->direction, "send");
			f->goodput_bps = rate_over(f->bytes,
						   run_moved_ns(r, s, sent ? s : side_other(s)));
		}
	}
}

/* Whoever gets no datagram at all knows of none that is missing; who sent them does. */
static void count_lost_without_trace(struct run *r, enum side receiver)
{
	const struct run_end *rx = &r->ends[receiver], *tx = &r->ends[side_other(receiver)];

	for (size_t i = 0; rx->present && tx->present && i < rx->nflows && i < tx->nflows; i++) {
		struct flow_summary *f = &rx->flows[i];

		if (nd_str_is(f->direction, "receive") && nd_u64_is(f->packets, 0) &&
		    nd_u64_is(f->lost, 0) && tx->flows[i].packets.k == ND_KNOWN)
			f->lost = tx->flows[i].packets;
	}
}

void run_conclude(struct run *r, int rc, const char *text, struct arena *mem)
{
	const enum side receiver = run_receiver(r->spec.direction), sender = side_other(receiver);
	const struct run_end *rx = &r->ends[receiver], *tx = &r->ends[sender];
	bool udp = r->spec.protocol == RUN_UDP;
	const struct run_end *counted = rx->present ? rx : tx->present && !udp ? tx : NULL;

	int still = spoilt_by(r, &r->stood_still_us);
	if (!text && still < EXAM_ENDS)
		text = arena_printf(mem, "%s stood still for %.1f s of a run: suspended, or its "
				    "CPUs were taken away",
				    still == SIDE_LOCAL ? "this host" : "the peer",
				    (double)r->stood_still_us.v / 1e6);
	for (int side = 0; side < EXAM_ENDS && !text; side++)
		text = missing_part(r, side, mem);
	r->status = rc || text ? RUN_INCOMPLETE : RUN_COMPLETE;
	if (r->status != RUN_COMPLETE)
		r->problem = nd_str(text ? text : "out of memory");
	if (!counted || counted->window_ns.k != ND_KNOWN || !counted->window_ns.v) {
		r->status = RUN_FAILED;
		r->goodput_bps = nd_u64_unknown(ND_FAILED);
		return;
	}
	set_rates_of_marked(r);
	if (udp) {
		count_lost_without_trace(r, receiver);
		count_lost_without_trace(r, sender);
	}
	struct nd_u64 ns = run_moved_ns(r, counted == rx ? receiver : sender, sender);
	r->seconds = ns.k == ND_KNOWN ? nd_f64((double)ns.v / 1e9) : nd_f64_unknown(ns.k);
	r->goodput_bps = rate_of(r, counted == rx ? receiver : sender, counted == tx);
	if (r->spec.bidirectional && tx->present)
		r->other_goodput_bps = rate_of(r, sender, false);
	else if (r->spec.bidirectional && !udp)
		r->other_goodput_bps = rate_of(r, receiver, true);
	r->retransmits = END_FLOW_SUM(tx, retransmits);
	r->loss = udp ? loss_of_datagrams(rx) : loss_of(tx);
}

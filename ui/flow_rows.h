/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flows of the shown run, both ends' views of each in one row: what only its sender knows
 * (windows, retransmissions, what holds it) and what only its receiver does.  Pure.
 */
#ifndef ND_UI_FLOW_ROWS_H
#define ND_UI_FLOW_ROWS_H

#include "ui/shown_run.h"

enum { FLOW_ROWS_MAX = 2 * RUN_MAX_STREAMS };

enum flow_sort {
	FLOW_SORT_NUMBER, FLOW_SORT_RATE, FLOW_SORT_CWND, FLOW_SORT_RWND, FLOW_SORT_RTT,
	FLOW_SORT_RETRANSMITS, FLOW_SORT_LIMITED, FLOW_SORT_CPU, FLOW_SORTS
};

struct flow_row {
	uint32_t flow;
	bool sender_known;
	enum side sender;
	bool seen[EXAM_ENDS];		/* that end told of it */
	struct nd_f64 rate_bps;		/* received; sent, when only the sender was seen */
	/* the sender's */
	struct nd_f64 cwnd_bytes, snd_wnd_bytes, rtt_us, retransmits_ps;
	struct nd_f64 busy, rwnd_limited, sndbuf_limited;	/* shares of the time */
	struct nd_u64 cpu[EXAM_ENDS];	/* that its packets came in on */
	double sort_key;		/* NAN: unknown, last */
};

struct flow_rows {
	struct flow_row *rows;	size_t n;
	bool momentary;		/* as at the cursor; else means over the run */
};

/* In the order of v->sort.  0 or -ENOMEM (then empty).  flow_rows_free() in any case. */
int flow_rows_make(const struct view_state *v, const struct shown_run *r, struct flow_rows *out);
void flow_rows_free(struct flow_rows *rows);
/* How many there are, without sorting them. */
size_t flow_rows_count(const struct shown_run *r);
/* An end's summary of a flow; NULL: none. */
const struct flow_summary *flow_summary_of(const struct shown_run *r, enum side side,
					   uint32_t flow);

#endif

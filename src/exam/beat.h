/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Beat: what one end saw in one report interval, flow by flow and core by core.
 *
 * Beats are shown as the run goes on and then forgotten, so that a long run needs no
 * more memory than a short one; the thinner series that a report keeps is in
 * src/exam/series.h.  Both ends count them alike: a beat ends at the same moment of
 * the run on both, and has the same number.
 */
#ifndef ND_EXAM_BEAT_H
#define ND_EXAM_BEAT_H

#include "src/exam/exam.h"

/* More flows are told as sums only: to the peer, and by a peer. */
#define BEAT_MAX_FLOWS 128

/* Counters are of the interval, gauges as at its end. */
struct beat_flow {
	struct nd_u64 flow;		/* key; in a sum: how many flows */
	struct nd_str direction;	/* "send", "receive" */
	struct nd_u64 bytes, retransmits, reorder_seen;
	struct nd_u64 cwnd_bytes, snd_wnd_bytes, rtt_us, rttvar_us, pmtu;
	/* UDP; of the receiver but for packets */
	struct nd_u64 packets, skipped, out_of_order, lost, duplicates;
	struct nd_u64 jitter_us;	/* gauge; of a sum: mean of its flows */
	/* of one flow, not of a sum */
	struct nd_u64 busy_us, rwnd_limited_us, sndbuf_limited_us;
	struct nd_u64 incoming_cpu;	/* gauge */
};
extern const struct field beat_flow_fields[];
extern const size_t beat_flow_nfields;

/* A connection of a run as it begins, from our end. */
struct flow_begin {
	uint64_t local_port, peer_port;
	enum load_role role;
	struct nd_u64 mss_bytes, sndbuf_bytes, rcvbuf_bytes;
};

struct beat {
	struct arena *mem;
	uint64_t number;		/* of its kind, from 0 */
	bool omitted;			/* in the warm-up */
	double start_s, seconds;	/* start from the first sample of its kind */
	struct beat_flow sums[2];	/* [LOAD_SEND], [LOAD_RECEIVE]; .flow 0: there are none */
	struct beat_flow *flows;	size_t nflows;	/* 0: too many */
	struct core_load *cores;	size_t ncores;
};

void beat_free(struct beat *b);		/* NULL is fine */

/* Adds up the steps of one interval.  Used by one thread. */
struct beat_maker;
struct beat_maker *beat_maker_new(void);	/* NULL: no memory */
void beat_maker_free(struct beat_maker *m);
/* step: the difference between two samples, the next after the one before.  0 or -ENOMEM. */
int beat_maker_add(struct beat_maker *m, const struct counters *step);
/*
 * What was added since the last call, as a beat (its number, omitted and start_s are the
 * caller's to fill in); *out NULL when nothing was.  0 or -ENOMEM.
 */
int beat_maker_take(struct beat_maker *m, struct beat **out);

/* The message of a peer; NULL: no memory.  Flows are left out when there are too many. */
cJSON *beat_to_json(const struct beat *b);
/* NULL: it makes no sense, or no memory. */
struct beat *beat_from_json(const cJSON *obj);

/* True when a comes before b. */
bool beat_before(const struct beat *a, const struct beat *b);

/*
 * Pairing: brings both ends' beats together.  The peer's arrive late, or never; ours
 * do not wait longer than patience_ns for them.
 */
enum { BEAT_QUEUE = 16 };
struct beat_pairing {
	struct beat *queue[EXAM_ENDS][BEAT_QUEUE];
	size_t n[EXAM_ENDS];
	uint64_t since_ns;		/* when our oldest began to wait */
};
#define BEAT_PATIENCE_NS 400000000ULL
/* Takes b over; of too many the oldest is dropped. */
void beat_pairing_add(struct beat_pairing *p, enum side s, struct beat *b, uint64_t now_ns);
/*
 * True with the next of ours in out[SIDE_LOCAL] and, if it came, the peer's (else NULL); both
 * become the caller's.  `over`: no more will come, wait for nothing.
 */
bool beat_pairing_next(struct beat_pairing *p, uint64_t now_ns, bool over,
		       struct beat *out[EXAM_ENDS]);
void beat_pairing_clear(struct beat_pairing *p);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What limits a sender: the amount that a run is to send, and a rate.  Internal to src/load.
 */
#ifndef ND_LOAD_LIMITS_H
#define ND_LOAD_LIMITS_H

#include <stdatomic.h>

#include "src/core/clock.h"
#include "src/load/load.h"

/*
 * An amount to be sent by all senders of a load together.  They take shares of about a MiB,
 * so the word is rarely written, and fast flows send more than slow ones.
 */
struct amount {
	uint64_t total;		/* bytes; 0: no limit */
	uint64_t senders;
	_Atomic uint64_t left;	/* not taken by any flow */
	_Atomic uint64_t goal;	/* sent then, in all; 0: it does not count yet, as in a warm-up */
};

/* Bytes that a spec asks to send; 0: time alone ends the run. */
uint64_t amount_of(const struct run_spec *spec);
void amount_open(struct amount *a, const struct run_spec *spec, uint64_t senders);
/* Takes a share: whole blocks but for the last one.  0: nothing is left.  Any thread. */
uint64_t amount_take(struct amount *a, uint64_t block_bytes);
/* Takes up to `want`, also of an amount that does not count yet. */
uint64_t amount_take_some(struct amount *a, uint64_t want);
/*
 * An amount with a warm-up counts from when its senders had sent so much.  What they have taken
 * already they send: at the least the goal is that.
 */
void amount_begin(struct amount *a, uint64_t sent_before);
static inline bool amount_counts(const struct amount *a)
{
	return atomic_load_explicit(&a->goal, memory_order_relaxed) != 0;
}
/* Gives back what a flow took and cannot send. */
void amount_return(struct amount *a, uint64_t bytes);

/*
 * A rate, kept by letting a burst go whenever its time has come.  The time of the next burst
 * follows from the bytes sent, not from when we woke up, so lateness evens out; but
 * a flow that was held up for long does not catch up by flooding the path.
 */
struct pace {
	double ns_per_byte;	/* 0: no rate */
	double due_ns;		/* of the next burst, by CLOCK_MONOTONIC */
	uint64_t burst_bytes, burst_left;
};

void pace_open(struct pace *p, uint64_t rate_bps, uint64_t burst_bytes, uint64_t now_ns);
/* Bytes of `want` that may be sent now; 0: not before due_ns. */
uint64_t pace_grant(struct pace *p, uint64_t want, uint64_t now_ns);
static inline void pace_spend(struct pace *p, uint64_t bytes)
{
	p->due_ns += p->ns_per_byte * (double)bytes;
	p->burst_left -= bytes < p->burst_left ? bytes : p->burst_left;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plan: which run next.  Pure: from what the exam holds so far to the run that
 * best splits what is still possible.  First the measured rate of each
 * direction (and of both at once, where asked for), then one stream in the
 * slower one, then harmless experiments that change nothing on either machine
 * but the options of our own sockets.
 */
#ifndef ND_EXAM_PLAN_H
#define ND_EXAM_PLAN_H

#include "src/exam/exam.h"

#define PLAN_MAX_EXPERIMENTS 4

struct plan_wishes {
	struct run_spec base;		/* the user's socket options; direction is ignored */
	bool forward, reverse;		/* directions to measure */
	bool both;			/* then both at once; needs each alone */
	bool one_stream, experiments;
	bool repeat;			/* once a main run in which a machine stood still */
	uint64_t budget_ms;		/* for all runs together; 0: no limit */
	bool window_chosen, warmup_chosen;	/* by the user: not ours to shorten */
};

/*
 * Shortens what the user did not choose of base's warm-up and window, so that a run takes no more
 * than the peer allows.  True: it did.  What the user's choice leaves no room for stays as it is,
 * and the peer will refuse it.
 */
bool plan_fit(struct plan_wishes *w, uint64_t max_seconds);

struct planned_run { struct run_spec spec; enum run_purpose purpose; };

/* True with the next run in *out; false when there is nothing left worth the time. */
bool plan_next(const struct exam *e, const struct plan_wishes *w, uint64_t spent_ms,
	       struct planned_run *out);
/* Runs that will surely happen, experiments not counted: for "run 2 of 3". */
unsigned int plan_certain_runs(const struct plan_wishes *w);

#endif

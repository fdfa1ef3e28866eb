/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/ends.h"
#include "rules/thresholds.h"

struct uneven { const struct run *run; struct end_sampling s; };

/* The complete run that an end sampled worst; false: it saw none. */
static bool worst_of(const struct exam *e, enum side side, struct uneven *worst)
{
	bool seen = false;
	size_t i;

	for (i = 0; i < e->nruns; i++) {
		struct uneven u = { .run = &e->runs[i] };

		/* A run that was cut short says so itself. */
		if (u.run->status != RUN_COMPLETE || !end_sampling_of(u.run, side, &u.s))
			continue;
		if (!seen || u.s.error > worst->s.error)
			*worst = u;
		seen = true;
	}
	return seen;
}

static void fire(struct rule_output *out, enum side side, const struct uneven *u)
{
	const char *host = side == SIDE_PEER ? "the peer" : "this host";
	struct finding *f = rule_fire(out);
	struct nd_f64 busy = end_mean_busy(&u->run->ends[side]);
	const char *run = rule_text(out, "runs[%s].%s", run_name(u->run), side_word(side));

	f->proof = PROOF_STATIC;
	f->severity = SEVERITY_INFO;
	f->side = side;
	f->title = fabs(u->s.window_s / u->s.asked_s - 1) > TOOL_SAMPLING_ERROR ?
		   rule_text(out, "%s was too busy to sample evenly: a window of %.2f s instead of "
			     "%.2f s", host, u->s.window_s, u->s.asked_s) :
		   rule_text(out, "%s was too busy to sample evenly: %zu of %.0f samples", host,
			     u->s.samples, u->s.expected);
	finding_number(out, f, rule_text(out, "%s.window_ns", run), u->s.window_s, UNIT_SECONDS,
		       rule_text(out, "within %g of what was asked for", TOOL_SAMPLING_ERROR),
		       "CLOCK_MONOTONIC");
	finding_number(out, f, rule_text(out, "%s.intervals", run), (double)u->s.samples,
		       UNIT_COUNT, rule_text(out, "%g of 10 a second", 1 - TOOL_SAMPLING_ERROR),
		       "the sampling thread");
	if (busy.k == ND_KNOWN)
		finding_number(out, f, rule_text(out, "%s.cores busy, mean", run), busy.v,
			       UNIT_SHARE, NULL, "/proc/stat");
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct uneven u;
	bool seen = false, fired = false;
	int s;

	for (s = 0; s < EXAM_ENDS; s++) {
		if (!worst_of(in->exam, (enum side)s, &u))
			continue;
		seen = true;
		if (u.s.error <= TOOL_SAMPLING_ERROR)
			continue;
		fire(out, (enum side)s, &u);
		fired = true;
	}
	if (!seen)
		rule_not_applicable(out, "no run was watched to its end");
	else if (!fired)
		rule_clear(out, "every run was as long as asked for and sampled evenly");
}

const struct rule rule_tool_sampling_uneven = {
	.id = "tool-sampling-uneven",
	.title = "a machine was too busy to be sampled evenly",
	.scope = RULE_PER_EXAM,
	.reads = "length of each complete run's window against what was asked for; its samples, of "
		 "which ten a second are expected, at both ends",
	.fires_when = "the window is off by > 10 %, or > 10 % of the samples are missing; it names "
		      "the worst run of each end",
	.why = "The thread that takes the samples waits for a CPU like all others. Rates are still "
	       "bytes over the time that really passed, but the two ends saw windows of different "
	       "length, peaks are smoothed and short events may be missed.",
	.fix = "Run again when the machine has CPU time to spare, or with longer runs (-t).",
	.not_when = "Runs that broke off: they say so themselves.",
	.references = "sched(7)",
	.evaluate = evaluate,
};

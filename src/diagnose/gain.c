/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a fix would win: the lifted ceiling against all others of its direction.
 */
#include "src/diagnose/engine.h"

#include <math.h>
#include <string.h>

#include "src/model/limits.h"

static const enum run_direction both_directions[] = { RUN_FORWARD, RUN_REVERSE };

static bool sides_meet(enum side a, enum side b)
{
	if (a == b || a == SIDE_BOTH || b == SIDE_BOTH)
		return true;
	return a == SIDE_PATH || b == SIDE_PATH;
}

static bool is_window(enum ceiling_kind k)
{
	return k == CEILING_WINDOW_SEND || k == CEILING_WINDOW_RECEIVE;
}

static bool is_lifted(const struct finding *f, const struct ceiling *c)
{
	if (c->kind == f->lifts && sides_meet(c->side, f->side))
		return true;
	return f->lifts_too != CEILING_NONE && c->kind == f->lifts_too;
}

/* The fix's own ceiling is the limit now: the rule proved it, or the numbers say so. */
static bool limits_now(const struct ladder *l, const struct finding *f, enum run_direction d,
		       double measured)
{
	const struct ceiling *c;

	if (f->proof != PROOF_STATIC)
		return true;
	c = ladder_find(l, d, f->lifts, f->side);
	return c && c->known && ceiling_binds(c, measured);
}

bool gain_rate_after(const struct ladder *ladder, const struct finding *f,
		     enum run_direction direction, double measured_bps, double *low_bps,
		     double *high_bps)
{
	double low = f->after_low_bps, high = f->after_high_bps;
	bool lifted_binds;
	size_t i;

	if (!f->after_known)
		return false;
	lifted_binds = limits_now(ladder, f, direction, measured_bps);
	for (i = 0; i < ladder->n; i++) {
		const struct ceiling *c = &ladder->ceilings[i];
		double floor_bps;

		if (c->direction != direction || (!c->known && !(c->high_bps > 0)))
			continue;
		if (is_lifted(f, c))
			continue;
		/* Losses and queueing delay at a limit are its echo: they go with it. */
		if (c->kind == CEILING_LOSS && lifted_binds)
			continue;
		/* An experiment went past what was measured without it. */
		if (f->proof == PROOF_EXPERIMENT && c->basis == BASIS_MEASURED)
			continue;
		floor_bps = is_window(c->kind) && lifted_binds ? c->high_bps : c->low_bps;
		/* What was measured was possible, whatever the model says. */
		low = fmin(low, fmax(floor_bps, measured_bps));
		high = fmin(high, fmax(c->high_bps, measured_bps));
	}
	if (!isfinite(high))
		return false;
	*low_bps = fmin(low, high);
	*high_bps = high;
	return true;
}

double direction_reference(const struct exam *exam, const struct ladder *l, enum run_direction d)
{
	double lowest = 0;
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct ceiling *c = &l->ceilings[i];

		if (c->kind != CEILING_WIRE || c->direction != d || !c->known)
			continue;
		if (!(lowest > 0) || c->high_bps < lowest)
			lowest = c->high_bps;
	}
	return lowest > 0 ? lowest : direction_measured(exam, d);
}

/* A finding of one host concerns both directions: it gets the one in which it wins most. */
static void fill_gain(const struct exam *exam, const struct ladder *ladder, struct finding *f,
		      double *share)
{
	size_t i;

	f->gain_known = false;
	*share = 0;
	for (i = 0; i < ARRAY_SIZE(both_directions); i++) {
		enum run_direction d = both_directions[i];
		double measured = direction_measured(exam, d);
		double reference = direction_reference(exam, ladder, d);
		double low, high, gain_low, gain_high;

		if (f->has_direction && f->direction != d)
			continue;
		if (!exam_main_run(exam, d) ||
		    !gain_rate_after(ladder, f, d, measured, &low, &high) || !(high > 0))
			continue;
		/* Nothing arrived and no line rate is known: all that can be had is won. */
		if (!(reference > 0))
			reference = high;
		gain_low = fmax(0, low - measured);
		gain_high = fmax(0, high - measured);
		if (f->gain_known && gain_low + gain_high <= f->gain_low_bps + f->gain_high_bps)
			continue;
		f->gain_known = true;
		f->gain_low_bps = gain_low;
		f->gain_high_bps = gain_high;
		f->rate_low_bps = measured + gain_low;
		f->rate_high_bps = measured + gain_high;
		*share = (gain_low + gain_high) / 2 / reference;
	}
}

static double confidence_of(const struct finding *f)
{
	static const double most[] = {
		[PROOF_STATIC] = 0.3,
		[PROOF_CAUSAL] = 0.9,
		[PROOF_EXPERIMENT] = 1.0,
	};

	/* A rule lowers it (0.6) when a confirming fact was missing; it cannot raise it. */
	if (f->confidence > 0)
		return fmin(f->confidence, most[f->proof]);
	return most[f->proof];
}

/* It says what is there and does not claim that it limits: of that it is certain. */
bool finding_is_plain_fact(const struct finding *f)
{
	return f->proof == PROOF_STATIC && f->severity == SEVERITY_INFO &&
	       f->lifts == CEILING_NONE;
}

static bool concern_one_direction(const struct finding *a, const struct finding *b)
{
	return !a->has_direction || !b->has_direction || a->direction == b->direction;
}

/*
 * Other work was seen on full CPUs.  Then a full CPU is no sure proof that our traffic costs too
 * much, two runs may differ by what the others took meanwhile, and a cheaper byte may leave its
 * CPU to them: whatever rests on the CPU cost is less sure.  The evidence says why.
 */
static void doubt_cpu_cost(struct finding *f, struct finding *const *findings, size_t n)
{
	size_t i;

	if (f->lifts != CEILING_CPU || f->proof == PROOF_STATIC || finding_is_contention(f))
		return;
	for (i = 0; i < n; i++) {
		const struct finding *others = findings[i];

		if (!finding_is_contention(others) || !sides_meet(f->side, others->side) ||
		    !concern_one_direction(f, others))
			continue;
		f->confidence = fmin(f->confidence, CONFIDENCE_OTHER_WORK);
		if (others->nevidence && f->nevidence < FINDING_MAX_EVIDENCE)
			f->evidence[f->nevidence++] = others->evidence[0];
		return;
	}
}

bool finding_is_contention(const struct finding *f)
{
	return strcmp(f->rule->id, "cpu-contention") == 0;
}

/* A rate limit that is reached leaves all other causes in its direction next to nothing to win. */
static bool waits_for_rate_limit(const struct exam *exam, const struct ladder *ladder,
				 const struct finding *f)
{
	return f->has_direction && f->proof != PROOF_STATIC && f->lifts != CEILING_SHAPER &&
	       ladder_rate_limit(ladder, f->direction, direction_measured(exam, f->direction));
}

static enum severity severity_of_share(double share)
{
	if (share >= SEVERITY_CRITICAL_FROM)
		return SEVERITY_CRITICAL;
	if (share >= SEVERITY_HIGH_FROM)
		return SEVERITY_HIGH;
	if (share >= SEVERITY_MEDIUM_FROM)
		return SEVERITY_MEDIUM;
	return share > 0 ? SEVERITY_LOW : SEVERITY_INFO;
}

void gain_of_findings(const struct exam *exam, const struct ladder *ladder,
		      struct finding *const *findings, size_t n)
{
	/* Advice may be low where all that was proven is information. */
	enum severity proven = SEVERITY_LOW;
	bool any_proven = false;
	size_t i;

	for (i = 0; i < n; i++) {
		struct finding *f = findings[i];
		enum severity by_gain;
		double share;

		f->confidence = confidence_of(f);
		doubt_cpu_cost(f, findings, n);
		fill_gain(exam, ladder, f, &share);
		/* Advice promises "up to": count what it is likely to win. */
		if (f->proof == PROOF_STATIC)
			share *= f->confidence;
		by_gain = severity_of_share(share);
		if (f->gain_known && by_gain > f->severity)
			f->severity = by_gain;
		if (f->severity > SEVERITY_LOW && waits_for_rate_limit(exam, ladder, f))
			f->severity = SEVERITY_LOW;
		if (finding_is_plain_fact(f))
			f->confidence = 1;
		if (f->proof == PROOF_STATIC)
			continue;
		any_proven = true;
		if (f->severity > proven)
			proven = f->severity;
	}
	for (i = 0; any_proven && i < n; i++)
		if (findings[i]->proof == PROOF_STATIC && findings[i]->severity > proven)
			findings[i]->severity = proven;
}

double finding_score(const struct exam *exam, const struct ladder *ladder, const struct finding *f)
{
	static const double least_share[] = {
		[SEVERITY_INFO] = 0,
		[SEVERITY_LOW] = 0.005,
		[SEVERITY_MEDIUM] = SEVERITY_MEDIUM_FROM,
		[SEVERITY_HIGH] = SEVERITY_HIGH_FROM,
		[SEVERITY_CRITICAL] = SEVERITY_CRITICAL_FROM,
	};
	double reference = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(both_directions); i++)
		if (!f->has_direction || f->direction == both_directions[i])
			reference = fmax(reference,
					 direction_reference(exam, ladder, both_directions[i]));
	/* Without a gain in numbers the severity stands for the least its class would win. */
	if (!f->gain_known || !(reference > 0))
		return f->confidence * least_share[f->severity];
	return f->confidence * (f->gain_low_bps + f->gain_high_bps) / 2 / reference;
}

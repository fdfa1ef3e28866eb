/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of findings, and the plan: fix one, see the next ceiling, fix that. */
#include "src/diagnose/engine.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A step that wins less than the noise of a run is no step. */
#define PLAN_STEP_FROM 1.01
#define PLAN_MAX_STEPS 8

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* What others do on the machine comes and goes; what is set up wrong stays. */
static bool is_passing(const struct finding *f)
{
	return finding_is_contention(f) || strcmp(f->rule->id, "cpu-steal") == 0;
}

/*
 * A wrong test or a link below its speed comes before everything it distorts;
 * advice comes after everything that was seen limiting.
 */
static int class_of(const struct finding *f)
{
	if (f->proof == PROOF_STATIC)
		return 3;
	if (f->severity < SEVERITY_MEDIUM || is_passing(f))
		return 2;
	return starts_with(f->rule->id, "tool-") || starts_with(f->rule->id, "link-") ? 0 : 1;
}

static bool before(const struct exam *exam, const struct ladder *ladder, const struct finding *a,
		   const struct finding *b)
{
	double score_a, score_b;

	if (class_of(a) != class_of(b))
		return class_of(a) < class_of(b);
	score_a = finding_score(exam, ladder, a);
	score_b = finding_score(exam, ladder, b);
	if (score_a > score_b || score_a < score_b)
		return score_a > score_b;
	return a->severity > b->severity;
}

void rank_findings(const struct exam *exam, const struct ladder *ladder,
		   struct finding **findings, size_t n)
{
	size_t i, j;

	/* Insertion keeps the order of the rule table among equals; there are few. */
	for (i = 1; i < n; i++) {
		struct finding *f = findings[i];

		for (j = i; j > 0 && before(exam, ladder, f, findings[j - 1]); j--)
			findings[j] = findings[j - 1];
		findings[j] = f;
	}
	for (i = 0; i < n; i++)
		findings[i]->rank = (unsigned int)i + 1;
}

static bool lifts_kind(const struct finding *f, const struct ceiling *c)
{
	if (f->lifts_too != CEILING_NONE && c->kind == f->lifts_too)
		return true;
	return c->kind == f->lifts && (c->side == f->side || c->side == SIDE_BOTH ||
				       f->side == SIDE_BOTH || f->side == SIDE_PATH);
}

/* Raises the lifted ceiling in a copy of the ladder; adds it when the ladder had none. */
static int lift(struct ladder *l, const struct finding *f, enum run_direction d, struct arena *mem)
{
	struct ceiling *c;
	bool found = false;
	size_t i;

	for (i = 0; i < l->n; i++) {
		c = &l->ceilings[i];
		if (c->direction != d || !lifts_kind(f, c))
			continue;
		found = found || c->kind == f->lifts;
		c->known = true;
		c->low_bps = f->after_low_bps;
		c->high_bps = f->after_high_bps;
	}
	if (found)
		return 0;
	c = arena_append_row(mem, (void **)&l->ceilings, &l->n, sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = (struct ceiling){
		.kind = f->lifts, .side = f->side, .direction = d, .known = true,
		.low_bps = f->after_low_bps, .high_bps = f->after_high_bps,
	};
	return 0;
}

static bool done(const struct diagnosis *d, size_t from, const struct finding *f)
{
	size_t i;

	for (i = from; i < d->nplan; i++)
		if (d->plan[i].finding == f)
			return true;
	return false;
}

/* The proven fix that wins most from here, NULL: none wins anything. */
static const struct finding *best_step(const struct diagnosis *d, const struct ladder *l,
				       enum run_direction direction, size_t from, double rate,
				       double *after)
{
	const struct finding *best = NULL;
	double low, high;
	size_t i;

	for (i = 0; i < d->nfindings; i++) {
		const struct finding *f = &d->findings[i];

		if (f->proof == PROOF_STATIC || done(d, from, f) ||
		    (f->has_direction && f->direction != direction))
			continue;
		if (!gain_rate_after(l, f, direction, rate, &low, &high))
			continue;
		if ((low + high) / 2 < PLAN_STEP_FROM * (best ? *after : rate))
			continue;
		best = f;
		*after = (low + high) / 2;
	}
	return best;
}

static int plan_direction(const struct exam *exam, struct diagnosis *d,
			  enum run_direction direction)
{
	double rate = direction_measured(exam, direction), after = 0;
	struct ladder l = { .n = d->ladder.n };
	size_t from = d->nplan;
	int err;

	if (!(rate > 0))
		return 0;
	if (l.n) {
		l.ceilings = arena_alloc_array(d->mem, l.n, sizeof(*l.ceilings));
		if (!l.ceilings)
			return -ENOMEM;
		memcpy(l.ceilings, d->ladder.ceilings, l.n * sizeof(*l.ceilings));
	}
	while (d->nplan - from < PLAN_MAX_STEPS) {
		const struct finding *f = best_step(d, &l, direction, from, rate, &after);
		struct plan_step *step;

		if (!f)
			break;
		step = arena_append_row(d->mem, (void **)&d->plan, &d->nplan, sizeof(*step));
		if (!step)
			return -ENOMEM;
		*step = (struct plan_step){ .finding = f, .before_bps = rate, .after_bps = after };
		err = lift(&l, f, direction, d->mem);
		if (err)
			return err;
		rate = after;
	}
	return 0;
}

int plan_build(const struct exam *exam, struct diagnosis *d)
{
	int err = plan_direction(exam, d, RUN_FORWARD);

	return err ? err : plan_direction(exam, d, RUN_REVERSE);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steps of a diagnosis, private to src/diagnose: ladder, evaluation,
 * gain, precedence, rank, plan, verdict.  Each works in the diagnosis' arena
 * and returns 0 or -ENOMEM.
 */
#ifndef ND_DIAGNOSE_ENGINE_H
#define ND_DIAGNOSE_ENGINE_H

#include "src/diagnose/rule.h"

/* A scope in which a rule found nothing wrong. */
struct clear_note {
	const struct rule *rule;
	const char *where;	/* "local, forward" */
	const char *because;
};

/* What the rules said.  Findings are separate allocations: rules hold pointers to them. */
struct rule_output {
	struct arena *mem;
	const struct rule *rule;		/* being evaluated */
	const struct rule_input *in;
	unsigned int answers;			/* by this call of evaluate() */
	struct finding **findings;	size_t nfindings;
	struct clear_note *clears;	size_t nclears;
	struct unseen *unseen;		size_t nunseen;
	struct ruled_out *ruled_out;	size_t nruled_out;
	struct finding scratch;			/* handed out when memory has run out */
	bool failed;
};

int ladder_build(const struct exam *exam, struct arena *mem, struct ladder *out);

/* Why what nobody read is not there, and what to do, when the exam ended early. */
#define EXAM_BROKE_OFF "the session was lost or stopped before this was told: run it again"

/* Evaluates each rule in each scope that exists.  static_only: rules on facts alone. */
int engine_evaluate(const struct rule *const *rules, size_t nrules, const struct exam *exam,
		    const struct ladder *ladder, bool static_only, struct rule_output *out);
/* Clears of rules that neither fired nor lacked a fact become "ruled out" rows. */
int engine_note_ruled_out(const struct rule *const *rules, size_t nrules, struct rule_output *out);
/* A row of its own, e.g. for a finding that another one explains. */
void engine_rule_out(struct rule_output *out, const struct rule *rule, const char *because);

/* Other work on the CPUs: a cause of its own, that comes and goes. */
bool finding_is_contention(const struct finding *f);
/* Gain, rate after the fix, confidence and severity of each finding. */
void gain_of_findings(const struct exam *exam, const struct ladder *ladder,
		      struct finding *const *findings, size_t n);
/* What the direction reaches when this finding's ceiling is lifted; false: cannot say. */
bool gain_rate_after(const struct ladder *ladder, const struct finding *f,
		     enum run_direction direction, double measured_bps, double *low_bps,
		     double *high_bps);
/* Comparable with and without a known gain: share of the reference rate x confidence. */
double finding_score(const struct exam *exam, const struct ladder *ladder, const struct finding *f);

/* Hides, folds and drops duplicates; findings is compacted, *n lowered. */
int precedence_apply(const struct exam *exam, const struct ladder *ladder, struct rule_output *out);
/* Of two fixes that undo each other only the higher ranked stays. */
int precedence_drop_fighting(struct rule_output *out);

/* Sorts into rank order (most important first) and numbers from 1. */
void rank_findings(const struct exam *exam, const struct ladder *ladder,
		   struct finding **findings, size_t n);
int plan_build(const struct exam *exam, struct diagnosis *d);

/* The verdict is about each direction alone: this stands beside it. */
int both_ways_compare(const struct exam *exam, struct diagnosis *d);
int verdict_decide(const struct exam *exam, struct diagnosis *d);
int verdict_decide_static(const struct exam *exam, struct diagnosis *d);

/* The same as diagnose() with a table of the caller's: tests. */
int diagnose_with(const struct rule *const *rules, size_t nrules, const struct exam *exam,
		  bool static_only, struct diagnosis **out);

/* Of a direction's main run, 0 when it has none. */
double direction_measured(const struct exam *exam, enum run_direction d);
/* Line rate if known, else the measured rate: what gains are shares of.  0: neither. */
double direction_reference(const struct exam *exam, const struct ladder *l, enum run_direction d);
/* The value of an input by name, or fallback. */
double ceiling_input_value(const struct ceiling *c, const char *name, double fallback);
/* How far a rate explains itself by a ceiling: T/low below, T/high above, 1 inside. */
double ceiling_explains(const struct ceiling *c, double measured_bps);
bool ceiling_binds(const struct ceiling *c, double measured_bps);
/* The rate limit that a direction's measured rate has reached, NULL: none. */
const struct ceiling *ladder_rate_limit(const struct ladder *l, enum run_direction d,
					double measured_bps);
/* The ceiling that limits a measured rate, NULL: none known.  Causes before their echo (loss). */
const struct ceiling *ladder_bottleneck(const struct ladder *l, enum run_direction d,
					double measured_bps);

#endif

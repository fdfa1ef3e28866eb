/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/engine.h"

#include <errno.h>
#include <string.h>

/* Findings move into one array once their order stands. */
static int keep_findings(struct diagnosis *d, const struct rule_output *out)
{
	size_t i;

	if (!out->nfindings)
		return 0;
	d->findings = arena_alloc_array(d->mem, out->nfindings, sizeof(*d->findings));
	if (!d->findings)
		return -ENOMEM;
	d->nfindings = out->nfindings;
	for (i = 0; i < out->nfindings; i++)
		d->findings[i] = *out->findings[i];
	return 0;
}

static int fill(const struct rule *const *rules, size_t nrules, const struct exam *exam,
		bool static_only, struct diagnosis *d)
{
	struct rule_output out = { .mem = d->mem };
	int err;

	err = ladder_build(exam, d->mem, &d->ladder);
	if (err)
		return err;
	err = engine_evaluate(rules, nrules, exam, &d->ladder, static_only, &out);
	if (err)
		return err;
	err = engine_note_ruled_out(rules, nrules, &out);
	if (err)
		return err;
	gain_of_findings(exam, &d->ladder, out.findings, out.nfindings);
	err = precedence_apply(exam, &d->ladder, &out);
	if (err)
		return err;
	rank_findings(exam, &d->ladder, out.findings, out.nfindings);
	err = precedence_drop_fighting(&out);
	if (err)
		return err;
	err = keep_findings(d, &out);
	if (err)
		return err;
	d->unseen = out.unseen;
	d->nunseen = out.nunseen;
	d->ruled_out = out.ruled_out;
	d->nruled_out = out.nruled_out;
	if (static_only)
		return verdict_decide_static(exam, d);
	err = both_ways_compare(exam, d);
	if (err)
		return err;
	err = plan_build(exam, d);
	return err ? err : verdict_decide(exam, d);
}

int diagnose_with(const struct rule *const *rules, size_t nrules, const struct exam *exam,
		  bool static_only, struct diagnosis **out)
{
	struct arena *mem = arena_new(0);
	struct diagnosis *d = mem ? arena_alloc(mem, sizeof(*d)) : NULL;
	int err;

	*out = NULL;
	if (!d) {
		arena_free(mem);
		return -ENOMEM;
	}
	d->mem = mem;
	err = fill(rules, nrules, exam, static_only, d);
	if (err) {
		arena_free(mem);
		return err;
	}
	*out = d;
	return 0;
}

int diagnose(const struct exam *exam, struct diagnosis **out)
{
	return diagnose_with(rules_table, rules_count, exam, false, out);
}

int diagnose_static(const struct exam *exam, struct diagnosis **out)
{
	return diagnose_with(rules_table, rules_count, exam, true, out);
}

void diagnosis_free(struct diagnosis *d)
{
	if (d)
		arena_free(d->mem);
}

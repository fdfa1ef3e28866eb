/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Template of a rule; not compiled.  Copy to rules/<id>.c, rename the struct to
 * rule_<id with underscores>, add it to rules.c, its thresholds with their
 * source to thresholds.h, and its exams to tests/cases/rules/<id>/.
 */
#include "src/diagnose/rule.h"

#include "rules/thresholds.h"

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct core_load *hot = end_hot_core(in->end);
	struct finding *f;

	/* 1. Has the question a meaning here? */
	if (in->link && nd_str_is(in->link->kind, "loopback")) {
		rule_not_applicable(out, "loopback");
		return;
	}
	/* 2. Every fact it needs: unknown is not "fine". */
	if (!hot) {
		rule_missing(out, rule_text(out, "runs[%s].%s.cores", in->run->id.v,
					    side_word(in->side)), ND_UNREAD, NULL);
		return;
	}
	/* 3. The condition; thresholds by name. */
	if (hot->busy.v < CORE_SATURATED) {
		rule_clear(out, "the busiest core was %.0f %% busy", hot->busy.v * 100);
		return;
	}
	/* 4. The finding: numbers in the title, evidence with its source, the fix for this host. */
	f = rule_fire(out);
	f->severity = SEVERITY_LOW;	/* at least; the gain may raise it */
	f->risk = RISK_NONE;
	f->title = rule_text(out, "a core of %s is %.0f %% busy", side_word(in->side),
			     hot->busy.v * 100);
	finding_number(out, f, rule_text(out, "runs[%s].%s.cores[%llu].busy", in->run->id.v,
					 side_word(in->side), (unsigned long long)hot->cpu.v),
		       hot->busy.v, UNIT_SHARE, rule_text(out, ">= %g", CORE_SATURATED),
		       "/proc/stat");
	if (in->link && in->link->name.k == ND_KNOWN)
		finding_command(out, f, "ethtool -K %s gro on", rule_shell(out, in->link->name.v));
	/* 5. What the fix lifts, and to what. */
	finding_lifts(f, CEILING_CPU, in->measured_bps * 1.5, in->measured_bps * 2);
}

const struct rule rule_template = {
	.id = "template",
	.title = "what is wrong, for any host",
	.scope = RULE_PER_RECEIVER,
	.reads = "facts and counters, for people",
	.fires_when = "the condition, with the thresholds",
	.why = "The mechanism in two or three sentences.",
	.fix = "What to do, in general.",
	.not_when = "What looks like it and is not.",
	.references = "file or document",
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/tell.h"

#include <math.h>
#include <string.h>

#include "src/core/units.h"
#include "src/diagnose/rule.h"

enum { VALUE_CAP = 48 };

/* Where: side, direction, subject.  How sure: proof, confidence. */
static void finding_where(struct sheet *p, const struct exam *e, const struct finding *f)
{
	struct text where = TEXT_INIT, proof = TEXT_INIT;
	char confidence[VALUE_CAP];

	side_name(e, f->side, &where);
	if (f->has_direction)
		text_printf(&where, ", %s", run_direction_word(f->direction));
	if (f->subject)
		text_printf(&where, ", %s", f->subject);
	p->kind->field(p, "where", where.data);

	format_quantity(f->confidence, UNIT_SHARE, confidence, sizeof(confidence));
	if (finding_is_plain_fact(f))
		text_printf(&proof, "%s: a fact, no claim that it limits", proof_word(f->proof));
	else
		text_printf(&proof, "%s: %s; %s %s", proof_word(f->proof), proof_text(f->proof),
			    f->proof == PROOF_STATIC ? "confidence that it limits" : "confidence",
			    confidence);
	p->kind->field(p, "proof", proof.data);
	text_free(&where);
	text_free(&proof);
}

static void finding_gain(struct sheet *p, const struct diagnosis *d, const struct finding *f)
{
	struct text line = TEXT_INIT;

	if (!f->gain_known) {
		/* Without traffic there is nothing that could be gained on. */
		if (d->ndirections)
			p->kind->field(p, "gain", "not known");
		return;
	}
	for (size_t i = 0; f->has_direction && i < d->ndirections; i++) {
		const struct direction_result *r = &d->directions[i];

		if (r->direction != f->direction || !r->measured)
			continue;
		pen_rate_range(&p->pen, &line, r->measured_bps, r->measured_bps);
		text_printf(&line, " %s ", pen_glyph(&p->pen, GLYPH_ARROW));
	}
	pen_rate_range(&p->pen, &line, f->rate_low_bps, f->rate_high_bps);
	text_printf(&line, " (%s", f->proof == PROOF_STATIC ? "up to +" : "+");
	if (f->proof == PROOF_STATIC)
		pen_rate_range(&p->pen, &line, f->gain_high_bps, f->gain_high_bps);
	else
		pen_rate_range(&p->pen, &line, f->gain_low_bps, f->gain_high_bps);
	text_add(&line, ")");
	p->kind->field(p, "gain", line.data);
	text_free(&line);
}

static void finding_fix(struct sheet *p, const struct exam *e, const struct finding *f)
{
	struct text host = TEXT_INIT;

	if (f->fix)
		p->kind->field(p, "fix", f->fix);
	if (f->ncommands + f->npersist + f->nundo > 0) {
		text_add(&host, "run on ");
		side_name(e, f->side, &host);
		text_add(&host, ":");
		p->kind->field(p, "", host.data);
	}
	p->kind->commands(p, "now", f->commands, f->ncommands);
	p->kind->commands(p, "to keep", f->persist, f->npersist);
	p->kind->commands(p, "to undo", f->undo, f->nundo);
	if (f->fix || f->ncommands)
		p->kind->field(p, "risk", risk_text(f->risk));
	text_free(&host);
}

static void finding_also(struct sheet *p, const struct finding *f)
{
	struct text line = TEXT_INIT;

	if (!f->nalso)
		return;
	for (size_t i = 0; i < f->nalso; i++)
		text_printf(&line, "%s%s", i ? ", " : "", f->also[i]);
	text_add(&line, " (same cause)");
	p->kind->field(p, "also", line.data);
	text_free(&line);
}

static void finding_references(struct sheet *p, const struct finding *f)
{
	const char *s = f->rule->references;

	for (bool first = true; s && *s; first = false) {
		size_t len = strcspn(s, "\n");
		struct text line = TEXT_INIT;

		text_addn(&line, s, len);
		p->kind->field(p, first ? "see" : "", line.data);
		text_free(&line);
		s += len + (s[len] == '\n');
	}
}

void tell_findings(struct sheet *p, const struct exam *e, const struct diagnosis *d,
		   bool verbose)
{
	p->kind->heading(p, "Findings");
	if (!d->nfindings)
		p->kind->paragraph(p, "none");
	for (size_t i = 0; i < d->nfindings; i++) {
		const struct finding *f = &d->findings[i];

		p->kind->finding(p, f, f->title ? f->title : f->rule->title);
		p->kind->open(p, BLOCK_FINDING);
		finding_where(p, e, f);
		if (f->why)
			p->kind->field(p, "why", f->why);
		p->kind->evidence(p, f->evidence, f->nevidence);
		finding_gain(p, d, f);
		finding_fix(p, e, f);
		finding_also(p, f);
		p->kind->field(p, "rule", f->rule->id);
		if (verbose)
			finding_references(p, f);
		p->kind->close(p);
	}
}

void tell_plan(struct sheet *p, const struct diagnosis *d)
{
	if (!d->nplan)
		return;
	p->kind->heading(p, "Plan");
	p->kind->open(p, BLOCK_STEPS);
	for (size_t i = 0; i < d->nplan; i++) {
		const struct plan_step *step = &d->plan[i];
		struct text line = TEXT_INIT;

		text_printf(&line, "finding %u (%s), %s", step->finding->rank,
			    step->finding->rule->id, side_word(step->finding->side));
		if (step->finding->has_direction)
			text_printf(&line, ", %s", run_direction_word(step->finding->direction));
		text_add(&line, ": ");
		pen_rate_range(&p->pen, &line, step->before_bps, step->before_bps);
		text_printf(&line, " %s ", pen_glyph(&p->pen, GLYPH_ARROW));
		pen_rate_range(&p->pen, &line, step->after_bps, step->after_bps);
		p->kind->item(p, line.data, NULL);
		text_free(&line);
	}
	p->kind->close(p);
}

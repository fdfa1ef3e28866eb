/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/text_parts.h"

#include <math.h>
#include <string.h>

#include "src/core/units.h"
#include "src/diagnose/rule.h"

enum { LEFT = 3, LABEL = 10, VALUE_CAP = 48 };

static enum style severity_style(enum severity s)
{
	switch (s) {
	case SEVERITY_CRITICAL:
	case SEVERITY_HIGH:
		return STYLE_RED;
	case SEVERITY_MEDIUM:
		return STYLE_YELLOW;
	default:
		return STYLE_CYAN;
	}
}

static void finding_title(const struct pen *p, const struct finding *f)
{
	struct text head = TEXT_INIT;
	unsigned int at;

	text_printf(&head, "%u. ", f->rank);
	at = head.data ? text_columns(head.data) : 0;
	text_add(p->out, "\n");
	text_add(p->out, head.data ? head.data : "");
	pen_style(p, severity_style(f->severity));
	text_printf(p->out, "[%s]", severity_word(f->severity));
	pen_end_style(p);
	text_add(p->out, " ");
	at += (unsigned int)strlen(severity_word(f->severity)) + 3;
	pen_style(p, STYLE_BOLD);
	pen_wrap(p, at, LEFT, f->title ? f->title : f->rule->title);
	pen_end_style(p);
	text_free(&head);
}

/* Where: side, direction, subject.  How sure: proof, confidence. */
static void finding_where(const struct pen *p, const struct exam *e, const struct finding *f)
{
	struct text where = TEXT_INIT, proof = TEXT_INIT;
	char confidence[VALUE_CAP];

	side_name(e, f->side, &where);
	if (f->has_direction)
		text_printf(&where, ", %s", run_direction_word(f->direction));
	if (f->subject)
		text_printf(&where, ", %s", f->subject);
	pen_labelled(p, LEFT, LABEL, "where", where.data);

	format_quantity(f->confidence, UNIT_SHARE, confidence, sizeof(confidence));
	if (finding_is_plain_fact(f))
		text_printf(&proof, "%s: a fact, no claim that it limits", proof_word(f->proof));
	else
		text_printf(&proof, "%s: %s; %s %s", proof_word(f->proof), proof_text(f->proof),
			    f->proof == PROOF_STATIC ? "confidence that it limits" : "confidence",
			    confidence);
	pen_labelled(p, LEFT, LABEL, "proof", proof.data);
	text_free(&where);
	text_free(&proof);
}

static void finding_evidence(const struct pen *p, const struct finding *f)
{
	for (size_t i = 0; i < f->nevidence; i++) {
		const struct evidence *v = &f->evidence[i];
		struct text line = TEXT_INIT;
		char value[VALUE_CAP];

		if (!v->text)
			format_quantity(v->value, v->unit, value, sizeof(value));
		text_printf(&line, "%s = %s", v->fact ? v->fact : "?", v->text ? v->text : value);
		if (v->threshold)
			text_printf(&line, " (threshold %s)", v->threshold);
		if (v->source)
			text_printf(&line, " [%s]", v->source);
		pen_labelled(p, LEFT, LABEL, i ? "" : "evidence", line.data);
		text_free(&line);
	}
}

static void finding_gain(const struct pen *p, const struct diagnosis *d, const struct finding *f)
{
	struct text line = TEXT_INIT;

	if (!f->gain_known) {
		/* Without traffic there is nothing that could be gained on. */
		if (d->ndirections)
			pen_labelled(p, LEFT, LABEL, "gain", "not known");
		return;
	}
	for (size_t i = 0; f->has_direction && i < d->ndirections; i++) {
		const struct direction_result *r = &d->directions[i];

		if (r->direction != f->direction || !r->measured)
			continue;
		pen_rate_range(p, &line, r->measured_bps, r->measured_bps);
		text_printf(&line, " %s ", pen_glyph(p, GLYPH_ARROW));
	}
	pen_rate_range(p, &line, f->rate_low_bps, f->rate_high_bps);
	text_printf(&line, " (%s", f->proof == PROOF_STATIC ? "up to +" : "+");
	if (f->proof == PROOF_STATIC)
		pen_rate_range(p, &line, f->gain_high_bps, f->gain_high_bps);
	else
		pen_rate_range(p, &line, f->gain_low_bps, f->gain_high_bps);
	text_add(&line, ")");
	pen_labelled(p, LEFT, LABEL, "gain", line.data);
	text_free(&line);
}

/* Commands stay on one line each, whatever the width: they are there to be copied. */
static void commands(const struct pen *p, const char *label, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text_repeat(p->out, " ", LEFT);
		pen_field(p, i ? "" : label, LABEL);
		pen_style(p, STYLE_BOLD);
		text_add_escaped(p->out, v[i]);
		pen_end_style(p);
		text_add(p->out, "\n");
	}
}

static void finding_fix(const struct pen *p, const struct exam *e, const struct finding *f)
{
	struct text host = TEXT_INIT;

	if (f->fix)
		pen_labelled(p, LEFT, LABEL, "fix", f->fix);
	if (f->ncommands + f->npersist + f->nundo > 0) {
		text_add(&host, "run on ");
		side_name(e, f->side, &host);
		text_add(&host, ":");
		pen_labelled(p, LEFT, LABEL, "", host.data);
	}
	commands(p, "now", f->commands, f->ncommands);
	commands(p, "to keep", f->persist, f->npersist);
	commands(p, "to undo", f->undo, f->nundo);
	if (f->fix || f->ncommands)
		pen_labelled(p, LEFT, LABEL, "risk", risk_text(f->risk));
	text_free(&host);
}

static void finding_also(const struct pen *p, const struct finding *f)
{
	struct text line = TEXT_INIT;

	if (!f->nalso)
		return;
	for (size_t i = 0; i < f->nalso; i++)
		text_printf(&line, "%s%s", i ? ", " : "", f->also[i]);
	text_add(&line, " (same cause)");
	pen_labelled(p, LEFT, LABEL, "also", line.data);
	text_free(&line);
}

static void finding_references(const struct pen *p, const struct finding *f)
{
	const char *s = f->rule->references;

	for (bool first = true; s && *s; first = false) {
		size_t len = strcspn(s, "\n");
		struct text line = TEXT_INIT;

		text_addn(&line, s, len);
		pen_labelled(p, LEFT, LABEL, first ? "see" : "", line.data);
		text_free(&line);
		s += len + (s[len] == '\n');
	}
}

void text_findings(const struct pen *p, const struct exam *e, const struct diagnosis *d,
		   bool verbose)
{
	pen_heading(p, "Findings");
	if (!d->nfindings)
		text_add(p->out, "  none\n");
	for (size_t i = 0; i < d->nfindings; i++) {
		const struct finding *f = &d->findings[i];

		finding_title(p, f);
		finding_where(p, e, f);
		if (f->why)
			pen_labelled(p, LEFT, LABEL, "why", f->why);
		finding_evidence(p, f);
		finding_gain(p, d, f);
		finding_fix(p, e, f);
		finding_also(p, f);
		pen_labelled(p, LEFT, LABEL, "rule", f->rule->id);
		if (verbose)
			finding_references(p, f);
	}
}

void text_plan(const struct pen *p, const struct diagnosis *d)
{
	if (!d->nplan)
		return;
	pen_heading(p, "Plan");
	for (size_t i = 0; i < d->nplan; i++) {
		const struct plan_step *step = &d->plan[i];
		struct text line = TEXT_INIT;

		text_printf(&line, "finding %u (%s), %s", step->finding->rank,
			    step->finding->rule->id, side_word(step->finding->side));
		if (step->finding->has_direction)
			text_printf(&line, ", %s", run_direction_word(step->finding->direction));
		text_add(&line, ": ");
		pen_rate_range(p, &line, step->before_bps, step->before_bps);
		text_printf(&line, " %s ", pen_glyph(p, GLYPH_ARROW));
		pen_rate_range(p, &line, step->after_bps, step->after_bps);
		text_printf(p->out, "  %zu. ", i + 1);
		pen_wrap(p, 5, 5, line.data);
		text_free(&line);
	}
}

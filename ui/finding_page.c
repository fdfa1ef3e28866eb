/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/finding_page.h"

#include <math.h>
#include <string.h>

#include "src/core/units.h"
#include "ui/draw.h"

size_t entry_count(const struct scene *s)
{
	const struct diagnosis *d = s->diagnosis;

	if (!d)
		return 0;
	return d->nfindings + (d->nplan > 0) + (d->nunseen > 0) + (d->nruled_out > 0) +
	       (s->diagnosis_before != NULL);
}

bool entry_at(const struct scene *s, size_t i, struct entry *out)
{
	const struct diagnosis *d = s->diagnosis;

	*out = (struct entry){ .s = s };
	if (!d)
		return false;
	if (i < d->nfindings) {
		out->finding = &d->findings[i];
		return true;
	}
	i -= d->nfindings;
	const struct { bool there; enum entry_kind kind; } rest[] = {
		{ d->nplan > 0, ENTRY_PLAN },
		{ s->diagnosis_before != NULL, ENTRY_BEFORE },
		{ d->nunseen > 0, ENTRY_UNSEEN },
		{ d->nruled_out > 0, ENTRY_RULED_OUT },
	};
	for (size_t k = 0; k < ARRAY_SIZE(rest); k++) {
		if (!rest[k].there)
			continue;
		out->kind = rest[k].kind;
		if (!i--)
			return true;
	}
	return false;
}

void entry_title(const struct entry *e, struct text *out)
{
	const struct diagnosis *d = e->s->diagnosis;

	switch (e->kind) {
	case ENTRY_FINDING:
		text_add(out, e->finding->title ? e->finding->title : e->finding->rule->title);
		break;
	case ENTRY_PLAN:
		text_printf(out, "the plan: %zu step%s", d->nplan, d->nplan == 1 ? "" : "s");
		break;
	case ENTRY_UNSEEN:
		text_printf(out, "not evaluated: %zu, and how to see it", d->nunseen);
		break;
	case ENTRY_RULED_OUT:
		text_printf(out, "ruled out: %zu, and why", d->nruled_out);
		break;
	case ENTRY_BEFORE:
		text_add(out, "compared with the run before");
		break;
	}
}

static void add_range(struct text *out, double low, double high)
{
	char a[48], b[48];

	format_rate(low, a, sizeof(a));
	if (!isfinite(high)) {
		text_printf(out, "%s or more", a);
		return;
	}
	format_rate(high, b, sizeof(b));
	if (strcmp(a, b) != 0)
		text_printf(out, "%s to ", a);
	text_add(out, b);
}

static void write_line(struct page *p, const char *label, enum ink ink, struct text *t)
{
	if (t->data && !t->failed)
		page_labelled(p, label, ink, t->data);
	text_free(t);
}

static void write_gain(struct page *p, const struct entry *e)
{
	const struct finding *f = e->finding;
	const struct direction_result *r =
		f->has_direction ? scene_result(e->s, f->direction) : NULL;
	struct text t = TEXT_INIT;

	if (!f->gain_known) {
		if (e->s->diagnosis->ndirections)
			page_labelled(p, "gain", INK_DIM, "not known");
		return;
	}
	if (r && r->measured) {
		add_range(&t, r->measured_bps, r->measured_bps);
		text_add(&t, " -> ");
	}
	add_range(&t, f->rate_low_bps, f->rate_high_bps);
	text_add(&t, f->proof == PROOF_STATIC ? " (up to +" : " (+");
	add_range(&t, f->proof == PROOF_STATIC ? f->gain_high_bps : f->gain_low_bps,
		  f->gain_high_bps);
	text_add(&t, ")");
	write_line(p, "gain", INK_GOOD, &t);
}

static void write_commands(struct page *p, const char *label, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		page_labelled(p, i ? "" : label, INK_STRONG, v[i]);
}

static void write_fix(struct page *p, const struct entry *e)
{
	const struct finding *f = e->finding;

	if (f->fix)
		page_labelled(p, "fix", INK_PLAIN, f->fix);
	if (f->ncommands + f->npersist + f->nundo > 0 && f->side < SIDE_PATH)
		page_labelled_printf(p, "run on", INK_PLAIN, "%s (%s)", side_word(f->side),
				     scene_host(e->s, f->side));
	write_commands(p, "now", f->commands, f->ncommands);
	write_commands(p, "to keep", f->persist, f->npersist);
	write_commands(p, "to undo", f->undo, f->nundo);
	if (f->fix || f->ncommands)
		page_labelled(p, "risk", f->risk > RISK_QUEUE_RESTART ? INK_WARN : INK_PLAIN,
			      risk_text(f->risk));
}

static void write_evidence(struct page *p, const struct finding *f)
{
	for (size_t i = 0; i < f->nevidence; i++) {
		const struct evidence *v = &f->evidence[i];
		struct text t = TEXT_INIT;
		char value[48];

		format_quantity(v->value, v->unit, value, sizeof(value));
		text_printf(&t, "%s = %s", v->fact ? v->fact : "?", v->text ? v->text : value);
		if (v->threshold)
			text_printf(&t, " (threshold %s)", v->threshold);
		if (v->source)
			text_printf(&t, " [%s]", v->source);
		write_line(p, i ? "" : "evidence", INK_PLAIN, &t);
	}
}

static void write_references(struct page *p, const char *s)
{
	for (bool first = true; s && *s; first = false) {
		size_t n = strcspn(s, "\n");
		page_labelled_printf(p, first ? "see" : "", INK_DIM, "%.*s", (int)n, s);
		s += n + (s[n] == '\n');
	}
}

static void write_finding(struct page *p, const struct entry *e)
{
	const struct finding *f = e->finding;
	struct text t = TEXT_INIT;

	page_text(p, f->severity >= SEVERITY_HIGH ? INK_BAD : INK_STRONG,
		  f->title ? f->title : f->rule->title);
	text_printf(&t, "%s; %s", severity_word(f->severity), side_word(f->side));
	if (f->side < SIDE_PATH)
		text_printf(&t, " (%s)", scene_host(e->s, f->side));
	if (f->has_direction)
		text_printf(&t, ", %s", run_direction_word(f->direction));
	if (f->subject)
		text_printf(&t, ", %s", f->subject);
	write_line(p, "where", INK_PLAIN, &t);
	write_gain(p, e);
	if (f->why)
		page_labelled(p, "why", INK_PLAIN, f->why);
	page_labelled_printf(p, "proof", INK_PLAIN, "%s: %s; confidence %.0f %%",
			     proof_word(f->proof), proof_text(f->proof), f->confidence * 100);
	write_evidence(p, f);
	write_fix(p, e);
	for (size_t i = 0; i < f->nalso; i++)
		text_printf(&t, "%s%s", i ? ", " : "", f->also[i]);
	if (f->nalso)
		text_add(&t, " (same cause)");
	write_line(p, "also", INK_PLAIN, &t);
	page_labelled(p, "rule", INK_DIM, f->rule->id);
	write_references(p, f->rule->references);
}

static void write_plan(struct page *p, const struct diagnosis *d)
{
	for (size_t i = 0; i < d->nplan; i++) {
		const struct plan_step *step = &d->plan[i];
		const struct finding *f = step->finding;
		struct text t = TEXT_INIT;

		text_printf(&t, "%zu. finding %u (%s), %s", i + 1, f->rank, f->rule->id,
			    side_word(f->side));
		if (f->has_direction)
			text_printf(&t, ", %s", run_direction_word(f->direction));
		if (t.data && !t.failed)
			page_text(p, INK_STRONG, t.data);
		text_free(&t);
		add_range(&t, step->before_bps, step->before_bps);
		text_add(&t, " -> ");
		add_range(&t, step->after_bps, step->after_bps);
		write_line(p, "rate", INK_GOOD, &t);
		if (f->fix)
			page_labelled(p, "fix", INK_PLAIN, f->fix);
		write_commands(p, "now", f->commands, f->ncommands);
		page_blank(p);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_remedy(const struct unseen *a, const struct unseen *b)
{
	return same_text(a->missing, b->missing) && same_text(a->how, b->how);
}

/* One entry for each missing fact, with the rules that wait for it. */
static void write_unseen(struct page *p, const struct diagnosis *d)
{
	for (size_t i = 0; i < d->nunseen; i++) {
		const struct unseen *u = &d->unseen[i];
		const struct rule *last = NULL;
		struct text t = TEXT_INIT;
		bool before = false;

		for (size_t k = 0; k < i && !before; k++)
			before = same_remedy(&d->unseen[k], u);
		if (before)
			continue;
		page_text(p, INK_STRONG, u->missing ? u->missing : "?");
		if (u->how)
			page_labelled(p, "to see it", INK_PLAIN, u->how);
		for (size_t k = i; k < d->nunseen; k++) {
			if (!same_remedy(&d->unseen[k], u) || d->unseen[k].rule == last)
				continue;
			text_printf(&t, "%s%s", last ? ", " : "", d->unseen[k].rule->id);
			last = d->unseen[k].rule;
		}
		write_line(p, "for", INK_DIM, &t);
	}
}

static void write_ruled_out(struct page *p, const struct diagnosis *d)
{
	for (size_t i = 0; i < d->nruled_out; i++)
		page_printf(p, INK_PLAIN, "%s: %s", d->ruled_out[i].rule->id,
			    d->ruled_out[i].because ? d->ruled_out[i].because : "?");
}

static const struct finding *same_finding(const struct diagnosis *d, const struct finding *f)
{
	for (size_t i = 0; i < d->nfindings; i++) {
		const struct finding *x = &d->findings[i];
		if (x->rule == f->rule && x->side == f->side &&
		    x->has_direction == f->has_direction &&
		    (!f->has_direction || x->direction == f->direction) &&
		    same_text(x->subject, f->subject))
			return x;
	}
	return NULL;
}

static void write_rates(struct page *p, const struct scene *s)
{
	for (size_t i = 0; i < s->diagnosis->ndirections; i++) {
		const struct direction_result *now = &s->diagnosis->directions[i], *then = NULL;
		struct text t = TEXT_INIT;

		for (size_t k = 0; k < s->diagnosis_before->ndirections; k++)
			if (s->diagnosis_before->directions[k].direction == now->direction)
				then = &s->diagnosis_before->directions[k];
		if (then && then->measured)
			add_range(&t, then->measured_bps, then->measured_bps);
		else
			text_add(&t, "not measured");
		text_add(&t, " -> ");
		if (now->measured)
			add_range(&t, now->measured_bps, now->measured_bps);
		else
			text_add(&t, "not measured");
		if (then && then->measured && now->measured && then->measured_bps > 0)
			text_printf(&t, " (%+.0f %%)",
				    (now->measured_bps / then->measured_bps - 1) * 100);
		write_line(p, run_direction_word(now->direction), INK_STRONG, &t);
	}
}

static void write_findings_of(struct page *p, const char *label, const struct diagnosis *of,
			      const struct diagnosis *not_in)
{
	bool first = true;

	for (size_t i = 0; i < of->nfindings; i++) {
		const struct finding *f = &of->findings[i];
		if (same_finding(not_in, f))
			continue;
		page_labelled_printf(p, first ? label : "", INK_PLAIN, "[%s] %s",
				     severity_word(f->severity),
				     f->title ? f->title : f->rule->title);
		first = false;
	}
	if (first)
		page_labelled(p, label, INK_DIM, "none");
}

static void write_before(struct page *p, const struct scene *s)
{
	page_labelled_printf(p, "verdict", INK_STRONG, "%s -> %s",
			     verdict_word(s->diagnosis_before->verdict),
			     verdict_word(s->diagnosis->verdict));
	write_rates(p, s);
	write_findings_of(p, "gone", s->diagnosis_before, s->diagnosis);
	write_findings_of(p, "new", s->diagnosis, s->diagnosis_before);
}

void entry_write(struct page *p, const void *about)
{
	const struct entry *e = about;

	switch (e->kind) {
	case ENTRY_FINDING:
		write_finding(p, e);
		break;
	case ENTRY_PLAN:
		write_plan(p, e->s->diagnosis);
		break;
	case ENTRY_UNSEEN:
		write_unseen(p, e->s->diagnosis);
		break;
	case ENTRY_RULED_OUT:
		write_ruled_out(p, e->s->diagnosis);
		break;
	case ENTRY_BEFORE:
		write_before(p, e->s);
		break;
	}
}

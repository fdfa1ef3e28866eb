/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings: what limits, in order, why that is so, and what to do about it. */
#include <math.h>
#include <stdio.h>

#include "src/core/units.h"
#include "ui/draw.h"
#include "ui/finding_page.h"

enum { BESIDE_COLUMNS = 110, LEAST_LIST = 3 };

static enum ink severity_ink(enum severity severity)
{
	return severity >= SEVERITY_HIGH ? INK_BAD : severity >= SEVERITY_MEDIUM ? INK_WARN
									       : INK_PLAIN;
}

static void draw_entry(const struct entry *e, struct canvas *c, struct area row)
{
	struct text t = TEXT_INIT;
	unsigned int x = 0;

	if (e->kind == ENTRY_FINDING) {
		const struct finding *f = e->finding;
		x = canvas_printf(c, row, 0, 0, INK_DIM, "%2u ", f->rank);
		x += canvas_printf(c, row, x, 0, severity_ink(f->severity), "%-8s ",
				   severity_word(f->severity));
		if (f->gain_known && isfinite(f->gain_high_bps) && row.columns >= 76) {
			char gain[48];
			format_rate(f->gain_high_bps, gain, sizeof(gain));
			text_printf(&t, " up to +%s", gain);
			struct area right = area_take_right(&row, 20);
			if (t.data && !t.failed)
				canvas_text_right(c, right, 0, INK_GOOD, t.data);
			text_free(&t);
		}
	} else {
		canvas_mark(c, row, 1, 0, INK_DIM, MARK_BULLET);
		x = 3;
	}
	entry_title(e, &t);
	if (t.data && !t.failed)
		canvas_text(c, row, x, 0, e->kind == ENTRY_FINDING ? INK_PLAIN : INK_DIM, t.data);
	text_free(&t);
}

static void draw_list(const struct scene *s, size_t selected, struct canvas *c, struct area a)
{
	size_t n = entry_count(s), first = list_first(selected, n, a.rows);

	for (unsigned int y = 0; y < a.rows && first + y < n; y++) {
		struct entry e;
		if (!entry_at(s, first + y, &e))
			continue;
		draw_entry(&e, c, area_row(a, y));
		canvas_list_row(c, area_row(a, y), first + y, first + y == selected);
	}
}

/* The verdict and its sentence; returns what is left. */
static struct area draw_verdict(const struct scene *s, struct canvas *c, struct area a)
{
	const struct diagnosis *d = s->diagnosis;
	bool over = s->progress.phase == SCENE_OVER;
	char line[600];

	if (!d) {
		canvas_text(c, a, 0, 0, INK_DIM, s->problem ? s->problem : "no diagnosis yet");
		return a;
	}
	/* The sentence begins with the verdict. */
	if (over)
		snprintf(line, sizeof(line), "%s",
			 d->summary ? d->summary : verdict_word(d->verdict));
	else
		snprintf(line, sizeof(line), "So far: %zu finding%s", d->nfindings,
			 d->nfindings == 1 ? "" : "s");
	unsigned int rows = canvas_wrap_rows(c, a.columns, line);
	struct area top = area_take_top(&a, rows < 3 ? rows : 3);
	canvas_wrap(c, top, 0, d->verdict == VERDICT_LIMITED ? INK_BAD : INK_STRONG, line);
	if (s->problem)
		canvas_text(c, area_take_top(&a, 1), 0, 0, INK_BAD, s->problem);
	return a;
}

static void draw(const struct scene *s, const struct view_state *v, struct canvas *c,
		 struct area a)
{
	size_t n = entry_count(s), selected = v->selected < n ? v->selected : 0;
	struct entry e;
	bool there = entry_at(s, selected, &e);
	char title[64];

	if (v->plain) {
		if (there)
			page_draw(c, a, v->scroll, entry_write, &e);
		return;
	}
	a = draw_verdict(s, c, a);
	if (!s->diagnosis)
		return;
	snprintf(title, sizeof(title), s->diagnosis->nfindings ? "Findings: %zu"
							       : "No findings",
		 s->diagnosis->nfindings);
	unsigned int most = (unsigned int)(n > LEAST_LIST ? n : LEAST_LIST) + 2;
	struct area list = a.columns >= BESIDE_COLUMNS
		? area_take_left(&a, a.columns * 2 / 5)
		: area_take_top(&a, most < a.rows / 3 ? most : a.rows / 3);
	draw_list(s, selected, c, canvas_box(c, list, INK_BORDER, title));
	struct area in = canvas_box(c, a, INK_BORDER, there && e.kind == ENTRY_FINDING
				    ? e.finding->rule->id : "Details");
	if (there)
		page_draw(c, in, v->scroll, entry_write, &e);
	else
		canvas_wrap(c, in, 0, INK_DIM, "nothing to show");
}

static size_t rows(const struct scene *s, const struct view_state *v)
{
	(void)v;
	return entry_count(s);
}

static void row_text(const struct scene *s, const struct view_state *v, size_t row,
		     struct text *out)
{
	struct entry e;

	(void)v;
	if (!entry_at(s, row, &e))
		return;
	entry_title(&e, out);
	if (e.finding)
		text_printf(out, " %s %s", e.finding->rule->id,
			    e.finding->subject ? e.finding->subject : "");
}

static void copy_lines(const char *const *lines, size_t n, struct view_request *r)
{
	for (size_t i = 0; i < n; i++)
		text_printf(&r->text, "%s%s", i ? "\n" : "", lines[i]);
}

/* The commands of the selected finding; of the plan: those of all its steps, in order. */
static void copy(const struct entry *e, uint32_t k, struct view_request *r)
{
	const struct finding *f = e->finding;
	const struct diagnosis *d = e->s->diagnosis;

	if (f && k == 'c')
		copy_lines(f->commands, f->ncommands, r);
	else if (f && k == 'C')
		copy_lines(f->persist, f->npersist, r);
	else if (f)
		copy_lines(f->undo, f->nundo, r);
	for (size_t i = 0; e->kind == ENTRY_PLAN && k == 'c' && i < d->nplan; i++) {
		if (r->text.len)
			text_add(&r->text, "\n");
		copy_lines(d->plan[i].finding->commands, d->plan[i].finding->ncommands, r);
	}
	if (r->text.len)
		r->wish = WISH_COPY;
	else
		r->say = k == 'c' ? "nothing to copy: no command mends this"
			 : k == 'C' ? "nothing to copy: no command makes this stay"
				    : "nothing to copy: there is no command to undo";
}

static bool key(const struct scene *s, struct view_state *v, uint32_t k, struct view_request *r)
{
	struct entry e;
	bool there = entry_at(s, v->selected, &e);

	switch (k) {
	case 'c':
	case 'C':
	case 'U':
		if (there)
			copy(&e, k, r);
		else
			r->say = "nothing to copy yet";
		return true;
	case 'v':
		r->wish = WISH_PLAIN;
		return true;
	case 'a':
		r->wish = WISH_AGAIN;
		return true;
	case 'b':
		/* The entry after the plan. */
		if (s->diagnosis_before && s->diagnosis)
			v->selected = s->diagnosis->nfindings + (s->diagnosis->nplan > 0);
		else
			r->say = "nothing to compare with: a runs the exam again";
		v->scroll = 0;
		return true;
	default:
		return there && page_key(v, k, entry_write, &e);
	}
}

static const struct key_row keys[] = {
	{ .key = 'c', .name = "c", .does = "copy fix" },
	{ .key = 'v', .name = "v", .does = "plain text" },
	{ .key = 'a', .name = "a", .does = "run again", .again = true },
	PAGE_KEY_ROWS,
	{ .key = 'C', .name = "C", .does = "copy what makes the fix stay" },
	{ .key = 'U', .name = "U", .does = "copy what undoes it" },
	{ .key = 'b', .name = "b", .does = "compare with the run before", .again = true },
};

const struct view view_findings = {
	.name = "Findings",
	.about = "what limits, why, and the fix: copy, write, run again",
	.draw = draw,
	.rows = rows,
	.row_text = row_text,
	.key = key,
	.keys = keys,
	.nkeys = ARRAY_SIZE(keys),
};

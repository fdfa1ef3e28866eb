/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ladder: every ceiling of both directions, and where the selected one comes from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/core/units.h"
#include "ui/draw.h"
#include "ui/formula.h"
#include "ui/page.h"
#include "ui/rungs.h"

enum {
	DETAIL_BESIDE = 130,	/* columns from which on details are beside the list */
	DIRECTIONS = 2,
	LABEL = 24, RANGE = 23, LONG_RANGE = 27, SUBJECT = 16
};

/* Both directions' rungs as one list: the known, lowest first, then the unknown. */
struct ladder_list { struct rungs of[DIRECTIONS]; size_t n; };

static size_t rungs_of(const struct rungs *r)
{
	return r->nknown + r->nunknown;
}

static struct ladder_list *list_make(const struct scene *s)
{
	struct ladder_list *l = calloc(1, sizeof(*l));

	for (enum run_direction d = RUN_FORWARD; l && d <= RUN_REVERSE; d++) {
		rungs_make(s, d, &l->of[d]);
		l->n += rungs_of(&l->of[d]);
	}
	return l;
}

static const struct ceiling *list_at(const struct ladder_list *l, size_t i)
{
	for (size_t d = 0; d < DIRECTIONS; d++) {
		const struct rungs *r = &l->of[d];
		if (i < r->nknown)
			return r->known[i];
		if (i < rungs_of(r))
			return r->unknown[i - r->nknown];
		i -= rungs_of(r);
	}
	return NULL;
}

static void draw_heading(const struct scene *s, enum run_direction d, const struct rungs *r,
			 struct canvas *c, struct area row)
{
	const struct direction_result *result = scene_result(s, d);
	char rate[SHOWN_CAP];
	unsigned int x = canvas_printf(c, row, 0, 0, INK_TITLE, "%s, %s to %s: ",
				       run_direction_word(d), side_word(run_sender(d)),
				       side_word(run_receiver(d)));

	if (r->now_bps.k == ND_KNOWN) {
		show_rate(r->now_bps, rate);
		x += canvas_printf(c, row, x, 0, INK_RATE, "%s now, ", rate);
	}
	if (r->measured_bps.k != ND_KNOWN) {
		canvas_text(c, row, x, 0, INK_DIM, "not measured");
		return;
	}
	show_rate(r->measured_bps, rate);
	x += canvas_printf(c, row, x, 0, INK_STRONG, "%s measured", rate);
	if (result && result->target_bps.k == ND_KNOWN) {
		show_rate(result->target_bps, rate);
		canvas_printf(c, row, x, 0, INK_PLAIN, ", target %s", rate);
	}
}

static const char *why_unknown(const struct ceiling *c)
{
	return c->why_unknown ? c->why_unknown : "no reason was given";
}

static void draw_rung(const struct rungs *r, const struct ceiling *ceiling, struct canvas *c,
		      struct area row)
{
	bool lowest = ceiling == r->lowest;
	enum ink ink = lowest ? INK_STRONG : INK_PLAIN;
	char label[64], range[64];
	double mark = r->now_bps.k == ND_KNOWN ? r->now_bps.v
		      : r->measured_bps.k == ND_KNOWN ? r->measured_bps.v : -1;

	rung_label(ceiling, label, sizeof(label));
	struct area left = area_take_left(&row, LABEL);
	canvas_text(c, left, 0, 0, lowest ? INK_BAD : INK_DIM,
		    lowest ? ">" : ceiling->known ? " " : "?");
	left.x += 2;
	left.columns = left.columns > 3 ? left.columns - 3 : 0;
	canvas_text(c, left, 0, 0, ceiling->known ? ink : INK_DIM, label);
	if (!ceiling->known) {
		canvas_text(c, row, 0, 0, INK_DIM, why_unknown(ceiling));
		return;
	}
	if (row.columns >= RANGE + SUBJECT + 20) {
		struct area subject = area_take_right(&row, SUBJECT);
		area_take_left(&subject, 1);
		if (ceiling->subject)
			canvas_text(c, subject, 0, 0, INK_DIM, ceiling->subject);
	}
	rung_range(ceiling, range, sizeof(range));
	/* "91.5 Gbit/s - 1.26 Tbit/s", where the bar can spare it. */
	bool roomy = row.columns >= 2 * LONG_RANGE;
	struct area right = area_take_right(&row, roomy ? LONG_RANGE : RANGE);
	area_take_left(&right, 1);
	canvas_text_right(c, right, 0, ink, range);
	draw_range(c, row, 0, 0, row.columns, r->scale, ceiling->low_bps, ceiling->high_bps, mark,
		   lowest ? INK_BAD : INK_CEILING);
}

/* Lines: a heading for each direction, its rungs, a blank between the directions. */
static void draw_list(const struct scene *s, const struct ladder_list *l, size_t selected,
		      struct canvas *c, struct area a)
{
	size_t nlines = l->n + DIRECTIONS + 1, line = 0;
	size_t second = rungs_of(&l->of[RUN_FORWARD]);
	size_t at = selected + (selected < second ? 1 : 3);
	size_t first = list_first(at, nlines, a.rows), i = 0;

	for (enum run_direction d = RUN_FORWARD; d <= RUN_REVERSE; d++) {
		const struct rungs *r = &l->of[d];
		line += d == RUN_REVERSE;
		if (line >= first)
			draw_heading(s, d, r, c, area_row(a, (unsigned int)(line - first)));
		line++;
		for (size_t k = 0; k < rungs_of(r); k++, i++, line++) {
			if (line < first || line - first >= a.rows)
				continue;
			struct area row = area_row(a, (unsigned int)(line - first));
			draw_rung(r, list_at(l, i), c, row);
			canvas_list_row(c, row, i, i == selected);
		}
	}
}

static void write_inputs(struct page *p, const struct ceiling *c)
{
	struct text t = TEXT_INIT;
	char value[48];

	for (size_t i = 0; i < c->ninputs; i++) {
		format_quantity(c->inputs[i].value, c->inputs[i].unit, value, sizeof(value));
		text_printf(&t, "%s%s = %s", i ? ", " : "",
			    c->inputs[i].name ? c->inputs[i].name : "?", value);
	}
	if (t.data && !t.failed)
		page_labelled(p, "inputs", INK_PLAIN, t.data);
	text_free(&t);
}

static void write_numbers(struct page *p, const struct ceiling *c)
{
	struct text t = TEXT_INIT;
	char range[64];

	rung_range(c, range, sizeof(range));
	page_labelled_printf(p, "ceiling", INK_STRONG, "%s, %s%s", range,
			     ceiling_basis_word(c->basis),
			     c->asked_for ? ", as was asked for" : "");
	if (c->formula) {
		page_labelled(p, "formula", INK_PLAIN, c->formula);
		formula_with_numbers(c, &t);
		if (t.data && !t.failed)
			page_labelled_printf(p, "", INK_STRONG, "= %s", t.data);
	}
	write_inputs(p, c);
	text_free(&t);
}

struct about_ceiling { const struct scene *s; const struct ceiling *ceiling; };

static void write_detail(struct page *p, const void *about)
{
	const struct about_ceiling *of = about;
	const struct ceiling *c = of->ceiling;
	const struct direction_result *result = scene_result(of->s, c->direction);
	char label[64], rate[48];

	rung_label(c, label, sizeof(label));
	page_printf(p, INK_TITLE, "%s, %s%s%s", label, run_direction_word(c->direction),
		    c->subject ? ": " : "", c->subject ? c->subject : "");
	if (c->known) {
		write_numbers(p, c);
	} else {
		page_labelled(p, "unknown", INK_WARN, why_unknown(c));
		write_inputs(p, c);
		if (c->high_bps > 0 && isfinite(c->high_bps)) {
			format_rate(c->high_bps, rate, sizeof(rate));
			page_labelled_printf(p, "estimate", INK_PLAIN,
					     "it would limit near %s; no limit was seen", rate);
		}
	}
	if (result && result->measured) {
		format_rate(result->measured_bps, rate, sizeof(rate));
		if (c->known && c->high_bps > 0 && isfinite(c->high_bps))
			page_labelled_printf(p, "measured", INK_RATE, "%s, %.0f %% of this ceiling",
					     rate, result->measured_bps / c->high_bps * 100);
		else
			page_labelled(p, "measured", INK_RATE, rate);
	}
	if (result && c == result->bottleneck)
		page_labelled(p, "lowest", INK_BAD, "no known ceiling of this direction is lower");
}

static void draw(const struct scene *s, const struct view_state *v, struct canvas *c,
		 struct area a)
{
	struct ladder_list *l = list_make(s);

	if (!l)
		return;
	size_t selected = v->selected < l->n ? v->selected : 0;
	struct about_ceiling of = { s, l->n ? list_at(l, selected) : NULL };
	if (!of.ceiling) {
		canvas_wrap(c, page_box(c, a, v, "Ceilings"), 0, INK_DIM,
			    "no ceiling is computed yet");
		free(l);
		return;
	}
	struct area detail = a.columns >= DETAIL_BESIDE
		? area_take_right(&a, a.columns * 2 / 5)
		: area_take_bottom(&a, a.rows >= 30 ? 15 : a.rows * 2 / 5);
	draw_list(s, l, selected, c, page_box(c, a, v, "Ceilings, lowest first"));
	page_draw(c, page_box(c, detail, v, "Where it comes from"), v->scroll, write_detail, &of);
	free(l);
}

static size_t rows(const struct scene *s, const struct view_state *v)
{
	const struct diagnosis *d = s->diagnosis;

	(void)v;
	/* As many as rungs_make() finds: it has room for more than a ladder has. */
	struct ladder_list *l = d ? list_make(s) : NULL;
	size_t n = l ? l->n : 0;
	free(l);
	return n;
}

static void row_text(const struct scene *s, const struct view_state *v, size_t row,
		     struct text *out)
{
	struct ladder_list *l = list_make(s);
	const struct ceiling *c = l ? list_at(l, row) : NULL;
	char label[64];

	(void)v;
	if (c) {
		rung_label(c, label, sizeof(label));
		text_printf(out, "%s %s %s", label, run_direction_word(c->direction),
			    c->subject ? c->subject : "");
	}
	free(l);
}

static bool key(const struct scene *s, struct view_state *v, uint32_t k, struct view_request *r)
{
	struct ladder_list *l = list_make(s);
	struct about_ceiling of = { s, l ? list_at(l, v->selected) : NULL };
	bool taken = of.ceiling && page_key(v, k, write_detail, &of);

	(void)r;
	free(l);
	return taken;
}

static const struct key_row keys[] = { PAGE_KEY_ROWS };

const struct view view_ladder = {
	.name = "Ladder",
	.about = "every ceiling, and the formula with its numbers",
	.draw = draw,
	.rows = rows,
	.row_text = row_text,
	.key = key,
	.keys = keys,
	.nkeys = ARRAY_SIZE(keys),
};

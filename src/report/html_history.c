/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a run went on, as pictures with their figures in words. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "src/core/units.h"
#include "src/exam/timeline.h"
#include "src/report/html_parts.h"

enum { WIDTH = 600, HEIGHT = 60, VALUE_CAP = 48 };

/* Seconds from the start of the window to the end of the last interval that says when it was. */
static double length_s(const struct run_end *e)
{
	double end = 0;

	for (size_t i = 0; i < e->nintervals; i++)
		if (e->intervals[i].start_s.k == ND_KNOWN && e->intervals[i].seconds.k == ND_KNOWN)
			end = fmax(end, e->intervals[i].start_s.v + e->intervals[i].seconds.v);
	return end;
}

struct rates { double low, high; size_t n; };

static bool has_rate(const struct run *r, size_t i, struct run_moment *m)
{
	run_moment_at(r, i, m);
	return m->goodput_bps.k == ND_KNOWN && m->start_s.k == ND_KNOWN &&
	       m->seconds.k == ND_KNOWN;
}

static struct rates rates_of(const struct run *r, size_t n)
{
	struct rates rates = { .low = HUGE_VAL };
	struct run_moment m;

	for (size_t i = 0; i < n; i++) {
		if (!has_rate(r, i, &m))
			continue;
		rates.n++;
		rates.low = fmin(rates.low, (double)m.goodput_bps.v);
		rates.high = fmax(rates.high, (double)m.goodput_bps.v);
	}
	return rates;
}

/* A moment whose rate is not known interrupts the line. */
static void rate_lines(struct text *out, const struct run *r, size_t n, double seconds,
		       double high)
{
	bool drawing = false;
	struct run_moment m;

	for (size_t i = 0; i < n; i++) {
		if (!has_rate(r, i, &m)) {
			text_add(out, drawing ? "\"/>" : "");
			drawing = false;
			continue;
		}
		text_add(out, drawing ? " " : "<polyline class=\"rate\" points=\"");
		text_printf(out, "%.1f,%.1f",
			    WIDTH * html_share(m.start_s.v + m.seconds.v / 2, seconds),
			    HEIGHT - 1 - (HEIGHT - 2) * html_share((double)m.goodput_bps.v, high));
		drawing = true;
	}
	text_add(out, drawing ? "\"/>" : "");
}

static void rate_history(struct sheet *p, const struct run *r, double seconds)
{
	size_t n = run_moment_count(r);
	struct rates rates = rates_of(r, n);
	struct text words = TEXT_INIT;

	if (rates.n < 2)
		return;
	text_printf(&words, "Rate over %.1f s in %zu steps: ", seconds, rates.n);
	pen_rate_range(&p->pen, &words, rates.low, rates.high);
	text_add(p->out, "<figure>\n<svg role=\"img\" aria-label=\"");
	html_words(p->out, words.data);
	text_printf(p->out, "\" viewBox=\"0 0 %d %d\"><line class=\"floor\" y1=\"%d\" x2=\"%d\" "
		    "y2=\"%d\"/>", WIDTH, HEIGHT, HEIGHT - 1, WIDTH, HEIGHT - 1);
	rate_lines(p->out, r, n, seconds, rates.high);
	text_add(p->out, "</svg>\n<figcaption>");
	html_words(p->out, words.data);
	text_add(p->out, "</figcaption>\n</figure>\n");
	text_free(&words);
}

/* More rows would say no more: the others are less busy.  Steps are what a screen can show. */
enum { MAX_ROWS = 16, MAX_STEPS = 120, LABEL_WIDTH = 60, MEAN_WIDTH = 50, ROW_HEIGHT = 16 };
enum { LEVELS = 10 };

static int busier_first(const void *a, const void *b)
{
	const struct core_load *x = *(const struct core_load *const *)a;
	const struct core_load *y = *(const struct core_load *const *)b;

	if (x->busy.v != y->busy.v)
		return x->busy.v > y->busy.v ? -1 : 1;
	return x->cpu.v < y->cpu.v ? -1 : x->cpu.v > y->cpu.v;
}

/* The cores of the whole window whose load is known, busiest first; the caller frees. */
static const struct core_load **busiest(const struct run_end *e, size_t *n)
{
	const struct core_load **rows = calloc(e->ncores + 1, sizeof(*rows));

	*n = 0;
	for (size_t i = 0; rows && i < e->ncores; i++)
		if (e->cores[i].cpu.k == ND_KNOWN && e->cores[i].busy.k == ND_KNOWN)
			rows[(*n)++] = &e->cores[i];
	if (*n)
		qsort(rows, *n, sizeof(*rows), busier_first);
	return rows;
}

/* How busy a core was at its busiest moment within a step; 0..LEVELS, -1: not known. */
static int level_in(const struct run_end *e, uint64_t cpu, size_t from, size_t to)
{
	double most = -1;

	for (size_t i = from; i < to; i++) {
		const struct end_interval *iv = &e->intervals[i];

		for (size_t k = 0; k < iv->ncores; k++)
			if (iv->cores[k].cpu.k == ND_KNOWN && iv->cores[k].cpu.v == cpu &&
			    iv->cores[k].busy.k == ND_KNOWN)
				most = fmax(most, iv->cores[k].busy.v);
	}
	return most < 0 ? -1 : (int)lround(LEVELS * html_share(most, 1));
}

/* One box for neighbours of the same level. */
static void heat_row(struct text *out, const struct run_end *e, const struct core_load *core,
		     size_t row)
{
	const double width = WIDTH - LABEL_WIDTH - MEAN_WIDTH;
	size_t steps = e->nintervals < MAX_STEPS ? e->nintervals : MAX_STEPS, begun = 0;
	int level = 0;

	for (size_t i = 0; i <= steps; i++) {
		int next = i == steps ? 0
				      : level_in(e, core->cpu.v, i * e->nintervals / steps,
						 (i + 1) * e->nintervals / steps);

		if (next == level && i < steps)
			continue;
		if (level)
			text_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" "
				    "height=\"%d\"", level < 0 ? "unread" : "busy",
				    LABEL_WIDTH + width * (double)begun / (double)steps,
				    row * ROW_HEIGHT, width * (double)(i - begun) / (double)steps,
				    ROW_HEIGHT - 2);
		if (level > 0)
			text_printf(out, " fill-opacity=\"%.1f\"", (double)level / LEVELS);
		text_add(out, level ? "/>" : "");
		begun = i;
		level = next;
	}
}

static void heat_svg(struct sheet *p, const struct run_end *e, const struct core_load *const *rows,
		     size_t shown, const char *words)
{
	char mean[VALUE_CAP];

	text_add(p->out, "<figure>\n<svg role=\"img\" aria-label=\"");
	html_words(p->out, words);
	text_printf(p->out, "\" viewBox=\"0 0 %d %zu\">", WIDTH, shown * ROW_HEIGHT);
	for (size_t i = 0; i < shown; i++) {
		size_t base = i * ROW_HEIGHT + ROW_HEIGHT - 4;

		format_quantity(rows[i]->busy.v, UNIT_SHARE, mean, sizeof(mean));
		text_printf(p->out, "\n<text y=\"%zu\">cpu %" PRIu64 "</text>", base,
			    rows[i]->cpu.v);
		heat_row(p->out, e, rows[i], i);
		text_printf(p->out, "<text x=\"%d\" y=\"%zu\">", WIDTH - MEAN_WIDTH + 6, base);
		html_words(p->out, mean);
		text_add(p->out, "</text>");
	}
	text_add(p->out, "</svg>\n<figcaption>");
	html_words(p->out, words);
	text_add(p->out, "</figcaption>\n</figure>\n");
}

static void core_history(struct sheet *p, const struct run *r, enum side s)
{
	const struct run_end *e = &r->ends[s];
	const struct core_load **rows;
	struct text words = TEXT_INIT;
	size_t n, shown;

	if (!e->present || e->nintervals < 2)
		return;
	rows = busiest(e, &n);
	if (!rows) {
		p->out->failed = true;
		return;
	}
	if (!n)
		goto out;
	shown = n < MAX_ROWS ? n : MAX_ROWS;
	text_printf(&words, "Cores, %s, over %.1f s: the stronger the colour the busier, "
		    "grey where it was not read; on the right the whole run",
		    side_word(s), length_s(e));
	if (shown < n)
		text_printf(&words, ". The busiest %zu of %zu", shown, n);
	heat_svg(p, e, rows, shown, words.data);
out:
	text_free(&words);
	free(rows);
}

void html_history(struct sheet *p, const struct run *r)
{
	double seconds = fmax(length_s(&r->ends[SIDE_LOCAL]), length_s(&r->ends[SIDE_PEER]));

	if (seconds <= 0)
		return;
	rate_history(p, r, seconds);
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		core_history(p, r, s);
}

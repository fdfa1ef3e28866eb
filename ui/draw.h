/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars, graphs and tables for views, on top of the canvas.  Pure. */
#ifndef ND_UI_DRAW_H
#define ND_UI_DRAW_H

#include "src/core/value.h"
#include "ui/canvas.h"

/* A part of a stacked bar, 0..1 of its whole length.  NAN, or less than 0: nothing is drawn. */
struct bar_part { double share; char letter; enum ink ink; };
/* Letters in their inks, so that it reads without colour; the rest is dots. */
void draw_stack(struct canvas *c, struct area a, unsigned int x, unsigned int y,
		unsigned int columns, const struct bar_part *parts, size_t n);

/*
 * A bar for 0..scale: solid to low, doubtful to high (may be HUGE_VAL), a mark at `mark`
 * (< 0: none).
 */
void draw_range(struct canvas *c, struct area a, unsigned int x, unsigned int y,
		unsigned int columns, double scale, double low, double high, double mark,
		enum ink ink);

/*
 * A graph that fills the area, newest value at its right edge; NAN: a gap.  max <= 0: the
 * largest value.  Of values that share a column the largest is shown.
 */
void draw_graph(struct canvas *c, struct area a, enum ink ink, const double *values, size_t n,
		double max);

/* One column of a table.  Widths exclude the blank between columns. */
struct column {
	const char *title;
	unsigned int least;	/* columns it needs */
	unsigned int grow;	/* share of what is left over; 0: none */
	unsigned int keep;	/* the lower, the sooner it is left out; 0: never left out */
	bool right;		/* numbers */
};
enum { TABLE_MAX_COLUMNS = 24 };
struct table {
	const struct column *columns;
	size_t n;
	unsigned int x[TABLE_MAX_COLUMNS], width[TABLE_MAX_COLUMNS];	/* width 0: left out */
};
void table_layout(struct table *t, const struct column *columns, size_t n, unsigned int width);
/* Row y: the titles; `sorted` >= 0 marks that column. */
void table_head(struct canvas *c, struct area a, unsigned int y, const struct table *t, int sorted,
		bool descending);
/* Text of column i in row y; nothing when it was left out. */
void table_cell(struct canvas *c, struct area a, unsigned int y, const struct table *t, size_t i,
		enum ink ink, const char *s);

/* First row to show so that `selected` of n rows is seen in `page` rows, near the middle. */
size_t list_first(size_t selected, size_t n, size_t page);

/* What is shown for a value: human form, or "?" and why when there is room (cap >= 24). */
enum { SHOWN_CAP = 48 };
void show_rate(struct nd_f64 bps, char out[SHOWN_CAP]);
void show_rate_u64(struct nd_u64 bps, char out[SHOWN_CAP]);
void show_share(struct nd_f64 share, char out[SHOWN_CAP]);
void show_count(struct nd_u64 n, char out[SHOWN_CAP]);
/* "12 s ago": as fine as a glance needs. */
void show_ago(double seconds, char out[SHOWN_CAP]);
/* The text, or "?". */
const char *shown_text(struct nd_str s);

#endif

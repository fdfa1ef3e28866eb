/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pen: what the text reports draw with.  Styles, glyphs in UTF-8 or ASCII,
 * wrapped paragraphs and bars.  All text passes through text_add_escaped().
 */
#ifndef ND_REPORT_PEN_H
#define ND_REPORT_PEN_H

#include <stdbool.h>

#include "src/core/text.h"
#include "src/report/report.h"

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_YELLOW, STYLE_GREEN, STYLE_CYAN };

enum glyph {
	GLYPH_BAR,	/* surely below the ceiling */
	GLYPH_MAYBE,	/* inside its interval */
	GLYPH_MARK,	/* where the measured rate is */
	GLYPH_BEYOND,	/* the bar goes on outside the scale */
	GLYPH_ARROW,
	GLYPH_DASH,	/* of a range */
	GLYPH_BULLET,
	GLYPH_CUT	/* text was cut off here */
};

struct pen {
	struct text *out;
	unsigned int width;
	bool colour, utf8;
};

/* A pen for these options; width is kept within 40..200. */
struct pen pen_for(const struct report_options *o, struct text *out);

const char *pen_glyph(const struct pen *p, enum glyph g);
/* Starts and ends a style; does nothing without colour. */
void pen_style(const struct pen *p, enum style s);
void pen_end_style(const struct pen *p);

/* Columns that escaped UTF-8 text takes, one for each code point. */
unsigned int text_columns(const char *s);
/* Escaped text cut to or padded with spaces to exactly `columns`. */
void pen_field(const struct pen *p, const char *s, unsigned int columns);
/*
 * Escaped text, wrapped at white space: the line already holds `at` columns, later
 * lines are indented by `indent`.  Ends with a newline.
 */
void pen_wrap(const struct pen *p, unsigned int at, unsigned int indent, const char *s);
/* "Label:  text" wrapped beside its label, whose column is `indent` wide from `left`. */
void pen_labelled(const struct pen *p, unsigned int left, unsigned int indent, const char *label,
		  const char *s);
/* A bold heading with an empty line before it. */
void pen_heading(const struct pen *p, const char *s);

/* A bar of `cells` columns for 0..scale: solid to low, doubtful to
 * high, a mark at mark (< 0: none). */
void pen_bar(const struct pen *p, unsigned int cells, double scale, double low, double high,
	     double mark);
/* "6.20-6.50 Gbit/s", "9.41 Gbit/s", ">= 12.1 Gbit/s". */
void pen_rate_range(const struct pen *p, struct text *out, double low, double high);

#endif

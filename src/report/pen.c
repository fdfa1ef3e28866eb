/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/pen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/units.h"
#include "src/core/value.h"

enum { DEFAULT_WIDTH = 80, MIN_WIDTH = 40, MAX_WIDTH = 200, RATE_CAP = 48 };

struct glyph_pair { const char *utf8, *ascii; };

static const struct glyph_pair glyphs[] = {
	[GLYPH_BAR] = { "\u2588", "#" },
	[GLYPH_MAYBE] = { "\u2592", "=" },
	[GLYPH_MARK] = { "\u2503", "|" },
	[GLYPH_BEYOND] = { "\u00bb", ">" },
	[GLYPH_ARROW] = { "\u2192", "->" },
	[GLYPH_DASH] = { "\u2013", "-" },
	[GLYPH_BULLET] = { "\u2022", "*" },
	[GLYPH_CUT] = { "\u2026", "~" },
};

static const char *const style_codes[] = {
	[STYLE_PLAIN] = "", [STYLE_BOLD] = "\033[1m", [STYLE_DIM] = "\033[2m",
	[STYLE_RED] = "\033[1;31m", [STYLE_YELLOW] = "\033[33m", [STYLE_GREEN] = "\033[32m",
	[STYLE_CYAN] = "\033[36m",
};

struct pen pen_for(const struct report_options *o, struct text *out)
{
	unsigned int width = o->width ? o->width : DEFAULT_WIDTH;

	if (width < MIN_WIDTH)
		width = MIN_WIDTH;
	if (width > MAX_WIDTH)
		width = MAX_WIDTH;
	return (struct pen){ .out = out, .width = width, .colour = o->colour, .utf8 = o->utf8 };
}

const char *pen_glyph(const struct pen *p, enum glyph g)
{
	return p->utf8 ? glyphs[g].utf8 : glyphs[g].ascii;
}

void pen_style(const struct pen *p, enum style s)
{
	if (p->colour)
		text_add(p->out, style_codes[s]);
}

void pen_end_style(const struct pen *p)
{
	if (p->colour)
		text_add(p->out, "\033[0m");
}

static bool starts_code_point(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

unsigned int text_columns(const char *s)
{
	unsigned int n = 0;

	for (; *s; s++)
		n += starts_code_point(*s);
	return n;
}

void pen_field(const struct pen *p, const char *s, unsigned int columns)
{
	struct text escaped = TEXT_INIT;
	unsigned int used, n = 0;
	size_t len = 0;

	text_add_escaped(&escaped, s ? s : "");
	if (escaped.failed) {
		p->out->failed = true;
		return;
	}
	used = escaped.data ? text_columns(escaped.data) : 0;
	if (used <= columns) {
		text_addn(p->out, escaped.data ? escaped.data : "", escaped.len);
		text_repeat(p->out, " ", columns - used);
	} else {
		/* Cut before the code point that would need the last column. */
		while (len < escaped.len &&
		       (!starts_code_point(escaped.data[len]) || n + 1 < columns))
			n += starts_code_point(escaped.data[len++]);
		text_addn(p->out, escaped.data, len);
		text_add(p->out, pen_glyph(p, GLYPH_CUT));
	}
	text_free(&escaped);
}

/* "91" and "%" belong together: a number is never parted from its unit. */
static bool is_number(const char *word)
{
	size_t len = strlen(word);

	return len && strcspn(word, "0123456789") < len && word[len - 1] >= '0' &&
	       word[len - 1] <= '9' && !word[strspn(word, "0123456789.,+-<>=")];
}

/* One word, escaped, on this line if it fits; with the unit behind it. */
static unsigned int wrap_word(const struct pen *p, unsigned int at, unsigned int indent,
			      bool first, const char *word, const char *unit)
{
	struct text escaped = TEXT_INIT;
	unsigned int columns;

	text_add_escaped(&escaped, word);
	if (unit) {
		text_add(&escaped, " ");
		text_add_escaped(&escaped, unit);
	}
	if (escaped.failed)
		p->out->failed = true;
	columns = escaped.data ? text_columns(escaped.data) : 0;
	if (!first) {
		if (at + 1 + columns > p->width) {
			text_add(p->out, "\n");
			text_repeat(p->out, " ", indent);
			at = indent;
		} else {
			text_add(p->out, " ");
			at++;
		}
	}
	text_add(p->out, escaped.data ? escaped.data : "");
	text_free(&escaped);
	return at + columns;
}

void pen_wrap(const struct pen *p, unsigned int at, unsigned int indent, const char *s)
{
	char *copy = strdup(s ? s : ""), *cursor = copy, *word, *unit;
	bool first = true;

	if (!copy) {
		p->out->failed = true;
		return;
	}
	while ((word = next_word(&cursor))) {
		unit = is_number(word) ? next_word(&cursor) : NULL;
		at = wrap_word(p, at, indent, first, word, unit);
		first = false;
	}
	text_add(p->out, "\n");
	free(copy);
}

void pen_labelled(const struct pen *p, unsigned int left, unsigned int indent, const char *label,
		  const char *s)
{
	text_repeat(p->out, " ", left);
	pen_field(p, label, indent);
	pen_wrap(p, left + indent, left + indent, s);
}

void pen_heading(const struct pen *p, const char *s)
{
	text_add(p->out, "\n");
	pen_style(p, STYLE_BOLD);
	pen_wrap(p, 0, 2, s);
	pen_end_style(p);
}

void pen_bar(const struct pen *p, unsigned int cells, double scale, double low, double high,
	     double mark)
{
	double per_cell = scale > 0 ? cells / scale : 0;
	/* The cell that holds the mark: a rate at the very end of the scale is in the last one. */
	double mark_cell = mark >= 0 ? fmin(floor(mark * per_cell), cells - 1) : -1;

	for (unsigned int i = 0; i < cells; i++) {
		/* A cell belongs to the bar when its middle does. */
		double middle = i + 0.5;

		if (mark_cell == i)
			text_add(p->out, pen_glyph(p, GLYPH_MARK));
		else if (i == cells - 1 && high * per_cell > cells + 0.5)
			text_add(p->out, pen_glyph(p, GLYPH_BEYOND));
		else if (middle <= low * per_cell)
			text_add(p->out, pen_glyph(p, GLYPH_BAR));
		else if (middle <= high * per_cell)
			text_add(p->out, pen_glyph(p, GLYPH_MAYBE));
		else
			text_add(p->out, " ");
	}
}

void pen_rate_range(const struct pen *p, struct text *out, double low, double high)
{
	char a[RATE_CAP], b[RATE_CAP];
	const char *unit_a, *unit_b;

	format_rate(low, a, sizeof(a));
	if (!isfinite(high)) {
		text_printf(out, "%s %s", p->utf8 ? "\u2265" : ">=", a);
		return;
	}
	format_rate(high, b, sizeof(b));
	unit_a = strchr(a, ' ');
	unit_b = strchr(b, ' ');
	if (strcmp(a, b) == 0)
		text_add(out, a);
	else if (unit_a && unit_b && strcmp(unit_a, unit_b) == 0)
		text_printf(out, "%.*s%s%s", (int)(unit_a - a), a, pen_glyph(p, GLYPH_DASH), b);
	else
		text_printf(out, "%s %s %s", a, pen_glyph(p, GLYPH_DASH), b);
}

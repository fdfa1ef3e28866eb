/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Canvas: a grid of cells that views draw on.  Pure: knows no terminal.
 *
 * Text may come from machines and peers: control characters, bidi controls,
 * invalid bytes and characters of no width never reach a cell.  Colour is an
 * "ink", a meaning; the terminal chooses how it looks, and a meaning is never
 * carried by ink alone.  Nothing is drawn outside the area that is given.
 */
#ifndef ND_UI_CANVAS_H
#define ND_UI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/text.h"

enum ink {
	INK_PLAIN,
	INK_DIM,	/* labels, what is unknown */
	INK_STRONG,	/* names, the numbers that matter */
	INK_TITLE,	/* of boxes and columns */
	INK_KEY,	/* a key that may be pressed */
	INK_BORDER,
	INK_GOOD,
	INK_WARN,
	INK_BAD,
	INK_RATE,	/* what was measured */
	INK_CEILING,	/* what bounds it */
	INK_USER,	/* time of a core: u */
	INK_SYSTEM,	/* s */
	INK_SOFTIRQ,	/* q */
	INK_IRQ,	/* i */
	INK_STEAL,	/* t */
	INKS
};

enum cell_marks {
	CELL_SELECTED = 1,	/* of the selected row: shown reversed */
	CELL_TAIL = 2		/* right half of the wide character before it */
};
struct cell { uint32_t c; uint8_t ink, marks; };

enum canvas_limits { CANVAS_MAX_COLUMNS = 1000, CANVAS_MAX_ROWS = 500 };

/* A part of a canvas.  May be empty; what does not fit on the canvas is not drawn. */
struct area { unsigned int x, y, columns, rows; };

/* What a click on a part of the canvas means. */
enum link_kind { LINK_VIEW, LINK_ROW, LINK_KEY };
struct canvas_link { struct area area; enum link_kind kind; uint32_t of; };
enum { CANVAS_MAX_LINKS = 1024 };

struct canvas {
	struct cell *cells;
	unsigned int columns, rows;
	bool utf8;
	struct canvas_link *links;	size_t nlinks;
	bool pages;			/* a page that scrolls was drawn: */
	size_t page_end;		/* furthest that it scrolls */
};

/* Blank; sizes beyond the limits are cut down to them.  0 or -ENOMEM. */
int canvas_init(struct canvas *c, unsigned int columns, unsigned int rows, bool utf8);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);
struct area canvas_whole(const struct canvas *c);
/* NULL outside. */
const struct cell *canvas_at(const struct canvas *c, unsigned int x, unsigned int y);

/* Cut a part off *a and return it; *a keeps the rest.  More than there is: all of it. */
struct area area_take_top(struct area *a, unsigned int rows);
struct area area_take_bottom(struct area *a, unsigned int rows);
struct area area_take_left(struct area *a, unsigned int columns);
struct area area_take_right(struct area *a, unsigned int columns);
/* One row of a, counted from its top; empty when there is none. */
struct area area_row(struct area a, unsigned int row);

/* All x, y below are relative to the area. */

/* Characters of ours, with a form in ASCII. */
enum mark {
	MARK_CUT,		/* text was cut off here */
	MARK_RIGHT, MARK_LEFT,	/* arrows */
	MARK_UP, MARK_DOWN,
	MARK_FULL,		/* surely */
	MARK_MAYBE,		/* inside an interval */
	MARK_HERE,		/* the measured rate in a bar */
	MARK_BEYOND,		/* the bar goes on outside the scale */
	MARK_BULLET,
	MARK_OPEN, MARK_CLOSED,	/* a group whose rows are shown, are folded */
	MARK_HORIZONTAL, MARK_VERTICAL,
	MARK_TOP_LEFT, MARK_TOP_RIGHT, MARK_BOTTOM_LEFT, MARK_BOTTOM_RIGHT,
	MARKS
};
void canvas_mark(struct canvas *c, struct area a, unsigned int x, unsigned int y, enum ink ink,
		 enum mark m);
/* One code point of one column; anything else becomes '?'. */
void canvas_put(struct canvas *c, struct area a, unsigned int x, unsigned int y, enum ink ink,
		uint32_t code_point);
/* Untrusted text on one line, cut off at the area's right edge.  Returns the columns it took. */
unsigned int canvas_text(struct canvas *c, struct area a, unsigned int x, unsigned int y,
			 enum ink ink, const char *s);
unsigned int canvas_printf(struct canvas *c, struct area a, unsigned int x, unsigned int y,
			   enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Ends at the area's right edge. */
void canvas_text_right(struct canvas *c, struct area a, unsigned int y, enum ink ink,
		       const char *s);
/* Wrapped at white space from row y on; returns the rows it took (at least 1). */
unsigned int canvas_wrap(struct canvas *c, struct area a, unsigned int y, enum ink ink,
			 const char *s);
/* Rows canvas_wrap() would take in this many columns. */
unsigned int canvas_wrap_rows(const struct canvas *c, unsigned int columns, const char *s);
/* Columns that untrusted text takes on this canvas. */
unsigned int canvas_text_columns(const struct canvas *c, const char *s);
/* A frame with a title (may be NULL) in it; returns what is inside.  Too small: nothing inside. */
struct area canvas_box(struct canvas *c, struct area a, enum ink ink, const char *title);
/* Marks what is drawn there as the selected row. */
void canvas_select(struct canvas *c, struct area a);
/* A click there is on number `of`: of a view, a row of the list, or a key. */
void canvas_link(struct canvas *c, struct area a, enum link_kind kind, uint32_t of);
/* The link there that was drawn last; NULL: none. */
const struct canvas_link *canvas_link_at(const struct canvas *c, unsigned int x, unsigned int y);
/* Row number `row` of a list is drawn there. */
void canvas_list_row(struct canvas *c, struct area a, size_t row, bool selected);

/* Lines of UTF-8 without trailing spaces: for tests, and for illustrations. */
void canvas_to_text(const struct canvas *c, struct text *out);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static const struct { uint32_t utf8, ascii; } marks[MARKS] = {
	[MARK_CUT] = { 0x2026, '~' },
	[MARK_RIGHT] = { 0x2192, '>' },
	[MARK_LEFT] = { 0x2190, '<' },
	[MARK_UP] = { 0x2191, '^' },
	[MARK_DOWN] = { 0x2193, 'v' },
	[MARK_FULL] = { 0x2588, '#' },
	[MARK_MAYBE] = { 0x2592, '=' },
	[MARK_HERE] = { 0x2503, '|' },
	[MARK_BEYOND] = { 0x00bb, '>' },
	[MARK_BULLET] = { 0x2022, '*' },
	[MARK_OPEN] = { 0x25be, '-' },
	[MARK_CLOSED] = { 0x25b8, '+' },
	[MARK_HORIZONTAL] = { 0x2500, '-' },
	[MARK_VERTICAL] = { 0x2502, '|' },
	[MARK_TOP_LEFT] = { 0x250c, '+' },
	[MARK_TOP_RIGHT] = { 0x2510, '+' },
	[MARK_BOTTOM_LEFT] = { 0x2514, '+' },
	[MARK_BOTTOM_RIGHT] = { 0x2518, '+' },
};

int canvas_init(struct canvas *c, unsigned int columns, unsigned int rows, bool utf8)
{
	columns = columns < CANVAS_MAX_COLUMNS ? columns : CANVAS_MAX_COLUMNS;
	rows = rows < CANVAS_MAX_ROWS ? rows : CANVAS_MAX_ROWS;
	*c = (struct canvas){ .utf8 = utf8 };
	c->cells = calloc((size_t)columns * rows + 1, sizeof(*c->cells));
	if (!c->cells)
		return -ENOMEM;
	c->columns = columns;
	c->rows = rows;
	canvas_clear(c);
	return 0;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	free(c->links);
	*c = (struct canvas){ 0 };
}

void canvas_clear(struct canvas *c)
{
	for (size_t i = 0; i < (size_t)c->columns * c->rows; i++)
		c->cells[i] = (struct cell){ ' ', INK_PLAIN, 0 };
	c->nlinks = 0;
	c->pages = false;
}

void canvas_link(struct canvas *c, struct area a, enum link_kind kind, uint32_t of)
{
	/* Without memory nothing can be clicked, and all can be seen. */
	if (!c->links)
		c->links = calloc(CANVAS_MAX_LINKS, sizeof(*c->links));
	if (c->links && c->nlinks < CANVAS_MAX_LINKS)
		c->links[c->nlinks++] = (struct canvas_link){ a, kind, of };
}

const struct canvas_link *canvas_link_at(const struct canvas *c, unsigned int x, unsigned int y)
{
	for (size_t i = c->nlinks; i--;) {
		const struct area *a = &c->links[i].area;
		if (x >= a->x && x - a->x < a->columns && y >= a->y && y - a->y < a->rows)
			return &c->links[i];
	}
	return NULL;
}

void canvas_list_row(struct canvas *c, struct area a, size_t row, bool selected)
{
	canvas_link(c, a, LINK_ROW, (uint32_t)row);
	if (selected)
		canvas_select(c, a);
}

struct area canvas_whole(const struct canvas *c)
{
	return (struct area){ 0, 0, c->columns, c->rows };
}

const struct cell *canvas_at(const struct canvas *c, unsigned int x, unsigned int y)
{
	return x < c->columns && y < c->rows ? &c->cells[(size_t)y * c->columns + x] : NULL;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

struct area area_take_top(struct area *a, unsigned int rows)
{
	struct area part = *a;

	part.rows = least(rows, a->rows);
	a->y += part.rows;
	a->rows -= part.rows;
	return part;
}

struct area area_take_bottom(struct area *a, unsigned int rows)
{
	struct area part = *a;

	part.rows = least(rows, a->rows);
	a->rows -= part.rows;
	part.y += a->rows;
	return part;
}

struct area area_take_left(struct area *a, unsigned int columns)
{
	struct area part = *a;

	part.columns = least(columns, a->columns);
	a->x += part.columns;
	a->columns -= part.columns;
	return part;
}

struct area area_take_right(struct area *a, unsigned int columns)
{
	struct area part = *a;

	part.columns = least(columns, a->columns);
	a->columns -= part.columns;
	part.x += a->columns;
	return part;
}

struct area area_row(struct area a, unsigned int row)
{
	if (row >= a.rows)
		return (struct area){ a.x, a.y, 0, 0 };
	return (struct area){ a.x, a.y + row, a.columns, 1 };
}

static struct cell *cell_at(struct canvas *c, struct area a, unsigned int x, unsigned int y)
{
	/* No sum may wrap round: an area can lie anywhere. */
	if (x >= a.columns || y >= a.rows || a.x >= c->columns || x >= c->columns - a.x ||
	    a.y >= c->rows || y >= c->rows - a.y)
		return NULL;
	return &c->cells[(size_t)(a.y + y) * c->columns + a.x + x];
}

/* Half a wide character must not stay when the other half is overwritten. */
static void set_cell(struct canvas *c, struct cell *to, struct cell value)
{
	struct cell *end = c->cells + (size_t)c->columns * c->rows;

	if ((to->marks & CELL_TAIL) && !(value.marks & CELL_TAIL))
		to[-1].c = ' ';
	if (to + 1 < end && (to[1].marks & CELL_TAIL)) {
		to[1].c = ' ';
		to[1].marks &= (uint8_t)~CELL_TAIL;
	}
	*to = value;
}

void canvas_mark(struct canvas *c, struct area a, unsigned int x, unsigned int y, enum ink ink,
		 enum mark m)
{
	struct cell *to = cell_at(c, a, x, y);

	if (to)
		set_cell(c, to, (struct cell){ c->utf8 ? marks[m].utf8 : marks[m].ascii,
					       (uint8_t)ink, 0 });
}

/* 0: it has no place on a canvas of its own (combining). */
static unsigned int columns_of(const struct canvas *c, uint32_t *code_point)
{
	if (*code_point < 0x80) {
		if (code_point_is_unsafe(*code_point))
			*code_point = '?';
		return 1;
	}
	int width = c->utf8 && !code_point_is_unsafe(*code_point) ? wcwidth((wchar_t)*code_point)
								  : -1;
	if (width < 0 || width > 2) {
		*code_point = '?';
		return 1;
	}
	return (unsigned int)width;
}

void canvas_put(struct canvas *c, struct area a, unsigned int x, unsigned int y, enum ink ink,
		uint32_t code_point)
{
	struct cell *to = cell_at(c, a, x, y);

	if (columns_of(c, &code_point) != 1)
		code_point = '?';
	if (to)
		set_cell(c, to, (struct cell){ code_point, (uint8_t)ink, 0 });
}

/* The next character of untrusted text: its columns and code point; false at the end. */
static bool next_character(const struct canvas *c, const char **s, uint32_t *code_point,
			   unsigned int *columns)
{
	if (!**s)
		return false;
	size_t n = utf8_decode(*s, code_point);
	if (!n)
		*code_point = '?';
	*s += n ? n : 1;
	*columns = columns_of(c, code_point);
	return true;
}

unsigned int canvas_text_columns(const struct canvas *c, const char *s)
{
	unsigned int sum = 0, columns;
	uint32_t code_point;

	while (next_character(c, &s, &code_point, &columns) && sum < CANVAS_MAX_COLUMNS)
		sum += columns;
	return sum;
}

/* n bytes at most. */
static unsigned int draw_bytes(struct canvas *c, struct area a, unsigned int x, unsigned int y,
			       enum ink ink, const char *s, size_t n)
{
	const char *end = s + n;
	unsigned int at = x, columns;
	uint32_t code_point;

	while (s < end && next_character(c, &s, &code_point, &columns)) {
		if (!columns)
			continue;
		if (at >= a.columns || columns > a.columns - at) {
			/* The last column says that there was more. */
			if (a.columns > x)
				canvas_mark(c, a, least(at, a.columns - 1), y, ink, MARK_CUT);
			return a.columns > x ? a.columns - x : 0;
		}
		struct cell *to = cell_at(c, a, at, y);
		struct cell *tail = columns == 2 ? cell_at(c, a, at + 1, y) : NULL;
		if (columns == 2 && !tail)
			code_point = '?';
		if (to)
			set_cell(c, to, (struct cell){ code_point, (uint8_t)ink, 0 });
		if (tail)
			set_cell(c, tail, (struct cell){ ' ', (uint8_t)ink, CELL_TAIL });
		at += columns;
	}
	return at - x;
}

unsigned int canvas_text(struct canvas *c, struct area a, unsigned int x, unsigned int y,
			 enum ink ink, const char *s)
{
	return draw_bytes(c, a, x, y, ink, s, strlen(s));
}

unsigned int canvas_printf(struct canvas *c, struct area a, unsigned int x, unsigned int y,
			   enum ink ink, const char *fmt, ...)
{
	char line[4 * CANVAS_MAX_COLUMNS];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return canvas_text(c, a, x, y, ink, line);
}

void canvas_text_right(struct canvas *c, struct area a, unsigned int y, enum ink ink,
		       const char *s)
{
	unsigned int n = canvas_text_columns(c, s);

	canvas_text(c, a, n < a.columns ? a.columns - n : 0, y, ink, s);
}

/* Bytes of s that make the next line of at most `columns`, and (*skip) of white space after. */
static size_t line_bytes(const struct canvas *c, const char *s, unsigned int columns, size_t *skip)
{
	const char *at = s, *blank = NULL;
	unsigned int used = 0, n;
	uint32_t code_point;

	while (*at && *at != '\n') {
		const char *here = at;
		if (*at == ' ')
			blank = at;
		if (!next_character(c, &at, &code_point, &n))
			break;
		if (used + n > columns) {
			/* A word longer than the line is cut in two. */
			const char *end = blank ? blank : here > s ? here : at;
			*skip = strspn(end, " ");
			return (size_t)(end - s);
		}
		used += n;
	}
	*skip = *at == '\n';
	return (size_t)(at - s);
}

static unsigned int wrap(struct canvas *draw, const struct canvas *c, struct area a,
			 unsigned int y, enum ink ink, const char *s)
{
	unsigned int rows = 0;

	if (!a.columns)
		return 1;
	do {
		size_t skip, n = line_bytes(c, s, a.columns, &skip);
		if (draw)
			draw_bytes(draw, a, 0, y + rows, ink, s, n);
		rows++;
		s += n + skip;
	} while (*s && rows < 10000);
	return rows;
}

unsigned int canvas_wrap(struct canvas *c, struct area a, unsigned int y, enum ink ink,
			 const char *s)
{
	return wrap(c, c, a, y, ink, s);
}

unsigned int canvas_wrap_rows(const struct canvas *c, unsigned int columns, const char *s)
{
	return wrap(NULL, c, (struct area){ 0, 0, columns, 1 }, 0, INK_PLAIN, s);
}

struct area canvas_box(struct canvas *c, struct area a, enum ink ink, const char *title)
{
	if (a.columns < 2 || a.rows < 2)
		return (struct area){ a.x, a.y, 0, 0 };
	unsigned int right = a.columns - 1, bottom = a.rows - 1;
	for (unsigned int x = 1; x < right; x++) {
		canvas_mark(c, a, x, 0, ink, MARK_HORIZONTAL);
		canvas_mark(c, a, x, bottom, ink, MARK_HORIZONTAL);
	}
	for (unsigned int y = 1; y < bottom; y++) {
		canvas_mark(c, a, 0, y, ink, MARK_VERTICAL);
		canvas_mark(c, a, right, y, ink, MARK_VERTICAL);
	}
	canvas_mark(c, a, 0, 0, ink, MARK_TOP_LEFT);
	canvas_mark(c, a, right, 0, ink, MARK_TOP_RIGHT);
	canvas_mark(c, a, 0, bottom, ink, MARK_BOTTOM_LEFT);
	canvas_mark(c, a, right, bottom, ink, MARK_BOTTOM_RIGHT);
	if (title && *title && a.columns >= 8) {
		struct area room = { a.x + 2, a.y, a.columns - 4, 1 };
		struct area inner = { room.x + 1, room.y, room.columns - 2, 1 };
		unsigned int n = canvas_text(c, inner, 0, 0, INK_TITLE, title);
		canvas_put(c, room, 0, 0, ink, ' ');
		canvas_put(c, room, n + 1, 0, ink, ' ');
	}
	return (struct area){ a.x + 1, a.y + 1, a.columns - 2, a.rows - 2 };
}

void canvas_select(struct canvas *c, struct area a)
{
	for (unsigned int y = 0; y < a.rows && y < c->rows; y++)
		for (unsigned int x = 0; x < a.columns && x < c->columns; x++) {
			struct cell *at = cell_at(c, a, x, y);
			if (at)
				at->marks |= CELL_SELECTED;
		}
}

static void add_code_point(struct text *out, uint32_t c)
{
	char b[4];
	size_t n;

	if (c < 0x80) {
		b[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		n = 3;
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		b[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3f));
	text_addn(out, b, n);
}

void canvas_to_text(const struct canvas *c, struct text *out)
{
	for (unsigned int y = 0; y < c->rows; y++) {
		const struct cell *row = &c->cells[(size_t)y * c->columns];
		unsigned int n = c->columns;
		while (n && row[n - 1].c == ' ')
			n--;
		for (unsigned int x = 0; x < n; x++)
			if (!(row[x].marks & CELL_TAIL))
				add_code_point(out, row[x].c);
		text_add(out, "\n");
	}
}

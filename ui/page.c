/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/page.h"

#include <stdarg.h>
#include <stdio.h>

enum { LABEL = 10, STEP = 5, COMMON_COLUMNS = 76, LINE_CAP = 2048 };

/* Counting: nothing is drawn. */
struct page { struct canvas *c; unsigned int columns; unsigned int y; bool drawing; };

static void add(struct page *p, unsigned int x, enum ink ink, const char *s)
{
	struct area a = { x, 0, p->columns > x ? p->columns - x : 0, p->c->rows };

	p->y += p->drawing ? canvas_wrap(p->c, a, p->y, ink, s)
			   : canvas_wrap_rows(p->c, a.columns, s);
}

void page_text(struct page *p, enum ink ink, const char *s)
{
	add(p, 0, ink, s);
}

void page_printf(struct page *p, enum ink ink, const char *fmt, ...)
{
	char line[LINE_CAP];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	add(p, 0, ink, line);
}

void page_labelled(struct page *p, const char *label, enum ink ink, const char *s)
{
	/* In a narrow pane the text needs the columns more than the order does. */
	unsigned int x = p->columns >= 4 * LABEL ? LABEL : 2;

	if (p->drawing)
		canvas_text(p->c, canvas_whole(p->c), 0, p->y, INK_DIM, label);
	if (x < LABEL && *label)
		p->y++;
	add(p, x, ink, s);
}

void page_labelled_printf(struct page *p, const char *label, enum ink ink, const char *fmt, ...)
{
	char line[LINE_CAP];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	page_labelled(p, label, ink, line);
}

void page_blank(struct page *p)
{
	p->y++;
}

void page_heading(struct page *p, const char *s)
{
	if (p->y)
		p->y++;
	add(p, 0, INK_TITLE, s);
}

static size_t page_rows(bool utf8, unsigned int columns, page_writer write, const void *about)
{
	struct canvas none = { .utf8 = utf8 };
	struct page p = { .c = &none, .columns = columns };

	write(&p, about);
	return p.y;
}

static void copy_rows(const struct canvas *from, size_t first, struct canvas *to, struct area a)
{
	for (unsigned int y = 0; y < a.rows && first + y < from->rows; y++)
		for (unsigned int x = 0; x < a.columns && x < from->columns; x++) {
			const struct cell *cell = &from->cells[(first + y) * from->columns + x];
			if (a.x + x < to->columns && a.y + y < to->rows)
				to->cells[(size_t)(a.y + y) * to->columns + a.x + x] = *cell;
		}
}

void page_draw(struct canvas *c, struct area a, size_t scroll, page_writer write,
	       const void *about)
{
	if (!a.rows || a.columns < 4)
		return;
	/* The last column is for the marks. */
	unsigned int columns = a.columns - 1;
	size_t rows = page_rows(c->utf8, columns, write, about);
	struct page p = { .columns = columns, .drawing = true };
	struct canvas all;

	if (canvas_init(&all, columns, (unsigned int)rows, c->utf8))
		return;
	p.c = &all;
	write(&p, about);
	rows = all.rows;
	size_t furthest = rows > a.rows ? rows - a.rows : 0;
	c->pages = true;
	c->page_end = furthest;
	if (scroll > furthest)
		scroll = furthest;
	copy_rows(&all, scroll, c, (struct area){ a.x, a.y, columns, a.rows });
	canvas_free(&all);
	if (scroll)
		canvas_mark(c, a, columns, 0, INK_KEY, MARK_UP);
	if (scroll < furthest)
		canvas_mark(c, a, columns, a.rows - 1, INK_KEY, MARK_DOWN);
}

bool page_key(struct view_state *v, uint32_t key, page_writer write, const void *about)
{
	if (key == UI_KEY_PAGE_UP) {
		v->scroll = v->scroll > STEP ? v->scroll - STEP : 0;
	} else if (key == UI_KEY_PAGE_DOWN) {
		size_t most = page_rows(true, COMMON_COLUMNS, write, about);
		v->scroll = v->scroll + STEP < most ? v->scroll + STEP : most;
	} else {
		return false;
	}
	return true;
}

struct area page_box(struct canvas *c, struct area a, const struct view_state *v,
		     const char *title)
{
	if (!v->plain)
		return canvas_box(c, a, INK_BORDER, title);
	canvas_text(c, area_take_top(&a, 1), 0, 0, INK_TITLE, title);
	return a;
}

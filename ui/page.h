/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page: wrapped text that may be longer than its pane, and scrolls.  A view writes it by a
 * function, which is called once to count the rows and once to draw them.  Pure.
 */
#ifndef ND_UI_PAGE_H
#define ND_UI_PAGE_H

#include "ui/view.h"

struct page;
typedef void (*page_writer)(struct page *p, const void *about);

/* Wrapped text (untrusted). */
void page_text(struct page *p, enum ink ink, const char *s);
void page_printf(struct page *p, enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Behind a label of its own column; "": the row before had it. */
void page_labelled(struct page *p, const char *label, enum ink ink, const char *s);
void page_labelled_printf(struct page *p, const char *label, enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Leaves a blank row before it. */
void page_heading(struct page *p, const char *s);
void page_blank(struct page *p);

/* Draws rows scroll... of the page (what is too far is cut down); marks say that there is more. */
void page_draw(struct canvas *c, struct area a, size_t scroll, page_writer write,
	       const void *about);
/* PgUp and PgDn move v->scroll within the page at a common width; false for other keys. */
bool page_key(struct view_state *v, uint32_t key, page_writer write, const void *about);
#define PAGE_KEY_ROWS \
	{ .key = UI_KEY_PAGE_DOWN, .name = "PgUp PgDn", .does = "scroll details" }

/* A box with a title; in plain mode the title alone. */
struct area page_box(struct canvas *c, struct area a, const struct view_state *v,
		     const char *title);

#endif

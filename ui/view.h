/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Views: each is one const struct in its own file (ui/view_NAME.c), listed in
 * views.c.  A view draws on a canvas from a const scene and answers keys.
 * Keys, key bar and help come from these tables.  Pure: no I/O, no clock.
 */
#ifndef ND_UI_VIEW_H
#define ND_UI_VIEW_H

#include "ui/canvas.h"
#include "ui/key.h"
#include "ui/scene.h"

/* What the user did in a view.  The app owns one for each view; zeroed at the start. */
struct view_state {
	size_t selected;		/* row, below rows(); kept in range by the app */
	unsigned int sort;		/* index into sorts */
	bool ascending;
	bool open;			/* Enter: details of the selected row */
	enum side side;			/* of views that show one host in detail: local or peer */
	size_t scroll;			/* of the detail pane, rows */
	uint64_t unfolded;		/* bit i: group i (NUMA node, ...) is unfolded */
	unsigned int run;		/* of views that show a run: from 1; 0: by the cursor */
	bool plain;			/* set by the app: without frames, as WISH_PLAIN asked */
	char search[64];		/* what is searched for; "": nothing */
};

/* What a view asks the app to do. */
enum view_wish {
	WISH_NONE,
	WISH_COPY,			/* text to the clipboard (OSC 52) */
	WISH_REPORT,			/* ask for a file name and write a report */
	WISH_AGAIN,			/* run the exam again, keep this one to compare */
	WISH_PLAIN			/* show text without frames, to select with the mouse */
};
struct view_request {
	enum view_wish wish;
	struct text text;
	const char *say;		/* for the status line, static; NULL: nothing */
};

struct key_row {
	uint32_t key;
	const char *name, *does;
	bool again;		/* of use only where an exam can be run again */
};

struct view {
	const char *name;		/* "Overview": one word */
	const char *about;		/* one line for the help */
	void (*draw)(const struct scene *s, const struct view_state *v, struct canvas *c,
		     struct area a);
	/* Rows the selection can be on.  NULL: no list. */
	size_t (*rows)(const struct scene *s, const struct view_state *v);
	/* What a search looks at in a row; needs rows. */
	void (*row_text)(const struct scene *s, const struct view_state *v, size_t row,
			 struct text *out);
	/*
	 * Groups that fold: sets v->unfolded, opens the one that has the selected row too, and
	 * keeps the selection on that row.  A search looks into all of them.  NULL: none.
	 */
	void (*unfold)(const struct scene *s, struct view_state *v, uint64_t unfolded);
	/*
	 * Keys of its own, asked before the app's: false: not taken.  A wish goes into *r
	 * (r->text is the app's to free).  NULL: none.
	 */
	bool (*key)(const struct scene *s, struct view_state *v, uint32_t key,
		    struct view_request *r);
	const struct key_row *keys;	size_t nkeys;	/* those keys, for key bar and help */
	const char *const *sorts;	size_t nsorts;	/* names of orders, for 's' */
};

/* In the order of their number keys, 1 is the first. */
extern const struct view *const views_table[];
extern const size_t views_count;

extern const struct view view_overview, view_cores, view_queues, view_ladder,
			 view_flows, view_findings;

#endif

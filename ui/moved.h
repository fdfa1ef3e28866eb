/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters of one end that moved, what is most telling first: losses and errors, then what
 * holds traffic back, then packets, then bytes.  Pure.
 */
#ifndef ND_UI_MOVED_H
#define ND_UI_MOVED_H

#include "ui/shown_run.h"

enum moved_class { MOVED_LOST, MOVED_HELD, MOVED_PACKETS, MOVED_BYTES };
enum { MOVED_MAX = 512, MOVED_NAME_CAP = 80 };

struct moved {
	char name[MOVED_NAME_CAP];	/* untrusted */
	enum moved_class class;
	struct nd_f64 ps;		/* per second */
	struct nd_f64 total;		/* over the run's window; unknown at a moment */
};

struct moved_list {
	struct moved *rows;	size_t n;
	bool momentary;		/* of the cursor's moment; else of the whole run */
	enum nd_known why;	/* n == 0: ND_KNOWN: nothing moved, else why it is not known */
};

/* What a counter of that name tells. */
enum moved_class moved_class_of(const char *name);
/* 0 or -ENOMEM (then empty).  moved_free() in any case. */
int moved_make(const struct scene *s, const struct shown_run *r, enum side side,
	       struct moved_list *out);
void moved_free(struct moved_list *list);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rungs: the ladder of one direction as screens show it, lowest ceiling first.  Pure. */
#ifndef ND_UI_RUNGS_H
#define ND_UI_RUNGS_H

#include "ui/canvas.h"
#include "ui/scene.h"

enum { RUNGS_MAX = 64 };
struct rungs {
	const struct ceiling *known[RUNGS_MAX];		size_t nknown;
	const struct ceiling *unknown[RUNGS_MAX];	size_t nunknown;
	const struct ceiling *lowest;	/* NULL: none known */
	double scale;			/* bit/s at the right end of a bar; 0: nothing to draw */
	struct nd_f64 now_bps;		/* at the cursor */
	struct nd_f64 measured_bps;	/* by the main run */
};
void rungs_make(const struct scene *s, enum run_direction d, struct rungs *r);

/* "cpu peer" */
void rung_label(const struct ceiling *c, char *out, size_t cap);
/* "9.41 Gbit/s", "6.2-6.5 Gbit/s", ">= 12 Gbit/s". */
void rung_range(const struct ceiling *c, char *out, size_t cap);

#endif

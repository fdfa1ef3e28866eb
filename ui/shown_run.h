/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which run a view shows: the moment at the cursor, or the whole of a run.  At the end of a
 * recording nothing happens any more, so there the run is shown that the answer is about.  Pure.
 */
#ifndef ND_UI_SHOWN_RUN_H
#define ND_UI_SHOWN_RUN_H

#include "ui/view.h"

struct shown_run {
	unsigned int number;		/* from 1; 0: none */
	const struct run *run;		/* NULL: none, or it has not ended yet */
	bool whole;			/* means of its window; else the moment at the cursor */
	const struct history_sample *sample[EXAM_ENDS];	/* NULL: none, or whole */
	struct nd_f64 ended_s;		/* screen's clock; unknown: it goes on, or who knows when */
};
/* The run of the cursor's moment, and when none goes on then, the last that did before it. */
void shown_run_find(const struct scene *s, const struct view_state *v, struct shown_run *out);
/* For what hosts do without a run, too: then .number is 0, and .ended_s that of the last one. */
void shown_run_find_hosts(const struct scene *s, const struct view_state *v,
			  struct shown_run *out);
/* "now", "at 12.3 s", "as seen last": of what is momentary. */
void shown_run_when(const struct scene *s, const struct shown_run *r, char *out, size_t cap);
/* NULL: not seen, or not ended yet. */
const struct run_end *shown_run_end(const struct shown_run *r, enum side side);
/* "run 2 of 4: all streams reverse, means of 4.0 s" */
void shown_run_text(const struct scene *s, const struct shown_run *r, struct text *out);
/* Draws that on one row. */
void shown_run_draw(const struct scene *s, const struct shown_run *r, struct canvas *c,
		    struct area row);

/* Both hosts side by side, or where that is too narrow the one of v->side. */
typedef void (*host_drawer)(const struct scene *s, const struct view_state *v,
			    const struct shown_run *r, enum side side, struct canvas *c,
			    struct area a);
void shown_run_draw_hosts(const struct scene *s, const struct view_state *v,
			  const struct shown_run *r, bool both, host_drawer draw,
			  struct canvas *c, struct area a);

/* Loads of one end's cores: up to HISTORY_MAX_CORES rows into `to`; returns how many. */
size_t shown_run_cores(const struct shown_run *r, enum side side, struct history_core *to);

/* [ and ] choose a run, o the other host: false when key is none of these. */
bool shown_run_key(const struct scene *s, struct view_state *v, uint32_t key);
#define SHOWN_RUN_KEY_ROWS \
	{ .key = 'o', .name = "o", .does = "other host" }, \
	{ .key = ']', .name = "[ ]", .does = "run" }

#endif

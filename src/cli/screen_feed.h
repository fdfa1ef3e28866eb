/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Screen feed: from what exam_conduct() tells, in its thread, to the stage of a screen. */
#ifndef ND_CLI_SCREEN_FEED_H
#define ND_CLI_SCREEN_FEED_H

#include <stdatomic.h>

#include "src/exam/conduct.h"
#include "ui/stage.h"

struct screen_feed {
	struct stage *stage;
	double begun_s;			/* of the screen's clock */
	void *state;			/* the owner's */
	atomic_bool runs_begun;		/* from now on there is something to report */
	/* the conducting thread's: */
	double window_at_s;		/* of the run that goes on; < 0: not known yet */
	double last_start_s[EXAM_ENDS];	/* of the newest live sample; NAN: none yet */
	struct history_flow flows[EXAM_ENDS][HISTORY_MAX_FLOWS];	/* of the newest beat */
	size_t nflows[EXAM_ENDS];
};

/*
 * Sets how often flows are told, and the callbacks and their state, which is the feed;
 * .cancelled is left to the caller.
 */
/* Flows are told so often; all else ten times a second. */
enum { SCREEN_FLOWS_MS = 1000 };
void screen_feed_connect(struct screen_feed *f, struct conduct_options *o);

/* Its parts, for those who hear of runs otherwise; one thread at a time. */
void screen_feed_run_begins(struct screen_feed *f);
/* p: the run that it is of; its .run 0: none was going on. */
void screen_feed_live(struct screen_feed *f, enum side side, const struct end_live *live,
		      const struct scene_progress *p);
/* The flows that go with samples from now on; b NULL: those of before. */
void screen_feed_flows(struct screen_feed *f, enum side side, const struct beat *b);
/* An exam that only grows from now on, and its diagnosis. */
void screen_feed_exam(struct screen_feed *f, const struct exam *e);

#endif

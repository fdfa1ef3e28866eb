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
void screen_feed_connect(struct screen_feed *f, struct conduct_options *o);

#endif

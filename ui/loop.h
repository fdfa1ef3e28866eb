/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loop: the app on the terminal, until the user leaves.  At most ten frames a second, the
 * first at once.  The thread that runs it is the terminal's.
 */
#ifndef ND_UI_LOOP_H
#define ND_UI_LOOP_H

#include "ui/app.h"
#include "ui/terminal.h"

enum loop_end {
	LOOP_QUIT,	/* the user left */
	LOOP_STOPPED,	/* stop_fd became readable */
	LOOP_GONE	/* the terminal is no more */
};

struct loop {
	struct app *app;
	struct terminal *terminal;
	bool utf8;
	double begun_s;		/* where the screen's clock begins: loop_seconds_now() then */
	int stop_fd;		/* -1: none */
	int news_fd;		/* an eventfd: news for update(); -1: none */
	void *state;
	/*
	 * Around all that looks at app->scene: brings it up to date and keeps it as it is until
	 * release().  NULL: it never changes.
	 */
	void (*update)(void *state, struct scene *s);
	void (*release)(void *state);
	/* Does what app->request asks for, but copying.  Called without update(). */
	void (*wish)(void *state, struct app *app);
};

double loop_seconds_now(void);	/* CLOCK_MONOTONIC */
enum loop_end loop_run(const struct loop *l);

#endif

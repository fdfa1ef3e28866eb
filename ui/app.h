/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * App: what is on the screen and what keys do to it, without a terminal: views,
 * their states, the time cursor, search, help, the key bar, the status line.
 * Pure: tests drive it with keys and compare canvases.
 */
#ifndef ND_UI_APP_H
#define ND_UI_APP_H

#include "ui/view.h"

enum { APP_MAX_VIEWS = 9, APP_MESSAGE_CAP = 200 };

/* What is being typed into the bottom line. */
enum app_prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_REPORT };

struct app {
	struct scene scene;		/* the owner keeps it up to date; the app moves its cursor */
	size_t current;			/* index into views_table */
	struct view_state states[APP_MAX_VIEWS];
	bool help, plain;
	size_t help_scroll;
	enum app_prompt prompt;
	char typed[256];
	char message[APP_MESSAGE_CAP];	/* on the status line until the next key */
	bool quit;
	/* What a key asked for, for the owner to do and to clear (app_request_done). */
	struct view_request request;
	char report_file[256];		/* of WISH_REPORT */
};

void app_init(struct app *a, enum scene_mode mode);
void app_free(struct app *a);
/* A key that was pressed. */
void app_key(struct app *a, uint32_t key);
/* The clock goes on: the cursor follows it unless it is paused. */
void app_set_time(struct app *a, double now_s);
/* Frees the request; shows `message` (may be NULL) on the status line. */
void app_request_done(struct app *a, const char *message);
void app_draw(struct app *a, struct canvas *c);

#endif

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
	struct scene scene;	/* the owner keeps it up to date; the app moves its cursor */
	size_t current;			/* index into views_table */
	struct view_state states[APP_MAX_VIEWS];
	bool help, plain;
	bool mouse;			/* the terminal is to tell clicks, and selects no text */
	size_t help_scroll;
	enum app_prompt prompt;
	char typed[256];
	char message[APP_MESSAGE_CAP];	/* on the status line until the next key */
	double clock_s;			/* as app_set_time() was told last */
	bool quit;
	/* What a key asked for, for the owner to do and to clear (app_request_done). */
	struct view_request request;
	char report_file[256];		/* of WISH_REPORT */
};

void app_init(struct app *a, enum scene_mode mode);
void app_free(struct app *a);
/* A key that was pressed. */
void app_key(struct app *a, uint32_t key);
/*
 * The screen's clock goes on.  While the exam goes on the cursor follows it unless paused; when
 * the exam is over the cursor plays what was, up to the end.
 */
void app_set_time(struct app *a, double clock_s);
/* True when the next frame will differ even if nothing happens: time is shown. */
bool app_moves(const struct app *a);
/* Frees the request; shows `message` (may be NULL) on the status line. */
void app_request_done(struct app *a, const char *message);
void app_draw(const struct app *a, struct canvas *c);
/* That canvas is shown: what scrolls stops where its end is seen. */
void app_drawn(struct app *a, const struct canvas *c);
/* A click on something that was drawn; NULL: on nothing. */
void app_click(struct app *a, const struct canvas_link *on);

/* ---- of the app's own files ---- */

struct app_key_row {
	uint32_t keys[4];
	const char *name, *does;
	const char *bar;	/* its word in the key bar, NULL: only in the help */
	void (*act)(struct app *a, uint32_t key);
};
extern const struct app_key_row app_keys[];
extern const size_t app_nkeys;
void app_draw_help(const struct app *a, struct canvas *c, struct area area);
static inline const struct view *app_view(const struct app *a)
{
	return views_table[a->current];
}
static inline struct view_state *app_state(struct app *a)
{
	return &a->states[a->current];
}
/* Rows of the current view's list; 0: it has none. */
size_t app_rows(const struct app *a);
void app_say(struct app *a, const char *message);
/* Moves the selection to the next row that has the searched text in it; false: none has. */
bool app_find(struct app *a, bool from_next);

#endif

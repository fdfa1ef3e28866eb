/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys that work in all views: one row each, from which key bar and help are made. */
#include "ui/app.h"

#include <string.h>

enum { PAGE = 10 };
#define LEAP_S 5.0

static void show_view(struct app *a, size_t i)
{
	if (i < views_count) {
		a->current = i;
		a->help = a->plain = false;
	}
}

static void by_number(struct app *a, uint32_t key)
{
	show_view(a, key - '1');
}

static void next_view(struct app *a, uint32_t key)
{
	size_t step = key == UI_KEY_BACK_TAB ? views_count - 1 : 1;

	show_view(a, (a->current + step) % views_count);
}

static void quit(struct app *a, uint32_t key)
{
	(void)key;
	if (a->help || a->plain)
		a->help = a->plain = false;
	else
		a->quit = true;
}

static void help(struct app *a, uint32_t key)
{
	(void)key;
	a->help = !a->help;
	a->help_scroll = 0;
}

/* The moment of the sample before (after) the cursor at either end. */
static double neighbour(const struct scene *s, bool later)
{
	double best = later ? s->now_s : 0;

	for (int side = 0; side < EXAM_ENDS; side++) {
		const struct history *h = s->history[side];
		size_t n = history_count(h), i = history_index(h, s->cursor_s);
		for (size_t k = i ? i - 1 : 0; k < n && k <= i + 1; k++) {
			double at = history_get(h, k)->at_s;
			if (later ? at > s->cursor_s && at < best : at < s->cursor_s && at > best)
				best = at;
		}
	}
	return best;
}

static void go_to(struct scene *s, double at)
{
	s->paused = true;
	s->cursor_s = at < 0 ? 0 : at > s->now_s ? s->now_s : at;
}

static void step(struct app *a, uint32_t key)
{
	go_to(&a->scene, neighbour(&a->scene, key == UI_KEY_RIGHT || key == 'l'));
}

static void leap(struct app *a, uint32_t key)
{
	go_to(&a->scene, a->scene.cursor_s + (key == '>' ? LEAP_S : -LEAP_S));
}

static void pause(struct app *a, uint32_t key)
{
	struct scene *s = &a->scene;

	(void)key;
	s->paused = !s->paused;
	if (s->paused)
		return;
	if (s->progress.phase != SCENE_OVER)
		s->cursor_s = s->now_s;
	else if (s->cursor_s >= s->now_s)
		s->cursor_s = 0;	/* played to the end: once more */
}

static void scroll(size_t *at, bool down, size_t by)
{
	if (down)
		*at += by;
	else
		*at = *at > by ? *at - by : 0;
}

static void move(struct app *a, uint32_t key)
{
	bool down = key == UI_KEY_DOWN || key == 'j' || key == UI_KEY_PAGE_DOWN;
	size_t by = key == UI_KEY_PAGE_DOWN || key == UI_KEY_PAGE_UP ? PAGE : 1;
	size_t n = app_rows(a);
	struct view_state *v = app_state(a);

	if (a->help) {
		scroll(&a->help_scroll, down, by);
		if (a->help_scroll > 200)
			a->help_scroll = 200;
		return;
	}
	if (!n)
		return;
	scroll(&v->selected, down, by);
	if (v->selected >= n)
		v->selected = n - 1;
	v->scroll = 0;
}

static void move_far(struct app *a, uint32_t key)
{
	bool end = key == 'G' || key == UI_KEY_END;
	size_t n = app_rows(a);

	if (a->help)
		a->help_scroll = 0;
	else if (n)
		app_state(a)->selected = end ? n - 1 : 0;
	else
		go_to(&a->scene, end ? a->scene.now_s : 0);
}

static void search(struct app *a, uint32_t key)
{
	(void)key;
	if (!app_view(a)->row_text) {
		app_say(a, "nothing to search in this view");
		return;
	}
	a->prompt = PROMPT_SEARCH;
	memset(a->typed, 0, sizeof(a->typed));
}

static void search_next(struct app *a, uint32_t key)
{
	(void)key;
	if (!*app_state(a)->search)
		app_say(a, "nothing was searched for: / does");
	else if (!app_find(a, true))
		app_say(a, "not found");
}

static void sort(struct app *a, uint32_t key)
{
	const struct view *v = app_view(a);
	struct view_state *state = app_state(a);

	if (!v->nsorts) {
		app_say(a, "this view has one order");
		return;
	}
	if (key == 'r')
		state->ascending = !state->ascending;
	else
		state->sort = (state->sort + 1) % (unsigned int)v->nsorts;
}

static void details(struct app *a, uint32_t key)
{
	if (key == UI_KEY_ESCAPE) {
		if (a->help || a->plain)
			a->help = a->plain = false;
		else
			app_state(a)->open = false;
	} else if (app_rows(a)) {
		app_state(a)->open = !app_state(a)->open;
	}
}

static void mouse(struct app *a, uint32_t key)
{
	(void)key;
	a->mouse = !a->mouse;
	app_say(a, a->mouse ? "mouse: click tabs, rows and keys; m gives it back to select text"
			    : "mouse: the terminal's own, to select text");
}

static void report(struct app *a, uint32_t key)
{
	(void)key;
	if (!a->scene.exam || !a->scene.diagnosis) {
		app_say(a, "there is nothing to report yet");
		return;
	}
	a->prompt = PROMPT_REPORT;
	memset(a->typed, 0, sizeof(a->typed));
}

const struct app_key_row app_keys[] = {
	{ .keys = { '?' }, .name = "?", .does = "this help, and back", .bar = "help",
	  .act = help },
	{ .keys = { 'q' }, .name = "q", .does = "quit; the report is printed then", .bar = "quit",
	  .act = quit },
	{ .keys = { ' ', 'p' }, .name = "Space p",
	  .does = "pause and go on; at the end: play it again", .bar = "pause", .act = pause },
	{ .keys = { UI_KEY_LEFT, UI_KEY_RIGHT, 'h', 'l' }, .name = "Left Right h l",
	  .does = "pause, and step through time", .bar = NULL, .act = step },
	{ .keys = { '<', '>' }, .name = "< >", .does = "pause, and leap 5 s", .act = leap },
	{ .keys = { UI_KEY_TAB, UI_KEY_BACK_TAB }, .name = "Tab",
	  .does = "next view; Shift-Tab the one before", .bar = "next", .act = next_view },
	{ .keys = { '1', '2', '3', '4' }, .name = "1 ... 6", .does = "the view of that number",
	  .act = by_number },
	{ .keys = { '5', '6', '7', '8' }, .act = by_number },
	{ .keys = { UI_KEY_UP, UI_KEY_DOWN, 'k', 'j' }, .name = "Up Down k j",
	  .does = "select a row; scroll this help", .act = move },
	{ .keys = { UI_KEY_PAGE_UP, UI_KEY_PAGE_DOWN }, .name = "PgUp PgDn",
	  .does = "ten rows", .act = move },
	{ .keys = { 'g', 'G', UI_KEY_HOME, UI_KEY_END }, .name = "g G",
	  .does = "first and last row; without a list, begin and end of time", .act = move_far },
	{ .keys = { UI_KEY_ENTER, UI_KEY_ESCAPE }, .name = "Enter Esc",
	  .does = "details of the selected row, and back", .act = details },
	{ .keys = { '/' }, .name = "/", .does = "search the list", .bar = "search",
	  .act = search },
	{ .keys = { 'n' }, .name = "n", .does = "next row that matches", .act = search_next },
	{ .keys = { 's' }, .name = "s", .does = "next order of the list", .bar = "sort",
	  .act = sort },
	{ .keys = { 'r' }, .name = "r", .does = "reverse the order", .act = sort },
	{ .keys = { 'w' }, .name = "w",
	  .does = "write a report: text, or .json, .md, .html by its name",
	  .bar = "write", .act = report },
	{ .keys = { 'm' }, .name = "m",
	  .does = "mouse: clicks and wheel, or (as at first) selecting text", .act = mouse },
};
const size_t app_nkeys = ARRAY_SIZE(app_keys);

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Around the view: tabs, status line, key bar, help. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/app.h"
#include "ui/draw.h"

enum { LEAST_COLUMNS = 40, LEAST_ROWS = 10, HELP_LEFT = 18 };

static void tabs(const struct app *a, struct canvas *c, struct area row)
{
	unsigned int x = canvas_text(c, row, 0, 0, INK_STRONG, "netdoctor ");

	for (size_t i = 0; i < views_count; i++) {
		bool here = i == a->current;
		unsigned int from = x;
		char number[4] = { here ? '[' : ' ', (char)('1' + i), '\0' };
		x += canvas_text(c, row, x, 0, INK_KEY, number);
		x += canvas_printf(c, row, x, 0, here ? INK_STRONG : INK_PLAIN, " %s",
				   views_table[i]->name);
		x += canvas_text(c, row, x, 0, INK_KEY, here ? "]" : " ");
		struct area tab = { row.x + from, row.y, x - from, 1 };
		canvas_link(c, tab, LINK_VIEW, (uint32_t)i);
		if (here)
			canvas_select(c, tab);
	}
	const char *about = a->scene.file ? a->scene.file : a->scene.peer;
	unsigned int n = about ? canvas_text_columns(c, about) : 0;
	if (about && x + 2 + n <= row.columns)
		canvas_text_right(c, row, 0, INK_DIM, about);
}

static void when(const struct scene *s, char *out, size_t cap)
{
	const struct scene_progress *p = &s->progress;
	const struct history_sample *sample = scene_sample(s, SIDE_LOCAL);
	bool end = p->phase == SCENE_OVER && s->cursor_s >= s->now_s;

	if (s->mode == SCENE_SERVE && p->phase == SCENE_BETWEEN && !s->paused)
		*out = '\0';
	else if (end)
		snprintf(out, cap, "%.1f s, the end", s->cursor_s);
	else if (s->paused && sample && sample->run)
		snprintf(out, cap, "PAUSED at %.1f s, run %u", s->cursor_s, sample->run);
	else if (s->paused)
		snprintf(out, cap, "PAUSED at %.1f s", s->cursor_s);
	else if (p->phase == SCENE_OVER)
		snprintf(out, cap, "playing %.1f of %.1f s", s->cursor_s, s->now_s);
	else if (p->phase == SCENE_RUNNING && p->total_s > 0)
		snprintf(out, cap, "%.1f of %.1f s", p->elapsed_s, p->total_s);
	else
		snprintf(out, cap, "%.1f s", s->now_s);
}

static void status(const struct app *a, struct canvas *c, struct area row)
{
	const struct scene *s = &a->scene;
	const struct scene_progress *p = &s->progress;
	struct text doing = TEXT_INIT;
	char time[64];

	when(s, time, sizeof(time));
	unsigned int n = canvas_text_columns(c, time);
	struct area right = area_take_right(&row, n + 1);
	canvas_text_right(c, right, 0, s->paused ? INK_WARN : INK_STRONG, time);
	if (p->phase == SCENE_RUNNING && p->total_s > 0 && row.columns > 60) {
		struct area bar = area_take_right(&row, 12);
		draw_range(c, bar, 1, 0, 10, p->total_s, p->elapsed_s, p->elapsed_s, -1, INK_RATE);
	}
	if (*a->message) {
		canvas_text(c, row, 0, 0, INK_STRONG, a->message);
		return;
	}
	scene_doing(s, &doing);
	if (s->remark && p->phase != SCENE_OVER)
		text_printf(&doing, "; %s", s->remark);
	if (p->phase == SCENE_OVER && s->mode == SCENE_SERVE)
		text_add(&doing, ": q leaves");
	else if (p->phase == SCENE_OVER && s->mode != SCENE_SHOW)
		text_add(&doing, ": q leaves and prints the report");
	if (doing.data && !doing.failed)
		canvas_text(c, row, 0, 0, INK_PLAIN, doing.data);
	text_free(&doing);
}

static unsigned int bar_key(struct canvas *c, struct area row, unsigned int x, const char *key,
			    const char *does, uint32_t code)
{
	unsigned int n = canvas_text_columns(c, key) + canvas_text_columns(c, does) + 3;

	/* A key without its word helps nobody. */
	if (x + n > row.columns + 2)
		return x;
	canvas_link(c, (struct area){ row.x + x, row.y, n - 2, 1 }, LINK_KEY, code);
	x += canvas_text(c, row, x, 0, INK_KEY, key);
	x += canvas_printf(c, row, x, 0, INK_PLAIN, " %s  ", does);
	return x;
}

static bool is_of_use(const struct app *a, const struct key_row *k)
{
	return !k->again || a->scene.mode == SCENE_DIAGNOSE || a->scene.mode == SCENE_TEST;
}

static void key_bar(const struct app *a, struct canvas *c, struct area row)
{
	const struct view *v = app_view(a);
	unsigned int x = 0;

	if (a->prompt != PROMPT_NONE) {
		x = canvas_text(c, row, 0, 0, INK_KEY,
				a->prompt == PROMPT_SEARCH
					? "Search: "
					: "Report file (.txt .json .md .html): ");
		x += canvas_text(c, row, x, 0, INK_STRONG, a->typed);
		canvas_put(c, row, x, 0, INK_KEY, '_');
		return;
	}
	for (size_t i = 0; i < 2 && i < app_nkeys; i++)
		x = bar_key(c, row, x, app_keys[i].name, app_keys[i].bar, app_keys[i].keys[0]);
	for (size_t i = 0; i < v->nkeys; i++)
		if (is_of_use(a, &v->keys[i]) &&
		    (v->keys[i].key != UI_KEY_PAGE_DOWN || (c->pages && c->page_end)))
			x = bar_key(c, row, x, v->keys[i].name, v->keys[i].does, v->keys[i].key);
	for (size_t i = 2; i < app_nkeys; i++) {
		const struct app_key_row *k = &app_keys[i];
		bool useless = (!strcmp(k->name ? k->name : "", "/") && !v->row_text) ||
			       (!strcmp(k->name ? k->name : "", "s") && !v->nsorts);
		if (k->bar && !useless)
			x = bar_key(c, row, x, k->name, k->bar, k->keys[0]);
	}
}

/* Draws one line when it is in view; counts all. */
static void help_line(struct canvas *c, struct area a, size_t *line, size_t scroll, enum ink ink,
		      const char *left, const char *right)
{
	size_t at = (*line)++;

	if (at < scroll || at - scroll >= a.rows)
		return;
	struct area row = area_row(a, (unsigned int)(at - scroll));
	struct area name = area_take_left(&row, HELP_LEFT);
	canvas_text(c, name, 0, 0, ink, left);
	canvas_text(c, row, 0, 0, INK_PLAIN, right);
}

void app_draw_help(const struct app *a, struct canvas *c, struct area area)
{
	const struct view *v = app_view(a);
	struct area in = canvas_box(c, area, INK_BORDER, "Help: Up and Down scroll, ? leaves");
	size_t n = 0, from = a->help_scroll;

	for (size_t i = 0; i < views_count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%zu %s", i + 1, views_table[i]->name);
		help_line(c, in, &n, from, INK_KEY, name, views_table[i]->about);
	}
	for (size_t i = 0; i < v->nkeys; i++) {
		if (!i) {
			n++;
			help_line(c, in, &n, from, INK_TITLE, "In this view", "");
		}
		if (is_of_use(a, &v->keys[i]))
			help_line(c, in, &n, from, INK_KEY, v->keys[i].name, v->keys[i].does);
	}
	n++;
	help_line(c, in, &n, from, INK_TITLE, "Everywhere", "");
	for (size_t i = 0; i < app_nkeys; i++)
		if (app_keys[i].name)
			help_line(c, in, &n, from, INK_KEY, app_keys[i].name, app_keys[i].does);
	n++;
	help_line(c, in, &n, from, INK_TITLE, "Bars of cores",
		  "u user, s system, q softirq, i interrupt, t stolen by the hypervisor");
	help_line(c, in, &n, from, INK_TITLE, "Bars of ceilings",
		  c->utf8 ? "\u2588 surely below, \u2592 inside the interval, \u2503 the rate"
			  : "# surely below, = inside the interval, | the rate");
	c->pages = true;
	c->page_end = n > in.rows ? n - in.rows : 0;
}

void app_draw(const struct app *a, struct canvas *c)
{
	struct area area = canvas_whole(c);

	canvas_clear(c);
	if (area.columns < LEAST_COLUMNS || area.rows < LEAST_ROWS) {
		canvas_wrap(c, area, 0, INK_PLAIN, "too small: 40x10 is the least, q quits");
		return;
	}
	if (a->plain) {
		struct view_state state = a->states[a->current];
		state.plain = true;
		app_view(a)->draw(&a->scene, &state, c, area);
		return;
	}
	tabs(a, c, area_take_top(&area, 1));
	struct area bar = area_take_bottom(&area, 1);
	status(a, c, area_take_bottom(&area, 1));
	if (a->help)
		app_draw_help(a, c, area);
	else
		app_view(a)->draw(&a->scene, &a->states[a->current], c, area);
	/* Last: what the view drew says which keys are of use. */
	key_bar(a, c, bar);
}

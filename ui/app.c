/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/app.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void app_init(struct app *a, enum scene_mode mode)
{
	memset(a, 0, sizeof(*a));
	a->scene.mode = mode;
}

void app_free(struct app *a)
{
	text_free(&a->request.text);
}

size_t app_rows(const struct app *a)
{
	const struct view *v = app_view(a);

	return v->rows ? v->rows(&a->scene, &a->states[a->current]) : 0;
}

void app_say(struct app *a, const char *message)
{
	snprintf(a->message, sizeof(a->message), "%s", message);
	text_make_printable(a->message);
}

void app_request_done(struct app *a, const char *message)
{
	text_free(&a->request.text);
	a->request.wish = WISH_NONE;
	if (message)
		app_say(a, message);
}

static bool contains(const char *text, const char *what)
{
	size_t n = strlen(what);

	for (; *text; text++)
		if (!strncasecmp(text, what, n))
			return true;
	return false;
}

static bool find_row(struct app *a, bool from_next)
{
	const struct view *v = app_view(a);
	struct view_state *state = app_state(a);
	size_t n = app_rows(a);

	for (size_t i = 0; i < n; i++) {
		size_t row = (state->selected + i + (from_next ? 1 : 0)) % n;
		struct text t = TEXT_INIT;
		v->row_text(&a->scene, state, row, &t);
		bool found = t.data && !t.failed && contains(t.data, state->search);
		text_free(&t);
		if (found) {
			state->selected = row;
			return true;
		}
	}
	return false;
}

bool app_find(struct app *a, bool from_next)
{
	const struct view *v = app_view(a);
	struct view_state *state = app_state(a);
	uint64_t unfolded = state->unfolded;

	if (!v->row_text || !*state->search)
		return false;
	/* What is folded away is there all the same. */
	if (v->unfold)
		v->unfold(&a->scene, state, UINT64_MAX);
	bool found = find_row(a, from_next);
	if (v->unfold)
		v->unfold(&a->scene, state, unfolded);
	return found;
}

static void finish_prompt(struct app *a)
{
	if (a->prompt == PROMPT_SEARCH) {
		struct view_state *state = app_state(a);
		snprintf(state->search, sizeof(state->search), "%.*s",
			 (int)sizeof(state->search) - 1, a->typed);
		if (*state->search && !app_find(a, false))
			app_say(a, "not found");
	} else if (a->prompt == PROMPT_REPORT && *a->typed) {
		memcpy(a->report_file, a->typed, sizeof(a->report_file));
		a->request.wish = WISH_REPORT;
	}
	a->prompt = PROMPT_NONE;
}

/* Takes the last character off, all of its bytes. */
static void erase_one(char *s)
{
	size_t n = strlen(s);

	while (n && ((unsigned char)s[n - 1] & 0xc0) == 0x80)
		n--;
	s[n ? n - 1 : 0] = '\0';
}

static void type_one(char *s, size_t cap, uint32_t key)
{
	size_t n = strlen(s);

	/* File names and what lists hold are mostly ASCII; the rest is not typed here. */
	if (key >= 0x20 && key < 0x7f && n + 1 < cap) {
		s[n] = (char)key;
		s[n + 1] = '\0';
	}
}

static void prompt_key(struct app *a, uint32_t key)
{
	if (key == UI_KEY_ESCAPE)
		a->prompt = PROMPT_NONE;
	else if (key == UI_KEY_ENTER)
		finish_prompt(a);
	else if (key == UI_KEY_BACKSPACE)
		erase_one(a->typed);
	else
		type_one(a->typed, sizeof(a->typed), key);
}

static bool run_app_key(struct app *a, uint32_t key)
{
	for (size_t i = 0; i < app_nkeys; i++)
		for (size_t k = 0; k < ARRAY_SIZE(app_keys[i].keys); k++)
			if (app_keys[i].keys[k] && app_keys[i].keys[k] == key) {
				app_keys[i].act(a, key);
				return true;
			}
	return false;
}

void app_key(struct app *a, uint32_t key)
{
	const struct view *v = app_view(a);

	if (key == UI_KEY_NONE)
		return;
	a->message[0] = '\0';
	if (a->prompt != PROMPT_NONE) {
		prompt_key(a, key);
		return;
	}
	/* Over the help a view sees no keys. */
	a->request.say = NULL;
	bool taken = !a->help && v->key &&
		     v->key(&a->scene, app_state(a), key, &a->request);
	if (!taken)
		run_app_key(a, key);
	if (a->request.say)
		app_say(a, a->request.say);
	if (a->request.wish == WISH_PLAIN) {
		a->plain = !a->plain;
		app_request_done(a, NULL);
	}
	size_t n = app_rows(a);
	if (app_state(a)->selected >= n)
		app_state(a)->selected = n ? n - 1 : 0;
}

void app_click(struct app *a, const struct canvas_link *on)
{
	if (!on || a->prompt != PROMPT_NONE)
		return;
	if (on->kind == LINK_VIEW)
		app_key(a, '1' + on->of);
	else if (on->kind == LINK_KEY)
		app_key(a, on->of);
	else if (on->of == app_state(a)->selected)
		app_key(a, UI_KEY_ENTER);
	else if (on->of < app_rows(a)) {
		a->message[0] = '\0';
		app_state(a)->selected = on->of;
		app_state(a)->scroll = 0;
	}
}

void app_drawn(struct app *a, const struct canvas *c)
{
	size_t *scroll = a->help ? &a->help_scroll : &app_state(a)->scroll;

	if (c->pages && *scroll > c->page_end)
		*scroll = c->page_end;
}

void app_set_time(struct app *a, double clock_s)
{
	struct scene *s = &a->scene;
	double passed = clock_s - a->clock_s;

	a->clock_s = clock_s;
	if (s->progress.phase != SCENE_OVER) {
		s->now_s = clock_s;
		if (!s->paused || s->cursor_s > clock_s)
			s->cursor_s = clock_s;
	} else if (!s->paused) {
		s->cursor_s += passed > 0 ? passed : 0;
		if (s->cursor_s >= s->now_s) {
			s->cursor_s = s->now_s;
			s->paused = true;
		}
	}
	/* What there is to select may have become less. */
	size_t n = app_rows(a);
	if (app_state(a)->selected >= n)
		app_state(a)->selected = n ? n - 1 : 0;
}

bool app_moves(const struct app *a)
{
	/* Nobody is served: nothing changes but the time. */
	if (a->scene.mode == SCENE_SERVE && a->scene.progress.phase == SCENE_BETWEEN)
		return false;
	return !a->scene.paused && (a->scene.progress.phase != SCENE_OVER ||
				    a->scene.cursor_s < a->scene.now_s);
}

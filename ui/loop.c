/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/loop.h"

#include <poll.h>
#include <unistd.h>

#include "src/core/clock.h"

enum { FRAME_MS = 100 };

double loop_seconds_now(void)
{
	return (double)monotonic_ns() / 1e9;
}

static void hold(const struct loop *l)
{
	if (l->update)
		l->update(l->state, &l->app->scene);
}

static void release(const struct loop *l)
{
	if (l->release)
		l->release(l->state);
}

/* False: no memory, the next frame may have some. */
static bool draw(const struct loop *l)
{
	unsigned int columns, rows;
	struct canvas c;

	terminal_size(l->terminal, &columns, &rows);
	if (canvas_init(&c, columns, rows, l->utf8))
		return false;
	hold(l);
	app_draw(l->app, &c);
	release(l);
	app_drawn(l->app, &c);
	int rc = terminal_show(l->terminal, &c);
	canvas_free(&c);
	return !rc;
}

/* What is clicked on is what was drawn there, so it is drawn once more. */
static void click(const struct loop *l)
{
	unsigned int columns, rows, x, y;
	struct canvas c;

	terminal_size(l->terminal, &columns, &rows);
	terminal_clicked(l->terminal, &x, &y);
	if (canvas_init(&c, columns, rows, l->utf8))
		return;
	hold(l);
	app_draw(l->app, &c);
	app_click(l->app, canvas_link_at(&c, x, y));
	release(l);
	canvas_free(&c);
}

/* Lines and tabs are text; all else would act on the terminal that it is pasted into. */
static bool acts_on_terminals(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f)
			return true;
	return false;
}

static void copy(const struct loop *l)
{
	struct app *a = l->app;
	const char *text = a->request.text.data;

	if (text && acts_on_terminals(text)) {
		app_request_done(a, "not copied: there are control characters in it");
		return;
	}
	int rc = text ? terminal_copy(l->terminal, text) : -1;

	app_request_done(a, rc ? "too much to copy"
			       : "copied, if the terminal lets programs use the clipboard");
}

static void keys(const struct loop *l)
{
	uint32_t key;

	while (!l->app->quit && (key = terminal_key(l->terminal)) != UI_KEY_NONE) {
		if (key == UI_KEY_CLICK) {
			click(l);
		} else {
			hold(l);
			app_key(l->app, key);
			release(l);
		}
		terminal_mouse(l->terminal, l->app->mouse);
		if (l->app->request.wish == WISH_COPY)
			copy(l);
		else if (l->app->request.wish != WISH_NONE && l->wish)
			l->wish(l->state, l->app);
		if (l->app->request.wish != WISH_NONE)
			app_request_done(l->app, NULL);
	}
}

/* To stop is for others to know, too: it is not read. */
static bool stopped(const struct loop *l)
{
	struct pollfd p = { .fd = l->stop_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static bool news(const struct loop *l)
{
	uint64_t count;

	return l->news_fd >= 0 && read(l->news_fd, &count, sizeof(count)) > 0;
}

static void advance(const struct loop *l, double clock_s)
{
	hold(l);
	app_set_time(l->app, clock_s);
	release(l);
}

enum loop_end loop_run(const struct loop *l)
{
	const int fds[] = { l->stop_fd, l->news_fd };
	double last = 0;
	bool dirty = true;

	while (!l->app->quit) {
		double now = loop_seconds_now();
		int left = (int)((last - now) * 1000 + FRAME_MS + 0.5);
		advance(l, now - l->begun_s);
		bool moves = app_moves(l->app);
		if ((dirty || moves) && left <= 0) {
			dirty = !draw(l);
			last = now;
			left = FRAME_MS;
		}
		int timeout = dirty || moves ? (left > 0 ? left : 1) : -1;
		switch (terminal_wait(l->terminal, fds, 2, timeout)) {
		case TERMINAL_GONE:
			return LOOP_GONE;
		case TERMINAL_KEYS:
			keys(l);
			dirty = true;
			break;
		case TERMINAL_RESIZED:
			dirty = true;
			break;
		case TERMINAL_WOKEN:
			if (stopped(l))
				return LOOP_STOPPED;
			dirty |= news(l);
			break;
		case TERMINAL_TIMEOUT:
			break;
		}
	}
	return LOOP_QUIT;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/screen.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/options.h"
#include "src/cli/screen_feed.h"
#include "src/core/background.h"
#include "ui/loop.h"
#include "ui/replay.h"

struct screen {
	struct terminal *terminal;
	struct app app;
	struct loop loop;
	struct output_settings output;
	bool utf8;
	/* of screen_examine(): */
	struct screen_feed feed;
	struct conduct_options options;
	pthread_t worker;
	bool working;			/* the worker is to be joined */
	bool background;		/* the drawing thread became it */
	atomic_bool cancelled, failed;
	struct exam *result, *before;
	struct error error;		/* result NULL: why */
};

struct screen *screen_open(const struct output_settings *output, enum screen_wish wish)
{
	struct report_options o = output_options(output);
	struct terminal_options options = { .no_colour = output->no_colour };
	bool not_text = output->format != REPORT_TEXT && !output->file;
	struct error err = { "" };
	struct screen *s;

	if (wish == SCREEN_UNWANTED || not_text)
		return NULL;
	const char *unfit = terminal_unfit();
	if (unfit && wish == SCREEN_USUAL && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))
		return NULL;
	s = unfit ? NULL : calloc(1, sizeof(*s));
	if (!s || terminal_open(&options, &s->terminal, &err)) {
		complain(0, "no screen, text instead: %s", unfit ? unfit : err.text);
		free(s);
		return NULL;
	}
	s->output = *output;
	s->utf8 = o.utf8;
	return s;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	terminal_close(s->terminal);
	free(s);
}

void screen_say(const struct screen *s, const char *fmt, ...)
{
	unsigned int columns, rows;
	char line[CANVAS_MAX_COLUMNS];
	struct canvas c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	terminal_size(s->terminal, &columns, &rows);
	if (canvas_init(&c, columns, rows, s->utf8))
		return;
	canvas_text(&c, (struct area){ 0, 0, columns, rows }, 0, 0, INK_DIM, line);
	/* Without memory for it there may be some for what follows. */
	(void)terminal_show(s->terminal, &c);
	canvas_free(&c);
}

static void update(void *state, struct scene *scene)
{
	struct screen *s = state;

	stage_hold(s->feed.stage, scene);
	/* Nothing was learned: one line says it better. */
	if (atomic_load(&s->failed))
		s->app.quit = true;
}

static void release(void *state)
{
	struct screen *s = state;

	stage_release(s->feed.stage);
}

static void write_report(const struct output_settings *o, struct app *a)
{
	const struct scene *s = &a->scene;
	struct error err = { "" };
	char message[300];

	if (!s->exam || !s->diagnosis)
		return;
	if (output_new_file(o, a->report_file, s->exam, s->diagnosis, &err))
		app_request_done(a, err.text);
	else {
		snprintf(message, sizeof(message), "wrote %s", a->report_file);
		app_request_done(a, message);
	}
}

static int start_worker(struct screen *s);

static void again(struct screen *s)
{
	struct app *a = &s->app;

	if (a->scene.progress.phase != SCENE_OVER) {
		app_request_done(a, "this exam is not over yet");
		return;
	}
	pthread_join(s->worker, NULL);
	s->working = false;
	stage_again(s->feed.stage);
	exam_free(s->before);
	s->before = s->result;
	s->result = NULL;
	a->scene.paused = false;
	/* Its time is its own, however long the one before was looked at. */
	s->feed.begun_s = s->loop.begun_s = loop_seconds_now();
	background_end(s->background);	/* threads inherit it */
	if (start_worker(s))
		app_request_done(a, "cannot start a thread for it");
	s->background = background_begin();
}

static void wish(void *state, struct app *a)
{
	struct screen *s = state;

	if (a->request.wish == WISH_REPORT) {
		if (s->feed.stage)
			stage_hold(s->feed.stage, &a->scene);
		write_report(&s->output, a);
		if (s->feed.stage)
			stage_release(s->feed.stage);
	} else if (a->request.wish == WISH_AGAIN && s->feed.stage &&
		   a->scene.mode != SCENE_SERVE) {
		again(s);
	} else {
		app_request_done(a, "not possible here");
	}
}

static bool cancelled(void *state)
{
	const struct screen_feed *feed = state;
	const struct screen *s = feed->state;

	return atomic_load(&s->cancelled);
}

static void *work(void *arg)
{
	struct screen *s = arg;
	struct exam *e = NULL;
	int rc = exam_conduct(&s->options, &e, &s->error);

	s->result = e;
	/* Before the news of it. */
	atomic_store(&s->failed, rc != 0);
	/* What was last shown had no problem yet. */
	if (!rc && e->problem.k == ND_KNOWN)
		screen_feed_exam(&s->feed, e);
	stage_over(s->feed.stage, rc ? s->error.text
				     : e->problem.k == ND_KNOWN ? e->problem.v : NULL);
	return NULL;
}

static int start_worker(struct screen *s)
{
	int rc;

	atomic_store(&s->failed, false);
	s->feed.runs_begun = false;
	rc = pthread_create(&s->worker, NULL, work, s);
	s->working = !rc;
	return -rc;
}

static enum loop_end watch(struct screen *s, struct stop *stop)
{
	bool live = s->feed.stage;

	s->loop = (struct loop){
		.app = &s->app,
		.terminal = s->terminal,
		.utf8 = s->utf8,
		.begun_s = s->feed.begun_s,
		.stop_fd = stop_fd(stop),
		.news_fd = live ? stage_news_fd(s->feed.stage) : -1,
		.state = s,
		.update = live ? update : NULL,
		.release = live ? release : NULL,
		.wish = wish,
	};
	/* The first signal leaves the screen; the terminal is given back in any case. */
	stop_gracefully(stop);
	s->background = background_begin();
	enum loop_end end = loop_run(&s->loop);
	background_end(s->background);
	terminal_close(s->terminal);
	s->terminal = NULL;
	return end;
}

/* Connecting cannot be cut short, and there is nothing to lose yet. */
static void leave_at_once(const struct stop *stop)
{
	int sig = stop_signal(stop);

	complain(0, "interrupted");
	_exit(sig ? 128 + sig : EXIT_COULD_NOT_TELL);
}

int screen_examine(struct screen *s, enum scene_mode mode, const struct conduct_options *o,
		   struct stop *stop, const char *peer, struct exam **exam)
{
	int rc = 0;

	s->feed.stage = stage_new();
	s->feed.begun_s = loop_seconds_now();
	s->feed.state = s;
	if (!s->feed.stage)
		return complain(EXIT_COULD_NOT_TELL, "out of memory for the screen");
	app_init(&s->app, mode);
	s->app.scene.peer = peer;
	s->options = *o;
	screen_feed_connect(&s->feed, &s->options);
	s->options.cancelled = cancelled;
	if (start_worker(s)) {
		stage_free(s->feed.stage);
		return complain(EXIT_COULD_NOT_TELL, "cannot start a thread for the exam");
	}
	watch(s, stop);
	atomic_store(&s->cancelled, true);
	if (s->app.scene.progress.phase != SCENE_OVER && !atomic_load(&s->feed.runs_begun))
		leave_at_once(stop);
	if (s->working)
		pthread_join(s->worker, NULL);
	if (!s->result)
		rc = complain(EXIT_COULD_NOT_TELL, "%s", s->error.text);
	else if (s->result->problem.k == ND_KNOWN)
		complain(0, "%s", s->result->problem.v);
	*exam = s->result;
	app_free(&s->app);
	stage_free(s->feed.stage);
	exam_free(s->before);
	return rc;
}

void screen_serve(struct screen *s, struct stop *stop, struct stage *stage, double begun_s,
		  const char *invitation)
{
	app_init(&s->app, SCENE_SERVE);
	s->app.scene.invitation = invitation;
	s->feed.stage = stage;
	s->feed.begun_s = begun_s;
	watch(s, stop);
	app_free(&s->app);
}

int screen_replay(struct screen *s, struct stop *stop, const char *file, const struct exam *e,
		  const struct diagnosis *d, uint64_t created_ns)
{
	struct history *histories[EXAM_ENDS] = { history_new(), history_new() };
	int rc = -1;

	s->output.created_ns = created_ns;
	app_init(&s->app, SCENE_SHOW);
	s->app.scene.file = file;
	s->feed.begun_s = loop_seconds_now();
	if (histories[SIDE_LOCAL] && histories[SIDE_PEER])
		rc = replay_exam(&s->app.scene, e, d, histories);
	if (!rc)
		watch(s, stop);
	app_free(&s->app);
	for (int side = 0; side < EXAM_ENDS; side++)
		history_free(histories[side]);
	return rc ? complain(EXIT_COULD_NOT_TELL, "out of memory for the screen") : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/serve_screen.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "src/cli/screen.h"
#include "src/cli/serve_feed.h"
#include "ui/loop.h"

struct serve_screen {
	struct screen *screen;
	struct stage *stage;
	struct serve_feed *feed;
	double begun_s;
	atomic_bool shown;
	/* of the server's thread: */
	struct peer_server *server;
	int stop_fd, rc;
	struct error err;
};

struct serve_screen *serve_screen_new(struct exam_service *service)
{
	struct serve_screen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->begun_s = loop_seconds_now();
	s->stage = stage_new();
	s->feed = s->stage ? serve_feed_new(s->stage, s->begun_s) : NULL;
	if (!s->feed) {
		serve_screen_free(s);
		return NULL;
	}
	exam_service_watch(service, serve_feed_watcher(s->feed));
	return s;
}

void serve_screen_free(struct serve_screen *s)
{
	if (!s)
		return;
	screen_close(s->screen);
	serve_feed_free(s->feed);
	stage_free(s->stage);
	free(s);
}

bool serve_screen_open(struct serve_screen *s)
{
	const struct output_settings usual = { .format = REPORT_TEXT };

	if (!s)
		return false;
	s->screen = screen_open(&usual, false);
	atomic_store(&s->shown, s->screen != NULL);
	return s->screen;
}

static void *serve_thread(void *arg)
{
	struct serve_screen *s = arg;

	s->rc = peer_server_run(s->server, s->stop_fd, &s->err);
	stage_over(s->stage, s->rc ? s->err.text : NULL);
	return NULL;
}

int serve_screen_run(struct serve_screen *s, struct peer_server *server, struct stop *stop,
		     const char *invitation, struct error *err)
{
	pthread_t thread;

	s->server = server;
	s->stop_fd = stop_fd(stop);
	int rc = pthread_create(&thread, NULL, serve_thread, s);
	if (rc)
		return error_set(err, rc, "cannot start a thread for the server");
	screen_serve(s->screen, stop, s->stage, s->begun_s, invitation);
	atomic_store(&s->shown, false);
	stop_ask(stop);
	pthread_join(thread, NULL);
	if (s->rc)
		*err = s->err;
	return s->rc;
}

bool serve_screen_event(struct serve_screen *s, enum peer_event event, const char *line)
{
	if (!s || !atomic_load(&s->shown))
		return false;
	/* Clients and what they run are on the screen already. */
	if (event == PEER_EVENT_GONE || event == PEER_EVENT_REFUSED)
		stage_remark(s->stage, line);
	return true;
}

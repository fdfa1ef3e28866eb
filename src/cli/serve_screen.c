/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/serve_screen.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "probes/probe.h"
#include "src/cli/screen.h"
#include "src/cli/serve_feed.h"
#include "src/core/background.h"
#include "src/exam/conduct.h"
#include "src/exam/host_watch.h"
#include "ui/loop.h"

struct serve_screen {
	struct screen *screen;
	struct stage *stage;
	struct serve_feed *feed;
	double begun_s;
	atomic_bool shown;
	struct exam *host;		/* of the thread that watches */
	pthread_t watcher;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* on CLOCK_MONOTONIC */
	bool over;			/* under lock */
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
	pthread_condattr_t attr;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
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
	exam_free(s->host);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* A second later, or false: it is over. */
static bool next_second(struct serve_screen *s)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec++;
	pthread_mutex_lock(&s->lock);
	while (!s->over && pthread_cond_timedwait(&s->changed, &s->lock, &at) != ETIMEDOUT)
		continue;
	bool goes_on = !s->over;
	pthread_mutex_unlock(&s->lock);
	return goes_on;
}

/*
 * This host while nobody runs.  No client says yet by which link: nobody has that address
 * (RFC 5737), so the default route leads there.
 */
static void *watch_host(void *arg)
{
	struct probe_context ctx = { .peer_address = "192.0.2.1" };
	struct serve_screen *s = arg;
	struct host_watch *w = NULL;
	struct facts *f = NULL;
	struct end_live live;

	background_begin();
	s->host = exam_new();
	if (!s->host || exam_read_host(&ctx, &f, NULL))
		return NULL;
	s->host->facts[SIDE_LOCAL] = f;
	serve_feed_host(s->feed, s->host);
	if (host_watch_new(f, &w))
		return NULL;
	for (bool missed = false; next_second(s);) {
		/* A run samples this host itself, and gets what there is of it. */
		bool busy = serve_feed_busy(s->feed);
		if (!busy && !host_watch_next(w, &live) && !missed)
			serve_feed_idle(s->feed, &live);
		missed = busy;
	}
	host_watch_free(w);
	return NULL;
}

bool serve_screen_open(struct serve_screen *s)
{
	const struct output_settings usual = { .format = REPORT_TEXT };

	if (!s)
		return false;
	s->screen = screen_open(&usual, SCREEN_ASKED);
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
	bool watched = !pthread_create(&s->watcher, NULL, watch_host, s);
	screen_serve(s->screen, stop, s->stage, s->begun_s, invitation);
	atomic_store(&s->shown, false);
	stop_ask(stop);
	pthread_mutex_lock(&s->lock);
	s->over = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (watched)
		pthread_join(s->watcher, NULL);
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
	if (event != PEER_EVENT_CLIENT && event != PEER_EVENT_RUN &&
	    event != PEER_EVENT_TEST)
		stage_remark(s->stage, line);
	return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/serve_feed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/screen_feed.h"
#include "src/exam/one_ended.h"
#include "ui/loop.h"

/* Runs of one client that are shown; then its exam begins anew: a day of them is bounded. */
enum { MAX_RUNS = 12, MAX_FACTS_BYTES = 64 << 20 };

struct client {
	bool here, running;
	struct peer_client_info info;
	struct exam *exam;			/* NULL: its facts were not read */
	struct arena *ends[MAX_RUNS];		/* where the rows of its runs are */
	struct run_spec spec;			/* of the run that goes on */
	unsigned int runs;			/* that ended well */
	struct nd_f64 ended_s;			/* the last, well or not */
	double begun_s;
	struct nd_f64 moved_bps, received_bps;	/* both ways together, and of that taken in */
};

struct serve_feed {
	pthread_mutex_t lock;
	struct screen_feed feed;
	struct client clients[SCENE_MAX_CLIENTS];
	struct client *shown;			/* NULL: none yet */
	struct scene_client left;		/* the last that did */
	bool has_left;
	const struct exam *host;		/* while there is none; NULL: not read yet */
	struct exam_watcher watcher;
};

static double now_s(const struct serve_feed *f)
{
	return loop_seconds_now() - f->feed.begun_s;
}

static void forget_exam(struct serve_feed *f, struct client *c)
{
	if (c->exam) {
		stage_forget(f->feed.stage, c->exam);
		exam_free(c->exam);
	}
	for (size_t i = 0; i < MAX_RUNS; i++) {
		arena_free(c->ends[i]);
		c->ends[i] = NULL;
	}
	c->exam = NULL;
}

static bool is_client(const struct client *c, const struct peer_client_info *info)
{
	return c->here && c->info.port == info->port && !strcmp(c->info.address, info->address);
}

/* A new one takes an empty place, else that of one that is gone; NULL: there is none. */
static struct client *client_for(struct serve_feed *f, const struct peer_client_info *info)
{
	struct client *place = NULL;

	for (size_t i = 0; i < SCENE_MAX_CLIENTS; i++) {
		struct client *c = &f->clients[i];
		if (is_client(c, info))
			return c;
		/* What is shown stays as long as another will do. */
		if (!c->here && (!place || place == f->shown || (place->exam && !c->exam)))
			place = c;
	}
	if (!place)
		return NULL;
	forget_exam(f, place);
	*place = (struct client){ .here = true, .info = *info, .begun_s = now_s(f) };
	return place;
}

static struct scene_client client_shown(const struct serve_feed *f, const struct client *c)
{
	struct history_sample now = {
		/* What is forward to the client is reverse here. */
		.direction = run_other_direction(c->spec.direction),
		.bidirectional = c->spec.bidirectional,
	};
	struct scene_client shown = {
		.iperf3 = c->info.iperf3, .running = c->running, .shown = c == f->shown,
		.direction = now.direction, .bidirectional = now.bidirectional,
		.streams = c->spec.streams, .runs = c->runs, .since_s = c->ended_s,
	};

	history_set_rates(&now, SIDE_LOCAL, c->moved_bps, c->received_bps);
	shown.rate_bps[RUN_FORWARD] = now.sent_bps;
	shown.rate_bps[RUN_REVERSE] = now.received_bps;
	snprintf(shown.address, sizeof(shown.address), "%s", c->info.address);
	return shown;
}

static void tell_clients(struct serve_feed *f)
{
	struct scene_client shown[SCENE_MAX_CLIENTS];
	size_t n = 0;

	for (size_t i = 0; i < SCENE_MAX_CLIENTS; i++) {
		const struct client *c = &f->clients[i];
		if (c->here)
			shown[n++] = client_shown(f, c);
	}
	stage_clients(f->feed.stage, shown, n, f->has_left ? &f->left : NULL);
}

/* Its exam is the one on the screen from now on, unless another is running there. */
static void turn_to(struct serve_feed *f, struct client *c)
{
	const struct scene_progress idle = { .phase = SCENE_BETWEEN };

	if (f->shown && f->shown != c && f->shown->here && f->shown->running)
		return;
	/* Another client's path is nothing to compare with. */
	if (f->shown && f->shown->exam && strcmp(f->shown->info.address, c->info.address) != 0)
		stage_forget(f->feed.stage, f->shown->exam);
	if (!f->shown && f->host)
		stage_forget(f->feed.stage, f->host);
	f->shown = c;
	stage_again(f->feed.stage);
	stage_progress(f->feed.stage, &idle);
	if (c->exam)
		screen_feed_exam(&f->feed, c->exam);
}

static struct exam *exam_for(const struct peer_client_info *info, const cJSON *facts)
{
	struct exam *e = exam_new();
	struct facts *own = e ? facts_new(MAX_FACTS_BYTES) : NULL;

	if (!own || record_from_json(&facts_schema, facts, own->mem, own, NULL)) {
		facts_free(own);
		exam_free(e);
		return NULL;
	}
	e->facts[SIDE_LOCAL] = own;
	if (!one_ended_path(e, info, NULL))
		return e;
	exam_free(e);
	return NULL;
}

static void on_facts(void *state, const struct peer_client_info *info, const cJSON *facts)
{
	struct serve_feed *f = state;
	struct exam *e = exam_for(info, facts);

	pthread_mutex_lock(&f->lock);
	struct client *c = client_for(f, info);
	if (c && !c->running && e) {
		forget_exam(f, c);
		c->exam = e;
		e = NULL;
		turn_to(f, c);
	}
	tell_clients(f);
	pthread_mutex_unlock(&f->lock);
	exam_free(e);
}

/* Its facts, and no runs: those that there are fill it. */
static void begin_anew(struct serve_feed *f, struct client *c)
{
	struct exam *e = exam_new();
	struct exam *full = c->exam;

	if (!e || one_ended_path(e, &c->info, NULL)) {
		exam_free(e);
		return;
	}
	stage_forget(f->feed.stage, full);
	e->facts[SIDE_LOCAL] = full->facts[SIDE_LOCAL];
	full->facts[SIDE_LOCAL] = NULL;
	exam_place_ends(e);
	forget_exam(f, c);
	c->exam = e;
	f->shown = f->shown == c ? NULL : f->shown;
}

static struct scene_progress progress_of(const struct serve_feed *f, const struct client *c)
{
	const struct run_spec *spec = &c->spec;
	double elapsed = now_s(f) - c->begun_s, warmup = (double)spec->warmup_ms / 1e3;
	bool by_bytes = spec->total_bytes || spec->total_blocks;

	return (struct scene_progress){
		.phase = elapsed < warmup ? SCENE_WARMUP : SCENE_RUNNING,
		.run = c->exam ? (unsigned int)c->exam->nruns + 1 : 1,
		.direction = run_other_direction(spec->direction),
		.bidirectional = spec->bidirectional,
		.streams = spec->streams,
		.elapsed_s = elapsed,
		.total_s = by_bytes ? 0 : warmup + (double)spec->window_ms / 1e3,
	};
}

static void on_begin(void *state, const struct peer_client_info *info,
		     const struct run_spec *spec)
{
	struct serve_feed *f = state;

	pthread_mutex_lock(&f->lock);
	struct client *c = client_for(f, info);
	if (c) {
		if (c->exam && c->exam->nruns == MAX_RUNS)
			begin_anew(f, c);
		c->running = true;
		c->spec = *spec;
		c->begun_s = now_s(f);
		c->moved_bps = c->received_bps = nd_f64_unknown(ND_UNREAD);
		if (f->shown != c)
			turn_to(f, c);
		if (f->shown == c) {
			struct scene_progress p = progress_of(f, c);
			screen_feed_run_begins(&f->feed);
			stage_progress(f->feed.stage, &p);
		}
	}
	tell_clients(f);
	pthread_mutex_unlock(&f->lock);
}

static void on_live(void *state, const struct peer_client_info *info,
		    const struct end_live *live, const struct beat *beat)
{
	struct serve_feed *f = state;

	pthread_mutex_lock(&f->lock);
	struct client *c = client_for(f, info);
	if (c && c->running) {
		c->moved_bps = nd_f64(live->rate_bps);
		c->received_bps = live->received_bps;
		if (f->shown == c) {
			struct scene_progress p = progress_of(f, c);
			screen_feed_flows(&f->feed, SIDE_LOCAL, beat);
			screen_feed_live(&f->feed, SIDE_LOCAL, live, &p);
			if (f->feed.window_at_s < 0 && live->start_s >= 0)
				f->feed.window_at_s = now_s(f) - live->start_s - live->seconds;
			stage_progress(f->feed.stage, &p);
		}
	}
	tell_clients(f);
	pthread_mutex_unlock(&f->lock);
}

/* True when the run is the exam's; its rows then, too. */
static bool keep_run(struct client *c, const struct run_spec *spec, const struct run_end *end,
		     struct arena *mem)
{
	if (!c || !c->exam || c->exam->nruns >= MAX_RUNS || one_ended_add_run(c->exam, spec, end))
		return false;
	c->ends[c->exam->nruns - 1] = mem;
	return true;
}

static void on_end(void *state, const struct peer_client_info *info, const struct run_spec *spec,
		   const struct run_end *end, struct arena *mem)
{
	const struct scene_progress idle = { .phase = SCENE_BETWEEN };
	struct serve_feed *f = state;

	pthread_mutex_lock(&f->lock);
	struct client *c = client_for(f, info);
	bool kept = end && keep_run(c, spec, end, mem);
	if (c) {
		c->running = false;
		c->runs += end != NULL;
		c->ended_s = nd_f64(now_s(f));
	}
	if (c && f->shown == c) {
		stage_progress(f->feed.stage, &idle);
		if (kept)
			screen_feed_exam(&f->feed, c->exam);
		if (kept && f->feed.window_at_s >= 0)
			stage_run_ended(f->feed.stage, (unsigned int)c->exam->nruns,
					f->feed.window_at_s);
	}
	tell_clients(f);
	pthread_mutex_unlock(&f->lock);
	if (end && !kept) {
		counters_free(end->window);
		arena_free(mem);
	}
}

static void on_told(void *state, const struct peer_client_info *info,
		    const struct peer_results *theirs)
{
	struct serve_feed *f = state;

	pthread_mutex_lock(&f->lock);
	struct client *c = client_for(f, info);
	if (c && c->exam) {
		/* The last run changes: it must not be looked at meanwhile. */
		stage_forget(f->feed.stage, c->exam);
		c->exam->path.peer_program = nd_str("iperf3");
		one_ended_hear(c->exam, theirs);
		if (f->shown == c)
			screen_feed_exam(&f->feed, c->exam);
	}
	pthread_mutex_unlock(&f->lock);
}

static void on_gone(void *state, const struct peer_client_info *info)
{
	struct serve_feed *f = state;

	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < SCENE_MAX_CLIENTS; i++) {
		struct client *c = &f->clients[i];
		if (!is_client(c, info))
			continue;
		/* What was found stays on the screen until there is something newer. */
		c->here = c->running = false;
		f->left = client_shown(f, c);
		f->left.since_s = nd_f64(now_s(f));
		f->has_left = true;
		if (c != f->shown)
			forget_exam(f, c);
	}
	tell_clients(f);
	pthread_mutex_unlock(&f->lock);
}

void serve_feed_host(struct serve_feed *f, const struct exam *e)
{
	pthread_mutex_lock(&f->lock);
	f->host = e;
	if (!f->shown)
		screen_feed_exam(&f->feed, e);
	pthread_mutex_unlock(&f->lock);
}

static bool busy(const struct serve_feed *f)
{
	for (size_t i = 0; i < SCENE_MAX_CLIENTS; i++)
		if (f->clients[i].running)
			return true;
	return false;
}

bool serve_feed_busy(struct serve_feed *f)
{
	pthread_mutex_lock(&f->lock);
	bool is = busy(f);
	pthread_mutex_unlock(&f->lock);
	return is;
}

void serve_feed_idle(struct serve_feed *f, const struct end_live *live)
{
	const struct scene_progress no_run = { .phase = SCENE_BETWEEN };

	pthread_mutex_lock(&f->lock);
	if (!busy(f)) {
		screen_feed_run_begins(&f->feed);
		screen_feed_live(&f->feed, SIDE_LOCAL, live, &no_run);
	}
	pthread_mutex_unlock(&f->lock);
}

struct serve_feed *serve_feed_new(struct stage *stage, double begun_s)
{
	const struct scene_progress idle = { .phase = SCENE_BETWEEN };
	struct serve_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->feed.stage = stage;
	f->feed.begun_s = begun_s;
	f->watcher = (struct exam_watcher){
		.state = f, .facts = on_facts, .begins = on_begin, .live = on_live,
		.ended = on_end, .told = on_told, .gone = on_gone,
		.report_ms = SCREEN_FLOWS_MS,
	};
	stage_progress(stage, &idle);
	return f;
}

void serve_feed_free(struct serve_feed *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < SCENE_MAX_CLIENTS; i++)
		forget_exam(f, &f->clients[i]);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

const struct exam_watcher *serve_feed_watcher(const struct serve_feed *f)
{
	return &f->watcher;
}

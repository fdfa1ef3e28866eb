/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys, clicks, sizes, time and news at random, in every mode of the screen: nothing may be out of
 * bounds, act on the terminal or loop.  The same in each run; NETDOCTOR_FUZZ_SECONDS=N goes on for
 * so long with ever new seeds, and prints the one it is at.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/screen_fixture.h"

enum { STEPS = 700, FRAME_EVERY = 8 };

struct monkey {
	uint64_t seed;
	struct screen *screen;
	struct scene_client clients[SCENE_MAX_CLIENTS];
	double clock;
	unsigned int columns, rows;
};

static uint32_t any(struct monkey *m, uint32_t below)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return (uint32_t)(m->seed >> 32) % below;
}

static double odd_number(struct monkey *m)
{
	static const double odd[] = { 0, -1, 1e-300, 1e300, HUGE_VAL, 1e9, 9.41e9, 0.5 };

	return odd[any(m, ARRAY_SIZE(odd))];
}

static void key(struct monkey *m)
{
	static const char usual[] = "123456?pq hl<>gGjk/nsrwmoub[]cCUvab\t";
	uint32_t kind = any(m, 8);
	struct app *a = &m->screen->app;

	if (kind < 4)
		app_key(a, (uint32_t)usual[any(m, sizeof(usual))]);
	else if (kind < 7)
		app_key(a, UI_KEY_UP + any(m, UI_KEYS_END - UI_KEY_UP));
	else
		app_key(a, any(m, 0x110000));
	/* The app goes on after 'q', and whatever was wished for is done. */
	a->quit = false;
	app_request_done(a, any(m, 2) ? "done \033[2J" : NULL);
}

static void click(struct monkey *m)
{
	struct canvas c;

	assert_int_equal(canvas_init(&c, m->columns, m->rows, true), 0);
	app_draw(&m->screen->app, &c);
	app_drawn(&m->screen->app, &c);
	app_click(&m->screen->app, canvas_link_at(&c, any(m, 330), any(m, 120)));
	canvas_free(&c);
}

static void clients(struct monkey *m)
{
	struct scene *s = &m->screen->app.scene;

	s->nclients = any(m, 4) ? any(m, 6) : any(m, SCENE_MAX_CLIENTS + 1);
	s->clients = m->clients;
	s->left = any(m, 2) ? &m->clients[any(m, SCENE_MAX_CLIENTS)] : NULL;
	for (size_t i = 0; i < s->nclients; i++) {
		struct scene_client *c = &m->clients[i];
		*c = (struct scene_client){
			.iperf3 = any(m, 2), .running = any(m, 2), .shown = any(m, 2),
			.bidirectional = any(m, 2), .direction = any(m, 2),
			.streams = any(m, 2) ? any(m, 9) : UINT64_MAX,
			.runs = any(m, 2) ? any(m, 9) : UINT32_MAX,
			.rate_bps = { nd_f64(odd_number(m)), { odd_number(m), any(m, 3) } },
			.since_s = { odd_number(m), any(m, 3) },
		};
		for (size_t k = 0; k < sizeof(c->address) - 1; k++)
			c->address[k] = (char)any(m, any(m, 2) ? 128 : 256);
	}
}

static void progress(struct monkey *m)
{
	m->screen->app.scene.progress = (struct scene_progress){
		.phase = any(m, SCENE_OVER + 1), .run = any(m, 9), .runs = any(m, 9),
		.direction = any(m, 2), .bidirectional = any(m, 2),
		.purpose = any(m, RUN_PURPOSES), .streams = any(m, 3000),
		.elapsed_s = odd_number(m), .total_s = odd_number(m),
	};
}

/* A sample of an end, with rows or without. */
static void sample(struct monkey *m)
{
	struct history_core cores[HISTORY_MAX_CORES];
	struct history_queue queues[64];
	uint16_t workers[16];
	struct history_sample h = {
		.at_s = m->clock, .seconds = 0.1 * any(m, 20), .run = any(m, 5),
		.warm = any(m, 2), .direction = any(m, 2), .bidirectional = any(m, 2),
		.sent_bps = nd_f64(odd_number(m)),
		.received_bps = nd_f64(odd_number(m)), .cores = cores, .queues = queues,
		.ncores = any(m, any(m, 2) ? 8 : HISTORY_MAX_CORES), .nqueues = any(m, 64),
		.workers = workers, .nworkers = any(m, 17),
	};

	for (size_t i = 0; i < h.nworkers; i++)
		workers[i] = (uint16_t)any(m, any(m, 2) ? 16 : 65536);

	for (size_t i = 0; i < h.ncores; i++)
		cores[i] = (struct history_core){
			(uint16_t)(any(m, 2) ? i : any(m, 65536)), (uint8_t)any(m, 256),
			(uint8_t)any(m, 256), (uint8_t)any(m, 256), (uint8_t)any(m, 256),
			(uint8_t)any(m, 256), (uint8_t)any(m, 256)
		};
	for (size_t i = 0; i < h.nqueues; i++)
		queues[i] = (struct history_queue){ any(m, 300), (uint16_t)any(m, 65536),
						    (float)odd_number(m) };
	history_add(m->screen->history[any(m, EXAM_ENDS)], &h);
}

static void draw(struct monkey *m)
{
	struct text t;

	if (any(m, 3) == 0) {
		m->columns = any(m, 320);
		m->rows = any(m, 110);
	}
	t = screen_text(m->screen, m->columns, m->rows, any(m, 2));
	text_free(&t);
}

static void step(struct monkey *m)
{
	static void (*const others[])(struct monkey *) = { click, clients, progress, sample };
	struct app *a = &m->screen->app;

	if (any(m, 4))
		key(m);
	else
		others[any(m, ARRAY_SIZE(others))](m);
	app_set_time(a, m->clock += any(m, 20) / 10.0);
	assert_true(a->current < views_count);
	size_t n = app_rows(a);
	assert_true(a->states[a->current].selected <= (n ? n - 1 : 0));
	assert_true(a->scene.cursor_s >= 0 && a->scene.cursor_s <= a->scene.now_s);
}

static void play(struct exam *e, enum scene_mode mode, uint64_t seed)
{
	static const char invitation[] = "Listening \033]0;x\a\n\n  netdoctor diagnose \xff\xc3(\n"
					 "WARNING: \xe2\x80\xae";
	struct monkey m = { .seed = seed, .screen = screen_of(e), .columns = 80, .rows = 24 };

	m.screen->app.scene.mode = mode;
	m.screen->app.scene.invitation = invitation;
	m.screen->app.scene.remark = "a \033[31m remark";
	for (unsigned int i = 0; i < STEPS; i++) {
		step(&m);
		if (i % FRAME_EVERY == 0)
			draw(&m);
	}
	screen_free(m.screen);
}

static struct exam *one_ended(void)
{
	struct exam *e = build_one_host();

	build_unseen_end(build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6.04e9), SIDE_PEER);
	return e;
}

static void every_mode(uint64_t seed)
{
	for (int mode = SCENE_DIAGNOSE; mode <= SCENE_SHOW; mode++) {
		play(build_hot_core_exam(), mode, seed + 1);
		play(build_unread(), mode, seed + 2);
		play(one_ended(), mode, seed + 3);
	}
}

static void at_random(void **state)
{
	const char *seconds = getenv("NETDOCTOR_FUZZ_SECONDS");
	time_t end = time(NULL) + (seconds ? (time_t)strtoul(seconds, NULL, 10) : 0);
	uint64_t seed = 0x6e6574646f63746fULL;

	(void)state;
	every_mode(seed);
	while (time(NULL) < end) {
		seed += 0x9e3779b97f4a7c15ULL;
		print_message("seed %llx\n", (unsigned long long)seed);
		every_mode(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(at_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

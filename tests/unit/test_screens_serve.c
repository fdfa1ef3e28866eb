/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen of a server: nobody there, some clients, more than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/report_fixture.h"
#include "tests/unit/screen_fixture.h"

static const char invitation[] =
	"Listening on all addresses, port 5201.  On the other machine run:\n\n"
	"  netdoctor diagnose 192.0.2.10 --key 00112233445566778899aabbccddeeff\n\n";
static const char open_to_all[] =
	"Listening on all addresses, port 5201.  On the other machine run:\n\n"
	"  netdoctor diagnose 192.0.2.10\n\n"
	"WARNING: --open lets anybody who reaches this port read this host's facts and drive "
	"traffic.\n"
	"WARNING: --allow-iperf3 lets anybody who reaches this port drive traffic.\n";

/* This end of two runs of a client, and a third that goes on. */
static struct screen *serving(void)
{
	struct exam *e = build_one_host();

	build_unseen_end(build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.41e9), SIDE_PEER);
	build_unseen_end(build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6.04e9), SIDE_PEER);
	struct screen *s = screen_of(e);
	s->app.scene.mode = SCENE_SERVE;
	s->app.scene.paused = false;
	s->app.scene.invitation = invitation;
	s->app.scene.progress = (struct scene_progress){
		.phase = SCENE_RUNNING, .run = 3, .direction = RUN_REVERSE, .streams = 1,
		.elapsed_s = 3, .total_s = 5,
	};
	return s;
}

static const struct scene_client clients[] = {
	{ .address = "192.0.2.17", .shown = true, .running = true, .direction = RUN_REVERSE,
	  .streams = 1, .runs = 2, .rate_bps[RUN_REVERSE] = { 9.41e9, ND_KNOWN } },
	{ .address = "2001:db8:1234:5678:9abc:def0:1234:5678", .runs = 1 },
	{ .address = "198.51.100.200", .iperf3 = true, .running = true, .streams = 2048,
	  .direction = RUN_FORWARD, .rate_bps[RUN_FORWARD] = { 123.4e9, ND_KNOWN } },
	{ .address = "203.0.113.1", .iperf3 = true, .running = true, .bidirectional = true,
	  .streams = 16, .rate_bps = { { 940e6, ND_KNOWN }, { 0, ND_UNREAD } } },
};

static void some_clients(void **state)
{
	struct screen *s = serving();

	(void)state;
	s->app.scene.clients = clients;
	s->app.scene.nclients = ARRAY_SIZE(clients);
	app_set_time(&s->app, s->app.scene.now_s);
	screen_check(s, "serving");
	screen_free(s);
}

static void nobody(void **state)
{
	struct screen s = { .exam = NULL };

	(void)state;
	app_init(&s.app, SCENE_SERVE);
	s.app.scene.invitation = open_to_all;
	s.app.scene.progress.phase = SCENE_BETWEEN;
	screen_check(&s, "serving-nobody");
	assert_false(app_moves(&s.app));
	app_free(&s.app);
}

/* Whoever runs is seen, and how many are not. */
static void more_than_there_is_room_for(void **state)
{
	struct scene_client many[SCENE_MAX_CLIENTS];
	struct screen *s = serving();
	struct text t;

	(void)state;
	for (size_t i = 0; i < SCENE_MAX_CLIENTS; i++) {
		many[i] = (struct scene_client){ .iperf3 = i % 2, .runs = (unsigned int)i,
						 .streams = 1 };
		snprintf(many[i].address, sizeof(many[i].address), "192.0.2.%zu", i);
	}
	many[200].running = true;
	many[200].rate_bps[RUN_FORWARD] = nd_f64(1e9);
	s->app.scene.clients = many;
	s->app.scene.nclients = SCENE_MAX_CLIENTS;
	t = screen_text(s, 80, 24, false);
	assert_non_null(strstr(t.data, "Clients: 256, 1 in a run"));
	assert_non_null(strstr(t.data, "192.0.2.200"));
	assert_non_null(strstr(t.data, "and 253 more"));
	text_free(&t);
	/* Every size, down to those without a row for anybody. */
	for (unsigned int rows = 0; rows < 60; rows++)
		for (unsigned int columns = 36; columns < 200; columns += 23) {
			t = screen_text(s, columns, rows, rows % 2);
			text_free(&t);
		}
	screen_free(s);
}

static void to_run_again_is_for_the_client(void **state)
{
	struct screen *s = serving();
	struct text t;

	(void)state;
	app_key(&s->app, '6');
	t = screen_text(s, 200, 60, false);
	assert_null(strstr(t.data, "run again"));
	text_free(&t);
	s->app.scene.mode = SCENE_DIAGNOSE;
	t = screen_text(s, 200, 60, false);
	assert_non_null(strstr(t.data, "run again"));
	text_free(&t);
	screen_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_clients),
		cmocka_unit_test(nobody),
		cmocka_unit_test(more_than_there_is_room_for),
		cmocka_unit_test(to_run_again_is_for_the_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

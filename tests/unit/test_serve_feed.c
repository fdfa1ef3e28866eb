/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a server's clients do, told to the feed by hand, and what the screen then knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/cli/serve_feed.h"
#include "src/core/json.h"
#include "tests/unit/exam_fixture.h"
#include "ui/loop.h"

struct room {
	struct stage *stage;
	struct serve_feed *feed;
	const struct exam_watcher *w;
	cJSON *facts;
	struct scene scene;
};

static int come(void **state)
{
	struct room *r = calloc(1, sizeof(*r));
	struct exam *e = build_one_host();

	assert_non_null(r);
	r->stage = stage_new();
	r->feed = serve_feed_new(r->stage, loop_seconds_now());
	assert_non_null(r->feed);
	r->w = serve_feed_watcher(r->feed);
	r->facts = record_to_json(&facts_schema, e->facts[SIDE_LOCAL]);
	assert_non_null(r->facts);
	exam_free(e);
	*state = r;
	return 0;
}

static int leave(void **state)
{
	struct room *r = *state;

	/* As the program does it. */
	serve_feed_free(r->feed);
	stage_free(r->stage);
	cJSON_Delete(r->facts);
	free(r);
	return 0;
}

static const struct scene *look(struct room *r)
{
	stage_hold(r->stage, &r->scene);
	stage_release(r->stage);
	return &r->scene;
}

static struct peer_client_info client(unsigned int number)
{
	struct peer_client_info info = { .port = (uint16_t)(1000 + number),
					 .local_address = "10.0.0.1", .iperf3 = number % 2 };

	snprintf(info.address, sizeof(info.address), "10.0.%u.%u", number / 250, number % 250 + 2);
	return info;
}

static const struct run_spec spec = { .direction = RUN_FORWARD, .streams = 4, .window_ms = 1000 };

static void begin(struct room *r, const struct peer_client_info *info)
{
	struct end_live live = { .start_s = 0.1, .seconds = 0.1, .rate_bps = 5e9 };

	r->w->begins(r->w->state, info, &spec);
	r->w->live(r->w->state, info, &live, NULL);
}

/* An end as a run of 1 s leaves it, its rows in memory that the feed takes over. */
static void end_well(struct room *r, const struct peer_client_info *info)
{
	struct run_end end = {
		.present = true, .bytes = nd_u64(625000000), .window_ns = nd_u64(1000000000),
		.window = counters_new(0),
	};
	struct arena *mem = arena_new(0);

	assert_true(mem && end.window);
	r->w->ended(r->w->state, info, &spec, &end, mem);
}

static void one_client(void **state)
{
	struct room *r = *state;
	struct peer_client_info a = client(1);

	assert_int_equal(look(r)->nclients, 0);
	assert_null(r->scene.exam);
	r->w->facts(r->w->state, &a, r->facts);
	assert_int_equal(look(r)->nclients, 1);
	assert_string_equal(r->scene.clients[0].address, a.address);
	assert_false(r->scene.clients[0].running);
	assert_non_null(r->scene.exam);
	begin(r, &a);
	assert_true(look(r)->clients[0].running && r->scene.clients[0].shown);
	/* What the client sends is received here. */
	assert_true(r->scene.clients[0].rate_bps[RUN_REVERSE].v == 5e9);
	assert_int_not_equal(r->scene.clients[0].rate_bps[RUN_FORWARD].k, ND_KNOWN);
	assert_int_equal(r->scene.clients[0].direction, RUN_REVERSE);
	assert_int_equal(r->scene.progress.run, 1);
	assert_int_equal(history_count(r->scene.history[SIDE_LOCAL]), 1);
	end_well(r, &a);
	assert_false(look(r)->clients[0].running);
	assert_int_equal(r->scene.clients[0].runs, 1);
	assert_int_equal(r->scene.exam->nruns, 1);
	assert_non_null(r->scene.diagnosis);
	r->w->gone(r->w->state, &a);
	assert_int_equal(look(r)->nclients, 0);
	/* What was found stays. */
	assert_int_equal(r->scene.exam->nruns, 1);
}

static void a_client_both_ways(void **state)
{
	struct room *r = *state;
	struct peer_client_info a = client(1);
	const struct run_spec both = { .direction = RUN_FORWARD, .bidirectional = true,
				       .streams = 2, .window_ms = 1000 };
	struct end_live live = { .start_s = 0.1, .seconds = 0.1, .rate_bps = 5e9,
				 .received_bps = nd_f64(3e9) };

	r->w->facts(r->w->state, &a, r->facts);
	r->w->begins(r->w->state, &a, &both);
	/* Until something was seen no rate is one, not even 0. */
	assert_int_not_equal(look(r)->clients[0].rate_bps[RUN_REVERSE].k, ND_KNOWN);
	r->w->live(r->w->state, &a, &live, NULL);
	assert_true(look(r)->clients[0].rate_bps[RUN_REVERSE].v == 3e9);
	assert_true(r->scene.clients[0].rate_bps[RUN_FORWARD].v == 2e9);
	const struct history_sample *s = history_get(r->scene.history[SIDE_LOCAL], 0);
	assert_true(scene_sample_rate(s, SIDE_LOCAL, RUN_REVERSE).v == 3e9);
	assert_true(scene_sample_rate(s, SIDE_LOCAL, RUN_FORWARD).v == 2e9);
	/* Nobody has left yet; then it has, and when. */
	assert_null(r->scene.left);
	r->w->ended(r->w->state, &a, &both, NULL, NULL);
	assert_int_equal(look(r)->clients[0].since_s.k, ND_KNOWN);
	r->w->gone(r->w->state, &a);
	assert_non_null(look(r)->left);
	assert_string_equal(r->scene.left->address, a.address);
	assert_int_equal(r->scene.left->since_s.k, ND_KNOWN);
	assert_false(r->scene.left->running);
}

/* Those that nobody told of go as they came; a run that began nowhere ends nowhere. */
static void out_of_order(void **state)
{
	struct room *r = *state;
	struct peer_client_info a = client(1), b = client(2);
	struct peer_results none = { 0 };

	r->w->gone(r->w->state, &a);
	r->w->gone(r->w->state, &a);
	assert_int_equal(look(r)->nclients, 0);
	r->w->told(r->w->state, &b, &none);
	r->w->ended(r->w->state, &a, &spec, NULL, NULL);
	end_well(r, &a);
	r->w->gone(r->w->state, &a);
	r->w->gone(r->w->state, &b);
	r->w->gone(r->w->state, &b);
	assert_int_equal(look(r)->nclients, 0);
	cJSON *nonsense = cJSON_Parse("{\"host\": 7, \"links\": {\"a\": []}}");
	r->w->facts(r->w->state, &a, nonsense);
	cJSON_Delete(nonsense);
	begin(r, &a);
	end_well(r, &a);
	assert_int_equal(look(r)->nclients, 1);
	r->w->gone(r->w->state, &a);
	assert_int_equal(look(r)->nclients, 0);
}

/* The one that runs is shown; another that comes waits for its turn on the screen. */
static void two_clients(void **state)
{
	struct room *r = *state;
	struct peer_client_info a = client(1), b = client(2);

	r->w->facts(r->w->state, &a, r->facts);
	begin(r, &a);
	r->w->facts(r->w->state, &b, r->facts);
	begin(r, &b);
	assert_int_equal(look(r)->nclients, 2);
	assert_true(r->scene.clients[0].shown && !r->scene.clients[1].shown);
	assert_true(serve_feed_busy(r->feed));
	end_well(r, &b);
	assert_int_equal(look(r)->exam->nruns, 0);
	end_well(r, &a);
	assert_int_equal(look(r)->exam->nruns, 1);
	assert_false(serve_feed_busy(r->feed));
	begin(r, &b);
	assert_true(!look(r)->clients[0].shown && r->scene.clients[1].shown);
	/* Another client's is nothing to compare with. */
	assert_null(r->scene.before);
	r->w->gone(r->w->state, &a);
	r->w->gone(r->w->state, &b);
}

/* The same host once more: that is. */
static void a_client_again(void **state)
{
	struct room *r = *state;
	struct peer_client_info a = client(2), again = client(2);

	again.port++;
	r->w->facts(r->w->state, &a, r->facts);
	begin(r, &a);
	end_well(r, &a);
	r->w->gone(r->w->state, &a);
	r->w->facts(r->w->state, &again, r->facts);
	begin(r, &again);
	end_well(r, &again);
	assert_non_null(look(r)->before);
	assert_non_null(r->scene.diagnosis_before);
	assert_int_equal(r->scene.before->nruns, 1);
	r->w->gone(r->w->state, &again);
}

/* A day of runs of one client is bounded. */
static void many_runs(void **state)
{
	struct room *r = *state;
	struct peer_client_info a = client(1);

	r->w->facts(r->w->state, &a, r->facts);
	for (unsigned int i = 0; i < 40; i++) {
		begin(r, &a);
		end_well(r, &a);
		assert_in_range(look(r)->exam->nruns, 1, 16);
		assert_int_equal(r->scene.clients[0].runs, i + 1);
	}
	r->w->gone(r->w->state, &a);
}

static void more_clients_than_there_are_places(void **state)
{
	struct room *r = *state;
	const struct end_live idle = { .start_s = 1, .seconds = 1 };

	for (unsigned int i = 0; i < SCENE_MAX_CLIENTS + 50; i++) {
		struct peer_client_info a = client(i);
		begin(r, &a);
	}
	assert_int_equal(look(r)->nclients, SCENE_MAX_CLIENTS);
	size_t n = history_count(r->scene.history[SIDE_LOCAL]);
	serve_feed_idle(r->feed, &idle);
	assert_int_equal(history_count(look(r)->history[SIDE_LOCAL]), n);
	for (unsigned int i = 0; i < SCENE_MAX_CLIENTS + 50; i++) {
		struct peer_client_info a = client(i);
		end_well(r, &a);
		r->w->gone(r->w->state, &a);
	}
	assert_int_equal(look(r)->nclients, 0);
	serve_feed_idle(r->feed, &idle);
	assert_int_equal(history_count(look(r)->history[SIDE_LOCAL]), n + 1);
}

/* The host alone, until there is a client. */
static void host_before_clients(void **state)
{
	struct room *r = *state;
	struct exam *host = build_one_host();
	struct peer_client_info a = client(2);

	serve_feed_host(r->feed, host);
	assert_ptr_equal(look(r)->exam->facts[SIDE_LOCAL], host->facts[SIDE_LOCAL]);
	assert_int_equal(r->scene.nclients, 0);
	r->w->facts(r->w->state, &a, r->facts);
	assert_ptr_not_equal(look(r)->exam->facts[SIDE_LOCAL], host->facts[SIDE_LOCAL]);
	assert_null(r->scene.before);
	serve_feed_host(r->feed, host);
	assert_ptr_not_equal(look(r)->exam->facts[SIDE_LOCAL], host->facts[SIDE_LOCAL]);
	r->w->gone(r->w->state, &a);
	exam_free(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_client, come, leave),
		cmocka_unit_test_setup_teardown(a_client_both_ways, come, leave),
		cmocka_unit_test_setup_teardown(out_of_order, come, leave),
		cmocka_unit_test_setup_teardown(two_clients, come, leave),
		cmocka_unit_test_setup_teardown(a_client_again, come, leave),
		cmocka_unit_test_setup_teardown(many_runs, come, leave),
		cmocka_unit_test_setup_teardown(more_clients_than_there_are_places, come, leave),
		cmocka_unit_test_setup_teardown(host_before_clients, come, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

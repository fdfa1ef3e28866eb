/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run comes next, from what the exam holds so far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/plan.h"
#include "src/exam/suspicion.h"
#include "tests/unit/exam_fixture.h"

static struct plan_wishes wishes(void)
{
	return (struct plan_wishes){
		.base = { .streams = 4, .block_bytes = 131072, .warmup_ms = 1000,
			  .window_ms = 4000 },
		.forward = true, .reverse = true, .one_stream = true, .experiments = true,
		.budget_ms = 27000,
	};
}

static void measured_runs_come_first(void **state)
{
	struct exam *e = build_two_hosts();
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	assert_int_equal(plan_certain_runs(&w), 3);
	assert_true(plan_next(e, &w, 0, &p));
	assert_int_equal(p.purpose, RUN_ALL_STREAMS);
	assert_int_equal(p.spec.direction, RUN_FORWARD);
	assert_int_equal(p.spec.streams, 4);
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.4e9);
	assert_true(plan_next(e, &w, 5000, &p));
	assert_int_equal(p.spec.direction, RUN_REVERSE);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 6e9);
	/* One stream in the slower direction. */
	assert_true(plan_next(e, &w, 10000, &p));
	assert_int_equal(p.purpose, RUN_ONE_STREAM);
	assert_int_equal(p.spec.direction, RUN_REVERSE);
	assert_int_equal(p.spec.streams, 1);
	build_run(e, RUN_REVERSE, RUN_ONE_STREAM, 6e9);
	/* Nothing is suspect: no experiment. */
	assert_false(plan_next(e, &w, 15000, &p));
	exam_free(e);
}

static void both_at_once_follows_each_alone(void **state)
{
	struct exam *e = build_two_hosts();
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	w.both = true;
	w.base.latency = true;
	assert_int_equal(plan_certain_runs(&w), 4);
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.4e9);
	assert_true(plan_next(e, &w, 5000, &p));
	assert_int_equal(p.purpose, RUN_ALL_STREAMS);
	assert_false(p.spec.bidirectional);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 6e9);
	/* As many streams each way, and as long: it is compared with those. */
	assert_true(plan_next(e, &w, 10000, &p));
	assert_int_equal(p.purpose, RUN_BOTH_DIRECTIONS);
	assert_true(p.spec.bidirectional && p.spec.latency);
	assert_int_equal(p.spec.streams, 4);
	assert_int_equal(p.spec.window_ms, 4000);
	build_run(e, RUN_FORWARD, RUN_BOTH_DIRECTIONS, 1e9)->spec.bidirectional = true;
	/* Once, and the slower direction is the slower alone. */
	assert_true(plan_next(e, &w, 15000, &p));
	assert_int_equal(p.purpose, RUN_ONE_STREAM);
	assert_int_equal(p.spec.direction, RUN_REVERSE);
	assert_false(p.spec.bidirectional);
	exam_free(e);
}

static void a_run_that_stood_still_is_repeated_once(void **state)
{
	struct exam *e = build_two_hosts();
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	w.repeat = true;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9)->stood_still_us = nd_u64(2000000);
	assert_false(plan_next(e, &w, 26000, &p) && p.spec.direction == RUN_FORWARD);
	assert_true(plan_next(e, &w, 7000, &p));
	assert_int_equal(p.purpose, RUN_ALL_STREAMS);
	assert_int_equal(p.spec.direction, RUN_FORWARD);
	w.repeat = false;
	assert_true(plan_next(e, &w, 7000, &p));
	assert_int_equal(p.spec.direction, RUN_REVERSE);
	w.repeat = true;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9)->stood_still_us = nd_u64(2000000);
	assert_true(plan_next(e, &w, 12000, &p));
	assert_int_equal(p.spec.direction, RUN_REVERSE);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 6e9)->stood_still_us = nd_u64(0);
	assert_true(plan_next(e, &w, 17000, &p));
	assert_int_equal(p.purpose, RUN_ONE_STREAM);
	exam_free(e);
}

static void only_wanted_directions(void **state)
{
	struct exam *e = build_two_hosts();
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	w.forward = false;
	assert_true(plan_next(e, &w, 0, &p));
	assert_int_equal(p.spec.direction, RUN_REVERSE);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.4e9);
	w.one_stream = false;
	assert_false(plan_next(e, &w, 5000, &p));
	exam_free(e);
}

static void stalled_large_packets_are_made_small(void **state)
{
	struct exam *e = build_two_hosts();
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1000);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.4e9);
	/* A single stream would stall as well: straight to the experiment. */
	assert_true(plan_next(e, &w, 10000, &p));
	assert_int_equal(p.purpose, RUN_SMALL_SEGMENTS);
	assert_int_equal(p.spec.direction, RUN_FORWARD);
	assert_int_equal(p.spec.mss_bytes, PLAN_SMALL_MSS);
	exam_free(e);
}

static void set_congestion_control(struct run *r, const char *name)
{
	for (int s = 0; s < EXAM_ENDS; s++)
		for (size_t i = 0; i < r->ends[s].nflows; i++)
			r->ends[s].flows[i].congestion_control = nd_str(name);
}

static struct exam *measured_with(const char *congestion_control)
{
	struct exam *e = build_two_hosts();

	set_congestion_control(build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 5e9), congestion_control);
	set_congestion_control(build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 6e9), congestion_control);
	build_run(e, RUN_FORWARD, RUN_ONE_STREAM, 5e9);
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		struct sysctl_facts *sys = &build_facts(e, s)->sysctl;
		sys->tcp_available_congestion_control = nd_str("reno bbr cubic");
		sys->tcp_allowed_congestion_control = nd_str("reno bbr");
		build_facts(e, s)->host.net_admin = nd_bool(true);
	}
	return e;
}

static void bbr_is_compared_with_cubic(void **state)
{
	struct exam *e = measured_with("bbr");
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	assert_true(plan_next(e, &w, 15000, &p));
	assert_int_equal(p.purpose, RUN_OTHER_CONGESTION_CONTROL);
	assert_string_equal(p.spec.congestion_control, "cubic");
	assert_true(p.spec.window_ms < w.base.window_ms);
	/* Without CAP_NET_ADMIN only what the host allows everyone may be taken. */
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		build_facts(e, s)->host.net_admin = nd_bool(false);
	assert_true(plan_next(e, &w, 15000, &p));
	assert_string_equal(p.spec.congestion_control, "reno");
	/* No time left: no experiment. */
	assert_false(plan_next(e, &w, 26000, &p));
	/* The user's own choice is not questioned. */
	for (size_t i = 0; i < e->nruns; i++)
		strcpy(e->runs[i].spec.congestion_control, "bbr");
	assert_false(plan_next(e, &w, 15000, &p));
	exam_free(e);
}

static void cubic_needs_no_comparison(void **state)
{
	struct exam *e = measured_with("cubic");
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	assert_false(plan_next(e, &w, 15000, &p));
	exam_free(e);
}

static void packet_cost_is_asked_only_of_full_cpus(void **state)
{
	struct exam *e = measured_with("cubic");
	struct facts *f = build_facts(e, SIDE_LOCAL);
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	for (size_t i = 0; i < f->nfeatures; i++)
		if (nd_str_is(f->features[i].name, "tx-tcp-segmentation"))
			f->features[i].active = nd_bool(false);
	assert_true(nd_is_false(facts_feature_active(f, BUILD_IFINDEX, "tx-tcp-segmentation")));
	assert_false(plan_next(e, &w, 15000, &p));
	build_hot_core((struct run *)exam_main_run(e, RUN_FORWARD), SIDE_LOCAL, 1, 0.99, 0.1);
	assert_true(plan_next(e, &w, 15000, &p));
	assert_int_equal(p.purpose, RUN_HALF_SEGMENTS);
	assert_int_equal(p.spec.direction, RUN_FORWARD);
	assert_in_range(p.spec.mss_bytes, 700, 760);
	exam_free(e);
}

static void datagrams_get_no_experiment(void **state)
{
	struct exam *e = measured_with("bbr");
	struct facts *f = build_facts(e, SIDE_LOCAL);
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	/* As much under suspicion as can be: stalled, on BBR, a full core, offloads off. */
	for (size_t i = 0; i < f->nfeatures; i++)
		f->features[i].active = nd_bool(false);
	for (size_t i = 0; i < e->nruns; i++) {
		e->runs[i].goodput_bps = nd_u64(1000);
		build_hot_core(&e->runs[i], SIDE_LOCAL, 1, 0.99, 0.1);
		build_hot_core(&e->runs[i], SIDE_PEER, 1, 0.99, 0.1);
	}
	assert_true(plan_next(e, &w, 15000, &p));
	w.base.protocol = RUN_UDP;
	for (size_t i = 0; i < e->nruns; i++)
		e->runs[i].spec.protocol = RUN_UDP;
	assert_false(plan_next(e, &w, 15000, &p));
	exam_free(e);
}

static void experiments_end(void **state)
{
	struct exam *e = measured_with("bbr");
	struct plan_wishes w = wishes();
	struct planned_run p;
	unsigned int n = 0;

	(void)state;
	w.budget_ms = 0;
	while (n < 10 && plan_next(e, &w, 0, &p)) {
		set_congestion_control(build_run(e, p.spec.direction, p.purpose, 5e9), "cubic");
		n++;
	}
	assert_in_range(n, 1, PLAN_MAX_EXPERIMENTS);
	exam_free(e);
}

static void shortened_to_what_the_peer_allows(void **state)
{
	static const struct { uint64_t warmup, window; bool warmup_chosen, window_chosen;
			      uint64_t allowed_s, fitted_warmup, fitted_window; } cases[] = {
		{ 1000, 4000, false, false, 5, 1000, 4000 },
		{ 1000, 4000, false, false, 4, 800, 3200 },
		{ 1000, 4000, false, false, 1, 200, 800 },
		{ 1000, 3000, false, true, 3, 0, 3000 },
		{ 1000, 3000, false, true, 2, 1000, 3000 },	/* to be refused */
		{ 500, 3000, true, true, 3, 500, 3000 },
		{ 1000, 4000, true, false, 3, 1000, 2000 },
		{ 1800, 4000, true, false, 2, 1800, 4000 },	/* no room for a window */
		{ 100, 4000, false, false, 2, 100, 1900 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan_wishes w = wishes();
		w.base.warmup_ms = cases[i].warmup;
		w.base.window_ms = cases[i].window;
		w.warmup_chosen = cases[i].warmup_chosen;
		w.window_chosen = cases[i].window_chosen;
		assert_int_equal(plan_fit(&w, cases[i].allowed_s),
				 cases[i].warmup != cases[i].fitted_warmup ||
				 cases[i].window != cases[i].fitted_window);
		assert_int_equal(w.base.warmup_ms, cases[i].fitted_warmup);
		assert_int_equal(w.base.window_ms, cases[i].fitted_window);
	}
}

static void no_experiment_is_longer_than_its_run(void **state)
{
	struct exam *e = build_two_hosts();
	struct plan_wishes w = wishes();
	struct planned_run p;

	(void)state;
	w.base.warmup_ms = 200;
	w.base.window_ms = 800;
	w.reverse = false;
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e4);
	r->spec = w.base;
	assert_true(plan_next(e, &w, 0, &p));
	assert_int_equal(p.purpose, RUN_SMALL_SEGMENTS);
	assert_in_range(p.spec.warmup_ms + p.spec.window_ms, 500, 1000);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measured_runs_come_first),
		cmocka_unit_test(both_at_once_follows_each_alone),
		cmocka_unit_test(a_run_that_stood_still_is_repeated_once),
		cmocka_unit_test(only_wanted_directions),
		cmocka_unit_test(stalled_large_packets_are_made_small),
		cmocka_unit_test(bbr_is_compared_with_cubic),
		cmocka_unit_test(cubic_needs_no_comparison),
		cmocka_unit_test(packet_cost_is_asked_only_of_full_cpus),
		cmocka_unit_test(datagrams_get_no_experiment),
		cmocka_unit_test(experiments_end),
		cmocka_unit_test(shortened_to_what_the_peer_allows),
		cmocka_unit_test(no_experiment_is_longer_than_its_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

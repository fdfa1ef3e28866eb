/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/exam_builder.h"
#include "ui/history.h"
#include "ui/stage.h"

static struct history_sample sample(double at, double seconds, double rate)
{
	return (struct history_sample){ .at_s = at, .seconds = seconds, .run = 1,
					.received_bps = nd_f64(rate) };
}

static void a_day_takes_no_more_than_a_minute(void **state)
{
	enum { CORES = 512, DAY = 864000 };
	struct history *h = history_new();
	struct history_core *cores = calloc(CORES, sizeof(*cores));
	double sum = 0;

	(void)state;
	assert_non_null(h);
	assert_non_null(cores);
	for (unsigned int i = 0; i < CORES; i++)
		cores[i] = (struct history_core){ .cpu = (uint16_t)i, .busy = 100, .steal = 20 };
	for (unsigned int i = 0; i < DAY; i++) {
		struct history_sample s = sample(i / 10.0, 0.1, 1e9);
		/* The sum over time must survive the merging: half the day at twice the rate. */
		s.received_bps = nd_f64(i < DAY / 2 ? 1e9 : 2e9);
		s.cores = cores;
		s.ncores = i % 1000 ? 0 : CORES;
		assert_int_equal(history_add(h, &s), 0);
	}
	assert_true(history_count(h) <= HISTORY_MAX_SAMPLES);
	assert_true(history_bytes(h) < 8u << 20);
	assert_true(history_get(h, 0)->at_s == 0);
	double longest = 0;
	for (size_t i = 0; i < history_count(h); i++) {
		const struct history_sample *s = history_get(h, i);
		sum += s->seconds * s->received_bps.v;
		longest = fmax(longest, s->seconds);
		if (i)
			assert_true(s->at_s >= history_get(h, i - 1)->at_s);
	}
	assert_true(fabs(sum / (DAY / 10.0) - 1.5e9) < 1e7);
	/* Of about equal grain: no sample swallows the day, and the newest keep their detail. */
	assert_true(longest < 86400 / 20.0);
	assert_true(history_get(h, history_count(h) - 100)->seconds < 0.11);
	assert_int_equal(history_at(h, 1000) != NULL, 1);
	history_free(h);
	free(cores);
}

static void many_short_runs(void **state)
{
	struct history *h = history_new();

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		struct history_sample s = sample(i, 1, 1);
		s.run = i + 1;
		assert_int_equal(history_add(h, &s), 0);
	}
	assert_true(history_count(h) <= HISTORY_MAX_SAMPLES);
	assert_int_equal(history_get(h, history_count(h) - 1)->run, 5000);
	history_free(h);
}

static void rows_are_copied_and_bounded(void **state)
{
	static struct history_core cores[HISTORY_MAX_CORES + 1];
	static struct history_flow flows[HISTORY_MAX_FLOWS + 1];
	static struct history_queue queues[HISTORY_MAX_QUEUES + 1];
	static struct history_counter counters[HISTORY_MAX_COUNTERS + 1];
	static uint16_t workers[HISTORY_MAX_WORKERS + 1];
	struct history *h = history_new();
	struct history_sample s = sample(0, 1, 1);

	(void)state;
	workers[HISTORY_MAX_WORKERS - 1] = 9;
	flows[HISTORY_MAX_FLOWS - 1].rate_bps = 7;
	cores[3] = (struct history_core){ .cpu = 3, .busy = 190 };
	s.cores = cores, s.ncores = HISTORY_MAX_CORES + 1;
	s.flows = flows, s.nflows = HISTORY_MAX_FLOWS + 1;
	s.queues = queues, s.nqueues = HISTORY_MAX_QUEUES + 1;
	s.counters = counters, s.ncounters = HISTORY_MAX_COUNTERS + 1;
	s.workers = workers, s.nworkers = HISTORY_MAX_WORKERS + 1;
	assert_int_equal(history_add(h, &s), 0);
	memset(cores, 0, sizeof(cores));
	const struct history_sample *got = history_get(h, 0);
	assert_int_equal(got->ncores, HISTORY_MAX_CORES);
	assert_int_equal(got->nflows, HISTORY_MAX_FLOWS);
	assert_int_equal(got->nqueues, HISTORY_MAX_QUEUES);
	assert_int_equal(got->ncounters, HISTORY_MAX_COUNTERS);
	assert_int_equal(got->nworkers, HISTORY_MAX_WORKERS);
	assert_int_equal(got->workers[HISTORY_MAX_WORKERS - 1], 9);
	assert_true(got->flows[HISTORY_MAX_FLOWS - 1].rate_bps > 6);
	assert_int_equal(history_hot_core(got)->cpu, 3);
	assert_true(history_share(history_core(got, 3)->busy) > 0.94);
	assert_true(isnan(history_share(HISTORY_UNKNOWN)));
	/* A count without rows is none. */
	s.cores = NULL;
	s.at_s = 1;
	assert_int_equal(history_add(h, &s), 0);
	assert_int_equal(history_get(h, 1)->ncores, 0);
	assert_null(history_hot_core(history_get(h, 1)));
	history_free(h);
}

static void times_that_are_none(void **state)
{
	static const double bad[] = { NAN, -1, HUGE_VAL, -HUGE_VAL, 1e300 };
	struct history *h = history_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct history_sample s = sample(bad[i], 1, 1);
		assert_int_equal(history_add(h, &s), -EINVAL);
		s = sample(1, bad[i], 1);
		assert_int_equal(history_add(h, &s), -EINVAL);
	}
	assert_int_equal(history_count(h), 0);
	assert_null(history_at(h, 5));
	/* Clocks that jump back: the order stays. */
	struct history_sample s = sample(5, 1, 1);
	assert_int_equal(history_add(h, &s), 0);
	s = sample(5.5, 1, 2);
	assert_int_equal(history_add(h, &s), 0);
	s = sample(2, 1, 3);
	assert_int_equal(history_add(h, &s), 0);
	assert_true(history_get(h, 1)->at_s == 6 && history_get(h, 1)->seconds == 0.5);
	assert_true(history_get(h, 2)->at_s == 6.5);
	assert_null(history_at(h, 4.9));
	assert_true(history_at(h, 6.2)->received_bps.v == 2);
	assert_true(history_at(h, 1e6)->received_bps.v == 3);
	history_free(h);
}

static void runs_are_told_anew(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6e9);
	struct stage *stage = stage_new();
	const struct history_flow flow = { .flow = 7 };
	struct scene scene = { 0 };

	(void)state;
	build_hot_core(r, SIDE_PEER, 3, 0.98, 0.9);
	for (unsigned int i = 0; i < 20; i++) {
		struct history_sample s = sample(i / 10.0, 0.1, 1);
		s.warm = i < 10;
		s.flows = &flow;
		s.nflows = 1;
		stage_sample(stage, SIDE_PEER, &s);
	}
	stage_exam(stage, e, NULL);
	stage_run_ended(stage, 1, 1);
	/* No such run: nothing happens. */
	stage_run_ended(stage, 0, 1);
	stage_run_ended(stage, 9, 1);
	stage_over(stage, "lost \033[2J");
	stage_hold(stage, &scene);
	const struct history *h = scene.history[SIDE_PEER];
	assert_int_equal(history_count(h), 10 + r->ends[SIDE_PEER].nintervals);
	assert_true(history_get(h, 0)->warm);
	const struct history_sample *last = history_get(h, history_count(h) - 1);
	assert_true(fabs(last->received_bps.v - 6e9) < 6e8);
	assert_int_equal(history_hot_core(last)->cpu, 3);
	/* What the intervals do not tell stays. */
	assert_int_equal(history_at(h, 1.5)->nflows, 1);
	assert_int_equal(history_at(h, 1.5)->flows[0].flow, 7);
	assert_null(strchr(scene.problem, '\033'));
	assert_int_equal(scene.progress.phase, SCENE_OVER);
	stage_release(stage);
	stage_again(stage);
	stage_hold(stage, &scene);
	assert_null(scene.exam);
	assert_ptr_equal(scene.before->mem, e->mem);
	assert_int_equal(history_count(scene.history[SIDE_PEER]), 0);
	stage_release(stage);
	/* It goes on growing, and is freed by its owner. */
	stage_exam(stage, e, NULL);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 6e9);
	stage_hold(stage, &scene);
	assert_int_equal(scene.exam->nruns, 1);
	stage_release(stage);
	stage_forget(stage, e);
	exam_free(e);
	stage_hold(stage, &scene);
	assert_null(scene.exam);
	assert_null(scene.before);
	stage_release(stage);
	stage_free(stage);
}

/* Each end of a run both ways tells of both directions, and each is its own. */
static void both_ways(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6e9);
	struct history *h = history_new();

	(void)state;
	assert_non_null(h);
	r->spec.bidirectional = true;
	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		struct run_end *end = &r->ends[side];
		assert_true(end->nintervals > 1);
		for (size_t i = 0; i < end->nintervals; i++) {
			end->intervals[i].seconds = nd_f64(0.1);
			end->intervals[i].bytes = nd_u64(100000000);
			end->intervals[i].received_bytes =
				nd_u64(side == SIDE_PEER ? 75000000 : 25000000);
		}
		end->intervals[1].received_bytes = nd_u64_unknown(ND_UNREAD);
		assert_int_equal(history_add_run(h, r, 1, side, 0), 0);
		const struct history_sample *s = history_get(h, 0);
		assert_true(s->bidirectional);
		assert_true(fabs(s->received_bps.v - (side == SIDE_PEER ? 6e9 : 2e9)) < 1);
		assert_true(fabs(s->sent_bps.v - (side == SIDE_PEER ? 2e9 : 6e9)) < 1);
		assert_int_equal(history_get(h, 1)->sent_bps.k, ND_UNREAD);
		assert_int_equal(history_get(h, 1)->received_bps.k, ND_UNREAD);
		history_clear(h);
	}
	history_free(h);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_day_takes_no_more_than_a_minute),
		cmocka_unit_test(many_short_runs),
		cmocka_unit_test(rows_are_copied_and_bounded),
		cmocka_unit_test(times_that_are_none),
		cmocka_unit_test(runs_are_told_anew),
		cmocka_unit_test(both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

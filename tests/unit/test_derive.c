/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/exam.h"

#include <stdarg.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/model_test.h"

static void usable_runs(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, GBIT);

	(void)state;
	assert_true(run_usable(r));
	r->status = RUN_INCOMPLETE;
	r->seconds = nd_f64(0.5);
	assert_true(run_usable(r));
	r->seconds = nd_f64(0.4);
	assert_false(run_usable(r));
	r->seconds = nd_f64_unknown(ND_UNREAD);
	assert_false(run_usable(r));
	r->seconds = nd_f64(4);
	r->goodput_bps = nd_u64_unknown(ND_RESET);
	assert_false(run_usable(r));
	r->goodput_bps = nd_u64(1);
	r->status = RUN_FAILED;
	assert_false(run_usable(r));
	exam_free(e);
}

static void the_latest_usable_run_counts(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *first, *second, *third;

	(void)state;
	assert_null(exam_main_run(e, RUN_FORWARD));
	first = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, GBIT);
	second = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 2 * GBIT);
	third = build_run(e, RUN_FORWARD, RUN_ONE_STREAM, 3 * GBIT);
	assert_ptr_equal(exam_main_run(e, RUN_FORWARD), second);
	assert_null(exam_main_run(e, RUN_REVERSE));
	assert_ptr_equal(exam_run_for(e, RUN_FORWARD, RUN_ONE_STREAM), third);
	assert_null(exam_run_for(e, RUN_FORWARD, RUN_DISCARD_RECEIVE));
	second->status = RUN_FAILED;
	assert_ptr_equal(exam_main_run(e, RUN_FORWARD), first);
	exam_free(e);
}

static void hot_core_is_one_of_ours(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, GBIT);
	struct run_end *end = &r->ends[SIDE_PEER];

	(void)state;
	build_hot_core(r, SIDE_PEER, 2, 0.8, 0.5);
	build_hot_core(r, SIDE_PEER, 3, 1, 0);
	end->window->workers[3].cpu = nd_u64(0);
	assert_int_equal(end_hot_core(end)->cpu.v, 2);
	/* A thread that was last on it may be what fills it. */
	end->window->workers[3].cpu = nd_u64(3);
	assert_int_equal(end_hot_core(end)->cpu.v, 3);
	/* With nothing known about either, the busiest it is. */
	end->window->nworkers = 0;
	for (size_t i = 0; i < end->ncores; i++)
		end->cores[i].softirq = end->cores[i].irq = nd_f64_unknown(ND_UNREAD);
	assert_int_equal(end_hot_core(end)->cpu.v, 3);
	exam_free(e);
}

static void cores_of_an_end(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, GBIT);
	struct run_end *end = &r->ends[SIDE_PEER];

	(void)state;
	build_hot_core(r, SIDE_PEER, 2, 0.8, 0.5);
	assert_int_equal(end_hot_core(end)->cpu.v, 2);
	assert_near(end_mean_busy(end).v, (0.8 + 3 * 0.2) / 4, 1e-9);
	/* A core that was not read is neither idle nor busy. */
	end->cores[2].busy = nd_f64_unknown(ND_RESET);
	assert_near(end_hot_core(end)->busy.v, 0.2, 1e-9);
	assert_near(end_mean_busy(end).v, 0.2, 1e-9);
	end->ncores = 0;
	assert_null(end_hot_core(end));
	assert_int_equal(end_mean_busy(end).k, ND_UNREAD);
	build_unseen_end(r, SIDE_LOCAL);
	assert_null(end_hot_core(&r->ends[SIDE_LOCAL]));
	exam_free(e);
}

static void workers_of_an_end(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, GBIT);
	struct run_end *end = &r->ends[SIDE_LOCAL];
	struct worker_sample *w = end->window->workers;

	(void)state;
	assert_near(end_busiest_worker(end).v, 0.1, 1e-9);
	assert_near(end_worker_cores(end).v, 0.4, 1e-9);
	w[1].cpu_us = nd_u64(3800000);
	w[1].run_delay_us = nd_u64(400000);
	assert_near(end_busiest_worker(end).v, 0.95, 1e-9);
	assert_near(end_worker_cores(end).v, 1.25, 1e-9);
	assert_near(end_worker_wait(end).v, 0.1, 1e-9);
	/* Without the exact clock the accounted time stands in. */
	w[1].cpu_us = nd_u64_unknown(ND_NOT_SUPPORTED);
	assert_near(end_worker_cores(end).v, 0.4, 1e-9);
	for (size_t i = 0; i < end->window->nworkers; i++)
		w[i].run_delay_us = nd_u64_unknown(ND_NOT_PERMITTED);
	assert_int_equal(end_worker_wait(end).k, ND_NOT_PERMITTED);
	end->window_ns = nd_u64(0);
	assert_int_equal(end_busiest_worker(end).k, ND_UNREAD);
	build_unseen_end(r, SIDE_LOCAL);
	assert_int_equal(end_worker_cores(end).k, ND_UNREAD);
	exam_free(e);
}

static void flows_of_an_end(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, GBIT);
	struct run_end *end = &r->ends[SIDE_LOCAL];

	(void)state;
	end->flows[0].rtt_us = nd_f64(1000);
	end->flows[1].rtt_us = nd_f64_unknown(ND_UNREAD);
	assert_near(END_FLOW_MEAN(end, rtt_us).v, (1000 + 6 * 350.0) / 7, 1e-9);
	end->flows[3].min_rtt_us = nd_u64(7);
	assert_int_equal(END_FLOW_MIN(end, min_rtt_us).v, 7);
	end->flows[2].retransmits = nd_u64(5);
	end->flows[4].retransmits = nd_u64_unknown(ND_RESET);
	assert_int_equal(END_FLOW_SUM(end, retransmits).v, 5);
	assert_int_equal(END_FLOW_SUM(end, timeouts).k, ND_NOT_SUPPORTED);
	assert_int_equal(END_FLOW_MIN(end, timeouts).k, ND_NOT_SUPPORTED);
	assert_int_equal(END_FLOW_MEAN(end, rcv_wnd_bytes).k, ND_NOT_SUPPORTED);
	end->flows[0].bytes = nd_u64(UINT64_MAX);
	assert_int_equal(END_FLOW_SUM(end, bytes).k, ND_INVALID);
	end->flows[0].congestion_control = nd_str_unknown(ND_ABSENT);
	end->flows[1].congestion_control = nd_str("vegas");
	assert_string_equal(end_congestion_control(end), "vegas");
	end->present = false;
	assert_null(end_congestion_control(end));
	end->present = true;
	end->nflows = 0;
	assert_null(end_congestion_control(end));
	assert_int_equal(END_FLOW_SUM(end, bytes).k, ND_UNREAD);
	assert_int_equal(END_FLOW_MEAN(end, rtt_us).k, ND_UNREAD);
	exam_free(e);
}

static struct link_facts *add_link(struct facts *f, uint64_t ifindex, const char *kind,
				   uint64_t lower)
{
	struct link_facts *l = arena_append_row(f->mem, (void **)&f->links, &f->nlinks, sizeof(*l));

	assert_non_null(l);
	l->ifindex = nd_u64(ifindex);
	l->kind = nd_str(kind);
	l->lower_ifindex = lower ? nd_u64(lower) : nd_u64_unknown(ND_NOT_APPLICABLE);
	return l;
}

static void line_rates(void **state)
{
	struct exam *e = build_two_hosts();
	struct facts *f = build_facts(e, SIDE_LOCAL);

	(void)state;
	assert_near(exam_line_rate(e, SIDE_LOCAL).v, 10e9, 0);
	/* A VLAN on the port: the port's rate. */
	add_link(f, 7, "vlan", BUILD_IFINDEX);
	f->route.ifindex = nd_u64(7);
	assert_int_equal(exam_egress(e, SIDE_LOCAL)->ifindex.v, 7);
	assert_int_equal(exam_port(e, SIDE_LOCAL)->ifindex.v, BUILD_IFINDEX);
	assert_near(exam_line_rate(e, SIDE_LOCAL).v, 10e9, 0);
	/* A bond of two: the bond's own rate, which is the sum. */
	add_link(f, 8, "bond", 0)->speed_mbps = nd_u64(20000);
	build_link(e, SIDE_LOCAL)->master_ifindex = nd_u64(8);
	f->route.ifindex = nd_u64(8);
	assert_near(exam_line_rate(e, SIDE_LOCAL).v, 20e9, 0);
	/* What the user says comes first. */
	e->wishes.link_speed_bps = nd_u64(25000000000);
	assert_near(exam_line_rate(e, SIDE_PEER).v, 25e9, 0);
	exam_free(e);
}

static void line_rates_nobody_knows(void **state)
{
	struct exam *e = build_two_hosts();
	struct facts *f = build_facts(e, SIDE_LOCAL);

	(void)state;
	build_link(e, SIDE_LOCAL)->speed_mbps = nd_u64(UINT32_MAX);
	assert_int_equal(exam_line_rate(e, SIDE_LOCAL).k, ND_INVALID);
	build_link(e, SIDE_LOCAL)->speed_mbps = nd_u64(0);
	assert_int_equal(exam_line_rate(e, SIDE_LOCAL).k, ND_INVALID);
	build_link(e, SIDE_LOCAL)->speed_mbps = nd_u64_unknown(ND_NOT_APPLICABLE);
	assert_int_equal(exam_line_rate(e, SIDE_LOCAL).k, ND_NOT_APPLICABLE);
	/* Links of a hostile report that point at each other: an answer, and no loop. */
	add_link(f, 7, "vlan", 8);
	add_link(f, 8, "vlan", 7);
	f->route.ifindex = nd_u64(7);
	assert_int_not_equal(exam_line_rate(e, SIDE_LOCAL).k, ND_KNOWN);
	f->route.ifindex = nd_u64_unknown(ND_UNREAD);
	assert_null(exam_port(e, SIDE_LOCAL));
	assert_int_equal(exam_line_rate(e, SIDE_LOCAL).k, ND_UNREAD);
	exam_free(e);
	e = build_one_host();
	assert_null(exam_egress(e, SIDE_PEER));
	assert_null(exam_port(e, SIDE_PATH));
	assert_int_equal(exam_line_rate(e, SIDE_PEER).k, ND_UNREAD);
	exam_free(e);
}

static void how_evenly_an_end_was_sampled(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	struct run_end *end = &r->ends[SIDE_PEER];
	struct end_sampling s;

	(void)state;
	r->spec.window_ms = 4000;
	end->window_ns = nd_u64(5000000000);
	end->nintervals = 40;
	assert_true(end_sampling_of(r, SIDE_PEER, &s));
	assert_near(s.error, 0.25, 1e-9);
	assert_near(s.expected, 40, 0);
	/* The worse of both counts. */
	end->nintervals = 10;
	assert_true(end_sampling_of(r, SIDE_PEER, &s));
	assert_near(s.error, 0.75, 1e-9);
	/* More samples than a window has room for is nobody's lateness. */
	end->window_ns = nd_u64(4000000000);
	end->nintervals = 41;
	assert_true(end_sampling_of(r, SIDE_PEER, &s));
	assert_near(s.error, 0, 1e-9);
	end->nintervals = 0;
	assert_true(end_sampling_of(r, SIDE_PEER, &s));
	assert_near(s.error, 0, 1e-9);
	end->window_ns = nd_u64_unknown(ND_RESET);
	assert_false(end_sampling_of(r, SIDE_PEER, &s));
	r->spec.window_ms = 0;
	assert_false(end_sampling_of(r, SIDE_LOCAL, &s));
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usable_runs),
		cmocka_unit_test(the_latest_usable_run_counts),
		cmocka_unit_test(cores_of_an_end),
		cmocka_unit_test(hot_core_is_one_of_ours),
		cmocka_unit_test(workers_of_an_end),
		cmocka_unit_test(flows_of_an_end),
		cmocka_unit_test(line_rates),
		cmocka_unit_test(line_rates_nobody_knows),
		cmocka_unit_test(how_evenly_an_end_was_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

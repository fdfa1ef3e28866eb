/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run says as a whole, from its two ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/conclude.h"
#include "tests/unit/exam_builder.h"

/* A run of a second with one flow each way, as both ends saw it. */
struct both_ways { struct run r; struct flow_summary flows[EXAM_ENDS][2]; };

static void fill_end(struct both_ways *b, enum side s, uint64_t sent, uint64_t received)
{
	struct run_end *e = &b->r.ends[s];

	e->present = true;
	e->window_ns = nd_u64(1000000000);
	e->broken_flows = nd_u64(0);
	e->flows = b->flows[s];
	e->nflows = 2;
	/* Flow 0 goes the way of the run. */
	b->flows[s][s == SIDE_LOCAL ? 0 : 1].direction = nd_str("send");
	b->flows[s][s == SIDE_LOCAL ? 0 : 1].bytes = nd_u64(sent);
	b->flows[s][s == SIDE_LOCAL ? 1 : 0].direction = nd_str("receive");
	b->flows[s][s == SIDE_LOCAL ? 1 : 0].bytes = nd_u64(received);
	e->bytes = nd_u64(sent + received);
}

static struct run *build(struct both_ways *b)
{
	memset(b, 0, sizeof(*b));
	b->r.spec = (struct run_spec){ .streams = 1, .window_ms = 1000, .bidirectional = true };
	fill_end(b, SIDE_LOCAL, 1100, 200);
	fill_end(b, SIDE_PEER, 220, 1000);
	return &b->r;
}

static void a_pause_spoils_a_run(void **state)
{
	static const struct { uint64_t held_us, asleep_us, window_ms; bool spoilt; } cases[] = {
		{ 100000, 0, 1000, false },
		{ 1499999, 0, 2000, false },
		{ 1500000, 0, 2000, true },
		{ 2000000, 0, 11000, false },
		{ 2300000, 0, 11000, true },
		{ 0, 3000000, 4000, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arena *mem = arena_new(0);
		struct both_ways b;
		struct run *r = build(&b);

		r->spec.window_ms = cases[i].window_ms;
		for (int side = 0; side < EXAM_ENDS; side++)
			r->ends[side].window_ns = nd_u64(cases[i].window_ms * 1000000);
		r->ends[SIDE_PEER].held_up_us = nd_u64(cases[i].held_us);
		r->ends[SIDE_PEER].suspended_us = nd_u64(cases[i].asleep_us);
		run_conclude(r, 0, NULL, mem);
		assert_int_equal(r->status, cases[i].spoilt ? RUN_INCOMPLETE : RUN_COMPLETE);
		assert_int_equal(run_stood_still(r), cases[i].spoilt);
		assert_int_equal(run_usable(r), !cases[i].spoilt);
		if (cases[i].spoilt)
			assert_non_null(strstr(r->problem.v, "the peer stood still for"));
		arena_free(mem);
	}
}

/* It could not even measure, but it knows why. */
static void an_end_that_slept_through_its_window(void **state)
{
	struct arena *mem = arena_new(0);
	struct both_ways b;
	struct run *r = build(&b);

	(void)state;
	r->ends[SIDE_LOCAL].present = false;
	r->ends[SIDE_LOCAL].problem = nd_str("it ended before its measured window");
	r->ends[SIDE_LOCAL].held_up_us = nd_u64(2500000);
	run_conclude(r, 0, NULL, mem);
	assert_non_null(strstr(r->problem.v, "this host stood still for 2.5 s"));
	assert_true(run_stood_still(r));
	arena_free(mem);
}

static void each_direction_has_its_rate(void **state)
{
	struct arena *mem = arena_new(0);
	struct both_ways b;
	struct run *r = build(&b);

	(void)state;
	run_conclude(r, 0, NULL, mem);
	assert_int_equal(r->status, RUN_COMPLETE);
	assert_true(nd_u64_is(r->goodput_bps, 8000));
	assert_true(nd_u64_is(r->other_goodput_bps, 1600));
	r = build(&b);
	r->spec.direction = RUN_REVERSE;
	run_conclude(r, 0, NULL, mem);
	assert_true(nd_u64_is(r->goodput_bps, 1600));
	assert_true(nd_u64_is(r->other_goodput_bps, 8000));
	arena_free(mem);
}

static void a_lost_peer_leaves_what_was_sent(void **state)
{
	struct arena *mem = arena_new(0);
	struct both_ways b;
	struct run *r = build(&b);

	(void)state;
	r->ends[SIDE_PEER] = (struct run_end){ .present = false };
	run_conclude(r, 0, NULL, mem);
	assert_int_equal(r->status, RUN_INCOMPLETE);
	assert_true(nd_u64_is(r->goodput_bps, 8800));
	assert_true(nd_u64_is(r->other_goodput_bps, 1600));
	/* The sender is lost: what we sent the other way. */
	r = build(&b);
	r->spec.direction = RUN_REVERSE;
	r->ends[SIDE_PEER] = (struct run_end){ .present = false };
	run_conclude(r, 0, NULL, mem);
	assert_true(nd_u64_is(r->goodput_bps, 1600));
	assert_true(nd_u64_is(r->other_goodput_bps, 8800));
	arena_free(mem);
}

static void one_way_has_no_other(void **state)
{
	struct arena *mem = arena_new(0);
	struct both_ways b;
	struct run *r = build(&b);

	(void)state;
	r->spec.bidirectional = false;
	run_conclude(r, 0, NULL, mem);
	assert_true(nd_u64_is(r->goodput_bps, 1220 * 8));	/* all that this end moved */
	assert_int_equal(r->other_goodput_bps.k, ND_UNREAD);
	arena_free(mem);
}

static void hostile_counts(void **state)
{
	struct arena *mem = arena_new(0);
	struct both_ways b;
	struct run *r = build(&b);

	(void)state;
	b.flows[SIDE_PEER][0].bytes = nd_u64(UINT64_MAX);
	b.flows[SIDE_PEER][1].direction = nd_str("receive");
	b.flows[SIDE_LOCAL][1].bytes = nd_u64_unknown(ND_INVALID);
	run_conclude(r, 0, NULL, mem);
	assert_int_equal(r->goodput_bps.k, ND_INVALID);
	assert_int_equal(r->other_goodput_bps.k, ND_INVALID);
	r = build(&b);
	b.flows[SIDE_PEER][0].bytes = nd_u64(UINT64_MAX);
	r->ends[SIDE_PEER].window_ns = nd_u64(1);
	run_conclude(r, 0, NULL, mem);
	assert_int_equal(r->goodput_bps.k, ND_INVALID);
	arena_free(mem);
}

/* 400 Mbit/s for 2 s, less a hundredth; the receiver's own window began 0.8 s late. */
static struct run *build_marked(struct both_ways *b)
{
	memset(b, 0, sizeof(*b));
	b->r.spec = (struct run_spec){ .protocol = RUN_UDP, .streams = 1, .window_ms = 2000,
				       .udp_marks = true };
	fill_end(b, SIDE_LOCAL, 100000000, 0);
	fill_end(b, SIDE_PEER, 0, 99000000);
	b->r.ends[SIDE_LOCAL].window_ns = nd_u64(2001000000);
	b->r.ends[SIDE_LOCAL].marked_ns = nd_u64(2000000000);
	b->r.ends[SIDE_PEER].window_ns = nd_u64(1200000000);
	b->r.ends[SIDE_PEER].marked_ns = nd_u64(1200000000);
	for (int s = 0; s < EXAM_ENDS; s++)
		b->r.ends[s].nflows = 1;
	b->flows[SIDE_PEER][0].direction = nd_str("receive");
	b->flows[SIDE_PEER][0].bytes = nd_u64(99000000);
	b->flows[SIDE_PEER][0].packets = nd_u64(99000);
	b->flows[SIDE_PEER][0].lost = nd_u64(1000);
	return &b->r;
}

static void marked_datagrams_took_the_senders_time(void **state)
{
	struct arena *mem = arena_new(0);
	struct both_ways b;
	struct run *r = build_marked(&b);

	(void)state;
	run_conclude(r, 0, NULL, mem);
	assert_int_equal(r->status, RUN_COMPLETE);
	assert_true(nd_u64_is(r->goodput_bps, 396000000));
	assert_true(r->seconds.k == ND_KNOWN && r->seconds.v == 2.0);
	assert_true(r->loss.k == ND_KNOWN && r->loss.v == 0.01);
	assert_true(nd_u64_is(b.flows[SIDE_PEER][0].goodput_bps, 396000000));
	assert_true(nd_u64_is(b.flows[SIDE_LOCAL][0].goodput_bps, 400000000));
	/* Its CPU shares are of its own window still. */
	assert_true(nd_u64_is(r->ends[SIDE_PEER].window_ns, 1200000000));
	/* An older sender tells its window alone. */
	r = build_marked(&b);
	r->ends[SIDE_LOCAL].marked_ns = nd_u64_unknown(ND_UNREAD);
	r->ends[SIDE_LOCAL].window_ns = nd_u64(1980000000);
	run_conclude(r, 0, NULL, mem);
	assert_true(nd_u64_is(r->goodput_bps, 400000000));
	/* An older receiver counted by its clock; so did one that lost its sender. */
	r = build_marked(&b);
	r->ends[SIDE_PEER].marked_ns = nd_u64_unknown(ND_UNREAD);
	run_conclude(r, 0, NULL, mem);
	assert_true(nd_u64_is(r->goodput_bps, 660000000));
	r = build_marked(&b);
	r->ends[SIDE_LOCAL] = (struct run_end){ .present = false };
	run_conclude(r, 0, NULL, mem);
	assert_int_equal(r->status, RUN_INCOMPLETE);
	arena_free(mem);
}

static void a_sliver_of_a_window_is_incomplete(void **state)
{
	struct arena *mem = arena_new(0);
	struct both_ways b;

	(void)state;
	for (int what = 0; what < 4; what++) {
		struct run *r = build_marked(&b);
		struct run_end *e = &r->ends[what % 2];
		*(what < 2 ? &e->window_ns : &e->marked_ns) = nd_u64(50000000);
		run_conclude(r, 0, NULL, mem);
		assert_int_equal(r->status, RUN_INCOMPLETE);
		assert_non_null(strstr(r->problem.v, "measured only 0.050 of 2 s"));
	}
	struct run *r = build_marked(&b);
	r->ends[SIDE_LOCAL].marked_ns = nd_u64(0);
	run_conclude(r, 0, NULL, mem);
	assert_int_equal(r->status, RUN_INCOMPLETE);
	arena_free(mem);
}

/* The idle path is measured once, before the first run. */
static void growth_of_round_trips(void **state)
{
	struct run r[2] = { { .idle.p50_us = nd_f64(50), .loaded.p50_us = nd_f64(4000) },
			    { .loaded.p50_us = nd_f64(100) } };
	struct exam e = { .runs = r, .nruns = 2 };

	(void)state;
	assert_true(run_latency_growth(&e, &r[0]).v == 80);
	assert_true(run_latency_growth(&e, &r[1]).v == 2);
	assert_ptr_equal(exam_idle(&e), &r[0].idle);
	r[0].idle.p50_us = nd_f64(0);
	assert_int_equal(run_latency_growth(&e, &r[0]).k, ND_INVALID);
	r[0].idle.p50_us = nd_f64_unknown(ND_ABSENT);
	assert_int_equal(run_latency_growth(&e, &r[0]).k, ND_UNREAD);
	assert_null(exam_idle(&e));
	r[0].idle.p50_us = nd_f64(1);
	r[1].loaded.p50_us = nd_f64_unknown(ND_ABSENT);
	assert_int_equal(run_latency_growth(&e, &r[1]).k, ND_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_spoils_a_run),
		cmocka_unit_test(an_end_that_slept_through_its_window),
		cmocka_unit_test(each_direction_has_its_rate),
		cmocka_unit_test(a_lost_peer_leaves_what_was_sent),
		cmocka_unit_test(one_way_has_no_other),
		cmocka_unit_test(hostile_counts),
		cmocka_unit_test(marked_datagrams_took_the_senders_time),
		cmocka_unit_test(a_sliver_of_a_window_is_incomplete),
		cmocka_unit_test(growth_of_round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

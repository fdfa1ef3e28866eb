/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rung of shapers, pacing and rates that were asked for. */
#include "src/diagnose/engine.h"

#include <stdarg.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/ladder_test.h"

static void shapers_of_the_sender(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.95 * GBIT);
	struct qdisc_facts *q;
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	assert_null(find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL));
	fixture_add_qdisc(e, SIDE_PEER, "tbf", 500000000);
	assert_null(find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL));
	fixture_add_qdisc(e, SIDE_LOCAL, "tbf", 1000000000);
	c = find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL);
	assert_true(c->known);
	assert_int_equal(c->basis, BASIS_CONFIGURED);
	assert_near(c->high_bps / 1e9, 0.956, 0.0005);
	assert_string_equal(c->subject, "tbf 2:0 on eth0");
	/* A class that carried us counts with what it may borrow; one that did not, not at all. */
	q = fixture_add_qdisc(e, SIDE_LOCAL, "htb", 100000000);
	q->is_class = nd_bool(true);
	q->ceil_bps = nd_u64(800000000);
	fixture_qdisc_bytes(r, q, 1000);
	assert_near(find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL)->high_bps / 1e9, 0.956,
		    0.0005);
	r->ends[SIDE_LOCAL].window->qdiscs[0].bytes = r->ends[SIDE_LOCAL].window->links[0].tx_bytes;
	c = find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL);
	assert_near(c->high_bps / 1e9, 0.8 * 1448 / 1514, 0.0005);
	assert_string_equal(c->subject, "htb class 3:0 on eth0");
	exam_free(e);
}

static void a_run_both_ways_keeps_its_rate_in_both(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.4 * GBIT);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	r->spec.rate_bps = 100000000;
	r->spec.streams = 4;
	assert_null(find(e, &l, RUN_REVERSE, CEILING_SHAPER, SIDE_PEER));
	r->spec.bidirectional = true;
	c = find(e, &l, RUN_REVERSE, CEILING_SHAPER, SIDE_PEER);
	assert_true(c->known && c->asked_for);
	assert_near(c->high_bps, 0.4 * GBIT, 1);
	exam_free(e);
}

static void pacing_is_for_each_flow(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.7 * GBIT);
	struct ladder l;

	(void)state;
	fixture_add_qdisc(e, SIDE_LOCAL, "fq", 200000000);
	assert_near(find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL)->high_bps / 1e9,
		    1.6 * 1448 / 1514, 0.0005);
	r->spec.pacing_bps = 100000000;
	/* Of frames where fq counts, of payload where TCP does. */
	assert_near(find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL)->low_bps / 1e9,
		    0.8 * 1448 / 1514, 0.0005);
	assert_near(find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL)->high_bps / 1e9, 0.8,
		    0.0005);
	exam_free(e);
}

static void a_rate_of_ours_counts_payload(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.7 * GBIT);
	const struct ceiling *c;
	struct ladder l;

	(void)state;
	r->spec.rate_bps = 100000000;
	c = find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL);
	assert_true(c->asked_for);
	assert_near(c->low_bps / 1e9, 0.8, 0.0005);
	assert_near(c->high_bps / 1e9, 0.8, 0.0005);
	assert_non_null(ladder_rate_limit(&l, RUN_FORWARD, 0.79e9));
	/* What is lower limits: pacing, or a qdisc that nobody asked for. */
	r->spec.pacing_bps = 50000000;
	assert_near(find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL)->high_bps / 1e9, 0.4,
		    0.0005);
	fixture_add_qdisc(e, SIDE_LOCAL, "tbf", 300000000);
	c = find(e, &l, RUN_FORWARD, CEILING_SHAPER, SIDE_LOCAL);
	assert_false(c->asked_for);
	assert_near(c->high_bps / 1e9, 0.3 * 1448 / 1514, 0.0005);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapers_of_the_sender),
		cmocka_unit_test(a_run_both_ways_keeps_its_rate_in_both),
		cmocka_unit_test(pacing_is_for_each_flow),
		cmocka_unit_test(a_rate_of_ours_counts_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

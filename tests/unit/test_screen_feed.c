/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the conductor tells of flows, and what the screen then knows of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/cli/screen_feed.h"

static const struct history_flow *told(struct screen_feed *f, struct beat_flow flow)
{
	struct beat b = { .seconds = 2, .flows = &flow, .nflows = 1 };

	screen_feed_flows(f, SIDE_LOCAL, &b);
	assert_int_equal(f->nflows[SIDE_LOCAL], 1);
	return &f->flows[SIDE_LOCAL][0];
}

/* A flow of datagrams has no windows: what nobody counted is no share, least of all all of it. */
static void test_unknown_shares(void **state)
{
	struct screen_feed *f = calloc(1, sizeof(*f));

	(void)state;
	assert_non_null(f);
	const struct history_flow *h = told(f, (struct beat_flow){
		.flow = nd_u64(0), .direction = nd_str("send"), .bytes = nd_u64(1000),
	});
	assert_true(isnan(h->busy));
	assert_true(isnan(h->rwnd_limited));
	assert_true(isnan(h->sndbuf_limited));
	assert_true(isnan(h->cwnd_bytes));
	assert_float_equal(h->rate_bps, 4000, 0.1);
	free(f);
}

static void test_known_shares(void **state)
{
	struct screen_feed *f = calloc(1, sizeof(*f));

	(void)state;
	assert_non_null(f);
	/* Read a moment later than the interval ended: no more than all of it. */
	const struct history_flow *h = told(f, (struct beat_flow){
		.flow = nd_u64(0), .direction = nd_str("send"), .busy_us = nd_u64(2000100),
		.rwnd_limited_us = nd_u64(500000), .sndbuf_limited_us = nd_u64(0),
	});
	assert_float_equal(h->busy, 1, 1e-9);
	assert_float_equal(h->rwnd_limited, 0.25, 1e-6);
	assert_float_equal(h->sndbuf_limited, 0, 1e-9);
	free(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_shares),
		cmocka_unit_test(test_known_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/loss.h"

#include "tests/unit/model_test.h"

#define MSS 1448.0

/*
 * Measured on a delay box, Mbit/s.  The printed round trips leave out the queue: the box
 * showed 10.5 to 10.9 ms for "10 ms" and 2.3 ms for "2 ms"; with those the formula gives the
 * figures noted for it, and measurements are within 25 %.
 */
static const struct {
	enum loss_law law;
	double rtt_ms, loss, measured, formula;
} runs[] = {
	{ LOSS_LAW_RENO, 10.5, 1e-3, 43, 44 },
	{ LOSS_LAW_RENO, 10.9, 1e-2, 10, 13 },
	{ LOSS_LAW_CUBIC, 10.5, 1e-3, 42, 43 },
	{ LOSS_LAW_CUBIC, 10.9, 9.5e-3, 12, 12.6 },
	{ LOSS_LAW_CUBIC, 2.3, 1.2e-4, 518, 557 },
	{ LOSS_LAW_CUBIC, 2.2, 9e-4, 178, 213 },
	{ LOSS_LAW_CUBIC, 42, 1e-3, 12, 10.7 },
};

static void measured_losses(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		double rtt = runs[i].rtt_ms / 1000;
		double rate = runs[i].law == LOSS_LAW_RENO ? loss_reno_bps(MSS, rtt, runs[i].loss) :
							     loss_cubic_bps(MSS, rtt, runs[i].loss);

		assert_within(rate / 1e6, runs[i].formula, 0.06);
		assert_within(runs[i].measured, rate / 1e6, 0.25);
	}
}

static void cubic_is_never_slower_than_reno(void **state)
{
	static const struct { double rtt_s, crossover; } cases[] = {
		{ 0.001, 5.57e-10 }, { 0.010, 5.6e-7 }, { 0.050, 7e-5 }, { 0.100, 5.6e-4 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		double rtt = cases[i].rtt_s, p = loss_cubic_crossover(rtt);

		assert_within(p, cases[i].crossover, 0.01);
		assert_within(loss_cubic_region_bps(MSS, rtt, p), loss_reno_bps(MSS, rtt, p), 1e-9);
		assert_true(loss_cubic_bps(MSS, rtt, p / 10) >
			    1.5 * loss_reno_bps(MSS, rtt, p / 10));
		assert_near(loss_cubic_bps(MSS, rtt, p * 10), loss_reno_bps(MSS, rtt, p * 10), 0);
	}
}

static void what_ten_gigabit_tolerates(void **state)
{
	(void)state;
	assert_within(loss_tolerated(LOSS_LAW_RENO, 1448, 0.001, 10e9), 2e-6, 0.05);
	assert_within(loss_tolerated(LOSS_LAW_RENO, 8948, 0.001, 10e9), 8e-5, 0.05);
	assert_within(loss_tolerated(LOSS_LAW_RENO, 1448, 0.010, 10e9), 2e-8, 0.05);
	assert_within(loss_tolerated(LOSS_LAW_RENO, 8948, 0.010, 10e9), 8e-7, 0.05);
	/* The inverse of the rate, in both regions. */
	assert_within(loss_cubic_bps(MSS, 0.1, loss_tolerated(LOSS_LAW_CUBIC, MSS, 0.1, 10e9)),
		      10e9, 1e-6);
	assert_within(loss_cubic_bps(MSS, 0.001, loss_tolerated(LOSS_LAW_CUBIC, MSS, 0.001, 1e9)),
		      1e9, 1e-6);
	assert_near(loss_tolerated(LOSS_LAW_NONE, MSS, 0.01, 1e9), 0, 0);
	assert_within(loss_reno_bps(8948, 0.01, 1e-4) / loss_reno_bps(1448, 0.01, 1e-4), 6.2,
		      0.005);
}

static void laws_by_name(void **state)
{
	(void)state;
	assert_int_equal(loss_law_of("cubic"), LOSS_LAW_CUBIC);
	assert_int_equal(loss_law_of("reno"), LOSS_LAW_RENO);
	assert_int_equal(loss_law_of("bbr"), LOSS_LAW_NONE);
	assert_int_equal(loss_law_of(""), LOSS_LAW_NONE);
	assert_int_equal(loss_law_of(NULL), LOSS_LAW_NONE);
}

static void ceilings_need_events_and_a_law(void **state)
{
	struct loss_input in = {
		.law = LOSS_LAW_CUBIC, .mss = MSS, .rtt_s = 0.01, .loss = 1e-3, .streams = 8,
		.events = 30,
	};
	double low = -1, high = -1, one = loss_cubic_bps(MSS, 0.01, 1e-3);

	(void)state;
	assert_true(loss_ceiling(&in, &low, &high));
	assert_within(low, 8 * one * 0.75, 1e-9);
	assert_within(high, 8 * one * 1.25, 1e-9);
	low = high = -1;
	in.events = 29;
	assert_false(loss_ceiling(&in, &low, &high));
	in.events = 1000;
	in.law = LOSS_LAW_NONE;
	assert_false(loss_ceiling(&in, &low, &high));
	in.law = LOSS_LAW_RENO;
	in.loss = 0;
	assert_false(loss_ceiling(&in, &low, &high));
	in.loss = 2;
	assert_false(loss_ceiling(&in, &low, &high));
	in.loss = 1e-3;
	in.rtt_s = 0;
	assert_false(loss_ceiling(&in, &low, &high));
	assert_true(low < 0 && high < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measured_losses),
		cmocka_unit_test(cubic_is_never_slower_than_reno),
		cmocka_unit_test(what_ten_gigabit_tolerates),
		cmocka_unit_test(laws_by_name),
		cmocka_unit_test(ceilings_need_events_and_a_law),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

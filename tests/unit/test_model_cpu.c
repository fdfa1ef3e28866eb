/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/cpu.h"

#include <errno.h>

#include "tests/unit/model_test.h"

static void worked_core(void **state)
{
	/* 6.0 Gbit/s on core 3: softirq 0.55 and application 0.43. */
	const double costs[] = { cpu_cost(0.55, 6.0), cpu_cost(0.43, 6.0) };
	const double jumbo[] = { 0.03, costs[1] };

	(void)state;
	assert_near(costs[0], 0.092, 0.0005);
	assert_near(costs[1], 0.072, 0.0005);
	assert_near(cpu_shared_core_bps(costs, 2), 6.1, 0.05);
	assert_near(cpu_core_bps(6.0, 0.98), 6.1, 0.05);
	assert_near(cpu_pipeline_bps(costs, 2, false), 9.3, 0.05);
	/* Against the wire: the gain of 3.3. */
	assert_near(fmin(cpu_pipeline_bps(costs, 2, false), 9.41) - 6.0, 3.3, 0.05);
	assert_near(cpu_pipeline_bps(costs, 2, true), 9.27 / 0.85 * 0.8, 0.01);
	assert_near(cpu_shared_core_bps(jumbo, 2), 9.8, 0.05);
}

static void stolen_time_is_gone(void **state)
{
	(void)state;
	assert_near(cpu_with_steal(10, 0.2), 8, 1e-9);
	assert_near(cpu_with_steal(10, -1), 10, 0);
	assert_near(cpu_with_steal(10, 2), 0, 0);
}

static void unknown_shares_have_no_rate(void **state)
{
	(void)state;
	assert_near(cpu_cost(0, 6), 0, 0);
	assert_near(cpu_cost(0.5, 0), 0, 0);
	assert_near(cpu_core_bps(6, 0), 0, 0);
	assert_near(cpu_core_bps(6, NAN), 0, 0);
	assert_near(cpu_shared_core_bps(NULL, 0), 0, 0);
	assert_near(cpu_pipeline_bps(NULL, 0, false), 0, 0);
}

static const double flows[] = { 2, 4, 8, 16, 32, 64 };
static const double queues[] = { 2, 4, 8, 16, 32 };
static const double simulated[6][5] = {
	{ 1.3, 1.6, 1.8, 1.9, 1.9 }, { 1.5, 1.9, 2.4, 3.0, 3.4 }, { 1.6, 2.3, 3.1, 3.9, 4.8 },
	{ 1.7, 2.6, 3.8, 5.2, 6.7 }, { 1.8, 2.9, 4.5, 6.6, 9.1 }, { 1.8, 3.2, 5.2, 8.1, 11.8 },
};

static void simulated_points(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < 6; i++)
		for (j = 0; j < 5; j++)
			assert_near(cpu_effective_queues(flows[i], queues[j]), simulated[i][j],
				    1e-9);
}

/* Two queues can be counted by hand: n / E[max(k, n - k)] over the binomial distribution. */
static void two_queues_exactly(void **state)
{
	static const struct { double n, expected_max; } cases[] = {
		{ 2, 1.5 }, { 4, 44.0 / 16 }, { 8, 5.09375 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_near(cpu_effective_queues(cases[i].n, 2), cases[i].n / cases[i].expected_max,
			    0.06);
}

static void between_the_points(void **state)
{
	double f, q, last;

	(void)state;
	assert_near(cpu_effective_queues(1, 32), 1, 0);
	assert_near(cpu_effective_queues(64, 1), 1, 0);
	for (q = 1; q <= 32; q++) {
		last = 0;
		for (f = 1; f <= 80; f++) {
			double k = cpu_effective_queues(f, q);

			assert_true(k >= last && k >= 1 && k <= f && k <= q);
			last = k;
		}
	}
	assert_true(cpu_effective_queues(12, 8) > 3.1 && cpu_effective_queues(12, 8) < 3.8);
	/* Beyond the table the last point counts: a lower bound stays one. */
	assert_near(cpu_effective_queues(1000, 64), 11.8, 1e-9);
	assert_near(cpu_effective_queues(0, 8), 0, 0);
	assert_near(cpu_effective_queues(8, NAN), 0, 0);
}

/* Cost 2 us a packet and 0.1 ns a byte on one full core. */
static struct cpu_packet_run synthetic(double segment)
{
	double per_byte = 2e-6 / segment + 1e-10;

	return (struct cpu_packet_run){ 8 / per_byte, 1, segment };
}

static void packet_cost_is_found_again(void **state)
{
	struct cpu_packet_run small = synthetic(536), full = synthetic(1448);
	struct cpu_packet_cost c;
	double low, high, truth = synthetic(65536).rate_bps;

	(void)state;
	assert_int_equal(cpu_packet_cost_solve(&small, &full, &c), 0);
	assert_within(c.per_packet_s, 2e-6, 1e-6);
	assert_within(c.per_byte_s, 1e-10, 1e-6);
	assert_int_equal(cpu_packet_cost_predict(&small, &full, 65536, 1, 0, &low, &high), 0);
	assert_within(low, truth, 1e-6);
	assert_within(high, truth, 1e-6);
	/* With the noise of real runs the far end is wide, and the truth inside it. */
	assert_int_equal(cpu_packet_cost_predict(&small, &full, 65536, 1, 0.03, &low, &high), 0);
	assert_true(low < truth && truth < high);
	assert_true(high > 1.5 * low);
	/* Inside what was measured it is tight. */
	assert_int_equal(cpu_packet_cost_predict(&small, &full, 1448, 1, 0.03, &low, &high), 0);
	assert_true(low > 0.96 * full.rate_bps && high < 1.04 * full.rate_bps);
}

static void an_honest_prediction_never_passes_all_packet_cost(void **state)
{
	/* All the cost is in packets: 45 times the segment is 45 times the rate, no more. */
	struct cpu_packet_run small = { 2e9, 1, 724 }, full = { 4e9, 1, 1448 };
	double low, high;

	(void)state;
	assert_int_equal(cpu_packet_cost_predict(&small, &full, 65160, 1, 0.03, &low, &high), 0);
	assert_true(high <= 4e9 * 45 * 1.04);
	assert_true(low > 4e9);
}

static void runs_that_say_nothing(void **state)
{
	struct cpu_packet_run a = synthetic(1448), near = synthetic(1300), b = synthetic(724);
	struct cpu_packet_run worse = { a.rate_bps / 3, 1, 9000 };
	struct cpu_packet_cost c;
	double low, high;

	(void)state;
	assert_int_equal(cpu_packet_cost_solve(&a, &near, &c), -ERANGE);
	assert_int_equal(cpu_packet_cost_solve(&a, &worse, &c), -ERANGE);
	b.cores_used = 0;
	assert_int_equal(cpu_packet_cost_solve(&a, &b, &c), -EINVAL);
	b = synthetic(724);
	assert_int_equal(cpu_packet_cost_predict(&a, &b, 0, 1, 0.03, &low, &high), -EINVAL);
	assert_int_equal(cpu_packet_cost_predict(&a, &b, 9000, 0, 0.03, &low, &high), -EINVAL);
	assert_int_equal(cpu_packet_cost_predict(&a, &b, 9000, 1, 1, &low, &high), -EINVAL);
	/* Size makes no difference: all the cost is in bytes, and no size helps. */
	b = (struct cpu_packet_run){ a.rate_bps * 1.01, 1, 724 };
	assert_int_equal(cpu_packet_cost_solve(&a, &b, &c), 0);
	assert_near(c.per_packet_s, 0, 0);
	assert_within(8 / c.per_byte_s, a.rate_bps, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_core),
		cmocka_unit_test(stolen_time_is_gone),
		cmocka_unit_test(unknown_shares_have_no_rate),
		cmocka_unit_test(simulated_points),
		cmocka_unit_test(two_queues_exactly),
		cmocka_unit_test(between_the_points),
		cmocka_unit_test(packet_cost_is_found_again),
		cmocka_unit_test(an_honest_prediction_never_passes_all_packet_cost),
		cmocka_unit_test(runs_that_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

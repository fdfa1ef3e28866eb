/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/histogram.h"

static void test_empty(void **state)
{
	struct histogram h = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(histogram_quantile(&h, 0.5).k, ND_ABSENT);
	histogram_merge(&h, &other);
	assert_int_equal(h.count, 0);
	assert_int_equal(histogram_quantile(&h, 1).k, ND_ABSENT);
}

/* Two equal times in the middle of others, so that no exact minimum or maximum answers. */
static double middle_of(uint64_t ns)
{
	struct histogram h = { 0 };

	histogram_add(&h, 0);
	for (int i = 0; i < 8; i++)
		histogram_add(&h, ns);
	histogram_add(&h, UINT64_MAX);
	return histogram_quantile(&h, 0.5).v;
}

static void test_error_over_the_whole_range(void **state)
{
	(void)state;
	for (double us = 1; us <= 60e6; us *= 1.003) {
		uint64_t ns = (uint64_t)(us * 1000);

		if (fabs(middle_of(ns) - (double)ns) > 0.03 * (double)ns)
			fail_msg("%.3f us became %.3f us", us, middle_of(ns) / 1000);
	}
	/* Both sides of each octave's edge. */
	for (unsigned int bit = 10; bit < 36; bit++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t ns = (UINT64_C(1) << bit) + (uint64_t)d;

			if (ns <= HISTOGRAM_MOST_NS &&
			    fabs(middle_of(ns) - (double)ns) > 0.03 * (double)ns)
				fail_msg("%llu ns", (unsigned long long)ns);
		}
	}
	/* Order is kept. */
	double last = 0;
	for (uint64_t ns = 0; ns < 5000; ns++) {
		assert_true(middle_of(ns) >= last);
		last = middle_of(ns);
	}
}

static void test_quantiles(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		histogram_add(&h, i * 10000);
	assert_true(histogram_quantile(&h, 0).v == 10000);
	assert_true(histogram_quantile(&h, 1).v == 10000000);
	assert_true(fabs(histogram_quantile(&h, 0.5).v - 5e6) < 0.03 * 5e6);
	assert_true(fabs(histogram_quantile(&h, 0.9).v - 9e6) < 0.03 * 9e6);
	assert_true(fabs(histogram_quantile(&h, 0.99).v - 9.9e6) < 0.03 * 9.9e6);
	/* A rank of 999 of 1000: the largest but one. */
	assert_true(histogram_quantile(&h, 0.999).v <= 10000000);
	assert_true(histogram_quantile(&h, 0.999).v >= 0.97 * 9.99e6);
}

static void test_single(void **state)
{
	static const double q[] = { 0, 0.5, 0.999, 1 };
	struct histogram h = { 0 };

	(void)state;
	histogram_add(&h, 123456789);
	for (size_t i = 0; i < ARRAY_SIZE(q); i++)
		assert_true(histogram_quantile(&h, q[i]).v == 123456789);
}

static void test_hostile(void **state)
{
	struct histogram h = { 0 }, full;

	(void)state;
	histogram_add(&h, 0);
	histogram_add(&h, UINT64_MAX);
	assert_true(histogram_quantile(&h, 0).v == 0);
	assert_true(histogram_quantile(&h, 1).v == (double)UINT64_MAX);
	assert_int_equal(histogram_quantile(&h, -0.1).k, ND_INVALID);
	assert_int_equal(histogram_quantile(&h, 1.1).k, ND_INVALID);
	assert_int_equal(histogram_quantile(&h, NAN).k, ND_INVALID);
	/* Sums that do not fit stay at the most. */
	memset(&full, 0xff, sizeof(full));
	histogram_merge(&h, &full);
	assert_true(h.count == UINT64_MAX);
	histogram_add(&h, 5000);
	assert_true(h.count == UINT64_MAX);
	assert_int_equal(histogram_quantile(&h, 0.5).k, ND_KNOWN);
}

static void test_merge(void **state)
{
	struct histogram a = { 0 }, b = { 0 }, all = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 500; i++) {
		histogram_add(i % 3 ? &a : &b, i * i * 100);
		histogram_add(&all, i * i * 100);
	}
	histogram_merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(a));
	memset(&b, 0, sizeof(b));
	histogram_merge(&b, &all);
	assert_memory_equal(&b, &all, sizeof(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_error_over_the_whole_range),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

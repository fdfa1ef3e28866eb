/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The series that a report keeps of a long run: bounded, and no byte is lost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/exam/series.h"

static void add_step(struct interval_series *s, size_t i, double busy)
{
	struct core_load core = { .cpu = nd_u64(0), .busy = nd_f64(busy) };
	struct end_interval iv = {
		.start_s = nd_f64((double)i * 0.1), .seconds = nd_f64(0.1),
		.bytes = nd_u64(1000 + i), .retransmits = nd_u64(1), .cores = &core, .ncores = 1,
	};

	assert_int_equal(series_add(s, &iv), 0);
}

static void assert_whole(const struct interval_series *s, size_t steps, size_t max)
{
	struct arena *mem = arena_new(0);
	struct end_interval *rows;
	uint64_t bytes = 0, again = 0, want = 0;
	double seconds = 0;
	size_t n;

	assert_int_equal(series_copy(s, mem, &rows, &n), 0);
	assert_in_range(n, steps < max ? steps : max / 2, max);
	for (size_t i = 0; i < n; i++) {
		assert_true(fabs(rows[i].start_s.v - seconds) < 1e-6);
		bytes += rows[i].bytes.v;
		again += rows[i].retransmits.v;
		seconds += rows[i].seconds.v;
	}
	for (size_t i = 0; i < steps; i++)
		want += 1000 + i;
	assert_int_equal(bytes, want);
	assert_int_equal(again, steps);
	assert_true(fabs(seconds - (double)steps * 0.1) < 1e-6);
	arena_free(mem);
}

static void long_runs_are_thinned(void **state)
{
	struct interval_series *s = series_new(8);

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		add_step(s, i, 0.5);
		assert_whole(s, i + 1, 8);
	}
	series_free(s);
}

static void shares_are_weighed(void **state)
{
	struct interval_series *s = series_new(2);
	struct arena *mem = arena_new(0);
	struct end_interval *rows;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		add_step(s, i, i < 2 ? 1.0 : 0.5);
	assert_int_equal(series_copy(s, mem, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_true(fabs(rows[0].cores[0].busy.v - 1.0) < 1e-9);
	assert_true(fabs(rows[1].cores[0].busy.v - 0.5) < 1e-9);
	series_free(s);
	arena_free(mem);
}

static void unknown_stays_unknown(void **state)
{
	struct interval_series *s = series_new(2);
	struct arena *mem = arena_new(0);
	struct end_interval *rows, iv = { .start_s = nd_f64(0.3), .seconds = nd_f64(0.1),
					  .bytes = nd_u64_unknown(ND_RESET) };
	size_t n;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		add_step(s, i, 1);
	assert_int_equal(series_add(s, &iv), 0);
	assert_int_equal(series_copy(s, mem, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[1].bytes.k, ND_RESET);
	assert_int_equal(rows[0].bytes.v, 2001);
	series_free(s);
	arena_free(mem);
}

static void a_cut_forgets_what_came_after(void **state)
{
	struct interval_series *s = series_new(100);

	(void)state;
	for (size_t i = 0; i < 10; i++)
		add_step(s, i, 1);
	series_cut(s, 0.7);
	assert_whole(s, 7, 100);
	series_cut(s, 0);
	assert_whole(s, 0, 100);
	series_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_runs_are_thinned),
		cmocka_unit_test(shares_are_weighed),
		cmocka_unit_test(unknown_stays_unknown),
		cmocka_unit_test(a_cut_forgets_what_came_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing what a model computes with a printed figure. */
#ifndef ND_TESTS_UNIT_MODEL_TEST_H
#define ND_TESTS_UNIT_MODEL_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* |got - wanted| <= tolerance; prints both when not. */
#define assert_near(got_, wanted_, tolerance_) \
	near_or_fail((got_), (wanted_), (tolerance_), #got_, __FILE__, __LINE__)
/* The same, relative to the wanted value. */
#define assert_within(got_, wanted_, share_) \
	near_or_fail((got_), (wanted_), fabs(wanted_) * (share_), #got_, __FILE__, __LINE__)

static inline void near_or_fail(double got, double wanted, double tolerance, const char *what,
				const char *file, int line)
{
	if (fabs(got - wanted) <= tolerance)
		return;
	print_error("%s is %.6g, not %.6g within %.3g\n", what, got, wanted, tolerance);
	_fail(file, line);
}

#endif

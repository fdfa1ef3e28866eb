/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A histogram of times from 1 us to a minute, in constant memory.
 *
 * Log-linear: 32 equal buckets an octave, so that a percentile is off by 2 % at most (below 1 us
 * by 16 ns).  Smallest and largest are exact.  Two of them can be merged.  Pure; one
 * thread at a time.
 */
#ifndef ND_CORE_HISTOGRAM_H
#define ND_CORE_HISTOGRAM_H

#include "src/core/value.h"

enum {
	HISTOGRAM_UNIT_NS = 32,
	HISTOGRAM_OCTAVE_BUCKETS = 32,
	/* 2 * 32 units, then an octave each up to 2^31 units: 68 s. */
	HISTOGRAM_BUCKETS = 2 * HISTOGRAM_OCTAVE_BUCKETS + 25 * HISTOGRAM_OCTAVE_BUCKETS
};
#define HISTOGRAM_MOST_NS (UINT64_C(60) * 1000000000)

/* Zeroed: empty. */
struct histogram {
	uint64_t count;
	uint64_t min_ns, max_ns;	/* exact, also beyond what the buckets hold */
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* More than HISTOGRAM_MOST_NS falls into the last bucket. */
void histogram_add(struct histogram *h, uint64_t ns);
void histogram_merge(struct histogram *to, const struct histogram *from);
/*
 * The time that a share q (0..1) of all do not exceed, in ns: the smallest for 0, the largest
 * for 1.  Unknown (ND_ABSENT) when empty, ND_INVALID for a q that is no share.
 */
struct nd_f64 histogram_quantile(const struct histogram *h, double q);

#endif

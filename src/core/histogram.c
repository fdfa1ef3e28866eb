/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/histogram.h"

#include <math.h>

enum { LINEAR = 2 * HISTOGRAM_OCTAVE_BUCKETS };

static size_t bucket_of(uint64_t ns)
{
	uint64_t units = (ns < HISTOGRAM_MOST_NS ? ns : HISTOGRAM_MOST_NS) / HISTOGRAM_UNIT_NS;

	if (units < LINEAR)
		return (size_t)units;
	/* Keeps the highest bit and the five below it: 32 .. 63, and how far they were shifted. */
	unsigned int shift = 58 - (unsigned int)__builtin_clzll(units);
	return (size_t)shift * HISTOGRAM_OCTAVE_BUCKETS + (size_t)(units >> shift);
}

/* Where a bucket begins, and how wide it is. */
static double bucket_low_ns(size_t bucket, double *width_ns)
{
	uint64_t units = bucket, width = 1;

	if (bucket >= LINEAR) {
		size_t shift = bucket / HISTOGRAM_OCTAVE_BUCKETS - 1;
		width = UINT64_C(1) << shift;
		units = (bucket - shift * HISTOGRAM_OCTAVE_BUCKETS) * width;
	}
	*width_ns = (double)width * HISTOGRAM_UNIT_NS;
	return (double)units * HISTOGRAM_UNIT_NS;
}

static uint64_t saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	if (!h->count || ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->count = saturating(h->count, 1);
	h->buckets[bucket_of(ns)]++;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	if (!from->count)
		return;
	if (!to->count || from->min_ns < to->min_ns)
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	to->count = saturating(to->count, from->count);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->buckets[i] = saturating(to->buckets[i], from->buckets[i]);
}

struct nd_f64 histogram_quantile(const struct histogram *h, double q)
{
	double rank, below = 0, width;

	if (!(q >= 0 && q <= 1))
		return nd_f64_unknown(ND_INVALID);
	if (!h->count)
		return nd_f64_unknown(ND_ABSENT);
	rank = fmax(ceil(q * (double)h->count), 1);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += (double)h->buckets[i];
		if (below < rank)
			continue;
		double middle = bucket_low_ns(i, &width) + width / 2;
		/* The outermost are known better than their buckets. */
		if (rank <= 1)
			return nd_f64((double)h->min_ns);
		if (rank >= (double)h->count)
			return nd_f64((double)h->max_ns);
		return nd_f64(fmin(fmax(middle, (double)h->min_ns), (double)h->max_ns));
	}
	return nd_f64((double)h->max_ns);
}

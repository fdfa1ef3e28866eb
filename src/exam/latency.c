/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/latency.h"

static struct nd_f64 microseconds(const struct histogram *h, double q)
{
	struct nd_f64 ns = histogram_quantile(h, q);

	return ns.k == ND_KNOWN ? nd_f64(ns.v / 1e3) : ns;
}

void latency_of(const struct histogram *h, uint64_t unanswered, struct latency *out)
{
	*out = (struct latency){
		.samples = nd_u64(h->count),
		.unanswered = nd_u64(unanswered),
		.min_us = microseconds(h, 0),
		.p50_us = microseconds(h, 0.5),
		.p90_us = microseconds(h, 0.9),
		.p99_us = microseconds(h, 0.99),
		.p999_us = microseconds(h, 0.999),
		.max_us = microseconds(h, 1),
	};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/limits.h"

enum {
	SHARE_BYTES = 1024 * 1024,
	/* Later than this (the path or the CPU held us up) is given up, not caught up. */
	PACE_MAX_LAG_NS = 100 * 1000 * 1000
};

uint64_t amount_of(const struct run_spec *spec)
{
	uint64_t bytes;

	if (!spec->total_blocks)
		return spec->total_bytes;
	if (__builtin_mul_overflow(spec->total_blocks, spec->block_bytes, &bytes))
		return UINT64_MAX;
	return spec->total_bytes && spec->total_bytes < bytes ? spec->total_bytes : bytes;
}

/* In a warm-up: more than anybody sends, and far from overflowing. */
#define WARMUP_BYTES (UINT64_MAX / 4)

void amount_open(struct amount *a, const struct run_spec *spec, uint64_t senders)
{
	bool warmup = spec->warmup_ms != 0;

	a->total = amount_of(spec);
	if (a->total > WARMUP_BYTES)
		a->total = WARMUP_BYTES;
	a->senders = senders ? senders : 1;
	atomic_store_explicit(&a->left, warmup ? WARMUP_BYTES : a->total, memory_order_relaxed);
	atomic_store_explicit(&a->goal, warmup ? 0 : a->total, memory_order_relaxed);
}

void amount_begin(struct amount *a, uint64_t sent_before)
{
	uint64_t end = sent_before + a->total, taken;
	uint64_t left = atomic_load_explicit(&a->left, memory_order_relaxed);

	do {
		taken = WARMUP_BYTES - left;
	} while (!atomic_compare_exchange_weak_explicit(&a->left, &left,
							taken < end ? end - taken : 0,
							memory_order_relaxed,
							memory_order_relaxed));
	atomic_store_explicit(&a->goal, taken < end ? end : taken, memory_order_relaxed);
}

uint64_t amount_take_some(struct amount *a, uint64_t want)
{
	uint64_t left = atomic_load_explicit(&a->left, memory_order_relaxed), share;

	do {
		share = want < left ? want : left;
	} while (share && !atomic_compare_exchange_weak_explicit(&a->left, &left, left - share,
								 memory_order_relaxed,
								 memory_order_relaxed));
	return share;
}

uint64_t amount_take(struct amount *a, uint64_t block_bytes)
{
	uint64_t left = atomic_load_explicit(&a->left, memory_order_relaxed), share;

	do {
		/* Smaller shares towards the end, so that all flows have work until then. */
		share = left / (2 * a->senders);
		if (share > SHARE_BYTES)
			share = SHARE_BYTES;
		share -= share % block_bytes;
		if (share < block_bytes)
			share = block_bytes;
		if (share > left)
			share = left;
	} while (share && !atomic_compare_exchange_weak_explicit(&a->left, &left, left - share,
								 memory_order_relaxed,
								 memory_order_relaxed));
	return share;
}

void amount_return(struct amount *a, uint64_t bytes)
{
	atomic_fetch_add_explicit(&a->left, bytes, memory_order_relaxed);
}

void pace_open(struct pace *p, uint64_t rate_bps, uint64_t burst_bytes, uint64_t now_ns)
{
	p->ns_per_byte = rate_bps ? 8e9 / (double)rate_bps : 0;
	p->burst_bytes = burst_bytes ? burst_bytes : 1;
	p->burst_left = 0;
	p->due_ns = (double)now_ns;
}

uint64_t pace_grant(struct pace *p, uint64_t want, uint64_t now_ns)
{
	if (p->burst_left == 0) {
		double now = (double)now_ns;

		if (p->due_ns > now)
			return 0;
		if (now - p->due_ns > PACE_MAX_LAG_NS)
			p->due_ns = now - PACE_MAX_LAG_NS;
		p->burst_left = p->burst_bytes;
	}
	return want < p->burst_left ? want : p->burst_left;
}

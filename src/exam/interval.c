/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/interval.h"

#include <errno.h>
#include <string.h>

static struct nd_f64 share(struct nd_u64 part, double total)
{
	if (part.k != ND_KNOWN)
		return nd_f64_unknown(part.k);
	return total > 0 ? nd_f64((double)part.v / total) : nd_f64_unknown(ND_INVALID);
}

static struct nd_u64 plus(struct nd_u64 a, struct nd_u64 b)
{
	if (a.k != ND_KNOWN)
		return b;
	return b.k == ND_KNOWN ? nd_u64(a.v + b.v) : a;
}

/*
 * The kernel's tick accounting may book a tick a moment late, so short intervals
 * can add up to more or less than the wall time: shares are of what was booked.
 */
static void load_of(const struct cpu_sample *s, struct core_load *out)
{
	struct nd_u64 user = plus(s->user_us, s->nice_us), idle = plus(s->idle_us, s->iowait_us);
	struct nd_u64 busy =
		plus(plus(user, s->system_us), plus(plus(s->irq_us, s->softirq_us), s->steal_us));
	double total = (double)busy.v + (double)idle.v;

	out->cpu = s->cpu;
	if (s->idle_us.k != ND_KNOWN || s->user_us.k != ND_KNOWN || s->system_us.k != ND_KNOWN) {
		out->busy = nd_f64_unknown(s->idle_us.k != ND_KNOWN ? s->idle_us.k : s->user_us.k);
		return;
	}
	out->busy = share(busy, total);
	out->user = share(user, total);
	out->system = share(s->system_us, total);
	out->softirq = share(s->softirq_us, total);
	out->irq = share(s->irq_us, total);
	out->steal = share(s->steal_us, total);
}

int core_loads(const struct counters *difference, struct arena *mem, struct core_load **rows,
	       size_t *nrows)
{
	*rows = NULL;
	*nrows = 0;
	if (!difference->ncpus)
		return 0;
	struct core_load *out = arena_alloc_array(mem, difference->ncpus, sizeof(*out));
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < difference->ncpus; i++)
		load_of(&difference->cpus[i], &out[i]);
	*rows = out;
	*nrows = difference->ncpus;
	return 0;
}

int interval_fill(const struct counters *d, double start_s, uint64_t egress_ifindex,
		  struct arena *mem, struct end_interval *out)
{
	out->start_s = nd_f64(start_s);
	if (d->clock.monotonic_ns.k == ND_KNOWN)
		out->seconds = nd_f64((double)d->clock.monotonic_ns.v / 1e9);
	else
		out->seconds = nd_f64_unknown(d->clock.monotonic_ns.k);
	for (size_t i = 0; i < d->nflows; i++) {
		out->bytes = plus(out->bytes, d->flows[i].bytes);
		if (nd_str_is(d->flows[i].direction, "receive"))
			out->received_bytes = plus(out->received_bytes, d->flows[i].bytes);
		out->retransmits = plus(out->retransmits, d->flows[i].retransmits);
		/* A flow that is sent has packets, too, but nobody here to miss one. */
		struct nd_u64 lost = flow_lost(d->flows[i].skipped, d->flows[i].out_of_order);
		out->lost = plus(out->lost, lost);
		if (lost.k == ND_KNOWN)
			out->packets = plus(out->packets, d->flows[i].packets);
		else if (out->packets.k != ND_KNOWN)
			out->packets = lost;
	}
	for (size_t i = 0; i < d->ncgroups; i++)
		out->throttled_us = plus(out->throttled_us, d->cgroups[i].throttled_us);
	const struct link_sample *link = counters_link(d, egress_ifindex);
	if (link) {
		out->link_rx_bytes = link->rx_bytes;
		out->link_tx_bytes = link->tx_bytes;
	}
	return core_loads(d, mem, &out->cores, &out->ncores);
}

static uint8_t live_share(struct nd_f64 share)
{
	if (share.k != ND_KNOWN || !(share.v >= 0))
		return LIVE_UNKNOWN;
	return (uint8_t)((share.v < 1 ? share.v : 1) * LIVE_WHOLE + 0.5);
}

static struct nd_f64 per_second(struct nd_u64 n, double factor, double seconds)
{
	if (n.k != ND_KNOWN)
		return nd_f64_unknown(n.k);
	return seconds > 0 ? nd_f64((double)n.v * factor / seconds) : nd_f64_unknown(ND_INVALID);
}

static void live_cores(const struct end_interval *iv, struct end_live *out)
{
	for (size_t i = 0; i < iv->ncores && out->ncores < LIVE_MAX_CORES; i++) {
		const struct core_load *c = &iv->cores[i];
		if (c->cpu.k != ND_KNOWN || c->cpu.v >= ND_MAX_CPUS)
			continue;
		out->cores[out->ncores++] = (struct live_core){
			.cpu = (uint16_t)c->cpu.v,
			.busy = live_share(c->busy),
			.user = live_share(c->user),
			.system = live_share(c->system),
			.softirq = live_share(c->softirq),
			.irq = live_share(c->irq),
			.steal = live_share(c->steal),
		};
	}
}

void interval_live(const struct end_interval *iv, struct end_live *out)
{
	memset(out, 0, sizeof(*out));
	out->start_s = iv->start_s.v;
	out->seconds = iv->seconds.k == ND_KNOWN ? iv->seconds.v : 0;
	if (iv->bytes.k == ND_KNOWN && out->seconds > 0)
		out->rate_bps = (double)iv->bytes.v * 8 / out->seconds;
	out->received_bps = per_second(iv->received_bytes, 8, out->seconds);
	out->retransmits_ps = per_second(iv->retransmits, 1, out->seconds);
	out->link_rx_bps = per_second(iv->link_rx_bytes, 8, out->seconds);
	out->link_tx_bps = per_second(iv->link_tx_bytes, 8, out->seconds);
	live_cores(iv, out);
	for (size_t i = 0; i < iv->ncores; i++) {
		const struct core_load *c = &iv->cores[i];
		if (c->busy.k != ND_KNOWN || (out->hot_known && c->busy.v <= out->hot_busy))
			continue;
		out->hot_known = true;
		out->hot_cpu = c->cpu.v;
		out->hot_busy = c->busy.v;
	}
}

int interval_window(const struct counters *first, const struct counters *last,
		    const struct counters *peaks, const struct flow_folder *flows,
		    const struct interval_series *series, struct arena *mem, struct run_end *out)
{
	struct counters *d = counters_difference(first, last);
	if (!d)
		return -ENOMEM;
	out->window = d;
	if (peaks) {
		int rc = record_keep_max(&counters_schema, d, peaks, d->mem);
		if (rc)
			return rc;
	}
	struct nd_u64 length = d->clock.monotonic_ns;
	out->window_ns = length;
	for (size_t i = 0; i < d->nflows; i++)
		out->bytes = plus(out->bytes, d->flows[i].bytes);
	int rc = flow_folder_finish(flows, length.k == ND_KNOWN ? length.v / 1000 : 0, mem,
				    &out->flows, &out->nflows);
	if (!rc)
		rc = core_loads(d, mem, &out->cores, &out->ncores);
	if (!rc)
		rc = series_copy(series, mem, &out->intervals, &out->nintervals);
	/* The summaries say it better; thousands of raw rows would only weigh the report down. */
	d->flows = NULL;
	d->nflows = 0;
	return rc;
}

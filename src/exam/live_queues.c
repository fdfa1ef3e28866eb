/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/live_queues.h"

#include <errno.h>
#include <string.h>

static double seconds_of(const struct counters *step)
{
	return step->clock.monotonic_ns.k == ND_KNOWN ? (double)step->clock.monotonic_ns.v / 1e9
						      : 0;
}

/* Rows of one vector follow one another. */
static void count_vectors(struct live_queues *q, const struct counters *step)
{
	double seconds = seconds_of(step);
	uint64_t most = 0;

	q->n = 0;
	for (size_t i = 0; i < step->nirqs && seconds > 0; i++) {
		const struct irq_sample *s = &step->irqs[i];
		struct live_queue *row = q->n ? &q->rows[q->n - 1] : NULL;
		if (s->irq.k != ND_KNOWN || s->irq.v >= LIVE_NO_IRQ || s->cpu.k != ND_KNOWN ||
		    s->count.k != ND_KNOWN)
			continue;
		if (!row || row->irq != s->irq.v) {
			if (q->n == LIVE_MAX_QUEUES)
				return;
			row = &q->rows[q->n++];
			*row = (struct live_queue){ (uint32_t)s->irq.v, LIVE_NO_CPU, 0 };
			most = 0;
		}
		row->per_s += (double)s->count.v / seconds;
		if (s->count.v > most && s->cpu.v < ND_MAX_CPUS) {
			most = s->count.v;
			row->cpu = (uint16_t)s->cpu.v;
		}
	}
}

static void count_packets(struct live_queues *q, const struct counters *step)
{
	double seconds = seconds_of(step);

	q->n = 0;
	for (size_t i = 0; i < step->nsoftnet && seconds > 0 && q->n < LIVE_MAX_QUEUES; i++) {
		const struct softnet_sample *s = &step->softnet[i];
		if (s->cpu.k == ND_KNOWN && s->cpu.v < ND_MAX_CPUS && s->processed.k == ND_KNOWN)
			q->rows[q->n++] = (struct live_queue){
				LIVE_NO_IRQ, (uint16_t)s->cpu.v, (double)s->processed.v / seconds
			};
	}
}

static int keep_irqs(struct live_queues *q, const struct counters *now)
{
	struct counters *kept = counters_new(0);

	if (!kept)
		return -ENOMEM;
	kept->irqs = arena_alloc_array(kept->mem, now->nirqs, sizeof(*kept->irqs));
	if (!kept->irqs) {
		counters_free(kept);
		return -ENOMEM;
	}
	memcpy(kept->irqs, now->irqs, now->nirqs * sizeof(*kept->irqs));
	kept->nirqs = now->nirqs;
	kept->clock = now->clock;
	counters_free(q->irqs);
	q->irqs = kept;
	return 0;
}

int live_queues_add(struct live_queues *q, const struct counters *now,
		    const struct counters *step)
{
	const struct counters only = { .clock = now->clock, .irqs = now->irqs,
				       .nirqs = now->nirqs };

	if (!now->nirqs) {
		/* Vectors are not read in every sample. */
		if (!q->irqs)
			count_packets(q, step);
		return 0;
	}
	if (q->irqs) {
		struct counters *d = counters_difference(q->irqs, &only);
		if (!d)
			return -ENOMEM;
		count_vectors(q, d);
		counters_free(d);
	} else {
		q->n = 0;
	}
	return keep_irqs(q, now);
}

static struct nd_f64 per_second(struct nd_u64 n, double seconds)
{
	if (n.k != ND_KNOWN)
		return nd_f64_unknown(n.k);
	return seconds > 0 ? nd_f64((double)n.v / seconds) : nd_f64_unknown(ND_INVALID);
}

void live_link_show(const struct counters *step, uint64_t ifindex, struct end_live *out)
{
	const struct link_sample *l = counters_link(step, ifindex);
	double seconds = seconds_of(step);

	if (!l)
		return;
	const struct nd_u64 lost[] = { l->rx_dropped, l->rx_errors, l->rx_missed_errors,
				       l->tx_dropped, l->tx_errors };
	struct nd_u64 sum = nd_u64(0);
	for (size_t i = 0; i < ARRAY_SIZE(lost) && sum.k == ND_KNOWN; i++)
		sum = lost[i].k == ND_KNOWN ? nd_u64(sum.v + lost[i].v) : lost[i];
	out->link_rx_pps = per_second(l->rx_packets, seconds);
	out->link_tx_pps = per_second(l->tx_packets, seconds);
	out->link_dropped_ps = per_second(sum, seconds);
}

void live_queues_show(const struct live_queues *q, struct end_live *out)
{
	memcpy(out->queues, q->rows, q->n * sizeof(*q->rows));
	out->nqueues = q->n;
}

void live_queues_free(struct live_queues *q)
{
	counters_free(q->irqs);
	*q = (struct live_queues){ 0 };
}

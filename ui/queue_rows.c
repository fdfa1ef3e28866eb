/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/queue_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/core_bar.h"
#include "ui/vectors.h"

#define UNEVEN 2.0	/* times its even part */

struct source_of_rows {
	const struct facts *facts;
	const struct link_facts *port;
	const struct counters *window;		/* NULL: none */
	const struct history_sample *sample;	/* NULL: none */
	double seconds;				/* of the window; 0: unknown */
	struct history_core cores[HISTORY_MAX_CORES];
	size_t ncores;
};

static struct history_core load_of(const struct source_of_rows *from, struct nd_u64 cpu)
{
	for (size_t i = 0; cpu.k == ND_KNOWN && i < from->ncores; i++)
		if (from->cores[i].cpu == cpu.v)
			return from->cores[i];
	return core_unknown(0);
}

/* Interrupts of a vector in the window, and the CPU that took most of them. */
static void irqs_of_window(const struct source_of_rows *from, uint64_t irq, struct queue_row *row)
{
	uint64_t sum = 0, most = 0;
	bool known = false;

	for (size_t i = 0; from->window && i < from->window->nirqs; i++) {
		const struct irq_sample *s = &from->window->irqs[i];
		if (!nd_u64_is(s->irq, irq) || s->count.k != ND_KNOWN)
			continue;
		known = true;
		sum += s->count.v;
		if (s->count.v > most && s->cpu.k == ND_KNOWN) {
			most = s->count.v;
			row->cpu = s->cpu;
		}
	}
	if (known && from->seconds > 0)
		row->irqs_ps = nd_f64((double)sum / from->seconds);
}

static void irqs_of_sample(const struct source_of_rows *from, uint64_t irq, struct queue_row *row)
{
	for (size_t i = 0; i < from->sample->nqueues; i++) {
		const struct history_queue *q = &from->sample->queues[i];
		if (q->irq != irq || isnan(q->per_s))
			continue;
		row->irqs_ps = nd_f64((double)q->per_s);
		if (q->cpu != HISTORY_NO_CPU)
			row->cpu = nd_u64(q->cpu);
	}
}

/* A driver's own count of a queue's packets. */
static struct nd_f64 packets_of(const struct source_of_rows *from, bool receive,
				unsigned int queue)
{
	unsigned int number;
	bool is_receive;

	for (size_t i = 0; from->window && i < from->window->nnics; i++) {
		const struct nic_sample *n = &from->window->nics[i];
		if (n->name.k != ND_KNOWN || n->value.k != ND_KNOWN || !from->port ||
		    n->ifindex.v != from->port->ifindex.v || from->seconds <= 0)
			continue;
		if (queue_packets_name(n->name.v, &is_receive, &number) && number == queue &&
		    is_receive == receive)
			return nd_f64((double)n->value.v / from->seconds);
	}
	return nd_f64_unknown(from->window ? ND_ABSENT : ND_UNREAD);
}

static void fill_vector(const struct source_of_rows *from, const struct irq_facts *irq,
			struct queue_row *row)
{
	const char *name = irq->name.k == ND_KNOWN ? irq->name.v : "?";
	unsigned int queue, cpu;

	*row = (struct queue_row){ .irq = irq->irq, .share = NAN };
	if (vector_cpu(irq, &cpu))
		row->cpu = nd_u64(cpu);
	else
		row->cpu = nd_u64_unknown(irq->effective.k == ND_KNOWN ? ND_NOT_APPLICABLE
								      : irq->effective.k);
	if (vector_queue(name, &queue)) {
		snprintf(row->name, sizeof(row->name), "queue %u", queue);
		row->rx_pps = packets_of(from, true, queue);
		row->tx_pps = packets_of(from, false, queue);
	} else {
		snprintf(row->name, sizeof(row->name), "%s", name);
		row->rx_pps = row->tx_pps = nd_f64_unknown(ND_NOT_APPLICABLE);
	}
	if (irq->irq.k == ND_KNOWN && from->sample && from->sample->nqueues)
		irqs_of_sample(from, irq->irq.v, row);
	else if (irq->irq.k == ND_KNOWN)
		irqs_of_window(from, irq->irq.v, row);
	row->load = load_of(from, row->cpu);
}

static void add_vectors(const struct source_of_rows *from, struct queue_rows *out)
{
	for (size_t i = 0; from->facts && i < from->facts->nirqs && out->n < QUEUE_ROWS_MAX; i++) {
		const struct irq_facts *irq = &from->facts->irqs[i];
		if (!from->port || from->port->ifindex.k != ND_KNOWN ||
		    !nd_u64_is(irq->ifindex, from->port->ifindex.v))
			continue;
		fill_vector(from, irq, &out->rows[out->n++]);
	}
}

static void fill_cpu(const struct source_of_rows *from, struct nd_u64 cpu, struct nd_f64 rx_pps,
		     struct queue_row *row)
{
	*row = (struct queue_row){ .cpu = cpu, .rx_pps = rx_pps, .share = NAN,
				   .irq = nd_u64_unknown(ND_NOT_APPLICABLE),
				   .irqs_ps = nd_f64_unknown(ND_NOT_APPLICABLE),
				   .tx_pps = nd_f64_unknown(ND_NOT_APPLICABLE) };
	snprintf(row->name, sizeof(row->name), "cpu %" PRIu64, cpu.v);
	row->load = load_of(from, cpu);
}

/* As at the cursor; false: the sample tells of none. */
static bool add_cpus_of_sample(const struct source_of_rows *from, struct queue_rows *out)
{
	for (size_t i = 0; from->sample && i < from->sample->nqueues && out->n < QUEUE_ROWS_MAX;
	     i++) {
		const struct history_queue *q = &from->sample->queues[i];
		if (q->irq == HISTORY_NO_IRQ && q->cpu != HISTORY_NO_CPU)
			fill_cpu(from, nd_u64(q->cpu), nd_f64((double)q->per_s),
				 &out->rows[out->n++]);
	}
	return out->n;
}

static void add_cpus(const struct source_of_rows *from, struct queue_rows *out)
{
	out->per_cpu = true;
	if (add_cpus_of_sample(from, out))
		return;
	for (size_t i = 0; from->window && i < from->window->nsoftnet && out->n < QUEUE_ROWS_MAX;
	     i++) {
		const struct softnet_sample *s = &from->window->softnet[i];
		if (s->cpu.k != ND_KNOWN)
			continue;
		struct nd_f64 pps = s->processed.k != ND_KNOWN ? nd_f64_unknown(s->processed.k)
			: from->seconds > 0 ? nd_f64((double)s->processed.v / from->seconds)
					    : nd_f64_unknown(ND_INVALID);
		fill_cpu(from, s->cpu, pps, &out->rows[out->n++]);
	}
}

static struct nd_f64 weight(const struct queue_rows *rows, const struct queue_row *row)
{
	return rows->per_cpu ? row->rx_pps : row->irqs_ps;
}

static void add_shares(struct queue_rows *out)
{
	double sum = 0;

	out->most = NAN;
	for (size_t i = 0; i < out->n; i++) {
		struct nd_f64 w = weight(out, &out->rows[i]);
		sum += w.k == ND_KNOWN ? w.v : 0;
	}
	for (size_t i = 0; i < out->n && sum > 0; i++) {
		struct nd_f64 w = weight(out, &out->rows[i]);
		if (w.k != ND_KNOWN)
			continue;
		out->rows[i].share = w.v / sum;
		if (isnan(out->most) || out->rows[i].share > out->most) {
			out->most = out->rows[i].share;
			out->busiest = i;
		}
	}
}

int queue_rows_make(const struct scene *s, const struct shown_run *r, enum side side,
		    struct queue_rows *out)
{
	struct source_of_rows *from = calloc(1, sizeof(*from));
	const struct run_end *end = shown_run_end(r, side);

	*out = (struct queue_rows){ .most = NAN };
	out->rows = calloc(QUEUE_ROWS_MAX, sizeof(*out->rows));
	if (!from || !out->rows) {
		free(from);
		return -ENOMEM;
	}
	from->facts = s->exam ? s->exam->facts[side] : NULL;
	from->port = s->exam ? exam_port(s->exam, side) : NULL;
	from->window = end ? end->window : NULL;
	from->sample = r->sample[side];
	if (end && end->window_ns.k == ND_KNOWN)
		from->seconds = (double)end->window_ns.v / 1e9;
	from->ncores = shown_run_cores(r, side, from->cores);
	add_vectors(from, out);
	if (!out->n)
		add_cpus(from, out);
	add_shares(out);
	free(from);
	return 0;
}

void queue_rows_free(struct queue_rows *rows)
{
	free(rows->rows);
	*rows = (struct queue_rows){ 0 };
}

bool queue_rows_uneven(const struct queue_rows *rows)
{
	return rows->n > 1 && !isnan(rows->most) && rows->most * (double)rows->n > UNEVEN;
}

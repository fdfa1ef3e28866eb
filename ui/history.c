/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The newest quarter keeps its detail when the rest is thinned. */
enum { OLD_PART = HISTORY_MAX_SAMPLES / 4 * 3 };
/* Longest time a screen can show; later times come from broken clocks. */
#define MAX_TIME_S 1e9

/* The rows of a sample are in one block. */
struct stored { struct history_sample s; char *rows; size_t bytes; };

struct history { struct stored samples[HISTORY_MAX_SAMPLES]; size_t n; };

struct history *history_new(void)
{
	return calloc(1, sizeof(struct history));
}

void history_free(struct history *h)
{
	if (h)
		history_clear(h);
	free(h);
}

void history_clear(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->samples[i].rows);
	h->n = 0;
}

static size_t bounded(size_t n, size_t most, const void *rows)
{
	if (!rows)
		return 0;
	return n < most ? n : most;
}

static const void *copy_rows(char **to, const void *from, size_t n, size_t size)
{
	char *rows = *to;

	if (!n)
		return NULL;
	memcpy(rows, from, n * size);
	*to += n * size;
	return rows;
}

/* 0 or -ENOMEM; *to is filled only when it went well. */
static int store(struct stored *to, const struct history_sample *from)
{
	struct stored out = { .s = *from };
	struct history_sample *s = &out.s;

	s->ncores = bounded(from->ncores, HISTORY_MAX_CORES, from->cores);
	s->nflows = bounded(from->nflows, HISTORY_MAX_FLOWS, from->flows);
	s->nqueues = bounded(from->nqueues, HISTORY_MAX_QUEUES, from->queues);
	s->nworkers = bounded(from->nworkers, HISTORY_MAX_WORKERS, from->workers);
	s->ncounters = bounded(from->ncounters, HISTORY_MAX_COUNTERS, from->counters);
	out.bytes = s->nflows * sizeof(*s->flows) + s->nqueues * sizeof(*s->queues) +
		    s->ncounters * sizeof(*s->counters) + s->ncores * sizeof(*s->cores) +
		    s->nworkers * sizeof(*s->workers);
	out.rows = malloc(out.bytes + 1);
	if (!out.rows)
		return -ENOMEM;
	/* Those with the strictest alignment first: malloc's block suits any. */
	char *at = out.rows;
	s->flows = copy_rows(&at, from->flows, s->nflows, sizeof(*s->flows));
	s->queues = copy_rows(&at, from->queues, s->nqueues, sizeof(*s->queues));
	s->counters = copy_rows(&at, from->counters, s->ncounters, sizeof(*s->counters));
	s->cores = copy_rows(&at, from->cores, s->ncores, sizeof(*s->cores));
	s->workers = copy_rows(&at, from->workers, s->nworkers, sizeof(*s->workers));
	*to = out;
	return 0;
}

/* Means weighted by length; what one half does not know the other tells. */
struct weights { double a, b; };

static struct nd_f64 mean(struct nd_f64 a, struct nd_f64 b, struct weights w)
{
	if (a.k != ND_KNOWN || b.k != ND_KNOWN)
		return b.k == ND_KNOWN ? b : a;
	return nd_f64(a.v * w.a + b.v * w.b);
}

static float mean_float(float a, float b, struct weights w)
{
	if (isnan(a) || isnan(b))
		return isnan(b) ? a : b;
	return (float)((double)a * w.a + (double)b * w.b);
}

static uint8_t mean_share(uint8_t a, uint8_t b, struct weights w)
{
	if (a == HISTORY_UNKNOWN || b == HISTORY_UNKNOWN)
		return b == HISTORY_UNKNOWN ? a : b;
	return (uint8_t)(a * w.a + b * w.b + 0.5);
}

static void merge_cores(const struct history_sample *a, const struct stored *to, struct weights w)
{
	struct history_core *b = (struct history_core *)to->s.cores;

	for (size_t i = 0; i < to->s.ncores && i < a->ncores; i++) {
		const struct history_core *c = &a->cores[i];
		if (c->cpu != b[i].cpu)
			return;
		b[i].busy = mean_share(c->busy, b[i].busy, w);
		b[i].user = mean_share(c->user, b[i].user, w);
		b[i].system = mean_share(c->system, b[i].system, w);
		b[i].softirq = mean_share(c->softirq, b[i].softirq, w);
		b[i].irq = mean_share(c->irq, b[i].irq, w);
		b[i].steal = mean_share(c->steal, b[i].steal, w);
	}
}

static void merge_flows(const struct history_sample *a, const struct stored *to, struct weights w)
{
	struct history_flow *b = (struct history_flow *)to->s.flows;

	for (size_t i = 0; i < to->s.nflows && i < a->nflows; i++) {
		const struct history_flow *f = &a->flows[i];
		if (f->flow != b[i].flow)
			return;
		b[i].rate_bps = mean_float(f->rate_bps, b[i].rate_bps, w);
		b[i].retransmits_ps = mean_float(f->retransmits_ps, b[i].retransmits_ps, w);
		b[i].busy = mean_float(f->busy, b[i].busy, w);
		b[i].rwnd_limited = mean_float(f->rwnd_limited, b[i].rwnd_limited, w);
		b[i].sndbuf_limited = mean_float(f->sndbuf_limited, b[i].sndbuf_limited, w);
	}
}

static void merge_queues(const struct history_sample *a, const struct stored *to, struct weights w)
{
	struct history_queue *b = (struct history_queue *)to->s.queues;

	for (size_t i = 0; i < to->s.nqueues && i < a->nqueues; i++)
		if (a->queues[i].irq == b[i].irq && a->queues[i].cpu == b[i].cpu)
			b[i].per_s = mean_float(a->queues[i].per_s, b[i].per_s, w);
}

/* Into the later of the two, whose gauges and counters stay. */
static void merge(const struct history_sample *a, struct stored *to)
{
	struct history_sample *b = &to->s;
	double sum = a->seconds + b->seconds;
	struct weights w = { sum > 0 ? a->seconds / sum : 0.5, sum > 0 ? b->seconds / sum : 0.5 };

	b->sent_bps = mean(a->sent_bps, b->sent_bps, w);
	b->received_bps = mean(a->received_bps, b->received_bps, w);
	b->retransmits_ps = mean(a->retransmits_ps, b->retransmits_ps, w);
	b->link_rx_bps = mean(a->link_rx_bps, b->link_rx_bps, w);
	b->link_tx_bps = mean(a->link_tx_bps, b->link_tx_bps, w);
	b->link_rx_pps = mean(a->link_rx_pps, b->link_rx_pps, w);
	b->link_tx_pps = mean(a->link_tx_pps, b->link_tx_pps, w);
	b->link_dropped_ps = mean(a->link_dropped_ps, b->link_dropped_ps, w);
	merge_cores(a, to, w);
	merge_flows(a, to, w);
	merge_queues(a, to, w);
	b->at_s = a->at_s;
	b->seconds = sum;
}

static void drop_oldest(struct history *h, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(h->samples[i].rows);
	memmove(h->samples, h->samples + n, (h->n - n) * sizeof(h->samples[0]));
	h->n -= n;
}

/*
 * Neighbours are merged up to a length at which at most half of the old part is left, so
 * what is old is of about equal grain and not coarser the older it is.
 */
static void thin(struct history *h)
{
	double sum = 0;
	size_t to = 0, before = h->n;

	for (size_t i = 0; i < OLD_PART; i++)
		sum += h->samples[i].s.seconds;
	double grain = 4 * sum / OLD_PART;
	for (size_t i = 1; i < OLD_PART; i++) {
		struct stored *a = &h->samples[to], *b = &h->samples[i];
		if (a->s.run == b->s.run && a->s.warm == b->s.warm &&
		    a->s.seconds + b->s.seconds <= grain) {
			merge(&a->s, b);
			free(a->rows);
		} else {
			to++;
		}
		h->samples[to] = *b;
	}
	to++;
	memmove(h->samples + to, h->samples + OLD_PART, (h->n - OLD_PART) * sizeof(h->samples[0]));
	h->n -= OLD_PART - to;
	/* Hundreds of short runs, of the clients of a day: their order is all that is left. */
	if (before - h->n < HISTORY_MAX_SAMPLES / 16)
		drop_oldest(h, HISTORY_MAX_SAMPLES / 8);
}

int history_add(struct history *h, const struct history_sample *s)
{
	struct stored new;

	if (!(s->at_s >= 0 && s->at_s <= MAX_TIME_S && s->seconds >= 0 && s->seconds <= MAX_TIME_S))
		return -EINVAL;
	if (store(&new, s))
		return -ENOMEM;
	double end = history_end(h);
	if (new.s.at_s < end) {
		double overlap = end - new.s.at_s;
		if (overlap < new.s.seconds)
			new.s.seconds -= overlap;
		new.s.at_s = end;
	}
	if (h->n == HISTORY_MAX_SAMPLES)
		thin(h);
	h->samples[h->n++] = new;
	return 0;
}

static uint8_t to_share(struct nd_f64 share)
{
	if (share.k != ND_KNOWN || !(share.v >= 0))
		return HISTORY_UNKNOWN;
	return (uint8_t)(fmin(share.v, 1) * HISTORY_WHOLE + 0.5);
}

size_t history_cores_from(const struct core_load *from, size_t n, struct history_core *to)
{
	size_t kept = 0;

	for (size_t i = 0; i < n && kept < HISTORY_MAX_CORES; i++) {
		if (from[i].cpu.k != ND_KNOWN || from[i].cpu.v >= ND_MAX_CPUS)
			continue;
		to[kept++] = (struct history_core){
			.cpu = (uint16_t)from[i].cpu.v,
			.busy = to_share(from[i].busy),
			.user = to_share(from[i].user),
			.system = to_share(from[i].system),
			.softirq = to_share(from[i].softirq),
			.irq = to_share(from[i].irq),
			.steal = to_share(from[i].steal),
		};
	}
	return kept;
}

static struct nd_f64 per_second(struct nd_u64 n, double factor, struct nd_f64 seconds)
{
	if (n.k != ND_KNOWN)
		return nd_f64_unknown(n.k);
	if (seconds.k != ND_KNOWN || !(seconds.v > 0))
		return nd_f64_unknown(ND_INVALID);
	return nd_f64((double)n.v * factor / seconds.v);
}

/* Flows, queues and counters as they were when it was live. */
static void take_live_rows(const struct history *live, struct history_sample *s)
{
	const struct history_sample *from = live ? history_at(live, s->at_s + s->seconds / 2)
						 : NULL;

	if (!from)
		return;
	s->flows = from->flows;
	s->nflows = from->nflows;
	s->queues = from->queues;
	s->nqueues = from->nqueues;
	s->counters = from->counters;
	s->ncounters = from->ncounters;
	s->workers = from->workers;
	s->nworkers = from->nworkers;
}

void history_set_rates(struct history_sample *s, enum side side, struct nd_f64 moved,
		       struct nd_f64 received)
{
	bool known = moved.k == ND_KNOWN && received.k == ND_KNOWN;

	if (!s->bidirectional) {
		*(side == run_sender(s->direction) ? &s->sent_bps : &s->received_bps) = moved;
		return;
	}
	s->received_bps = received;
	s->sent_bps = known ? nd_f64(fmax(moved.v - received.v, 0))
			    : nd_f64_unknown(moved.k == ND_KNOWN ? received.k : moved.k);
}

/* live: samples of that time, NULL: none. */
static int add_run(struct history *h, const struct history *live, const struct run *r,
		   unsigned int number, enum side side, double at_s)
{
	const struct run_end *e = &r->ends[side];
	struct history_core *cores = calloc(HISTORY_MAX_CORES, sizeof(*cores));
	int rc = cores ? 0 : -ENOMEM;
	double last_s = -1;

	for (size_t i = 0; i < e->nintervals && !rc; i++) {
		const struct end_interval *iv = &e->intervals[i];
		/* A series that goes back in time is nonsense of a peer or of a file. */
		if (iv->start_s.k != ND_KNOWN || iv->seconds.k != ND_KNOWN ||
		    !(iv->start_s.v >= last_s))
			continue;
		last_s = iv->start_s.v;
		struct history_sample s = {
			.at_s = at_s + iv->start_s.v,
			.seconds = iv->seconds.v,
			.run = number,
			.direction = r->spec.direction,
			.bidirectional = r->spec.bidirectional,
			.retransmits_ps = per_second(iv->retransmits, 1, iv->seconds),
			.link_rx_bps = per_second(iv->link_rx_bytes, 8, iv->seconds),
			.link_tx_bps = per_second(iv->link_tx_bytes, 8, iv->seconds),
			.cores = cores,
			.ncores = history_cores_from(iv->cores, iv->ncores, cores),
		};
		history_set_rates(&s, side, per_second(iv->bytes, 8, iv->seconds),
				  per_second(iv->received_bytes, 8, iv->seconds));
		take_live_rows(live, &s);
		rc = history_add(h, &s);
		/* Times that are none are a peer's nonsense: left out. */
		if (rc == -EINVAL)
			rc = 0;
	}
	free(cores);
	return rc;
}

int history_add_run(struct history *h, const struct run *r, unsigned int number, enum side side,
		    double at_s)
{
	return add_run(h, NULL, r, number, side, at_s);
}

int history_retell_run(struct history *h, const struct run *r, unsigned int number, enum side side,
		       double at_s)
{
	struct history *live = history_new();
	size_t to = 0;

	if (!live)
		return -ENOMEM;
	for (size_t i = 0; i < h->n; i++) {
		if (h->samples[i].s.run == number && !h->samples[i].s.warm)
			live->samples[live->n++] = h->samples[i];
		else
			h->samples[to++] = h->samples[i];
	}
	h->n = to;
	int rc = add_run(h, live, r, number, side, at_s);
	history_free(live);
	return rc;
}

size_t history_count(const struct history *h)
{
	return h ? h->n : 0;
}

const struct history_sample *history_get(const struct history *h, size_t i)
{
	return &h->samples[i].s;
}

size_t history_index(const struct history *h, double at_s)
{
	size_t from = 0, to = history_count(h);

	/* The last that begins at or before at_s. */
	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;
		if (h->samples[middle].s.at_s <= at_s)
			from = middle;
		else
			to = middle;
	}
	return from;
}

const struct history_sample *history_at(const struct history *h, double at_s)
{
	if (!history_count(h))
		return NULL;
	const struct history_sample *s = &h->samples[history_index(h, at_s)].s;
	return s->at_s <= at_s ? s : NULL;
}

double history_end(const struct history *h)
{
	if (!history_count(h))
		return 0;
	const struct history_sample *s = &h->samples[h->n - 1].s;
	return s->at_s + s->seconds;
}

size_t history_bytes(const struct history *h)
{
	size_t sum = sizeof(*h);

	for (size_t i = 0; i < h->n; i++)
		sum += h->samples[i].bytes;
	return sum;
}

double history_share(uint8_t share)
{
	return share <= HISTORY_WHOLE ? (double)share / HISTORY_WHOLE : NAN;
}

const struct history_core *history_core(const struct history_sample *s, uint64_t cpu)
{
	for (size_t i = 0; i < s->ncores; i++)
		if (s->cores[i].cpu == cpu)
			return &s->cores[i];
	return NULL;
}

const struct history_core *history_hot_core(const struct history_sample *s)
{
	const struct history_core *hot = NULL;

	for (size_t i = 0; i < s->ncores; i++) {
		const struct history_core *c = &s->cores[i];
		if (c->busy != HISTORY_UNKNOWN && (!hot || c->busy > hot->busy))
			hot = c;
	}
	return hot;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct interval_series {
	struct end_interval *rows;	/* each with cores of its own */
	size_t n, cap, max;
	size_t stride;			/* steps that make a row */
	size_t in_last;			/* steps in the last row so far */
};

struct interval_series *series_new(size_t max_intervals)
{
	struct interval_series *s = calloc(1, sizeof(*s));

	if (s) {
		s->max = max_intervals < 2 ? 2 : max_intervals;
		s->stride = 1;
	}
	return s;
}

void series_free(struct interval_series *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->rows[i].cores);
	free(s->rows);
	free(s);
}

/* What is unknown in one half is unknown in the whole. */
static void add(struct nd_u64 *a, struct nd_u64 b)
{
	if (a->k != ND_KNOWN)
		return;
	if (b.k != ND_KNOWN)
		*a = b;
	else if (__builtin_add_overflow(a->v, b.v, &a->v))
		*a = nd_u64_unknown(ND_INVALID);
}

/* Shares count by the time they are of. */
static void mix(struct nd_f64 *a, double a_s, struct nd_f64 b, double b_s)
{
	if (a->k != ND_KNOWN)
		return;
	if (b.k != ND_KNOWN)
		*a = b;
	else if (a_s + b_s > 0)
		a->v = (a->v * a_s + b.v * b_s) / (a_s + b_s);
}

static void mix_core(struct core_load *a, double a_s, const struct core_load *b, double b_s)
{
	mix(&a->busy, a_s, b->busy, b_s);
	mix(&a->user, a_s, b->user, b_s);
	mix(&a->system, a_s, b->system, b_s);
	mix(&a->softirq, a_s, b->softirq, b_s);
	mix(&a->irq, a_s, b->irq, b_s);
	mix(&a->steal, a_s, b->steal, b_s);
}

/* A CPU that came or went in between keeps what its half says. */
static void merge(struct end_interval *a, const struct end_interval *b)
{
	double a_s = a->seconds.k == ND_KNOWN ? a->seconds.v : 0;
	double b_s = b->seconds.k == ND_KNOWN ? b->seconds.v : 0;

	for (size_t i = 0; i < a->ncores && i < b->ncores; i++)
		if (a->cores[i].cpu.v == b->cores[i].cpu.v)
			mix_core(&a->cores[i], a_s, &b->cores[i], b_s);
	if (a->seconds.k == ND_KNOWN && b->seconds.k == ND_KNOWN)
		a->seconds.v += b->seconds.v;
	else if (a->seconds.k == ND_KNOWN)
		a->seconds = b->seconds;
	add(&a->bytes, b->bytes);
	add(&a->received_bytes, b->received_bytes);
	add(&a->retransmits, b->retransmits);
	add(&a->throttled_us, b->throttled_us);
	add(&a->link_rx_bytes, b->link_rx_bytes);
	add(&a->link_tx_bytes, b->link_tx_bytes);
}

static void halve(struct interval_series *s)
{
	size_t n = 0;

	for (size_t i = 0; i + 1 < s->n; i += 2) {
		merge(&s->rows[i], &s->rows[i + 1]);
		free(s->rows[i + 1].cores);
		s->rows[n++] = s->rows[i];
	}
	s->in_last = s->stride * 2;
	if (s->n % 2) {
		s->in_last = s->stride;
		s->rows[n++] = s->rows[s->n - 1];
	}
	s->n = n;
	s->stride *= 2;
}

/* Rows with many cores are fewer: what a report may hold is limited by both. */
static size_t max_rows(const struct interval_series *s, size_t ncores)
{
	size_t by_cores = ncores ? EXAM_MAX_INTERVAL_CORES / ncores : s->max;

	return by_cores < s->max ? by_cores : s->max;
}

static int append(struct interval_series *s, const struct end_interval *iv)
{
	struct core_load *cores = NULL;

	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		struct end_interval *grown = reallocarray(s->rows, cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->rows = grown;
		s->cap = cap;
	}
	if (iv->ncores) {
		cores = malloc(iv->ncores * sizeof(*cores));
		if (!cores)
			return -ENOMEM;
		memcpy(cores, iv->cores, iv->ncores * sizeof(*cores));
	}
	s->rows[s->n] = *iv;
	s->rows[s->n++].cores = cores;
	s->in_last = 1;
	return 0;
}

int series_add(struct interval_series *s, const struct end_interval *iv)
{
	while (s->in_last >= s->stride && s->n >= max_rows(s, iv->ncores) && s->n > 1)
		halve(s);
	if (s->n && s->in_last < s->stride) {
		merge(&s->rows[s->n - 1], iv);
		s->in_last++;
		return 0;
	}
	return append(s, iv);
}

void series_cut(struct interval_series *s, double start_s)
{
	while (s->n && s->rows[s->n - 1].start_s.k == ND_KNOWN &&
	       s->rows[s->n - 1].start_s.v >= start_s - 1e-9)
		free(s->rows[--s->n].cores);
	s->in_last = s->stride;
}

int series_copy(const struct interval_series *s, struct arena *mem, struct end_interval **rows,
		size_t *nrows)
{
	*rows = NULL;
	*nrows = 0;
	if (!s->n)
		return 0;
	struct end_interval *out = arena_alloc_array(mem, s->n, sizeof(*out));
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		out[i] = s->rows[i];
		if (!out[i].ncores)
			continue;
		out[i].cores = arena_alloc_array(mem, out[i].ncores, sizeof(*out[i].cores));
		if (!out[i].cores)
			return -ENOMEM;
		memcpy(out[i].cores, s->rows[i].cores, out[i].ncores * sizeof(*out[i].cores));
	}
	*rows = out;
	*nrows = s->n;
	return 0;
}

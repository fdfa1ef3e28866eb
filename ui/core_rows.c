/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/core_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ui/core_bar.h"

/* One core before it is put into the list. */
struct known_core { struct history_core load; int64_t node; bool is_there; };

struct sums { uint32_t busy, user, system, softirq, irq, steal, n[6]; };

static void add_share(uint32_t *sum, uint32_t *n, uint8_t share)
{
	if (share == HISTORY_UNKNOWN)
		return;
	*sum += share;
	(*n)++;
}

static uint8_t mean_share(uint32_t sum, uint32_t n)
{
	return n ? (uint8_t)((sum + n / 2) / n) : (uint8_t)HISTORY_UNKNOWN;
}

static void add_core(struct sums *to, const struct history_core *c)
{
	add_share(&to->busy, &to->n[0], c->busy);
	add_share(&to->user, &to->n[1], c->user);
	add_share(&to->system, &to->n[2], c->system);
	add_share(&to->softirq, &to->n[3], c->softirq);
	add_share(&to->irq, &to->n[4], c->irq);
	add_share(&to->steal, &to->n[5], c->steal);
}

static struct history_core mean_of(const struct sums *s)
{
	return (struct history_core){
		.busy = mean_share(s->busy, s->n[0]), .user = mean_share(s->user, s->n[1]),
		.system = mean_share(s->system, s->n[2]),
		.softirq = mean_share(s->softirq, s->n[3]), .irq = mean_share(s->irq, s->n[4]),
		.steal = mean_share(s->steal, s->n[5]),
	};
}

static bool busier(const struct history_core *a, const struct history_core *b)
{
	return a->busy != HISTORY_UNKNOWN && (b->busy == HISTORY_UNKNOWN || a->busy > b->busy);
}

/* Every core that the facts name or that was sampled, by number. */
static void gather(const struct facts *f, const struct shown_run *r, enum side side,
		   struct known_core cores[ND_MAX_CPUS])
{
	struct history_core loads[HISTORY_MAX_CORES];
	size_t n = shown_run_cores(r, side, loads);

	for (size_t i = 0; f && i < f->ncpus; i++) {
		const struct cpu_facts *c = &f->cpus[i];
		if (c->cpu.k != ND_KNOWN || c->cpu.v >= ND_MAX_CPUS)
			continue;
		bool node = c->node.k == ND_KNOWN && c->node.v < INT32_MAX;
		cores[c->cpu.v] = (struct known_core){
			core_unknown((unsigned int)c->cpu.v), node ? (int64_t)c->node.v : -1, true
		};
	}
	for (size_t i = 0; i < n; i++) {
		struct known_core *to;
		if (loads[i].cpu >= ND_MAX_CPUS)
			continue;
		to = &cores[loads[i].cpu];
		if (!to->is_there)
			to->node = -1;
		to->is_there = true;
		to->load = loads[i];
	}
}

static int compare_nodes(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The nodes in order, the unknown one last; at most CORE_GROUPS. */
static size_t find_nodes(const struct known_core *cores, int64_t nodes[CORE_GROUPS])
{
	size_t n = 0;
	bool unknown = false;

	for (size_t i = 0; i < ND_MAX_CPUS; i++) {
		size_t k = 0;
		if (!cores[i].is_there)
			continue;
		unknown |= cores[i].node < 0;
		while (k < n && nodes[k] != cores[i].node)
			k++;
		if (k == n && n + 1 < CORE_GROUPS && cores[i].node >= 0)
			nodes[n++] = cores[i].node;
		else if (k == n)
			unknown = true;
	}
	qsort(nodes, n, sizeof(*nodes), compare_nodes);
	if (unknown)
		nodes[n++] = -1;
	return n;
}

static int by_cpu(const void *a, const void *b)
{
	const struct core_row *x = a, *y = b;

	return (int)x->load.cpu - (int)y->load.cpu;
}

static int by_busy(const void *a, const void *b)
{
	const struct core_row *x = a, *y = b;

	if (busier(&x->load, &y->load))
		return -1;
	return busier(&y->load, &x->load) ? 1 : by_cpu(a, b);
}

static void sort_rows(const struct view_state *v, struct core_row *rows, size_t n)
{
	if (!n)
		return;
	qsort(rows, n, sizeof(*rows), v->sort == CORE_SORT_BUSY ? by_busy : by_cpu);
	for (size_t i = 0; v->ascending && i < n / 2; i++) {
		struct core_row swap = rows[i];
		rows[i] = rows[n - 1 - i];
		rows[n - 1 - i] = swap;
	}
}

/* Appends a group: its own row when folded, and its cores when they are to be seen. */
static void add_group(struct core_rows *out, const struct view_state *v, enum side side,
		      const struct known_core *cores, const int64_t *nodes, unsigned int group,
		      size_t ngroups)
{
	bool open = !out->folded || (v->unfolded & core_group_bit(side, group));
	struct core_row head = { .is_node = true, .open = open, .node = nodes[group],
				 .group = group, .hot = core_unknown(0) };
	struct sums sums = { 0 };
	size_t at = out->n, first = at + out->folded;

	for (size_t i = 0, to = first; i < ND_MAX_CPUS; i++) {
		bool rest = group + 1 == ngroups && nodes[group] < 0;
		bool listed = false;
		if (!cores[i].is_there)
			continue;
		for (size_t k = 0; rest && k < group; k++)
			listed |= nodes[k] == cores[i].node;
		if (rest ? listed : cores[i].node != nodes[group])
			continue;
		head.ncores++;
		add_core(&sums, &cores[i].load);
		if (busier(&cores[i].load, &head.hot))
			head.hot = cores[i].load;
		if (open)
			out->rows[to++] = (struct core_row){ .node = cores[i].node, .group = group,
							     .load = cores[i].load };
	}
	if (open)
		sort_rows(v, &out->rows[first], head.ncores);
	head.load = mean_of(&sums);
	if (out->folded)
		out->rows[at] = head;
	out->n = first + (open ? head.ncores : 0);
	out->ncores += head.ncores;
	if (busier(&head.hot, &out->hot))
		out->hot = head.hot;
}

uint64_t core_group_bit(enum side side, unsigned int group)
{
	return UINT64_C(1) << ((side == SIDE_PEER ? CORE_GROUPS : 0) + group % CORE_GROUPS);
}

int core_rows_make(const struct scene *s, const struct view_state *v, const struct shown_run *r,
		   enum side side, struct core_rows *out)
{
	struct known_core *cores = calloc(ND_MAX_CPUS, sizeof(*cores));
	int64_t nodes[CORE_GROUPS];
	size_t there = 0;

	*out = (struct core_rows){ .hot = core_unknown(0) };
	out->rows = calloc(CORE_ROWS_MAX, sizeof(*out->rows));
	if (!cores || !out->rows) {
		free(cores);
		return -ENOMEM;
	}
	gather(s->exam ? s->exam->facts[side] : NULL, r, side, cores);
	for (size_t i = 0; i < ND_MAX_CPUS; i++)
		there += cores[i].is_there;
	out->folded = there > CORES_FOLD;
	size_t ngroups = find_nodes(cores, nodes);
	for (unsigned int g = 0; g < ngroups; g++)
		add_group(out, v, side, cores, nodes, g, ngroups);
	/* Without nodes in the list the order is one of all cores. */
	if (!out->folded)
		sort_rows(v, out->rows, out->n);
	free(cores);
	return 0;
}

void core_rows_free(struct core_rows *rows)
{
	free(rows->rows);
	*rows = (struct core_rows){ 0 };
}

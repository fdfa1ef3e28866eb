/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/beat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/exam/flow_summary.h"
#include "src/exam/interval.h"

struct beat_maker {
	double seconds;
	bool any;
	struct beat_flow *flows;	size_t nflows;
	struct cpu_sample *cpus;	size_t ncpus;
};

void beat_free(struct beat *b)
{
	if (b)
		arena_free(b->mem);
}

struct beat_maker *beat_maker_new(void)
{
	return calloc(1, sizeof(struct beat_maker));
}

void beat_maker_free(struct beat_maker *m)
{
	if (!m)
		return;
	free(m->flows);
	free(m->cpus);
	free(m);
}

/* A sum of which one part is unknown is unknown; nothing was added to what is UNREAD. */
static void add(struct nd_u64 *sum, struct nd_u64 part)
{
	if (sum->k == ND_UNREAD || (sum->k == ND_KNOWN && part.k != ND_KNOWN))
		*sum = part;
	else if (sum->k == ND_KNOWN && __builtin_add_overflow(sum->v, part.v, &sum->v))
		*sum = nd_u64_unknown(ND_INVALID);
}

static struct nd_u64 product(struct nd_u64 a, struct nd_u64 b)
{
	if (a.k != ND_KNOWN)
		return a;
	return b.k == ND_KNOWN ? nd_u64(a.v * b.v) : b;
}

static void add_flow(struct beat_flow *to, const struct flow_sample *step)
{
	to->flow = step->flow;
	/* Of the two words that there are: the sample's own dies with it. */
	to->direction = nd_str(nd_str_is(step->direction, "send") ? "send" : "receive");
	add(&to->bytes, step->bytes);
	add(&to->retransmits, step->retransmits);
	add(&to->reorder_seen, step->reorder_seen);
	add(&to->packets, step->packets);
	add(&to->skipped, step->skipped);
	add(&to->out_of_order, step->out_of_order);
	add(&to->duplicates, step->duplicates);
	to->lost = flow_lost(to->skipped, to->out_of_order);
	add(&to->busy_us, step->busy_us);
	add(&to->rwnd_limited_us, step->rwnd_limited_us);
	add(&to->sndbuf_limited_us, step->sndbuf_limited_us);
	to->incoming_cpu = step->incoming_cpu;
	to->jitter_us = step->jitter_us;
	to->cwnd_bytes = product(step->cwnd, step->snd_mss);
	to->snd_wnd_bytes = step->snd_wnd_bytes;
	to->rtt_us = step->rtt_us;
	to->rttvar_us = step->rttvar_us;
	to->pmtu = step->pmtu;
}

static void add_cpu(struct cpu_sample *to, const struct cpu_sample *step)
{
	to->cpu = step->cpu;
	add(&to->user_us, step->user_us);
	add(&to->nice_us, step->nice_us);
	add(&to->system_us, step->system_us);
	add(&to->idle_us, step->idle_us);
	add(&to->iowait_us, step->iowait_us);
	add(&to->irq_us, step->irq_us);
	add(&to->softirq_us, step->softirq_us);
	add(&to->steal_us, step->steal_us);
}

/* Flows are the same in every sample; CPUs may come and go, and are found by number. */
static struct cpu_sample *cpu_for(struct beat_maker *m, const struct cpu_sample *step, size_t hint)
{
	if (hint < m->ncpus && m->cpus[hint].cpu.v == step->cpu.v)
		return &m->cpus[hint];
	for (size_t i = 0; i < m->ncpus; i++)
		if (m->cpus[i].cpu.v == step->cpu.v)
			return &m->cpus[i];
	struct cpu_sample *grown = realloc(m->cpus, (m->ncpus + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	m->cpus = grown;
	memset(&grown[m->ncpus], 0, sizeof(*grown));
	return &grown[m->ncpus++];
}

static int make_room(struct beat_maker *m, size_t nflows)
{
	if (nflows <= m->nflows)
		return 0;
	struct beat_flow *grown = realloc(m->flows, nflows * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + m->nflows, 0, (nflows - m->nflows) * sizeof(*grown));
	m->flows = grown;
	m->nflows = nflows;
	return 0;
}

int beat_maker_add(struct beat_maker *m, const struct counters *step)
{
	int rc = make_room(m, step->nflows);

	if (rc)
		return rc;
	for (size_t i = 0; i < step->nflows; i++)
		add_flow(&m->flows[i], &step->flows[i]);
	for (size_t i = 0; i < step->ncpus; i++) {
		struct cpu_sample *to = cpu_for(m, &step->cpus[i], i);
		if (!to)
			return -ENOMEM;
		add_cpu(to, &step->cpus[i]);
	}
	if (step->clock.monotonic_ns.k == ND_KNOWN)
		m->seconds += (double)step->clock.monotonic_ns.v / 1e9;
	m->any = true;
	return 0;
}

/* Gauges of many flows have no sum, but for windows: what all may have in flight. */
static void sum_up(struct beat *b, const struct beat_flow *f)
{
	bool sends = nd_str_is(f->direction, "send");
	struct beat_flow *s = &b->sums[sends ? LOAD_SEND : LOAD_RECEIVE];

	add(&s->flow, nd_u64(1));
	s->direction = f->direction;
	add(&s->bytes, f->bytes);
	add(&s->retransmits, f->retransmits);
	add(&s->reorder_seen, f->reorder_seen);
	add(&s->packets, f->packets);
	add(&s->skipped, f->skipped);
	add(&s->out_of_order, f->out_of_order);
	add(&s->duplicates, f->duplicates);
	s->lost = flow_lost(s->skipped, s->out_of_order);
	add(&s->jitter_us, f->jitter_us);
	add(&s->cwnd_bytes, f->cwnd_bytes);
	add(&s->snd_wnd_bytes, f->snd_wnd_bytes);
}

static int fill(struct beat_maker *m, struct beat *b)
{
	b->seconds = m->seconds;
	for (size_t i = 0; i < m->nflows; i++)
		sum_up(b, &m->flows[i]);
	for (size_t i = 0; i < 2; i++)
		if (b->sums[i].jitter_us.k == ND_KNOWN && b->sums[i].flow.v)
			b->sums[i].jitter_us.v /= b->sums[i].flow.v;
	if (m->nflows) {
		b->flows = arena_alloc_array(b->mem, m->nflows, sizeof(*b->flows));
		if (!b->flows)
			return -ENOMEM;
		memcpy(b->flows, m->flows, m->nflows * sizeof(*b->flows));
		b->nflows = m->nflows;
	}
	struct counters cpus = { .cpus = m->cpus, .ncpus = m->ncpus };
	return core_loads(&cpus, b->mem, &b->cores, &b->ncores);
}

static struct beat *new_beat(size_t limit)
{
	struct arena *mem = arena_new(limit);
	struct beat *b = mem ? arena_alloc(mem, sizeof(*b)) : NULL;

	if (b)
		b->mem = mem;
	else
		arena_free(mem);
	return b;
}

int beat_maker_take(struct beat_maker *m, struct beat **out)
{
	*out = NULL;
	if (!m->any)
		return 0;
	struct beat *b = new_beat(0);
	if (!b)
		return -ENOMEM;
	int rc = fill(m, b);
	if (rc) {
		beat_free(b);
		return rc;
	}
	m->any = false;
	m->seconds = 0;
	memset(m->flows, 0, m->nflows * sizeof(*m->flows));
	m->ncpus = 0;
	*out = b;
	return 0;
}

bool beat_before(const struct beat *a, const struct beat *b)
{
	if (a->omitted != b->omitted)
		return a->omitted;
	return a->number < b->number;
}

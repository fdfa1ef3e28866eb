/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/placement.h"

#include <errno.h>
#include <string.h>

static const char *const kind_words[PLACEMENT_KINDS] = {
	[PLACEMENT_UNKNOWN] = "unknown",
	[PLACEMENT_NO_NIC] = "no-nic",
	[PLACEMENT_SAME_MACHINE] = "same-machine",
	[PLACEMENT_NO_ROOM] = "no-room",
	[PLACEMENT_BY_NIC] = "by-nic",
	[PLACEMENT_ASKED] = "asked",
};

static const char *const reason_words[PLACED_REASONS] = {
	[PLACED_ASKED] = "asked",
	[PLACED_OWN_CORE] = "own-core",
	[PLACED_SMT_SIBLING] = "smt-sibling",
	[PLACED_SERVES_QUEUES] = "serves-queues",
};

const char *placement_word(enum placement_kind k)
{
	return kind_words[k];
}

const char *placement_reason_word(enum placement_reason r)
{
	return reason_words[r];
}

static void join(struct nd_cpus *to, const struct nd_cpus *from)
{
	if (from->k != ND_KNOWN)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(to->bits); i++)
		to->bits[i] |= from->bits[i];
	to->k = ND_KNOWN;
}

static void intersect(struct nd_cpus *to, const struct nd_cpus *with)
{
	if (with->k != ND_KNOWN || !nd_cpus_count(with))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(to->bits); i++)
		to->bits[i] &= with->bits[i];
}

static bool meet(const struct nd_cpus *a, const struct nd_cpus *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(a->bits); i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

/* What the choice is made from. */
struct ground {
	struct nd_cpus usable;		/* of the NIC's node */
	struct nd_cpus serving;		/* take interrupts of the NIC, or packets by RPS */
	struct nd_cpus chosen;
	size_t nodes;			/* of the machine */
};

/* The threads of a CPU's core; itself when nothing is known. */
static struct nd_cpus core_of(const struct facts *f, unsigned int cpu)
{
	const struct cpu_facts *row = facts_cpu(f, cpu);
	struct nd_cpus alone = { .k = ND_KNOWN };

	if (row && row->siblings.k == ND_KNOWN && nd_cpus_has(&row->siblings, cpu))
		return row->siblings;
	nd_cpus_set(&alone, cpu);
	return alone;
}

/* A kernel without NUMA tells no nodes: that is one. */
static size_t count_nodes(const struct facts *f)
{
	const struct nd_u64 *one = NULL;

	for (size_t i = 0; i < f->ncpus; i++) {
		const struct nd_u64 *node = &f->cpus[i].node;
		if (node->k != ND_KNOWN)
			continue;
		if (one && one->v != node->v)
			return 2;
		one = node;
	}
	return 1;
}

static bool on_node(const struct facts *f, unsigned int cpu, int64_t node)
{
	const struct cpu_facts *row = facts_cpu(f, cpu);

	return row && node >= 0 && nd_u64_is(row->node, (uint64_t)node);
}

/* 0, or -ENODATA: which CPUs are near the NIC is not known. */
static int find_usable(const struct facts *f, const struct link_facts *nic, struct ground *g)
{
	g->usable = f->host.cpus_allowed;
	if (g->usable.k != ND_KNOWN || !f->ncpus)
		return -ENODATA;
	intersect(&g->usable, &f->host.cpus_online);
	for (size_t i = 0; i < f->ncgroups; i++)
		intersect(&g->usable, &f->cgroups[i].cpuset);
	g->nodes = count_nodes(f);
	if (g->nodes == 1)
		return nd_cpus_count(&g->usable) ? 0 : -ENODATA;
	if (nic->numa_node.k != ND_KNOWN || nic->numa_node.v < 0)
		return -ENODATA;
	for (unsigned int cpu = 0; cpu < ND_MAX_CPUS; cpu++)
		if (!on_node(f, cpu, nic->numa_node.v))
			g->usable.bits[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
	return nd_cpus_count(&g->usable) ? 0 : -ENODATA;
}

/* The NIC itself, or another member of the bond that it is a member of. */
static bool carries(const struct facts *f, const struct link_facts *nic, struct nd_u64 ifindex)
{
	const struct link_facts *l;

	if (ifindex.k != ND_KNOWN)
		return false;
	if (nd_u64_is(nic->ifindex, ifindex.v))
		return true;
	l = facts_link(f, ifindex.v);
	if (!l || nic->master_ifindex.k != ND_KNOWN ||
	    !nd_u64_is(l->master_ifindex, nic->master_ifindex.v))
		return false;
	const struct link_facts *master = facts_link(f, nic->master_ifindex.v);
	return master && (nd_str_is(master->kind, "bond") || nd_str_is(master->kind, "team"));
}

/* 0, or -ENODATA: nobody knows where its interrupts go. */
static int find_serving(const struct facts *f, const struct link_facts *nic, struct ground *g)
{
	for (size_t i = 0; i < f->nirqs; i++) {
		const struct irq_facts *irq = &f->irqs[i];

		if (!carries(f, nic, irq->ifindex))
			continue;
		/* Kernels before 4.15 have no effective_affinity: any of the allowed, then. */
		join(&g->serving, irq->effective.k == ND_KNOWN && nd_cpus_count(&irq->effective)
				? &irq->effective : &irq->affinity);
	}
	if (g->serving.k != ND_KNOWN)
		return -ENODATA;
	for (size_t i = 0; i < f->nqueues; i++)
		if (carries(f, nic, f->queues[i].ifindex) &&
		    nd_str_is(f->queues[i].direction, "rx"))
			join(&g->serving, &f->queues[i].steering);
	return 0;
}

/* Takes CPUs of the usable ones, in order, until there are enough. */
static void take(const struct facts *f, struct ground *g, size_t enough, bool serving,
		 bool siblings, struct placement *out)
{
	for (unsigned int cpu = 0; cpu < ND_MAX_CPUS && out->n < enough; cpu++) {
		if (!nd_cpus_has(&g->usable, cpu) || nd_cpus_has(&g->chosen, cpu))
			continue;
		struct nd_cpus core = core_of(f, cpu);
		if (meet(&core, &g->serving) != serving || meet(&core, &g->chosen) != siblings)
			continue;
		nd_cpus_set(&g->chosen, cpu);
		out->cpus[out->n] = cpu;
		out->reasons[out->n++] = serving ? PLACED_SERVES_QUEUES
				       : siblings ? PLACED_SMT_SIBLING : PLACED_OWN_CORE;
	}
}

static void choose_by_nic(const struct facts *f, const struct link_facts *nic, size_t workers,
			  struct placement *out)
{
	struct ground g = { .usable = { .k = ND_UNREAD } };

	if (find_usable(f, nic, &g) || find_serving(f, nic, &g))
		return;
	out->kind = PLACEMENT_BY_NIC;
	take(f, &g, workers, false, false, out);
	take(f, &g, workers, false, true, out);
	if (out->n >= workers)
		return;
	/*
	 * A core full of softirqs has nothing left for a worker that is tied to it.  Far from the
	 * NIC is worse still, but where there is no far, the scheduler chooses better.
	 */
	if (g.nodes == 1) {
		out->n = 0;
		out->kind = PLACEMENT_NO_ROOM;
		return;
	}
	take(f, &g, workers, true, false, out);
	take(f, &g, workers, true, true, out);
}

void placement_choose(const struct facts *f, const struct placement_wishes *w,
		      struct placement *out)
{
	const struct link_facts *egress = facts_egress(f), *nic = NULL;

	memset(out, 0, sizeof(*out));
	if (w->cpu && w->cpu <= ND_MAX_CPUS) {
		out->kind = PLACEMENT_ASKED;
		out->cpus[0] = (unsigned int)(w->cpu - 1);
		out->reasons[0] = PLACED_ASKED;
		out->n = 1;
		return;
	}
	if (egress && egress->ifindex.k == ND_KNOWN)
		nic = facts_bottom_link(f, egress->ifindex.v);
	if (!nic || nic->kind.k != ND_KNOWN)
		return;
	if (!nd_str_is(nic->kind, "physical"))
		out->kind = PLACEMENT_NO_NIC;
	else if (w->same_machine)
		out->kind = PLACEMENT_SAME_MACHINE;
	else if (w->workers)
		choose_by_nic(f, nic, w->workers < ND_MAX_CPUS ? w->workers : ND_MAX_CPUS, out);
}

int placement_tell(const struct placement *p, size_t workers, struct arena *mem,
		   struct run_end *out)
{
	/* Worker i runs on the i-th CPU; there are no more of them than CPUs. */
	size_t n = workers < p->n ? workers : p->n;

	out->placement = nd_str(placement_word(p->kind));
	if (!n)
		return 0;
	out->placed = arena_alloc_array(mem, n, sizeof(*out->placed));
	if (!out->placed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		out->placed[i] = (struct placed_worker){
			.worker = nd_u64(i), .cpu = nd_u64(p->cpus[i]),
			.reason = nd_str(placement_reason_word(p->reasons[i])),
		};
	out->nplaced = n;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/placement.h"

enum { NIC = 2, OTHER = 3, BOND = 9 };

/* Rows of a machine of the test's. */
struct machine {
	struct facts f;
	struct cpu_facts cpus[ND_MAX_CPUS];
	struct link_facts links[4];
	struct irq_facts irqs[ND_MAX_CPUS];
	struct queue_facts queues[4];
	struct cgroup_facts cgroups[2];
};

static struct nd_cpus cpus(const char *list)
{
	struct nd_cpus out;

	assert_int_equal(nd_cpus_parse_list(list, &out), 0);
	return out;
}

static struct link_facts *add_link(struct machine *m, uint64_t ifindex, const char *kind)
{
	struct link_facts *l = &m->links[m->f.nlinks++];

	l->ifindex = nd_u64(ifindex);
	l->kind = nd_str(kind);
	l->numa_node = nd_i64(0);
	return l;
}

static void add_irq(struct machine *m, uint64_t ifindex, const char *effective)
{
	struct irq_facts *i = &m->irqs[m->f.nirqs++];

	i->irq = nd_u64(100 + m->f.nirqs);
	i->ifindex = nd_u64(ifindex);
	i->effective = cpus(effective);
}

/*
 * As servers number them: the first threads of all cores, node by node, then the second threads
 * in the same order.  No interrupts yet.
 */
static void build(struct machine *m, unsigned int nodes, unsigned int cores, unsigned int threads)
{
	unsigned int total = nodes * cores;

	memset(m, 0, sizeof(*m));
	m->f = (struct facts){ .cpus = m->cpus, .links = m->links, .irqs = m->irqs,
			       .queues = m->queues, .cgroups = m->cgroups };
	for (unsigned int c = 0; c < total * threads; c++) {
		struct cpu_facts *row = &m->cpus[m->f.ncpus++];
		row->cpu = nd_u64(c);
		row->node = nd_u64(c % total / cores);
		for (unsigned int t = 0; t < threads; t++)
			nd_cpus_set(&row->siblings, c % total + t * total);
		nd_cpus_set(&m->f.host.cpus_allowed, c);
	}
	m->f.host.cpus_online = m->f.host.cpus_allowed;
	m->f.route.ifindex = nd_u64(NIC);
	add_link(m, NIC, "physical");
}

static struct placement choose(const struct machine *m, size_t workers)
{
	const struct placement_wishes w = { .workers = workers };
	struct placement p;

	placement_choose(&m->f, &w, &p);
	return p;
}

static void assert_placed(const struct placement *p, enum placement_kind kind, size_t n,
			  const unsigned int *on, const enum placement_reason *why)
{
	assert_string_equal(placement_word(p->kind), placement_word(kind));
	assert_int_equal(p->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(p->cpus[i], on[i]);
		assert_string_equal(placement_reason_word(p->reasons[i]),
				    placement_reason_word(why[i]));
	}
}

#define ASSERT_LEFT_ALONE(p_, kind_) assert_placed(p_, kind_, 0, NULL, NULL)

static void test_node_of_the_nic_off_its_vectors(void **state)
{
	static const unsigned int on[] = { 6, 7, 14, 15 };
	static const enum placement_reason why[] = {
		PLACED_OWN_CORE, PLACED_OWN_CORE, PLACED_SMT_SIBLING, PLACED_SMT_SIBLING };
	struct machine m;
	struct placement p;

	(void)state;
	/* Node 1 is cores 4 - 7, whose second threads are 12 - 15. */
	build(&m, 2, 4, 2);
	m.links[0].numa_node = nd_i64(1);
	add_irq(&m, NIC, "4");
	add_irq(&m, NIC, "13");		/* the second thread of core 5 */
	add_irq(&m, OTHER, "6");	/* another card's */
	p = choose(&m, 1);
	assert_placed(&p, PLACEMENT_BY_NIC, 1, on, why);
	p = choose(&m, 4);
	assert_placed(&p, PLACEMENT_BY_NIC, 4, on, why);
}

static void test_more_workers_than_free_cores(void **state)
{
	static const unsigned int on[] = { 6, 7, 14, 15, 4, 5, 12, 13 };
	static const enum placement_reason why[] = {
		PLACED_OWN_CORE, PLACED_OWN_CORE, PLACED_SMT_SIBLING, PLACED_SMT_SIBLING,
		PLACED_SERVES_QUEUES, PLACED_SERVES_QUEUES, PLACED_SERVES_QUEUES,
		PLACED_SERVES_QUEUES };
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 2, 4, 2);
	m.links[0].numa_node = nd_i64(1);
	add_irq(&m, NIC, "4-5");
	/* Never to the other node: rather share a CPU. */
	p = choose(&m, 2048);
	assert_placed(&p, PLACEMENT_BY_NIC, 8, on, why);
	/* On one node the scheduler does better than a core full of softirqs. */
	build(&m, 1, 4, 1);
	add_irq(&m, NIC, "0");
	add_irq(&m, NIC, "1");
	p = choose(&m, 3);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_NO_ROOM);
	p = choose(&m, 2);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.cpus[0], 2);
	assert_int_equal(p.cpus[1], 3);
}

static void test_only_where_we_may_run(void **state)
{
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 1, 8, 1);
	add_irq(&m, NIC, "7");
	m.f.host.cpus_allowed = cpus("1-7,900");
	m.f.host.cpus_online = cpus("0-5,7");
	m.cgroups[0].cpuset = cpus("2-7");
	m.cgroups[1].cpuset = cpus("");		/* a group that has none set */
	m.f.ncgroups = 2;
	p = choose(&m, 4);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.cpus[0], 2);
	assert_int_equal(p.cpus[3], 5);
	m.cgroups[1].cpuset = cpus("8-9");	/* contradicts: nothing is left */
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
}

static void test_packets_steered_by_software(void **state)
{
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 1, 4, 1);
	add_irq(&m, NIC, "0");
	m.queues[0] = (struct queue_facts){ .ifindex = nd_u64(NIC), .direction = nd_str("rx"),
					    .steering = cpus("1-2") };
	/* XPS says who sends, not who is interrupted. */
	m.queues[1] = (struct queue_facts){ .ifindex = nd_u64(NIC), .direction = nd_str("tx"),
					    .steering = cpus("3") };
	m.f.nqueues = 2;
	p = choose(&m, 1);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.cpus[0], 3);
}

static void test_members_of_a_bond(void **state)
{
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 1, 4, 1);
	m.links[0].master_ifindex = nd_u64(BOND);
	add_link(&m, OTHER, "physical")->master_ifindex = nd_u64(BOND);
	add_link(&m, BOND, "bond");
	m.f.route.ifindex = nd_u64(BOND);
	add_irq(&m, NIC, "0");
	add_irq(&m, OTHER, "1");
	p = choose(&m, 1);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.cpus[0], 2);
	/* A bridge's other ports carry other traffic. */
	m.links[2].kind = nd_str("bridge");
	p = choose(&m, 1);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.cpus[0], 1);
}

static void test_old_kernels(void **state)
{
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 1, 4, 1);
	/* No effective_affinity: where it may go. */
	add_irq(&m, NIC, "0");
	m.irqs[0].effective = (struct nd_cpus){ .k = ND_ABSENT };
	m.irqs[0].affinity = cpus("0-2");
	p = choose(&m, 1);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.cpus[0], 3);
	/* No topology: each CPU is a core.  No NUMA: one node, whatever the card says. */
	for (size_t i = 0; i < m.f.ncpus; i++) {
		m.cpus[i].node = nd_u64_unknown(ND_ABSENT);
		m.cpus[i].siblings = (struct nd_cpus){ .k = ND_ABSENT };
	}
	m.links[0].numa_node = nd_i64(-1);
	p = choose(&m, 1);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.cpus[0], 3);
}

static void test_left_to_the_scheduler(void **state)
{
	const struct placement_wishes same = { .workers = 1, .same_machine = true };
	const struct placement_wishes one = { .workers = 1 };
	struct machine m;
	struct placement p;

	(void)state;
	placement_choose(NULL, &one, &p);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
	build(&m, 1, 4, 1);
	add_irq(&m, NIC, "0");
	placement_choose(&m.f, &same, &p);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_SAME_MACHINE);
	p = choose(&m, 0);
	assert_int_equal(p.n, 0);
	m.links[0].kind = nd_str("veth");
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_NO_NIC);
	m.links[0].kind = nd_str_unknown(ND_UNREAD);
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
	m.links[0].kind = nd_str("physical");
	m.f.route.ifindex = nd_u64(77);
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
	m.f.route.ifindex = nd_u64(NIC);
	m.f.nirqs = 0;
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
	/* Two nodes, and the firmware does not say which one the card is on. */
	build(&m, 2, 2, 1);
	add_irq(&m, NIC, "0");
	m.links[0].numa_node = nd_i64(-1);
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
	m.links[0].numa_node = nd_i64(5);	/* one without CPUs */
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
	m.f.host.cpus_allowed.k = ND_NOT_PERMITTED;
	m.links[0].numa_node = nd_i64(0);
	p = choose(&m, 1);
	ASSERT_LEFT_ALONE(&p, PLACEMENT_UNKNOWN);
}

static void test_what_the_user_asked_for(void **state)
{
	static const unsigned int on[] = { 0 };
	static const enum placement_reason why[] = { PLACED_ASKED };
	struct placement_wishes w = { .workers = 8, .cpu = 1 };
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 1, 4, 1);
	add_irq(&m, NIC, "0");
	placement_choose(&m.f, &w, &p);
	assert_placed(&p, PLACEMENT_ASKED, 1, on, why);
	placement_choose(NULL, &w, &p);
	assert_placed(&p, PLACEMENT_ASKED, 1, on, why);
	w = (struct placement_wishes){ .workers = 2, .cpu = UINT64_MAX };
	placement_choose(&m.f, &w, &p);
	assert_int_equal(p.kind, PLACEMENT_BY_NIC);
}

static void test_hostile_rows(void **state)
{
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 2, ND_MAX_CPUS / 2, 1);
	m.cpus[0].cpu = nd_u64(UINT64_MAX);
	m.cpus[1].node = nd_u64(UINT64_MAX);
	m.cpus[2].siblings = cpus("900-1000");	/* not a core of its own */
	add_irq(&m, NIC, "");
	m.irqs[0].affinity = cpus("3");
	add_irq(&m, UINT64_MAX, "4");
	m.links[0].master_ifindex = nd_u64(NIC);	/* a ring */
	p = choose(&m, SIZE_MAX);
	assert_int_equal(p.kind, PLACEMENT_BY_NIC);
	assert_in_range(p.n, 500, ND_MAX_CPUS / 2);
	assert_int_equal(p.cpus[0], 2);
	assert_int_equal(p.cpus[1], 4);
}

static void test_told_in_the_exam(void **state)
{
	struct arena *mem = arena_new(0);
	struct run_end end = { 0 };
	struct machine m;
	struct placement p;

	(void)state;
	build(&m, 1, 4, 1);
	add_irq(&m, NIC, "0");
	p = choose(&m, 3);
	assert_int_equal(placement_tell(&p, 2, mem, &end), 0);
	assert_true(nd_str_is(end.placement, "by-nic"));
	assert_int_equal(end.nplaced, 2);
	assert_true(nd_u64_is(end.placed[1].worker, 1));
	assert_true(nd_u64_is(end.placed[1].cpu, 2));
	assert_true(nd_str_is(end.placed[1].reason, "own-core"));
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node_of_the_nic_off_its_vectors),
		cmocka_unit_test(test_more_workers_than_free_cores),
		cmocka_unit_test(test_only_where_we_may_run),
		cmocka_unit_test(test_packets_steered_by_software),
		cmocka_unit_test(test_members_of_a_bond),
		cmocka_unit_test(test_old_kernels),
		cmocka_unit_test(test_left_to_the_scheduler),
		cmocka_unit_test(test_what_the_user_asked_for),
		cmocka_unit_test(test_hostile_rows),
		cmocka_unit_test(test_told_in_the_exam),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

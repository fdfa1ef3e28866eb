/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/counters.h"
#include "src/core/facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/core_test.h"

static size_t kind_size(enum field_kind kind)
{
	switch (kind) {
	case FIELD_U64:
		return sizeof(struct nd_u64);
	case FIELD_I64:
		return sizeof(struct nd_i64);
	case FIELD_F64:
		return sizeof(struct nd_f64);
	case FIELD_BOOL:
		return sizeof(struct nd_bool);
	case FIELD_STR:
		return sizeof(struct nd_str);
	case FIELD_CPUS:
		return sizeof(struct nd_cpus);
	}
	return 0;
}

static bool is_snake_case(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static void check_field(const struct section *s, const struct field *f, char *covered)
{
	const char *end = f->help + strlen(f->help) - 1;

	assert_true(is_snake_case(f->name));
	assert_ptr_equal(section_field(s, f->name), f);
	if (strlen(f->help) < 8 || *end != '.' || f->help[0] == ' ')
		fail_msg("%s.%s: no sentence of help", s->name, f->name);
	if ((f->flags & FIELD_COUNTER) && f->kind != FIELD_U64)
		fail_msg("%s.%s: a counter of another kind", s->name, f->name);
	if ((f->flags & FIELD_COUNTER) && f->unit == UNIT_NONE)
		fail_msg("%s.%s: a counter without a unit", s->name, f->name);
	assert_true((unsigned int)f->unit < UNIT_COUNT_OF_UNITS);
	for (size_t i = 0; i < kind_size(f->kind); i++) {
		assert_true(f->offset + i < s->row_size);
		if (covered[f->offset + i]++)
			fail_msg("%s.%s: in the table twice", s->name, f->name);
	}
}

/* Every byte of every row belongs to exactly one field: no member is forgotten. */
static void check_schema(const struct schema *schema)
{
	for (size_t i = 0; i < schema->nsections; i++) {
		const struct section *s = &schema->sections[i];
		char covered[8192] = { 0 };
		unsigned int keys = 0;

		assert_true(is_snake_case(s->name));
		assert_ptr_equal(schema_section(schema, s->name), s);
		assert_true(s->row_size <= sizeof(covered));
		assert_true(s->offset < schema->size);
		for (size_t j = 0; j < s->nfields; j++) {
			check_field(s, &s->fields[j], covered);
			keys += !!(s->fields[j].flags & FIELD_KEY);
		}
		assert_int_equal(!keys, s->single);
		for (size_t j = 0; j < s->row_size; j++)
			if (!covered[j])
				fail_msg("%s: byte %zu is in no field", s->name, j);
	}
}

static void tables_name_every_member(void **state)
{
	(void)state;
	check_schema(&facts_schema);
	check_schema(&counters_schema);
	assert_int_equal(flow_nfields, schema_section(&counters_schema, "flows")->nfields);
	assert_int_equal(facts_schema.size, sizeof(struct facts));
	assert_int_equal(counters_schema.size, sizeof(struct counters));
}

static void private_members_are_marked(void **state)
{
	static const struct { const char *section, *field; } private[] = {
		{ "host", "hostname" }, { "host", "boot_id" }, { "links", "mac" },
		{ "addresses", "address" }, { "route", "to" }, { "route", "from" },
		{ "route", "gateway" }, { "cgroups", "path" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(private); i++) {
		const struct section *s = schema_section(&facts_schema, private[i].section);

		assert_true(section_field(s, private[i].field)->flags & FIELD_PRIVATE);
	}
}

static struct link_facts *add_link(struct facts *f, uint64_t ifindex, const char *name,
				   const char *kind)
{
	struct link_facts *l = arena_append_row(f->mem, (void **)&f->links, &f->nlinks, sizeof(*l));

	assert_non_null(l);
	l->ifindex = nd_u64(ifindex);
	l->name = nd_str(name);
	l->kind = nd_str(kind);
	l->lower_ifindex = nd_u64_unknown(ND_NOT_APPLICABLE);
	l->master_ifindex = nd_u64_unknown(ND_NOT_APPLICABLE);
	return l;
}

static void look_ups_find_rows(void **state)
{
	struct facts *f = facts_new(0);
	struct pci_facts *pci;
	struct cpu_facts *cpu;

	(void)state;
	add_link(f, 1, "lo", "loopback");
	add_link(f, 7, "eth0", "physical");
	pci = arena_append_row(f->mem, (void **)&f->pci, &f->npci, sizeof(*pci));
	pci->address = nd_str("0000:3b:00.0");
	cpu = arena_append_row(f->mem, (void **)&f->cpus, &f->ncpus, sizeof(*cpu));
	cpu->cpu = nd_u64(3);
	assert_ptr_equal(facts_link(f, 7), &f->links[1]);
	assert_null(facts_link(f, 0));
	assert_ptr_equal(facts_link_by_name(f, "lo"), &f->links[0]);
	assert_null(facts_link_by_name(f, "eth1"));
	assert_ptr_equal(facts_pci(f, "0000:3b:00.0"), pci);
	assert_null(facts_pci(f, "0000:3b:00.1"));
	assert_ptr_equal(facts_cpu(f, 3), cpu);
	assert_null(facts_cpu(f, 0));
	assert_null(facts_egress(f));
	f->route.ifindex = nd_u64(7);
	assert_ptr_equal(facts_egress(f), &f->links[1]);
	f->route.ifindex = nd_u64_unknown(ND_ABSENT);
	assert_null(facts_egress(f));
	facts_free(f);
}

static void no_facts_have_no_rows(void **state)
{
	(void)state;
	assert_null(facts_link(NULL, 1));
	assert_null(facts_link_by_name(NULL, "lo"));
	assert_null(facts_feature(NULL, 1, "x"));
	assert_null(facts_pci(NULL, "x"));
	assert_null(facts_cpu(NULL, 0));
	assert_null(facts_egress(NULL));
	assert_null(facts_bottom_link(NULL, 1));
	assert_int_equal(facts_feature_active(NULL, 1, "x").k, ND_UNREAD);
	assert_null(counters_link(NULL, 1));
	assert_null(counters_qdisc(NULL, 1, 2, 3, false));
	assert_null(counters_cpu(NULL, 0));
	assert_null(counters_softnet(NULL, 0));
	assert_null(counters_pci(NULL, "x"));
	assert_int_equal(counters_mib(NULL, "x").k, ND_UNREAD);
	assert_int_equal(counters_nic(NULL, 1, "x").k, ND_UNREAD);
	facts_free(NULL);
	counters_free(NULL);
	assert_null(facts_new(16));
	assert_null(counters_new(16));
}

static void bottom_of_a_stack(void **state)
{
	struct facts *f = facts_new(0);

	(void)state;
	add_link(f, 1, "lo", "loopback");
	add_link(f, 20, "vnet0", "tun")->master_ifindex = nd_u64(10);
	add_link(f, 2, "eth0", "physical")->master_ifindex = nd_u64(9);
	add_link(f, 3, "eth1", "physical")->master_ifindex = nd_u64(9);
	add_link(f, 9, "bond0", "bond");
	add_link(f, 11, "bond0.5", "vlan")->lower_ifindex = nd_u64(9);
	f->links[5].master_ifindex = nd_u64(10);
	add_link(f, 10, "br0", "bridge");
	add_link(f, 30, "mv0", "macvlan")->lower_ifindex = nd_u64(2);
	add_link(f, 31, "far", "macvlan")->lower_ifindex = nd_u64(999);
	assert_string_equal(facts_bottom_link(f, 2)->name.v, "eth0");
	assert_string_equal(facts_bottom_link(f, 11)->name.v, "eth0");
	assert_string_equal(facts_bottom_link(f, 30)->name.v, "eth0");
	/* The lower end of this one is in another namespace. */
	assert_string_equal(facts_bottom_link(f, 31)->name.v, "far");
	assert_string_equal(facts_bottom_link(f, 1)->name.v, "lo");
	assert_null(facts_bottom_link(f, 77));
	/* A bridge of a guest's tap and a VLAN on a bond: the way out is the bond's. */
	assert_string_equal(facts_bottom_link(f, 10)->name.v, "eth0");
	f->links[5].master_ifindex = nd_u64_unknown(ND_NOT_APPLICABLE);
	assert_string_equal(facts_bottom_link(f, 10)->name.v, "vnet0");
	facts_free(f);
}

static void rings_of_links_end(void **state)
{
	struct facts *f = facts_new(0);

	(void)state;
	/* The two ends of a veth name each other. */
	add_link(f, 1, "v0", "veth")->lower_ifindex = nd_u64(2);
	add_link(f, 2, "v1", "veth")->lower_ifindex = nd_u64(1);
	assert_string_equal(facts_bottom_link(f, 1)->name.v, "v0");
	assert_string_equal(facts_bottom_link(f, 2)->name.v, "v1");
	/* Nonsense that only a peer would send. */
	add_link(f, 3, "a", "vlan")->lower_ifindex = nd_u64(4);
	add_link(f, 4, "b", "vlan")->lower_ifindex = nd_u64(3);
	add_link(f, 5, "self", "vlan")->lower_ifindex = nd_u64(5);
	add_link(f, 6, "own", "bond")->master_ifindex = nd_u64(6);
	assert_string_equal(facts_bottom_link(f, 3)->name.v, "a");
	assert_string_equal(facts_bottom_link(f, 5)->name.v, "self");
	assert_string_equal(facts_bottom_link(f, 6)->name.v, "own");
	facts_free(f);
}

static void features_answer_with_reason(void **state)
{
	struct facts *f = facts_new(0);
	struct feature_facts *t;

	(void)state;
	assert_int_equal(facts_feature_active(f, 7, "tx-tcp-segmentation").k, ND_UNREAD);
	t = arena_append_row(f->mem, (void **)&f->features, &f->nfeatures, sizeof(*t));
	t->ifindex = nd_u64(7);
	t->name = nd_str("tx-tcp-segmentation");
	t->active = nd_bool(false);
	assert_true(nd_is_false(facts_feature_active(f, 7, "tx-tcp-segmentation")));
	assert_int_equal(facts_feature_active(f, 7, "rx-gro-hw").k, ND_ABSENT);
	assert_int_equal(facts_feature_active(f, 8, "tx-tcp-segmentation").k, ND_UNREAD);
	t->active = nd_bool_unknown(ND_NOT_PERMITTED);
	assert_int_equal(facts_feature_active(f, 7, "tx-tcp-segmentation").k, ND_NOT_PERMITTED);
	facts_free(f);
}

static struct mib_sample *add_mib(struct counters *c, const char *name, uint64_t value)
{
	struct mib_sample *m = arena_append_row(c->mem, (void **)&c->mibs, &c->nmibs, sizeof(*m));

	assert_non_null(m);
	m->name = nd_str(arena_strdup(c->mem, name));
	m->value = nd_u64(value);
	return m;
}

static void differences_outlive_their_samples(void **state)
{
	struct counters *a = counters_new(0), *b = counters_new(0), *d;
	struct nic_sample *nic;

	(void)state;
	a->clock.monotonic_ns = nd_u64(1000);
	b->clock.monotonic_ns = nd_u64(5000);
	add_mib(a, "TcpRetransSegs", 3);
	add_mib(b, "IcmpMsgInType3", 1);
	add_mib(b, "TcpRetransSegs", 10);
	nic = arena_append_row(b->mem, (void **)&b->nics, &b->nnics, sizeof(*nic));
	nic->ifindex = nd_u64(7);
	nic->name = nd_str("rx_missed");
	nic->value = nd_u64(5);
	assert_true(nd_u64_is(counters_nic(b, 7, "rx_missed"), 5));
	d = counters_difference(a, b);
	counters_free(a);
	counters_free(b);
	assert_non_null(d);
	assert_true(nd_u64_is(d->clock.monotonic_ns, 4000));
	assert_true(nd_u64_is(counters_mib(d, "TcpRetransSegs"), 7));
	assert_int_equal(counters_mib(d, "IcmpMsgInType3").k, ND_UNREAD);
	assert_int_equal(counters_mib(d, "TcpExtTCPTimeouts").k, ND_ABSENT);
	assert_int_equal(counters_nic(d, 7, "rx_missed").k, ND_UNREAD);
	assert_int_equal(counters_nic(d, 7, "tx_missed").k, ND_ABSENT);
	assert_int_equal(counters_nic(d, 8, "rx_missed").k, ND_UNREAD);
	counters_free(d);
}

static void samples_are_found(void **state)
{
	struct counters *c = counters_new(0);
	struct qdisc_sample *q;

	(void)state;
	for (int i = 0; i < 2; i++) {
		q = arena_append_row(c->mem, (void **)&c->qdiscs, &c->nqdiscs, sizeof(*q));
		q->ifindex = nd_u64(7);
		q->handle = nd_u64(0x10000);
		q->parent = nd_u64(0xffffffff);
		q->is_class = nd_bool(i == 1);
	}
	assert_ptr_equal(counters_qdisc(c, 7, 0x10000, 0xffffffff, true), &c->qdiscs[1]);
	assert_ptr_equal(counters_qdisc(c, 7, 0x10000, 0xffffffff, false), &c->qdiscs[0]);
	assert_null(counters_qdisc(c, 7, 0x10000, 0, false));
	assert_null(counters_qdisc(c, 8, 0x10000, 0xffffffff, false));
	for (uint64_t i = 0; i < 3; i++) {
		struct link_sample *link = arena_append_row(c->mem, (void **)&c->links, &c->nlinks,
							    sizeof(*link));
		struct cpu_sample *cpu = arena_append_row(c->mem, (void **)&c->cpus, &c->ncpus,
							  sizeof(*cpu));
		struct softnet_sample *s = arena_append_row(c->mem, (void **)&c->softnet,
							    &c->nsoftnet, sizeof(*s));
		struct pci_sample *pci = arena_append_row(c->mem, (void **)&c->pci, &c->npci,
							  sizeof(*pci));

		link->ifindex = nd_u64(i + 5);
		cpu->cpu = nd_u64(i);
		s->cpu = nd_u64(2 * i);
		pci->address = nd_str(arena_printf(c->mem, "0000:3b:00.%d", (int)i));
	}
	assert_ptr_equal(counters_link(c, 6), &c->links[1]);
	assert_null(counters_link(c, 1));
	assert_ptr_equal(counters_cpu(c, 2), &c->cpus[2]);
	assert_null(counters_cpu(c, 3));
	assert_ptr_equal(counters_softnet(c, 4), &c->softnet[2]);
	assert_null(counters_softnet(c, 1));
	assert_ptr_equal(counters_pci(c, "0000:3b:00.1"), &c->pci[1]);
	assert_null(counters_pci(c, "0000:3b:00"));
	counters_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_name_every_member),
		cmocka_unit_test(private_members_are_marked),
		cmocka_unit_test(look_ups_find_rows),
		cmocka_unit_test(no_facts_have_no_rows),
		cmocka_unit_test(bottom_of_a_stack),
		cmocka_unit_test(rings_of_links_end),
		cmocka_unit_test(features_answer_with_reason),
		cmocka_unit_test(differences_outlive_their_samples),
		cmocka_unit_test(samples_are_found),
	};

	return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "probes/probe.h"
#include "src/core/counters.h"
#include "tests/unit/fake_source.h"

enum { LIMIT = 8 << 20 };

/* A machine that answers nothing: every probe says why, none stops the others. */
static void test_nothing_readable(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct counters *c = counters_new(LIMIT);
	struct fake fake;
	bool failed = false;

	(void)state;
	fake_open(&fake);
	fake.step_ns = 5000;
	assert_int_equal(probes_collect(fake.src, NULL, f), 0);
	assert_int_equal(f->nprobes, probes_count);
	for (size_t i = 0; i < f->nprobes; i++) {
		const struct probe_result *r = &f->probes[i];
		enum nd_known k;

		assert_int_equal(r->state.k, ND_KNOWN);
		assert_true(!strcmp(r->state.v, "ok") || !nd_known_from_word(r->state.v, &k));
		assert_true(r->took_us.k == ND_KNOWN && r->took_us.v >= 5);
		failed |= strcmp(r->state.v, "ok") && r->detail.k == ND_KNOWN;
	}
	assert_true(failed);
	assert_int_equal(probes_sample(fake.src, f, COUNTER_AT_ENDS, c), 0);
	assert_int_equal(c->clock.monotonic_ns.k, ND_KNOWN);
	assert_int_equal(c->ncpus, 0);
	counters_free(c);
	facts_free(f);
	fake_close(&fake);
}

static void test_phase_order(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct fake fake;
	size_t at = 0;

	(void)state;
	fake_open(&fake);
	assert_int_equal(probes_collect(fake.src, NULL, f), 0);
	for (int phase = 0; phase < PROBE_PHASES; phase++) {
		for (size_t i = 0; i < probes_count; i++) {
			if ((int)probes_table[i]->phase == phase)
				assert_true(nd_str_is(f->probes[at++].probe,
						      probes_table[i]->name));
		}
	}
	assert_int_equal(at, probes_count);
	facts_free(f);
	fake_close(&fake);
}

static void test_names_are_unique(void **state)
{
	(void)state;
	for (size_t i = 0; i < probes_count; i++) {
		assert_non_null(probes_table[i]->summary);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(probes_table[i]->name, probes_table[k]->name);
	}
}

static void test_sample_rates(void **state)
{
	struct counters *often = counters_new(LIMIT), *ends = counters_new(LIMIT);
	struct facts *f = facts_new(LIMIT);
	struct fake fake;

	(void)state;
	fake_open(&fake);
	f->host.clock_ticks_per_second = nd_u64(100);
	fake_file(&fake, "/proc/stat", "cpu0 1 2 3 4 5 6 7 8\n");
	fake_file(&fake, "/proc/interrupts", "     CPU0\n");
	fake.reads = 0;
	assert_int_equal(probes_sample(fake.src, f, COUNTER_EVERY_SAMPLE, often), 0);
	assert_int_equal(often->ncpus, 1);
	/* What is read rarely is left alone in between. */
	assert_int_equal(often->nfreqs, 0);
	assert_int_equal(probes_sample(fake.src, f, COUNTER_AT_ENDS, ends), 0);
	assert_int_equal(ends->ncpus, 1);
	counters_free(often);
	counters_free(ends);
	facts_free(f);
	fake_close(&fake);
}

static void test_out_of_memory(void **state)
{
	struct facts *f = facts_new(700);
	struct fake fake;

	(void)state;
	if (!f)
		return;
	fake_open(&fake);
	assert_int_equal(probes_collect(fake.src, NULL, f), -ENOMEM);
	facts_free(f);
	fake_close(&fake);
}

enum { ETH0 = 1, ETH1, VLAN, BOND, BRIDGE, VETH_A, VETH_B, LOOP_A, LOOP_B, IDLE, NLINKS };

static struct facts *stack(void)
{
	static const struct {
		uint64_t index;
		const char *name, *kind;
		uint64_t lower, master;
	} rows[] = {
		{ ETH0, "eth0", "physical", 0, BOND },
		{ ETH1, "eth1", "physical", 0, 0 },
		{ VLAN, "bond0.7", "vlan", BOND, 0 },
		{ BOND, "bond0", "bond", 0, 0 },
		{ BRIDGE, "br0", "bridge", 0, 0 },
		{ VETH_A, "vetha", "veth", VETH_B, BRIDGE },
		{ VETH_B, "vethb", "veth", VETH_A, 0 },
		{ LOOP_A, "loopa", "vlan", LOOP_B, 0 },
		{ LOOP_B, "loopb", "vlan", LOOP_A, 0 },
		{ IDLE, "dummy0", "dummy", 0, 0 },
	};
	struct facts *f = facts_new(LIMIT);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct link_facts *l = arena_append_row(f->mem, (void **)&f->links, &f->nlinks,
							sizeof(*l));

		assert_non_null(l);
		l->ifindex = nd_u64(rows[i].index);
		l->name = nd_str(rows[i].name);
		l->kind = nd_str(rows[i].kind);
		l->lower_ifindex = rows[i].lower ? nd_u64(rows[i].lower)
						 : nd_u64_unknown(ND_NOT_APPLICABLE);
		l->master_ifindex = rows[i].master ? nd_u64(rows[i].master)
						   : nd_u64_unknown(ND_NOT_APPLICABLE);
	}
	return f;
}

static int collect_bit(struct source *src, struct facts *f, struct link_facts *link, void *data)
{
	unsigned int *set = data;

	assert_null(src);
	assert_true(link >= f->links && link < f->links + f->nlinks);
	/* In order, and each only once. */
	assert_true(*set < 1u << link->ifindex.v);
	*set |= 1u << link->ifindex.v;
	return 0;
}

static int stop_at_third(struct source *src, struct facts *f, struct link_facts *link, void *data)
{
	unsigned int *calls = data;

	(void)src;
	(void)f;
	(void)link;
	return ++*calls == 3 ? -EIO : 0;
}

/* The set of wanted links as a bit mask of indices: one by one and all at once agree. */
static unsigned int wanted(struct facts *f, const struct probe_context *ctx)
{
	const struct link_facts *all[NLINKS];
	unsigned int set = 0, at_once = 0, each = 0, calls = 0;
	size_t n = probe_wanted_links(ctx, f, all, ARRAY_SIZE(all));

	for (size_t i = 0; i < f->nlinks; i++)
		set |= (unsigned int)probe_link_wanted(ctx, f, &f->links[i])
		       << f->links[i].ifindex.v;
	for (size_t i = 0; i < n; i++)
		at_once |= 1u << all[i]->ifindex.v;
	assert_int_equal(set, at_once);
	assert_int_equal(probe_each_wanted_link(NULL, ctx, f, collect_bit, &each), 0);
	assert_int_equal(set, each);
	/* An error ends the loop and is what it returns. */
	assert_int_equal(probe_each_wanted_link(NULL, ctx, f, stop_at_third, &calls),
			 n < 3 ? 0 : -EIO);
	assert_int_equal(calls, n < 3 ? n : 3);
	/* Room for one: the count tells that there are more. */
	assert_true(n < 2 || probe_wanted_links(ctx, f, all, 1) > 1);
	return set;
}

#define BIT(n) (1u << (n))

static void test_wanted_links(void **state)
{
	static const char *const one[] = { "dummy0", "no-such-link" };
	static const char *const bridge[] = { "br0" };
	struct probe_context only = { .only_links = one, .nonly_links = 2 };
	struct facts *f = stack();

	(void)state;
	/* No route: every physical link. */
	assert_int_equal(wanted(f, NULL), BIT(ETH0) | BIT(ETH1));
	/* VLAN on bond on its member. */
	f->route.ifindex = nd_u64(VLAN);
	assert_int_equal(wanted(f, NULL), BIT(VLAN) | BIT(BOND) | BIT(ETH0) | BIT(ETH1));
	assert_int_equal(wanted(f, &only), BIT(VLAN) | BIT(BOND) | BIT(ETH0) | BIT(IDLE));
	/* A veth's other end belongs to it. */
	f->route.ifindex = nd_u64(VETH_B);
	assert_int_equal(wanted(f, &only), BIT(VETH_B) | BIT(VETH_A) | BIT(IDLE));
	/* A bridge's guests do not lead to the wire. */
	f->route.ifindex = nd_u64_unknown(ND_NOT_APPLICABLE);
	only = (struct probe_context){ .only_links = bridge, .nonly_links = 1 };
	assert_int_equal(wanted(f, &only), BIT(BRIDGE));
	/* Links that claim to lie below each other end somewhere. */
	f->route.ifindex = nd_u64(LOOP_A);
	assert_int_equal(wanted(f, NULL), BIT(LOOP_A) | BIT(LOOP_B) | BIT(ETH0) | BIT(ETH1));
	f->route.ifindex = nd_u64(4711);
	assert_int_equal(wanted(f, NULL), BIT(ETH0) | BIT(ETH1));
	facts_free(f);
}

/* Without a route, software that is up and stands for itself counts too, where asked for. */
static void test_wanted_software_links(void **state)
{
	static const char *const one[] = { "dummy0" };
	struct probe_context ctx = { .software_links = true };
	struct facts *f = stack();

	(void)state;
	assert_int_equal(wanted(f, &ctx), BIT(ETH0) | BIT(ETH1));
	for (size_t i = 0; i < f->nlinks; i++)
		f->links[i].up = nd_bool(f->links[i].ifindex.v != IDLE);
	/* All but the one that is down, and the bridge's port. */
	assert_int_equal(wanted(f, &ctx), (BIT(NLINKS) - BIT(ETH0)) & ~BIT(IDLE) & ~BIT(VETH_A));
	/* Names are all that counts. */
	ctx.only_links = one;
	ctx.nonly_links = 1;
	assert_int_equal(wanted(f, &ctx), BIT(IDLE));
	facts_free(f);
}

static void test_sysfs_shows(void **state)
{
	struct link_facts l = { .ifindex = nd_u64(7), .name = nd_str("eth0"),
				.mac = nd_str("52:54:00:12:34:56") };
	struct fake fake;

	(void)state;
	fake_open(&fake);
	assert_false(probe_sysfs_shows(fake.src, &l));
	fake_file(&fake, "/sys/class/net/eth0/ifindex", "7\n");
	fake_file(&fake, "/sys/class/net/eth0/address", "52:54:00:12:34:56\n");
	assert_true(probe_sysfs_shows(fake.src, &l));
	l.mac = nd_str("52:54:00:12:34:57");	/* another namespace's eth0 */
	assert_false(probe_sysfs_shows(fake.src, &l));
	l.ifindex = nd_u64(8);
	assert_false(probe_sysfs_shows(fake.src, &l));
	l.ifindex = nd_u64(7);
	l.mac = nd_str_unknown(ND_NOT_APPLICABLE);	/* tun devices have none */
	assert_true(probe_sysfs_shows(fake.src, &l));
	l.name = nd_str("../net/eth0");
	assert_false(probe_sysfs_shows(fake.src, &l));
	l.name = nd_str_unknown(ND_INVALID);
	assert_false(probe_sysfs_shows(fake.src, &l));
	fake_close(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_readable),
		cmocka_unit_test(test_phase_order),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_sample_rates),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_wanted_links),
		cmocka_unit_test(test_wanted_software_links),
		cmocka_unit_test(test_sysfs_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

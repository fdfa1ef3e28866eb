/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probes/ethtool.h"
#include "probes/probes_table.h"
#include "tests/unit/fake_links.h"

static void add(struct counters *c, const char *const *names, size_t n)
{
	char (*strings)[ETH_GSTRING_LEN] = calloc(n, sizeof(*strings));
	uint64_t *values = calloc(n, sizeof(*values));
	struct ethtool_names set = { strings, n };

	for (size_t i = 0; i < n; i++) {
		memcpy(strings[i], names[i], strnlen(names[i], ETH_GSTRING_LEN));
		values[i] = 100 + i;
	}
	assert_int_equal(nic_statistics_add(&set, values, n, nd_u64(3), c), 0);
	free(strings);
	free(values);
}

static void test_names_are_tidied(void **state)
{
	/* As vmxnet3 and cxgb4 have them; one without room for a terminator; one hostile. */
	static const char *const names[] = {
		"Rx Queue#", "  ucast pkts rx", "pkts rx OOB", "Rx Queue#", "  ucast pkts rx",
		"tx_octets_ok        ", "0123456789abcdef0123456789abcdef", "bad\033[31m", "", "  ",
		"Rx Queue#",
	};
	struct counters *c = counters_new(0);

	(void)state;
	add(c, names, ARRAY_SIZE(names));
	assert_int_equal(c->nnics, 9);
	assert_true(nd_u64_is(counters_nic(c, 3, "Rx Queue#"), 100));
	assert_true(nd_u64_is(counters_nic(c, 3, "Rx Queue#[1]"), 103));
	assert_true(nd_u64_is(counters_nic(c, 3, "Rx Queue#[2]"), 110));
	assert_true(nd_u64_is(counters_nic(c, 3, "ucast pkts rx"), 101));
	assert_true(nd_u64_is(counters_nic(c, 3, "ucast pkts rx[1]"), 104));
	assert_true(nd_u64_is(counters_nic(c, 3, "tx_octets_ok"), 105));
	assert_true(nd_u64_is(counters_nic(c, 3, "0123456789abcdef0123456789abcdef"), 106));
	assert_true(nd_u64_is(counters_nic(c, 3, "bad?[31m"), 107));
	/* The driver's order stays. */
	assert_string_equal(c->nics[2].name.v, "pkts rx OOB");
	counters_free(c);
}

static void test_cap(void **state)
{
	size_t n = 5000;
	char (*strings)[ETH_GSTRING_LEN] = calloc(n, sizeof(*strings));
	uint64_t *values = calloc(n, sizeof(*values));
	struct ethtool_names set = { strings, n };
	struct counters *c = counters_new(0);

	(void)state;
	for (size_t i = 0; i < n; i++)
		snprintf(strings[i], ETH_GSTRING_LEN, "stat%zu", i);
	assert_int_equal(nic_statistics_add(&set, values, n, nd_u64(3), c), 0);
	assert_int_equal(c->nnics, 4096);
	assert_int_equal(nic_statistics_add(&set, values, 0, nd_u64(3), c), 0);
	assert_int_equal(c->nnics, 4096);
	counters_free(c);
	free(strings);
	free(values);
}

/* A driver that may change its mind between the three calls. */
struct driver {
	uint32_t announced, named, counted;
	int rc;
};

static int answer(void *user, const char *ifname, void *cmd, size_t len)
{
	const struct driver *d = user;
	uint32_t which = *(uint32_t *)cmd;

	assert_string_equal(ifname, "eth0");
	if (which == ETHTOOL_GSSET_INFO) {
		struct ethtool_sset_info *q = cmd;

		if (!d->announced)
			q->sset_mask = 0;
		q->data[0] = d->announced;
		return d->rc;
	}
	if (which == ETHTOOL_GSTRINGS) {
		struct ethtool_gstrings *s = cmd;

		assert_int_equal(s->string_set, ETH_SS_STATS);
		s->len = d->named;
		for (size_t i = 0; i < d->named; i++) {
			/* What the kernel would write must fit. */
			assert_true(sizeof(*s) + (i + 1) * ETH_GSTRING_LEN <= len);
			snprintf((char *)s->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "s%zu", i);
		}
		return 0;
	}
	assert_int_equal(which, ETHTOOL_GSTATS);
	((struct ethtool_stats *)cmd)->n_stats = d->counted;
	for (size_t i = 0; i < d->counted; i++) {
		assert_true(sizeof(struct ethtool_stats) + (i + 1) * sizeof(uint64_t) <= len);
		((struct ethtool_stats *)cmd)->data[i] = i * 10;
	}
	return 0;
}

static size_t sampled(struct driver d, bool known_driver, struct counters *c)
{
	struct facts *f = facts_new(0);
	struct fake fs;
	size_t i = fake_link(f, 3, "eth0", "physical");

	fake_open(&fs);
	fs.ethtool = answer;
	fs.user = &d;
	if (known_driver)
		f->links[i].driver = nd_str("i40e");
	assert_int_equal(counter_nic.sample(fs.src, f, c), 0);
	fake_close(&fs);
	facts_free(f);
	return c->nnics;
}

static void test_sample(void **state)
{
	struct counters *c = counters_new(0);

	(void)state;
	assert_int_equal(sampled((struct driver){ 3, 3, 3, 0 }, true, c), 3);
	assert_true(nd_u64_is(counters_nic(c, 3, "s2"), 20));
	counters_free(c);
}

static void test_sample_refuses(void **state)
{
	struct counters *c = counters_new(0);

	(void)state;
	assert_int_equal(sampled((struct driver){ 3, 3, 3, 0 }, false, c), 0);
	assert_int_equal(sampled((struct driver){ 0, 0, 0, 0 }, true, c), 0);
	assert_int_equal(sampled((struct driver){ 3, 3, 3, -EPERM }, true, c), 0);
	/* Grown in between: names and values no longer belong together. */
	assert_int_equal(sampled((struct driver){ 3, 3, 6, 0 }, true, c), 0);
	assert_int_equal(sampled((struct driver){ 3, 2, 3, 0 }, true, c), 0);
	assert_int_equal(sampled((struct driver){ 3, 0, 3, 0 }, true, c), 0);
	assert_int_equal(sampled((struct driver){ 1u << 20, 3, 3, 0 }, true, c), 0);
	/* Grown before the names were read: all fit. */
	assert_int_equal(sampled((struct driver){ 300, 600, 600, 0 }, true, c), 600);
	counters_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_tidied),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_sample_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

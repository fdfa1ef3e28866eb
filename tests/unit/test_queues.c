/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probes/probes_table.h"
#include "tests/unit/fake_links.h"

#define NIC "/sys/devices/pci0000:00/0000:01:00.0/net/eth0/"

struct world {
	struct fake fs;
	struct facts *f;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	fake_open(&w->fs);
	w->f = facts_new(0);
	fake_link_sysfs(&w->fs, "eth0", 3, "pci0000:00/0000:01:00.0", "pci");
	*state = w;
	return w->f ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fake_close(&w->fs);
	facts_free(w->f);
	free(w);
	return 0;
}

static void run(struct world *w, uint64_t ifindex)
{
	const struct probe_context ctx = { 0 };
	struct error detail = { "" };

	fake_link(w->f, ifindex, "eth0", "physical");
	assert_int_equal(probe_queues.collect(w->fs.src, &ctx, w->f, &detail), 0);
}

static const struct queue_facts *queue(const struct world *w, const char *direction, uint64_t i)
{
	for (size_t q = 0; q < w->f->nqueues; q++) {
		if (nd_str_is(w->f->queues[q].direction, direction) &&
		    nd_u64_is(w->f->queues[q].index, i))
			return &w->f->queues[q];
	}
	return NULL;
}

static void test_queues(void **state)
{
	struct world *w = *state;

	fake_file(&w->fs, NIC "queues/rx-0/rps_cpus", "00000000,0000000f\n");
	fake_file(&w->fs, NIC "queues/rx-0/rps_flow_cnt", "32768\n");
	fake_file(&w->fs, NIC "queues/rx-10/rps_cpus", "0\n");
	fake_file(&w->fs, NIC "queues/rx-10/rps_flow_cnt", "0\n");
	fake_file(&w->fs, NIC "queues/tx-0/xps_cpus", "80000000,00000000\n");
	fake_dir(&w->fs, NIC "queues/tx-1");
	fake_dir(&w->fs, NIC "queues/r");
	fake_dir(&w->fs, NIC "queues/rx-x");
	fake_dir(&w->fs, NIC "queues/other");
	fake_file(&w->fs, NIC "threaded", "1\n");
	run(w, 3);
	assert_int_equal(w->f->nqueues, 4);
	assert_int_equal(nd_cpus_count(&queue(w, "rx", 0)->steering), 4);
	assert_true(nd_u64_is(queue(w, "rx", 0)->flow_entries, 32768));
	/* Off is a known empty set. */
	assert_int_equal(queue(w, "rx", 10)->steering.k, ND_KNOWN);
	assert_int_equal(nd_cpus_count(&queue(w, "rx", 10)->steering), 0);
	assert_true(nd_cpus_has(&queue(w, "tx", 0)->steering, 63));
	assert_int_equal(queue(w, "tx", 0)->flow_entries.k, ND_NOT_APPLICABLE);
	/* A single transmit queue has no file to read. */
	assert_int_equal(queue(w, "tx", 1)->steering.k, ND_ABSENT);
	assert_true(nd_is_true(w->f->links[0].napi_threaded));
}

static void test_hostile_masks(void **state)
{
	struct world *w = *state;
	char mask[4096];

	fake_file(&w->fs, NIC "queues/rx-0/rps_cpus", "zz\n");
	memset(mask, 'f', sizeof(mask) - 1);
	mask[sizeof(mask) - 1] = 0;
	fake_file(&w->fs, NIC "queues/rx-1/rps_cpus", mask);
	run(w, 3);
	assert_int_equal(queue(w, "rx", 0)->steering.k, ND_INVALID);
	assert_int_equal(queue(w, "rx", 1)->steering.k, ND_INVALID);
	assert_int_equal(w->f->links[0].napi_threaded.k, ND_ABSENT);
}

/* The name is there, but another namespace's. */
static void test_foreign_sysfs(void **state)
{
	struct world *w = *state;

	fake_file(&w->fs, NIC "queues/rx-0/rps_cpus", "f\n");
	fake_file(&w->fs, NIC "threaded", "1\n");
	run(w, 4);
	assert_int_equal(w->f->nqueues, 0);
	assert_int_equal(w->f->links[0].napi_threaded.k, ND_ABSENT);
}

#define WORLD_TEST(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_queues),
		WORLD_TEST(test_hostile_masks),
		WORLD_TEST(test_foreign_sysfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probes/probes_table.h"
#include "tests/unit/fake_links.h"

#define SYS "/sys/devices/system/"

struct world {
	struct fake fs;
	struct facts *f;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	fake_open(&w->fs);
	w->f = facts_new(0);
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

static void put(struct world *w, unsigned int cpu, const char *file, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), SYS "cpu/cpu%u/%s", cpu, file);
	fake_file(&w->fs, path, text);
}

/* Two nodes of two threads each; CPU 1 is offline. */
static void build(struct world *w)
{
	static const unsigned int cpus[] = { 0, 2, 3 };

	fake_file(&w->fs, SYS "cpu/online", "0,2-3\n");
	fake_file(&w->fs, SYS "node/node0/cpulist", "0-1\n");
	fake_file(&w->fs, SYS "node/node1/cpulist", "2-3\n");
	fake_file(&w->fs, SYS "node/online", "0-1\n");
	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		put(w, cpus[i], "topology/physical_package_id", cpus[i] < 2 ? "0\n" : "1\n");
		put(w, cpus[i], "topology/core_id", "7\n");
		put(w, cpus[i], "topology/thread_siblings_list", cpus[i] < 2 ? "0\n" : "2-3\n");
		put(w, cpus[i], "cpufreq/scaling_governor",
		    cpus[i] == 3 ? "powersave\n" : "performance\n");
		put(w, cpus[i], "cpufreq/scaling_driver", "intel_pstate\n");
		put(w, cpus[i], "cpufreq/scaling_max_freq", "2100000\n");
		put(w, cpus[i], "cpufreq/cpuinfo_max_freq", "3900000\n");
		put(w, cpus[i], "cpufreq/scaling_cur_freq", cpus[i] ? "1200000\n" : "<unknown>\n");
	}
}

static int run(struct world *w)
{
	const struct probe_context ctx = { 0 };
	struct error detail = { "" };

	return probe_cpu.collect(w->fs.src, &ctx, w->f, &detail);
}

static void test_topology(void **state)
{
	struct world *w = *state;
	const struct cpu_facts *c;

	build(w);
	assert_int_equal(run(w), 0);
	assert_int_equal(w->f->ncpus, 3);
	c = facts_cpu(w->f, 0);
	assert_true(nd_u64_is(c->node, 0) && nd_u64_is(c->package, 0) && nd_u64_is(c->core, 7));
	assert_int_equal(nd_cpus_count(&c->siblings), 1);
	assert_string_equal(c->governor.v, "performance");
	assert_string_equal(c->driver.v, "intel_pstate");
	assert_true(nd_u64_is(c->limit_khz, 2100000) && nd_u64_is(c->hardware_khz, 3900000));
	assert_int_equal(c->current_khz.k, ND_INVALID);
	assert_null(facts_cpu(w->f, 1));
	c = facts_cpu(w->f, 3);
	assert_true(nd_u64_is(c->node, 1) && nd_cpus_has(&c->siblings, 2));
	assert_string_equal(c->governor.v, "powersave");
	assert_true(nd_u64_is(c->current_khz, 1200000));
}

/* A VM: no cpufreq, no nodes. */
static void test_bare_vm(void **state)
{
	struct world *w = *state;

	fake_file(&w->fs, SYS "cpu/online", "0\n");
	assert_int_equal(run(w), 0);
	assert_int_equal(w->f->ncpus, 1);
	assert_int_equal(w->f->cpus[0].node.k, ND_ABSENT);
	assert_int_equal(w->f->cpus[0].governor.k, ND_ABSENT);
	assert_int_equal(w->f->cpus[0].hardware_khz.k, ND_ABSENT);
	assert_int_equal(w->f->cpus[0].siblings.k, ND_ABSENT);
}

static void test_no_list(void **state)
{
	struct world *w = *state;

	assert_int_equal(run(w), -ENOENT);
	fake_file(&w->fs, SYS "cpu/online", "0-99999999\n");
	assert_int_equal(run(w), -EIO);
	assert_int_equal(w->f->ncpus, 0);
}

/* Reading a frequency takes time on old kernels: the rest stays unread, not zero. */
static void test_frequency_budget(void **state)
{
	struct world *w = *state;

	build(w);
	w->fs.step_ns = 60000000;
	assert_int_equal(run(w), 0);
	assert_int_equal(facts_cpu(w->f, 2)->current_khz.k, ND_KNOWN);
	assert_int_equal(facts_cpu(w->f, 3)->current_khz.k, ND_UNREAD);
	assert_int_equal(facts_cpu(w->f, 3)->limit_khz.k, ND_KNOWN);
}

static void test_counters(void **state)
{
	struct world *w = *state;
	struct counters *c = counters_new(0);
	struct irq_facts *irq;

	build(w);
	put(w, 3, "thermal_throttle/core_throttle_total_time_ms", "12\n");
	put(w, 2, "thermal_throttle/core_throttle_total_time_ms", "18446744073709551615\n");
	assert_int_equal(run(w), 0);
	/* CPU 3 is ours, CPU 2 takes the NIC's interrupts, CPU 0 does neither. */
	nd_cpus_set(&w->f->host.cpus_allowed, 3);
	irq = arena_append_row(w->f->mem, (void **)&w->f->irqs, &w->f->nirqs, sizeof(*irq));
	nd_cpus_set(&irq->effective, 2);
	assert_int_equal(counter_freqs.sample(w->fs.src, w->f, c), 0);
	assert_int_equal(c->nfreqs, 2);
	assert_true(nd_u64_is(c->freqs[0].cpu, 2) && nd_u64_is(c->freqs[1].cpu, 3));
	assert_true(nd_u64_is(c->freqs[1].current_khz, 1200000));
	assert_true(nd_u64_is(c->freqs[1].throttle_us, 12000));
	assert_int_equal(c->freqs[0].throttle_us.k, ND_INVALID);
	counters_free(c);
}

static void test_counters_without_cpufreq(void **state)
{
	struct world *w = *state;
	struct counters *c = counters_new(0);

	fake_file(&w->fs, SYS "cpu/online", "0\n");
	assert_int_equal(run(w), 0);
	assert_int_equal(counter_freqs.sample(w->fs.src, w->f, c), 0);
	assert_int_equal(c->nfreqs, 0);
	counters_free(c);
}

#define WORLD_TEST(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_topology),
		WORLD_TEST(test_bare_vm),
		WORLD_TEST(test_no_list),
		WORLD_TEST(test_frequency_budget),
		WORLD_TEST(test_counters),
		WORLD_TEST(test_counters_without_cpufreq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "probes/proc.h"
#include "tests/unit/fake_source.h"

enum { LIMIT = 4 << 20 };

static int collect(struct fake *fake, struct facts *f, struct error *detail)
{
	struct probe_context ctx = { 0 };

	detail->text[0] = '\0';
	return probe_cgroups.collect(fake->src, &ctx, f, detail);
}

static bool is_cpus(const struct nd_cpus *m, const char *list)
{
	char text[256];

	nd_cpus_format_list(m, text, sizeof(text));
	return m->k == ND_KNOWN && !strcmp(text, list);
}

static void test_v2(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct counters *c = counters_new(LIMIT);
	struct error detail;
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake_file(&fake, "/proc/self/cgroup", "0::/a.slice/b:c.service\n");
	fake_file(&fake, "/proc/self/mountinfo",
		  "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		  "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
	fake_file(&fake, "/sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
	fake_file(&fake, "/sys/fs/cgroup/a.slice/cpuset.cpus.effective", "0-3\n");
	fake_file(&fake, "/sys/fs/cgroup/a.slice/b:c.service/cpu.max", "max 100000\n");
	fake_file(&fake, "/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n");
	fake_file(&fake, "/sys/fs/cgroup/a.slice/cpu.stat",
		  "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 123456\n");
	fake_file(&fake, "/sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
	assert_int_equal(collect(&fake, f, &detail), 0);
	assert_int_equal(f->ncgroups, 3);
	assert_string_equal(f->cgroups[0].path.v, "/a.slice/b:c.service");
	assert_string_equal(f->cgroups[0].directory.v, "/sys/fs/cgroup/a.slice/b:c.service");
	assert_int_equal(f->cgroups[0].quota_us.k, ND_NOT_APPLICABLE);
	assert_true(is_cpus(&f->cgroups[0].cpuset, "0-3"));	/* the parent's: not enabled here */
	assert_string_equal(f->cgroups[1].path.v, "/a.slice");
	assert_true(nd_u64_is(f->cgroups[1].version, 2));
	assert_true(nd_u64_is(f->cgroups[1].quota_us, 150000));
	assert_true(nd_u64_is(f->cgroups[1].period_us, 100000));
	assert_string_equal(f->cgroups[2].path.v, "/");
	assert_string_equal(f->cgroups[2].directory.v, "/sys/fs/cgroup");
	assert_int_equal(f->cgroups[2].quota_us.k, ND_NOT_APPLICABLE);	/* the root has no file */
	assert_true(is_cpus(&f->cgroups[2].cpuset, "0-7"));

	assert_int_equal(counter_cgroups.sample(fake.src, f, c), 0);
	assert_int_equal(c->ncgroups, 3);
	assert_int_equal(c->cgroups[0].periods.k, ND_ABSENT);	/* no file */
	assert_true(nd_u64_is(c->cgroups[1].periods, 10));
	assert_true(nd_u64_is(c->cgroups[1].throttled, 4));
	assert_true(nd_u64_is(c->cgroups[1].throttled_us, 123456));
	assert_int_equal(c->cgroups[2].throttled_us.k, ND_ABSENT);	/* a file without them */
	counters_free(c);
	facts_free(f);
	fake_close(&fake);
}

static const char hybrid_mounts[] =
	"30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
	"31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	"33 30 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
	"40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

static void test_hybrid_v1(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct counters *c = counters_new(LIMIT);
	struct error detail;
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake_file(&fake, "/proc/self/cgroup",
		  "9:name=systemd:/user\n4:memory:/m\n3:cpuset:/pinned\n"
		  "2:cpu,cpuacct:/limited\n0::/u\n");
	fake_file(&fake, "/proc/self/mountinfo", hybrid_mounts);
	fake_file(&fake, "/sys/fs/cgroup/cpu,cpuacct/limited/cpu.cfs_quota_us", "50000\n");
	fake_file(&fake, "/sys/fs/cgroup/cpu,cpuacct/limited/cpu.cfs_period_us", "100000\n");
	fake_file(&fake, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	fake_file(&fake, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	fake_file(&fake, "/sys/fs/cgroup/cpu,cpuacct/limited/cpu.stat",
		  "nr_periods 100\nnr_throttled 40\nthrottled_time 2500999\n");
	fake_file(&fake, "/sys/fs/cgroup/cpuset/pinned/cpuset.effective_cpus", "1\n");
	assert_int_equal(collect(&fake, f, &detail), 0);
	assert_int_equal(f->ncgroups, 2);
	assert_string_equal(f->cgroups[0].path.v, "/limited");
	assert_true(nd_u64_is(f->cgroups[0].version, 1));
	assert_true(nd_u64_is(f->cgroups[0].quota_us, 50000));
	assert_true(nd_u64_is(f->cgroups[0].period_us, 100000));
	assert_true(is_cpus(&f->cgroups[0].cpuset, "1"));
	assert_int_equal(f->cgroups[1].quota_us.k, ND_NOT_APPLICABLE);
	assert_int_equal(f->cgroups[1].period_us.k, ND_NOT_APPLICABLE);
	assert_int_equal(counter_cgroups.sample(fake.src, f, c), 0);
	assert_true(nd_u64_is(c->cgroups[0].throttled_us, 2500));	/* from nanoseconds */
	counters_free(c);
	facts_free(f);
	fake_close(&fake);
}

/* docker without a cgroup namespace: the host's path, of which a part is mounted. */
static void test_container_part_mounted(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct error detail;
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake_file(&fake, "/proc/self/cgroup", "2:cpu,cpuacct:/docker/0123\n");
	fake_file(&fake, "/proc/self/mountinfo",
		  "31 30 0:28 /docker/0123 /sys/fs/cgroup/cpu\\040x ro - cgroup cgroup rw,cpu\n");
	fake_file(&fake, "/sys/fs/cgroup/cpu x/cpu.cfs_quota_us", "200000\n");
	fake_file(&fake, "/sys/fs/cgroup/cpu x/cpu.cfs_period_us", "100000\n");
	assert_int_equal(collect(&fake, f, &detail), 0);
	assert_int_equal(f->ncgroups, 1);
	assert_string_equal(f->cgroups[0].path.v, "/");
	assert_string_equal(f->cgroups[0].directory.v, "/sys/fs/cgroup/cpu x");
	assert_true(nd_u64_is(f->cgroups[0].quota_us, 200000));
	facts_free(f);
	fake_close(&fake);
}

static void test_not_visible(void **state)
{
	static const char *const paths[] = { "0::/../sibling\n", "0::/..\n", "0::/x/../../y\n" };
	struct counters *c;
	struct error detail;
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake_file(&fake, "/proc/self/mountinfo",
		  "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct facts *f = facts_new(LIMIT);

		fake_file(&fake, "/proc/self/cgroup", paths[i]);
		assert_int_equal(collect(&fake, f, &detail), 0);
		assert_int_equal(f->ncgroups, 1);
		assert_int_equal(f->cgroups[0].directory.k, ND_ABSENT);
		assert_int_equal(f->cgroups[0].quota_us.k, ND_ABSENT);
		c = counters_new(LIMIT);
		assert_int_equal(counter_cgroups.sample(fake.src, f, c), 0);
		assert_int_equal(c->ncgroups, 0);
		counters_free(c);
		facts_free(f);
	}
	fake_close(&fake);
}

/* The same hierarchy mounted twice: the mount that shows more ancestors counts. */
static void test_widest_mount(void **state)
{
	char mounts[] = "1 0 0:1 /a/b /narrow rw - cgroup2 none rw\n"
			"2 0 0:1 / /wide rw - cgroup2 none rw\n"
			"3 0 0:1 /a/bc /wrong rw - cgroup2 none rw\n"
			"nonsense\n"
			"4 0 0:1 /a /short rw - cgroup2\n";
	struct cgroup_place place = { 2, "/a/b/c" };
	struct arena *mem = arena_new(LIMIT);
	const char *point, *below;

	(void)state;
	assert_int_equal(find_cgroup_mount(mounts, &place, NULL, mem, &point, &below), 0);
	assert_string_equal(point, "/wide");
	assert_string_equal(below, "/a/b/c");
	arena_free(mem);
}

static void test_nothing_there(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct error detail;
	struct fake fake;

	(void)state;
	fake_open(&fake);
	assert_int_equal(collect(&fake, f, &detail), -ENOENT);
	assert_non_null(strstr(detail.text, "/proc/self/cgroup"));
	fake_file(&fake, "/proc/self/cgroup", "garbage\n\n::\n1:cpu\n1:cpu:relative\n");
	fake_file(&fake, "/proc/self/mountinfo", "");
	assert_int_equal(collect(&fake, f, &detail), -ENOENT);
	assert_non_null(strstr(detail.text, "cpu controller"));
	assert_int_equal(f->ncgroups, 0);
	facts_free(f);
	fake_close(&fake);
}

static void test_deep_path_is_bounded(void **state)
{
	char path[512] = "0::";
	struct facts *f = facts_new(LIMIT);
	struct error detail;
	struct fake fake;

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(path, "/x");
	fake_open(&fake);
	fake_file(&fake, "/proc/self/cgroup", path);
	fake_file(&fake, "/proc/self/mountinfo", "30 22 0:26 / /c rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(collect(&fake, f, &detail), 0);
	assert_true(f->ncgroups >= 16 && f->ncgroups <= 64);
	facts_free(f);
	fake_close(&fake);
}

static void test_cpu_max(void **state)
{
	static const char *const bad[] = { "", "max", "x 100000", "1000 0", "-5 100", "5 5x",
					   "99999999999999999999 1" };
	struct nd_u64 quota, period;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *text = strdup(bad[i]);

		parse_cpu_max(text, &quota, &period);
		assert_int_equal(quota.k, ND_INVALID);
		assert_int_equal(period.k, ND_INVALID);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v2),
		cmocka_unit_test(test_hybrid_v1),
		cmocka_unit_test(test_container_part_mounted),
		cmocka_unit_test(test_not_visible),
		cmocka_unit_test(test_widest_mount),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_deep_path_is_bounded),
		cmocka_unit_test(test_cpu_max),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

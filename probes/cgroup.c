/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU limits of our own cgroup and all its ancestors: any of them can throttle.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

enum { LEVELS_MAX = 32, PATH_BYTES = 4096 };

void parse_cpu_max(char *text, struct nd_u64 *quota_us, struct nd_u64 *period_us)
{
	char *quota = next_word(&text), *period = next_word(&text);

	*quota_us = *period_us = nd_u64_unknown(ND_INVALID);
	if (!quota || !period)
		return;
	if (!strcmp(quota, "max")) {
		*quota_us = *period_us = nd_u64_unknown(ND_NOT_APPLICABLE);
		return;
	}
	if (parse_u64(quota, &quota_us->v) || parse_u64(period, &period_us->v) || !period_us->v)
		return;
	quota_us->k = period_us->k = ND_KNOWN;
}

void parse_cpu_stat(char *text, struct cgroup_sample *row)
{
	char *line;

	row->periods = row->throttled = row->throttled_us = nd_u64_unknown(ND_ABSENT);
	while ((line = next_line(&text))) {
		char *name = next_word(&line), *word = next_word(&line);
		struct nd_u64 v = nd_u64(0);

		if (!name)
			continue;
		if (!word || parse_u64(word, &v.v))
			v = nd_u64_unknown(ND_INVALID);
		if (!strcmp(name, "nr_periods"))
			row->periods = v;
		else if (!strcmp(name, "nr_throttled"))
			row->throttled = v;
		else if (!strcmp(name, "throttled_usec"))	/* v2 */
			row->throttled_us = v;
		else if (!strcmp(name, "throttled_time")) {	/* v1: nanoseconds */
			v.v /= 1000;
			row->throttled_us = v;
		}
	}
}

static void read_limit_v1(struct source *src, struct cgroup_facts *row)
{
	struct nd_i64 quota = source_read_i64(src, "%s/cpu.cfs_quota_us", row->directory.v);

	row->quota_us = nd_u64_unknown(quota.k);
	row->period_us = source_read_u64(src, "%s/cpu.cfs_period_us", row->directory.v);
	if (quota.k == ND_KNOWN && quota.v >= 0)
		row->quota_us = nd_u64((uint64_t)quota.v);
	else if (quota.k == ND_KNOWN)	/* -1 */
		row->quota_us = row->period_us = nd_u64_unknown(ND_NOT_APPLICABLE);
}

static void read_limit_v2(struct source *src, struct cgroup_facts *row)
{
	char line[64];
	int rc = source_read_line(src, line, sizeof(line), "%s/cpu.max", row->directory.v);

	/* The root has none, nor has a group whose cpu controller is not enabled: no limit. */
	if (rc == -ENOENT)
		row->quota_us = row->period_us = nd_u64_unknown(ND_NOT_APPLICABLE);
	else if (rc)
		row->quota_us = row->period_us = nd_u64_unknown(nd_known_from_errno(-rc));
	else
		parse_cpu_max(line, &row->quota_us, &row->period_us);
}

static int add_level(struct source *src, struct facts *f, unsigned int version,
		     const char *mount_point, const char *below)
{
	struct cgroup_facts *row = arena_append_row(f->mem, (void **)&f->cgroups, &f->ncgroups,
						    sizeof(*row));
	char *directory;

	if (!row)
		return -ENOMEM;
	row->version = nd_u64(version);
	row->path = nd_str(below);
	directory = arena_printf(f->mem, "%s%s", mount_point, below[1] ? below : "");
	if (!directory)
		return -ENOMEM;
	row->directory = nd_str(directory);
	row->cpuset = (struct nd_cpus){ .k = ND_ABSENT };
	if (version == 1)
		read_limit_v1(src, row);
	else
		read_limit_v2(src, row);
	return 0;
}

/* "/a/b" -> "/a" -> "/"; false at the root. */
static bool to_parent(char *below)
{
	char *slash = strrchr(below, '/');

	if (!slash || !below[1])
		return false;
	slash[slash == below] = '\0';
	return true;
}

static int add_levels(struct source *src, struct facts *f, unsigned int version,
		      const char *mount_point, const char *below)
{
	char *level = arena_strdup(f->mem, below);

	for (unsigned int i = 0; level && i < LEVELS_MAX; i++) {
		if (add_level(src, f, version, mount_point, level))
			return -ENOMEM;
		level = arena_strdup(f->mem, level);
		if (level && !to_parent(level))
			return 0;
	}
	return level ? 0 : -ENOMEM;
}

/* Own cgroup lies outside of what this mount or namespace shows: it exists, we cannot see it. */
static int add_invisible(struct facts *f, const struct cgroup_place *place)
{
	struct cgroup_facts *row = arena_append_row(f->mem, (void **)&f->cgroups, &f->ncgroups,
						    sizeof(*row));
	char *path = arena_strdup(f->mem, place->path);

	if (!row || !path)
		return -ENOMEM;
	row->path = nd_str(path);
	row->version = nd_u64(place->version);
	row->directory = nd_str_unknown(ND_ABSENT);
	row->quota_us = row->period_us = nd_u64_unknown(ND_ABSENT);
	row->cpuset = (struct nd_cpus){ .k = ND_ABSENT };
	return 0;
}

static void read_cpusets(struct source *src, struct facts *f, const struct cgroup_place *place,
			 const char *mount_point, const char *below)
{
	const char *file = place->version == 1 ? "cpuset.effective_cpus" : "cpuset.cpus.effective";
	bool same_levels = f->ncgroups && nd_str_is(f->cgroups[0].path, below);

	/* In a hierarchy of its own only the group itself corresponds, not the ancestors. */
	for (size_t i = 0; i < f->ncgroups && (same_levels || !i); i++) {
		const char *level = same_levels ? f->cgroups[i].path.v : below;

		f->cgroups[i].cpuset = source_read_cpu_list(src, "%s%s/%s", mount_point,
							    level[1] ? level : "", file);
	}
	/* Where the controller is not enabled, the parent's set holds. */
	for (size_t i = f->ncgroups; same_levels && i-- > 1;) {
		if (f->cgroups[i - 1].cpuset.k == ND_ABSENT)
			f->cgroups[i - 1].cpuset = f->cgroups[i].cpuset;
	}
}

static int collect_levels(struct source *src, struct facts *f, const char *self,
			  const char *mountinfo)
{
	struct cgroup_place cpu, cpuset;
	char *self_copy = arena_strdup(f->mem, self), *mounts = arena_strdup(f->mem, mountinfo);
	const char *mount_point, *below;
	int rc;

	if (!self_copy || !mounts)
		return -ENOMEM;
	parse_self_cgroup(self_copy, &cpu, &cpuset);
	if (!cpu.version)
		return -ENOENT;
	rc = find_cgroup_mount(mounts, &cpu, "cpu", f->mem, &mount_point, &below);
	if (rc == -ENOENT)
		return add_invisible(f, &cpu);
	if (!rc)
		rc = add_levels(src, f, cpu.version, mount_point, below);
	if (rc || !cpuset.version)
		return rc;
	mounts = arena_strdup(f->mem, mountinfo);
	if (!mounts)
		return -ENOMEM;
	rc = find_cgroup_mount(mounts, &cpuset, "cpuset", f->mem, &mount_point, &below);
	if (!rc)
		read_cpusets(src, f, &cpuset, mount_point, below);
	return rc == -ENOENT ? 0 : rc;
}

static int collect_cgroups(struct source *src, const struct probe_context *ctx, struct facts *f,
			   struct error *detail)
{
	char *self = NULL, *mountinfo = NULL;
	ssize_t n = source_read_all(src, "/proc/self/cgroup", PROC_FILE_MAX, &self);
	int rc;

	(void)ctx;
	if (n < 0)
		return error_set(detail, (int)-n, "cannot read /proc/self/cgroup: %s",
				 strerror((int)-n));
	n = source_read_all(src, "/proc/self/mountinfo", PROC_FILE_MAX, &mountinfo);
	rc = n < 0 ? error_set(detail, (int)-n, "cannot read /proc/self/mountinfo: %s",
			       strerror((int)-n))
		   : collect_levels(src, f, self, mountinfo);
	if (rc == -ENOENT && n >= 0)
		error_set(detail, ENOENT, "no cgroup hierarchy has the cpu controller");
	free(self);
	if (n >= 0)
		free(mountinfo);
	return rc;
}

const struct probe probe_cgroups = {
	.name = "cgroups",
	.summary = "CPU quota and CPU set of our cgroup and its ancestors, v1 and v2",
	.phase = PROBE_HOST,
	.collect = collect_cgroups,
};

static int sample_cgroups(struct source *src, const struct facts *f, struct counters *c)
{
	for (size_t i = 0; i < f->ncgroups; i++) {
		const struct cgroup_facts *level = &f->cgroups[i];
		struct cgroup_sample *row;
		char path[PATH_BYTES], text[2048];
		ssize_t n;

		if (level->directory.k != ND_KNOWN)
			continue;
		n = snprintf(path, sizeof(path), "%s/cpu.stat", level->directory.v);
		if (n < 0 || (size_t)n >= sizeof(path))
			continue;
		row = arena_append_row(c->mem, (void **)&c->cgroups, &c->ncgroups, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->path = level->path;
		n = source_read(src, path, text, sizeof(text));
		if (n < 0)
			row->periods = row->throttled = row->throttled_us =
				nd_u64_unknown(nd_known_from_errno((int)-n));
		else
			parse_cpu_stat(text, row);
	}
	return 0;
}

const struct counter_probe counter_cgroups = {
	.name = "cgroups",
	.rate = COUNTER_EVERY_SAMPLE,
	.sample = sample_cgroups,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Software steering of each queue: RPS, RFS and XPS, and threaded NAPI.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/link_device.h"
#include "probes/probes_table.h"
#include "src/core/text.h"

/* Per direction.  Drivers go up to some hundreds. */
#define QUEUES_MAX 1024

/* "rx-12" -> 12.  0 or -EINVAL. */
static int queue_index(const char *name, const char *direction, uint64_t *index)
{
	if (strncmp(name, direction, 2) || name[2] != '-')
		return -EINVAL;
	return parse_u64(name + 3, index);
}

static struct nd_cpus read_mask(struct source *src, const char *link, const char *queue,
				const char *file)
{
	/* Nine characters for 32 CPUs: room for 8192, more than a kernel has. */
	char line[8192 / 32 * 9 + 1];
	struct nd_cpus mask = { .k = ND_UNREAD };
	int rc = source_read_line(src, line, sizeof(line), "/sys/class/net/%s/queues/%s/%s",
				  link, queue, file);

	if (rc)
		mask.k = nd_known_from_errno(-rc);
	else if (nd_cpus_parse_mask(line, &mask))
		mask.k = ND_INVALID;
	return mask;
}

/* 0 or -ENOMEM. */
static int add_queue(struct source *src, struct facts *f, const struct link_facts *link,
		     const char *queue, bool rx, uint64_t index)
{
	struct queue_facts *row = arena_append_row(f->mem, (void **)&f->queues, &f->nqueues,
						   sizeof(*row));

	if (!row)
		return -ENOMEM;
	row->ifindex = link->ifindex;
	row->direction = nd_str(rx ? "rx" : "tx");
	row->index = nd_u64(index);
	row->steering = read_mask(src, link->name.v, queue, rx ? "rps_cpus" : "xps_cpus");
	if (rx)
		row->flow_entries = source_read_u64(src,
						    "/sys/class/net/%s/queues/%s/rps_flow_cnt",
						    link->name.v, queue);
	else
		row->flow_entries = nd_u64_unknown(ND_NOT_APPLICABLE);
	return 0;
}

static int read_queues(struct source *src, struct facts *f, const struct link_facts *link)
{
	struct names names = { 0 };
	size_t n[2] = { 0 };
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/sys/class/net/%.15s/queues", link->name.v);
	rc = source_list(src, path, &names);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < names.n; i++) {
		bool rx = names.v[i][0] == 'r';
		uint64_t index;

		if (!queue_index(names.v[i], rx ? "rx" : "tx", &index) && n[rx]++ < QUEUES_MAX)
			rc = add_queue(src, f, link, names.v[i], rx, index);
	}
	names_free(&names);
	return rc;
}

static struct nd_bool read_threaded(struct source *src, const struct link_facts *link)
{
	struct nd_u64 v = source_read_u64(src, "/sys/class/net/%s/threaded", link->name.v);

	/* 2 stands for threads that poll without pause, in kernels that have that mode. */
	return v.k == ND_KNOWN ? nd_bool(v.v != 0) : nd_bool_unknown(v.k);
}

static int read_link(struct source *src, struct facts *f, struct link_facts *link, void *data)
{
	struct link_device dev;

	(void)data;
	/* Without this check another namespace's link of that name might answer. */
	if (link_device_find(src, link, &dev) || !dev.sysfs) {
		link->napi_threaded = nd_bool_unknown(ND_ABSENT);
		return 0;
	}
	link->napi_threaded = read_threaded(src, link);
	return read_queues(src, f, link) == -ENOMEM ? -ENOMEM : 0;
}

static int collect(struct source *src, const struct probe_context *ctx, struct facts *f,
		   struct error *detail)
{
	(void)detail;
	return probe_each_wanted_link(src, ctx, f, read_link, NULL);
}

const struct probe probe_queues = {
	.name = "queues",
	.summary = "RPS, RFS and XPS of each queue, threaded NAPI",
	.phase = PROBE_DEVICES,
	.collect = collect,
};

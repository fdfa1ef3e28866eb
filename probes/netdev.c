/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which NAPI instance serves a queue, and which interrupt wakes it: queue-get and napi-get of the
 * netdev generic netlink family, both since Linux 6.8.
 *
 * Only drivers that call netif_queue_set_napi() tell; of the others' queues the kernel knows no
 * NAPI, and of virtual devices' NAPI no interrupt.
 */
#include "probes/netdev.h"

#include <errno.h>

#include "probes/probes_table.h"

/* Per link.  Drivers go up to some hundreds. */
#define ROWS_MAX 2048

static struct queue_facts *find_queue(struct facts *f, uint64_t ifindex, const char *direction,
				      uint64_t index)
{
	for (size_t i = 0; i < f->nqueues; i++) {
		struct queue_facts *q = &f->queues[i];

		if (nd_u64_is(q->ifindex, ifindex) && nd_str_is(q->direction, direction) &&
		    nd_u64_is(q->index, index))
			return q;
	}
	return NULL;
}

/* 0 or -ENOMEM. */
static int take_queue(const struct nlattr *const *tb, uint64_t ifindex, struct facts *f)
{
	struct nd_u64 id = attribute_u32(tb[NETDEV_QUEUE_ID]);
	struct nd_u64 type = attribute_u32(tb[NETDEV_QUEUE_TYPE]);
	struct queue_facts *q;

	if (id.k != ND_KNOWN || type.k != ND_KNOWN || type.v > NETDEV_QUEUE_TX ||
	    !nd_u64_is(attribute_u32(tb[NETDEV_QUEUE_IFINDEX]), ifindex))
		return 0;
	const char *direction = type.v == NETDEV_QUEUE_RX ? "rx" : "tx";
	q = find_queue(f, ifindex, direction, id.v);
	if (!q) {
		q = arena_append_row(f->mem, (void **)&f->queues, &f->nqueues, sizeof(*q));
		if (!q)
			return -ENOMEM;
		q->ifindex = nd_u64(ifindex);
		q->direction = nd_str(direction);
		q->index = id;
	}
	q->napi = attribute_u32(tb[NETDEV_QUEUE_NAPI]);
	return 0;
}

static int take_napi(const struct nlattr *const *tb, uint64_t ifindex, struct facts *f)
{
	struct nd_u64 id = attribute_u32(tb[NETDEV_NAPI_ID]);
	struct napi_facts *row;

	if (id.k != ND_KNOWN || !nd_u64_is(attribute_u32(tb[NETDEV_NAPI_IFINDEX]), ifindex))
		return 0;
	row = arena_append_row(f->mem, (void **)&f->napis, &f->nnapis, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->ifindex = nd_u64(ifindex);
	row->napi = id;
	row->irq = attribute_u32(tb[NETDEV_NAPI_IRQ]);
	row->thread_id = tb[NETDEV_NAPI_PID] ? attribute_u32(tb[NETDEV_NAPI_PID])
					     : nd_u64_unknown(ND_NOT_APPLICABLE);
	return 0;
}

static int take_each(const struct bytes *replies, uint16_t family, uint8_t command,
		     uint64_t ifindex, struct facts *f,
		     int (*take)(const struct nlattr *const *, uint64_t, struct facts *))
{
	const struct nlattr *tb[NETDEV_NAPI_PID + 1];
	size_t offset = 0;
	int rc = 0;

	for (size_t n = 0; !rc && n < ROWS_MAX &&
	     ethtool_next_reply(replies, &offset, family, command, tb, ARRAY_SIZE(tb)); n++)
		rc = take(tb, ifindex, f);
	return rc;
}

int netdev_parse_queues(const struct bytes *replies, uint16_t family, uint64_t ifindex,
			struct facts *f)
{
	return take_each(replies, family, NETDEV_QUEUE_GET, ifindex, f, take_queue);
}

int netdev_parse_napis(const struct bytes *replies, uint16_t family, uint64_t ifindex,
		       struct facts *f)
{
	return take_each(replies, family, NETDEV_NAPI_GET, ifindex, f, take_napi);
}

struct netdev { struct ethtool_family family; int why; };

static void all_unknown(struct facts *f, uint64_t ifindex, enum nd_known why)
{
	for (size_t i = 0; i < f->nqueues; i++)
		if (nd_u64_is(f->queues[i].ifindex, ifindex))
			f->queues[i].napi = nd_u64_unknown(why);
}

static int ask(struct source *src, const struct netdev *n, uint8_t command, uint16_t attribute,
	       uint64_t ifindex, struct bytes *replies)
{
	/* A family that serves less is that of 6.3 to 6.7. */
	if (n->why || !ethtool_family_has(&n->family, command))
		return n->why ? n->why : -EOPNOTSUPP;
	return genl_dump_of_link(src, &n->family, command, attribute, (uint32_t)ifindex, replies);
}

static int read_link(struct source *src, struct facts *f, struct link_facts *link, void *data)
{
	const struct netdev *n = data;
	struct bytes replies = { 0 };
	uint64_t ifindex = link->ifindex.v;

	if (link->ifindex.k != ND_KNOWN || ifindex > INT32_MAX)
		return 0;
	int rc = ask(src, n, NETDEV_QUEUE_GET, NETDEV_QUEUE_IFINDEX, ifindex, &replies);
	if (rc)
		all_unknown(f, ifindex, nd_known_from_errno(-rc));
	else
		rc = netdev_parse_queues(&replies, n->family.id, ifindex, f);
	bytes_free(&replies);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	replies = (struct bytes){ 0 };
	if (!ask(src, n, NETDEV_NAPI_GET, NETDEV_NAPI_IFINDEX, ifindex, &replies))
		rc = netdev_parse_napis(&replies, n->family.id, ifindex, f);
	bytes_free(&replies);
	return rc;
}

static int collect(struct source *src, const struct probe_context *ctx, struct facts *f,
		   struct error *detail)
{
	struct netdev n = { .why = 0 };

	n.why = genl_family_resolve(src, NETDEV_FAMILY, &n.family);
	/* The controller knows no such family: before 6.3. */
	if (n.why == -ENOENT)
		n.why = -EOPNOTSUPP;
	if (!n.why && !ethtool_family_has(&n.family, NETDEV_QUEUE_GET))
		n.why = -EOPNOTSUPP;
	if (n.why)
		error_set(detail, -n.why, "the kernel does not tell which NAPI serves a queue "
			  "(Linux 6.8 does)");
	int rc = probe_each_wanted_link(src, ctx, f, read_link, &n);
	return rc ? rc : n.why;
}

const struct probe probe_netdev = {
	.name = "netdev",
	.summary = "NAPI instance and interrupt of each queue",
	.phase = PROBE_DEVICES,
	.collect = collect,
};

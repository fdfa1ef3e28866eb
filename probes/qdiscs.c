/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queueing disciplines and traffic classes: RTM_GETQDISC, RTM_GETTCLASS and
 * their TCA_STATS2.
 */
#include "probes/rtnetlink.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "probes/probes_table.h"

/* 64-bit packet counts (5.5), newer than some distributions' headers. */
enum { ATTR_STATS_PKT64 = 8 };

/* A shaper of thousands of subscribers is not sampled class by class at 10 Hz. */
enum { SAMPLED_CLASSES_MAX = 256 };

static int request_tc(struct source *src, uint16_t type, uint64_t ifindex, struct bytes *replies)
{
	struct {
		struct nlmsghdr header;
		struct tcmsg info;
	} req = {
		.header = {
			.nlmsg_len = sizeof(req),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		/* The kernel heeds the index for classes only; qdiscs come for all links. */
		.info = { .tcm_family = AF_UNSPEC, .tcm_ifindex = (int)ifindex },
	};

	return source_netlink(src, NETLINK_ROUTE, &req, sizeof(req), replies);
}

/* The next message about a qdisc or class. */
static struct nlmsghdr *next_tc(struct rtnl_cursor *cursor, bool *is_class)
{
	struct nlmsghdr *msg;

	while ((msg = rtnl_next(cursor, RTNL_ANY_TYPE, sizeof(struct tcmsg)))) {
		*is_class = msg->nlmsg_type == RTM_NEWTCLASS;
		if (*is_class || msg->nlmsg_type == RTM_NEWQDISC)
			break;
	}
	return msg;
}

int parse_qdiscs(const void *buf, size_t len, const struct probe_context *ctx, struct facts *f)
{
	struct rtnl_cursor cursor;
	struct nlmsghdr *msg;
	bool is_class;

	rtnl_start(&cursor, buf, len);
	while ((msg = next_tc(&cursor, &is_class))) {
		const struct tcmsg *info = nlmsg_data(msg);
		const struct link_facts *link = facts_link(f, (uint32_t)info->tcm_ifindex);
		struct nlattr *attrs[TCA_MAX + 1];
		struct qdisc_facts *q;

		if (!link || !probe_link_wanted(ctx, f, link))
			continue;
		q = arena_append_row(f->mem, (void **)&f->qdiscs, &f->nqdiscs, sizeof(*q));
		if (!q)
			return -ENOMEM;
		rtnl_attributes(msg, sizeof(*info), attrs, TCA_MAX);
		q->ifindex = link->ifindex;
		q->handle = nd_u64(info->tcm_handle);
		q->parent = nd_u64(info->tcm_parent);
		q->is_class = nd_bool(is_class);
		q->kind = rtnl_string(attrs[TCA_KIND], f->mem);
		parse_qdisc_options(q->kind.k == ND_KNOWN ? q->kind.v : "", is_class,
				    attrs[TCA_OPTIONS], q);
	}
	return rtnl_end(&cursor);
}

static bool is_classful(const struct qdisc_facts *q)
{
	return nd_is_false(q->is_class) && q->kind.k == ND_KNOWN &&
	       qdisc_kind_has_classes(q->kind.v);
}

/* Whether row i is the first classful qdisc of its link. */
static bool first_classful(const struct facts *f, size_t i)
{
	if (!is_classful(&f->qdiscs[i]))
		return false;
	for (size_t k = 0; k < i; k++) {
		if (f->qdiscs[k].ifindex.v == f->qdiscs[i].ifindex.v && is_classful(&f->qdiscs[k]))
			return false;
	}
	return true;
}

static int collect_classes(struct source *src, const struct probe_context *ctx, struct facts *f,
			   uint64_t ifindex)
{
	struct bytes replies = { 0 };
	int rc = request_tc(src, RTM_GETTCLASS, ifindex, &replies);

	if (!rc)
		rc = parse_qdiscs(replies.data, replies.len, ctx, f);
	bytes_free(&replies);
	return rc;
}

static int collect_qdiscs(struct source *src, const struct probe_context *ctx, struct facts *f,
			  struct error *detail)
{
	struct bytes replies = { 0 };
	int rc = request_tc(src, RTM_GETQDISC, 0, &replies);
	size_t n;

	if (rc)
		return error_set(detail, -rc, "cannot list qdiscs by rtnetlink: %s",
				 strerror(-rc));
	rc = parse_qdiscs(replies.data, replies.len, ctx, f);
	bytes_free(&replies);
	n = f->nqdiscs;
	for (size_t i = 0; i < n && rc != -ENOMEM; i++) {
		int classes;

		if (!first_classful(f, i))
			continue;
		classes = collect_classes(src, ctx, f, f->qdiscs[i].ifindex.v);
		if (classes) {
			error_set(detail, -classes, "cannot list classes of link %ju: %s",
				  (uintmax_t)f->qdiscs[i].ifindex.v, strerror(-classes));
			rc = classes;
		}
	}
	return rc;
}

const struct probe probe_qdiscs = {
	.name = "qdiscs",
	.summary = "queueing disciplines and classes with their rates, by rtnetlink",
	.phase = PROBE_DEVICES,
	.collect = collect_qdiscs,
};

static void read_stats(struct nlattr *attr, struct qdisc_sample *row)
{
	struct nlattr *a[ATTR_STATS_PKT64 + 1];
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;
	size_t basic_bytes, queue_bytes;

	rtnl_nested(attr, a, ATTR_STATS_PKT64);
	basic_bytes = rtnl_struct(a[TCA_STATS_BASIC], &basic, sizeof(basic));
	queue_bytes = rtnl_struct(a[TCA_STATS_QUEUE], &queue, sizeof(queue));
	row->bytes = row->packets = row->drops = row->overlimits = row->requeues =
		row->backlog_bytes = nd_u64_unknown(ND_ABSENT);
	if (basic_bytes >= offsetof(struct gnet_stats_basic, packets) + sizeof(basic.packets)) {
		row->bytes = nd_u64(basic.bytes);
		row->packets = nd_u64(basic.packets);
	}
	if (a[ATTR_STATS_PKT64])
		row->packets = rtnl_u64(a[ATTR_STATS_PKT64]);
	if (queue_bytes >= sizeof(queue)) {
		row->drops = nd_u64(queue.drops);
		row->overlimits = nd_u64(queue.overlimits);
		row->requeues = nd_u64(queue.requeues);
		row->backlog_bytes = nd_u64(queue.backlog);
	}
}

/* The row of facts a message is about.  Dumps keep their order: look behind the last hit first. */
static const struct qdisc_facts *find_row(const struct facts *f, const struct tcmsg *info,
					  bool is_class, size_t *hint)
{
	for (size_t i = 0; i < f->nqdiscs; i++) {
		size_t at = (*hint + i) % f->nqdiscs;
		const struct qdisc_facts *q = &f->qdiscs[at];

		if (q->handle.v == info->tcm_handle && q->parent.v == info->tcm_parent &&
		    q->ifindex.v == (uint32_t)info->tcm_ifindex && q->is_class.v == is_class) {
			*hint = at + 1;
			return q;
		}
	}
	return NULL;
}

int parse_qdisc_stats(const void *buf, size_t len, const struct facts *f, struct counters *c)
{
	struct rtnl_cursor cursor;
	struct nlmsghdr *msg;
	size_t hint = 0;
	bool is_class;

	rtnl_start(&cursor, buf, len);
	while ((msg = next_tc(&cursor, &is_class))) {
		const struct qdisc_facts *q = find_row(f, nlmsg_data(msg), is_class, &hint);
		struct nlattr *attrs[TCA_MAX + 1];
		struct qdisc_sample *row;

		if (!q)
			continue;
		row = arena_append_row(c->mem, (void **)&c->qdiscs, &c->nqdiscs, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->ifindex = q->ifindex;
		row->handle = q->handle;
		row->parent = q->parent;
		row->is_class = q->is_class;
		rtnl_attributes(msg, sizeof(struct tcmsg), attrs, TCA_MAX);
		read_stats(attrs[TCA_STATS2], row);
	}
	return rtnl_end(&cursor);
}

static int sample_dump(struct source *src, uint16_t type, uint64_t ifindex, const struct facts *f,
		       struct counters *c)
{
	struct bytes replies = { 0 };
	int rc = request_tc(src, type, ifindex, &replies);

	if (!rc)
		rc = parse_qdisc_stats(replies.data, replies.len, f, c);
	bytes_free(&replies);
	return rc;
}

static bool few_classes(const struct facts *f, uint64_t ifindex)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nqdiscs; i++)
		n += f->qdiscs[i].ifindex.v == ifindex && nd_is_true(f->qdiscs[i].is_class);
	return n > 0 && n <= SAMPLED_CLASSES_MAX;
}

static int sample_qdiscs(struct source *src, const struct facts *f, struct counters *c)
{
	int result;

	if (!f->nqdiscs)
		return 0;
	result = sample_dump(src, RTM_GETQDISC, 0, f, c);
	for (size_t i = 0; i < f->nqdiscs && result != -ENOMEM; i++) {
		uint64_t ifindex = f->qdiscs[i].ifindex.v;
		int rc;

		if (!first_classful(f, i) || !few_classes(f, ifindex))
			continue;
		rc = sample_dump(src, RTM_GETTCLASS, ifindex, f, c);
		if (rc)
			result = rc;
	}
	return result;
}

const struct counter_probe counter_qdiscs = {
	.name = "qdiscs",
	.rate = COUNTER_EVERY_SAMPLE,
	.sample = sample_qdiscs,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Links: RTM_GETLINK for what each is and for its IFLA_STATS64.
 */
#include "probes/rtnetlink.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

/* Newer than some distributions' headers (5.19). */
enum { ATTR_GRO_MAX_SIZE = 58, LINK_ATTR_MAX = ATTR_GRO_MAX_SIZE };

/* Rows are searched one by one; a recording must not make that take minutes. */
enum { LINKS_MAX = 16384 };

/* One look-up a link is cheaper than a dump until a dump is short itself. */
enum { SINGLE_LOOKUPS_MAX = 16 };

struct link_request {
	struct nlmsghdr header;
	struct ifinfomsg info;
	struct nlattr mask_attr;
	uint32_t mask;
};

static int request_links(struct source *src, uint64_t ifindex, struct bytes *replies)
{
	struct link_request req = {
		.header = {
			.nlmsg_len = sizeof(req),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST | (ifindex ? 0 : NLM_F_DUMP),
		},
		.info = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex },
		/* Leaves the IPv6 MIBs of each link out; IFLA_STATS64 stays. */
		.mask_attr = { .nla_len = sizeof(struct nlattr) + 4, .nla_type = IFLA_EXT_MASK },
		.mask = RTEXT_FILTER_SKIP_STATS,
	};

	return source_netlink(src, NETLINK_ROUTE, &req, sizeof(req), replies);
}

static const char *const operstate_words[] = {
	"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up",
};

static struct nd_str operstate(const struct nlattr *attr)
{
	struct nd_u64 v = rtnl_u8(attr);

	if (v.k != ND_KNOWN)
		return nd_str_unknown(v.k);
	return v.v < ARRAY_SIZE(operstate_words) ? nd_str(operstate_words[v.v])
						 : nd_str_unknown(ND_INVALID);
}

/* "52:54:00:12:34:56"; InfiniBand has 20 bytes, tunnels their address of 4 or 16. */
static struct nd_str hardware_address(const struct nlattr *attr, struct arena *mem)
{
	size_t len = attr ? (size_t)nla_len(attr) : 0;
	struct text t = TEXT_INIT;
	struct nd_str out = nd_str_unknown(ND_INVALID);
	char *copy;

	if (!len)
		return nd_str_unknown(ND_NOT_APPLICABLE);
	if (len > 32)
		return out;
	for (size_t i = 0; i < len; i++)
		text_printf(&t, "%s%02x", i ? ":" : "", ((const uint8_t *)nla_data(attr))[i]);
	copy = t.failed ? NULL : arena_strdup(mem, t.data);
	out = copy ? nd_str(copy) : nd_str_unknown(ND_FAILED);
	text_free(&t);
	return out;
}

static struct nd_str link_kind(const struct ifinfomsg *info, struct nlattr *linkinfo,
			       struct arena *mem)
{
	struct nlattr *table[IFLA_INFO_MAX + 1];

	if (info->ifi_type == ARPHRD_LOOPBACK)
		return nd_str("loopback");
	rtnl_nested(linkinfo, table, IFLA_INFO_MAX);
	/* Software links name their driver here; what has none stands for a device. */
	return table[IFLA_INFO_KIND] ? rtnl_string(table[IFLA_INFO_KIND], mem) : nd_str("physical");
}

/* An ifindex of another namespace means nothing in ours; 0 is none. */
static struct nd_u64 lower_ifindex(struct nlattr *const *a)
{
	struct nd_u64 v = rtnl_u32(a[IFLA_LINK]);

	if (a[IFLA_LINK_NETNSID] || v.k == ND_ABSENT || nd_u64_is(v, 0))
		return nd_u64_unknown(ND_NOT_APPLICABLE);
	return v;
}

static void read_xdp(struct nlattr *attr, struct link_facts *link)
{
	struct nlattr *table[IFLA_XDP_MAX + 1];
	struct nd_u64 attached;

	rtnl_nested(attr, table, IFLA_XDP_MAX);
	attached = rtnl_u8(table[IFLA_XDP_ATTACHED]);
	if (attached.k != ND_KNOWN) {
		link->xdp = link->xdp_generic = nd_bool_unknown(attached.k);
		return;
	}
	link->xdp = nd_bool(attached.v != XDP_ATTACHED_NONE);
	link->xdp_generic = nd_bool(attached.v == XDP_ATTACHED_SKB ||
				    (attached.v == XDP_ATTACHED_MULTI &&
				     table[IFLA_XDP_SKB_PROG_ID]));
}

static void read_link(const struct ifinfomsg *info, struct nlattr *const *a, struct arena *mem,
		      struct link_facts *link)
{
	struct nd_u64 carrier = rtnl_u8(a[IFLA_CARRIER]);

	link->ifindex = nd_u64((uint32_t)info->ifi_index);
	link->name = rtnl_string(a[IFLA_IFNAME], mem);
	link->kind = link_kind(info, a[IFLA_LINKINFO], mem);
	link->mac = hardware_address(a[IFLA_ADDRESS], mem);
	link->operstate = operstate(a[IFLA_OPERSTATE]);
	link->up = nd_bool(info->ifi_flags & IFF_UP);
	link->carrier = carrier.k == ND_KNOWN ? nd_bool(carrier.v) : nd_bool_unknown(carrier.k);
	link->mtu = rtnl_u32(a[IFLA_MTU]);
	link->tx_queue_length = rtnl_u32(a[IFLA_TXQLEN]);
	link->lower_ifindex = lower_ifindex(a);
	link->master_ifindex = rtnl_u32(a[IFLA_MASTER]);
	if (link->master_ifindex.k == ND_ABSENT)
		link->master_ifindex.k = ND_NOT_APPLICABLE;
	link->qdisc = rtnl_string(a[IFLA_QDISC], mem);
	link->gso_max_bytes = rtnl_u32(a[IFLA_GSO_MAX_SIZE]);
	link->gro_max_bytes = rtnl_u32(a[ATTR_GRO_MAX_SIZE]);
	read_xdp(a[IFLA_XDP], link);
}

int parse_links(const void *buf, size_t len, struct facts *f)
{
	struct rtnl_cursor cursor;
	struct nlmsghdr *msg;

	rtnl_start(&cursor, buf, len);
	while ((msg = rtnl_next(&cursor, RTM_NEWLINK, sizeof(struct ifinfomsg)))) {
		const struct ifinfomsg *info = nlmsg_data(msg);
		struct nlattr *attrs[LINK_ATTR_MAX + 1];
		struct link_facts *link;

		/* AF_BRIDGE and the like describe ports of links that have their own message. */
		if (info->ifi_family != AF_UNSPEC || info->ifi_index <= 0)
			continue;
		if (f->nlinks == LINKS_MAX)
			return -E2BIG;
		link = arena_append_row(f->mem, (void **)&f->links, &f->nlinks, sizeof(*link));
		if (!link)
			return -ENOMEM;
		rtnl_attributes(msg, sizeof(*info), attrs, LINK_ATTR_MAX);
		read_link(info, attrs, f->mem, link);
	}
	return rtnl_end(&cursor);
}

/*
 * Queues in use.  IFLA_NUM_TX_QUEUES counts those allocated, e.g. one per CPU on
 * a veth that uses one; sysfs has a directory for each that is real.
 */
static void count_queues(struct source *src, struct link_facts *link)
{
	struct names names = { 0 };
	char dir[320];
	size_t rx = 0, tx = 0;
	int rc;

	link->rx_queues = link->tx_queues = nd_u64_unknown(ND_ABSENT);
	if (!probe_sysfs_shows(src, link))
		return;
	snprintf(dir, sizeof(dir), "/sys/class/net/%s/queues", link->name.v);
	rc = source_list(src, dir, &names);
	if (rc) {
		link->rx_queues.k = link->tx_queues.k = nd_known_from_errno(-rc);
		return;
	}
	for (size_t i = 0; i < names.n; i++) {
		rx += !strncmp(names.v[i], "rx-", 3);
		tx += !strncmp(names.v[i], "tx-", 3);
	}
	names_free(&names);
	link->rx_queues = nd_u64(rx);
	link->tx_queues = nd_u64(tx);
}

static int collect_links(struct source *src, const struct probe_context *ctx, struct facts *f,
			 struct error *detail)
{
	struct bytes replies = { 0 };
	int rc = request_links(src, 0, &replies);

	(void)ctx;
	if (rc)
		return error_set(detail, -rc, "cannot list links by rtnetlink: %s", strerror(-rc));
	rc = parse_links(replies.data, replies.len, f);
	bytes_free(&replies);
	for (size_t i = 0; i < f->nlinks; i++)
		count_queues(src, &f->links[i]);
	return rc;
}

const struct probe probe_links = {
	.name = "links",
	.summary = "network links and their stacking, by rtnetlink",
	.phase = PROBE_LINKS,
	.collect = collect_links,
};

#define STAT(name_) \
	{ offsetof(struct rtnl_link_stats64, name_), offsetof(struct link_sample, name_) }

static const struct { size_t kernel, sample; } stat_members[] = {
	STAT(rx_bytes), STAT(tx_bytes), STAT(rx_packets), STAT(tx_packets),
	STAT(rx_dropped), STAT(tx_dropped), STAT(rx_errors), STAT(tx_errors),
	STAT(rx_missed_errors), STAT(rx_over_errors), STAT(rx_fifo_errors),
	STAT(rx_crc_errors), STAT(rx_frame_errors), STAT(rx_length_errors),
	STAT(tx_fifo_errors), STAT(tx_carrier_errors), STAT(tx_window_errors),
	STAT(collisions),
};

static void read_stats(struct nlattr *const *a, struct link_sample *row)
{
	struct rtnl_link_stats64 stats;
	size_t have = rtnl_struct(a[IFLA_STATS64], &stats, sizeof(stats));

	for (size_t i = 0; i < ARRAY_SIZE(stat_members); i++) {
		struct nd_u64 *out = (void *)((char *)row + stat_members[i].sample);
		uint64_t v;

		memcpy(&v, (char *)&stats + stat_members[i].kernel, sizeof(v));
		*out = stat_members[i].kernel + sizeof(v) <= have ? nd_u64(v)
								  : nd_u64_unknown(ND_ABSENT);
	}
	row->carrier_changes = rtnl_u32(a[IFLA_CARRIER_CHANGES]);
}

int parse_link_stats(const void *buf, size_t len, const struct facts *f, struct counters *c)
{
	struct rtnl_cursor cursor;
	struct nlmsghdr *msg;

	rtnl_start(&cursor, buf, len);
	while ((msg = rtnl_next(&cursor, RTM_NEWLINK, sizeof(struct ifinfomsg)))) {
		const struct ifinfomsg *info = nlmsg_data(msg);
		const struct link_facts *link = facts_link(f, (uint32_t)info->ifi_index);
		struct nlattr *attrs[LINK_ATTR_MAX + 1];
		struct link_sample *row;

		if (info->ifi_family != AF_UNSPEC || !link || !probe_link_wanted(NULL, f, link))
			continue;
		row = arena_append_row(c->mem, (void **)&c->links, &c->nlinks, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->ifindex = link->ifindex;
		rtnl_attributes(msg, sizeof(*info), attrs, LINK_ATTR_MAX);
		read_stats(attrs, row);
	}
	return rtnl_end(&cursor);
}

static int request_stats(struct source *src, const struct facts *f, struct bytes *replies)
{
	const struct link_facts *wanted[SINGLE_LOOKUPS_MAX];
	size_t n = probe_wanted_links(NULL, f, wanted, ARRAY_SIZE(wanted));
	int result = 0;

	if (n > ARRAY_SIZE(wanted))
		return request_links(src, 0, replies);
	for (size_t i = 0; i < n; i++) {
		int rc = request_links(src, wanted[i]->ifindex.v, replies);

		/* A link may vanish while traffic flows; the others still count. */
		if (rc && !result)
			result = rc;
	}
	return replies->len ? 0 : result;
}

static int sample_links(struct source *src, const struct facts *f, struct counters *c)
{
	struct bytes replies = { 0 };
	int rc = request_stats(src, f, &replies);

	if (!rc && replies.len)
		rc = parse_link_stats(replies.data, replies.len, f, c);
	bytes_free(&replies);
	return rc;
}

const struct counter_probe counter_links = {
	.name = "links",
	.rate = COUNTER_EVERY_SAMPLE,
	.sample = sample_links,
};

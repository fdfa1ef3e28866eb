/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses of this host: RTM_GETADDR.
 */
#include "probes/rtnetlink.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <string.h>

#include "probes/probes_table.h"

int parse_addresses(const void *buf, size_t len, struct facts *f)
{
	struct rtnl_cursor cursor;
	struct nlmsghdr *msg;

	rtnl_start(&cursor, buf, len);
	while ((msg = rtnl_next(&cursor, RTM_NEWADDR, sizeof(struct ifaddrmsg)))) {
		const struct ifaddrmsg *info = nlmsg_data(msg);
		struct nlattr *attrs[IFA_MAX + 1];
		struct address_facts *row;

		if (info->ifa_family != AF_INET && info->ifa_family != AF_INET6)
			continue;
		row = arena_append_row(f->mem, (void **)&f->addresses, &f->naddresses,
				       sizeof(*row));
		if (!row)
			return -ENOMEM;
		rtnl_attributes(msg, sizeof(*info), attrs, IFA_MAX);
		row->ifindex = nd_u64(info->ifa_index);
		/* On a point-to-point link IFA_ADDRESS is the far end, IFA_LOCAL is ours. */
		row->address = rtnl_address(attrs[IFA_LOCAL] ? attrs[IFA_LOCAL]
							     : attrs[IFA_ADDRESS], f->mem);
		row->prefix_length = nd_u64(info->ifa_prefixlen);
	}
	return rtnl_end(&cursor);
}

static int collect_addresses(struct source *src, const struct probe_context *ctx, struct facts *f,
			     struct error *detail)
{
	struct {
		struct nlmsghdr header;
		struct ifaddrmsg info;
	} req = {
		.header = {
			.nlmsg_len = sizeof(req),
			.nlmsg_type = RTM_GETADDR,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.info = { .ifa_family = AF_UNSPEC },
	};
	struct bytes replies = { 0 };
	int rc = source_netlink(src, NETLINK_ROUTE, &req, sizeof(req), &replies);

	(void)ctx;
	if (rc)
		return error_set(detail, -rc, "cannot list addresses by rtnetlink: %s",
				 strerror(-rc));
	rc = parse_addresses(replies.data, replies.len, f);
	bytes_free(&replies);
	return rc;
}

const struct probe probe_addresses = {
	.name = "addresses",
	.summary = "IP addresses of this host, by rtnetlink",
	.phase = PROBE_LINKS,
	.collect = collect_addresses,
};

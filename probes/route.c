/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The route to the peer as the kernel resolves it now: RTM_GETROUTE.
 */
#include "probes/rtnetlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

static const char *const type_words[] = {
	[RTN_UNSPEC] = "unspecified",
	[RTN_UNICAST] = "unicast",
	[RTN_LOCAL] = "local",
	[RTN_BROADCAST] = "broadcast",
	[RTN_ANYCAST] = "anycast",
	[RTN_MULTICAST] = "multicast",
	[RTN_BLACKHOLE] = "blackhole",
	[RTN_UNREACHABLE] = "unreachable",
	[RTN_PROHIBIT] = "prohibit",
	[RTN_THROW] = "throw",
	[RTN_NAT] = "nat",
};

/* A metric that the route does not set leaves the choice to TCP: no value, not zero. */
static struct nd_u64 metric(const struct nlattr *attr)
{
	struct nd_u64 v = rtnl_u32(attr);

	if (v.k == ND_ABSENT)
		v.k = ND_NOT_APPLICABLE;
	return v;
}

static void read_metrics(struct nlattr *attr, struct arena *mem, struct route_facts *route)
{
	struct nlattr *table[RTAX_MAX + 1];
	struct nd_u64 lock;

	rtnl_nested(attr, table, RTAX_MAX);
	route->mtu = metric(table[RTAX_MTU]);
	route->advmss = metric(table[RTAX_ADVMSS]);
	route->window = metric(table[RTAX_WINDOW]);
	route->initcwnd = metric(table[RTAX_INITCWND]);
	/* The cwnd clamp works only while its lock bit is set (ip-route(8)). */
	lock = rtnl_u32(table[RTAX_LOCK]);
	route->congestion_window_lock = lock.k == ND_KNOWN && (lock.v & (1u << RTAX_CWND))
		? metric(table[RTAX_CWND]) : nd_u64_unknown(ND_NOT_APPLICABLE);
	route->congestion_control = rtnl_string(table[RTAX_CC_ALGO], mem);
	if (route->congestion_control.k == ND_ABSENT)
		route->congestion_control.k = ND_NOT_APPLICABLE;
}

/* RTA_VIA: a gateway of the other family (IPv4 over an IPv6 next hop). */
static struct nd_str via_address(const struct nlattr *attr, struct arena *mem)
{
	struct { __kernel_sa_family_t family; uint8_t address[16]; } via;	/* struct rtvia */
	size_t len = rtnl_struct(attr, &via, sizeof(via));
	char text[INET6_ADDRSTRLEN];
	size_t want;
	char *copy;

	if (!len)
		return nd_str_unknown(ND_NOT_APPLICABLE);
	want = sizeof(via.family) + (via.family == AF_INET6 ? 16 : 4);
	if (len < want || !inet_ntop(via.family, via.address, text, sizeof(text)))
		return nd_str_unknown(ND_INVALID);
	copy = arena_strdup(mem, text);
	return copy ? nd_str(copy) : nd_str_unknown(ND_FAILED);
}

int parse_route(const void *buf, size_t len, struct arena *mem, struct route_facts *route)
{
	struct nlattr *attrs[RTA_MAX + 1];
	struct rtnl_cursor cursor;
	const struct rtmsg *info;
	struct nlmsghdr *msg;

	rtnl_start(&cursor, buf, len);
	msg = rtnl_next(&cursor, RTM_NEWROUTE, sizeof(*info));
	if (!msg)
		return -EBADMSG;
	info = nlmsg_data(msg);
	rtnl_attributes(msg, sizeof(*info), attrs, RTA_MAX);
	route->type = info->rtm_type < ARRAY_SIZE(type_words) && type_words[info->rtm_type]
		? nd_str(type_words[info->rtm_type]) : nd_str_unknown(ND_INVALID);
	route->ifindex = rtnl_u32(attrs[RTA_OIF]);
	route->from = rtnl_address(attrs[RTA_PREFSRC], mem);
	route->gateway = attrs[RTA_GATEWAY] ? rtnl_address(attrs[RTA_GATEWAY], mem)
					    : via_address(attrs[RTA_VIA], mem);
	read_metrics(attrs[RTA_METRICS], mem, route);
	return rtnl_end(&cursor);
}

/* IPv6 link-local peers name their link: "fe80::1%eth0" or "%3". */
static int scope_ifindex(const char *scope, const struct facts *f, uint32_t *ifindex)
{
	const struct link_facts *link = facts_link_by_name(f, scope);
	uint64_t number;

	if (link && link->ifindex.k == ND_KNOWN)
		number = link->ifindex.v;
	else if (parse_u64(scope, &number))
		return -EINVAL;
	if (!number || number > INT32_MAX)
		return -EINVAL;
	*ifindex = (uint32_t)number;
	return 0;
}

/* Cuts "%scope" off, tells the family and the address bytes. */
static int read_address(const char *text, const struct facts *f, uint8_t *family,
			uint8_t address[16], uint32_t *ifindex)
{
	char plain[INET6_ADDRSTRLEN];
	const char *percent = strchr(text, '%');
	size_t len = percent ? (size_t)(percent - text) : strlen(text);

	if (len >= sizeof(plain))
		return -EINVAL;
	memcpy(plain, text, len);
	plain[len] = '\0';
	if (percent && scope_ifindex(percent + 1, f, ifindex))
		return -EINVAL;
	if (inet_pton(AF_INET, plain, address) == 1)
		*family = AF_INET;
	else if (inet_pton(AF_INET6, plain, address) == 1)
		*family = AF_INET6;
	else
		return -EINVAL;
	return 0;
}

static void add_attribute(struct nlmsghdr *h, uint16_t type, const void *data, uint16_t len)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	uint8_t *end = (uint8_t *)h + h->nlmsg_len;

	memcpy(end, &attr, sizeof(attr));
	memcpy(end + NLA_HDRLEN, data, len);
	h->nlmsg_len += NLA_ALIGN(attr.nla_len);
}

int build_route_request(const char *to, const char *from, const struct facts *f, void *buf,
			size_t cap)
{
	enum { REQUEST_MAX = NLMSG_LENGTH(sizeof(struct rtmsg)) + 3 * (NLA_HDRLEN + 16) };
	struct nlmsghdr *h = buf;
	struct rtmsg *info;
	uint8_t dst[16], src[16], src_family = AF_UNSPEC;
	uint32_t ifindex = 0;
	int size;

	if (cap < REQUEST_MAX)
		return -EINVAL;
	memset(buf, 0, cap);
	info = nlmsg_data(h);
	if (read_address(to, f, &info->rtm_family, dst, &ifindex))
		return -EINVAL;
	if (from && read_address(from, f, &src_family, src, &ifindex))
		return -EINVAL;
	size = info->rtm_family == AF_INET ? 4 : 16;
	h->nlmsg_type = RTM_GETROUTE;
	h->nlmsg_flags = NLM_F_REQUEST;
	h->nlmsg_len = NLMSG_LENGTH(sizeof(*info));
	info->rtm_dst_len = size * 8;
	add_attribute(h, RTA_DST, dst, size);
	if (src_family == info->rtm_family) {
		info->rtm_src_len = size * 8;
		add_attribute(h, RTA_SRC, src, size);
	}
	if (ifindex)
		add_attribute(h, RTA_OIF, &ifindex, sizeof(ifindex));
	return (int)h->nlmsg_len;
}

static void set_unknown(struct route_facts *r, enum nd_known k)
{
	r->to = r->from = r->gateway = r->type = r->congestion_control = nd_str_unknown(k);
	r->ifindex = r->mtu = r->advmss = r->window = r->initcwnd = r->congestion_window_lock =
		nd_u64_unknown(k);
}

/* Refusals that are answers: the kernel says so by an error, not by a route. */
static const char *type_of_error(int err)
{
	switch (err) {
	case ENETUNREACH:
	case EHOSTUNREACH:
		return "unreachable";
	case EACCES:	/* look-ups need no privilege: the route itself forbids */
		return "prohibit";
	default:
		return NULL;
	}
}

static int collect_route(struct source *src, const struct probe_context *ctx, struct facts *f,
			 struct error *detail)
{
	_Alignas(struct nlmsghdr) uint8_t request[128];
	struct bytes replies = { 0 };
	const char *refusal;
	char *to;
	int rc;

	set_unknown(&f->route, ND_NOT_APPLICABLE);
	if (!ctx->peer_address)
		return 0;
	rc = build_route_request(ctx->peer_address, ctx->local_address, f, request,
				 sizeof(request));
	if (rc < 0) {
		set_unknown(&f->route, ND_INVALID);
		return error_set(detail, -rc, "no route look-up: not a numeric address: %s",
				 ctx->peer_address);
	}
	rc = source_netlink(src, NETLINK_ROUTE, request, (size_t)rc, &replies);
	set_unknown(&f->route, rc ? nd_known_from_errno(-rc) : ND_ABSENT);
	if (!rc)
		rc = parse_route(replies.data, replies.len, f->mem, &f->route);
	bytes_free(&replies);
	to = arena_strdup(f->mem, ctx->peer_address);
	if (!to)
		return -ENOMEM;
	f->route.to = nd_str(to);
	refusal = rc ? type_of_error(-rc) : NULL;
	if (refusal) {
		f->route.type = nd_str(refusal);
		return 0;
	}
	return rc ? error_set(detail, -rc, "no route to %s: %s", ctx->peer_address,
			      strerror(-rc)) : 0;
}

const struct probe probe_route = {
	.name = "route",
	.summary = "the route to the peer and its metrics, by rtnetlink",
	.phase = PROBE_LINKS,
	.collect = collect_route,
};

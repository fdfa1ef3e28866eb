/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which links matter: a host with a thousand containers has two thousand links,
 * and the traffic passes three of them.
 */
#include "probes/probe.h"

#include <string.h>

/* Stacks are rarely deeper than macvlan on VLAN on bond; veth peers point at each other. */
enum { STACK_DEPTH_MAX = 8 };

static bool kind_is(const struct link_facts *link, const char *kind)
{
	return nd_str_is(link->kind, kind);
}

/*
 * Whether traffic of `master` may leave by its member.  A bridge's other ports
 * lead to guests and containers, not to the wire.
 */
static bool carries(const struct link_facts *master, const struct link_facts *member)
{
	if (member->master_ifindex.k != ND_KNOWN ||
	    !nd_u64_is(master->ifindex, member->master_ifindex.v))
		return false;
	return !kind_is(master, "bridge") || (!kind_is(member, "veth") && !kind_is(member, "tun"));
}

static bool has_members(const struct link_facts *link)
{
	return kind_is(link, "bond") || kind_is(link, "team") || kind_is(link, "bridge");
}

static bool in_stack(const struct facts *f, const struct link_facts *top,
		     const struct link_facts *link, unsigned int depth)
{
	if (!top || depth > STACK_DEPTH_MAX)
		return false;
	if (top == link)
		return true;
	if (top->lower_ifindex.k == ND_KNOWN &&
	    in_stack(f, facts_link(f, top->lower_ifindex.v), link, depth + 1))
		return true;
	for (size_t i = 0; has_members(top) && i < f->nlinks; i++) {
		if (carries(top, &f->links[i]) && in_stack(f, &f->links[i], link, depth + 1))
			return true;
	}
	return false;
}

bool probe_link_wanted(const struct probe_context *ctx, const struct facts *f,
		       const struct link_facts *link)
{
	if (in_stack(f, facts_egress(f), link, 0))
		return true;
	if (!ctx || !ctx->only_links)
		return kind_is(link, "physical");
	for (size_t i = 0; i < ctx->nonly_links; i++) {
		const struct link_facts *top = facts_link_by_name(f, ctx->only_links[i]);

		if (in_stack(f, top, link, 0))
			return true;
	}
	return false;
}

bool probe_sysfs_shows(struct source *src, const struct link_facts *link)
{
	struct nd_u64 ifindex;
	char mac[128];

	/* The kernel refuses these in names, a recording may not. */
	if (link->name.k != ND_KNOWN || strchr(link->name.v, '/') ||
	    !strcmp(link->name.v, ".") || !strcmp(link->name.v, ".."))
		return false;
	ifindex = source_read_u64(src, "/sys/class/net/%s/ifindex", link->name.v);
	if (ifindex.k != ND_KNOWN || link->ifindex.k != ND_KNOWN || ifindex.v != link->ifindex.v)
		return false;
	if (link->mac.k != ND_KNOWN)
		return true;
	return !source_read_line(src, mac, sizeof(mac), "/sys/class/net/%s/address",
				 link->name.v) && nd_str_is(link->mac, mac);
}

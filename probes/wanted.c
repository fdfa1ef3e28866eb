/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which links matter: a host with a thousand containers has two thousand links,
 * and the traffic passes three of them.
 */
#include "probes/probe.h"

#include <string.h>

/* Stacks are rarely deeper than macvlan on VLAN on bond; veth peers point at each other. */
enum { STACK_DEPTH_MAX = 8, STACK_LINKS_MAX = 64, STACK_MASTERS_MAX = 8 };

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

/* masters: bonds and bridges looked through so far; facts of a peer may be made of nothing else. */
struct link_set { const struct link_facts **links; size_t n, cap; unsigned int masters; };

static bool set_has(const struct link_set *set, const struct link_facts *link)
{
	for (size_t i = 0; i < set->n && i < set->cap; i++) {
		if (set->links[i] == link)
			return true;
	}
	return false;
}

static void set_add(struct link_set *set, const struct link_facts *link)
{
	if (set_has(set, link))
		return;
	if (set->n < set->cap)
		set->links[set->n] = link;
	set->n++;
}

static void add_stack(const struct facts *f, const struct link_facts *top, unsigned int depth,
		      struct link_set *set)
{
	if (!top || depth > STACK_DEPTH_MAX || set->n > set->cap || set_has(set, top))
		return;
	set_add(set, top);
	if (top->lower_ifindex.k == ND_KNOWN)
		add_stack(f, facts_link(f, top->lower_ifindex.v), depth + 1, set);
	if (!has_members(top) || set->masters++ >= STACK_MASTERS_MAX)
		return;
	for (size_t i = 0; i < f->nlinks; i++) {
		if (carries(top, &f->links[i]))
			add_stack(f, &f->links[i], depth + 1, set);
	}
}

/* Up, and no port of a bridge: those lead to guests, by the thousand. */
static bool stands_for_itself(const struct link_facts *link)
{
	return nd_is_true(link->up) && link->master_ifindex.k != ND_KNOWN;
}

/* Without being named or on the way to a peer. */
static bool wanted_anyway(const struct probe_context *ctx, const struct link_facts *link)
{
	return kind_is(link, "physical") ||
	       (ctx && ctx->software_links && stands_for_itself(link));
}

size_t probe_wanted_links(const struct probe_context *ctx, const struct facts *f,
			  const struct link_facts **out, size_t cap)
{
	struct link_set set = { .links = out, .cap = cap };

	add_stack(f, facts_egress(f), 0, &set);
	if (ctx && ctx->only_links) {
		for (size_t i = 0; i < ctx->nonly_links; i++)
			add_stack(f, facts_link_by_name(f, ctx->only_links[i]), 0, &set);
		return set.n;
	}
	for (size_t i = 0; i < f->nlinks; i++) {
		if (wanted_anyway(ctx, &f->links[i]))
			set_add(&set, &f->links[i]);
	}
	return set.n;
}

static bool in_stack(const struct facts *f, const struct link_facts *top,
		     const struct link_facts *link)
{
	const struct link_facts *room[STACK_LINKS_MAX];
	struct link_set set = { .links = room, .cap = ARRAY_SIZE(room) };

	if (top == link)
		return true;
	add_stack(f, top, 0, &set);
	return set_has(&set, link);
}

bool probe_link_wanted(const struct probe_context *ctx, const struct facts *f,
		       const struct link_facts *link)
{
	bool only = ctx && ctx->only_links;

	if (!only && wanted_anyway(ctx, link))
		return true;
	if (in_stack(f, facts_egress(f), link))
		return true;
	for (size_t i = 0; only && i < ctx->nonly_links; i++) {
		if (in_stack(f, facts_link_by_name(f, ctx->only_links[i]), link))
			return true;
	}
	return false;
}

int probe_each_wanted_link(struct source *src, const struct probe_context *ctx, struct facts *f,
			   probe_link_fn each, void *data)
{
	for (size_t i = 0; i < f->nlinks; i++) {
		int rc;

		if (!probe_link_wanted(ctx, f, &f->links[i]))
			continue;
		rc = each(src, f, &f->links[i], data);
		if (rc)
			return rc;
	}
	return 0;
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/facts.h"

#include <string.h>

struct facts *facts_new(size_t limit_bytes)
{
	struct arena *mem = arena_new(limit_bytes);
	struct facts *f = mem ? arena_alloc(mem, sizeof(*f)) : NULL;

	if (!f) {
		arena_free(mem);
		return NULL;
	}
	f->mem = mem;
	return f;
}

void facts_free(struct facts *f)
{
	/* f itself lies in its arena. */
	if (f)
		arena_free(f->mem);
}

const struct link_facts *facts_link(const struct facts *f, uint64_t ifindex)
{
	for (size_t i = 0; f && i < f->nlinks; i++)
		if (nd_u64_is(f->links[i].ifindex, ifindex))
			return &f->links[i];
	return NULL;
}

const struct link_facts *facts_link_by_name(const struct facts *f, const char *name)
{
	for (size_t i = 0; f && i < f->nlinks; i++)
		if (nd_str_is(f->links[i].name, name))
			return &f->links[i];
	return NULL;
}

const struct feature_facts *facts_feature(const struct facts *f, uint64_t ifindex,
					  const char *name)
{
	for (size_t i = 0; f && i < f->nfeatures; i++)
		if (nd_u64_is(f->features[i].ifindex, ifindex) &&
		    nd_str_is(f->features[i].name, name))
			return &f->features[i];
	return NULL;
}

const struct pci_facts *facts_pci(const struct facts *f, const char *address)
{
	for (size_t i = 0; f && i < f->npci; i++)
		if (nd_str_is(f->pci[i].address, address))
			return &f->pci[i];
	return NULL;
}

const struct cpu_facts *facts_cpu(const struct facts *f, uint64_t cpu)
{
	for (size_t i = 0; f && i < f->ncpus; i++)
		if (nd_u64_is(f->cpus[i].cpu, cpu))
			return &f->cpus[i];
	return NULL;
}

bool link_examined(const struct link_facts *l)
{
	return l->speed_mbps.k != ND_UNREAD;
}

const struct link_facts *facts_egress(const struct facts *f)
{
	if (!f || f->route.ifindex.k != ND_KNOWN)
		return NULL;
	return facts_link(f, f->route.ifindex.v);
}

/* How likely a member of a bridge leads out of this host, and not into a guest of it. */
static int outwardness(const struct link_facts *link)
{
	if (nd_str_is(link->kind, "physical"))
		return 3;
	if (nd_str_is(link->kind, "veth") || nd_str_is(link->kind, "tun"))
		return 1;
	return 2;	/* a bond, a VLAN: hardware is further down */
}

/* The first of the members that lead out, NULL when the link has none. */
static const struct link_facts *member_of(const struct facts *f, uint64_t master)
{
	const struct link_facts *best = NULL;

	for (size_t i = 0; i < f->nlinks; i++) {
		const struct link_facts *link = &f->links[i];

		if (nd_u64_is(link->master_ifindex, master) &&
		    (!best || outwardness(link) > outwardness(best)))
			best = link;
	}
	return best;
}

static const struct link_facts *below(const struct facts *f, const struct link_facts *link)
{
	const struct link_facts *member = member_of(f, link->ifindex.v);

	if (member)
		return member;
	/* A veth's IFLA_LINK is its other end: beside it, not below. */
	if (link->lower_ifindex.k != ND_KNOWN || nd_str_is(link->kind, "veth"))
		return NULL;
	return facts_link(f, link->lower_ifindex.v);
}

const struct link_facts *facts_bottom_link(const struct facts *f, uint64_t ifindex)
{
	const struct link_facts *start = facts_link(f, ifindex), *link = start;

	/* A peer's facts may form a ring: no stack is deeper than there are links. */
	for (size_t steps = 0; link && steps < f->nlinks; steps++) {
		const struct link_facts *next = below(f, link);

		if (!next || next == link)
			return link;
		link = next;
	}
	return start;
}

struct nd_bool facts_feature_active(const struct facts *f, uint64_t ifindex, const char *name)
{
	const struct feature_facts *feature = facts_feature(f, ifindex, name);

	if (feature)
		return feature->active;
	/* Other features of the link were read: this kernel has none of that name. */
	for (size_t i = 0; f && i < f->nfeatures; i++)
		if (nd_u64_is(f->features[i].ifindex, ifindex))
			return nd_bool_unknown(ND_ABSENT);
	return nd_bool_unknown(ND_UNREAD);
}

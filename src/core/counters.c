/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/counters.h"

#include <string.h>

struct counters *counters_new(size_t limit_bytes)
{
	struct arena *mem = arena_new(limit_bytes);
	struct counters *c = mem ? arena_alloc(mem, sizeof(*c)) : NULL;

	if (!c) {
		arena_free(mem);
		return NULL;
	}
	c->mem = mem;
	return c;
}

void counters_free(struct counters *c)
{
	/* c itself lies in its arena. */
	if (c)
		arena_free(c->mem);
}

struct counters *counters_difference(const struct counters *earlier, const struct counters *later)
{
	struct counters *out = counters_new(0);

	if (!out)
		return NULL;
	if (record_difference(&counters_schema, earlier, later, out->mem, out) ||
	    record_copy_strings(&counters_schema, out, out->mem)) {
		counters_free(out);
		return NULL;
	}
	return out;
}

const struct link_sample *counters_link(const struct counters *c, uint64_t ifindex)
{
	for (size_t i = 0; c && i < c->nlinks; i++)
		if (nd_u64_is(c->links[i].ifindex, ifindex))
			return &c->links[i];
	return NULL;
}

const struct qdisc_sample *counters_qdisc(const struct counters *c, uint64_t ifindex,
					  uint64_t handle, uint64_t parent, bool is_class)
{
	for (size_t i = 0; c && i < c->nqdiscs; i++) {
		const struct qdisc_sample *q = &c->qdiscs[i];

		if (nd_u64_is(q->ifindex, ifindex) && nd_u64_is(q->handle, handle) &&
		    nd_u64_is(q->parent, parent) && q->is_class.k == ND_KNOWN &&
		    q->is_class.v == is_class)
			return q;
	}
	return NULL;
}

const struct cpu_sample *counters_cpu(const struct counters *c, uint64_t cpu)
{
	for (size_t i = 0; c && i < c->ncpus; i++)
		if (nd_u64_is(c->cpus[i].cpu, cpu))
			return &c->cpus[i];
	return NULL;
}

const struct softnet_sample *counters_softnet(const struct counters *c, uint64_t cpu)
{
	for (size_t i = 0; c && i < c->nsoftnet; i++)
		if (nd_u64_is(c->softnet[i].cpu, cpu))
			return &c->softnet[i];
	return NULL;
}

const struct pci_sample *counters_pci(const struct counters *c, const char *address)
{
	for (size_t i = 0; c && i < c->npci; i++)
		if (nd_str_is(c->pci[i].address, address))
			return &c->pci[i];
	return NULL;
}

struct nd_u64 counters_mib(const struct counters *c, const char *name)
{
	for (size_t i = 0; c && i < c->nmibs; i++)
		if (nd_str_is(c->mibs[i].name, name))
			return c->mibs[i].value;
	return nd_u64_unknown(c && c->nmibs ? ND_ABSENT : ND_UNREAD);
}

struct nd_u64 counters_nic(const struct counters *c, uint64_t ifindex, const char *name)
{
	enum nd_known missing = ND_UNREAD;

	for (size_t i = 0; c && i < c->nnics; i++) {
		if (!nd_u64_is(c->nics[i].ifindex, ifindex))
			continue;
		if (nd_str_is(c->nics[i].name, name))
			return c->nics[i].value;
		/* The driver's statistics were read; this is none of them. */
		missing = ND_ABSENT;
	}
	return nd_u64_unknown(missing);
}

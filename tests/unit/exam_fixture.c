/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/exam_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct exam *fixture_veth_exam(size_t cpus)
{
	struct exam *e = build_two_hosts();

	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		struct facts *f = build_facts(e, s);
		struct link_facts *l = build_link(e, s);

		l->kind = nd_str("veth");
		l->name = nd_str(s == SIDE_LOCAL ? "nd0" : "nd1");
		l->bus = nd_str_unknown(ND_NOT_APPLICABLE);
		l->pci_address = nd_str_unknown(ND_NOT_APPLICABLE);
		l->speed_mbps = nd_u64_unknown(ND_NOT_APPLICABLE);
		l->supported_max_mbps = l->advertised_max_mbps = l->partner_max_mbps =
			nd_u64_unknown(ND_NOT_APPLICABLE);
		f->npci = 0;
		f->ncpus = cpus;
		f->host.boot_id = nd_str("11111111-1111-4111-8111-111111111111");
	}
	e->path.same_machine = nd_bool(true);
	e->path.idle_rtt_us = nd_u64(40);
	return e;
}

void fixture_busy(struct run *r, double busy)
{
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		for (unsigned int i = 0; i < r->ends[s].ncores; i++)
			build_hot_core(r, s, i, busy, busy / 2);
	fixture_workers(r, 0.3 * busy);
}

void fixture_workers(struct run *r, double busy)
{
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		for (size_t i = 0; i < r->ends[s].window->nworkers; i++)
			r->ends[s].window->workers[i].cpu_us =
				nd_u64((uint64_t)(busy * BUILD_SECONDS * 1e6));
}

struct pci_facts *fixture_pci(struct exam *e, enum side s, const char *address)
{
	struct facts *f = build_facts(e, s);

	for (size_t i = 0; i < f->npci; i++)
		if (nd_str_is(f->pci[i].address, address))
			return &f->pci[i];
	fail();
	return NULL;
}

void fixture_pcie_link(struct exam *e, struct run *r, enum side s, uint64_t mtps, uint64_t width)
{
	struct pci_facts *nic = fixture_pci(e, s, FIXTURE_NIC);
	struct pci_facts *port = fixture_pci(e, s, FIXTURE_PORT);
	struct pci_sample *sample;
	struct counters *c;

	nic->speed_mtps = port->speed_mtps = nd_u64(mtps);
	nic->width = port->width = nd_u64(width);
	if (!r)
		return;
	c = r->ends[s].window;
	sample = arena_append_row(c->mem, (void **)&c->pci, &c->npci, sizeof(*sample));
	assert_non_null(sample);
	*sample = (struct pci_sample){
		.address = nd_str(FIXTURE_NIC), .speed_mtps = nd_u64(mtps), .width = nd_u64(width),
	};
}

struct qdisc_facts *fixture_add_qdisc(struct exam *e, enum side s, const char *kind,
				      uint64_t rate_bps)
{
	struct facts *f = build_facts(e, s);
	struct qdisc_facts *q = arena_append_row(f->mem, (void **)&f->qdiscs, &f->nqdiscs,
						 sizeof(*q));

	assert_non_null(q);
	*q = (struct qdisc_facts){
		.ifindex = nd_u64(BUILD_IFINDEX), .handle = nd_u64(f->nqdiscs << 16),
		.parent = nd_u64(UINT32_MAX), .is_class = nd_bool(false), .kind = nd_str(kind),
		.rate_bps = rate_bps ? nd_u64(rate_bps) : nd_u64_unknown(ND_NOT_APPLICABLE),
		.ceil_bps = nd_u64_unknown(ND_NOT_APPLICABLE),
	};
	return q;
}

void fixture_qdisc_bytes(struct run *r, const struct qdisc_facts *q, uint64_t bytes)
{
	struct counters *c = r->ends[run_sender(r->spec.direction)].window;
	struct qdisc_sample *s = arena_append_row(c->mem, (void **)&c->qdiscs, &c->nqdiscs,
						  sizeof(*s));

	assert_non_null(s);
	*s = (struct qdisc_sample){
		.ifindex = q->ifindex, .handle = q->handle, .parent = q->parent,
		.is_class = q->is_class, .bytes = nd_u64(bytes), .overlimits = nd_u64(1000),
	};
}

void fixture_quota(struct exam *e, struct run *r, enum side s, double cores, double throttled)
{
	struct cgroup_facts *g = build_facts(e, s)->cgroups;
	struct counters *c = r->ends[s].window;
	struct cgroup_sample *sample = arena_append_row(c->mem, (void **)&c->cgroups, &c->ncgroups,
							sizeof(*sample));

	assert_non_null(sample);
	g->period_us = nd_u64(100000);
	g->quota_us = nd_u64((uint64_t)(cores * 100000));
	*sample = (struct cgroup_sample){
		.path = g->path, .periods = nd_u64(40), .throttled = nd_u64(throttled > 0 ? 40 : 0),
		.throttled_us = nd_u64((uint64_t)(throttled * BUILD_SECONDS * 1e6)),
	};
	for (size_t i = 0; i < c->nworkers; i++)
		c->workers[i].cpu_us =
			nd_u64((uint64_t)(cores / (double)c->nworkers * BUILD_SECONDS * 1e6));
}

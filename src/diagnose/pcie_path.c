/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a NIC up to its root port: which PCIe links its data crosses. */
#include "src/diagnose/rule.h"

#include <math.h>

#include "src/model/pcie.h"

/* Parts whose link registers are there but mean nothing: their drivers skip them too. */
static const struct { uint64_t vendor, first, last; } meaningless_links[] = {
	{ 0x8086, 0x37cc, 0x37d3 },	/* X722: inside the chipset */
	{ 0x8086, 0x15c2, 0x15c8 },	/* X553 and X550EM_a: inside the SoC */
	{ 0x8086, 0x15ce, 0x15ce },
	{ 0x8086, 0x15e4, 0x15e5 },
};

static bool link_is_meaningless(const struct pci_facts *d)
{
	size_t i;

	if (nd_str_is(d->type, "integrated-endpoint"))
		return true;
	if (d->vendor_id.k != ND_KNOWN || d->device_id.k != ND_KNOWN)
		return false;
	for (i = 0; i < ARRAY_SIZE(meaningless_links); i++)
		if (d->vendor_id.v == meaningless_links[i].vendor &&
		    d->device_id.v >= meaningless_links[i].first &&
		    d->device_id.v <= meaningless_links[i].last)
			return true;
	return false;
}

static double speed_or_0(struct nd_u64 mtps)
{
	return mtps.k == ND_KNOWN && pcie_generation((double)mtps.v) ? (double)mtps.v : 0;
}

static double width_or_0(struct nd_u64 width)
{
	return width.k == ND_KNOWN && width.v >= 1 && width.v <= 32 ? (double)width.v : 0;
}

static double bytes_or_0(struct nd_u64 bytes)
{
	return bytes.k == ND_KNOWN && bytes.v >= 128 && bytes.v <= 4096 ? (double)bytes.v : 0;
}

/* Speed and width of one reading belong together: keep the pair that carries most. */
static void take_reading(struct pcie_hop *h, struct nd_u64 mtps, struct nd_u64 width)
{
	double m = speed_or_0(mtps), w = width_or_0(width);

	if (pcie_raw_bps(m, w) > pcie_raw_bps(h->mtps, h->width)) {
		h->mtps = m;
		h->width = w;
	}
}

static void take_device(struct pcie_hop *h, const struct pci_facts *d,
			const struct run_end *const *ends, size_t nends)
{
	size_t i;

	if (!d)
		return;
	take_reading(h, d->speed_mtps, d->width);
	for (i = 0; i < nends; i++) {
		const struct pci_sample *s;

		if (!ends[i] || !ends[i]->present || !ends[i]->window || d->address.k != ND_KNOWN)
			continue;
		s = counters_pci(ends[i]->window, d->address.v);
		if (!s || !speed_or_0(s->speed_mtps) || !width_or_0(s->width))
			continue;
		h->under_load = true;
		take_reading(h, s->speed_mtps, s->width);
	}
}

static const struct pci_facts *parent_of(const struct facts *f, const struct pci_facts *d)
{
	return d && d->parent.k == ND_KNOWN ? facts_pci(f, d->parent.v) : NULL;
}

/* A tunnel (Thunderbolt) shows a made-up link at and below the removable port. */
static bool below_removable(const struct facts *f, const struct pci_facts *d)
{
	int depth;

	for (depth = 0; d && depth < 2 * PCIE_MAX_HOPS; depth++, d = parent_of(f, d))
		if (nd_is_true(d->removable))
			return true;
	return false;
}

static const struct pci_facts *nic_of(const struct facts *f, const struct link_facts *port,
				      struct pcie_path *out)
{
	const struct pci_facts *nic;

	out->reason = ND_ABSENT;
	if (!port)
		return NULL;
	if (port->pci_address.k != ND_KNOWN) {
		out->reason = port->pci_address.k;
		if (port->bus.k == ND_KNOWN)
			out->why_unknown = "the NIC is not on a PCI bus that can be seen";
		return NULL;
	}
	nic = facts_pci(f, port->pci_address.v);
	/* A virtual function has no link of its own: its registers read zero. */
	if (nic && nic->physical_function.k == ND_KNOWN) {
		nic = facts_pci(f, nic->physical_function.v);
		if (!nic) {
			out->why_unknown = "the NIC is a virtual function whose physical function "
					   "is not visible here: run on the host";
			return NULL;
		}
	}
	if (!nic)
		out->why_unknown = "the NIC's PCI device was not read";
	else if (link_is_meaningless(nic)) {
		out->why_unknown = "the NIC is part of the chipset and has no PCIe link of its own";
		out->reason = ND_NOT_APPLICABLE;
		return NULL;
	}
	return nic;
}

static void fill_hop(struct pcie_hop *h, const struct pci_facts *nic, const struct pci_facts *d,
		     const struct pci_facts *above, const struct run_end *const *ends, size_t nends)
{
	*h = (struct pcie_hop){ .device = d, .above = above };
	take_device(h, d, ends, nends);
	take_device(h, above, ends, nends);
	h->device_max_mtps = speed_or_0(d->max_speed_mtps);
	h->device_max_width = width_or_0(d->max_width);
	if (above) {
		h->above_max_mtps = speed_or_0(above->max_speed_mtps);
		h->above_max_width = width_or_0(above->max_width);
	}
	h->mps = bytes_or_0(nic->payload_bytes);
	h->mrrs = bytes_or_0(nic->read_request_bytes);
}

void pcie_path_find(const struct facts *f, const struct link_facts *port,
		    const struct run_end *const *ends, size_t nends, struct pcie_path *out)
{
	const struct pci_facts *nic, *d;
	int depth;

	*out = (struct pcie_path){ 0 };
	nic = nic_of(f, port, out);
	/* Device, the port it is plugged into, the switch's upstream port, and so on: pairs. */
	for (d = nic, depth = 0; d && depth < PCIE_MAX_HOPS; depth++) {
		const struct pci_facts *above = parent_of(f, d);
		struct pcie_hop hop;

		fill_hop(&hop, nic, d, above, ends, nends);
		if (pcie_hop_raw_bps(&hop) > 0 && !below_removable(f, d))
			out->hops[out->n++] = hop;
		d = parent_of(f, above);
	}
	if (nic && !out->n) {
		out->why_unknown = below_removable(f, nic) ?
			"the NIC sits behind a Thunderbolt or other removable port" :
			"the NIC's PCIe link speed is not visible here (hypervisor?)";
		out->reason = nic->speed_mtps.k == ND_KNOWN ? ND_INVALID : nic->speed_mtps.k;
	}
}

#define MAX_ENDS 32

void pcie_path_of(const struct exam *e, enum side s, struct pcie_path *out)
{
	const struct run_end *ends[MAX_ENDS];
	size_t i, n = 0;

	for (i = 0; i < e->nruns && n < MAX_ENDS; i++)
		ends[n++] = &e->runs[i].ends[s];
	pcie_path_find(e->facts[s], exam_port(e, s), ends, n, out);
}

double pcie_hop_raw_bps(const struct pcie_hop *h)
{
	return pcie_raw_bps(h->mtps, h->width);
}

double pcie_hop_raw_max_bps(const struct pcie_hop *h)
{
	double mtps = h->device_max_mtps, width = h->device_max_width;

	if (h->above_max_mtps > 0)
		mtps = fmin(mtps, h->above_max_mtps);
	if (h->above_max_width > 0)
		width = fmin(width, h->above_max_width);
	return pcie_raw_bps(mtps, width);
}

const struct pcie_hop *pcie_path_narrowest(const struct pcie_path *p)
{
	const struct pcie_hop *narrowest = NULL;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!narrowest ||
		    pcie_hop_raw_bps(&p->hops[i]) <= pcie_hop_raw_bps(narrowest))
			narrowest = &p->hops[i];
	return narrowest;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/ladder.h"

#include "src/model/pcie.h"

void ladder_add_pcie(struct ladder_builder *b, const struct ladder_path *p, enum side side)
{
	const struct link_facts *port = exam_port(b->exam, side);
	const struct pcie_hop *hop;
	double segment, frame, low, high;
	struct pcie_path path;
	struct pcie_link link;
	struct ceiling *c;

	pcie_path_of(b->exam, side, &path);
	/* A veth or a bridge has no bus: there is no such limit, rather than an unknown one. */
	if (!path.n && !path.why_unknown)
		return;
	c = ceiling_add(b, p, CEILING_PCIE, side);
	c->subject = port && port->name.k == ND_KNOWN ? port->name.v : NULL;
	hop = pcie_path_narrowest(&path);
	if (!hop) {
		ceiling_unknown(b, c, "%s", path.why_unknown);
		return;
	}
	if (hop->device->address.k == ND_KNOWN)
		c->subject = hop->device->address.v;
	segment = path_segment(p, port);
	if (!(segment > 0)) {
		ceiling_unknown(b, c, "neither the segment size nor the link's MTU is known");
		return;
	}
	frame = path_frame(p, segment);
	link = (struct pcie_link){ hop->mtps, hop->width, hop->mps, hop->mrrs };
	if (!pcie_goodput(&link, side == run_receiver(p->direction), frame, segment, &low, &high)) {
		ceiling_unknown(b, c, "the PCIe link's speed or width is not known");
		return;
	}
	ceiling_input(c, "speed", hop->mtps, UNIT_MEGATRANSFERS);
	ceiling_input(c, "width", hop->width, UNIT_COUNT);
	ceiling_input(c, "raw", pcie_raw_bps(hop->mtps, hop->width), UNIT_BITS_PER_SECOND);
	if (hop->mps > 0) {
		ceiling_input(c, "mps", hop->mps, UNIT_BYTES);
	} else {
		ceiling_input(c, "mps_low", PCIE_MPS_LOW, UNIT_BYTES);
		ceiling_input(c, "mps_high", PCIE_MPS_HIGH, UNIT_BYTES);
	}
	ceiling_input(c, "mss", segment, UNIT_BYTES);
	ceiling_input(c, "frame", frame, UNIT_BYTES);
	ceiling_set(c, low, high, BASIS_COMPUTED,
		    side == run_receiver(p->direction) ?
		    "raw * (1 - dllp_tax) * mss / (frame + 24 * ceil(frame / mps) + 40 + 28 / 32)" :
		    "raw * (1 - dllp_tax) * mss / (frame + 20 * ceil(frame / mps) + 16 + 28)");
}

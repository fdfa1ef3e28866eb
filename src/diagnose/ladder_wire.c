/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/ladder.h"

static const char *line_rate_help(enum nd_known why)
{
	switch (why) {
	case ND_NOT_APPLICABLE:
		return "a software link has no line rate";
	case ND_NOT_PERMITTED:
		return "not permitted to read the link's speed: run as root";
	default:
		return "the link does not tell its speed: give --link-speed";
	}
}

void ladder_add_wire(struct ladder_builder *b, const struct ladder_path *p, enum side side)
{
	const struct link_facts *port = exam_port(b->exam, side);
	struct nd_f64 line = exam_line_rate(b->exam, side);
	struct ceiling *c = ceiling_add(b, p, CEILING_WIRE, side);
	double mss = path_segment(p, port), goodput;

	if (port && port->name.k == ND_KNOWN)
		c->subject = port->name.v;
	if (line.k != ND_KNOWN) {
		if (!b->exam->facts[side])
			ceiling_unseen(b, c, "that host was not examined");
		else if (!port)
			ceiling_unknown(b, c, "the link to the peer is not known");
		else
			ceiling_unknown(b, c, "%s", line_rate_help(line.k));
		return;
	}
	if (!(mss > 0)) {
		ceiling_unknown(b, c, "neither the segment size nor the link's MTU is known");
		return;
	}
	goodput = wire_goodput(line.v, &p->packet, mss);
	ceiling_input(c, "line_rate", line.v, UNIT_BITS_PER_SECOND);
	ceiling_input(c, "mss", mss, UNIT_BYTES);
	ceiling_input(c, "headers", wire_headers(&p->packet) + p->packet.tunnel_bytes,
		      UNIT_BYTES);
	ceiling_input(c, "frame_overhead",
		      WIRE_FRAME_OVERHEAD + p->packet.vlan_tags * WIRE_VLAN_TAG, UNIT_BYTES);
	ceiling_set(c, goodput, goodput, BASIS_COMPUTED,
		    "line_rate * mss / (mss + headers + frame_overhead)");
}

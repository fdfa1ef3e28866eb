/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ring.h"

#include "rules/ends.h"
#include "rules/thresholds.h"

static bool read_counts(const struct rule_input *in, struct rule_output *out, struct ring_drops *r)
{
	const struct link_sample *l;

	r->count = nic_count_of(in->end, in->port, NIC_RX_EXHAUSTED);
	if (r->count.k != ND_KNOWN) {
		rule_missing(out, nic_fact(out, in->run, in->side, in->port, &r->count,
					   "a full receive ring"), r->count.k, NULL);
		return false;
	}
	r->drops.packets = r->count.value;
	l = counters_link(in->end->window, in->port->ifindex.v);
	if (!l || l->rx_packets.k != ND_KNOWN) {
		rule_missing(out, rule_text(out, "runs[%s].%s.links[%s].rx_packets",
					    in->run->id.k == ND_KNOWN ? in->run->id.v : "?",
					    side_word(in->side), in->port->name.k == ND_KNOWN ?
					    in->port->name.v : "?"),
			     l ? l->rx_packets.k : ND_UNREAD, NULL);
		return false;
	}
	r->drops.passed = (double)l->rx_packets.v;
	return true;
}

bool ring_drops_of(const struct rule_input *in, struct rule_output *out, struct ring_drops *r)
{
	struct traffic_end t = traffic_end_of(in);

	*r = (struct ring_drops){ 0 };
	if (nic_is_software(in->port)) {
		rule_not_applicable(out, "no NIC's ring is on the way");
		return false;
	}
	if (!read_counts(in, out, r))
		return false;
	if (drops_share(&r->drops) < RING_DROP_SHARE) {
		rule_clear(out, r->drops.packets > 0 ? "hardly any packet found the ring full" :
			   "no packet found the ring full");
		return false;
	}
	if (drops_were_not_ours(in)) {
		rule_clear(out, "%.0f packets found the ring full, but none of ours: nothing had "
			   "to be sent again", r->drops.packets);
		return false;
	}
	r->hot = end_hot_core(in->end);
	if (!r->hot) {
		end_missing(out, &t, "cores", ND_UNREAD, NULL);
		return false;
	}
	return true;
}

void ring_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
		   const struct ring_drops *r)
{
	const char *name = in->port->name.k == ND_KNOWN ? in->port->name.v : "?";
	struct traffic_end t = traffic_end_of(in);

	finding_number(out, f, nic_fact(out, in->run, in->side, in->port, &r->count, ""),
		       r->drops.packets, UNIT_PACKETS,
		       rule_text(out, ">= %g of those received", RING_DROP_SHARE),
		       nic_source(&r->count));
	finding_number(out, f, "share of the packets that came", drops_share(&r->drops), UNIT_SHARE,
		       NULL, "computed");
	if (in->port->rx_ring.k == ND_KNOWN)
		finding_number(out, f, rule_text(out, "%s.links[%s].rx_ring", side_word(in->side),
						 name), (double)in->port->rx_ring.v, UNIT_COUNT,
			       in->port->rx_ring_max.k == ND_KNOWN ?
			       rule_text(out, "up to %llu", (unsigned long long)
					 in->port->rx_ring_max.v) : NULL, "ethtool RINGS_GET");
	finding_cpu(out, f, &t);
}

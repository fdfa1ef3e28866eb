/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/keep.h"
#include "rules/nic_counters.h"
#include "rules/thresholds.h"

static const char *ring_fact(const struct rule_input *in, struct rule_output *out,
			     const char *member)
{
	return rule_text(out, "%s.links[%s].%s", side_word(in->side),
			 in->port && in->port->name.k == ND_KNOWN ? in->port->name.v : "?", member);
}

static void fire(const struct rule_input *in, struct rule_output *out, double line_bps)
{
	const struct link_facts *l = in->port;
	unsigned long long now = l->rx_ring.v, most = l->rx_ring_max.v;
	unsigned long long wanted = most < RING_SMALL_SUGGEST ? most : RING_SMALL_SUGGEST;
	const char *words = rule_text(out, "rx %llu", wanted);
	struct finding *f = rule_fire(out);

	f->severity = SEVERITY_INFO;	/* drops have a rule of their own */
	f->risk = RISK_QUEUE_RESTART;
	f->subject = l->name.k == ND_KNOWN ? l->name.v : NULL;
	f->title = rule_text(out, "the receive ring of %s on %s holds %llu packets: %.0f us at "
			     "line rate", f->subject ? f->subject : "the NIC",
			     in->side == SIDE_PEER ? "the peer" : "this host", now,
			     (double)now * RING_FRAME_BITS / line_bps * 1e6);
	finding_number(out, f, ring_fact(in, out, "rx_ring"), (double)now, UNIT_COUNT,
		       rule_text(out, "<= %d", RING_SMALL_ENTRIES), "ethtool RINGS_GET");
	finding_number(out, f, ring_fact(in, out, "rx_ring_max"), (double)most, UNIT_COUNT, NULL,
		       "ethtool RINGS_GET");
	finding_number(out, f, ring_fact(in, out, "speed_mbps"), line_bps, UNIT_BITS_PER_SECOND,
		       rule_text(out, ">= %g", RING_SMALL_FROM_BPS), "ethtool LINKMODES_GET");
	if (!f->subject)
		return;
	finding_command(out, f, "ethtool -G %s %s", rule_shell(out, f->subject), words);
	finding_undo(out, f, "ethtool -G %s rx %llu", rule_shell(out, f->subject), now);
	finding_keep_ethtool(out, f, l, "-G", words);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct nd_f64 line = exam_line_rate(in->exam, in->side);
	const struct link_facts *l = in->port;

	if (nic_is_software(l) || (l && l->rx_ring.k == ND_NOT_SUPPORTED)) {
		rule_not_applicable(out, "no receive ring that could be set");
		return;
	}
	if (!l || l->rx_ring.k != ND_KNOWN) {
		rule_missing(out, ring_fact(in, out, "rx_ring"), l ? l->rx_ring.k : ND_UNREAD,
			     NULL);
		return;
	}
	if (l->rx_ring.v > RING_SMALL_ENTRIES) {
		rule_clear(out, "a ring of %llu", (unsigned long long)l->rx_ring.v);
		return;
	}
	if (line.k == ND_NOT_APPLICABLE || (line.k == ND_KNOWN && line.v < RING_SMALL_FROM_BPS)) {
		rule_clear(out, "a ring of %llu is enough for a link below %g Gbit/s",
			   (unsigned long long)l->rx_ring.v, RING_SMALL_FROM_BPS / 1e9);
		return;
	}
	if (line.k != ND_KNOWN || l->rx_ring_max.k != ND_KNOWN) {
		rule_missing(out, ring_fact(in, out, line.k != ND_KNOWN ? "speed_mbps" :
					    "rx_ring_max"),
			     line.k != ND_KNOWN ? line.k : l->rx_ring_max.k, NULL);
		return;
	}
	if (l->rx_ring_max.v <= l->rx_ring.v) {
		rule_clear(out, "the ring is as large as it can be");
		return;
	}
	fire(in, out, line.v);
}

const struct rule rule_ring_rx_small = {
	.id = "ring-rx-small",
	.title = "the receive ring is small for the link's speed",
	.scope = RULE_PER_HOST,
	.reads = "receive ring size and its maximum, link speed",
	.fires_when = "a link of 10 Gbit/s or more whose receive ring has <= 256 entries and could "
		      "have more; without drops only for information",
	.why = "At 10 Gbit/s 256 full packets arrive in 0.3 ms: less than a CPU may be away from "
	       "its ring.",
	.fix = "Enlarge the receive ring (1024 entries do for most).",
	.not_when = "No packet is dropped: a small ring also keeps packets in the CPU's cache.",
	.references = "ethtool(8), -G",
	.evaluate = evaluate,
};

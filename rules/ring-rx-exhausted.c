/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/drops.h"
#include "rules/keep.h"
#include "rules/ring.h"
#include "rules/thresholds.h"

static void suggest_ring(struct rule_output *out, struct finding *f, const struct link_facts *port)
{
	const char *name = rule_shell(out, port->name.v), *words;
	unsigned long long now = port->rx_ring.v, wanted = port->rx_ring_max.v;

	if (now <= wanted / RING_GROWTH)
		wanted = now * RING_GROWTH;
	words = rule_text(out, "rx %llu", wanted);
	finding_command(out, f, "ethtool -G %s %s", name, words);
	finding_undo(out, f, "ethtool -G %s rx %llu", name, now);
	finding_keep_ethtool(out, f, port, "-G", words);
}

static const char *ring_words(struct rule_output *out, const struct link_facts *port)
{
	if (port->rx_ring.k != ND_KNOWN)
		return "its receive ring was full";
	return rule_text(out, "its receive ring of %llu was full",
			 (unsigned long long)port->rx_ring.v);
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct ring_drops *r)
{
	struct finding *f = rule_fire(out);

	f->risk = RISK_QUEUE_RESTART;
	f->subject = in->port->name.k == ND_KNOWN ? in->port->name.v : NULL;
	f->title = rule_text(out, "%s of %s dropped %.0f packets (%.2g %%): %s for moments, and no "
			     "CPU was", f->subject ? f->subject : "the NIC",
			     in->side == SIDE_PEER ? "the peer" : "this host", r->drops.packets,
			     drops_share(&r->drops) * 100, ring_words(out, in->port));
	ring_evidence(in, out, f, r);
	drops_judge(in, out, f, &r->drops);
	if (in->port->rx_ring.k != ND_KNOWN || in->port->rx_ring_max.k != ND_KNOWN) {
		f->confidence = 0.6;
	} else if (in->port->rx_ring.v < in->port->rx_ring_max.v) {
		suggest_ring(out, f, in->port);
	} else {
		f->risk = RISK_NONE;
		f->fix = "The ring is as large as it can be: spread the flows over more queues, "
			 "interrupt sooner (lower rx-usecs), or let the sender pace its bursts "
			 "(fq).";
	}
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct ring_drops r;

	if (!ring_drops_of(in, out, &r))
		return;
	if (r.hot->busy.v >= RING_CORE_FULL) {
		rule_clear(out, "the ring overflowed, but because a CPU was %.0f %% busy: a larger "
			   "one would only fill later", r.hot->busy.v * 100);
		return;
	}
	fire(in, out, &r);
}

const struct rule rule_ring_rx_exhausted = {
	.id = "ring-rx-exhausted",
	.title = "the receive ring is too small for bursts",
	.scope = RULE_PER_RECEIVER,
	.reads = "the driver's counter of packets dropped for want of a receive buffer, packets "
		 "received, ring size and its maximum, the busiest core, the sender's "
		 "retransmissions",
	.fires_when = ">= 1e-6 of the packets that came were dropped in the window, our flows "
		      "lost something, and the busiest core was < 95 % busy",
	.why = "Between two polls of the driver the NIC puts packets in a ring of buffers. A burst "
	       "that is longer than the ring is dropped, although the CPUs could have handled it a "
	       "moment later.",
	.fix = "Enlarge the receive ring.",
	.not_when = "A full core cannot keep up with any ring (ring-rx-exhausted-saturated). "
		    "Totals since boot prove nothing. Of a port with other users the counter "
		    "counts their packets too: without retransmissions nothing of ours was lost.",
	.references = "ethtool(8), -G\n"
		      "Linux Documentation/networking/statistics.rst, rx_missed_errors",
	.evaluate = evaluate,
};

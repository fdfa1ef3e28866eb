/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/drops.h"
#include "rules/ring.h"
#include "rules/thresholds.h"

static void fire(const struct rule_input *in, struct rule_output *out, const struct ring_drops *r)
{
	struct finding *f = rule_fire(out);

	f->risk = RISK_NONE;
	f->subject = in->port->name.k == ND_KNOWN ? in->port->name.v : NULL;
	f->title = rule_text(out, "%s of %s dropped %.0f packets (%.2g %%) because the CPU behind "
			     "it was %.0f %% busy", f->subject ? f->subject : "the NIC",
			     in->side == SIDE_PEER ? "the peer" : "this host", r->drops.packets,
			     drops_share(&r->drops) * 100, r->hot->busy.v * 100);
	ring_evidence(in, out, f, r);
	/* What the CPU's own rules promise holds; fewer drops alone win nothing. */
	drops_losses(in, out, f);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct ring_drops r;

	if (!ring_drops_of(in, out, &r))
		return;
	if (r.hot->busy.v < RING_CORE_FULL) {
		rule_clear(out, "the ring overflowed, but no CPU was full");
		return;
	}
	fire(in, out, &r);
}

const struct rule rule_ring_rx_exhausted_saturated = {
	.id = "ring-rx-exhausted-saturated",
	.title = "the receive ring overflows because a CPU is full",
	.scope = RULE_PER_RECEIVER,
	.reads = "as ring-rx-exhausted",
	.fires_when = ">= 1e-6 of the packets that came were dropped in the window, our flows "
		      "lost something, and the busiest core was >= 95 % busy",
	.why = "The core that empties the ring cannot keep up with the rate, so that any ring "
	       "fills. The drops follow from the CPU limit and add losses to it.",
	.fix = "Relieve or spread the CPU work first; enlarge the ring only after that.",
	.not_when = "The cores have room: then the ring is too small for bursts "
		    "(ring-rx-exhausted).",
	.references = "Linux Documentation/networking/scaling.rst",
	.evaluate = evaluate,
};

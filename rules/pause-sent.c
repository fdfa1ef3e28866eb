/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/pause.h"

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct pause_seen p;
	struct finding *f;

	if (!pause_find(in, out, NIC_PAUSE_SENT, &p))
		return;
	f = rule_fire(out);
	f->risk = RISK_NONE;
	f->subject = in->port->name.k == ND_KNOWN ? in->port->name.v : NULL;
	f->title = rule_text(out, "%s of %s asks for a pause %.0f times a second: %s cannot take "
			     "in what comes", f->subject ? f->subject : "the port",
			     in->side == SIDE_PEER ? "the peer" : "this host", p.per_second,
			     in->side == SIDE_PEER ? "the peer" : "this host");
	pause_judge(in, out, f, &p);
	if (f->subject)
		finding_command(out, f, "ethtool -S %s | grep -iE 'pause|xo(n|ff)|flow'",
				rule_shell(out, f->subject));
}

const struct rule rule_pause_sent = {
	.id = "pause-sent",
	.title = "the receiver's port asks for pauses: this host is the slow one",
	.scope = RULE_PER_RECEIVER,
	.reads = "the driver's counter of pause frames sent",
	.fires_when = ">= 100 pause frames a second were sent by the receiving port in the window",
	.why = "The NIC asks for a pause when its buffers fill because the host does not empty "
	       "them: the ring has no free entry (CPU), or PCIe does not take the data fast "
	       "enough.",
	.fix = "Relieve this host: its CPUs (cpu-* rules, more queues), its receive ring, its PCIe "
	       "slot.",
	.not_when = "The wire is full already: a pause now and then is flow control at work.",
	.references = "IEEE 802.3, annex 31B\n"
		      "ethtool(8), -a and -S",
	.evaluate = evaluate,
};

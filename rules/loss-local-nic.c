/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/drops.h"
#include "rules/loss.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void fire(const struct rule_input *in, struct rule_output *out, const struct loss_places *l)
{
	const struct loss_place *worst = loss_worst(l);
	const struct link_facts *port = exam_port(in->exam, worst->side);
	const struct drops drops = { .packets = worst->drops, .aggregates = worst->aggregates };
	struct finding *f = rule_fire(out);
	char share[32];

	format_quantity(l->explained, UNIT_SHARE, share, sizeof(share));
	f->side = worst->side;
	f->subject = port && port->name.k == ND_KNOWN ? port->name.v : NULL;
	f->title = rule_text(out, "%s drops packets itself: that is %s of what is lost",
			     worst->side == SIDE_PEER ? "the peer" : "this host", share);
	drops_judge(in, out, f, &drops);
	loss_evidence(in, out, f, l);
	if (f->subject) {
		finding_command(out, f, "ip -s -s link show dev %s", rule_shell(out, f->subject));
		finding_command(out, f, "tc -s qdisc show dev %s", rule_shell(out, f->subject));
	}
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct loss_places l;

	if (!loss_find(in, out, &l))
		return;
	if (l.n && l.explained >= LOSS_LOCAL_SHARE)
		fire(in, out, &l);
	else if (loss_both_seen(in, out, &l))
		rule_clear(out, "the hosts' drop counters explain %.0f %% of the losses",
			   l.explained * 100);
}

const struct rule rule_loss_local_nic = {
	.id = "loss-local-nic",
	.title = "one of the hosts drops the packets itself",
	.scope = RULE_PER_SENDER,
	.reads = "retransmissions, of UDP the datagrams that are missing; drops of "
		 "the sender's qdiscs and port; drops of the receiver's port, receive ring, "
		 "backlog and sockets; FCS and checksum errors",
	.fires_when = ">= 30 losses, and those counters explain >= 50 % of them",
	.why = "A packet that a host counts as dropped was not lost on the way: the cure is in "
	       "that host, at the place that counts.",
	.fix = "See the rule of the counter with the most drops: ring-rx-exhausted, "
	       "softnet-backlog-drop, qdisc-drops, phy-fcs-errors.",
	.not_when = "Counters of a port count what else it carries, too; a slow drip of rx_dropped "
		    "(unknown protocols) is normal.",
	.references = "Linux Documentation/networking/statistics.rst",
	.evaluate = evaluate,
};

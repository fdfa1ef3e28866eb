/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/pause.h"

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct pause_seen p;
	struct finding *f;

	if (!pause_find(in, out, NIC_PAUSE_RECEIVED, &p))
		return;
	f = rule_fire(out);
	f->risk = RISK_NONE;
	f->subject = in->port->name.k == ND_KNOWN ? in->port->name.v : NULL;
	f->title = rule_text(out, "%s of %s is told to pause %.0f times a second%s: who is next on "
			     "the wire cannot take more", f->subject ? f->subject : "the port",
			     in->side == SIDE_PEER ? "the peer" : "this host", p.per_second,
			     pause_share_text(out, &p));
	pause_judge(in, out, f, &p);
	if (f->subject)
		finding_command(out, f, "ethtool -S %s | grep -iE 'pause|xo(n|ff)|flow'",
				rule_shell(out, f->subject));
}

const struct rule rule_pause_received = {
	.id = "pause-received",
	.title = "the sender's port is paused by flow control",
	.scope = RULE_PER_SENDER,
	.reads = "the driver's counters of pause frames received and (mlx5, mlx4, bnxt) time "
		 "paused, pause settings of the port",
	.fires_when = ">= 100 pause frames a second in the window, or >= 2 % of it paused, on the "
		      "sending port, which obeys them",
	.why = "A switch or host that cannot take more asks its neighbour on the wire to stop for "
	       "a moment. Nothing is dropped and no TCP counter moves: the rate just falls.",
	.fix = "Find who sends the pause frames: the peer's NIC when the hosts are connected "
	       "directly (pause-sent there), else the switch, for a slower or congested port "
	       "behind it. Relieve that; turning pause off only turns the stops into drops.",
	.not_when = "Totals since boot prove nothing. Ports set not to obey pause count the frames "
		    "all the same. The wire is full already.",
	.references = "IEEE 802.3, annex 31B; 802.1Qbb\n"
		      "ethtool(8), -a and -S",
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/drops.h"
#include "rules/keep.h"
#include "rules/nic_counters.h"
#include "rules/softnet.h"
#include "rules/thresholds.h"

/* Drivers with NAPI hand packets up without it; software links and RPS queue them there. */
static bool uses_backlog(const struct rule_input *in, const struct softnet_sum *sum)
{
	return nic_is_software(in->port) || sum->steered > 0;
}

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct softnet_sum *sum)
{
	struct nd_u64 now = in->facts ? in->facts->sysctl.netdev_max_backlog :
					nd_u64_unknown(ND_UNREAD);
	double part = softnet_our_part(in->end, in->port);
	const struct drops drops = {
		.packets = sum->dropped * part, .passed = sum->processed * part, .aggregates = true,
	};
	struct finding *f = rule_fire(out);

	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = "netdev_max_backlog";
	f->title = rule_text(out, "%s dropped %.0f packets because a CPU's backlog queue%s was "
			     "full",
			     in->side == SIDE_PEER ? "the peer" : "this host", sum->dropped,
			     now.k == ND_KNOWN ? rule_text(out, " of %llu",
							   (unsigned long long)now.v) : "");
	finding_number(out, f, softnet_fact(out, in->run, in->side, "[*].dropped"), sum->dropped,
		       UNIT_PACKETS, "> 0", "/proc/net/softnet_stat, column 2");
	finding_number(out, f, "share of the packets that came", drops_share(&drops), UNIT_SHARE,
		       NULL, "computed");
	if (sum->steered > 0)
		finding_number(out, f, softnet_fact(out, in->run, in->side, "[*].received_rps"),
			       sum->steered, UNIT_PACKETS, NULL,
			       "/proc/net/softnet_stat, column 10");
	drops_judge(in, out, f, &drops);
	if (now.k != ND_KNOWN) {
		f->confidence = 0.6;
		return;
	}
	finding_number(out, f, rule_text(out, "%s.sysctl.netdev_max_backlog", side_word(in->side)),
		       (double)now.v, UNIT_PACKETS, NULL, "sysctl");
	if (now.v < BACKLOG_MOST / RING_GROWTH)
		finding_sysctl(out, f, "net.core.netdev_max_backlog",
			       now.v * RING_GROWTH > BACKLOG_LEAST ? now.v * RING_GROWTH :
								     BACKLOG_LEAST, now);
	else if (now.v < BACKLOG_MOST)
		finding_sysctl(out, f, "net.core.netdev_max_backlog", BACKLOG_MOST, now);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct softnet_sum sum = softnet_sum_of(in->end);

	if (sum.k != ND_KNOWN)
		rule_missing(out, softnet_fact(out, in->run, in->side, "[*].dropped"), sum.k, NULL);
	else if (!(sum.dropped > 0))
		rule_clear(out, "no CPU's backlog queue overflowed");
	else if (!uses_backlog(in, &sum))
		rule_clear(out, "%.0f packets were dropped from backlog queues, but ours do not "
			   "pass them: the NIC's driver polls, and RPS is off", sum.dropped);
	else if (drops_were_not_ours(in))
		rule_clear(out, "%.0f packets were dropped from backlog queues, but none of ours: "
			   "nothing had to be sent again", sum.dropped);
	else
		fire(in, out, &sum);
}

const struct rule rule_softnet_backlog_drop = {
	.id = "softnet-backlog-drop",
	.title = "a CPU's backlog queue overflows",
	.scope = RULE_PER_RECEIVER,
	.reads = "/proc/net/softnet_stat of the receiver (dropped, processed, received_rps), "
		 "net.core.netdev_max_backlog, kind of the link, the sender's retransmissions",
	.fires_when = "packets were dropped from a backlog queue in the window, ours pass such a "
		      "queue (veth, loopback, tunnels; RPS), and our flows lost something",
	.why = "Packets of software links, and those that RPS gives to another CPU, wait in that "
	       "CPU's backlog queue. It holds net.core.netdev_max_backlog packets; what comes on "
	       "top is dropped.",
	.fix = "Raise net.core.netdev_max_backlog, and spread the work over more CPUs (RPS masks) "
	       "when one of them is full.",
	.not_when = "NICs whose drivers poll (all current ones) do not use the queue. The counters "
		    "are the machine's: without retransmissions nothing of ours was dropped.",
	.references = "Linux Documentation/admin-guide/sysctl/net.rst, netdev_max_backlog\n"
		      "Linux Documentation/networking/scaling.rst",
	.evaluate = evaluate,
};

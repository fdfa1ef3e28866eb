/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/drops.h"
#include "rules/loss.h"
#include "rules/round_trips.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void fire(const struct rule_input *in, struct rule_output *out, const struct loss_places *l)
{
	const struct facts *sender = in->exam->facts[run_sender(in->direction)];
	struct finding *f = rule_fire(out);
	double sent = rule_sent_bps(in->exam, in->direction);
	char share[32];

	format_quantity(l->loss.share, UNIT_SHARE, share, sizeof(share));
	f->side = SIDE_PATH;
	f->title = rule_text(out, "%s of what %s sends is lost between the hosts: neither counts a "
			     "drop", share, run_sender(in->direction) == SIDE_PEER ? "the peer" :
			     "this host");
	drops_losses(in, out, f);	/* of TCP low: cc-loss-bound says when it costs */
	if (l->loss.datagrams)
		finding_lifts(f, CEILING_LOSS, sent, sent);
	loss_evidence(in, out, f, l);
	/* A queue that fills before it drops, or packets that are lost at any load. */
	finding_round_trips(in, out, f);
	finding_command(out, f, "mtr -n -c 100 %s    # which hop, if it answers",
			sender && sender->route.to.k == ND_KNOWN ?
			rule_shell(out, sender->route.to.v) : "PEER");
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct loss_places l;

	if (!loss_find(in, out, &l))
		return;
	if (l.explained >= LOSS_PATH_SHARE)
		rule_clear(out, "the hosts' own drop counters explain %.0f %% of the losses",
			   l.explained * 100);
	else if (l.late >= SPURIOUS_SHARE)
		rule_clear(out, "%.0f %% of what was sent again was only late", l.late * 100);
	else if (loss_both_seen(in, out, &l))
		fire(in, out, &l);
}

const struct rule rule_loss_path = {
	.id = "loss-path",
	.title = "packets are lost between the hosts",
	.scope = RULE_PER_SENDER,
	.reads = "retransmissions and duplicates, of UDP the datagrams that are missing; all drop "
		 "and error counters of both hosts; as evidence round trips, where measured",
	.fires_when = ">= 30 losses, of which the hosts' counters explain < 10 %, and less than "
		      "half of what was sent again was only late",
	.why = "Neither host dropped these packets, so a switch, a router, a firewall, a policer "
	       "or a bad cable between them did.",
	.fix = "Read the drop and error counters of each port between the hosts; look for policers "
	       "and firewalls; pace below the slowest link.",
	.not_when = "A host whose counters were not seen may be the place.",
	.references = "RFC 2883 (DSACK)\nLinux Documentation/networking/statistics.rst",
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "rules/thresholds.h"
#include "src/diagnose/rule.h"

/* Straight to the peer, by one Ethernet; behind a router each end has its own. */
static bool is_direct(const struct facts *f)
{
	return f->route.ifindex.k == ND_KNOWN &&
	       (f->route.gateway.k == ND_ABSENT || f->route.gateway.k == ND_NOT_APPLICABLE);
}

static const char *link_name(const struct link_facts *l)
{
	return l->name.k == ND_KNOWN ? l->name.v : "?";
}

static const char *mtu_fact(struct rule_output *out, enum side s, const struct link_facts *l)
{
	return rule_text(out, "%s.links[%s].mtu", side_word(s), link_name(l));
}

static void fire(struct rule_output *out, const struct link_facts *const links[EXAM_ENDS])
{
	enum side small = links[SIDE_LOCAL]->mtu.v < links[SIDE_PEER]->mtu.v ? SIDE_LOCAL :
										 SIDE_PEER;
	const struct link_facts *low = links[small], *high = links[side_other(small)];
	const char *host = small == SIDE_PEER ? "the peer" : "this host";
	struct finding *f = rule_fire(out);
	int s;

	f->proof = PROOF_STATIC;
	f->severity = SEVERITY_LOW;
	f->risk = RISK_LINK_FLAP;
	f->subject = link_name(low);
	f->title = rule_text(out, "the MTU is %llu on %s of this host and %llu on %s of the peer, "
			     "on one network", (unsigned long long)links[SIDE_LOCAL]->mtu.v,
			     link_name(links[SIDE_LOCAL]),
			     (unsigned long long)links[SIDE_PEER]->mtu.v,
			     link_name(links[SIDE_PEER]));
	for (s = 0; s < EXAM_ENDS; s++)
		finding_number(out, f, mtu_fact(out, (enum side)s, links[s]),
			       (double)links[s]->mtu.v, UNIT_BYTES, "equal on both ends",
			       "rtnetlink");
	finding_command(out, f, "ip link set dev %s mtu %llu    # on %s",
			rule_shell(out, link_name(low)), (unsigned long long)high->mtu.v, host);
	finding_persist(out, f, "# in what sets the link up: MTUBytes= of a .link file, "
			"802-3-ethernet.mtu of a NetworkManager connection, mtu of netplan");
	finding_undo(out, f, "ip link set dev %s mtu %llu    # on %s",
		     rule_shell(out, link_name(low)), (unsigned long long)low->mtu.v, host);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct link_facts *links[EXAM_ENDS];
	int s;

	for (s = 0; s < EXAM_ENDS; s++) {
		const struct facts *f = in->exam->facts[s];
		const char *side = side_word((enum side)s);

		links[s] = exam_egress(in->exam, (enum side)s);
		if (!f || !links[s] || links[s]->mtu.k != ND_KNOWN) {
			rule_missing(out, rule_text(out, "%s.links[*].mtu", side),
				     f && links[s] ? links[s]->mtu.k : ND_UNREAD, NULL);
			return;
		}
		if (!is_direct(f)) {
			rule_not_applicable(out, "a router is between the ends");
			return;
		}
	}
	if (links[SIDE_LOCAL]->mtu.v == links[SIDE_PEER]->mtu.v)
		rule_clear(out, "the MTU is %llu on both ends",
			   (unsigned long long)links[SIDE_LOCAL]->mtu.v);
	else
		fire(out, links);
}

const struct rule rule_mtu_mismatch = {
	.id = "mtu-mismatch",
	.title = "two hosts of one network have different MTUs",
	.scope = RULE_PER_EXAM,
	.reads = "MTU of both ends' links to each other; whether a gateway is between them",
	.fires_when = "no gateway, and the MTUs differ",
	.why = "Within one Ethernet nobody tells a sender that its packet is too large: the "
	       "receiver drops it. TCP agrees on the smaller size in its handshake, so it works "
	       "and merely wastes the larger frames; UDP, tunnels and storage do not.",
	.fix = "Set one MTU on every port of the network: both hosts, and the switch ports between "
	       "them first.",
	.not_when = "Ends in different networks: there the routers deal with it.",
	.references = "RFC 9293, 3.7.1 (maximum segment size)\nip-link(8)",
	.evaluate = evaluate,
};

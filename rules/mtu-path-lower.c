/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/tcp.h"
#include "rules/thresholds.h"

static void fire(const struct rule_input *in, struct rule_output *out, uint64_t pmtu)
{
	const char *name = in->link->name.k == ND_KNOWN ? in->link->name.v : "?";
	struct finding *f = rule_fire(out);

	f->severity = SEVERITY_INFO;
	f->side = SIDE_PATH;
	f->subject = name;
	f->title = rule_text(out, "a link on the way takes packets of %llu bytes only; %s of %s "
			     "could send %llu", (unsigned long long)pmtu, name,
			     in->side == SIDE_PEER ? "the peer" : "this host",
			     (unsigned long long)in->link->mtu.v);
	finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "pmtu"), (double)pmtu,
		       UNIT_BYTES, rule_text(out, "<= mtu - %d", MTU_PATH_LOWER_BYTES), "TCP_INFO");
	finding_number(out, f, rule_text(out, "%s.links[%s].mtu", side_word(in->side), name),
		       (double)in->link->mtu.v, UNIT_BYTES, NULL, "rtnetlink");
	finding_command(out, f, "tracepath -n %s    # which link it is",
			in->facts && in->facts->route.to.k == ND_KNOWN ?
			rule_shell(out, in->facts->route.to.v) : "PEER");
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct nd_u64 pmtu = END_FLOW_MIN(in->end, pmtu);

	if (!in->end->present || pmtu.k != ND_KNOWN)
		rule_missing(out, tcp_flow_fact(out, in->run, in->side, "pmtu"),
			     in->end->present ? pmtu.k : ND_UNREAD, NULL);
	else if (!in->link || in->link->mtu.k != ND_KNOWN)
		rule_missing(out, rule_text(out, "%s.links[*].mtu", side_word(in->side)),
			     in->link ? in->link->mtu.k : ND_UNREAD, NULL);
	else if (pmtu.v + MTU_PATH_LOWER_BYTES > in->link->mtu.v)
		rule_clear(out, "packets of the link's full size arrive");
	else
		fire(in, out, pmtu.v);
}

const struct rule rule_mtu_path_lower = {
	.id = "mtu-path-lower",
	.title = "a link on the way has a smaller MTU",
	.scope = RULE_PER_SENDER,
	.reads = "path MTU of the sender's sockets; MTU of its link",
	.fires_when = "path MTU <= MTU of the link - 20",
	.why = "A router on the way (a tunnel, a VPN, PPPoE, a link without jumbo frames) told the "
	       "sender to send smaller packets, and the sender does: more packets for the same "
	       "bytes.",
	.fix = "Nothing is broken. Give the link on the way the same MTU if it can have it, or "
	       "this one the smaller, so that the first packets of each connection fit.",
	.not_when = "Peers that merely have a smaller MTU themselves agree on small segments "
		    "without it.",
	.references = "RFC 1191, RFC 8201 (path MTU discovery)",
	.tcp = true,
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/keep.h"
#include "rules/link.h"
#include "rules/thresholds.h"

#define FULL_DUPLEX_ONLY_FROM_MBPS 10000	/* IEEE 802.3 defines no other mode there */

/* Of a side's port over the windows of all main runs. */
struct collisions { bool known; double collisions, late; };

static void add_window(const struct run_end *end, const struct link_facts *port,
		       struct collisions *c)
{
	const struct link_sample *s;

	if (!end->present || !end->window || port->ifindex.k != ND_KNOWN)
		return;
	s = counters_link(end->window, port->ifindex.v);
	if (!s)
		return;
	if (s->collisions.k == ND_KNOWN) {
		c->known = true;
		c->collisions += (double)s->collisions.v;
	}
	if (s->tx_window_errors.k == ND_KNOWN)
		c->late += (double)s->tx_window_errors.v;
}

static struct collisions collisions_of(const struct rule_input *in)
{
	static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };
	struct collisions c = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		const struct run *run = exam_main_run(in->exam, directions[i]);

		if (run)
			add_window(&run->ends[in->side], in->port, &c);
	}
	return c;
}

/* A run that reached less than the wire carries, as half duplex would have it; NULL: none. */
static const struct run *limited_run(const struct rule_input *in, const struct collisions *c)
{
	static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };
	double most = c->collisions > 0 ? LINK_WIRE_REACHED : LINK_HALF_DUPLEX_YIELD;
	const struct run *found = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		const struct run *run = exam_main_run(in->exam, directions[i]);
		double wire = link_goodput_at(in, in->side, directions[i], link_speed(in->port));

		if (!run || !(wire > 0) || (double)run->goodput_bps.v > most * wire)
			continue;
		if (!found || run->goodput_bps.v < found->goodput_bps.v)
			found = run;
	}
	return found;
}

static void add_fix(struct rule_output *out, struct finding *f, const struct link_facts *port)
{
	const char *name = rule_shell(out, link_name(port));

	if (!nd_is_false(port->autoneg)) {
		/* Who negotiates with a partner that does not has to assume half duplex. */
		finding_command(out, f, "ethtool %s", name);
		return;
	}
	finding_command(out, f, "ethtool -s %s autoneg on", name);
	if (link_speed(port) > 0)
		finding_undo(out, f, "ethtool -s %s autoneg off speed %.0f duplex half", name,
			     link_speed(port));
	finding_keep_ethtool(out, f, port, "-s", "autoneg on");
}

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct collisions *c)
{
	const struct link_facts *port = in->port;

	finding_word(out, f, link_fact(out, in->side, port, "duplex"),
		     port->duplex.k == ND_KNOWN ? port->duplex.v : nd_known_word(port->duplex.k),
		     "full", "ethtool LINKMODES_GET");
	if (port->autoneg.k == ND_KNOWN)
		finding_word(out, f, link_fact(out, in->side, port, "autoneg"),
			     port->autoneg.v ? "on" : "off", NULL, "ethtool LINKMODES_GET");
	finding_port_speed(out, f, in->side, port, "speed_mbps", port->speed_mbps, NULL);
	if (c->known)
		finding_number(out, f, link_fact(out, in->side, port, "collisions"), c->collisions,
			       UNIT_COUNT, "0", "IFLA_STATS64");
	if (c->late > 0)
		finding_number(out, f, link_fact(out, in->side, port, "tx_window_errors"), c->late,
			       UNIT_COUNT, "0", "IFLA_STATS64");
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct collisions *c)
{
	const struct run *run = limited_run(in, c);
	struct finding *f = rule_fire(out);
	double wire;

	f->subject = link_name(in->port);
	f->severity = SEVERITY_MEDIUM;
	f->risk = RISK_LINK_FLAP;
	f->title = rule_text(out, "%s of %s is half duplex%s: it cannot send and receive at once",
			     f->subject, in->side == SIDE_PEER ? "the peer" : "this host",
			     link_speed(in->port) > 0 ?
			     rule_text(out, " at %s", link_speed_text(out, link_speed(in->port))) :
			     "");
	add_evidence(in, out, f, c);
	add_fix(out, f, in->port);
	if (!run)
		return;
	f->proof = PROOF_CAUSAL;
	if (!(c->collisions > 0))
		f->confidence = 0.6;
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", run->id.v),
		       (double)run->goodput_bps.v, UNIT_BITS_PER_SECOND,
		       rule_text(out, "<= %g of the wire", c->collisions > 0 ?
				 LINK_WIRE_REACHED : LINK_HALF_DUPLEX_YIELD), "traffic run");
	wire = link_goodput_at(in, in->side, run->spec.direction, link_speed(in->port));
	finding_lifts(f, CEILING_WIRE, wire, wire);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct link_facts *port = in->port;
	struct collisions c;

	if (link_is_no_port(in, out))
		return;
	c = collisions_of(in);
	if (link_speed(port) >= FULL_DUPLEX_ONLY_FROM_MBPS || nd_str_is(port->duplex, "full")) {
		rule_clear(out, "%s is full duplex", link_name(port));
		return;
	}
	if (link_speed(port) > 0 && link_speed(port) < 100) {
		rule_not_applicable(out, "10 Mbit/s links may be half duplex by design");
		return;
	}
	if (nd_str_is(port->duplex, "half") || c.late > 0) {
		fire(in, out, &c);
		return;
	}
	if (port->duplex.k == ND_NOT_APPLICABLE || port->speed_mbps.k == ND_NOT_APPLICABLE) {
		rule_not_applicable(out, "the device has no duplex");
		return;
	}
	link_missing(out, in->side, port, "duplex", port->duplex.k);
}

const struct rule rule_link_half_duplex = {
	.id = "link-half-duplex",
	.title = "a link is half duplex: it cannot send and receive at once",
	.scope = RULE_PER_HOST,
	.reads = "duplex, autonegotiation and speed of the port; collisions and late collisions "
		 "under traffic; measured rate",
	.fires_when = "half duplex at 100 Mbit/s or more, or late collisions where the duplex is "
		      "not known; causal when the rate is < 0.93 of the wire with collisions, or "
		      "<= 0.5 of it (less sure) where none were counted",
	.why = "One end that negotiates with one that was forced to a speed cannot learn the "
	       "duplex and must assume half. It then waits while it receives and backs off at "
	       "each collision; even acknowledgements collide with the data.",
	.fix = "Turn autonegotiation on at both ends of the cable. Never force one end alone.",
	.not_when = "10 Mbit/s links (hubs, 10BASE-T1S). From 10 Gbit/s on there is no half "
		    "duplex.",
	.references = "Linux Documentation/networking/statistics.rst, collisions and "
		      "tx_window_errors\n"
		      "IEEE 802.3, clause 28 (parallel detection)",
	.evaluate = evaluate,
};

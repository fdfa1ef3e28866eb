/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/link.h"
#include "rules/thresholds.h"

struct slow_port { double speed, supported; bool negotiates, is_slow; };

static struct slow_port slow_port_of(const struct link_facts *port)
{
	struct slow_port p = { .speed = link_speed(port) };

	if (!port || !(p.speed > 0) || port->supported_max_mbps.k != ND_KNOWN)
		return p;
	p.supported = (double)port->supported_max_mbps.v;
	p.is_slow = p.speed < p.supported;
	/* Elsewhere the module sets the speed, and drivers list all that fit the cage. */
	p.negotiates = nd_str_is(port->port, "tp") || port->partner_max_mbps.k == ND_KNOWN;
	return p;
}

/* Both ends of the path rest at the same speed: one change at what is between them. */
static bool both_are_slow(const struct rule_input *in, const struct slow_port *p)
{
	struct slow_port other = slow_port_of(exam_port(in->exam, side_other(in->side)));

	return other.is_slow && other.negotiates && p->negotiates &&
	       fabs(other.speed - p->speed) < 1;
}

static const char *reason(const struct link_facts *port, const struct slow_port *p)
{
	if (!p->negotiates)
		return "the module in it, or the other end's, does no more";
	if (port->advertised_max_mbps.k == ND_KNOWN &&
	    (double)port->advertised_max_mbps.v < p->supported)
		return "it offers no more";
	if (port->partner_max_mbps.k == ND_KNOWN && (double)port->partner_max_mbps.v <= p->speed)
		return "its link partner offers no more";
	return "its partner or the cable does no more";
}

static void add_lift(const struct rule_input *in, struct finding *f, enum run_direction d,
		     double mbps)
{
	double after = link_goodput_at(in, in->side, d, mbps);

	/* Not full: advice that has nothing to promise. */
	f->lifts = CEILING_WIRE;
	if (f->proof != PROOF_STATIC && after > 0)
		finding_lifts(f, CEILING_WIRE, after, after);
}

static const char *where(struct rule_output *out, const struct rule_input *in, bool both)
{
	if (both)
		return "the link of each end";
	return rule_text(out, "%s of %s", link_name(in->port),
			 in->side == SIDE_PEER ? "the peer" : "this host");
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct slow_port *p,
		 bool both)
{
	struct slow_port other = slow_port_of(exam_port(in->exam, side_other(in->side)));
	double after = both ? fmin(p->supported, other.supported) : p->supported;
	struct finding *f = rule_fire(out);
	enum run_direction d = RUN_FORWARD;
	const struct link_facts *port = in->port;

	f->subject = link_name(port);
	f->risk = RISK_HANDS_ON;
	/* Without traffic nobody knows what it costs. */
	f->severity = in->exam->nruns ? SEVERITY_LOW : SEVERITY_MEDIUM;
	if (both)
		f->side = SIDE_BOTH;
	f->title = rule_text(out, "%s runs at %s, and can do %s: %s", where(out, in, both),
			     link_speed_text(out, p->speed), link_speed_text(out, after),
			     reason(port, p));
	if (link_full_direction(in, in->side, &d)) {
		f->proof = PROOF_CAUSAL;
		finding_full_wire(out, f, in, d);
	}
	finding_port_speed(out, f, in->side, port, "speed_mbps", port->speed_mbps,
			   rule_text(out, "< %g", p->supported));
	finding_port_speed(out, f, in->side, port, "supported_max_mbps", port->supported_max_mbps,
			   NULL);
	finding_port_speed(out, f, in->side, port, "advertised_max_mbps",
			   port->advertised_max_mbps, NULL);
	finding_port_speed(out, f, in->side, port, "partner_max_mbps", port->partner_max_mbps,
			   NULL);
	finding_command(out, f, "ethtool %s", rule_shell(out, f->subject));
	if (p->negotiates)
		add_lift(in, f, d, after);
	else
		f->severity = SEVERITY_INFO;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct slow_port p = slow_port_of(in->port);
	enum run_direction d;
	bool both;

	if (link_is_no_port(in, out))
		return;
	if (in->port->speed_mbps.k == ND_NOT_APPLICABLE) {
		rule_not_applicable(out, "the device has no line rate");
		return;
	}
	if (!(p.speed > 0) || !(p.supported > 0)) {
		if (p.speed > 0)
			link_missing(out, in->side, in->port, "supported_max_mbps",
				     in->port->supported_max_mbps.k);
		else
			link_missing(out, in->side, in->port, "speed_mbps",
				     in->port->speed_mbps.k);
		return;
	}
	if (!p.is_slow) {
		rule_clear(out, "%s runs at the most it supports, %s", link_name(in->port),
			   link_speed_text(out, p.speed));
		return;
	}
	if (!p.negotiates && !link_full_direction(in, in->side, &d)) {
		rule_clear(out, "%s runs at its module's speed, and that was not the limit",
			   link_name(in->port));
		return;
	}
	both = both_are_slow(in, &p);
	if (both && in->side == SIDE_PEER) {
		rule_clear(out, "told of both ends at once");
		return;
	}
	fire(in, out, &p, both);
}

const struct rule rule_link_speed_below_supported = {
	.id = "link-speed-below-supported",
	.title = "a link runs slower than its port can",
	.scope = RULE_PER_HOST,
	.reads = "negotiated, supported and advertised speed of the port, and what its link "
		 "partner offers; measured rate",
	.fires_when = "speed < the fastest supported one; causal when the rate is >= 0.93 of what "
		      "the wire carries",
	.why = "Both ends of a cable settle for the fastest speed that both offer and the cable "
	       "carries. A port, a module, a cable or a setting that does less slows everything "
	       "behind it, and nothing complains.",
	.fix = "Look at what is at the other end of the cable first: the speed, breakout and "
	       "licence of the switch port, and the speed of the modules at both ends. Then the "
	       "cable. Only then change what this port offers.",
	.not_when = "Where a module sets the speed, ports list every speed that fits the cage: "
		    "then this is a remark, made only when the wire is full. Software links and "
		    "most virtual NICs have no speed.",
	.references = "Linux Documentation/networking/ethtool-netlink.rst, LINKMODES_GET",
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/link.h"
#include "rules/thresholds.h"

static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };

static const char *host(enum side s)
{
	return s == SIDE_PEER ? "the peer" : "this host";
}

static void fire(const struct rule_input *in, struct rule_output *out, enum side slow,
		 const enum run_direction *full, size_t nfull, double slow_bps, double fast_bps)
{
	const struct link_facts *port = exam_port(in->exam, slow);
	const struct link_facts *fast = exam_port(in->exam, side_other(slow));
	struct finding *f = rule_fire(out);
	const struct ceiling *after;
	size_t i;

	f->side = slow;
	f->subject = link_name(port);
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_HANDS_ON;
	/* Both directions full: it concerns both. */
	f->has_direction = nfull == 1;
	f->direction = full[0];
	f->title = rule_text(out, "%s of %s, at %s, is full; %s of %s runs at %s", f->subject,
			     host(slow), link_speed_text(out, slow_bps / 1e6), link_name(fast),
			     host(side_other(slow)), link_speed_text(out, fast_bps / 1e6));
	finding_port_speed(out, f, slow, port, "speed_mbps", nd_u64((uint64_t)(slow_bps / 1e6)),
			   rule_text(out, "< %g", fast_bps / 1e6));
	finding_port_speed(out, f, side_other(slow), fast, "speed_mbps",
			   nd_u64((uint64_t)(fast_bps / 1e6)), NULL);
	for (i = 0; i < nfull; i++)
		finding_full_wire(out, f, in, full[i]);
	after = ladder_find(in->ladder, full[0], CEILING_WIRE, side_other(slow));
	if (after && after->known)
		finding_lifts(f, CEILING_WIRE, after->low_bps, after->high_bps);
}

/* A side's line rate is not known: says so, and answers true. */
static bool missing_side(const struct rule_input *in, struct rule_output *out, enum side s,
			 struct nd_f64 line)
{
	const struct link_facts *port = exam_port(in->exam, s);

	if (line.k == ND_KNOWN)
		return false;
	if (!port)
		rule_missing(out, rule_text(out, "%s.links", side_word(s)), ND_UNREAD, NULL);
	else
		link_missing(out, s, port, "speed_mbps", line.k);
	return true;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct nd_f64 line[EXAM_ENDS] = {
		[SIDE_LOCAL] = exam_line_rate(in->exam, SIDE_LOCAL),
		[SIDE_PEER] = exam_line_rate(in->exam, SIDE_PEER),
	};
	enum run_direction full[ARRAY_SIZE(directions)];
	enum side slow;
	size_t i, nfull = 0;

	if (line[SIDE_LOCAL].k == ND_NOT_APPLICABLE || line[SIDE_PEER].k == ND_NOT_APPLICABLE) {
		rule_not_applicable(out, "an end's link has no line rate");
		return;
	}
	if (missing_side(in, out, SIDE_LOCAL, line[SIDE_LOCAL]) ||
	    missing_side(in, out, SIDE_PEER, line[SIDE_PEER]))
		return;
	if (fabs(line[SIDE_LOCAL].v - line[SIDE_PEER].v) < 1e6) {
		rule_clear(out, "the links of both ends run at %s",
			   link_speed_text(out, line[SIDE_LOCAL].v / 1e6));
		return;
	}
	slow = line[SIDE_LOCAL].v < line[SIDE_PEER].v ? SIDE_LOCAL : SIDE_PEER;
	for (i = 0; i < ARRAY_SIZE(directions); i++)
		if (link_full_wire(in, slow, directions[i]))
			full[nfull++] = directions[i];
	if (!nfull) {
		rule_clear(out, "the link of %s is slower, but was not full", host(slow));
		return;
	}
	fire(in, out, slow, full, nfull, line[slow].v, line[side_other(slow)].v);
}

const struct rule rule_link_peer_slower = {
	.id = "link-peer-slower",
	.title = "one end's link is slower than the other's, and full",
	.scope = RULE_PER_EXAM,
	.reads = "line rate of both ends' ports; measured rate",
	.fires_when = "the line rates differ, and the rate is >= 0.93 of what the slower wire "
		      "carries",
	.why = "A path is as fast as its slowest link. Nothing at the faster end can change that.",
	.fix = "Give the slower end a faster port, switch port and cable, or a bond of several.",
	.not_when = "The slower wire is not full: then something else limits.",
	.references = "IEEE 802.3",
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/link.h"

#include <math.h>

#include "rules/thresholds.h"

const struct ceiling *link_full_wire(const struct rule_input *in, enum side s,
				     enum run_direction d)
{
	const struct ceiling *c = ladder_find(in->ladder, d, CEILING_WIRE, s);
	const struct run *run = exam_main_run(in->exam, d);
	double rate = run ? (double)run->goodput_bps.v : 0;

	if (!run || !c || !c->known || rate < LINK_WIRE_REACHED * c->low_bps)
		return NULL;
	return rate <= LIMIT_BINDS_TO * c->high_bps ? c : NULL;
}

bool link_full_direction(const struct rule_input *in, enum side s, enum run_direction *d)
{
	static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(directions); i++)
		if (link_full_wire(in, s, directions[i])) {
			*d = directions[i];
			return true;
		}
	return false;
}

double link_speed(const struct link_facts *port)
{
	if (!port || port->speed_mbps.k != ND_KNOWN || port->speed_mbps.v >= UINT32_MAX)
		return 0;
	return (double)port->speed_mbps.v;
}

double link_goodput_at(const struct rule_input *in, enum side s, enum run_direction d, double mbps)
{
	const struct ceiling *c = ladder_find(in->ladder, d, CEILING_WIRE, s);
	struct nd_f64 line = exam_line_rate(in->exam, s);
	double now = link_speed(exam_port(in->exam, s));

	if (!c || !c->known || !(now > 0) || line.k != ND_KNOWN || fabs(line.v - now * 1e6) > 1)
		return 0;
	return c->high_bps * mbps / now;
}

const char *link_name(const struct link_facts *port)
{
	return port && port->name.k == ND_KNOWN ? port->name.v : "the link";
}

const char *link_fact(struct rule_output *out, enum side s, const struct link_facts *port,
		      const char *member)
{
	return rule_text(out, "%s.links[%s].%s", side_word(s), link_name(port), member);
}

const char *link_speed_text(struct rule_output *out, double mbps)
{
	return mbps < 1000 ? rule_text(out, "%g Mbit/s", mbps) :
			     rule_text(out, "%g Gbit/s", mbps / 1000);
}

void link_missing(struct rule_output *out, enum side s, const struct link_facts *port,
		  const char *member, enum nd_known reason)
{
	rule_missing(out, link_fact(out, s, port, member),
		     reason == ND_KNOWN ? ND_INVALID : reason, NULL);
}

void finding_port_speed(struct rule_output *out, struct finding *f, enum side s,
			const struct link_facts *port, const char *member, struct nd_u64 mbps,
			const char *threshold)
{
	if (mbps.k == ND_KNOWN)
		finding_number(out, f, link_fact(out, s, port, member), (double)mbps.v,
			       UNIT_MBIT_PER_SECOND, threshold, "ethtool LINKMODES_GET");
}

void finding_full_wire(struct rule_output *out, struct finding *f, const struct rule_input *in,
		       enum run_direction d)
{
	const struct run *run = exam_main_run(in->exam, d);

	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", run->id.v),
		       (double)run->goodput_bps.v, UNIT_BITS_PER_SECOND,
		       rule_text(out, ">= %g of the wire", LINK_WIRE_REACHED), "traffic run");
}

bool link_is_no_port(const struct rule_input *in, struct rule_output *out)
{
	if (!in->port) {
		rule_missing(out, rule_text(out, "%s.route.ifindex", side_word(in->side)),
			     in->facts && in->facts->route.ifindex.k != ND_KNOWN ?
			     in->facts->route.ifindex.k : ND_UNREAD, NULL);
		return true;
	}
	if (in->port->kind.k == ND_KNOWN && !nd_str_is(in->port->kind, "physical")) {
		rule_not_applicable(out, "a software link has no cable");
		return true;
	}
	return false;
}

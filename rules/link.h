/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the link-* rules share.  Pure. */
#ifndef ND_RULES_LINK_H
#define ND_RULES_LINK_H

#include "src/diagnose/rule.h"

/* The wire at a side when a direction was seen filling it, else NULL. */
const struct ceiling *link_full_wire(const struct rule_input *in, enum side s,
				     enum run_direction d);
/* The first direction that filled it; false: none did. */
bool link_full_direction(const struct rule_input *in, enum side s, enum run_direction *d);
/*
 * Goodput of a side's wire if the port ran at another speed, by the ladder's own ceiling; 0 when
 * the ladder does not rest on the port's speed (a bond, --link-speed).
 */
double link_goodput_at(const struct rule_input *in, enum side s, enum run_direction d,
		       double mbps);

/* The port's negotiated speed; 0 not known. */
double link_speed(const struct link_facts *port);
/* "local.links[eth0].speed_mbps" */
const char *link_fact(struct rule_output *out, enum side s, const struct link_facts *port,
		      const char *member);
/* "eth0"; "the link" when it has no name that is known. */
const char *link_name(const struct link_facts *port);
/* "2.5 Gbit/s" */
const char *link_speed_text(struct rule_output *out, double mbps);
/* A fact of the port is missing; a known reason means that its value makes no sense. */
void link_missing(struct rule_output *out, enum side s, const struct link_facts *port,
		  const char *member, enum nd_known reason);
/* Evidence: a speed of the port in Mbit/s (left out when unknown); the rate that filled a wire. */
void finding_port_speed(struct rule_output *out, struct finding *f, enum side s,
			const struct link_facts *port, const char *member, struct nd_u64 mbps,
			const char *threshold);
void finding_full_wire(struct rule_output *out, struct finding *f, const struct rule_input *in,
		       enum run_direction d);
/* The port is unknown, loopback, or made of software: says so and answers true. */
bool link_is_no_port(const struct rule_input *in, struct rule_output *out);

#endif

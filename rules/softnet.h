/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/net/softnet_stat over a window: shared by the softnet-* rules.  Pure. */
#ifndef ND_RULES_SOFTNET_H
#define ND_RULES_SOFTNET_H

#include "src/diagnose/rule.h"

struct softnet_sum {
	enum nd_known k;	/* of dropped and processed */
	double dropped, processed, steered;	/* steered: from another CPU, by RPS */
};
struct softnet_sum softnet_sum_of(const struct run_end *end);
/*
 * Part of the packets that were this port's: the backlogs are those of the whole machine, of
 * other namespaces' traffic too.  1 when it cannot be told.
 */
double softnet_our_part(const struct run_end *end, const struct link_facts *port);
/* "runs[1-forward-all-streams].peer.softnet[*].dropped" */
const char *softnet_fact(struct rule_output *out, const struct run *run, enum side s,
			 const char *rest);

#endif

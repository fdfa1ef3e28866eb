/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overflows of a receive ring: shared by the ring-rx-exhausted rules.  Pure. */
#ifndef ND_RULES_RING_H
#define ND_RULES_RING_H

#include "rules/drops.h"
#include "rules/nic_counters.h"

struct ring_drops {
	struct drops drops;
	struct nic_count count;
	const struct core_load *hot;	/* busiest core of the receiver */
};

/* False: no overflow that matters, or it cannot be known; then the rule has answered. */
bool ring_drops_of(const struct rule_input *in, struct rule_output *out, struct ring_drops *r);
void ring_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
		   const struct ring_drops *r);

#endif

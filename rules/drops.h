/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets of a direction that one of its hosts dropped, and what that cost: shared by the rules
 * about rings, backlogs and qdiscs.  Pure.
 */
#ifndef ND_RULES_DROPS_H
#define ND_RULES_DROPS_H

#include "src/diagnose/rule.h"

struct drops {
	double packets;		/* dropped over the window */
	double passed;		/* not dropped, at the same place */
	/* A packet may be a whole aggregate of segmentation offload: one drop, many segments. */
	bool aggregates;
};
/* Dropped of all that came: 0..1. */
double drops_share(const struct drops *d);

/* Our sender had to send nothing again: whatever was dropped was not ours. */
bool drops_were_not_ours(const struct rule_input *in);

/*
 * Evidence of what our flows lost, and a severity: low, as losses need not cost anything; when
 * they were not seen medium, and less certain.
 */
void drops_losses(const struct rule_input *in, struct rule_output *out, struct finding *f);
/*
 * The same, as advice only when they are a small part of our losses; and the gain of a fix that
 * leaves DROPS_LEFT of these drops.  It wins where congestion control settles at its losses.
 */
void drops_judge(const struct rule_input *in, struct rule_output *out, struct finding *f,
		 const struct drops *d);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a direction's packets were lost: what the hosts' own counters explain.  Pure. */
#ifndef ND_RULES_LOSS_H
#define ND_RULES_LOSS_H

#include "src/diagnose/rule.h"

/* One place on a host that drops packets and counts them. */
struct loss_place {
	enum side side;
	const char *fact, *source;
	double drops;
	/* A packet here may be a whole aggregate of segmentation offload. */
	bool aggregates;
};
#define LOSS_PLACES 8

struct loss_places {
	struct rule_loss loss;
	struct loss_place places[LOSS_PLACES];	/* those that dropped anything */
	size_t n;
	bool seen[EXAM_ENDS];	/* that end's counters */
	double explained;	/* share of the losses, 0..1 */
	double late;		/* share of the repeats that the receiver already had */
};
/*
 * False: what was lost is not known, or is too little to say anything, and the rule
 * said so.  PER_SENDER and PER_RECEIVER rules.
 */
bool loss_find(const struct rule_input *in, struct rule_output *out, struct loss_places *l);
/* False: an end's counters were not seen, and the rule said so. */
bool loss_both_seen(const struct rule_input *in, struct rule_output *out,
		    const struct loss_places *l);
/* The place that dropped most of ours, NULL: none. */
const struct loss_place *loss_worst(const struct loss_places *l);
/* The losses as events, what of them is explained, and each place, as evidence. */
void loss_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
		   const struct loss_places *l);

#endif

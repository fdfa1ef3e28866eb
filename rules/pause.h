/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flow control by pause frames: shared by the pause-* rules.  Pure. */
#ifndef ND_RULES_PAUSE_H
#define ND_RULES_PAUSE_H

#include "rules/nic_counters.h"

struct pause_seen {
	struct nic_count frames;
	double per_second;
	struct nic_count stopped_us;	/* known with few drivers */
	double share;			/* of the window, stopped; negative: not known */
};

/*
 * Pause frames of an event in the window.  False: fewer than matter, or not to be known; then
 * the rule has answered.
 */
bool pause_find(const struct rule_input *in, struct rule_output *out, enum nic_event frames,
		struct pause_seen *p);
/* Evidence, severity and what an end of the pausing would win. */
void pause_judge(const struct rule_input *in, struct rule_output *out, struct finding *f,
		 const struct pause_seen *p);
/* " (18 % of the time)", or "" */
const char *pause_share_text(struct rule_output *out, const struct pause_seen *p);

#endif

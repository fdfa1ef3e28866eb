/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Round trips under load beside those of the idle path: what a queue adds.  Pure. */
#ifndef ND_RULES_ROUND_TRIPS_H
#define ND_RULES_ROUND_TRIPS_H

#include "src/diagnose/rule.h"

/* Both medians as evidence, where they were measured (--latency).  Per-direction rules. */
void finding_round_trips(const struct rule_input *in, struct rule_output *out, struct finding *f);

#endif

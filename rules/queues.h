/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Receive queues, their interrupts, and the cores that serve them.  Pure. */
#ifndef ND_RULES_QUEUES_H
#define ND_RULES_QUEUES_H

#include "rules/ends.h"

/* The core that spends most of its time in softirqs and interrupts, NULL: not seen. */
const struct core_load *softirq_core(const struct run_end *end);
double softirq_share(const struct core_load *c);

/*
 * Cores on the device's NUMA node (all when that is not known), hardware threads of one core
 * counted once; 0: not known.
 */
double local_cores(const struct facts *f, const struct link_facts *port);
/* The CPU is on the device's node, as far as is known. */
bool cpu_is_local(const struct facts *f, const struct link_facts *port, uint64_t cpu);

/*
 * What the end would do if `share` of its packets, all served by core c, were spread over
 * `queues` cores: low by what hashing leaves uneven, high evenly.  Bounded by its busiest thread.
 */
void spread_rates(const struct traffic_end *t, const struct core_load *c, double share,
		  double queues, double *low_bps, double *high_bps);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live queues: packets of the link, how busy each interrupt vector of the NICs is, or each CPU
 * with packets.
 */
#ifndef ND_EXAM_LIVE_QUEUES_H
#define ND_EXAM_LIVE_QUEUES_H

#include "src/exam/end.h"

/* Zeroed at the start; used by one thread. */
struct live_queues {
	struct counters *irqs;		/* as they were counted last; NULL: never */
	struct live_queue rows[LIVE_MAX_QUEUES];
	size_t n;
};

/* `now` is the newest sample, step what it is more than the one before.  0 or -ENOMEM. */
int live_queues_add(struct live_queues *q, const struct counters *now,
		    const struct counters *step);
/* Packets of a link in `step`. */
void live_link_show(const struct counters *step, uint64_t ifindex, struct end_live *out);
void live_queues_show(const struct live_queues *q, struct end_live *out);
void live_queues_free(struct live_queues *q);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement: which CPUs the workers of an end run on, and why.  Pure: from facts alone.
 *
 * On the node of the NIC that the traffic passes, off the cores that take in its packets, one
 * worker a physical core first.  Where nothing is to be won, or not enough is known, workers
 * are left to the scheduler: tied to the wrong core they could not get away from it.
 */
#ifndef ND_EXAM_PLACEMENT_H
#define ND_EXAM_PLACEMENT_H

#include "src/exam/exam.h"

enum placement_kind {
	PLACEMENT_UNKNOWN,	/* CPUs, the NIC's node or its vectors are not known */
	PLACEMENT_NO_NIC,	/* no physical NIC on the path: loopback, veth */
	PLACEMENT_SAME_MACHINE,	/* both ends would take the same cores */
	PLACEMENT_NO_ROOM,	/* one node, and too few of its cores serve no queue */
	PLACEMENT_BY_NIC,
	PLACEMENT_ASKED,
	PLACEMENT_KINDS
};

enum placement_reason {
	PLACED_ASKED,		/* the CPU that the user named */
	PLACED_OWN_CORE,	/* on the NIC's node, of a core that serves none of its queues */
	PLACED_SMT_SIBLING,	/* another thread of such a core, which has a worker already */
	PLACED_SERVES_QUEUES,	/* on the NIC's node; cores that serve none were taken */
	PLACED_REASONS
};

const char *placement_word(enum placement_kind k);		/* "by-nic" ... */
const char *placement_reason_word(enum placement_reason r);	/* "own-core" ... */

struct placement {
	enum placement_kind kind;
	size_t n;		/* 0: workers run anywhere */
	unsigned int cpus[ND_MAX_CPUS];	/* for load_config */
	enum placement_reason reasons[ND_MAX_CPUS];
};

struct placement_wishes {
	size_t workers;		/* as many as there are flows, say: more than CPUs is fine */
	uint64_t cpu;		/* of the user: number + 1; 0: ours to choose */
	bool same_machine;	/* the other end runs here as well */
};

/* f may be NULL: nothing is known. */
void placement_choose(const struct facts *f, const struct placement_wishes *w,
		      struct placement *out);
/* Writes into an end, in mem, what was chosen.  0 or -ENOMEM. */
int placement_tell(const struct placement *p, size_t workers, struct arena *mem,
		   struct run_end *out);

#endif

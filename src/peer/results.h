/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results: what one end of a run tells the other when they are iperf3 and
 * netdoctor.  Plain data; the two dialects' JSON never leaves src/peer.
 */
#ifndef ND_PEER_RESULTS_H
#define ND_PEER_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULTS_UNKNOWN (-1)	/* of the signed members: iperf3's word for it */

struct peer_flow_result {
	uint64_t bytes;			/* sent, or received, warm-up left out */
	int64_t retransmits;		/* segments; a sender's */
	int64_t packets, lost;		/* UDP, warm-up included as iperf3 has it */
	int64_t omitted_packets, omitted_lost;	/* UDP, in the warm-up */
	double jitter_s;		/* UDP receiver */
	double seconds;			/* what the bytes were counted over; < 0: not told */
};

struct peer_results {
	size_t nflows;
	struct peer_flow_result *flows;	/* flow i of the run; owned, see peer_results_free() */
	double cpu_total, cpu_user, cpu_system;	/* percent of one core, of its process */
	char congestion_control[16];	/* "": not told */
	char *output;			/* the server's own report as text, NULL: none; owned */
};

/* Zeroes r, with room for n flows that know nothing.  0 or -ENOMEM. */
int peer_results_init(struct peer_results *r, size_t n);
void peer_results_free(struct peer_results *r);

#endif

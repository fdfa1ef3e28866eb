/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a socket buffer is the limit, and what another size would carry: shared by the rules
 * about buffers that grew to their limit, that were pinned, and that are set up too small.
 * Pure.
 */
#ifndef ND_RULES_TCP_BUFFER_H
#define ND_RULES_TCP_BUFFER_H

#include "rules/tcp.h"

/*
 * Rates of all streams with buffers of this size, bit/s: low at the round trip under load, high
 * at the shortest.  Of a receive buffer half to all becomes window.  0 when no round trip is known.
 */
void tcp_receive_rates(const struct facts *receiver, const struct run *run,
		       const struct tcp_sender *s, double buffer, double *low, double *high);
void tcp_send_rates(const struct run *run, const struct tcp_sender *s, double buffer, double *low,
		    double *high);

/* The receiver's window held the sender; false: or not, or unknown, and the rule said so. */
bool tcp_receive_window_full(const struct rule_input *in, struct rule_output *out,
			     const struct tcp_sender *s);
/* The fact without which nothing can be said of a send buffer, NULL: all are there.  PER_SENDER. */
const char *tcp_send_missing(const struct rule_input *in, struct rule_output *out,
			     const struct tcp_sender *s, enum nd_known *reason);

/*
 * The window was full, but something else than the receive buffer (of about `buffer` bytes) is to
 * blame; true: the rule has said what.  PER_RECEIVER rules.
 */
bool tcp_receive_excused(const struct rule_input *in, struct rule_output *out,
			 const struct tcp_sender *s, const struct tcp_receiver *r, double buffer);
/* Most writes were cut short: each found less room than a block, so each filled the buffer. */
bool tcp_writes_are_cut(const struct rule_input *in, const struct tcp_sender *s);
/* The same of the send buffer, which may also have had room.  PER_SENDER rules. */
bool tcp_send_excused(const struct rule_input *in, struct rule_output *out,
		      const struct tcp_sender *s, double buffer);

/* The flows agreed on no window scaling (they then have 64 KB of window); false: or unknown. */
bool tcp_unscaled(const struct run *run);

/* What tcp_memory_fix() needs of a host's sysctls. */
struct tcp_memory tcp_receive_memory(const struct sysctl_facts *s);
struct tcp_memory tcp_send_memory(const struct sysctl_facts *s);

#endif

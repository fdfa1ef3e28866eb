/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sending and receiving datagrams share.  Internal to src/load. */
#ifndef ND_LOAD_UDP_H
#define ND_LOAD_UDP_H

#include <netinet/in.h>
#include <netinet/udp.h>

#include "src/load/worker.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103		/* Linux 4.18 */
#endif
#ifndef UDP_GRO
#define UDP_GRO 104		/* Linux 5.0 */
#endif

enum {
	UDP_TURN_BYTES = 256 * 1024,	/* of one flow before the next has its turn */
	UDP_BATCH_MESSAGES = 64		/* of one sendmmsg() or recvmmsg() */
};

/*
 * A worker's buffer holds what its receivers take in and, behind it, what its senders send:
 * one of each, as only one flow has its turn.
 */
size_t udp_buffer_bytes(const struct run_spec *spec);
size_t udp_receive_bytes(const struct run_spec *spec);	/* a multiple of a cache line */

/* Datagrams of one batch. */
size_t udp_send_batch(const struct run_spec *spec);
/* Messages of a batch, and room for one: many of one datagram, or few that the kernel merged. */
size_t udp_receive_messages(bool gro);
size_t udp_message_bytes(const struct run_spec *spec, bool gro);

/* Members that only TCP has, or only UDP: not applicable. */
void udp_sample_not_tcp(struct flow_sample *out);
void udp_sample_not_udp(struct flow_sample *out);

#endif

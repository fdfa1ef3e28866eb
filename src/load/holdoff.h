/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hold-off: a worker that would sleep until the next packet comes lets a moment's packets
 * gather instead, as a NIC does with its interrupts.  Internal to src/load.
 *
 * Waking a thread on another CPU costs the CPU that takes in packets an interrupt to it and the
 * sleeper its way out of idle, for each packet when the receiver is the faster end.  Where packets
 * come in on the worker's own CPU waking is free, and their data are still in its cache: then it
 * wakes at once.
 *
 * Datagrams that come while a sleeper waits for its CPU, which others have taken, overrun the
 * socket's buffer (8 MB are 1 ms of 60 Gbit/s): lost by the tool, not by the path.  A fast receiver
 * to which that has happened stays awake for a while, on a CPU that is then its own for as long as
 * its share lasts.
 */
#ifndef ND_LOAD_HOLDOFF_H
#define ND_LOAD_HOLDOFF_H

#include "src/load/flow.h"

struct holdoff {
	uint64_t moved_bytes;	/* received since the last wait; the worker adds */
	uint64_t waited_ns;	/* when that began */
	uint64_t most_bytes;	/* no more may gather; 0: wake at once */
	unsigned int current;	/* waits that most_bytes is good for */
	uint64_t dropped;	/* datagrams, by the flows' sockets, when last looked at */
	uint64_t awake_until_ns;
};

/*
 * Before the owner of these n receiving flows waits for them: sleeps a moment, or does not.
 * False: it should look again and not sleep at all.
 */
bool holdoff_wait(struct holdoff *h, struct flow *const *flows, size_t n);

#endif

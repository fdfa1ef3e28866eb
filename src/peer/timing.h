/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deadlines, and how long the session waits for what.  Internal to src/peer.
 *
 * Every wait in here ends at an absolute deadline (CLOCK_MONOTONIC, ns), so a
 * peer that drips one byte at a time cannot stretch it.
 */
#ifndef ND_PEER_TIMING_H
#define ND_PEER_TIMING_H

#include <limits.h>
#include <stdint.h>

#include "src/core/clock.h"

struct peer_timing {
	unsigned int greeting_ms;	/* server: accept() to hello, all of it */
	unsigned int hello_ms;		/* client: the same, when the target does not say */
	unsigned int idle_ms;		/* server: no request from an authenticated client */
	unsigned int send_ms;		/* one message, either way: the other side does not read */
	unsigned int alive_ms;		/* server: sign of life from prepare to end */
	unsigned int silence_ms;	/* without one it is gone, or gives way; several alive_ms */
	unsigned int outage_ms;		/* client: the same in a run: an outage must not end it */
	unsigned int data_ms;		/* server: cookies handed out to last data connection */
	unsigned int start_ms;		/* server: ready to start */
	unsigned int margin_ms;		/* server: of a run beyond warm-up and window */
	unsigned int stop_ms;		/* server: for sessions to end when told to */
	unsigned int bye_ms;		/* client: for the last message */
	unsigned int last_ms;		/* server: for the last message to be read */
	unsigned int clock_ms;		/* client: all clock exchanges */
	unsigned int accept_pause_ms;	/* server: after running out of descriptors */
	unsigned int stagger_ms;	/* client: head start of each address over the next */
};

/* A run's start may be this far ahead and its senders' last bytes this late. */
static const struct peer_timing peer_default_timing = {
	.greeting_ms = 5000,
	.hello_ms = 5000,
	.idle_ms = 120000,
	.send_ms = 3000,
	.alive_ms = 500,
	.silence_ms = 3000,
	.outage_ms = 20000,
	.data_ms = 10000,
	.start_ms = 10000,
	.margin_ms = 10000,
	.stop_ms = 1000,
	.bye_ms = 200,
	.last_ms = 500,
	.clock_ms = 2000,
	.accept_pause_ms = 100,
	.stagger_ms = 250
};

static inline uint64_t deadline_in_ms(unsigned int ms)
{
	return monotonic_ns() + (uint64_t)ms * 1000000u;
}

static inline uint64_t deadline_earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* For poll(): rounded up, so that no wait ends just short of its deadline; 0 when past. */
static inline int deadline_left_ms(uint64_t deadline_ns)
{
	uint64_t now = monotonic_ns(), left;

	if (now >= deadline_ns)
		return 0;
	left = (deadline_ns - now + 999999u) / 1000000u;
	return left > INT_MAX ? INT_MAX : (int)left;
}

#endif

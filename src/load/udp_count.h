/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a receiver makes of the datagrams of one flow: how many, how many are
 * missing, late, or there twice, and how unevenly they come.  Pure.  Internal
 * to src/load.
 *
 * All counts only grow, so that a window is the difference of two readings.
 * For that a loss is never taken back: a number that was passed over is `skipped`,
 * and when its datagram comes after all it is `out_of_order`.  Lost is the one
 * less the other.
 */
#ifndef ND_LOAD_UDP_COUNT_H
#define ND_LOAD_UDP_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/load/load.h"

/*
 * So far behind the highest number a datagram is still told from a duplicate.  1448-byte
 * datagrams at 20 Gbit/s: 9 ms.  2 KiB a flow: thousands of flows must stay small.
 */
enum { UDP_WINDOW_NUMBERS = 16 * 1024 };

struct udp_count {
	bool marks;		/* see udp_header.h; of wide numbers alone */
	bool marked;		/* one with a mark has come: only what carries one counts now */
	struct load_marked before;	/* what the counts were then */
	bool wide;		/* numbers have 64 bits; else 32, which wrap */
	bool stamped;		/* transit_us holds the last datagram's */
	uint64_t packets;	/* taken in, each number once */
	uint64_t bytes;		/* of them */
	uint64_t skipped;	/* numbers passed over */
	uint64_t out_of_order;	/* of those skipped: came after all */
	uint64_t duplicates;	/* numbers that were here already, or too far behind to tell */
	uint64_t foreign;	/* not from our sender: too short, or an impossible number */
	uint64_t highest;	/* number so far, 64 bits in any case; 0: none */
	uint64_t jitter_16us;	/* RFC 3550 6.4.1 in microseconds, times 16 */
	int64_t transit_us;
	uint64_t seen[UDP_WINDOW_NUMBERS / 64];	/* a bit a number: it was here */
};

/* Begins; everything 0. */
void udp_count_init(struct udp_count *c, bool wide);
/* One datagram of len bytes, taken in at now_us of the receiver's clock. */
void udp_count_add(struct udp_count *c, const void *datagram, size_t len, uint64_t now_us);
/* After udp_count_init(): the sender marks what it counts in its window. */
void udp_count_expect_marks(struct udp_count *c);
/*
 * Those with a mark.  What the sender's last ones were shows when later datagrams come: until then
 * they may be under way, and are not lost.  False: none has come.
 */
bool udp_count_marked(const struct udp_count *c, struct load_marked *out);
/* Missing so far; of a window: the difference of two, which may be below 0 by what came late. */
static inline uint64_t udp_count_lost(const struct udp_count *c)
{
	return c->skipped - c->out_of_order;
}
static inline uint64_t udp_count_jitter_us(const struct udp_count *c)
{
	return c->jitter_16us / 16;
}

#endif

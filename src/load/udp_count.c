/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/udp_count.h"

#include <string.h>

#include "src/load/udp_header.h"

/*
 * No path loses so many in a row and comes back within a run; a number further ahead is no
 * number of ours.  Below 2^31 it also tells a 32-bit number that wrapped from one behind.
 */
#define MAX_JUMP ((UINT64_C(1) << 31) - 1)

void udp_count_init(struct udp_count *c, bool wide)
{
	memset(c, 0, sizeof(*c));
	c->wide = wide;
}

static inline uint64_t *seen_word(struct udp_count *c, uint64_t number)
{
	return &c->seen[number / 64 % (UDP_WINDOW_NUMBERS / 64)];
}

static inline uint64_t seen_bit(uint64_t number)
{
	return UINT64_C(1) << (number & 63);
}

void udp_count_expect_marks(struct udp_count *c)
{
	c->marks = c->wide;
}

bool udp_count_marked(const struct udp_count *c, struct load_marked *out)
{
	const struct load_marked *b = &c->before;

	*out = (struct load_marked){ 0 };
	if (!c->marked)
		return false;
	out->packets = c->packets - b->packets;
	out->bytes = c->bytes - b->bytes;
	out->skipped = c->skipped - b->skipped;
	out->out_of_order = c->out_of_order - b->out_of_order;
	out->duplicates = c->duplicates - b->duplicates;
	return true;
}

/* Numbers from..to enter the window as not seen. */
static void forget(struct udp_count *c, uint64_t from, uint64_t to)
{
	if (to - from >= UDP_WINDOW_NUMBERS - 1) {
		memset(c->seen, 0, sizeof(c->seen));
		return;
	}
	while (from <= to && (from & 63))
		*seen_word(c, from) &= ~seen_bit(from), from++;
	for (; from + 63 <= to; from += 64)
		*seen_word(c, from) = 0;
	for (; from <= to; from++)
		*seen_word(c, from) &= ~seen_bit(from);
}

/* How far number is ahead of the highest: 1 is the next one.  Below 1: behind. */
static inline int64_t ahead(const struct udp_count *c, uint64_t number)
{
	if (!c->wide)
		return (int32_t)((uint32_t)number - (uint32_t)c->highest);
	/* Cannot overflow where it counts: a difference this large is refused either way. */
	return (int64_t)(number - c->highest);
}

/* True: counted as new, not as a duplicate or foreign. */
static bool place(struct udp_count *c, uint64_t number)
{
	int64_t step = ahead(c, number);
	uint64_t full = c->highest + (uint64_t)step, behind = 0 - (uint64_t)step;

	if (step == 1) {
		c->highest = full;
		*seen_word(c, full) &= ~seen_bit(full);
	} else if (step > (int64_t)MAX_JUMP || (step < 1 && behind >= c->highest)) {
		/* Too far ahead, or 0 and before: numbers begin at 1. */
		c->foreign++;
		return false;
	} else if (step > 1) {
		c->skipped += (uint64_t)step - 1;
		forget(c, c->highest + 1, full);
		c->highest = full;
	} else if (behind >= UDP_WINDOW_NUMBERS || (*seen_word(c, full) & seen_bit(full))) {
		c->duplicates++;
		return false;
	} else {
		c->out_of_order++;
	}
	*seen_word(c, full) |= seen_bit(full);
	return true;
}

/* Section 6.4.1 of RFC 3550, with its integer arithmetic (appendix A.8). */
static void time_it(struct udp_count *c, const struct udp_header *h, uint64_t now_us)
{
	int64_t sent_us = (int64_t)h->seconds * 1000000 + h->microseconds;
	int64_t transit = (int64_t)now_us - sent_us;
	int64_t d = transit - c->transit_us;

	if (c->stamped)
		c->jitter_16us += (uint64_t)(d < 0 ? -d : d) - ((c->jitter_16us + 8) >> 4);
	c->transit_us = transit;
	c->stamped = true;
}

/* The numbers of the window begin. */
static void begin_marked(struct udp_count *c)
{
	c->before = (struct load_marked){ c->packets, c->bytes, c->skipped, c->out_of_order,
					 c->duplicates };
	c->marked = true;
	c->highest = 0;
	memset(c->seen, 0, sizeof(c->seen));
}

/* The window is over, and its last datagram had this number. */
static void end_marked(struct udp_count *c, uint64_t last)
{
	if (last <= c->highest || last - c->highest > MAX_JUMP)
		return;
	c->skipped += last - c->highest;
	forget(c, c->highest + 1, last);
	c->highest = last;
}

/* Takes the mark off; false: this one is not counted. */
static bool heed_mark(struct udp_count *c, uint64_t *number)
{
	bool window = *number & UDP_MARK_WINDOW, after = *number & UDP_MARK_AFTER;

	if (window && after)
		return true;	/* a foreign number */
	if (!window && !after)
		return !c->marked;	/* else one of before the window, overtaken */
	if (!c->marked)
		begin_marked(c);
	*number &= ~(UDP_MARK_WINDOW | UDP_MARK_AFTER);
	if (after)
		end_marked(c, *number);
	return window;
}

void udp_count_add(struct udp_count *c, const void *datagram, size_t len, uint64_t now_us)
{
	struct udp_header h;

	if (!udp_header_get(datagram, len, c->wide, &h)) {
		c->foreign++;
		return;
	}
	if ((c->marks && !heed_mark(c, &h.number)) || !place(c, h.number))
		return;
	c->packets++;
	c->bytes += len;
	time_it(c, &h, now_us);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The head of each of our datagrams, which is also iperf3's.  Internal to src/load.
 *
 * Big-endian: 32 bits of seconds, 32 bits of microseconds, then the packet's
 * number from 1, of 32 or (iperf3: "udp_counters_64bit") 64 bits.  The time is
 * the sender's CLOCK_MONOTONIC: good for jitter, not for delay.
 *
 * Between two netdoctors (run_spec's udp_marks) the number also tells what the sender counts in
 * its window, so that both ends count the same datagrams: those carry a mark and numbers of
 * their own from 1.  What is sent afterwards carries another, and the last of those numbers.
 */
#ifndef ND_LOAD_UDP_HEADER_H
#define ND_LOAD_UDP_HEADER_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { UDP_HEADER32_BYTES = 12, UDP_HEADER64_BYTES = 16 };

#define UDP_MARK_WINDOW (UINT64_C(1) << 63)
#define UDP_MARK_AFTER (UINT64_C(1) << 62)

struct udp_header { uint32_t seconds, microseconds; uint64_t number; };

static inline size_t udp_header_bytes(bool wide)
{
	return wide ? UDP_HEADER64_BYTES : UDP_HEADER32_BYTES;
}

/* to needs not be aligned: segments of one buffer begin anywhere. */
static inline void udp_header_put(void *to, const struct udp_header *h, bool wide)
{
	uint32_t words[3] = { htobe32(h->seconds), htobe32(h->microseconds),
			      htobe32((uint32_t)h->number) };
	uint64_t number = htobe64(h->number);

	if (!wide) {
		memcpy(to, words, sizeof(words));
		return;
	}
	memcpy(to, words, 8);
	memcpy((char *)to + 8, &number, sizeof(number));
}

/* False: shorter than a header. */
static inline bool udp_header_get(const void *from, size_t len, bool wide, struct udp_header *h)
{
	uint32_t words[3];
	uint64_t number;

	if (len < udp_header_bytes(wide))
		return false;
	memcpy(words, from, sizeof(words));
	h->seconds = be32toh(words[0]);
	h->microseconds = be32toh(words[1]);
	h->number = be32toh(words[2]);
	if (wide) {
		memcpy(&number, (const char *)from + 8, sizeof(number));
		h->number = be64toh(number);
	}
	return true;
}

#endif

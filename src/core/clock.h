/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The clock that nobody sets, for deadlines and rates of our own; it stands while the machine is
 * suspended.  Samples of a host have theirs from its source, which may be recorded.
 */
#ifndef ND_CORE_CLOCK_H
#define ND_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif

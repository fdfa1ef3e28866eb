/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/holdoff.h"

#include <sched.h>
#include <sys/socket.h>
#include <time.h>

enum {
	HOLDOFF_NS = 20 * 1000,
	/* Less than a few packets is not worth a timer. */
	LEAST_BYTES = 4096,
	/*
	 * What gathers may take so much of a receive buffer.  Where that buffer limits the rate, a
	 * round trip gets longer by no more than this share of it.
	 */
	BUFFER_SHARE = 64,
	/* A worker of many flows hardly ever sleeps; asking all of them would cost more. */
	MOST_FLOWS = 8,
	WAITS_PER_LOOK = 16
};

static bool ask(int fd, int option, int *value)
{
	socklen_t len = sizeof(*value);

	return getsockopt(fd, SOL_SOCKET, option, value, &len) == 0;
}

static uint64_t most_bytes(struct flow *const *flows, size_t n)
{
	uint64_t most = UINT64_MAX;
	int here = sched_getcpu();

	if (n > MOST_FLOWS)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int cpu, buffer;

		if (flows[i]->state == FLOW_OVER)
			continue;
		if (!ask(flows[i]->fd, SO_INCOMING_CPU, &cpu) || cpu == here ||
		    !ask(flows[i]->fd, SO_RCVBUF, &buffer) || buffer < 0)
			return 0;
		if ((uint64_t)buffer / BUFFER_SHARE < most)
			most = (uint64_t)buffer / BUFFER_SHARE;
	}
	return most;
}

void holdoff_wait(struct holdoff *h, struct flow *const *flows, size_t n)
{
	const struct timespec t = { .tv_nsec = HOLDOFF_NS };
	const uint64_t now = monotonic_ns(), elapsed = now - h->waited_ns;
	/* Long waits need no exact share, short ones cannot overflow: bytes fit 44 bits. */
	uint64_t expected = elapsed ? h->moved_bytes * HOLDOFF_NS / elapsed : 0;

	h->waited_ns = now;
	h->moved_bytes = 0;
	if (expected < LEAST_BYTES)
		return;
	if (h->current == 0) {
		h->most_bytes = most_bytes(flows, n);
		h->current = WAITS_PER_LOOK;
	}
	h->current--;
	if (expected <= h->most_bytes)
		nanosleep(&t, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/holdoff.h"

#include <sched.h>
#include <sys/socket.h>
#include <time.h>

#include "src/load/tcp_info.h"

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
	WAITS_PER_LOOK = 16,
	AWAKE_NS = 500 * 1000 * 1000
};

static bool incoming_cpu(int fd, int *cpu)
{
	socklen_t len = sizeof(*cpu);

	return getsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, cpu, &len) == 0;
}

/* How much may gather, and whether datagrams were lost here since the last look. */
static void look(struct holdoff *h, struct flow *const *flows, size_t n, uint64_t now)
{
	uint64_t most = UINT64_MAX, dropped = 0;
	int here = sched_getcpu();

	h->most_bytes = 0;
	for (size_t i = 0; i < n; i++) {
		struct flow_sample memory;
		int cpu;

		if (flows[i]->state == FLOW_OVER)
			continue;
		if (!incoming_cpu(flows[i]->fd, &cpu) || cpu == here)
			return;
		read_meminfo(flows[i]->fd, &memory);
		if (memory.rcvbuf_bytes.k != ND_KNOWN)
			return;
		if (memory.rcvbuf_bytes.v / BUFFER_SHARE < most)
			most = memory.rcvbuf_bytes.v / BUFFER_SHARE;
		/* TCP's are of the handshake and of segments that come again. */
		if (flows[i]->common->spec->protocol == RUN_UDP)
			dropped += memory.socket_drops.k == ND_KNOWN ? memory.socket_drops.v : 0;
	}
	h->most_bytes = most;
	if (dropped > h->dropped)
		h->awake_until_ns = now + AWAKE_NS;
	h->dropped = dropped;
}

/* Lets packets come in for HOLDOFF_NS: asleep, or with the CPU kept from others. */
static void gather(uint64_t now, bool awake)
{
	const struct timespec t = { .tv_nsec = HOLDOFF_NS };

	if (!awake)
		nanosleep(&t, NULL);
	else
		while (monotonic_ns() - now < HOLDOFF_NS)
			;
}

bool holdoff_wait(struct holdoff *h, struct flow *const *flows, size_t n)
{
	const uint64_t now = monotonic_ns(), elapsed = now - h->waited_ns;
	/* Long waits need no exact share, short ones cannot overflow: bytes fit 44 bits. */
	uint64_t expected = elapsed ? h->moved_bytes * HOLDOFF_NS / elapsed : 0;

	h->waited_ns = now;
	h->moved_bytes = 0;
	if (now >= h->awake_until_ns) {
		if (expected < LEAST_BYTES || n > MOST_FLOWS)
			return true;
		if (h->current == 0) {
			look(h, flows, n, now);
			h->current = WAITS_PER_LOOK;
		}
		h->current--;
	}
	bool awake = now < h->awake_until_ns;
	if (awake)
		h->current = 0;		/* the first sleep after it is worth a look */
	if (expected <= h->most_bytes)
		gather(now, awake);
	return !awake;
}

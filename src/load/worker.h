/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker: one thread, its epoll instance and the flows it owns.  Internal to src/load.
 *
 * Only the worker writes to its flows, so counters are plain relaxed stores to
 * cache lines no other worker touches; others read them with relaxed loads.
 * The controlling thread speaks to a worker through `command` and an eventfd.
 */
#ifndef ND_LOAD_WORKER_H
#define ND_LOAD_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdalign.h>
#include <time.h>

#include "src/load/load.h"

enum { CACHE_LINE_BYTES = 64 };

struct flow {
	alignas(CACHE_LINE_BYTES) int fd;
	bool ready;		/* on the worker's ready list */
	bool closing;		/* the end of the connection was reported: go on until it shows */
	/* Read by other threads. */
	_Atomic int broken;	/* errno that ended the flow early; EPIPE: the peer closed it */
	_Atomic uint64_t bytes, calls;
	/*
	 * Time spent waiting for the socket, so far and still running, in one word:
	 * even: sum of ended waits << 1; odd: (start of this wait - that sum) << 1 | 1.
	 */
	_Atomic uint64_t wait_mark;
};

enum worker_command { WORKER_RUN, WORKER_QUIESCE, WORKER_STOP };

struct worker {
	alignas(CACHE_LINE_BYTES) _Atomic int command;
	_Atomic int tid;	/* 0 until the thread runs; published after cpu_clock */
	_Atomic clockid_t cpu_clock;	/* CLOCK_THREAD_CPUTIME_ID as other threads may read it */
	alignas(CACHE_LINE_BYTES) enum load_role role;
	bool discard;		/* MSG_TRUNC: count received bytes, do not copy them */
	bool started;
	size_t block_bytes;
	size_t turn_calls;	/* calls of one flow in a row */
	const void *pattern;	/* what senders send; shared, read-only */
	void *buffer;		/* what receivers receive into */
	struct flow **flows;	/* owned array, first nflows; the flows live in struct load */
	size_t nflows;
	struct flow **ready;	/* owned array */
	size_t nready, nwaiting;
	int epoll_fd, event_fd;
	pthread_t thread;
};

/*
 * Sets up w for at most max_flows; worker_add() gives it flows before it starts.
 * 0 or -errno; worker_close() cleans up in any case.
 */
int worker_open(struct worker *w, enum load_role role, const struct run_spec *spec,
		const void *pattern, size_t max_flows);
int worker_add(struct worker *w, struct flow *f);
int worker_start(struct worker *w);
void worker_command(struct worker *w, enum worker_command command);	/* does not wait */
void worker_join(struct worker *w);
void worker_close(struct worker *w);

/* Microseconds a flow has waited, the present wait included.  Any thread. */
uint64_t flow_blocked_us(const struct flow *f);

#endif

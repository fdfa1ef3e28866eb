/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker: one thread, its epoll instance and the flows it owns.  Internal to src/load.
 *
 * Only the worker writes to its flows; nothing is shared with other workers but what
 * is read-only.  The controlling thread speaks to a worker through `command` and an eventfd.
 */
#ifndef ND_LOAD_WORKER_H
#define ND_LOAD_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdalign.h>
#include <time.h>

#include "src/load/flow.h"
#include "src/load/holdoff.h"

enum worker_command { WORKER_RUN, WORKER_QUIESCE, WORKER_STOP };

struct worker {
	alignas(CACHE_LINE_BYTES) _Atomic int command;
	_Atomic int tid;	/* 0 until the thread runs; published after cpu_clock */
	_Atomic clockid_t cpu_clock;	/* CLOCK_THREAD_CPUTIME_ID as other threads may read it */
	alignas(CACHE_LINE_BYTES) size_t block_bytes;
	size_t turn_calls;	/* calls of one flow in a row */
	void *buffer;		/* what its flows receive into */
	size_t buffer_bytes;
	struct flow **flows;	/* owned array, first nflows; the flows live in struct load */
	size_t nflows;
	struct flow **ready;	/* owned array */
	struct flow **paced;	/* owned array: those that wait for their rate */
	size_t nready, nwaiting, npaced, nsenders;
	struct holdoff holdoff;
	double due_ns;		/* of the first of them */
	int epoll_fd, event_fd;
	bool started;
	atomic_bool quiesced;	/* its senders send no more */
	pthread_t thread;
};

/*
 * Sets up w for at most max_flows; worker_add() gives it flows before it starts.
 * 0 or -errno; worker_close() cleans up in any case.
 */
int worker_open(struct worker *w, const struct run_spec *spec, size_t max_flows);
int worker_add(struct worker *w, struct flow *f);
/* cpu: the only one it may run on; -1: wherever this process may. */
int worker_start(struct worker *w, long cpu);
void worker_command(struct worker *w, enum worker_command command);	/* does not wait */
void worker_join(struct worker *w);
void worker_close(struct worker *w);

/*
 * For a flow's turn(): this is the end of the flow, early unless the run was over.  err: why;
 * EPIPE: the other end closed it.  Returns TURN_OVER.
 */
enum turn worker_end_flow(struct worker *w, struct flow *f, int err);

#endif

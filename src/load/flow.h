/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A flow: one connected socket, what kind of traffic it carries, and its counters.
 * Internal to src/load.
 *
 * A kind of traffic is a `const struct flow_ops`.  Its turn() is called by the worker that
 * owns the flow and moves blocks until the socket has had enough or the turn is over, so
 * that the indirect call is paid once a turn.  Only that worker writes to the flow, so counters
 * are plain relaxed stores; other threads read them with relaxed loads.
 */
#ifndef ND_LOAD_FLOW_H
#define ND_LOAD_FLOW_H

#include <stdalign.h>
#include <stdatomic.h>

#include "src/load/load.h"
#include "src/load/limits.h"

enum { CACHE_LINE_BYTES = 64 };

struct worker;
struct flow;

/* What all flows of a load share: read-only while it runs, but for amount and mark. */
struct load_common {
	const struct run_spec *spec;
	const void *pattern;	/* block_bytes that senders send; NULL without senders */
	int file_fd;		/* a file of as many bytes of it, for RUN_SEND_FILE; else -1 */
	struct amount amount;	/* what is left to send of a run of a fixed size */
	bool end_closes;	/* see struct load_config */
	_Atomic int mark;	/* enum load_mark */
};

/* What a flow wants after its turn. */
enum turn {
	TURN_READY,	/* another turn */
	TURN_WAIT,	/* one when epoll reports something */
	TURN_LATER,	/* one when its rate allows: f->pace.due_ns */
	TURN_OVER	/* none: it has sent everything, or ended (worker_end_flow()) */
};

struct flow_ops {
	const char *name;
	uint32_t events;	/* EPOLLIN or EPOLLOUT; always edge-triggered */
	uint32_t end_events;	/* what tells of the end of a connection, e.g. EPOLLHUP */
	/* Bytes that it needs of w->buffer, which is of whoever has its turn; NULL: none. */
	size_t (*buffer_bytes)(const struct run_spec *spec);
	/*
	 * Options of the socket, private state (f->own: cache lines of its own, so that flows of
	 * two workers never share one); NULL: nothing to do.  0 or -errno with the reason.
	 * close() is called for every flow that was opened, after its worker has ended.
	 */
	int (*open)(struct flow *f, struct error *err);
	void (*close)(struct flow *f);
	enum turn (*turn)(struct worker *w, struct flow *f);
	/*
	 * NULL: a sender that may not send any more is over.  Else it gets this instead of turn(),
	 * with f->finishing set, until it returns TURN_OVER; at the very end (load_stop) for no
	 * more than 100 ms.
	 */
	enum turn (*finish)(struct worker *w, struct flow *f);
	/* Adds members of its own to a sample.  The sampling thread calls it; may be NULL. */
	void (*sample)(const struct flow *f, struct flow_sample *out);
	/* See load_marked(); NULL: nothing carries marks. */
	bool (*marked)(const struct flow *f, struct load_marked *out);
};

extern const struct flow_ops tcp_receive, tcp_receive_discard;
extern const struct flow_ops tcp_send_copy, tcp_send_file, tcp_send_zerocopy;
extern const struct flow_ops udp_receive, udp_send;

/* The kind of traffic of a role; NULL with -EOPNOTSUPP's reason: none does that. */
const struct flow_ops *flow_kind(const struct run_spec *spec, enum load_role role,
				 struct error *err);

enum flow_state { FLOW_READY, FLOW_WAITING, FLOW_PACED, FLOW_OVER };

struct flow {
	alignas(CACHE_LINE_BYTES) int fd;
	enum load_role role;
	const struct flow_ops *ops;
	void *own;		/* private to its kind */
	struct load_common *common;
	enum flow_state state;	/* kept by the worker */
	bool closing;		/* one of end_events was reported: go on until the end shows */
	bool error_queue;	/* EPOLLERR was reported; who drains the queue clears it */
	bool finishing;		/* has sent all that it may send */
	bool limited;		/* by an amount or a rate: flow_grant() must be asked */
	uint64_t share;		/* bytes taken out of the amount and not sent yet */
	struct pace pace;
	/* Read by other threads. */
	alignas(CACHE_LINE_BYTES) _Atomic int broken;	/* errno that ended it early */
	_Atomic bool ended;	/* its connection has, early or not */
	_Atomic uint64_t bytes, calls;
	/*
	 * Time spent waiting for the socket, so far and still running, in one word:
	 * even: sum of ended waits << 1; odd: (start of this wait - that sum) << 1 | 1.
	 */
	_Atomic uint64_t wait_mark;
};

/* Single writer: a load and a store, no locked instruction. */
static inline void flow_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline uint64_t flow_bytes(const struct flow *f)
{
	return atomic_load_explicit(&f->bytes, memory_order_relaxed);
}

/* n bytes were moved by one call. */
static inline void flow_moved(struct flow *f, size_t n)
{
	flow_count(&f->bytes, n);
	flow_count(&f->calls, 1);
}

/* The slow part of flow_grant(). */
size_t flow_ask(struct flow *f, size_t want, enum turn *why);

/*
 * How many of `want` bytes a sender may send now.  0: it may not, and *why is the turn to
 * return (TURN_LATER or TURN_OVER).  With a rate alone it is all or nothing unless want is more
 * than a burst, so datagrams stay whole; the last block of an amount may be short.
 */
static inline size_t flow_grant(struct flow *f, size_t want, enum turn *why)
{
	return f->limited ? flow_ask(f, want, why) : want;
}

/* How many of `want` bytes a receiver may take in now; 0: not before f->pace.due_ns. */
static inline size_t flow_allowance(struct flow *f, size_t want)
{
	if (!f->limited)
		return want;
	return (size_t)pace_grant(&f->pace, want, f->pace.burst_left ? 0 : monotonic_ns());
}

/* A sender has sent n of the bytes that were granted by one call. */
static inline void flow_sent(struct flow *f, size_t n)
{
	flow_moved(f, n);
	if (!f->limited)
		return;
	pace_spend(&f->pace, n);
	f->share -= n < f->share ? n : f->share;
}

/* Its waits, for blocked_us.  By the owner. */
void flow_begin_wait(struct flow *f);
void flow_end_wait(struct flow *f);
/* Microseconds a flow has waited, the present wait included.  Any thread. */
uint64_t flow_blocked_us(const struct flow *f);

#endif

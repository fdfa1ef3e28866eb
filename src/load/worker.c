/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	TURN_BYTES = 256 * 1024,	/* what one flow may move before the next has its turn */
	TURN_MAX_CALLS = 64,
	EVENTS_PER_WAIT = 64,
	STACK_BYTES = 256 * 1024
};

enum turn { TURN_READY, TURN_WAIT, TURN_ENDED };

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void begin_wait(struct flow *f)
{
	uint64_t sum = atomic_load_explicit(&f->wait_mark, memory_order_relaxed) >> 1;

	atomic_store_explicit(&f->wait_mark, (monotonic_ns() - sum) << 1 | 1, memory_order_release);
}

static void end_wait(struct flow *f)
{
	uint64_t mark = atomic_load_explicit(&f->wait_mark, memory_order_relaxed);

	if (mark & 1)
		atomic_store_explicit(&f->wait_mark, (monotonic_ns() - (mark >> 1)) << 1,
				      memory_order_release);
}

uint64_t flow_blocked_us(const struct flow *f)
{
	/* The clock after the mark: a wait that starts in between must not count backwards. */
	uint64_t mark = atomic_load_explicit(&f->wait_mark, memory_order_acquire);

	return (mark & 1 ? monotonic_ns() - (mark >> 1) : mark >> 1) / 1000;
}

/* Single writer: a load and a store, no locked instruction. */
static inline void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline int command_of(const struct worker *w)
{
	return atomic_load_explicit(&w->command, memory_order_relaxed);
}

static void end_flow(struct worker *w, struct flow *f, int err)
{
	epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
	/* Once the run is over the other end may close. */
	if (command_of(w) == WORKER_RUN)
		atomic_store_explicit(&f->broken, err, memory_order_relaxed);
}

static inline ssize_t move_block(struct worker *w, struct flow *f)
{
	if (w->role == LOAD_SEND)
		return send(f->fd, w->pattern, w->block_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	/* Told to truncate, TCP drops the bytes inside the kernel and leaves the buffer alone. */
	return recv(f->fd, w->buffer, w->block_bytes, MSG_DONTWAIT | (w->discard ? MSG_TRUNC : 0));
}

/*
 * Moves blocks until the socket has had enough or the turn is over.
 *
 * A short transfer means that the buffer is full (empty), so the next call would
 * only say EAGAIN: wait at once.  Edge-triggered epoll reports what changes after
 * it, except an end of the connection that was already reported: then go on.
 */
static enum turn flow_turn(struct worker *w, struct flow *f)
{
	for (size_t i = 0; i < w->turn_calls; i++) {
		ssize_t n = move_block(w, f);

		if (n > 0) {
			count(&f->bytes, (uint64_t)n);
			count(&f->calls, 1);
			if ((size_t)n < w->block_bytes && !f->closing)
				return TURN_WAIT;
		} else if (n == 0) {
			end_flow(w, f, EPIPE);
			return TURN_ENDED;
		} else if (errno == EAGAIN) {
			return TURN_WAIT;
		} else if (errno != EINTR) {
			end_flow(w, f, errno);
			return TURN_ENDED;
		}
	}
	return TURN_READY;
}

static void run_ready(struct worker *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->nready; i++) {
		struct flow *f = w->ready[i];
		enum turn t = flow_turn(w, f);

		if (t == TURN_READY) {
			w->ready[kept++] = f;
			continue;
		}
		f->ready = false;
		if (t == TURN_WAIT) {
			begin_wait(f);
			w->nwaiting++;
		}
	}
	w->nready = kept;
}

static void mark_ready(struct worker *w, struct flow *f, uint32_t events)
{
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		f->closing = true;
	if (f->ready)
		return;
	end_wait(f);
	f->ready = true;
	w->nwaiting--;
	w->ready[w->nready++] = f;
}

/* timeout_ms: 0 to look, -1 to wait. */
static void wait_events(struct worker *w, int timeout_ms)
{
	struct epoll_event events[EVENTS_PER_WAIT];
	int n = epoll_wait(w->epoll_fd, events, EVENTS_PER_WAIT, timeout_ms);

	for (int i = 0; i < n; i++) {
		struct flow *f = events[i].data.ptr;
		uint64_t wakes;

		if (f)
			mark_ready(w, f, events[i].events);
		else if (read(w->event_fd, &wakes, sizeof(wakes)) < 0)
			continue;	/* non-blocking: nothing to take is fine */
	}
}

/* A sender that has written its last byte: no flow is ready or waits for anything. */
static void rest(struct worker *w)
{
	for (size_t i = 0; i < w->nflows; i++) {
		struct flow *f = w->flows[i];

		epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
		end_wait(f);
		f->ready = false;
	}
	w->nready = w->nwaiting = 0;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
	int command;

	pthread_getcpuclockid(pthread_self(), &clock);
	atomic_store_explicit(&w->cpu_clock, clock, memory_order_relaxed);
	atomic_store_explicit(&w->tid, (int)gettid(), memory_order_release);
	while ((command = command_of(w)) != WORKER_STOP) {
		if (command == WORKER_QUIESCE && w->role == LOAD_SEND)
			rest(w);
		run_ready(w);
		/* While every flow has work to do, epoll has nothing to add. */
		if (w->nready == 0 || w->nwaiting > 0)
			wait_events(w, w->nready ? 0 : -1);
	}
	return NULL;
}

int worker_open(struct worker *w, enum load_role role, const struct run_spec *spec,
		const void *pattern, size_t max_flows)
{
	struct epoll_event wake = { .events = EPOLLIN, .data.ptr = NULL };

	w->role = role;
	w->discard = spec->discard_receive;
	w->block_bytes = spec->block_bytes;
	w->turn_calls = TURN_BYTES / spec->block_bytes;
	if (w->turn_calls == 0)
		w->turn_calls = 1;
	if (w->turn_calls > TURN_MAX_CALLS)
		w->turn_calls = TURN_MAX_CALLS;
	w->pattern = pattern;
	w->event_fd = -1;
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0)
		return -errno;
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->event_fd < 0 || epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->event_fd, &wake) < 0)
		return -errno;
	w->flows = calloc(max_flows, sizeof(struct flow *));
	w->ready = calloc(max_flows, sizeof(struct flow *));
	/* Not touched here: its pages come from the node of the thread that receives, if at all. */
	if (role == LOAD_RECEIVE)
		w->buffer = malloc(w->block_bytes);
	if (!w->flows || !w->ready || (role == LOAD_RECEIVE && !w->buffer))
		return -ENOMEM;
	return 0;
}

int worker_add(struct worker *w, struct flow *f)
{
	struct epoll_event e = { .events = EPOLLET | EPOLLRDHUP, .data.ptr = f };

	e.events |= w->role == LOAD_SEND ? EPOLLOUT : EPOLLIN;
	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, f->fd, &e) < 0)
		return -errno;
	w->flows[w->nflows++] = f;
	/* Trying is cheaper than asking: the first call tells whether the flow must wait. */
	f->ready = true;
	w->ready[w->nready++] = f;
	return 0;
}

int worker_start(struct worker *w)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return -rc;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Signals are for the thread that waits for them, not for one in the middle of a send. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&w->thread, &attr, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	w->started = rc == 0;
	return -rc;
}

void worker_command(struct worker *w, enum worker_command command)
{
	const uint64_t one = 1;

	atomic_store_explicit(&w->command, command, memory_order_release);
	if (write(w->event_fd, &one, sizeof(one)) < 0)
		return;		/* EAGAIN: 2^64 - 2 wake-ups are pending, one is enough */
}

void worker_join(struct worker *w)
{
	if (w->started)
		pthread_join(w->thread, NULL);
	w->started = false;
}

void worker_close(struct worker *w)
{
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (w->event_fd >= 0)
		close(w->event_fd);
	free(w->flows);
	free(w->ready);
	free(w->buffer);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/worker.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	TURN_BYTES = 256 * 1024,	/* what one flow may move before the next has its turn */
	TURN_MAX_CALLS = 64,
	EVENTS_PER_WAIT = 64,
	STACK_BYTES = 256 * 1024,
	/*
	 * Shorter sleeps cost more than they smooth.  Each paced flow adds to it, so that
	 * thousands of them are served in bunches.
	 */
	PACE_MIN_SLEEP_NS = 200 * 1000,
	PACE_FLOW_SLEEP_NS = 1000,
	FINISH_NS = 100 * 1000 * 1000
};

#define WAIT_FOREVER INT64_C(-1)

static inline int command_of(const struct worker *w)
{
	return atomic_load_explicit(&w->command, memory_order_relaxed);
}

/* Nothing will be asked of f any more. */
static void retire(struct worker *w, struct flow *f)
{
	f->state = FLOW_OVER;
	epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
	if (f->role == LOAD_SEND && f->common->end_closes)
		shutdown(f->fd, SHUT_WR);
}

enum turn worker_end_flow(struct worker *w, struct flow *f, int err)
{
	amount_return(&f->common->amount, f->share);
	bool wanted = f->common->end_closes && f->role == LOAD_RECEIVE && err == EPIPE;

	f->share = 0;
	/* Once the run is over the other end may close. */
	if (command_of(w) == WORKER_RUN && !f->finishing && !wanted)
		atomic_store_explicit(&f->broken, err, memory_order_relaxed);
	atomic_store_explicit(&f->ended, true, memory_order_relaxed);
	f->finishing = true;
	return TURN_OVER;
}

static void settle(struct worker *w, struct flow *f, enum turn t)
{
	if (t == TURN_OVER) {
		retire(w, f);
	} else if (t == TURN_WAIT) {
		f->state = FLOW_WAITING;
		if (!f->finishing)
			flow_begin_wait(f);
		w->nwaiting++;
	} else {
		f->state = FLOW_PACED;
		w->paced[w->npaced++] = f;
		if (f->pace.due_ns < w->due_ns)
			w->due_ns = f->pace.due_ns;
	}
}

static inline enum turn flow_turn(struct worker *w, struct flow *f)
{
	enum turn t;

	if (f->finishing)
		return f->ops->finish ? f->ops->finish(w, f) : TURN_OVER;
	t = f->ops->turn(w, f);
	if (t != TURN_OVER || f->finishing || !f->ops->finish)
		return t;
	f->finishing = true;	/* has sent its share of the amount */
	return TURN_READY;
}

static void run_ready(struct worker *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->nready; i++) {
		struct flow *f = w->ready[i];
		uint64_t before = flow_bytes(f);
		enum turn t = flow_turn(w, f);

		w->holdoff.moved_bytes += flow_bytes(f) - before;
		if (t == TURN_READY)
			w->ready[kept++] = f;
		else
			settle(w, f, t);
	}
	w->nready = kept;
}

static void make_ready(struct worker *w, struct flow *f)
{
	f->state = FLOW_READY;
	w->ready[w->nready++] = f;
}

static void report_events(struct worker *w, struct flow *f, uint32_t events)
{
	if (events & f->ops->end_events)
		f->closing = true;
	if (events & EPOLLERR)
		f->error_queue = true;
	if (f->state != FLOW_WAITING)
		return;
	flow_end_wait(f);
	w->nwaiting--;
	make_ready(w, f);
}

/* Flows whose rate allows to go on; the first of those that still wait. */
static void release_paced(struct worker *w)
{
	double now = (double)monotonic_ns();
	size_t kept = 0;

	if (w->due_ns > now)
		return;
	w->due_ns = INFINITY;
	for (size_t i = 0; i < w->npaced; i++) {
		struct flow *f = w->paced[i];

		if (f->pace.due_ns <= now) {
			make_ready(w, f);
			continue;
		}
		w->paced[kept++] = f;
		if (f->pace.due_ns < w->due_ns)
			w->due_ns = f->pace.due_ns;
	}
	w->npaced = kept;
}

static int64_t sleep_ns(const struct worker *w)
{
	double least = PACE_MIN_SLEEP_NS + (double)w->npaced * PACE_FLOW_SLEEP_NS;
	double ns;

	if (w->npaced == 0)
		return WAIT_FOREVER;
	ns = w->due_ns - (double)monotonic_ns();
	return (int64_t)(ns < least ? least : ns);
}

/* epoll_wait() counts milliseconds; kernels before 5.11 have nothing finer. */
static int wait_ns(struct worker *w, struct epoll_event *events, int64_t ns)
{
	int n;

	if (ns <= 0)
		return epoll_wait(w->epoll_fd, events, EVENTS_PER_WAIT, ns ? -1 : 0);
#ifdef SYS_epoll_pwait2
	/* The kernel's struct __kernel_timespec, which is 64 bits everywhere. */
	const struct { int64_t sec, nsec; } t = { ns / 1000000000, ns % 1000000000 };

	n = (int)syscall(SYS_epoll_pwait2, w->epoll_fd, events, EVENTS_PER_WAIT, &t, NULL, 0);
	if (n >= 0 || errno != ENOSYS)
		return n;
#endif
	if (ns > INT64_C(3600000000000))
		ns = INT64_C(3600000000000);
	n = epoll_wait(w->epoll_fd, events, EVENTS_PER_WAIT, (int)((ns + 999999) / 1000000));
	return n;
}

/* ns: 0 to look, WAIT_FOREVER to wait. */
static void wait_events(struct worker *w, int64_t ns)
{
	struct epoll_event events[EVENTS_PER_WAIT];
	int n = wait_ns(w, events, ns);

	for (int i = 0; i < n; i++) {
		struct flow *f = events[i].data.ptr;
		uint64_t wakes;

		if (f)
			report_events(w, f, events[i].events);
		else if (read(w->event_fd, &wakes, sizeof(wakes)) < 0)
			continue;	/* non-blocking: nothing to take is fine */
	}
}

/* The run is over: senders have written their last byte, receivers go on. */
static void quiesce(struct worker *w)
{
	w->nready = w->nwaiting = w->npaced = 0;
	w->due_ns = INFINITY;
	for (size_t i = 0; i < w->nflows; i++) {
		struct flow *f = w->flows[i];

		if (f->state == FLOW_OVER)
			continue;
		if (f->role == LOAD_RECEIVE && f->state == FLOW_WAITING) {
			w->nwaiting++;
			continue;
		}
		flow_end_wait(f);
		if (f->role == LOAD_SEND)
			f->finishing = true;
		make_ready(w, f);
	}
	atomic_store_explicit(&w->quiesced, true, memory_order_release);
}

/* What the kernel still has of ours, for a moment: the other end may never take it. */
static void finish(struct worker *w)
{
	const uint64_t deadline = monotonic_ns() + FINISH_NS;

	for (size_t i = 0; i < w->nflows; i++) {
		struct flow *f = w->flows[i];
		struct pollfd p = { .fd = f->fd };	/* POLLERR and POLLHUP come unasked */
		uint64_t now;

		if (f->role == LOAD_RECEIVE || f->state == FLOW_OVER || !f->ops->finish)
			continue;
		f->finishing = true;
		while (f->ops->finish(w, f) != TURN_OVER && (now = monotonic_ns()) < deadline) {
			if (p.revents & ~POLLERR)
				break;
			poll(&p, 1, (int)((deadline - now) / 1000000) + 1);
		}
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
	int command;

	/* By default a sleep may take 50 us longer: too much for a rate, or a hold-off. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	pthread_getcpuclockid(pthread_self(), &clock);
	atomic_store_explicit(&w->cpu_clock, clock, memory_order_relaxed);
	atomic_store_explicit(&w->tid, (int)gettid(), memory_order_release);
	while ((command = command_of(w)) != WORKER_STOP) {
		if (command == WORKER_QUIESCE && !w->quiesced)
			quiesce(w);
		run_ready(w);
		/* While every flow has work to do, epoll has nothing to add. */
		if (w->nready == 0) {
			bool may_sleep = w->nsenders > 0 ||
					 holdoff_wait(&w->holdoff, w->flows, w->nflows);

			wait_events(w, may_sleep ? sleep_ns(w) : 0);
		} else if (w->nwaiting > 0) {
			wait_events(w, 0);
		}
		if (w->npaced > 0)
			release_paced(w);
	}
	finish(w);
	return NULL;
}

int worker_open(struct worker *w, const struct run_spec *spec, size_t max_flows)
{
	struct epoll_event wake = { .events = EPOLLIN, .data.ptr = NULL };

	w->block_bytes = spec->block_bytes;
	w->turn_calls = TURN_BYTES / spec->block_bytes;
	if (w->turn_calls == 0)
		w->turn_calls = 1;
	if (w->turn_calls > TURN_MAX_CALLS)
		w->turn_calls = TURN_MAX_CALLS;
	w->due_ns = INFINITY;
	w->event_fd = -1;
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0)
		return -errno;
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->event_fd < 0 || epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->event_fd, &wake) < 0)
		return -errno;
	w->flows = calloc(max_flows, sizeof(struct flow *));
	w->ready = calloc(max_flows, sizeof(struct flow *));
	w->paced = calloc(max_flows, sizeof(struct flow *));
	return w->flows && w->ready && w->paced ? 0 : -ENOMEM;
}

static int grow_buffer(struct worker *w, const struct flow *f)
{
	size_t bytes = f->ops->buffer_bytes ? f->ops->buffer_bytes(f->common->spec) : 0;
	void *p;

	if (bytes <= w->buffer_bytes)
		return 0;
	free(w->buffer);
	w->buffer_bytes = 0;
	/* Not touched here: its pages come from the node of the thread that receives, if at all. */
	w->buffer = p = aligned_alloc(CACHE_LINE_BYTES, (bytes + CACHE_LINE_BYTES - 1) /
				      CACHE_LINE_BYTES * CACHE_LINE_BYTES);
	if (!p)
		return -ENOMEM;
	w->buffer_bytes = bytes;
	return 0;
}

int worker_add(struct worker *w, struct flow *f)
{
	struct epoll_event e = { .events = EPOLLET | EPOLLRDHUP, .data.ptr = f };
	int rc = grow_buffer(w, f);

	if (rc)
		return rc;
	e.events |= f->ops->events;
	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, f->fd, &e) < 0)
		return -errno;
	w->flows[w->nflows++] = f;
	w->nsenders += f->role == LOAD_SEND;
	/* Trying is cheaper than asking: the first call tells whether the flow must wait. */
	make_ready(w, f);
	return 0;
}

/* A set of one CPU; a large machine's does not fit cpu_set_t. */
static int pin(pthread_attr_t *attr, long cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int rc;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S((size_t)cpu, bytes, set);
	rc = -pthread_attr_setaffinity_np(attr, bytes, set);
	CPU_FREE(set);
	return rc;
}

int worker_start(struct worker *w, long cpu)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return -rc;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = cpu >= 0 ? pin(&attr, cpu) : 0;
	if (rc) {
		pthread_attr_destroy(&attr);
		return rc;
	}
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
	free(w->paced);
	free(w->buffer);
}

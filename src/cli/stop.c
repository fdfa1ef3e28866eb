/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/stop.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "src/cli/options.h"
#include "ui/crash.h"

struct stop { int fd; sigset_t signals; atomic_bool graceful; atomic_int asked_by; };

static void end_now(int sig)
{
	/* A screen has no time to close. */
	crash_restore();
	/* Below what is left of a line of progress. */
	if (isatty(STDERR_FILENO))
		fputc('\n', stderr);
	complain(0, "interrupted");
	_exit(128 + sig);
}

/* timeout(1) signals the process and then its group: the same at once is no second one. */
static void await_echo(const sigset_t *signals, int sig)
{
	static const struct timespec soon = { .tv_nsec = 200000000 };
	int next = sigtimedwait(signals, NULL, &soon);

	if (next > 0 && next != sig)
		end_now(next);
}

static void *wait_for_signals(void *arg)
{
	struct stop *s = arg;
	int sig;

	if (sigwait(&s->signals, &sig) == 0) {
		uint64_t one = 1;
		atomic_store(&s->asked_by, sig);
		if (!atomic_load(&s->graceful) || write(s->fd, &one, sizeof(one)) < 0)
			end_now(sig);
		await_echo(&s->signals, sig);
	}
	if (sigwait(&s->signals, &sig) == 0)
		end_now(sig);
	return NULL;
}

/* nohup, and a shell for what a script runs in the background, ignore some on purpose. */
static void add_unless_ignored(sigset_t *set, int sig)
{
	struct sigaction now;

	if (sigaction(sig, NULL, &now) || now.sa_handler != SIG_IGN)
		sigaddset(set, sig);
}

static void collect(sigset_t *set)
{
	sigemptyset(set);
	add_unless_ignored(set, SIGINT);
	add_unless_ignored(set, SIGTERM);
	add_unless_ignored(set, SIGHUP);
}

void stop_hold(void)
{
	sigset_t set;

	collect(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void stop_release(void)
{
	sigset_t set;

	collect(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* All others are for the main thread: a screen that is opened later waits for some. */
static int start_watcher(struct stop *s)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int rc = pthread_create(&thread, NULL, wait_for_signals, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* The watcher lives as long as the process: a second signal must always end it. */
	if (!rc)
		pthread_detach(thread);
	return rc;
}

struct stop *stop_watch(void)
{
	struct stop *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	atomic_init(&s->graceful, false);
	atomic_init(&s->asked_by, 0);
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	collect(&s->signals);
	if (s->fd < 0 || pthread_sigmask(SIG_BLOCK, &s->signals, NULL) ||
	    start_watcher(s)) {
		if (s->fd >= 0)
			close(s->fd);
		free(s);
		return NULL;
	}
	return s;
}

void stop_gracefully(struct stop *s)
{
	atomic_store(&s->graceful, true);
}

void stop_ask(struct stop *s)
{
	eventfd_write(s->fd, 1);
}

bool stop_asked(const struct stop *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

int stop_fd(const struct stop *s)
{
	return s->fd;
}

int stop_signal(const struct stop *s)
{
	return atomic_load(&s->asked_by);
}

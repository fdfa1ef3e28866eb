/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/crash.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT };
enum { NDEADLY = sizeof(deadly) / sizeof(deadly[0]) };

/* A signal handler is given no argument of ours; filled before `armed` is set. */
static struct {
	int fd;
	size_t n;
	char bytes[CRASH_MAX_BYTES];
	struct termios modes;
	struct sigaction before[NDEADLY];
} guarded;
static atomic_bool armed;

void crash_restore(void)
{
	if (!atomic_exchange(&armed, false))
		return;
	/* A terminal that is gone needs nothing back. */
	if (write(guarded.fd, guarded.bytes, guarded.n) < 0)
		return;
	tcsetattr(guarded.fd, TCSANOW, &guarded.modes);
}

static void on_deadly(int sig)
{
	crash_restore();
	for (size_t i = 0; i < NDEADLY; i++)
		if (deadly[i] == sig)
			sigaction(sig, &guarded.before[i], NULL);
	/* It is blocked while we are here, and comes when we return. */
	raise(sig);
}

void crash_guard(int fd, const char *bytes, size_t n, const struct termios *modes)
{
	struct sigaction act = { .sa_handler = on_deadly };

	crash_unguard();
	guarded.fd = fd;
	guarded.n = n < CRASH_MAX_BYTES ? n : CRASH_MAX_BYTES;
	memcpy(guarded.bytes, bytes, guarded.n);
	guarded.modes = *modes;
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < NDEADLY; i++)
		sigaction(deadly[i], &act, &guarded.before[i]);
	atomic_store(&armed, true);
}

void crash_unguard(void)
{
	if (!atomic_exchange(&armed, false))
		return;
	for (size_t i = 0; i < NDEADLY; i++)
		sigaction(deadly[i], &guarded.before[i], NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Crash: gives the terminal back when the process dies at once, by SIGSEGV, SIGABRT and
 * their kin, or by _exit() of another thread.
 */
#ifndef ND_UI_CRASH_H
#define ND_UI_CRASH_H

#include <stddef.h>
#include <termios.h>

enum { CRASH_MAX_BYTES = 256 };

/*
 * From now on a deadly signal writes `bytes` to fd and restores its modes before it does what
 * it would have done.  One terminal at a time.
 */
void crash_guard(int fd, const char *bytes, size_t n, const struct termios *modes);
/* The terminal is restored by other means: deadly signals do what they did before. */
void crash_unguard(void);
/* Restores now, once; does nothing when nothing is guarded.  Async-signal-safe, any thread. */
void crash_restore(void);

#endif

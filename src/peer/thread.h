/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the session code.  Internal to src/peer. */
#ifndef ND_PEER_THREAD_H
#define ND_PEER_THREAD_H

#include <pthread.h>

/*
 * A joinable thread with every signal blocked: signals are for the program's own threads, which
 * know what Ctrl-C means.  0 or -errno.
 */
int thread_start(pthread_t *out, void *(*run)(void *), void *arg);

#endif

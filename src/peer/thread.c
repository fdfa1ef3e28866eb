/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/thread.h"

#include <signal.h>

int thread_start(pthread_t *out, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(out, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

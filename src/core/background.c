/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/background.h"

#include <pthread.h>
#include <sched.h>

static bool set_policy(int policy)
{
	const struct sched_param none = { .sched_priority = 0 };

	return pthread_setschedparam(pthread_self(), policy, &none) == 0;
}

bool background_begin(void)
{
	struct sched_param now;
	int policy;

	return pthread_getschedparam(pthread_self(), &policy, &now) == 0 &&
	       policy == SCHED_OTHER && set_policy(SCHED_BATCH);
}

void background_end(bool begun)
{
	if (begun)
		set_policy(SCHED_OTHER);
}

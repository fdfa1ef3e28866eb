/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/owner.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct owner { struct stop *stop; atomic_uint clients, comings; };

static void *wait_for_end(void *arg)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	struct owner *o = arg;
	unsigned int comings = 0;
	char buf[256];

	for (;;) {
		int rc = poll(&p, 1, OWNER_IDLE_MS);
		unsigned int now = atomic_load(&o->comings);

		if (rc < 0 && errno == EINTR)
			continue;
		if (rc < 0 || (rc > 0 && read(STDIN_FILENO, buf, sizeof(buf)) <= 0))
			break;
		if (rc == 0 && now == comings && atomic_load(&o->clients) == 0)
			break;
		if (rc == 0)
			comings = now;
	}
	stop_ask(o->stop);
	return NULL;
}

struct owner *owner_watch(struct stop *stop)
{
	struct owner *o = calloc(1, sizeof(*o));
	pthread_t thread;

	if (!o)
		return NULL;
	o->stop = stop;
	atomic_init(&o->clients, 0);
	atomic_init(&o->comings, 0);
	if (pthread_create(&thread, NULL, wait_for_end, o)) {
		free(o);
		return NULL;
	}
	pthread_detach(thread);
	return o;
}

void owner_client_came(struct owner *o)
{
	atomic_fetch_add(&o->comings, 1);
	atomic_fetch_add(&o->clients, 1);
}

void owner_client_went(struct owner *o)
{
	atomic_fetch_sub(&o->clients, 1);
}

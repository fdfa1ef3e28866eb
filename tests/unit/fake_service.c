/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a fixture's server does for its clients. */
#include "tests/unit/peer_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/peer/wire.h"

static int fake_facts(void *state, const struct peer_client_info *client, cJSON **out,
		      struct error *err)
{
	struct fixture *f = state;
	char *filler;

	if (atomic_load(&f->facts_fail))
		return error_set(err, EIO, "the probes\nfailed");
	*out = cJSON_CreateObject();
	cJSON_AddStringToObject(*out, "client", client->address);
	cJSON_AddStringToObject(*out, "here", client->local_address);
	filler = calloc(1, atomic_load(&f->facts_bytes) + 1);
	if (filler)
		memset(filler, 'x', atomic_load(&f->facts_bytes));
	cJSON_AddStringToObject(*out, "filler", filler ? filler : "");
	free(filler);
	return 0;
}

/* The flow's number over each stream, from whichever end sends: flow i must be flow i. */
static int move_bytes(const struct run_spec *spec, const int *fds)
{
	for (uint64_t i = 0; i < spec->streams; i++) {
		unsigned char want = (unsigned char)i, got = 0;
		int rc;

		if (spec->direction == RUN_REVERSE)
			rc = wire_send(fds[i], &want, 1, deadline_in_ms(PATIENCE_MS));
		else
			rc = wire_receive(fds[i], &got, 1, deadline_in_ms(PATIENCE_MS));
		if (rc < 0 || (spec->direction == RUN_FORWARD && got != want))
			return rc < 0 ? rc : -EBADMSG;
	}
	return 0;
}

static void wait_until(struct fixture *f, const struct run_window *w,
		       const struct peer_run_hooks *hooks, bool samples)
{
	unsigned int n = 0;

	while (monotonic_ns() < w->stop_ns) {
		cJSON *sample;

		if (hooks->cancelled(hooks->state)) {
			atomic_fetch_add(&f->cancelled, 1);
			if (atomic_load(&f->slow_to_cancel))
				sleep_ms(300);
			return;
		}
		sleep_ms(20);
		if (!samples)
			continue;
		sample = cJSON_CreateObject();
		cJSON_AddNumberToObject(sample, "n", n++);
		hooks->progress(hooks->state, sample);
	}
}

static void send_all(const struct run_spec *spec, const int *fds,
		     const struct peer_run_hooks *hooks)
{
	static const char block[4096];

	while (!hooks->cancelled(hooks->state)) {
		for (uint64_t i = 0; i < spec->streams; i++)
			for (int n = 0; n < 1000 && send(fds[i], block, sizeof(block),
							 MSG_DONTWAIT | MSG_NOSIGNAL) > 0; n++)
				;
		hooks->received(hooks->state, &(struct peer_received){ .bytes = 0 });
		sleep_ms(10);
	}
}

static uint64_t taken_of(const void *state, size_t flow)
{
	const struct fixture *f = state;

	return atomic_load(&f->taken[flow]);
}

static void take_all(struct fixture *f, const struct run_spec *spec, const int *fds,
		     const struct peer_run_hooks *hooks)
{
	struct peer_received r = { .of = taken_of, .end = f };
	char block[4096];

	while (!hooks->cancelled(hooks->state) && !hooks->ended(hooks->state)) {
		for (uint64_t i = 0; i < spec->streams; i++) {
			ssize_t n = recv(fds[i], block, sizeof(block), MSG_DONTWAIT);

			if (n <= 0)
				continue;
			atomic_fetch_add(&f->taken[i], (unsigned int)n);
			r.bytes += (uint64_t)n;
		}
		hooks->received(hooks->state, &r);
		sleep_ms(5);
	}
}

static int fake_run(void *state, const struct peer_client_info *client,
		    const struct run_spec *spec, const int *fds, const struct run_window *window,
		    const struct peer_run_hooks *hooks, cJSON **end, struct error *err)
{
	struct fixture *f = state;
	unsigned int now_running = atomic_fetch_add(&f->running, 1) + 1;
	int rc = 0;

	(void)client;
	if (now_running > atomic_load(&f->most_running))
		atomic_store(&f->most_running, now_running);
	atomic_fetch_add(&f->runs, 1);
	/* Runs of iperf3 clients go on side by side. */
	pthread_mutex_lock(&f->lock);
	f->last_spec = *spec;
	pthread_mutex_unlock(&f->lock);
	switch (atomic_load(&f->run_kind)) {
	case FAKE_RUN_BYTES:
		rc = move_bytes(spec, fds);
		break;
	case FAKE_RUN_UNTIL_STOP:
		wait_until(f, window, hooks, false);
		break;
	case FAKE_RUN_SENDS:
		send_all(spec, fds, hooks);
		break;
	case FAKE_RUN_TAKES:
		take_all(f, spec, fds, hooks);
		break;
	case FAKE_RUN_SAMPLES:
		wait_until(f, window, hooks, true);
		break;
	case FAKE_RUN_FAILS:
		rc = -EIO;
		break;
	}
	for (uint64_t i = 0; i < spec->streams; i++)
		close(fds[i]);
	atomic_fetch_sub(&f->running, 1);
	if (rc < 0)
		return error_set(err, rc, "the fake run failed");
	*end = cJSON_CreateObject();
	cJSON_AddNumberToObject(*end, "streams", (double)spec->streams);
	return 0;
}

struct peer_service fake_service(struct fixture *f)
{
	return (struct peer_service){ .state = f, .facts = fake_facts, .run = fake_run };
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/service.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/probe.h"
#include "src/exam/conduct.h"
#include "src/exam/live.h"

/*
 * Facts that were handed to a client tell the sampler of its runs what to watch.
 * They are kept for as many clients as can be connected at a time; a client whose
 * entry is gone has its facts read again.
 */
#define KEPT_FACTS 32

#define CLIENT_KEY_CAP (INET6_ADDRSTRLEN + 8)	/* address/port */
struct kept { char client[CLIENT_KEY_CAP]; struct facts *facts; unsigned int users; uint64_t age; };

struct exam_service {
	pthread_mutex_t lock;
	struct kept kept[KEPT_FACTS];
	uint64_t clock;
};

static void client_key(const struct peer_client_info *client, char buf[CLIENT_KEY_CAP])
{
	snprintf(buf, CLIENT_KEY_CAP, "%s/%u", client->address, client->port);
}

static int read_for(const struct peer_client_info *client, struct facts **out, struct error *err)
{
	struct probe_context ctx = { .peer_address = client->address,
				     .local_address = client->local_address };
	return exam_read_host(&ctx, out, err);
}

/* Puts facts in the place of the client's older ones, or of the longest unused; false: every place
 * is in use. */
static bool keep(struct exam_service *s, const char key[CLIENT_KEY_CAP], struct facts *f)
{
	struct kept *place = NULL;

	for (size_t i = 0; i < KEPT_FACTS; i++) {
		struct kept *k = &s->kept[i];
		if (k->users)
			continue;
		if (!strcmp(k->client, key)) {
			place = k;
			break;
		}
		if (!place || k->age < place->age)
			place = k;
	}
	if (!place)
		return false;
	facts_free(place->facts);
	memset(place, 0, sizeof(*place));
	memcpy(place->client, key, sizeof(place->client));
	place->facts = f;
	place->age = ++s->clock;
	return true;
}

static int service_facts(void *state, const struct peer_client_info *client, cJSON **out,
			 struct error *err)
{
	struct exam_service *s = state;
	struct facts *f = NULL;
	char key[CLIENT_KEY_CAP];
	int rc = read_for(client, &f, err);

	if (rc)
		return rc;
	cJSON *o = record_to_json(&facts_schema, f);
	if (!o) {
		facts_free(f);
		return error_set(err, ENOMEM, "out of memory for this host's facts");
	}
	client_key(client, key);
	pthread_mutex_lock(&s->lock);
	if (!keep(s, key, f))
		facts_free(f);
	pthread_mutex_unlock(&s->lock);
	*out = o;
	return 0;
}

static struct kept *borrow(struct exam_service *s, const char *key)
{
	struct kept *found = NULL;

	for (size_t i = 0; i < KEPT_FACTS && !found; i++)
		if (s->kept[i].facts && !strcmp(s->kept[i].client, key))
			found = &s->kept[i];
	if (found)
		found->users++;
	return found;
}

static void close_all(const int *fds, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		close(fds[i]);
}

/* Sends every live interval on; stops early when the client is gone. */
static void watch(struct end *end, const struct peer_run_hooks *hooks)
{
	struct end_live live;
	bool going = true;

	while (going) {
		bool fresh = false;
		going = end_wait(end, 200, &live, &fresh);
		bool ok = !hooks->cancelled(hooks->state);
		if (ok && fresh) {
			cJSON *sample = live_to_json(&live);
			if (sample)
				ok = hooks->progress(hooks->state, sample);
		}
		if (!ok) {
			end_cancel(end);
			return;
		}
	}
}

static int run_with(const struct facts *facts, const struct run_spec *spec, const int *fds,
		    const struct run_window *window, const struct peer_run_hooks *hooks,
		    cJSON **out, struct error *err)
{
	struct end_config config = { .spec = spec, .role = run_server_role(spec), .fds = fds,
				     .window = *window, .facts = facts };
	struct end *end = NULL;
	struct run_end result = { 0 };
	struct arena *mem = arena_new(0);
	int rc;

	if (!mem) {
		close_all(fds, run_flows(spec));
		return error_set(err, ENOMEM, "out of memory for the run");
	}
	rc = end_start(&config, &end, err);
	if (rc)
		goto out;
	watch(end, hooks);
	rc = end_finish(end, mem, &result);
	if (!rc && !result.present) {
		rc = error_set(err, ENODATA, "its end of the run measured nothing: %s",
			       result.problem.v);
		goto out;
	}
	if (!rc) {
		*out = run_end_to_json(&result);
		rc = *out ? 0 : -ENOMEM;
	}
	if (rc)
		error_set(err, -rc, "cannot report the run: %s", strerror(-rc));
	counters_free(result.window);
out:
	arena_free(mem);
	return rc;
}

static int service_run(void *state, const struct peer_client_info *client,
		       const struct run_spec *spec, const int *fds, const struct run_window *window,
		       const struct peer_run_hooks *hooks, cJSON **end, struct error *err)
{
	struct exam_service *s = state;
	struct facts *own = NULL;
	char key[CLIENT_KEY_CAP];
	int rc = 0;

	client_key(client, key);
	pthread_mutex_lock(&s->lock);
	struct kept *kept = borrow(s, key);
	pthread_mutex_unlock(&s->lock);
	if (!kept)
		rc = read_for(client, &own, err);
	if (rc) {
		close_all(fds, run_flows(spec));
		return rc;
	}
	rc = run_with(kept ? kept->facts : own, spec, fds, window, hooks, end, err);
	if (kept) {
		pthread_mutex_lock(&s->lock);
		kept->users--;
		pthread_mutex_unlock(&s->lock);
	}
	facts_free(own);
	return rc;
}

struct exam_service *exam_service_new(void)
{
	struct exam_service *s = calloc(1, sizeof(*s));

	if (s)
		pthread_mutex_init(&s->lock, NULL);
	return s;
}

void exam_service_free(struct exam_service *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < KEPT_FACTS; i++)
		facts_free(s->kept[i].facts);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct peer_service exam_service_callbacks(struct exam_service *s)
{
	return (struct peer_service){ .state = s, .facts = service_facts, .run = service_run };
}

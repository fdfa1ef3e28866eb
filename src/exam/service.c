/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/service.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/probe.h"
#include "src/core/clock.h"
#include "src/exam/conduct.h"
#include "src/exam/live.h"
#include "src/exam/one_ended.h"

/*
 * Facts that were handed to a client tell the sampler of its runs what to watch.
 * They are kept for as many clients as can be connected at a time; a client whose
 * entry is gone has its facts read again.
 */
#define KEPT_FACTS 32

#define CLIENT_KEY_CAP (INET6_ADDRSTRLEN + 8)	/* address/port */
struct kept { char client[CLIENT_KEY_CAP]; struct facts *facts; unsigned int users; uint64_t age; };

/* How soon the end of a run is noticed, where the client's side does not say. */
#define USUAL_HEED_MS 200
/* After a client's last byte went out it may take so long to arrive. */
#define QUIET_MS 50
/* Datagrams have no end to wait for, and their reader may be kept from its CPU. */
#define QUIET_DATAGRAMS_MS 100
#define SETTLE_MS 500

struct exam_service {
	void (*on_test)(void *state, const struct exam *exam);
	void *test_state;
	const struct exam_watcher *watcher;	/* NULL: none */
	pthread_mutex_t lock, report_lock;
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
	if (s->watcher)
		s->watcher->facts(s->watcher->state, client, o);
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

/* A run that is carried out for a client. */
struct serving {
	const struct exam_watcher *watcher;
	const struct peer_client_info *client;
	const struct peer_run_hooks *hooks;
	const struct run_spec *asked;	/* for; what is carried out may beat for the watcher */
};

/* Tells the client and the watcher; beat (taken over): one that has ended, or NULL. */
static bool tell(const struct serving *v, const struct end_live *live, struct beat *beat)
{
	cJSON *sample = live_to_json(live);
	bool asked = v->asked->report_ms;

	if (v->watcher)
		v->watcher->live(v->watcher->state, v->client, live, beat);
	if (beat && asked && sample && !json_put(sample, "beat", beat_to_json(beat))) {
		cJSON_Delete(sample);
		sample = NULL;
	}
	beat_free(beat);
	return sample ? v->hooks->progress(v->hooks->state, sample) : true;
}

static uint64_t bytes_of_flow(const void *end, size_t flow)
{
	return end_flow_bytes(end, flow);
}

static void tell_received(const struct end *end, const struct peer_run_hooks *hooks)
{
	const struct peer_received r = { end_received_bytes(end), bytes_of_flow, end };

	if (hooks->received)
		hooks->received(hooks->state, &r);
}

/*
 * A client that says when it has had enough says so after it has taken in all of ours, so our
 * having sent all does not end the run: its next byte would be read as an answer to us.  Waiting
 * for its word we send nothing: it may never come.
 */
static void await_client(struct end *end, const struct peer_run_hooks *hooks, unsigned int heed_ms)
{
	const struct timespec pause = { .tv_nsec = (long)heed_ms * 1000000L };

	if (hooks->ended)
		end_quiesce(end);
	while (hooks->ended && !hooks->ended(hooks->state) && !hooks->cancelled(hooks->state)) {
		tell_received(end, hooks);
		nanosleep(&pause, NULL);
	}
}

/*
 * Who sends datagrams faster than it may is not slowed down by our not taking them.  A second's
 * worth of bytes may come too early, as after a pause on the way.  From the first look on; *last_ns
 * is 0 before it.
 */
struct meter { uint64_t last_ns, last_bytes; double excess; };

static bool sends_too_much(struct end *end, const struct run_spec *s, struct meter *m)
{
	double allowed = (double)s->receive_bps / 8 * (double)s->streams;
	uint64_t bytes = end_received_bytes(end), now = monotonic_ns();

	if (m->last_ns)
		m->excess += (double)(bytes - m->last_bytes) -
			     allowed * (double)(now - m->last_ns) / 1e9;
	if (m->excess < 0)
		m->excess = 0;
	m->last_ns = now;
	m->last_bytes = bytes;
	return s->protocol == RUN_UDP && s->receive_bps && m->excess > allowed;
}

/*
 * Sends every live interval on; stops early when the client is gone.  0, or -EDQUOT: it sends more
 * than it may.
 */
static int watch(struct end *end, const struct serving *v)
{
	struct meter meter = { 0 };
	const struct peer_run_hooks *hooks = v->hooks;
	unsigned int heed_ms = hooks->heed_ms ? hooks->heed_ms : USUAL_HEED_MS;
	struct end_live live = { 0 };
	bool going = true;

	while (going && !(hooks->ended && hooks->ended(hooks->state))) {
		bool fresh = false;
		going = end_wait(end, heed_ms, &live, &fresh);
		bool ok = !hooks->cancelled(hooks->state);
		if (ok && sends_too_much(end, v->asked, &meter)) {
			end_cancel(end);
			return -EDQUOT;
		}
		if (ok)
			tell_received(end, hooks);
		if (ok && fresh)
			ok = tell(v, &live, end_take_beat(end));
		if (!ok) {
			end_cancel(end);
			return 0;
		}
	}
	await_client(end, hooks, heed_ms);
	/* The last beat ends with the run. */
	for (struct beat *b; v->asked->report_ms && (b = end_take_beat(end));)
		tell(v, &live, b);
	return 0;
}

/* What went over the flows, to the last byte, for a client that compares. */
static void tell_results(struct end *end, const struct run_spec *spec,
			 const struct peer_run_hooks *hooks)
{
	struct peer_results r = { 0 };

	end_quiesce(end);
	if (!hooks->cancelled(hooks->state))
		end_settle(end, spec->protocol == RUN_UDP ? QUIET_DATAGRAMS_MS : QUIET_MS,
			   SETTLE_MS);
	end_cancel(end);
	end_stop(end);
	if (!end_results(end, &r))
		hooks->results(hooks->state, &r);
	peer_results_free(&r);
}

static int run_with(const struct facts *facts, const struct serving *v, const int *fds,
		    const struct run_window *window, cJSON **out, struct error *err)
{
	struct run_spec beating = *v->asked;
	const struct run_spec *spec = &beating;
	struct end_config config = { .spec = spec, .role = run_server_role(spec), .fds = fds,
				     .window = *window, .facts = facts,
				     .pin_cpu = spec->server_cpu };
	struct end *end = NULL;
	struct run_end result = { 0 };
	struct arena *mem = arena_new(0);
	int rc;

	/* Of what was in flight when the warm-up ended only it knows when it has enough. */
	if (v->hooks->ended && beating.warmup_ms)
		beating.total_bytes = beating.total_blocks = 0;
	if (v->watcher && !beating.report_ms)
		beating.report_ms = v->watcher->report_ms;
	if (!mem) {
		close_all(fds, run_connections(spec));
		return error_set(err, ENOMEM, "out of memory for the run");
	}
	if (v->watcher)
		v->watcher->begins(v->watcher->state, v->client, v->asked);
	rc = end_start(&config, &end, err);
	if (rc)
		goto out;
	int judged = watch(end, v);
	if (!judged && v->hooks->results)
		tell_results(end, spec, v->hooks);
	rc = end_finish(end, mem, &result);
	if (!rc && judged) {
		counters_free(result.window);
		rc = error_set(err, -judged, "the client sends more than --max-rate allows");
		goto out;
	}
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
	if (!rc && v->watcher) {
		v->watcher->ended(v->watcher->state, v->client, v->asked, &result, mem);
		return 0;
	}
	counters_free(result.window);
out:
	arena_free(mem);
	if (v->watcher)
		v->watcher->ended(v->watcher->state, v->client, v->asked, NULL, NULL);
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
	if (!kept && hooks->without_facts) {
		own = facts_new(0);
		rc = own ? 0 : error_set(err, ENOMEM, "out of memory for the run");
	} else if (!kept) {
		rc = read_for(client, &own, err);
	}
	if (rc) {
		close_all(fds, run_connections(spec));
		return rc;
	}
	const struct serving v = { s->watcher, client, hooks, spec };
	rc = run_with(kept ? kept->facts : own, &v, fds, window, end, err);
	if (kept) {
		pthread_mutex_lock(&s->lock);
		kept->users--;
		pthread_mutex_unlock(&s->lock);
	}
	facts_free(own);
	return rc;
}

/* The facts that were kept for this client, now the caller's; NULL: none, or in use. */
static struct facts *take_facts(struct exam_service *s, const struct peer_client_info *client)
{
	struct facts *f = NULL;
	char key[CLIENT_KEY_CAP];

	client_key(client, key);
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < KEPT_FACTS && !f; i++) {
		struct kept *k = &s->kept[i];
		if (!k->facts || k->users || strcmp(k->client, key))
			continue;
		f = k->facts;
		memset(k, 0, sizeof(*k));
	}
	pthread_mutex_unlock(&s->lock);
	return f;
}

/* A report that cannot be made costs the client nothing: its test is over. */
static void service_tested(void *state, const struct peer_client_info *client,
			   const struct run_spec *spec, const cJSON *end,
			   const struct peer_results *theirs)
{
	struct exam_service *s = state;
	struct exam *e = NULL;

	if (s->watcher)
		s->watcher->told(s->watcher->state, client, theirs);
	if (!s->on_test)
		return;
	struct facts *local = take_facts(s, client);
	if (!local && read_for(client, &local, NULL))
		return;
	if (one_ended_exam(local, client, spec, end, theirs, &e, NULL))
		return;
	pthread_mutex_lock(&s->report_lock);
	s->on_test(s->test_state, e);
	pthread_mutex_unlock(&s->report_lock);
	exam_free(e);
}

static void service_gone(void *state, const struct peer_client_info *client)
{
	const struct exam_service *s = state;

	s->watcher->gone(s->watcher->state, client);
}

void exam_service_watch(struct exam_service *s, const struct exam_watcher *w)
{
	s->watcher = w;
}

void exam_service_on_test(struct exam_service *s,
			  void (*on_test)(void *state, const struct exam *exam), void *state)
{
	s->on_test = on_test;
	s->test_state = state;
}

struct exam_service *exam_service_new(void)
{
	struct exam_service *s = calloc(1, sizeof(*s));

	if (s) {
		pthread_mutex_init(&s->lock, NULL);
		pthread_mutex_init(&s->report_lock, NULL);
	}
	return s;
}

void exam_service_free(struct exam_service *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < KEPT_FACTS; i++)
		facts_free(s->kept[i].facts);
	pthread_mutex_destroy(&s->report_lock);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct peer_service exam_service_callbacks(struct exam_service *s)
{
	return (struct peer_service){ .state = s, .facts = service_facts, .run = service_run,
				      .tested = s->on_test || s->watcher ? service_tested : NULL,
				      .gone = s->watcher ? service_gone : NULL };
}

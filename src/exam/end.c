/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/end.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/probe.h"
#include "src/exam/flow_summary.h"
#include "src/exam/interval.h"
#include "src/exam/one_ended.h"

/* sysfs walks (PCIe link state, clock frequencies) once in this many intervals. */
#define SLOW_EVERY 5

/*
 * Where data had last been moving.  When the other end vanishes, seconds may pass before
 * anybody notices; they are no part of what was measured.
 */
struct standstill { struct counters *last; struct flow_folder *flows; size_t nintervals; };

struct end {
	struct run_spec spec;
	struct run_window window;
	const struct facts *facts;
	uint64_t egress_ifindex;
	struct source *source;
	struct load *load;
	pthread_t thread;
	bool thread_started;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* on CLOCK_MONOTONIC */
	/* under lock: */
	struct end_live live;
	uint64_t live_serial, live_seen;
	bool done, cancel;
	/* the sampler's own until it is joined: */
	struct arena *mem;		/* intervals */
	struct end_interval *intervals;
	size_t nintervals;
	struct counters *first, *last, *peaks;
	struct counters *final;		/* flows only, when traffic had stopped; NULL: no memory */
	uint64_t begun_ns, final_ns;
	struct flow_folder *flows;
	struct standstill standstill;	/* .last NULL: data moves */
	uint64_t bytes;			/* at the last sample */
	size_t broken;
	int broken_errno, failure;
	bool cut;			/* by more than end_cancel() */
};

static bool cancelled(struct end *e)
{
	pthread_mutex_lock(&e->lock);
	bool c = e->cancel;
	pthread_mutex_unlock(&e->lock);
	return c;
}

/* Sleeps until `at` or until cancelled; true when the time was reached. */
static bool sleep_until(struct end *e, uint64_t at)
{
	struct timespec ts = { (time_t)(at / 1000000000ULL), (long)(at % 1000000000ULL) };
	bool reached = false;

	pthread_mutex_lock(&e->lock);
	while (!e->cancel && !reached)
		reached = pthread_cond_timedwait(&e->changed, &e->lock, &ts) == ETIMEDOUT;
	bool c = e->cancel;
	pthread_mutex_unlock(&e->lock);
	return !c;
}

static int take_sample(struct end *e, enum counter_rate rate, struct counters **out)
{
	struct counters *c = counters_new(0);
	if (!c)
		return -ENOMEM;
	int rc = probes_sample(e->source, e->facts, rate, c);
	if (!rc)
		rc = load_sample(e->load, c);
	if (rc) {
		counters_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

static void publish(struct end *e, const struct end_interval *iv)
{
	struct end_live live;

	interval_live(iv, &live);
	pthread_mutex_lock(&e->lock);
	e->live = live;
	e->live_serial++;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

/* One step of the series: from the previous sample to a new one. */
static int step(struct end *e, const struct counters *prev, const struct counters *now)
{
	struct counters *d = counters_difference(prev, now);
	if (!d)
		return -ENOMEM;
	struct end_interval warmup = { 0 }, *iv = &warmup;
	bool counted = e->first != NULL;
	int rc = 0;

	if (counted) {
		void *rows = e->intervals;
		iv = arena_append_row(e->mem, &rows, &e->nintervals, sizeof(*iv));
		e->intervals = rows;
		if (!iv) {
			rc = -ENOMEM;
			goto out;
		}
	}
	struct nd_u64 then = prev->clock.monotonic_ns;
	double start = then.k == ND_KNOWN
		? ((double)then.v - (double)e->window.from_ns) / 1e9 : 0;
	rc = interval_fill(d, start, e->egress_ifindex, counted ? e->mem : d->mem, iv);
	if (!rc)
		publish(e, iv);
out:
	counters_free(d);
	return rc;
}

static int keep_peaks(struct end *e, const struct counters *c)
{
	if (!e->peaks && !(e->peaks = counters_new(0)))
		return -ENOMEM;
	return record_keep_max(&counters_schema, e->peaks, c, e->peaks->mem);
}

/* Between sample prev and the next one, which is not added yet: has data moved? */
static int note_progress(struct end *e, struct counters *prev)
{
	struct standstill *s = &e->standstill;
	uint64_t before = e->bytes;

	e->bytes = load_bytes(e->load);
	e->broken = load_broken_flows(e->load, &e->broken_errno);
	if (!e->first)
		return 0;
	if (e->bytes != before && !e->broken) {
		if (s->last != e->first && s->last != prev)
			counters_free(s->last);
		flow_folder_free(s->flows);
		*s = (struct standstill){ NULL, NULL, 0 };
		return 0;
	}
	if (s->last)
		return 0;
	*s = (struct standstill){ prev, flow_folder_copy(e->flows), e->nintervals };
	return s->flows ? 0 : -ENOMEM;
}

/* Samples at every boundary from `at` until `until`, keeping only the newest sample. */
static int sample_phase(struct end *e, uint64_t until, struct counters **prev)
{
	unsigned int n = 0;
	uint64_t at = source_monotonic_ns(e->source);

	for (;;) {
		at += END_INTERVAL_NS;
		uint64_t now = source_monotonic_ns(e->source);
		if (at < now)
			at = now;	/* late (a stolen CPU): do not chase lost intervals */
		if (at + END_INTERVAL_NS / 2 > until)
			at = until;
		if (!sleep_until(e, at) && !e->first)
			return 0;
		bool slow = ++n % SLOW_EVERY == 0;
		struct counters *c = NULL;
		int rc = take_sample(e, slow ? COUNTER_EVERY_SECOND : COUNTER_EVERY_SAMPLE, &c);
		if (rc)
			return rc;
		rc = note_progress(e, *prev);
		if (!rc)
			rc = step(e, *prev, c);
		if (!rc && slow)
			rc = keep_peaks(e, c);
		if (!rc && e->first)
			rc = flow_folder_add(e->flows, c);
		if (*prev != e->first && *prev != e->standstill.last)
			counters_free(*prev);
		*prev = c;
		if (rc || at >= until || cancelled(e) || e->broken)
			return rc;
	}
}

/*
 * Driver statistics may take milliseconds (mlx5, ice ask the firmware), so they
 * are read at the window's two ends only, where the delay is the same and falls
 * out of the difference.
 */
static int sample_window(struct end *e)
{
	struct counters *prev = NULL, *slow = NULL;
	int rc = take_sample(e, COUNTER_EVERY_SAMPLE, &prev);

	if (!rc)
		rc = sample_phase(e, e->window.from_ns, &prev);
	if (rc || cancelled(e) || e->broken)
		goto out;
	rc = take_sample(e, COUNTER_AT_ENDS, &slow);
	if (rc)
		goto out;
	counters_free(prev);
	prev = e->first = slow;
	slow = NULL;
	e->bytes = load_bytes(e->load);
	rc = flow_folder_add(e->flows, e->first);
	if (!rc)
		rc = keep_peaks(e, e->first);
	if (!rc)
		rc = sample_phase(e, e->window.to_ns, &prev);
	if (rc)
		goto out;
	/* Once its time was up the other end may close: we are late (a stolen CPU), it is not. */
	bool late = source_monotonic_ns(e->source) > e->window.stop_ns;
	if (late)
		e->broken = 0;
	e->cut = late || e->broken;
	rc = take_sample(e, COUNTER_AT_ENDS, &e->last);
	if (!rc)
		rc = keep_peaks(e, e->last);
out:
	if (prev != e->first && prev != e->standstill.last)
		counters_free(prev);
	return rc;
}

static void *sampler(void *arg)
{
	struct end *e = arg;
	int rc = sample_window(e);

	/* Both ends go on for a moment: the other's window, by another clock, may end later. */
	if (!e->broken)
		sleep_until(e, e->window.stop_ns);
	pthread_mutex_lock(&e->lock);
	e->failure = rc;
	e->done = true;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

static void end_free(struct end *e)
{
	if (!e)
		return;
	load_stop(e->load);
	source_close(e->source);
	if (e->standstill.last != e->first)
		counters_free(e->standstill.last);
	flow_folder_free(e->standstill.flows);
	counters_free(e->first);
	counters_free(e->last);
	counters_free(e->peaks);
	counters_free(e->final);
	flow_folder_free(e->flows);
	arena_free(e->mem);
	pthread_cond_destroy(&e->changed);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void init_lock(struct end *e)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->changed, &attr);
	pthread_condattr_destroy(&attr);
}

int end_start(const struct end_config *config, struct end **out, struct error *err)
{
	struct end *e = calloc(1, sizeof(*e));
	struct load *l = NULL;
	const struct load_config load = {
		.spec = config->spec, .role = config->role,
		.fds = config->fds, .n = run_flows(config->spec)
	};
	int rc = load_create(&load, &l, err);

	if (rc) {
		for (size_t i = 0; i < run_flows(config->spec); i++)
			close(config->fds[i]);
		free(e);
		return rc;
	}
	if (!e) {
		load_stop(l);
		return error_set(err, ENOMEM, "out of memory for the traffic run");
	}
	e->load = l;
	e->spec = *config->spec;
	e->window = config->window;
	e->facts = config->facts;
	const struct link_facts *egress = facts_egress(e->facts);
	e->egress_ifindex = egress ? egress->ifindex.v : 0;
	init_lock(e);
	rc = source_open_live(&e->source);
	e->mem = arena_new(0);
	e->flows = flow_folder_new();
	if (rc || !e->mem || !e->flows) {
		rc = error_set(err, rc ? -rc : ENOMEM, "cannot set up sampling: %s",
			       strerror(rc ? -rc : ENOMEM));
		goto fail;
	}
	e->begun_ns = source_monotonic_ns(e->source);
	rc = load_start(e->load, err);
	if (rc)
		goto fail;
	rc = -pthread_create(&e->thread, NULL, sampler, e);
	if (rc) {
		error_set(err, -rc, "cannot start the sampling thread: %s", strerror(-rc));
		goto fail;
	}
	e->thread_started = true;
	*out = e;
	return 0;
fail:
	end_free(e);
	return rc;
}

bool end_wait(struct end *e, unsigned int timeout_ms, struct end_live *live, bool *fresh)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += timeout_ms / 1000;
	ts.tv_nsec += (long)(timeout_ms % 1000) * 1000000L;
	if (ts.tv_nsec >= 1000000000L) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&e->lock);
	while (!e->done && e->live_serial == e->live_seen)
		if (pthread_cond_timedwait(&e->changed, &e->lock, &ts) == ETIMEDOUT)
			break;
	*fresh = e->live_serial != e->live_seen;
	if (*fresh)
		*live = e->live;
	e->live_seen = e->live_serial;
	bool done = e->done;
	pthread_mutex_unlock(&e->lock);
	return !done;
}

void end_cancel(struct end *e)
{
	pthread_mutex_lock(&e->lock);
	e->cancel = true;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

/* Lets the window end where data last moved, if it did not move until the end. */
static void cut_at_standstill(struct end *e)
{
	struct standstill *s = &e->standstill;

	if (!s->last)
		return;
	counters_free(e->last);
	e->last = s->last != e->first ? s->last : NULL;
	flow_folder_free(e->flows);
	e->flows = s->flows;
	e->nintervals = s->nintervals;
	*s = (struct standstill){ NULL, NULL, 0 };
}

/* NULL: no memory. */
static const char *problem(const struct end *e, struct arena *mem)
{
	if (e->failure)
		return arena_printf(mem, "sampling failed: %s", strerror(-e->failure));
	if (e->broken)
		return arena_printf(mem, "%zu of %zu connections ended early: %s", e->broken,
				    run_flows(&e->spec),
				    e->broken_errno == EPIPE ? "closed by the other end"
							     : strerror(e->broken_errno));
	return e->first ? "it was cut short before data moved in its measured window"
			: "it ended before its measured window";
}

static int fill_result(struct end *e, struct arena *mem, struct run_end *out)
{
	out->present = e->last != NULL;
	out->broken_flows = nd_u64(e->broken);
	if (!e->last || e->broken) {
		const char *text = problem(e, mem);

		if (!text)
			return -ENOMEM;
		out->problem = nd_str(text);
	}
	if (!e->last)
		return 0;
	return interval_window(e->first, e->last, e->peaks, e->flows, e->intervals, e->nintervals,
			       mem, out);
}

void end_stop(struct end *e)
{
	if (e->thread_started)
		pthread_join(e->thread, NULL);
	e->thread_started = false;
	/* The first that was lost ended the run; by now the others are, too. */
	if (e->load && e->broken)
		e->broken = load_broken_flows(e->load, &e->broken_errno);
	if (e->load) {
		load_halt(e->load);
		e->final_ns = source_monotonic_ns(e->source);
		e->final = counters_new(0);
		if (e->final && load_sample(e->load, e->final)) {
			counters_free(e->final);
			e->final = NULL;
		}
	}
	load_stop(e->load);
	e->load = NULL;
}

void end_quiesce(struct end *e)
{
	load_quiesce(e->load);
}

void end_drain(struct end *e, unsigned int timeout_ms)
{
	static const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t until = source_monotonic_ns(e->source) + timeout_ms * UINT64_C(1000000);

	while (load_open_receivers(e->load) && source_monotonic_ns(e->source) < until)
		nanosleep(&pause, NULL);
}

void end_settle(struct end *e, unsigned int quiet_ms, unsigned int timeout_ms)
{
	static const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t quiet_ns = quiet_ms * UINT64_C(1000000), bytes = load_bytes(e->load);
	uint64_t now = source_monotonic_ns(e->source), last = now;
	uint64_t until = now + timeout_ms * UINT64_C(1000000);

	while (load_open_receivers(e->load) && now < until && now - last < quiet_ns) {
		uint64_t before = bytes;

		nanosleep(&pause, NULL);
		now = source_monotonic_ns(e->source);
		bytes = load_bytes(e->load);
		if (bytes != before)
			last = now;
	}
}

int end_results(const struct end *e, struct peer_results *out)
{
	/* Without a warm-up everything counts, what came before our first sample too. */
	bool all = !e->spec.warmup_ms || !e->first;
	uint64_t from = all ? e->begun_ns : e->window.from_ns;
	struct one_ended_samples s = {
		.first = e->first, .last = e->last, .final = e->final,
		.counted_from = all ? NULL : e->first,
		.seconds = e->final_ns > from ? (double)(e->final_ns - from) / 1e9 : 0
	};

	return one_ended_results(&s, run_flows(&e->spec), out);
}

int end_finish(struct end *e, struct arena *mem, struct run_end *out)
{
	end_stop(e);
	memset(out, 0, sizeof(*out));
	if (e->cut || e->cancel)
		cut_at_standstill(e);
	int rc = fill_result(e, mem, out);
	end_free(e);
	return rc;
}

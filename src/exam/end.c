/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/end.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/exam/end_state.h"
#include "src/exam/interval.h"
#include "src/exam/latency.h"
#include "src/exam/one_ended.h"

static void end_free(struct end *e)
{
	if (!e)
		return;
	ping_stop(e->ping, NULL);
	load_stop(e->load);
	source_close(e->source);
	if (e->standstill.last != e->first && e->standstill.last != e->last)
		counters_free(e->standstill.last);
	flow_folder_free(e->standstill.flows);
	counters_free(e->first);
	counters_free(e->last);
	counters_free(e->peaks);
	counters_free(e->final);
	free(e->marks);
	flow_folder_free(e->flows);
	series_free(e->series);
	beat_maker_free(e->beat);
	live_queues_free(&e->queues);
	for (size_t i = 0; i < e->nbeats; i++)
		beat_free(e->beats[i]);
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

/* The window begins now, and is as long as it was to be. */
static void shift_window(struct end *e, uint64_t begin_ns)
{
	uint64_t length = e->window.to_ns - e->window.from_ns;
	uint64_t tail = e->window.stop_ns - e->window.to_ns;

	e->window.from_ns = begin_ns;
	/* That of a run by bytes is a bound: nobody misses the moment. */
	if (e->amount_bytes)
		return;
	e->window.to_ns = begin_ns + length;
	e->window.stop_ns = e->window.to_ns + tail;
}

/*
 * Where the window has no lead, what moves before the first sample would be missing in the end.
 * Threads that were not born yet have used no CPU.
 */
static int begin_at_once(struct end *e, struct error *err)
{
	struct counters *first = NULL;

	if (e->spec.warmup_ms || (!e->amount_bytes && !e->whole && !end_counts_all(&e->spec)))
		return 0;
	int rc = end_take_sample(e, COUNTER_AT_ENDS, &first);
	if (!rc) {
		for (size_t i = 0; i < first->nworkers; i++) {
			struct worker_sample *w = &first->workers[i];
			w->user_us = w->system_us = w->cpu_us = w->run_delay_us =
				w->voluntary_switches = w->involuntary_switches = nd_u64(0);
		}
		rc = end_begin_window(e, first);
	}
	if (rc)
		return error_set(err, -rc, "cannot sample this host: %s", strerror(-rc));
	/* Else both ends' windows end at the same moment, even if one began later. */
	if ((e->amount_bytes || e->whole) && first->clock.monotonic_ns.k == ND_KNOWN)
		shift_window(e, first->clock.monotonic_ns.v);
	return 0;
}

static void close_all(const struct end_config *config)
{
	for (size_t i = 0; i < run_connections(config->spec); i++)
		close(config->fds[i]);
}

static int set_up(struct end *e, const struct end_config *config, struct error *err)
{
	const struct link_facts *egress = facts_egress(config->facts);

	e->spec = *config->spec;
	e->window = config->window;
	e->facts = config->facts;
	e->whole = config->whole;
	e->sends = e->spec.bidirectional || config->role == LOAD_SEND;
	e->receives = e->spec.bidirectional || config->role == LOAD_RECEIVE;
	e->amount_bytes = e->spec.total_bytes ? e->spec.total_bytes
					      : e->spec.total_blocks * e->spec.block_bytes;
	e->egress_ifindex = egress ? egress->ifindex.v : 0;
	int rc = source_open_live(&e->source);
	e->series = series_new(SERIES_MAX_INTERVALS);
	e->flows = flow_folder_new();
	e->beat = e->spec.report_ms ? beat_maker_new() : NULL;
	if (rc || !e->series || !e->flows || (e->spec.report_ms && !e->beat))
		return error_set(err, rc ? -rc : ENOMEM, "cannot set up sampling: %s",
				 strerror(rc ? -rc : ENOMEM));
	return 0;
}

int end_begin_traffic(struct end *e, struct error *err)
{
	int rc = begin_at_once(e, err);

	e->begun_ns = source_monotonic_ns(e->source);
	e->asleep_ns = end_time_asleep_ns();
	return rc ? rc : load_start(e->load, err);
}

/* Round trips of the idle path first, then of the window. */
static int set_up_ping(struct end *e, const struct end_config *config, struct error *err)
{
	struct ping_config c = { .fd = config->fds[run_flows(config->spec)],
				 .tos = config->spec->tos, .echo = !config->asks };
	uint64_t before = e->spec.warmup_ms * 1000000ULL + end_lead_ns(&e->spec);

	e->asks = config->asks;
	e->traffic_ns = e->window.from_ns > before ? e->window.from_ns - before : 0;
	c.idle_until_ns = e->traffic_ns;
	c.send[PING_IDLE].to_ns =
		e->traffic_ns > END_IDLE_QUIET_NS ? e->traffic_ns - END_IDLE_QUIET_NS : 0;
	/* The window of a run by bytes begins with its first. */
	c.send[PING_LOADED].from_ns = e->spec.warmup_ms ? e->window.from_ns : e->traffic_ns;
	c.send[PING_LOADED].to_ns = e->window.to_ns;
	return ping_start(&c, &e->ping, err);
}

/* Takes over config->fds. */
static int set_up_load(struct end *e, const struct end_config *config, struct error *err)
{
	const struct placement_wishes wishes = { .workers = run_flows(config->spec),
						 .cpu = config->pin_cpu,
						 .same_machine = config->same_machine };
	struct load_config load = { .spec = config->spec, .role = config->role,
				    .fds = config->fds, .n = run_flows(config->spec) };

	placement_choose(config->facts, &wishes, &e->placement);
	load.cpus = e->placement.cpus;
	load.ncpus = e->placement.n;
	load.end_closes = end_is_told_by_close(e);
	int rc = load_create(&load, &e->load, err);
	if (rc) {
		close_all(config);
		return rc;
	}
	if (e->spec.latency)
		rc = set_up_ping(e, config, err);
	return rc || e->traffic_ns ? rc : end_begin_traffic(e, err);
}

int end_start(const struct end_config *config, struct end **out, struct error *err)
{
	struct end *e = calloc(1, sizeof(*e));

	if (!e) {
		close_all(config);
		return error_set(err, ENOMEM, "out of memory for the traffic run");
	}
	init_lock(e);
	int rc = set_up(e, config, err);
	if (rc)
		close_all(config);
	else
		rc = set_up_load(e, config, err);
	if (rc)
		goto fail;
	rc = -pthread_create(&e->thread, NULL, end_sampler, e);
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

struct beat *end_take_beat(struct end *e)
{
	struct beat *b = NULL;

	pthread_mutex_lock(&e->lock);
	if (e->nbeats) {
		b = e->beats[0];
		memmove(&e->beats[0], &e->beats[1], --e->nbeats * sizeof(e->beats[0]));
	}
	pthread_mutex_unlock(&e->lock);
	return b;
}

void end_cancel(struct end *e)
{
	pthread_mutex_lock(&e->lock);
	e->cancel = true;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

/*
 * What not every sample reads, from the one after.  These only count what traffic does, and
 * there was none in between.
 */
static void add_protocol_counters(struct counters *to, const struct counters *from)
{
	struct mib_sample *mibs = arena_alloc_array(to->mem, from->nmibs, sizeof(*mibs));
	struct softirq_sample *softirqs = arena_alloc_array(to->mem, from->nsoftirqs,
							    sizeof(*softirqs));

	if (mibs && from->nmibs && !to->nmibs) {
		/* Their names are the probe's own, not the arena's. */
		memcpy(mibs, from->mibs, from->nmibs * sizeof(*mibs));
		to->mibs = mibs;
		to->nmibs = from->nmibs;
	}
	if (softirqs && from->nsoftirqs && !to->nsoftirqs) {
		memcpy(softirqs, from->softirqs, from->nsoftirqs * sizeof(*softirqs));
		to->softirqs = softirqs;
		to->nsoftirqs = from->nsoftirqs;
	}
}

/* Lets the window end where data last moved, if it did not move until the end. */
static void cut_at_standstill(struct end *e)
{
	struct standstill *s = &e->standstill;

	if (!s->last)
		return;
	if (e->last && s->last != e->first && e->last != s->last)
		add_protocol_counters(s->last, e->last);
	if (e->last != s->last && e->last != e->first)
		counters_free(e->last);
	e->last = s->last != e->first ? s->last : NULL;
	flow_folder_free(e->flows);
	e->flows = s->flows;
	series_cut(e->series, s->since_s);
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

/*
 * What both ends counted by the marks of datagrams says more than our clock's window.  They are
 * the sender's window alone: none of it is missing here if ours began late, and nothing that
 * had queued up before is in it.
 */
static void use_marks(const struct end *e, struct run_end *out)
{
	size_t n = run_flows(&e->spec), any = 0;
	uint64_t sum = 0;

	for (size_t i = 0; e->marks && i < n; i++)
		any += e->marks[i].any;
	if (!any || e->cut || e->cancel || out->window_ns.k != ND_KNOWN ||
	    !e->marked_from_ns || e->marked_to_ns <= e->marked_from_ns)
		return;
	for (size_t i = 0; i < out->nflows && i < n; i++) {
		/* One without any had its turn before the window alone: 0. */
		flow_summary_mark(&e->marks[i].counts, out->window_ns.v / 1000, &out->flows[i]);
		sum += out->flows[i].bytes.v;
	}
	out->bytes = nd_u64(sum);
	out->marked_ns = nd_u64(e->marked_to_ns - e->marked_from_ns);
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
	int64_t asleep_ns = end_time_asleep_ns() - e->asleep_ns;
	out->held_up_us = nd_u64(e->held_up_ns / 1000);
	/* Two clocks are read one after the other. */
	out->suspended_us = nd_u64(asleep_ns > 10000000 ? (uint64_t)asleep_ns / 1000 : 0);
	if (!e->last)
		return 0;
	if (placement_tell(&e->placement, run_flows(&e->spec), mem, out))
		return -ENOMEM;
	int rc = interval_window(e->first, e->last, e->peaks, e->flows, e->series, mem, out);
	if (!rc)
		use_marks(e, out);
	for (size_t i = 0; !rc && i < out->nflows; i++)
		flow_find_path(e->facts, &out->flows[i]);
	return rc;
}

/* Without memory for them the window by our clock will do. */
static void keep_marks(struct end *e)
{
	size_t n = run_flows(&e->spec);

	e->marks = e->spec.udp_marks ? calloc(n, sizeof(*e->marks)) : NULL;
	for (size_t i = 0; e->marks && i < n; i++)
		e->marks[i].any = load_marked(e->load, i, &e->marks[i].counts);
}

void end_stop(struct end *e)
{
	if (e->thread_started)
		pthread_join(e->thread, NULL);
	e->thread_started = false;
	if (e->ping)
		ping_stop(e->ping, &e->round_trips);
	e->ping = NULL;
	/* The first that was lost ended the run; by now the others are, too. */
	if (e->load && e->broken)
		e->broken = load_broken_flows(e->load, &e->broken_errno);
	if (e->load) {
		load_halt(e->load);
		keep_marks(e);
		e->final_ns = e->settled_ns ? e->settled_ns : source_monotonic_ns(e->source);
		e->final = counters_new(0);
		if (e->final && load_sample(e->load, e->final)) {
			counters_free(e->final);
			e->final = NULL;
		}
	}
	load_stop(e->load);
	e->load = NULL;
}

uint64_t end_received_bytes(const struct end *e)
{
	return load_bytes_of(e->load, LOAD_RECEIVE);
}

uint64_t end_flow_bytes(const struct end *e, size_t flow)
{
	return load_flow_bytes(e->load, flow);
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
		/* Its reader may be kept from its CPU. */
		if (bytes != before || load_unread(e->load))
			last = now;
	}
	/* Waiting for more was no part of the traffic. */
	e->settled_ns = last;
}

void end_latency(const struct end *e, struct latency *idle, struct latency *loaded)
{
	const struct ping_result *r = &e->round_trips;

	if (!e->spec.latency || !e->asks)
		return;
	latency_of(&r->times[PING_IDLE], r->unanswered[PING_IDLE], idle);
	latency_of(&r->times[PING_LOADED], r->unanswered[PING_LOADED], loaded);
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

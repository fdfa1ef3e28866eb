/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the sampling thread of an end does: from sample to sample through warm-up and window. */
#include "src/exam/end_state.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "src/core/background.h"
#include "src/exam/interval.h"

/* What takes longer (sysfs walks, protocol counters) once in this many intervals. */
#define SLOW_EVERY 5
/* For 50 ms at most: a worker whose CPU is stolen. */
#define HUSH_TURNS 250
/* How far from the true end of a run by bytes its window may end. */
#define TOTAL_POLL_NS 1000000ULL
/* Longer than what was sent is under way. */
#define STILL_NS 500000000ULL

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

int end_take_sample(struct end *e, enum counter_rate rate, struct counters **out)
{
	struct counters *c = counters_new(0);
	if (!c)
		return -ENOMEM;
	int rc = probes_sample(e->source, e->facts, rate, c);
	if (!rc)
		rc = rate == COUNTER_AT_ENDS ? load_sample(e->load, c)
					     : load_sample_in_turn(e->load, c);
	if (rc) {
		counters_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

static void show_workers(const struct counters *step, struct end_live *live)
{
	for (size_t i = 0; i < step->nworkers && live->nworkers < LIVE_MAX_WORKERS; i++) {
		struct nd_u64 cpu = step->workers[i].cpu;
		bool known = cpu.k == ND_KNOWN && cpu.v < ND_MAX_CPUS;
		live->workers[live->nworkers++] = known ? (uint16_t)cpu.v : (uint16_t)LIVE_NO_CPU;
	}
}

static void publish(struct end *e, const struct end_interval *iv, const struct counters *step)
{
	struct end_live live;

	interval_live(iv, &live);
	live_link_show(step, e->egress_ifindex, &live);
	live_queues_show(&e->queues, &live);
	show_workers(step, &live);
	pthread_mutex_lock(&e->lock);
	e->live = live;
	e->live_serial++;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

/* When it was taken, from the begin of the window. */
static double sampled_at(const struct end *e, const struct counters *c)
{
	struct nd_u64 at = c->clock.monotonic_ns;

	return at.k == ND_KNOWN ? ((double)at.v - (double)e->window.from_ns) / 1e9 : 0;
}

/* One step of the series: from the previous sample to a new one. */
static int step(struct end *e, const struct counters *prev, const struct counters *now)
{
	struct counters *d = counters_difference(prev, now);
	struct end_interval iv = { 0 };

	if (!d)
		return -ENOMEM;
	int rc = interval_fill(d, sampled_at(e, prev), e->egress_ifindex, d->mem, &iv);
	if (!rc && e->first)
		rc = series_add(e->series, &iv);
	if (!rc && e->beat)
		rc = beat_maker_add(e->beat, d);
	if (!rc)
		rc = live_queues_add(&e->queues, now, d);
	if (!rc)
		publish(e, &iv, d);
	counters_free(d);
	return rc;
}

static void begin_beats(struct end *e, uint64_t base_ns, const struct counters *first)
{
	struct nd_u64 at = first->clock.monotonic_ns;
	struct beat *before = NULL;

	/* What of the warm-up ended in no beat is of none in the window. */
	if (e->beat && !beat_maker_take(e->beat, &before))
		beat_free(before);
	e->base_ns = base_ns;
	e->first_ns = e->beat_from_ns = at.k == ND_KNOWN ? at.v : base_ns;
	e->beat_upto_ns = base_ns;
}

/* Ends the beat if its boundary was reached, or the run goes no further. */
static int end_beat(struct end *e, const struct counters *now, bool over)
{
	struct nd_u64 at = now->clock.monotonic_ns;
	uint64_t length = e->spec.report_ms * 1000000ULL, upto = at.v;
	struct beat *b = NULL;

	if (!e->beat || at.k != ND_KNOWN || at.v <= e->base_ns)
		return 0;
	if (!over)
		upto = e->base_ns + (at.v - e->base_ns) / length * length;
	else if (e->first && e->window.to_ns < upto)
		upto = e->window.to_ns;
	else if (!e->first && e->window.from_ns < upto)
		upto = e->window.from_ns;
	if (upto <= e->beat_upto_ns)
		return 0;
	int rc = beat_maker_take(e->beat, &b);
	if (rc || !b)
		return rc;
	b->number = (upto - e->base_ns - 1) / length;
	b->omitted = !e->first;
	b->start_s = (double)(e->beat_from_ns - e->first_ns) / 1e9;
	e->beat_from_ns = at.v;
	e->beat_upto_ns = upto;
	pthread_mutex_lock(&e->lock);
	if (e->nbeats == BEAT_QUEUE) {
		beat_free(e->beats[0]);
		memmove(&e->beats[0], &e->beats[1], --e->nbeats * sizeof(e->beats[0]));
	}
	e->beats[e->nbeats++] = b;
	pthread_mutex_unlock(&e->lock);
	return 0;
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
	*s = (struct standstill){ prev, flow_folder_copy(e->flows), sampled_at(e, prev) };
	return s->flows ? 0 : -ENOMEM;
}

static uint64_t next_on_grid(uint64_t base, uint64_t step, uint64_t after)
{
	return after <= base ? base : base + (after - base + step - 1) / step * step;
}

/*
 * Samples stand on a grid, the same on both ends, and where a beat ends.  One that is late (a
 * stolen CPU) leaves out those it has missed.
 */
static uint64_t next_sample_at(const struct end *e, uint64_t now, uint64_t until)
{
	uint64_t half = END_INTERVAL_NS / 2;
	uint64_t at = next_on_grid(e->base_ns, END_INTERVAL_NS, now + half);

	if (e->beat) {
		uint64_t beat = next_on_grid(e->base_ns, e->spec.report_ms * 1000000ULL, now + 1);
		if (beat < at + half)
			at = beat;
	}
	return at + half > until ? until : at;
}

/* Nothing has moved for long. */
static bool is_still(struct end *e)
{
	uint64_t bytes = load_bytes(e->load), now = source_monotonic_ns(e->source);

	if (bytes != e->grown_bytes || !e->grown_ns) {
		e->grown_bytes = bytes;
		e->grown_ns = now;
	}
	e->still = now - e->grown_ns > STILL_NS;
	return e->still;
}

/*
 * Of datagrams some never come.  Who only receives is told when there are no more; of two ends that
 * both send and receive each would wait for the other.  An iperf3 that counts its amount from
 * earlier than we do stops before we have it all.
 */
static bool received_all(struct end *e)
{
	if (end_is_told_by_close(e))
		return !load_open_receivers(e->load);
	/* From the begin of the warm-up on it would be less than was asked for. */
	if ((!e->spec.warmup_ms || e->whole) &&
	    load_bytes_of(e->load, LOAD_RECEIVE) - e->received_before >= e->amount_bytes)
		return true;
	return (e->whole ? e->spec.warmup_ms != 0 : e->sends && e->spec.protocol == RUN_UDP) &&
	       is_still(e);
}

/* A run by bytes is over at this end when its flows have moved them all. */
static bool moved_all(struct end *e)
{
	return e->first && e->amount_bytes && (!e->sends || load_done(e->load)) &&
	       (!e->receives || received_all(e));
}

/* sleep_until(), or until a run by bytes is over. */
static bool sleep_towards(struct end *e, uint64_t at)
{
	if (!e->first || !e->amount_bytes)
		return sleep_until(e, at);
	for (uint64_t now; (now = source_monotonic_ns(e->source)) < at && !moved_all(e);)
		if (!sleep_until(e, now + TOTAL_POLL_NS < at ? now + TOTAL_POLL_NS : at))
			return false;
	return true;
}

/*
 * Driver statistics may take milliseconds (mlx5, ice ask the firmware), so they are read at the
 * window's two ends only, where the delay is the same and falls out of the difference.
 */
static enum counter_rate rate_of_sample(const struct end *e, unsigned int n, bool last)
{
	if (e->first && last)
		return COUNTER_AT_ENDS;
	return n % SLOW_EVERY == 0 ? COUNTER_EVERY_SECOND : COUNTER_EVERY_SAMPLE;
}

/* Adds a new sample to all that is kept, and lets go of the previous one. */
static int take_in(struct end *e, struct counters **prev, struct counters *c, bool slow, bool last)
{
	int rc = note_progress(e, *prev);

	if (!rc)
		rc = step(e, *prev, c);
	if (!rc)
		rc = end_beat(e, c, last || e->broken);
	if (!rc && slow)
		rc = keep_peaks(e, c);
	if (!rc && e->first)
		rc = flow_folder_add(e->flows, c);
	if (*prev != e->first && *prev != e->standstill.last)
		counters_free(*prev);
	*prev = c;
	return rc;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/* From one sample to the next. */
struct turn { uint64_t began_ns, cpu_ns; };

static struct turn begin_turn(const struct end *e)
{
	return (struct turn){ source_monotonic_ns(e->source), thread_cpu_ns() };
}

/*
 * What of a turn was neither wanted sleep, until `at`, nor work: nobody ran us.  It may hit the
 * sampling as well as the sleep.
 */
static void note_held_up(struct end *e, const struct turn *t, uint64_t at)
{
	uint64_t wall = source_monotonic_ns(e->source) - t->began_ns;
	uint64_t meant = thread_cpu_ns() - t->cpu_ns + (at > t->began_ns ? at - t->began_ns : 0);

	if (wall > meant && wall - meant > e->held_up_ns)
		e->held_up_ns = wall - meant;
}

/* Senders stop; what they have in hand goes out in a moment, and is to be in the last sample. */
static void hush(struct end *e)
{
	static const struct timespec pause = { .tv_nsec = 200000 };

	load_quiesce(e->load);
	for (int i = 0; i < HUSH_TURNS && !load_quiesced(e->load); i++)
		nanosleep(&pause, NULL);
}

/*
 * Samples until `until`, or the end of the traffic, keeping only the newest sample; in the
 * window that becomes its last.
 */
static int sample_phase(struct end *e, uint64_t until, struct counters **prev)
{
	for (unsigned int n = 1;; n++) {
		struct turn turn = begin_turn(e);
		uint64_t at = next_sample_at(e, turn.began_ns, until);
		bool awake = sleep_towards(e, at), over = !awake || at >= until || moved_all(e);
		struct counters *c = NULL;

		if (!awake && !e->first)
			return 0;
		if (over && e->first && (e->whole || end_counts_all(&e->spec)))
			hush(e);
		if (over && e->first) {
			load_mark(e->load, LOAD_MARK_AFTER);
			e->marked_to_ns = source_monotonic_ns(e->source);
		}
		enum counter_rate rate = rate_of_sample(e, n, over);
		int rc = end_take_sample(e, rate, &c);
		if (!rc)
			rc = take_in(e, prev, c, rate != COUNTER_EVERY_SAMPLE, over);
		note_held_up(e, &turn, at);
		if (!rc && e->broken && e->first && !over)
			rc = end_take_sample(e, COUNTER_AT_ENDS, &e->last);
		else if (!rc && over && e->first)
			e->last = c;
		if (rc || over || e->broken)
			return rc;
	}
}

int64_t end_time_asleep_ns(void)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return (int64_t)(boot.tv_sec - mono.tv_sec) * 1000000000 + (boot.tv_nsec - mono.tv_nsec);
}

/* What moves after the first sample of the window is part of the amount. */
static void begin_amount(struct end *e, const struct counters *first)
{
	uint64_t sent = 0;

	e->received_before = 0;
	for (size_t i = 0; i < first->nflows; i++) {
		const struct flow_sample *f = &first->flows[i];
		if (nd_str_is(f->direction, "send"))
			sent += f->bytes.v;
		else
			e->received_before += f->bytes.v;
	}
	if (e->spec.warmup_ms)
		load_begin_amount(e->load, sent);
}

int end_begin_window(struct end *e, struct counters *first)
{
	begin_amount(e, first);
	uint64_t now = source_monotonic_ns(e->source);
	uint64_t late = now > e->window.from_ns ? now - e->window.from_ns : 0;

	e->first = first;
	/* A pause that began in the warm-up took this much of the window. */
	if (late < e->held_up_ns)
		e->held_up_ns = late;
	e->asleep_ns = end_time_asleep_ns();
	e->bytes = load_bytes(e->load);
	int rc = flow_folder_add(e->flows, e->first);
	return rc ? rc : keep_peaks(e, e->first);
}

static int warm_up(struct end *e)
{
	struct counters *prev = NULL, *slow = NULL;
	uint64_t length = e->spec.warmup_ms * 1000000ULL;
	int rc = end_take_sample(e, COUNTER_EVERY_SAMPLE, &prev);

	if (!rc) {
		begin_beats(e, e->window.from_ns > length ? e->window.from_ns - length : 0, prev);
		rc = sample_phase(e, e->window.from_ns, &prev);
	}
	if (!rc && !cancelled(e) && !e->broken) {
		e->marked_from_ns = source_monotonic_ns(e->source);
		load_mark(e->load, LOAD_MARK_WINDOW);
		rc = end_take_sample(e, COUNTER_AT_ENDS, &slow);
	}
	counters_free(prev);
	return rc || !slow ? rc : end_begin_window(e, slow);
}

/* A standstill that began before is the path's, or a pause of a low rate, and counts. */
static bool stood_after_window(const struct end *e)
{
	double length_s = (double)(e->window.to_ns - e->window.from_ns) / 1e9;

	return e->standstill.last && e->standstill.since_s >= length_s;
}

static int sample_window(struct end *e)
{
	struct error err = { "" };
	int rc = 0;

	if (e->traffic_ns && !sleep_until(e, e->traffic_ns))
		return 0;
	if (e->traffic_ns)
		rc = end_begin_traffic(e, &err);
	if (!rc && !e->first)
		rc = warm_up(e);
	if (rc || !e->first)
		return rc;
	struct counters *prev = e->first;
	begin_beats(e, e->window.from_ns, e->first);
	rc = sample_phase(e, e->window.to_ns, &prev);
	if (prev != e->first && prev != e->last && prev != e->standstill.last)
		counters_free(prev);
	if (rc)
		return rc;
	/*
	 * Once all was moved, or its time was up, the other end may close: we may be late (a
	 * stolen CPU), it is not.
	 */
	bool late = source_monotonic_ns(e->source) > e->window.stop_ns;
	if (late || moved_all(e))
		e->broken = 0;
	e->cut = (late && !e->amount_bytes && stood_after_window(e)) || e->broken || e->still;
	return keep_peaks(e, e->last);
}

void *end_sampler(void *arg)
{
	struct end *e = arg;

	background_begin();
	int rc = sample_window(e);

	ping_quiet(e->ping);
	/* Both ends go on for a moment: the other's window, by another clock, may end later. */
	if (!e->broken && !e->amount_bytes)
		sleep_until(e, e->window.stop_ns);
	pthread_mutex_lock(&e->lock);
	e->failure = rc;
	e->done = true;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

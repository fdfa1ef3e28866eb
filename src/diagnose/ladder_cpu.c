/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU: measured, not modelled.  A full core (or thread, or quota) at the
 * measured rate is the ceiling; a core with room only gives an estimate.
 */
#include "src/diagnose/ladder.h"

#include <math.h>
#include <stddef.h>

#include "src/model/cpu.h"
#include "src/model/limits.h"

/* Below this a core did something else than our traffic. */
#define ESTIMATE_MIN_BUSY 0.05

struct quota { double cores, throttled; };

/* The tightest quota on our cgroup path, and the largest throttled share of the window. */
static bool quota_of(const struct facts *f, const struct run_end *end, struct quota *q)
{
	double window_us = end->window_ns.k == ND_KNOWN ? (double)end->window_ns.v / 1000 : 0;
	bool found = false;
	size_t i;

	*q = (struct quota){ 0 };
	for (i = 0; f && i < f->ncgroups; i++) {
		const struct cgroup_facts *g = &f->cgroups[i];
		double cores;

		if (g->quota_us.k != ND_KNOWN || g->period_us.k != ND_KNOWN || !g->period_us.v)
			continue;
		cores = (double)g->quota_us.v / (double)g->period_us.v;
		if (!found || cores < q->cores)
			q->cores = cores;
		found = true;
	}
	for (i = 0; end->window && window_us > 0 && i < end->window->ncgroups; i++) {
		const struct cgroup_sample *s = &end->window->cgroups[i];

		/* Several threads can be throttled at once: a share above 1 means just that. */
		if (s->throttled_us.k == ND_KNOWN)
			q->throttled = fmax(q->throttled, (double)s->throttled_us.v / window_us);
	}
	return found;
}

/* A quota that holds the workers back.  Its cores, not the machine's, are the limit. */
static bool add_quota(struct ladder_builder *b, const struct ladder_path *p, enum side side)
{
	const struct run_end *end = &p->run->ends[side];
	struct nd_f64 used = end_worker_cores(end);
	struct ceiling *c;
	struct quota q;

	if (!quota_of(b->exam->facts[side], end, &q) || used.k != ND_KNOWN || !(used.v > 0))
		return false;
	if (q.throttled < THROTTLED_SHARE && used.v < QUOTA_USED * q.cores)
		return false;
	c = ceiling_add(b, p, CEILING_CPU, side);
	c->subject = "cgroup quota";
	ceiling_input(c, "rate", p->measured_bps, UNIT_BITS_PER_SECOND);
	ceiling_input(c, "quota_cores", q.cores, UNIT_COUNT);
	ceiling_input(c, "used_cores", used.v, UNIT_COUNT);
	ceiling_input(c, "throttled", q.throttled, UNIT_SHARE);
	/* Interrupts and softirqs in our threads' time count too: used may exceed the quota. */
	ceiling_set(c, p->measured_bps, p->measured_bps * fmax(1, q.cores / used.v),
		    BASIS_CONFIGURED, "rate * quota_cores / used_cores");
	return true;
}

/* Sum over an end's cores of a share; unknown cores count as nothing. */
static double sum_of(const struct run_end *end, size_t member_offset)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < end->ncores; i++) {
		const char *core = (const char *)&end->cores[i];
		const struct nd_f64 *share = (const struct nd_f64 *)(core + member_offset);

		if (share->k == ND_KNOWN)
			sum += share->v;
	}
	return sum;
}

struct nd_f64 rule_other_work(const struct exam *e, const struct run *run, enum side s)
{
	const struct run_end *end = &run->ends[s], *other = &run->ends[side_other(s)];
	struct nd_f64 ours = end_worker_cores(end), busy = end_mean_busy(end), theirs;
	double cores = (double)end->ncores;

	if (ours.k != ND_KNOWN || busy.k != ND_KNOWN || !(cores > 0))
		return nd_f64_unknown(ours.k != ND_KNOWN ? ours.k : ND_UNREAD);
	if (nd_is_true(e->path.same_machine)) {
		theirs = end_worker_cores(other);
		if (theirs.k != ND_KNOWN)
			return theirs;
		ours.v += theirs.v;
	}
	/*
	 * Softirqs are taken as ours.  Some kernels also count them in the thread they
	 * interrupt, so this is the least that other work takes.
	 */
	ours.v += sum_of(end, offsetof(struct core_load, softirq)) +
		  sum_of(end, offsetof(struct core_load, irq));
	return nd_f64(fmax(0, sum_of(end, offsetof(struct core_load, busy)) - ours.v) / cores);
}

static void input_other_work(struct ceiling *c, const struct exam *e, const struct run *run,
			     enum side side)
{
	struct nd_f64 other = rule_other_work(e, run, side);

	if (other.k == ND_KNOWN)
		ceiling_input(c, "other_work", other.v, UNIT_SHARE);
}

/*
 * What the CPUs both ends share were seen to carry in any run: a direction that something
 * throttles pays more for each byte (small packets, a wake-up for each), and its own numbers
 * would call that the end.  0: each end has its own CPUs.
 */
static double best_seen(const struct exam *e)
{
	double best = 0;
	size_t i;

	for (i = 0; nd_is_true(e->path.same_machine) && i < e->nruns; i++) {
		const struct run *r = &e->runs[i];

		/* Beside the other direction one says nothing of what it could alone. */
		if (run_usable(r) && !r->spec.discard_receive &&
		    r->purpose != RUN_BOTH_DIRECTIONS)
			best = fmax(best, (double)r->goodput_bps.v);
	}
	return best;
}

/* other: the part of the busy time that other work took, which might have been ours. */
static void set_measured(const struct ladder_builder *b, struct ceiling *c, double rate,
			 double busy, double other)
{
	double best = best_seen(b->exam), ours = fmax(fmin(busy, 1) - other, ESTIMATE_MIN_BUSY);

	ceiling_input(c, "rate", rate, UNIT_BITS_PER_SECOND);
	ceiling_input(c, "busy", busy, UNIT_SHARE);
	if (best > rate)
		ceiling_input(c, "best_run", best, UNIT_BITS_PER_SECOND);
	ceiling_set(c, rate, fmax(fmax(rate, best), cpu_core_bps(rate, ours)), BASIS_MEASURED,
		    best > rate ? "rate to max(best_run, rate / (busy - other_work))" :
		    other > 0 ? "rate to rate / (busy - other_work)" : "rate / busy");
}

static void set_estimate(struct ladder_builder *b, struct ceiling *c, double rate, double busy)
{
	double estimate = fmax(cpu_core_bps(rate, busy), best_seen(b->exam));

	ceiling_input(c, "rate", rate, UNIT_BITS_PER_SECOND);
	ceiling_input(c, "busy", busy, UNIT_SHARE);
	c->basis = BASIS_MEASURED;
	if (busy >= ESTIMATE_MIN_BUSY) {
		c->low_bps = fmax(rate, estimate * SPREAD_EFFICIENCY);
		c->high_bps = estimate;
	}
	ceiling_unknown(b, c, "%s was %.0f %% busy: it had room", c->subject, busy * 100);
}

/* All CPUs, the busiest CPU or the busiest of our threads, whichever says "full" first. */
static void add_measured(struct ladder_builder *b, const struct ladder_path *p, enum side side,
			 bool threads_only)
{
	const struct run_end *end = &p->run->ends[side];
	const struct core_load *hot = threads_only ? NULL : end_hot_core(end);
	struct nd_f64 mean = end_mean_busy(end), worker = end_busiest_worker(end);
	struct ceiling *c = ceiling_add(b, p, CEILING_CPU, side);

	if (!threads_only && mean.k == ND_KNOWN && mean.v >= ALL_CORES_SATURATED) {
		c->subject = "all CPUs";
		ceiling_input(c, "cpus", (double)end->ncores, UNIT_COUNT);
		input_other_work(c, b->exam, p->run, side);
		set_measured(b, c, p->measured_bps, mean.v,
			     ceiling_input_value(c, "other_work", 0));
	} else if (hot && hot->busy.v >= CORE_SATURATED) {
		c->subject = hot->cpu.k == ND_KNOWN ?
			     ladder_text(b, "cpu %llu", (unsigned long long)hot->cpu.v) : "one CPU";
		set_measured(b, c, p->measured_bps, hot->busy.v, 0);
	} else if (worker.k == ND_KNOWN && worker.v >= WORKER_SATURATED) {
		c->subject = "busiest thread";
		set_measured(b, c, p->measured_bps, worker.v, 0);
	} else if (hot) {
		c->subject = hot->cpu.k == ND_KNOWN ?
			     ladder_text(b, "cpu %llu", (unsigned long long)hot->cpu.v) : "one CPU";
		set_estimate(b, c, p->measured_bps, hot->busy.v);
	} else if (worker.k == ND_KNOWN) {
		c->subject = "busiest thread";
		set_estimate(b, c, p->measured_bps, worker.v);
	} else {
		ceiling_unknown(b, c, "the time of that host's CPUs was not seen");
	}
}

static bool thread_saturated(const struct run_end *end)
{
	struct nd_f64 worker = end_busiest_worker(end);

	return worker.k == ND_KNOWN && worker.v >= WORKER_SATURATED;
}

/* Both ends on one machine: its cores belong to neither side. */
static bool add_shared(struct ladder_builder *b, const struct ladder_path *p)
{
	enum side side = p->sender->present ? run_sender(p->direction) : run_receiver(p->direction);
	const struct run_end *end = &p->run->ends[side];
	const struct core_load *hot = end_hot_core(end);
	struct nd_f64 mean = end_mean_busy(end);
	struct ceiling *c;

	if (mean.k == ND_KNOWN && mean.v >= ALL_CORES_SATURATED) {
		c = ceiling_add(b, p, CEILING_CPU, SIDE_BOTH);
		c->subject = "all CPUs";
		ceiling_input(c, "cpus", (double)end->ncores, UNIT_COUNT);
		input_other_work(c, b->exam, p->run, side);
		set_measured(b, c, p->measured_bps, mean.v,
			     ceiling_input_value(c, "other_work", 0));
		return true;
	}
	if (!hot || hot->busy.v < CORE_SATURATED || thread_saturated(p->sender) ||
	    thread_saturated(p->receiver))
		return false;
	/* Full, but by no single thread: both ends' work met on this core. */
	c = ceiling_add(b, p, CEILING_CPU, SIDE_BOTH);
	c->subject = hot->cpu.k == ND_KNOWN ?
		     ladder_text(b, "cpu %llu", (unsigned long long)hot->cpu.v) : "one CPU";
	input_other_work(c, b->exam, p->run, side);
	set_measured(b, c, p->measured_bps, hot->busy.v, 0);
	return true;
}

void ladder_add_cpu(struct ladder_builder *b, const struct ladder_path *p)
{
	static const enum side sides[] = { SIDE_LOCAL, SIDE_PEER };
	bool shared = nd_is_true(b->exam->path.same_machine);
	size_t i;

	if (!p->run)
		return;
	if (shared && (p->sender->present || p->receiver->present)) {
		bool quota = false;

		for (i = 0; i < ARRAY_SIZE(sides); i++)
			quota |= p->run->ends[sides[i]].present && add_quota(b, p, sides[i]);
		if (quota || add_shared(b, p))
			return;
	}
	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		if (!p->run->ends[sides[i]].present) {
			ceiling_unseen(b, ceiling_add(b, p, CEILING_CPU, sides[i]),
					"that host was not watched");
			continue;
		}
		if (shared || !add_quota(b, p, sides[i]))
			add_measured(b, p, sides[i], shared);
	}
}

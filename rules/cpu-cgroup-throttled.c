/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "rules/ends.h"
#include "rules/thresholds.h"

/* The level of our cgroup path that was throttled most. */
struct throttle {
	const struct cgroup_facts *facts;	/* NULL: its settings were not read */
	const struct cgroup_sample *sample;	/* NULL: none was seen throttled */
	double share;				/* of the window; above 1: on several CPUs */
	const char *unknown;			/* a level that may have a quota, not seen */
	enum nd_known reason;
};

static const struct cgroup_facts *facts_of(const struct facts *f, struct nd_str path)
{
	size_t i;

	for (i = 0; f && path.k == ND_KNOWN && i < f->ncgroups; i++)
		if (nd_str_is(f->cgroups[i].path, path.v))
			return &f->cgroups[i];
	return NULL;
}

static const struct cgroup_sample *sample_of(const struct run_end *end, const char *path)
{
	size_t i;

	for (i = 0; end->present && end->window && i < end->window->ncgroups; i++)
		if (nd_str_is(end->window->cgroups[i].path, path))
			return &end->window->cgroups[i];
	return NULL;
}

static void find_throttle(const struct traffic_end *t, struct throttle *x)
{
	const struct run_end *end = t->end;
	double window_us = end->window_ns.k == ND_KNOWN ? (double)end->window_ns.v / 1000 : 0;
	size_t i;

	*x = (struct throttle){ 0 };
	for (i = 0; end->window && window_us > 0 && i < end->window->ncgroups; i++) {
		const struct cgroup_sample *s = &end->window->cgroups[i];
		double share = (double)s->throttled_us.v / window_us;

		if (s->throttled_us.k != ND_KNOWN || share <= x->share)
			continue;
		x->sample = s;
		x->share = share;
		x->facts = facts_of(t->facts, s->path);
	}
	for (i = 0; t->facts && i < t->facts->ncgroups; i++) {
		const struct cgroup_facts *g = &t->facts->cgroups[i];
		const struct cgroup_sample *s;

		/* The root has none; elsewhere only "no limit" says so. */
		if (g->path.k != ND_KNOWN || strcmp(g->path.v, "/") == 0 ||
		    g->quota_us.k == ND_NOT_APPLICABLE)
			continue;
		s = sample_of(end, g->path.v);
		if (s && s->throttled_us.k == ND_KNOWN)
			continue;
		x->unknown = g->path.v;
		x->reason = g->quota_us.k != ND_KNOWN ? g->quota_us.k :
			    s ? s->throttled_us.k : ND_UNREAD;
	}
}

/* Both ends live in the same cgroup: one quota for both. */
static bool same_cgroup(const struct traffic_end *t, const struct throttle *x)
{
	const struct run_end *other = &t->run->ends[side_other(t->side)];
	const struct cgroup_sample *s;

	if (!t->shared || x->sample->path.k != ND_KNOWN)
		return false;
	s = sample_of(other, x->sample->path.v);
	return s && s->throttled_us.k == ND_KNOWN && s->throttled_us.v > 0;
}

static double quota_cores(const struct cgroup_facts *g)
{
	if (!g || g->quota_us.k != ND_KNOWN || g->period_us.k != ND_KNOWN || !g->period_us.v)
		return 0;
	return (double)g->quota_us.v / (double)g->period_us.v;
}

/*
 * Stopped threads would have gone on as they ran: rate / (1 - stopped).  The kernel adds up the
 * time of each CPU's queue, so `share` is over one queue at least and one for each thread at most.
 */
static void add_gain(struct finding *f, const struct traffic_end *t, double share, bool both)
{
	double threads, low, high, ours;
	struct cpu_use u;

	cpu_use_of(t, &u);
	threads = t->end->window ? (double)t->end->window->nworkers : 0;
	if (both)
		threads = u.nworkers;
	if (u.known)
		threads = fmin(threads, u.ncores);
	threads = fmax(threads, ceil(share));
	low = t->measured_bps / (1 - fmin(0.99, share / threads));
	high = t->measured_bps / (1 - fmin(0.99, share / ceil(share)));
	/* But no faster than all CPUs together are at this cost a bit, should they spread well. */
	ours = u.busy - u.foreign;
	if (u.known && u.workers_known && ours > 0) {
		double all = fmax(1, u.ncores / ours) * t->measured_bps;

		high = fmin(high, all);
		low = fmin(low, fmax(t->measured_bps, SPREAD_EFFICIENCY * all));
	}
	finding_lifts(f, CEILING_CPU, fmin(low, high), high);
}

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n > m && strcmp(s + n - m, suffix) == 0;
}

static void add_commands(struct rule_output *out, struct finding *f, const struct cgroup_facts *g)
{
	const char *leaf;

	if (!g || g->directory.k != ND_KNOWN || g->quota_us.k != ND_KNOWN ||
	    g->period_us.k != ND_KNOWN)
		return;
	if (nd_u64_is(g->version, 1)) {
		const char *file = rule_shell(out, rule_text(out, "%s/cpu.cfs_quota_us",
							     g->directory.v));

		finding_command(out, f, "echo -1 >%s", file);
		finding_undo(out, f, "echo %llu >%s", (unsigned long long)g->quota_us.v, file);
	} else {
		const char *file = rule_shell(out, rule_text(out, "%s/cpu.max", g->directory.v));

		finding_command(out, f, "echo max >%s", file);
		finding_undo(out, f, "echo '%llu %llu' >%s", (unsigned long long)g->quota_us.v,
			     (unsigned long long)g->period_us.v, file);
	}
	leaf = g->path.k == ND_KNOWN ? strrchr(g->path.v, '/') : NULL;
	if (leaf && (ends_with(leaf, ".service") || ends_with(leaf, ".slice") ||
		     ends_with(leaf, ".scope")))
		finding_persist(out, f, "systemctl set-property %s CPUQuota=",
				rule_shell(out, leaf + 1));
}

static void add_evidence(struct rule_output *out, struct finding *f, const struct traffic_end *t,
			 const struct throttle *x, const char *path)
{
	struct nd_f64 used = end_worker_cores(t->end);

	finding_number(out, f, end_fact(out, t, rule_text(out, "cgroups[%s].throttled_us / window",
							  path)),
		       x->share, UNIT_SHARE, rule_text(out, ">= %g", CPU_THROTTLED_SHARE),
		       "cgroup cpu.stat");
	if (x->sample->throttled.k == ND_KNOWN && x->sample->periods.k == ND_KNOWN) {
		finding_number(out, f, end_fact(out, t, rule_text(out, "cgroups[%s].throttled",
								  path)),
			       (double)x->sample->throttled.v, UNIT_COUNT, NULL,
			       "cgroup cpu.stat");
		finding_number(out, f, end_fact(out, t, rule_text(out, "cgroups[%s].periods",
								  path)),
			       (double)x->sample->periods.v, UNIT_COUNT, NULL,
			       "cgroup cpu.stat");
	}
	if (quota_cores(x->facts) > 0)
		finding_number(out, f, rule_text(out, "%s.cgroups[%s].quota_us / period_us",
						 side_word(t->side), path), quota_cores(x->facts),
			       UNIT_COUNT, NULL, "cgroup cpu.max");
	if (used.k == ND_KNOWN)
		finding_number(out, f, end_fact(out, t, "CPUs used by our threads"), used.v,
			       UNIT_COUNT, NULL, "CLOCK_THREAD_CPUTIME_ID");
}

static const char *how_often(struct rule_output *out, const struct throttle *x)
{
	if (x->sample->throttled.k == ND_KNOWN && x->sample->periods.k == ND_KNOWN)
		return rule_text(out, "in %llu of %llu periods",
				 (unsigned long long)x->sample->throttled.v,
				 (unsigned long long)x->sample->periods.v);
	return rule_text(out, "for %.0f %% of the time", x->share * 100);
}

static void fire(struct rule_output *out, const struct traffic_end *t, const struct throttle *x,
		 bool both)
{
	const char *path = x->sample->path.k == ND_KNOWN ? x->sample->path.v : "?";
	double cores = quota_cores(x->facts);
	struct finding *f = end_fire(out, t);
	const char *quota = cores > 0 ? rule_text(out, "of %.3g CPUs ", cores) : "";

	if (both)
		f->side = SIDE_BOTH;
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = path;
	f->title = rule_text(out, "the CPU quota %sof cgroup %s on %s stopped it %s", quota, path,
			     both ? "this machine, for both ends," :
			     t->side == SIDE_PEER ? "the peer" : "this host",
			     how_often(out, x));
	add_evidence(out, f, t, x, path);
	finding_cpu(out, f, t);
	add_commands(out, f, x->facts);
	add_gain(f, t, x->share, both);
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	struct throttle x;
	bool both;

	(void)in;
	if (!t->end->present || !t->end->window)
		return end_missing(out, t, "cgroups", ND_UNREAD, NULL);
	find_throttle(t, &x);
	if (x.sample && x.share >= CPU_THROTTLED_SHARE) {
		both = same_cgroup(t, &x);
		/* One quota for both ends is one finding: the sender's. */
		if (both && !t->sends)
			return END_CLEAR;
		fire(out, t, &x, both);
		return END_FIRED;
	}
	if (x.unknown)
		return end_missing(out, t, rule_text(out, "cgroups[%s].throttled_us", x.unknown),
				   x.reason, x.reason == ND_ABSENT ?
				   "its directory is not visible here; `ip netns exec` hides "
				   "/sys/fs/cgroup, nsenter --net does not" : NULL);
	if (!t->facts || (!t->facts->ncgroups && !t->end->window->ncgroups))
		return end_missing(out, t, "cgroups", ND_UNREAD, NULL);
	return END_CLEAR;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, false, "no CPU quota stopped our threads");
}

const struct rule rule_cpu_cgroup_throttled = {
	.id = "cpu-cgroup-throttled",
	.title = "a cgroup's CPU quota stops the traffic's threads",
	.scope = RULE_PER_EXAM,
	.reads = "cpu.stat (nr_periods, nr_throttled, throttled_usec) of our cgroup and all above "
		 "it at both ends, under traffic; cpu.max",
	.fires_when = "a level was throttled for >= 1 % of the window",
	.why = "A quota lets the group run for so many microseconds in each period, then stops "
	       "all its threads until the next one. Nothing is sent or read meanwhile, however "
	       "idle the CPUs are.",
	.fix = "Raise or remove the quota: cpu.max, CPUQuota= of the systemd unit, limits.cpu of "
	       "the container.",
	.not_when = "The limit is meant to be: then this is the rate that it buys.",
	.references = "Linux Documentation/admin-guide/cgroup-v2.rst, cpu.max\n"
		      "Linux Documentation/scheduler/sched-bwc.rst",
	.evaluate = evaluate,
};

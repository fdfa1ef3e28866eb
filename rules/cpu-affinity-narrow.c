/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/ends.h"
#include "rules/thresholds.h"

/* Cores our process may use, and the others. */
struct split { double allowed, allowed_busy, others, others_busy, least_busy; };

static void split_cores(const struct traffic_end *t, struct split *s)
{
	size_t i;

	*s = (struct split){ .least_busy = 1 };
	for (i = 0; t->end->present && i < t->end->ncores; i++) {
		const struct core_load *c = &t->end->cores[i];

		if (c->busy.k != ND_KNOWN || c->cpu.k != ND_KNOWN || c->cpu.v >= ND_MAX_CPUS)
			continue;
		if (nd_cpus_has(&t->facts->host.cpus_allowed, (unsigned int)c->cpu.v)) {
			s->allowed++;
			s->allowed_busy += report_share(c->busy.v);
			s->least_busy = fmin(s->least_busy, c->busy.v);
		} else {
			s->others++;
			s->others_busy += report_share(c->busy.v);
		}
	}
}

/* A cgroup whose cpuset leaves CPUs out, NULL: it was taskset or the parent's affinity. */
static const struct cgroup_facts *narrow_cgroup(const struct facts *f)
{
	size_t i;

	for (i = 0; f->host.cpus_online.k == ND_KNOWN && i < f->ncgroups; i++)
		if (f->cgroups[i].cpuset.k == ND_KNOWN &&
		    nd_cpus_count(&f->cgroups[i].cpuset) < nd_cpus_count(&f->host.cpus_online))
			return &f->cgroups[i];
	return NULL;
}

static void add_commands(struct rule_output *out, struct finding *f, const struct facts *facts)
{
	const struct cgroup_facts *g = narrow_cgroup(facts);
	char online[256], now[256];
	const char *file;

	if (!g || g->directory.k != ND_KNOWN)
		return;
	nd_cpus_format_list(&facts->host.cpus_online, online, sizeof(online));
	nd_cpus_format_list(&g->cpuset, now, sizeof(now));
	file = rule_shell(out, rule_text(out, "%s/cpuset.cpus", g->directory.v));
	finding_command(out, f, "echo %s >%s", online, file);
	finding_undo(out, f, "echo %s >%s", now, file);
}

static void fire(struct rule_output *out, const struct traffic_end *t, const struct split *s)
{
	struct finding *f = end_fire(out, t);
	double idle = s->others - s->others_busy, more;
	char list[256];

	nd_cpus_format_list(&t->facts->host.cpus_allowed, list, sizeof(list));
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_AFFECTS_OTHERS;
	f->title = rule_text(out, "the threads of %s may use %.0f of %.0f CPUs (%s), which are "
			     "full while the others are idle", end_words(t), s->allowed,
			     s->allowed + s->others, list);
	finding_word(out, f, rule_text(out, "%s.host.cpus_allowed", side_word(t->side)), list,
		     NULL, "sched_getaffinity()");
	finding_number(out, f, end_fact(out, t, "allowed cores busy, mean"),
		       s->allowed_busy / s->allowed, UNIT_SHARE,
		       rule_text(out, "each >= %g", CPU_AFFINITY_BUSY), "/proc/stat");
	finding_number(out, f, end_fact(out, t, "other cores busy, mean"),
		       s->others_busy / s->others, UNIT_SHARE,
		       rule_text(out, "< %g", CPU_AFFINITY_OTHERS_IDLE), "/proc/stat");
	finding_cpu(out, f, t);
	add_commands(out, f, t->facts);
	/* More CPUs than threads help only by taking the softirqs off theirs. */
	more = t->end->window ? (double)t->end->window->nworkers - s->allowed : 1;
	more = fmin(idle, fmax(1, more));
	finding_lifts(f, CEILING_CPU,
		      t->measured_bps * (1 + SPREAD_EFFICIENCY * more / s->allowed),
		      t->measured_bps * (1 + more / s->allowed));
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	struct split s;

	(void)in;
	if (!t->facts || t->facts->host.cpus_allowed.k != ND_KNOWN) {
		rule_missing(out, rule_text(out, "%s.host.cpus_allowed", side_word(t->side)),
			     t->facts ? t->facts->host.cpus_allowed.k : ND_UNREAD, NULL);
		return END_MISSING;
	}
	if (!end_hot_core(t->end))
		return end_missing(out, t, "cores", ND_UNREAD, NULL);
	split_cores(t, &s);
	if (!(s.others > 0) || !(s.allowed > 0))
		return END_CLEAR;
	if (s.least_busy < CPU_AFFINITY_BUSY ||
	    s.others_busy >= CPU_AFFINITY_OTHERS_IDLE * s.others)
		return END_CLEAR;
	fire(out, t, &s);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, false,
		      "our threads may use all CPUs, or those they may use had room");
}

const struct rule rule_cpu_affinity_narrow = {
	.id = "cpu-affinity-narrow",
	.title = "the traffic's threads may use only some CPUs, which are full",
	.scope = RULE_PER_EXAM,
	.reads = "the CPUs our process may use (affinity, cpuset), time of all cores under "
		 "traffic, at both ends",
	.fires_when = "each CPU we may use is >= 90 % busy, while the others are < 50 % busy on "
		      "average",
	.why = "taskset, a cpuset or a container's CPU list keep the scheduler from using the "
	       "idle CPUs.",
	.fix = "Widen the affinity (taskset -c) or the cpuset (cpuset.cpus, AllowedCPUs=, the "
	       "container's CPU list).",
	.not_when = "The pinning is meant to be: then this is the rate these CPUs give.",
	.references = "sched_setaffinity(2)\n"
		      "Linux Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus",
	.evaluate = evaluate,
};

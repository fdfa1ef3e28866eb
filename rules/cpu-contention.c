/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/ends.h"
#include "rules/thresholds.h"

/*
 * What our traffic would get of the CPUs the others use: all of them at best, by the lowest
 * estimate of what it costs now; with the losses of spreading, by the highest, at least.
 */
static void add_gain(struct finding *f, const struct traffic_end *t, const struct cpu_use *u)
{
	double most = u->busy - u->foreign, least = fmin(most, u->workers);
	/* More CPUs than threads (and their softirqs) help nobody. */
	double usable = fmin(u->ncores, u->nworkers + u->softirq);
	double low, high;

	if (!(least > 0) || !(usable > most))
		return;
	low = t->measured_bps * fmax(1, SPREAD_EFFICIENCY * usable / most);
	high = t->measured_bps * usable / least;
	finding_lifts(f, CEILING_CPU, low, high);
}

static void fire(struct rule_output *out, const struct traffic_end *t, const struct cpu_use *u)
{
	struct finding *f = machine_fire(out, t);
	struct nd_f64 wait = end_worker_wait(t->end);

	f->severity = SEVERITY_MEDIUM;
	f->risk = RISK_AFFECTS_OTHERS;
	f->title = rule_text(out, "other work takes %.1f of the %.0f CPUs of %s, and none is idle",
			     u->foreign, u->ncores, end_words(t));
	finding_number(out, f, end_fact(out, t, "CPUs used by others"), u->foreign, UNIT_COUNT,
		       rule_text(out, ">= %g of all", CPU_CONTENTION_FOREIGN),
		       "user and system time of all cores, less our threads'");
	finding_number(out, f, end_fact(out, t, "CPUs used by our threads"), u->workers,
		       UNIT_COUNT, NULL, "CLOCK_THREAD_CPUTIME_ID");
	finding_number(out, f, end_fact(out, t, "cores busy, mean"), u->mean_busy, UNIT_SHARE,
		       rule_text(out, ">= %g", ALL_CORES_SATURATED), "/proc/stat");
	if (wait.k == ND_KNOWN)
		finding_number(out, f, end_fact(out, t, "longest wait of a thread for a CPU"),
			       wait.v, UNIT_SHARE, rule_text(out, ">= %g", CPU_CONTENTION_WAIT),
			       "/proc/PID/schedstat");
	finding_cpu(out, f, t);
	finding_command(out, f, "ps -eo pid,ni,pcpu,args --sort=-pcpu | head -15");
	add_gain(f, t, u);
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	struct nd_f64 wait = end_worker_wait(t->end);
	struct cpu_use u;
	double needed;

	(void)in;
	cpu_use_of(t, &u);
	if (!u.known)
		return end_missing(out, t, "cores", ND_UNREAD, NULL);
	if (u.mean_busy < ALL_CORES_SATURATED)
		return END_CLEAR;
	if (!u.workers_known)
		return end_missing(out, t, "workers", ND_UNREAD, NULL);
	/* Waiting alone is no proof: our own threads wait for each other too. */
	needed = wait.k == ND_KNOWN && wait.v >= CPU_CONTENTION_WAIT ?
		 CPU_CONTENTION_FOREIGN_WAITING : CPU_CONTENTION_FOREIGN;
	if (u.foreign < needed * u.ncores)
		return END_CLEAR;
	fire(out, t, &u);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, true, "other work took no CPU that the traffic needed");
}

const struct rule rule_cpu_contention = {
	.id = "cpu-contention",
	.title = "other work on the machine takes the CPUs the traffic needs",
	.scope = RULE_PER_EXAM,
	.reads = "time of all cores (/proc/stat) and of our threads, their wait for a CPU "
		 "(schedstat, where the kernel has it), under traffic, at both ends",
	.fires_when = "the CPUs we may use are >= 90 % busy on average, and >= 15 % of their time "
		      "is user and system time of others (>= 10 % when our threads were seen to "
		      "wait for a CPU >= 10 % of the window)",
	.why = "The scheduler shares full CPUs out: what other processes get, the traffic does "
	       "not. Softirqs are not counted as other work, since most are the traffic's.",
	.fix = "Stop or move the other work, lower its priority (renice, CPUWeight=), or give the "
	       "traffic CPUs of its own.",
	.not_when = "CPUs are idle: then the scheduler would have used them.",
	.references = "Linux Documentation/accounting/psi.rst\n"
		      "Linux Documentation/scheduler/sched-stats.rst",
	.evaluate = evaluate,
};

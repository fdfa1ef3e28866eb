/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/ends.h"
#include "rules/thresholds.h"

/* The queue of the socket shows who waits for whom: the sender's is empty, the reader's full. */
static struct nd_f64 queue_sign(const struct traffic_end *t)
{
	return t->sends ? END_FLOW_MEAN(t->end, notsent_empty_share) :
			  END_FLOW_MEAN(t->end, receive_queue_fill);
}

static double full_threads(const struct run_end *end)
{
	double window_us = end->window_ns.k == ND_KNOWN ? (double)end->window_ns.v / 1000 : 0;
	size_t i, n = 0;

	for (i = 0; end->window && window_us > 0 && i < end->window->nworkers; i++) {
		const struct worker_sample *w = &end->window->workers[i];

		n += w->cpu_us.k == ND_KNOWN &&
		     (double)w->cpu_us.v >= WORKER_SATURATED * window_us;
	}
	return (double)n;
}

static void fire(struct rule_output *out, const struct traffic_end *t, const struct cpu_use *u,
		 double full, struct nd_f64 sign)
{
	double idle = cpu_idle_cores(u), ours = fmax(u->workers, full);
	struct finding *f = end_fire(out, t);

	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_NONE;
	f->title = rule_text(out, "%.0f of %zu %s threads of %s use a whole CPU, while %.1f CPUs "
			     "are idle", full, t->end->window->nworkers,
			     t->sends ? "sending" : "reading", end_words(t), idle);
	finding_cpu(out, f, t);
	if (t->sends)
		finding_number(out, f, end_fact(out, t, "flows.notsent_empty_share"), sign.v,
			       UNIT_SHARE, rule_text(out, ">= %g", CPU_NOTSENT_EMPTY), "TCP_INFO");
	else
		finding_number(out, f, end_fact(out, t, "flows.receive_queue_fill"), sign.v,
			       UNIT_SHARE, rule_text(out, ">= %g", CPU_RECEIVE_QUEUE_FULL),
			       "SO_MEMINFO");
	finding_number(out, f, end_fact(out, t, "idle CPUs"), idle, UNIT_COUNT,
		       rule_text(out, ">= %g", CPU_APP_IDLE), "/proc/stat");
	finding_lifts(f, CEILING_CPU,
		      t->measured_bps * (1 + SPREAD_EFFICIENCY * fmin(idle, ours) / ours),
		      t->measured_bps * (1 + idle / ours));
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	struct nd_f64 worker = end_busiest_worker(t->end), sign = queue_sign(t);
	struct cpu_use u;
	double full;

	(void)in;
	cpu_use_of(t, &u);
	if (worker.k != ND_KNOWN)
		return end_missing(out, t, "workers", worker.k, NULL);
	full = full_threads(t->end);
	if (worker.v < WORKER_SATURATED || 2 * full < (double)t->end->window->nworkers)
		return END_CLEAR;
	if (!u.known)
		return end_missing(out, t, "cores", ND_UNREAD, NULL);
	/* Without an idle CPU more threads win nothing. */
	if (cpu_idle_cores(&u) < CPU_APP_IDLE)
		return END_CLEAR;
	if (sign.k != ND_KNOWN)
		return end_missing(out, t, t->sends ? "flows.notsent_empty_share" :
				   "flows.receive_queue_fill", sign.k, NULL);
	if (sign.v < (t->sends ? CPU_NOTSENT_EMPTY : CPU_RECEIVE_QUEUE_FULL))
		return END_CLEAR;
	fire(out, t, &u, full, sign);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, false,
		      "no thread was full while its socket waited for it and CPUs were idle");
}

const struct rule rule_cpu_app_bound = {
	.id = "cpu-app-bound",
	.title = "the threads that send or read are full while CPUs are idle",
	.scope = RULE_PER_EXAM,
	.reads = "CPU time of our threads, time of all cores, unsent bytes (sender) and the fill "
		 "of the receive buffer (receiver) under traffic",
	.fires_when = "half of the threads or more use >= 95 % of a CPU; at the sender nothing "
		      "unsent was queued in >= 80 % of the samples, or at the receiver the "
		      "buffer was >= 60 % full; and half a CPU or more is idle",
	.why = "A thread can use one CPU. Copying between the application and the kernel is done "
	       "in it, and for a sender most of the stack too.",
	.fix = "More streams in more threads (netdoctor diagnose -P N), larger reads and writes "
	       "(128 KB and more), sendfile or MSG_ZEROCOPY, a larger MTU.",
	.not_when = "No CPU is idle: then more threads win nothing.",
	.references = "Cai et al., Understanding host network stack overheads, SIGCOMM 2021",
	.evaluate = evaluate,
};

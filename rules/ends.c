/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ends.h"

#include <math.h>

#include "rules/thresholds.h"

static struct traffic_end make_end(const struct exam *e, const struct run *run, enum side side)
{
	return (struct traffic_end){
		.exam = e, .direction = run->spec.direction, .side = side, .run = run,
		.end = &run->ends[side], .facts = e->facts[side],
		.sends = run_sender(run->spec.direction) == side,
		.shared = nd_is_true(e->path.same_machine),
		.measured_bps = (double)run->goodput_bps.v,
	};
}

struct traffic_end traffic_end_of(const struct rule_input *in)
{
	return make_end(in->exam, in->run, in->side);
}

struct traffic_end traffic_other_end(const struct traffic_end *t)
{
	return make_end(t->exam, t->run, side_other(t->side));
}

size_t traffic_ends(const struct exam *e, struct traffic_end out[TRAFFIC_ENDS])
{
	static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		const struct run *run = exam_main_run(e, directions[i]);

		if (!run)
			continue;
		out[n++] = make_end(e, run, run_sender(directions[i]));
		out[n++] = make_end(e, run, run_receiver(directions[i]));
	}
	return n;
}

void ends_evaluate(const struct rule_input *in, struct rule_output *out, end_check check,
		   bool once_if_shared, const char *because)
{
	struct traffic_end ends[TRAFFIC_ENDS];
	size_t i, said = 0, clear = 0, n = traffic_ends(in->exam, ends);

	for (i = 0; i < n; i++) {
		/* Ends of a direction come in pairs. */
		const struct traffic_end *pair = &ends[i & ~(size_t)1];
		size_t seen = pair[0].end->present ? 0 : 1;
		enum end_answer answer;

		if (once_if_shared && ends[i].shared && (i & 1) != seen)
			continue;
		answer = check(in, out, &ends[i]);
		said += answer == END_FIRED || answer == END_MISSING;
		clear += answer == END_CLEAR;
	}
	if (said)
		return;
	if (clear)
		rule_clear(out, "%s", because);
	else
		rule_not_applicable(out, n ? "it has no meaning at either end" : "no traffic");
}

double report_share(double share)
{
	return round(share * 1e6) / 1e6;
}

static double share_or_0(struct nd_f64 v)
{
	return v.k == ND_KNOWN ? report_share(v.v) : 0;
}

/* Without a known mask every CPU counts. */
static bool is_allowed(const struct facts *f, struct nd_u64 cpu)
{
	if (!f || f->host.cpus_allowed.k != ND_KNOWN || cpu.k != ND_KNOWN)
		return true;
	return cpu.v < ND_MAX_CPUS && nd_cpus_has(&f->host.cpus_allowed, (unsigned int)cpu.v);
}

static void add_workers(const struct run_end *end, struct cpu_use *u)
{
	struct nd_f64 cores = end_worker_cores(end);

	u->workers_known = u->workers_known && cores.k == ND_KNOWN;
	u->workers += cores.k == ND_KNOWN ? cores.v : 0;
	u->nworkers += end->present && end->window ? (double)end->window->nworkers : 0;
}

/* Threads of the kernel that are no softirqs do a part of the traffic's work. */
static bool kernel_threads_work(const struct traffic_end *t)
{
	const struct link_facts *egress = exam_egress(t->exam, t->side);
	const struct link_facts *port = exam_port(t->exam, t->side);

	return (egress && (nd_is_true(egress->napi_threaded) ||
			   nd_str_is(egress->kind, "wireguard"))) ||
	       (port && nd_is_true(port->napi_threaded));
}

static double worker_user_cores(const struct run_end *end)
{
	double us = 0;
	size_t i;

	for (i = 0; end->present && end->window && i < end->window->nworkers; i++)
		if (end->window->workers[i].user_us.k == ND_KNOWN)
			us += (double)end->window->workers[i].user_us.v;
	return end->window_ns.k == ND_KNOWN && end->window_ns.v ?
	       us * 1000 / (double)end->window_ns.v : 0;
}

void cpu_use_of(const struct traffic_end *t, struct cpu_use *u)
{
	double user = 0;
	size_t i;

	*u = (struct cpu_use){ .workers_known = true };
	for (i = 0; t->end->present && i < t->end->ncores; i++) {
		const struct core_load *c = &t->end->cores[i];

		if (c->busy.k != ND_KNOWN || !is_allowed(t->facts, c->cpu))
			continue;
		u->ncores++;
		u->busy += report_share(c->busy.v);
		user += share_or_0(c->user);
		u->user_system += share_or_0(c->user) + share_or_0(c->system);
		u->softirq += share_or_0(c->softirq) + share_or_0(c->irq);
	}
	u->known = u->ncores > 0;
	u->mean_busy = u->known ? u->busy / u->ncores : 0;
	add_workers(t->end, u);
	if (t->shared)
		add_workers(&t->run->ends[side_other(t->side)], u);
	if (!u->known || !u->workers_known)
		return;
	u->foreign = fmax(0, u->user_system - u->workers);
	if (kernel_threads_work(t)) {
		user -= worker_user_cores(t->end);
		if (t->shared)
			user -= worker_user_cores(&t->run->ends[side_other(t->side)]);
		u->foreign = fmin(u->foreign, fmax(0, user));
	}
}

double cpu_idle_cores(const struct cpu_use *u)
{
	return fmax(0, u->ncores - u->busy);
}

static bool thread_full(const struct run_end *end)
{
	struct nd_f64 worker = end_busiest_worker(end);

	return worker.k == ND_KNOWN && worker.v >= WORKER_SATURATED;
}

enum cpu_bound cpu_bound_of(const struct traffic_end *t, double core_busy)
{
	const struct core_load *hot = end_hot_core(t->end);
	struct cpu_use u;

	cpu_use_of(t, &u);
	if (!hot && end_busiest_worker(t->end).k != ND_KNOWN)
		return CPU_UNKNOWN;
	if (u.known && u.mean_busy >= ALL_CORES_SATURATED)
		return CPU_ALL_FULL;
	if (thread_full(t->end))
		return CPU_THREAD_FULL;
	if (!hot)
		return CPU_HAS_ROOM;
	if (!t->shared)
		return hot->busy.v >= core_busy ? CPU_CORE_FULL : CPU_HAS_ROOM;
	if (thread_full(&t->run->ends[side_other(t->side)]))
		return CPU_HAS_ROOM;
	return hot->busy.v >= CORE_SATURATED ? CPU_CORE_FULL : CPU_HAS_ROOM;
}

const char *cpu_bound_text(struct rule_output *out, const struct traffic_end *t,
			   enum cpu_bound bound)
{
	const struct core_load *hot = end_hot_core(t->end);
	struct nd_f64 worker = end_busiest_worker(t->end);
	struct cpu_use u;

	cpu_use_of(t, &u);
	if (bound == CPU_ALL_FULL)
		return u.ncores > 1 ? rule_text(out, "all its %.0f CPUs are full", u.ncores) :
				      "its CPU is full";
	if (bound == CPU_THREAD_FULL)
		return rule_text(out, "a thread uses %.0f %% of a CPU", worker.v * 100);
	if (!hot)
		return "no CPU was full";
	if (hot->cpu.k != ND_KNOWN)
		return rule_text(out, "a CPU is %.0f %% busy", hot->busy.v * 100);
	return rule_text(out, "cpu %llu is %.0f %% busy", (unsigned long long)hot->cpu.v,
			 hot->busy.v * 100);
}

const char *run_name(const struct run *r)
{
	return r->id.k == ND_KNOWN ? r->id.v : "?";
}

const char *end_fact(struct rule_output *out, const struct traffic_end *t, const char *rest)
{
	return rule_text(out, "runs[%s].%s.%s", run_name(t->run), side_word(t->side), rest);
}

enum end_answer end_missing(struct rule_output *out, const struct traffic_end *t,
			    const char *rest, enum nd_known reason, const char *how)
{
	/* A known reason would read as if the fact were there. */
	rule_missing(out, end_fact(out, t, rest), reason == ND_KNOWN ? ND_INVALID : reason, how);
	return END_MISSING;
}

struct finding *end_fire(struct rule_output *out, const struct traffic_end *t)
{
	struct finding *f = rule_fire(out);

	f->side = t->side;
	f->has_direction = true;
	f->direction = t->direction;
	f->proof = PROOF_CAUSAL;
	return f;
}

struct finding *machine_fire(struct rule_output *out, const struct traffic_end *t)
{
	struct finding *f = end_fire(out, t);

	if (t->shared)
		f->side = SIDE_BOTH;
	return f;
}

static void add_share(struct rule_output *out, struct finding *f, const struct traffic_end *t,
		      const struct core_load *c, const char *name, struct nd_f64 share)
{
	if (share.k != ND_KNOWN || c->cpu.k != ND_KNOWN)
		return;
	finding_number(out, f, rule_text(out, "%s[%llu].%s", end_fact(out, t, "cores"),
					 (unsigned long long)c->cpu.v, name),
		       report_share(share.v), UNIT_SHARE, NULL, "/proc/stat");
}

void finding_cpu(struct rule_output *out, struct finding *f, const struct traffic_end *t)
{
	const struct core_load *hot = end_hot_core(t->end);
	struct nd_f64 worker = end_busiest_worker(t->end);

	if (hot) {
		add_share(out, f, t, hot, "busy", hot->busy);
		add_share(out, f, t, hot, "user", hot->user);
		add_share(out, f, t, hot, "system", hot->system);
		add_share(out, f, t, hot, "softirq", hot->softirq);
	}
	if (worker.k == ND_KNOWN)
		finding_number(out, f, end_fact(out, t, "busiest thread"), worker.v, UNIT_SHARE,
			       NULL, "CLOCK_THREAD_CPUTIME_ID");
}

const char *end_words(const struct traffic_end *t)
{
	if (t->shared)
		return "this machine";
	return t->side == SIDE_PEER ? "the peer" : "this host";
}

const char *end_host(struct rule_output *out, const struct facts *f, enum side s)
{
	if (f && f->host.hostname.k == ND_KNOWN)
		return rule_text(out, "%s (%s)", rule_shell(out, f->host.hostname.v), side_word(s));
	return s == SIDE_PEER ? "the peer" : "this host";
}

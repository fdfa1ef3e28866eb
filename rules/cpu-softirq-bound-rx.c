/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/ends.h"
#include "rules/thresholds.h"
#include "src/model/cpu.h"

/* Signs that the core left packets waiting. */
struct overrun { double squeezes, dropped, missed; };

static double known(struct nd_u64 v)
{
	return v.k == ND_KNOWN ? (double)v.v : 0;
}

static void find_overrun(const struct rule_input *in, const struct core_load *hot,
			 struct overrun *o)
{
	const struct counters *c = in->end->window;
	const struct softnet_sample *s = NULL;
	const struct link_sample *l = NULL;

	*o = (struct overrun){ 0 };
	if (c && hot->cpu.k == ND_KNOWN)
		s = counters_softnet(c, hot->cpu.v);
	if (c && in->port && in->port->ifindex.k == ND_KNOWN)
		l = counters_link(c, in->port->ifindex.v);
	if (s) {
		o->squeezes = known(s->time_squeeze);
		o->dropped = known(s->dropped);
	}
	if (l)
		o->missed = known(l->rx_missed_errors) + known(l->rx_fifo_errors);
}

/*
 * Spread over the queues that flows could use, the fullest core would do 1 / effective queues of
 * all softirqs instead of its share now; evenly spread at best.
 */
static void add_gain(const struct rule_input *in, struct finding *f, const struct core_load *hot)
{
	struct traffic_end t = traffic_end_of(in);
	double flows = (double)in->end->nflows, queues, now;
	struct cpu_use u;

	cpu_use_of(&t, &u);
	queues = fmin(flows, u.ncores);
	if (!(queues > 1) || !(u.softirq > 0))
		return;
	now = fmin(1, report_share(hot->softirq.v) / u.softirq);
	finding_lifts(f, CEILING_CPU,
		      in->measured_bps * fmax(1, now * cpu_effective_queues(flows, queues)),
		      in->measured_bps * fmax(1, now * queues));
}

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct core_load *hot)
{
	struct traffic_end t = traffic_end_of(in);
	struct finding *f = end_fire(out, &t);
	struct overrun o;

	find_overrun(in, hot, &o);
	f->severity = SEVERITY_MEDIUM;
	f->risk = RISK_NONE;
	if (hot->cpu.k == ND_KNOWN)
		f->subject = rule_text(out, "cpu %llu", (unsigned long long)hot->cpu.v);
	f->title = rule_text(out, "%s of %s spends %.0f %% of its time receiving packets and is "
			     "full", f->subject ? f->subject : "a CPU", end_words(&t),
			     hot->softirq.v * 100);
	finding_cpu(out, f, &t);
	finding_number(out, f, end_fact(out, &t, "softnet[hot].time_squeeze"), o.squeezes,
		       UNIT_COUNT, "> 0", "/proc/net/softnet_stat");
	finding_number(out, f, end_fact(out, &t, "softnet[hot].dropped"), o.dropped, UNIT_PACKETS,
		       "> 0", "/proc/net/softnet_stat");
	finding_number(out, f, end_fact(out, &t, "links.rx_missed and rx_fifo errors"), o.missed,
		       UNIT_PACKETS, "> 0", "IFLA_STATS64");
	/* A full core with nothing left behind may just keep up. */
	if (!(o.squeezes + o.dropped + o.missed > 0))
		f->confidence = 0.6;
	finding_command(out, f, "grep -E 'CPU|%s' /proc/interrupts  # on %s",
			in->port && in->port->name.k == ND_KNOWN ?
			rule_text(out, "%s", in->port->name.v) : "eth",
			end_host(out, in->facts, in->side));
	add_gain(in, f, hot);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct core_load *hot = end_hot_core(in->end);
	struct traffic_end t = traffic_end_of(in);

	if (t.shared) {
		rule_not_applicable(out, "on one machine packets are received in the sender's "
				    "context");
		return;
	}
	if (!hot || hot->softirq.k != ND_KNOWN) {
		end_missing(out, &t, "cores.softirq", hot ? hot->softirq.k : ND_UNREAD, NULL);
		return;
	}
	if (hot->busy.v < CORE_SATURATED) {
		rule_clear(out, "the busiest core was %.0f %% busy", hot->busy.v * 100);
		return;
	}
	if (hot->softirq.v < CPU_SOFTIRQ_SHARE) {
		rule_clear(out, "the busiest core spent %.0f %% of its time on softirqs",
			   hot->softirq.v * 100);
		return;
	}
	if (hot->steal.k == ND_KNOWN && hot->steal.v > CPU_SOFTIRQ_STEAL) {
		rule_clear(out, "the hypervisor took %.0f %% of the busiest core",
			   hot->steal.v * 100);
		return;
	}
	fire(in, out, hot);
}

const struct rule rule_cpu_softirq_bound_rx = {
	.id = "cpu-softirq-bound-rx",
	.title = "one core is full of receiving packets",
	.scope = RULE_PER_RECEIVER,
	.reads = "busy and softirq shares of the receiver's busiest core under traffic; its "
		 "time_squeeze and drops (softnet_stat), the port's missed packets",
	.fires_when = "the core is >= 95 % busy, >= 60 % in softirqs; less sure when it never ran "
		      "out of budget (time_squeeze) and nothing was dropped",
	.why = "Packets are processed on the core that their queue's interrupt goes to. When it is "
	       "full, the flows of that queue share what it can do, however idle the others are.",
	.fix = "Spread the work: more queues, interrupts on different cores, other flows (the "
	       "hash decides), RPS where the device has one queue. Make it cheaper: GRO, a larger "
	       "MTU, interrupt coalescing.",
	.not_when = "The hypervisor takes the core away (steal).",
	.references = "Linux Documentation/networking/scaling.rst\n"
		      "Cai et al., Understanding host network stack overheads, SIGCOMM 2021",
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ends.h"
#include "rules/keep.h"
#include "rules/nic_counters.h"
#include "rules/softnet.h"
#include "rules/thresholds.h"

struct squeeze { const struct core_load *core; double per_second; };

static const struct core_load *core_of(const struct run_end *end, struct nd_u64 cpu)
{
	size_t i;

	for (i = 0; cpu.k == ND_KNOWN && i < end->ncores; i++)
		if (nd_u64_is(end->cores[i].cpu, cpu.v))
			return &end->cores[i];
	return NULL;
}

/* The busy core that stopped most often with work left; false: its counters were not seen. */
static bool find_squeezed(const struct run_end *end, struct squeeze *q)
{
	double seconds = end->window_ns.k == ND_KNOWN ? (double)end->window_ns.v / 1e9 : 0;
	bool seen = false;
	size_t i;

	*q = (struct squeeze){ 0 };
	for (i = 0; end->window && seconds > 0 && i < end->window->nsoftnet; i++) {
		const struct softnet_sample *s = &end->window->softnet[i];
		const struct core_load *core = core_of(end, s->cpu);

		if (s->time_squeeze.k != ND_KNOWN)
			continue;
		seen = true;
		if (!core || core->busy.k != ND_KNOWN || core->busy.v < SQUEEZE_CORE_BUSY ||
		    (double)s->time_squeeze.v / seconds <= q->per_second)
			continue;
		*q = (struct squeeze){ core, (double)s->time_squeeze.v / seconds };
	}
	return seen;
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct squeeze *q,
		 const char *dropped_fact, double dropped, const char *source)
{
	const struct sysctl_facts *sys = in->facts ? &in->facts->sysctl : NULL;
	struct traffic_end t = traffic_end_of(in);
	struct finding *f = rule_fire(out);
	unsigned long long cpu = q->core->cpu.v;

	f->proof = PROOF_STATIC;
	f->severity = SEVERITY_LOW;
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = rule_text(out, "cpu %llu", cpu);
	f->title = rule_text(out, "cpu %llu of %s ran out of its time for packets %.0f times a "
			     "second, and packets were dropped", cpu,
			     in->side == SIDE_PEER ? "the peer" : "this host", q->per_second);
	finding_number(out, f, softnet_fact(out, in->run, in->side,
					    rule_text(out, "[%llu].time_squeeze", cpu)),
		       q->per_second, UNIT_PER_SECOND, rule_text(out, ">= %g", SQUEEZE_PER_SECOND),
		       "/proc/net/softnet_stat, column 3");
	finding_number(out, f, dropped_fact, dropped, UNIT_PACKETS, "> 0", source);
	finding_cpu(out, f, &t);
	if (sys && sys->netdev_budget.k == ND_KNOWN)
		finding_sysctl(out, f, "net.core.netdev_budget",
			       2 * (unsigned long long)sys->netdev_budget.v, sys->netdev_budget);
	if (sys && sys->netdev_budget_usecs.k == ND_KNOWN)
		finding_sysctl(out, f, "net.core.netdev_budget_usecs",
			       2 * (unsigned long long)sys->netdev_budget_usecs.v,
			       sys->netdev_budget_usecs);
	finding_lifts(f, CEILING_CPU, in->measured_bps, SQUEEZE_GAIN * in->measured_bps);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct softnet_sum sum = softnet_sum_of(in->end);
	struct nic_count ring;
	struct squeeze q;

	if (!in->end->present || !find_squeezed(in->end, &q)) {
		rule_missing(out, softnet_fact(out, in->run, in->side, "[*].time_squeeze"),
			     ND_UNREAD, NULL);
		return;
	}
	if (!q.core || q.per_second < SQUEEZE_PER_SECOND) {
		rule_clear(out, "no busy core ran out of its time for packets often");
		return;
	}
	if (sum.k == ND_KNOWN && sum.dropped > 0) {
		fire(in, out, &q, softnet_fact(out, in->run, in->side, "[*].dropped"), sum.dropped,
		     "/proc/net/softnet_stat, column 2");
		return;
	}
	ring = nic_count_of(in->end, in->port, NIC_RX_EXHAUSTED);
	if (nic_is_software(in->port) || (ring.k == ND_KNOWN && !(ring.value > 0)))
		rule_clear(out, "a core ran out of its time for packets, but none was dropped: "
			   "they only waited");
	else if (ring.k != ND_KNOWN)
		rule_missing(out, nic_fact(out, in->run, in->side, in->port, &ring,
					   "a full receive ring"), ring.k, NULL);
	else
		fire(in, out, &q, nic_fact(out, in->run, in->side, in->port, &ring, ""), ring.value,
		     nic_source(&ring));
}

const struct rule rule_softnet_time_squeeze = {
	.id = "softnet-time-squeeze",
	.title = "softirqs stop with packets left, and packets are dropped",
	.scope = RULE_PER_RECEIVER,
	.reads = "time_squeeze of /proc/net/softnet_stat by CPU, that CPU's load, drops of the "
		 "NIC's ring and of backlog queues, net.core.netdev_budget and netdev_budget_usecs",
	.fires_when = ">= 100 time_squeezes a second on a core that is >= 85 % busy, and packets "
		      "were dropped in the window",
	.why = "A softirq handles netdev_budget packets or netdev_budget_usecs of work at a time, "
	       "then lets others run. With much left each time the rings may overflow before its "
	       "next turn.",
	.fix = "Double net.core.netdev_budget and netdev_budget_usecs. It wins a few percent at "
	       "best: a full core needs less work or helpers.",
	.not_when = "Nothing is dropped: the counter grows on many healthy machines.",
	.references = "Linux Documentation/admin-guide/sysctl/net.rst, netdev_budget",
	.evaluate = evaluate,
};

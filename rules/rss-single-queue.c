/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/keep.h"
#include "rules/offload.h"
#include "rules/queues.h"
#include "rules/thresholds.h"

/* Receive queues of a device: some count them with the transmit queues, some apart. */
struct channels { double now, max; const char *word; enum nd_known reason; };

static struct channels channels_of(const struct link_facts *l)
{
	struct channels c = { .word = "combined", .reason = ND_KNOWN };

	if (l->combined_channels.k == ND_KNOWN && l->combined_channels_max.k == ND_KNOWN) {
		c.now = (double)l->combined_channels.v;
		c.max = (double)l->combined_channels_max.v;
	}
	if (l->rx_channels.k == ND_KNOWN && l->rx_channels_max.k == ND_KNOWN &&
	    l->rx_channels_max.v) {
		c.now += (double)l->rx_channels.v;
		if (!(c.max > 0))
			c.word = "rx";
		c.max = fmax(c.max, (double)l->rx_channels_max.v);
	}
	if (!(c.max > 0))
		c.reason = l->combined_channels.k == ND_KNOWN ? l->combined_channels_max.k :
								l->combined_channels.k;
	return c;
}

/* Software hands packets of the queue to other cores. */
static bool rps_spreads(const struct facts *f, const struct link_facts *port)
{
	size_t i;

	for (i = 0; f && i < f->nqueues; i++) {
		const struct queue_facts *q = &f->queues[i];

		if (q->ifindex.k == ND_KNOWN && nd_u64_is(port->ifindex, q->ifindex.v) &&
		    nd_str_is(q->direction, "rx") && q->steering.k == ND_KNOWN &&
		    nd_cpus_count(&q->steering) > 0)
			return true;
	}
	return false;
}

static double queues_wanted(const struct rule_input *in, const struct channels *c)
{
	double cores = local_cores(in->facts, in->port);

	if (!(cores > 0))
		cores = (double)in->end->ncores;
	return fmin(fmin(c->max, cores), RSS_QUEUES_MAX);
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct channels *c,
		 const struct core_load *core)
{
	struct traffic_end t = traffic_end_of(in);
	double wanted = queues_wanted(in, c), low, high;
	struct finding *f = end_fire(out, &t);
	const char *name = in->port->name.k == ND_KNOWN ? in->port->name.v : "the NIC";
	const char *fact = rule_text(out, "%s.links[%s].%s_channels", side_word(in->side), name,
				     c->word);

	f->subject = name;
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_QUEUE_RESTART;
	f->title = rule_text(out, "%s of %s receives with 1 queue of %.0f: all its packets go "
			     "through one CPU, %.0f %% busy with them", name, end_words(&t),
			     c->max, softirq_share(core) * 100);
	finding_number(out, f, fact, c->now, UNIT_COUNT, "> 1", "ethtool CHANNELS_GET");
	finding_number(out, f, rule_text(out, "%s_max", fact), c->max, UNIT_COUNT, NULL,
		       "ethtool CHANNELS_GET");
	finding_number(out, f, end_fact(out, &t, "softirq core, softirq"), softirq_share(core),
		       UNIT_SHARE, rule_text(out, ">= %g", RSS_HOT_SOFTIRQ), "/proc/stat");
	finding_number(out, f, end_fact(out, &t, "flows"), (double)in->run->spec.streams,
		       UNIT_COUNT, "> 1", "traffic run");
	finding_cpu(out, f, &t);
	finding_command(out, f, "ethtool -L %s %s %.0f", rule_shell(out, name), c->word, wanted);
	finding_undo(out, f, "ethtool -L %s %s %.0f", rule_shell(out, name), c->word, c->now);
	finding_keep_ethtool(out, f, in->port, "-L", rule_text(out, "%s %.0f", c->word, wanted));
	spread_rates(&t, core, 1, wanted, &low, &high);
	finding_lifts(f, CEILING_CPU, low, high);
}

static bool does_not_apply(const struct rule_input *in, struct rule_output *out)
{
	if (in->port && in->port->kind.k == ND_KNOWN && !nd_str_is(in->port->kind, "physical"))
		rule_not_applicable(out, "a software link has no queues of its own");
	else if (in->run->spec.streams < 2)
		rule_not_applicable(out, "one flow uses one queue");
	else
		return false;
	return true;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct core_load *core = softirq_core(in->end);
	struct traffic_end t = traffic_end_of(in);
	struct channels c;

	if (does_not_apply(in, out))
		return;
	if (!core) {
		end_missing(out, &t, "cores.softirq", ND_UNREAD, NULL);
		return;
	}
	if (softirq_share(core) < RSS_HOT_SOFTIRQ || core->busy.v < CORE_BUSY) {
		rule_clear(out, "no CPU was full of receiving: the most was %.0f %% of one",
			   softirq_share(core) * 100);
		return;
	}
	if (!in->port) {
		rule_missing(out, rule_text(out, "%s.links", side_word(in->side)), ND_UNREAD,
			     NULL);
		return;
	}
	c = channels_of(in->port);
	if (c.reason != ND_KNOWN) {
		rule_missing(out, rule_text(out, "%s.links[%s].combined_channels",
					    side_word(in->side), in->port->name.k == ND_KNOWN ?
					    in->port->name.v : "?"), c.reason, NULL);
		return;
	}
	if (c.now > 1 || c.max < 2 || queues_wanted(in, &c) < 2) {
		rule_clear(out, "%.0f of %.0f receive queues are in use", c.now, c.max);
		return;
	}
	if (rps_spreads(in->facts, in->port) || offload_wire_is_full(in)) {
		rule_clear(out, "one receive queue, but RPS spreads its packets or the wire is "
			   "full");
		return;
	}
	fire(in, out, &c, core);
}

const struct rule rule_rss_single_queue = {
	.id = "rss-single-queue",
	.title = "the NIC receives with one queue, though it has more",
	.scope = RULE_PER_RECEIVER,
	.reads = "channels of the receiving port, now and at most; rps_cpus of its queues; the "
		 "core with most softirq time under traffic; number of flows",
	.fires_when = "one receive queue of several, two or more flows, and a core is >= 85 % "
		      "busy, >= 80 % in softirqs",
	.why = "Receive side scaling gives each queue a CPU of its own and spreads flows over "
	       "queues. With one queue one CPU handles every packet, and the others only wait "
	       "for it.",
	.fix = "Use as many queues as the NIC's NUMA node has cores, up to 16.",
	.not_when = "One flow: it stays in one queue. RPS spreads the queue's packets already. The "
		    "wire is full.",
	.references = "Linux Documentation/networking/scaling.rst\n"
		      "ethtool(8), -L",
	.evaluate = evaluate,
};

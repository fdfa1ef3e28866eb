/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/keep.h"
#include "rules/offload.h"
#include "rules/thresholds.h"

/* The receiver's CPUs are full, and (where softirqs are its own) of receiving packets. */
static enum cpu_bound find_full(const struct traffic_end *t)
{
	enum cpu_bound bound = cpu_bound_of(t, OFFLOAD_RECEIVER_CORE_BUSY);
	const struct core_load *hot = end_hot_core(t->end);

	if (t->shared || bound == CPU_UNKNOWN || bound == CPU_HAS_ROOM || bound == CPU_ALL_FULL)
		return bound;
	if (hot && hot->softirq.k == ND_KNOWN && hot->busy.v >= OFFLOAD_RECEIVER_CORE_BUSY &&
	    hot->softirq.v >= OFFLOAD_RECEIVER_SOFTIRQ)
		return CPU_CORE_FULL;
	return CPU_HAS_ROOM;
}

static void add_gain(const struct rule_input *in, struct finding *f,
		     const struct packet_experiment *x)
{
	double low = OFFLOAD_GRO_GAIN_LOW * in->measured_bps, few_low, few_high;
	double high = OFFLOAD_GRO_GAIN_HIGH * in->measured_bps, all_low, all_high;

	/* How many packets merge depends on how they arrive: from a handful to 64 KB. */
	if (packet_experiment_predict(x, OFFLOAD_GRO_FEW * x->segment, &few_low, &few_high) &&
	    packet_experiment_predict(x, OFFLOAD_AGGREGATE_BYTES, &all_low, &all_high)) {
		low = few_low;
		if (!x->disturbed)
			high = fmin(high, all_high);
		packet_experiment_bound(in, &low, &high);
	}
	finding_lifts(f, CEILING_CPU, fmin(low, high), high);
}

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct offload_state *s, enum cpu_bound bound)
{
	struct traffic_end t = traffic_end_of(in);
	struct finding *f = end_fire(out, &t);
	const char *name = rule_shell(out, offload_link_name(s->link));
	struct packet_experiment x;

	packet_experiment_of(&t, &x);
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_NONE;
	f->subject = offload_link_name(s->link);
	f->title = rule_text(out, "GRO is off on %s of %s: CPUs handle every received packet by "
			     "itself, and %s", f->subject, t.side == SIDE_PEER ? "the peer" :
			     "this host", cpu_bound_text(out, &t, bound));
	finding_word(out, f, offload_fact(out, t.side, s), "off", "on", "ethtool FEATURES_GET");
	finding_cpu(out, f, &t);
	finding_experiment(out, f, &t, &x);
	finding_command(out, f, "ethtool -K %s gro on", name);
	finding_undo(out, f, "ethtool -K %s gro off", name);
	finding_keep_ethtool(out, f, s->link, "-K", "gro on");
	add_gain(in, f, &x);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct offload_state s = offload_state_of(in->exam, in->side, OFFLOAD_GRO);
	struct traffic_end t = traffic_end_of(in);
	enum cpu_bound bound;

	if (in->port && nd_str_is(in->port->kind, "loopback")) {
		rule_not_applicable(out, "loopback");
		return;
	}
	if (!offload_is_off(in, out, &s, "GRO"))
		return;
	if (offload_arrives_whole(&t, s.link)) {
		rule_clear(out, "GRO is off, but packets arrive in the sender's aggregates");
		return;
	}
	bound = find_full(&t);
	if (bound == CPU_UNKNOWN) {
		end_missing(out, &t, "cores", ND_UNREAD, NULL);
		return;
	}
	if (bound == CPU_HAS_ROOM || offload_wire_is_full(in)) {
		rule_clear(out, "GRO is off, but %s", bound == CPU_HAS_ROOM ?
			   "no CPU of the receiver was full of it" : "the wire is full");
		return;
	}
	fire(in, out, &s, bound);
}

const struct rule rule_offload_gro_off = {
	.id = "offload-gro-off",
	.title = "generic receive offload is off, and the receiver's CPU pays for it",
	.scope = RULE_PER_RECEIVER,
	.reads = "rx-gro of the receiving port, bytes and packets it received; the receiver's "
		 "cores and our threads under traffic; a run with half the segment size",
	.fires_when = "GRO is off, received packets are no larger than 2 x the MTU, and a core is "
		      ">= 85 % busy with >= 50 % softirq, or all CPUs are full (with both ends on "
		      "one machine: a core or a thread is); shown by experiment when half the "
		      "segment size costs >= 1.15 times the CPU per byte and lowers the rate",
	.why = "GRO merges the packets of a flow as they come off the device, so that the stack, "
	       "the acknowledgements and the application deal with up to 64 KB at once. Without "
	       "it each packet pays the whole way.",
	.fix = "Turn GRO on.",
	.not_when = "A veth pair (or a virtual NIC) whose sender has TSO on: its packets arrive "
		    "whole, and rx-gro is off there by default. Boxes that capture packets "
		    "may have it off on purpose.",
	.references = "Linux Documentation/networking/segmentation-offloads.rst\n"
		      "ethtool(8), -K",
	.tcp = true,
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offloads of the sending side: checksums, scatter-gather, TSO and GSO hang together. */
#include <math.h>

#include "rules/keep.h"
#include "rules/offload.h"
#include "rules/thresholds.h"

static const struct part {
	const char *people, *ethtool;
} parts[] = {
	[OFFLOAD_CHECKSUM] = { "transmit checksum offload", "tx" },
	[OFFLOAD_SCATTER_GATHER] = { "scatter-gather", "sg" },
	[OFFLOAD_TSO] = { "TSO", "tso" },
	[OFFLOAD_GSO] = { "GSO", "gso" },
	[OFFLOAD_GRO] = { "GRO", "gro" },
};

/* An aggregate of the largest size, as payload. */
static double aggregate_bytes(const struct link_facts *l)
{
	double max = l->gso_max_bytes.k == ND_KNOWN && l->gso_max_bytes.v ?
		     (double)l->gso_max_bytes.v : OFFLOAD_AGGREGATE_BYTES;

	return fmin(max, OFFLOAD_AGGREGATE_BYTES);
}

/*
 * A veth pair hands the sender's packets to the receiver as they are: cutting them makes the
 * receiver work by the packet too.
 */
static bool passes_whole(const struct traffic_end *t, const struct link_facts *l)
{
	return t->shared && nd_str_is(l->kind, "veth");
}

/* full: the end whose CPUs are. */
static const char *titled(struct rule_output *out, const struct traffic_end *t, enum offload o,
			  const char *name, const struct traffic_end *full, enum cpu_bound bound)
{
	bool gso_off = offload_state_of(t->exam, t->side, OFFLOAD_GSO).status == OFFLOAD_OFF;
	struct nd_u64 mss = END_FLOW_MIN(t->end, snd_mss);
	const char *what = o == OFFLOAD_TSO && gso_off ? "TSO and GSO are" :
			   rule_text(out, "%s is", parts[o].people);
	const char *size = mss.k == ND_KNOWN ?
			   rule_text(out, " of %llu bytes", (unsigned long long)mss.v) : "";

	return rule_text(out, "%s off on %s of %s: CPUs handle every packet%s by itself, and %s",
			 what, name, t->side == SIDE_PEER ? "the peer" : "this host", size,
			 cpu_bound_text(out, full, bound));
}

/* " tx on tso on": all that is off and can be on. */
static const char *switches(struct rule_output *out, const struct exam *e, enum side side,
			    const char *word)
{
	const char *line = "";
	enum offload o;

	for (o = OFFLOAD_CHECKSUM; o <= OFFLOAD_GSO; o++)
		if (offload_state_of(e, side, o).status == OFFLOAD_OFF)
			line = rule_text(out, "%s %s %s", line, parts[o].ethtool, word);
	return line;
}

static void add_commands(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct link_facts *l)
{
	struct offload_state gro = offload_state_of(in->exam, side_other(in->side), OFFLOAD_GRO);
	const char *name = rule_shell(out, l->name.k == ND_KNOWN ? l->name.v : "IFACE");
	struct traffic_end t = traffic_end_of(in);

	finding_command(out, f, "ethtool -K %s%s", name, switches(out, in->exam, in->side, "on"));
	finding_undo(out, f, "ethtool -K %s%s", name, switches(out, in->exam, in->side, "off"));
	finding_keep_ethtool(out, f, l, "-K", switches(out, in->exam, in->side, "on"));
	if (gro.status != OFFLOAD_OFF)
		return;
	finding_word(out, f, offload_fact(out, side_other(in->side), &gro), "off",
		     passes_whole(&t, l) ? "not needed when packets arrive whole" : "on",
		     "ethtool FEATURES_GET");
	if (passes_whole(&t, l))
		return;
	name = rule_shell(out, offload_link_name(gro.link));
	finding_command(out, f, "ethtool -K %s gro on  # on %s", name,
			end_host(out, in->other_facts, side_other(in->side)));
	finding_undo(out, f, "ethtool -K %s gro off  # on %s", name,
		     end_host(out, in->other_facts, side_other(in->side)));
}

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f)
{
	enum offload o;

	for (o = OFFLOAD_CHECKSUM; o <= OFFLOAD_GSO; o++) {
		struct offload_state s = offload_state_of(in->exam, in->side, o);

		if (s.status == OFFLOAD_OFF)
			finding_word(out, f, offload_fact(out, in->side, &s), "off", "on",
				     "ethtool FEATURES_GET");
	}
}

/* With aggregates again: by the experiment, else by the factors that others saw. */
static void add_gain(const struct rule_input *in, struct finding *f, enum offload o,
		     const struct link_facts *l, const struct packet_experiment *x)
{
	bool software = o == OFFLOAD_GSO;
	double most = software ? OFFLOAD_GSO_GAIN_HIGH : OFFLOAD_TSO_GAIN_HIGH;
	double low = (software ? OFFLOAD_GSO_GAIN_LOW : OFFLOAD_TSO_GAIN_LOW) * in->measured_bps;
	double high = most * in->measured_bps, predicted_low, predicted_high;

	/*
	 * GSO saves the way through the stack, not the device's work for each packet: the
	 * experiment only bounds it.  An experiment with 1448 bytes says little about 64 KB on
	 * its high side, so nothing beyond what was ever seen is promised.  One that says more than
	 * that even on its low side was disturbed.
	 */
	if (packet_experiment_predict(x, aggregate_bytes(l), &predicted_low, &predicted_high) &&
	    predicted_low < high) {
		low = software ? fmin(low, predicted_low) : predicted_low;
		if (!x->disturbed)
			high = fmin(high, predicted_high);
		packet_experiment_bound(in, &low, &high);
	}
	finding_lifts(f, CEILING_CPU, fmin(low, high), high);
}

static void fire(const struct rule_input *in, struct rule_output *out, enum offload o,
		 const struct offload_state *s, const struct traffic_end *full,
		 enum cpu_bound bound)
{
	struct traffic_end t = traffic_end_of(in);
	struct finding *f = end_fire(out, &t);
	struct packet_experiment x;

	packet_experiment_of(full, &x);
	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_NONE;
	f->subject = offload_link_name(s->link);
	f->title = titled(out, &t, o, f->subject, full, bound);
	add_evidence(in, out, f);
	finding_cpu(out, f, full);
	finding_experiment(out, f, &t, &x);
	add_commands(in, out, f, s->link);
	add_gain(in, f, o, s->link, &x);
}

/* The end whose CPUs are full by it: the sender's, or the receiver's behind a veth pair. */
static enum cpu_bound find_full(const struct traffic_end *t, const struct link_facts *l,
				struct traffic_end *full)
{
	enum cpu_bound bound = cpu_bound_of(t, OFFLOAD_SENDER_CORE_BUSY), other;

	*full = *t;
	if (bound != CPU_HAS_ROOM || !passes_whole(t, l))
		return bound;
	*full = traffic_other_end(t);
	other = cpu_bound_of(full, OFFLOAD_RECEIVER_CORE_BUSY);
	return other == CPU_UNKNOWN ? CPU_HAS_ROOM : other;
}

void offload_evaluate_sender(const struct rule_input *in, struct rule_output *out, enum offload o)
{
	struct offload_state s = offload_state_of(in->exam, in->side, o);
	struct traffic_end t = traffic_end_of(in), full;
	enum cpu_bound bound;

	if (in->link && nd_str_is(in->link->kind, "loopback")) {
		rule_not_applicable(out, "loopback");
		return;
	}
	if (!offload_is_off(in, out, &s, parts[o].people))
		return;
	if (o == OFFLOAD_GSO && offload_state_of(in->exam, in->side, OFFLOAD_TSO).status ==
	    OFFLOAD_ON) {
		rule_clear(out, "GSO is off, but TSO keeps packets whole");
		return;
	}
	bound = find_full(&t, s.link, &full);
	if (bound == CPU_UNKNOWN) {
		end_missing(out, &t, "cores", ND_UNREAD, NULL);
		return;
	}
	if (bound == CPU_HAS_ROOM || offload_wire_is_full(in)) {
		rule_clear(out, "%s is off, but %s", parts[o].people,
			   bound == CPU_HAS_ROOM ? "no CPU it loads was full" :
			   "the wire is full");
		return;
	}
	fire(in, out, o, &s, &full, bound);
}

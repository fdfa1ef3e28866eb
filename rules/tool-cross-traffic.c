/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/tcp.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

/* What else a host's port carried in our direction, bit/s of layer 2. */
struct others {
	enum side side;
	const struct link_facts *port;
	double all_bps, own_bps, bps, line_bps;	/* line_bps 0: not known */
};

/* What one end sends is what its port receives: a loopback's, of a run in both directions. */
static bool carries_both(const struct rule_input *in)
{
	return in->run->spec.bidirectional && nd_is_true(in->exam->path.loopback);
}

/*
 * Payload of our segments, bit/s, repeats included.  Over the window of the sender, who counted
 * them: on a busy machine the two ends' windows differ.
 */
static double segments_rate(const struct rule_input *in)
{
	const struct run_end *sender = &in->run->ends[run_sender(in->direction)];
	struct nd_u64 sent = END_FLOW_SUM(sender, bytes_sent);
	double bps = in->measured_bps;

	if (sender->present && sent.k == ND_KNOWN && sender->window_ns.k == ND_KNOWN &&
	    sender->window_ns.v)
		bps = (double)sent.v * 8e9 / (double)sender->window_ns.v;
	if (carries_both(in) && in->run->other_goodput_bps.k == ND_KNOWN)
		bps += (double)in->run->other_goodput_bps.v;
	return bps;
}

static double known(struct nd_u64 v)
{
	return v.k == ND_KNOWN ? (double)v.v : 0;
}

/* Payload of our datagrams that may have passed an end's port: lost ones, too. */
static double datagrams_rate(const struct rule_input *in, const struct run_end *end, bool sends)
{
	double n = 0;
	struct rule_loss loss;
	size_t i;

	for (i = 0; i < end->nflows; i++) {
		const struct flow_summary *f = &end->flows[i];

		if (nd_str_is(f->direction, "send") != sends && !carries_both(in))
			continue;
		n += known(f->packets) + known(f->duplicates);
	}
	/* Sockets and firewalls lose what the port has counted; a switch, what it has not. */
	if ((!sends || carries_both(in)) && rule_loss_of(in->exam, in->direction, &loss))
		n += loss.segments;
	return n * (double)in->run->spec.block_bytes * 8e9 / (double)end->window_ns.v;
}

/* The receiver's port can be held against what the sender sent only over nearly the same time. */
static bool windows_agree(const struct rule_input *in, double receiver_s)
{
	const struct run_end *sender = &in->run->ends[run_sender(in->direction)];
	double s = sender->present && sender->window_ns.k == ND_KNOWN ?
		   (double)sender->window_ns.v / 1e9 : receiver_s;

	return fabs(receiver_s - s) <= TOOL_CROSS_TRAFFIC_SHARE / 2 * s;
}

/* False: the port's counters were not seen, or not over the same time. */
static bool look(const struct rule_input *in, enum side side, struct others *o)
{
	const struct run_end *end = &in->run->ends[side];
	bool sends = side == run_sender(in->direction);
	const struct link_sample *l;
	double segment, frame, seconds;
	struct nd_u64 bytes;
	struct nd_f64 line;

	o->side = side;
	o->port = exam_port(in->exam, side);
	if (!end->present || !end->window || end->window_ns.k != ND_KNOWN || !end->window_ns.v ||
	    !o->port || o->port->ifindex.k != ND_KNOWN ||
	    !rule_packet(in->exam, in->direction, side, &segment, &frame))
		return false;
	l = counters_link(end->window, o->port->ifindex.v);
	bytes = l ? (sends ? l->tx_bytes : l->rx_bytes) : nd_u64_unknown(ND_UNREAD);
	if (bytes.k != ND_KNOWN)
		return false;
	seconds = (double)end->window_ns.v / 1e9;
	if (!sends && !windows_agree(in, seconds))
		return false;
	line = exam_line_rate(in->exam, side);
	o->line_bps = line.k == ND_KNOWN ? line.v : 0;
	o->all_bps = (double)bytes.v * 8 / seconds;
	o->own_bps = frame / segment * (in->run->spec.protocol == RUN_UDP ?
					datagrams_rate(in, end, sends) : segments_rate(in));
	/* Virtual links count an aggregate with one header: less than ours, never more. */
	o->bps = fmax(0, o->all_bps - o->own_bps);
	return true;
}

/* Of the line rate; without one of what passed. */
static double share(const struct others *o)
{
	double whole = o->line_bps > 0 ? o->line_bps : o->all_bps;

	return whole > 0 ? o->bps / whole : 0;
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct others *o)
{
	const char *name = o->port->name.k == ND_KNOWN ? o->port->name.v : "?";
	bool sends = o->side == run_sender(in->direction);
	bool full = o->line_bps > 0 && o->all_bps >= TOOL_CROSS_TRAFFIC_FULL * o->line_bps;
	struct finding *f = rule_fire(out);
	char rate[32];
	double after;

	format_rate(o->bps, rate, sizeof(rate));
	f->side = o->side;
	f->severity = full ? SEVERITY_MEDIUM : SEVERITY_LOW;
	f->subject = name;
	f->title = rule_text(out, "other traffic takes %s of %s on %s, which the test then lacks",
			     rate, name, o->side == SIDE_PEER ? "the peer" : "this host");
	if (!full)
		f->title = rule_text(out, "other traffic of %s passes %s of %s during the test",
				     rate, name, o->side == SIDE_PEER ? "the peer" : "this host");
	finding_number(out, f, rule_text(out, "runs[%s].%s.links[%s].%s", in->run->id.v,
					 side_word(o->side), name,
					 sends ? "tx_bytes * 8 / s" : "rx_bytes * 8 / s"),
		       o->all_bps, UNIT_BITS_PER_SECOND, NULL, "IFLA_STATS64");
	finding_number(out, f, "of our flows, with headers", o->own_bps, UNIT_BITS_PER_SECOND, NULL,
		       in->run->spec.protocol == RUN_UDP ? "counted by our ends" : "TCP_INFO");
	finding_number(out, f, "other traffic", o->bps, UNIT_BITS_PER_SECOND,
		       rule_text(out, ">= %g of the %s", TOOL_CROSS_TRAFFIC_SHARE,
				 o->line_bps > 0 ? "line rate" : "traffic"), "difference");
	finding_command(out, f, "ss -tunpi state established    # whose it is");
	/* On a full wire what they sent is what we lack, less the headers. */
	after = in->measured_bps * o->all_bps / fmax(o->own_bps, 1);
	if (full)
		finding_lifts(f, CEILING_WIRE, after, after);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct others ends[EXAM_ENDS], *worst = NULL;
	size_t i, seen = 0;

	for (i = 0; i < EXAM_ENDS; i++) {
		if (!look(in, (enum side)i, &ends[i]))
			continue;
		seen++;
		if (!worst || share(&ends[i]) > share(worst))
			worst = &ends[i];
	}
	if (!seen)
		rule_missing(out, rule_text(out, "runs[%s].*.links", in->run->id.v), ND_UNREAD,
			     NULL);
	else if (share(worst) < TOOL_CROSS_TRAFFIC_SHARE)
		rule_clear(out, "the links carried our traffic only");
	else
		fire(in, out, worst);
}

const struct rule rule_tool_cross_traffic = {
	.id = "tool-cross-traffic",
	.title = "other traffic shares the link during the test",
	.scope = RULE_PER_SENDER,
	.reads = "bytes of both hosts' ports in the measured direction; bytes our flows sent, with "
		 "headers; line rate",
	.fires_when = "other bytes are >= 5 % of the line rate (of all bytes, where it is not "
		      "known); it matters when both together are >= 90 % of the line rate",
	.why = "What others send over the same port is missing for the test. The measured rate is "
	       "then no fault of the path.",
	.fix = "Test again when the link is quiet, or count the other traffic in.",
	.not_when = "Virtual links count whole aggregates with one header; there the difference "
		    "says little below a few percent.",
	.references = "Linux Documentation/networking/statistics.rst",
	.evaluate = evaluate,
};

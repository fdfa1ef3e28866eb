/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/ladder.h"

#include <math.h>

#include "src/model/limits.h"
#include "src/model/loss.h"

/* Retransmissions that the receiver already had (DSACK) were no losses. */
static double segments_of(const struct run *run, const struct run_end *sender)
{
	struct nd_u64 dups = END_FLOW_SUM(sender, dsack_dups);
	uint64_t segments = run->retransmits.v;

	if (dups.k == ND_KNOWN)
		segments -= dups.v < segments ? dups.v : segments;
	return (double)segments;
}

/* Times that flows of the sending host cut their window; false: it does not count them. */
static bool count_events(const struct run_end *sender, double *events)
{
	static const char *const names[] = {
		"TcpExtTCPSackRecovery", "TcpExtTCPRenoRecovery", "TcpExtTCPLossProbeRecovery",
		"TcpExtTCPTimeouts",
	};
	size_t i;

	*events = 0;
	for (i = 0; sender->window && i < ARRAY_SIZE(names); i++) {
		struct nd_u64 n = counters_mib(sender->window, names[i]);

		if (n.k == ND_KNOWN)
			*events += (double)n.v;
		else if (i == 0)
			return false;
	}
	return sender->window != NULL;
}

bool rule_loss_of(const struct exam *e, enum run_direction d, struct rule_loss *out)
{
	const struct run *run = exam_main_run(e, d);
	const struct run_end *sender = run ? &run->ends[run_sender(d)] : NULL;
	struct nd_u64 sent, timeouts;
	double events;

	*out = (struct rule_loss){ 0 };
	if (!run || run->loss.k != ND_KNOWN || run->retransmits.k != ND_KNOWN)
		return false;
	out->segments = out->events = segments_of(run, sender);
	out->share = out->event_share = run->loss.v;
	timeouts = END_FLOW_SUM(sender, timeouts);
	if (timeouts.k == ND_KNOWN)
		out->timeouts = (double)timeouts.v;
	sent = END_FLOW_SUM(sender, segments_out);
	if (!sender->present || sent.k != ND_KNOWN || !sent.v || !count_events(sender, &events))
		return true;
	out->events_counted = true;
	/* The host counts for all its connections: ours had no more than they sent again. */
	out->events = fmin(events, out->segments);
	out->event_share = fmin(out->share, out->events / (double)sent.v);
	return true;
}

void ladder_add_loss(struct ladder_builder *b, const struct ladder_path *p)
{
	struct loss_input in = { 0 };
	const char *control;
	struct rule_loss l;
	struct nd_f64 rtt;
	struct ceiling *c;
	double low, high;

	if (!p->run)
		return;
	c = ceiling_add(b, p, CEILING_LOSS, SIDE_PATH);
	if (!rule_loss_of(b->exam, p->direction, &l)) {
		ceiling_unknown(b, c, "the sender's retransmissions are not known");
		return;
	}
	in.events = (uint64_t)l.events;
	control = end_congestion_control(p->sender);
	in.law = loss_law_of(control);
	rtt = END_FLOW_MEAN(p->sender, rtt_us);
	if (in.events < LOSS_MIN_EVENTS) {
		ceiling_unknown(b, c, "losses: %llu; fewer than %d do not set a rate",
				(unsigned long long)in.events, LOSS_MIN_EVENTS);
		return;
	}
	if (in.law == LOSS_LAW_NONE) {
		ceiling_unknown(b, c, "%s does not follow a formula of single losses",
				control ? control : "unknown congestion control");
		return;
	}
	in.mss = p->mss;
	in.rtt_s = rtt.k == ND_KNOWN ? rtt.v / 1e6 : 0;
	in.loss = l.event_share;
	in.streams = p->streams;
	if (!loss_ceiling(&in, &low, &high)) {
		ceiling_unknown(b, c, "segment size, round-trip time or loss share is not known");
		return;
	}
	ceiling_input(c, "loss", in.loss, UNIT_SHARE);
	ceiling_input(c, "losses", (double)in.events, UNIT_COUNT);
	ceiling_input(c, "mss", in.mss, UNIT_BYTES);
	ceiling_input(c, "rtt_us", in.rtt_s * 1e6, UNIT_MICROSECONDS);
	ceiling_input(c, "streams", in.streams, UNIT_COUNT);
	c->subject = control;
	ceiling_set(c, low, high, BASIS_MEASURED,
		    in.law == LOSS_LAW_CUBIC ?
		    "streams * mss * 8 / rtt * max(1.22 / loss^0.5, 1.054 * rtt^0.75 / loss^0.75)" :
		    "streams * mss * 8 / rtt * 1.22 / loss^0.5");
}

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

/*
 * A datagram that a socket drops may be many that the kernel merged (UDP_GRO): as many as a
 * message of the sender holds, at most.
 */
static struct nd_f64 lost_by_sockets(const struct run *run, const struct run_end *receiver,
				     double lost)
{
	struct nd_u64 drops = END_FLOW_SUM(receiver, socket_drops);
	double most = 1;

	if (drops.k != ND_KNOWN)
		return nd_f64_unknown(drops.k);
	if (run->spec.udp_gro && run->spec.block_bytes)
		most = fmax(1, floor((double)RUN_MAX_DATAGRAM_BYTES /
				     (double)run->spec.block_bytes));
	return nd_f64(fmin(lost, (double)drops.v * most));
}

static bool loss_of_datagrams(const struct run *run, const struct run_end *receiver,
			      struct rule_loss *out)
{
	struct nd_u64 lost = END_FLOW_SUM(receiver, lost);

	if (!receiver->present || lost.k != ND_KNOWN)
		return false;
	out->datagrams = true;
	out->counted = out->segments = out->events = (double)lost.v;
	out->share = out->event_share = run->loss.v;
	out->sockets = lost_by_sockets(run, receiver, (double)lost.v);
	return true;
}

bool rule_loss_of(const struct exam *e, enum run_direction d, struct rule_loss *out)
{
	const struct run *run = exam_main_run(e, d);
	const struct run_end *sender = run ? &run->ends[run_sender(d)] : NULL;
	struct nd_u64 sent, timeouts;
	double events;

	*out = (struct rule_loss){ 0 };
	if (!run || run->loss.k != ND_KNOWN)
		return false;
	if (run->spec.protocol == RUN_UDP)
		return loss_of_datagrams(run, &run->ends[run_receiver(d)], out);
	if (run->retransmits.k != ND_KNOWN)
		return false;
	out->counted = (double)run->retransmits.v;
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

/*
 * What came of what was sent, had all but this share arrived: a limit once it takes more than the
 * tolerance with which any other limit explains a rate.
 */
static void set_share_left(struct ladder_builder *b, const struct ladder_path *p,
			   struct ceiling *c, const struct rule_loss *l, double part,
			   const char *where)
{
	double offered = rule_sent_bps(b->exam, p->direction);
	double lost = l->segments > 0 ? l->share * part / l->segments : 0;

	if (part < LOSS_MIN_EVENTS || lost < 1 - LIMIT_BINDS_FROM) {
		ceiling_unknown(b, c, "datagrams lost %s: %.0f; they do not set the rate", where,
				part);
		return;
	}
	c->subject = where;
	ceiling_input(c, "sent", offered, UNIT_BITS_PER_SECOND);
	ceiling_input(c, "loss", lost, UNIT_SHARE);
	ceiling_set(c, offered * (1 - lost), offered * (1 - lost), BASIS_MEASURED,
		    "sent * (1 - loss)");
}

/* Of datagrams no window and no congestion control sets the rate, but what of them is lost. */
void ladder_add_datagrams(struct ladder_builder *b, const struct ladder_path *p)
{
	struct ceiling *path, *sockets;
	struct rule_loss l;
	bool known = rule_loss_of(b->exam, p->direction, &l);

	sockets = ceiling_add(b, p, CEILING_WINDOW_RECEIVE, run_receiver(p->direction));
	if (known && l.sockets.k == ND_KNOWN)
		set_share_left(b, p, sockets, &l, l.sockets.v, "for want of room in a socket");
	else
		ceiling_unseen(b, sockets, "what the receiver's sockets lost is not known");
	path = ceiling_add(b, p, CEILING_LOSS, SIDE_PATH);
	if (known)
		set_share_left(b, p, path, &l,
			       l.segments - (l.sockets.k == ND_KNOWN ? l.sockets.v : 0),
			       l.sockets.k == ND_KNOWN ? "on the way" :
			       "on the way or in the receiver's sockets");
	else
		ceiling_unseen(b, path, "what the receiver missed is not known");
}

void ladder_add_loss(struct ladder_builder *b, const struct ladder_path *p)
{
	struct loss_input in = { 0 };
	const char *control;
	struct rule_loss l;
	struct nd_f64 rtt;
	struct ceiling *c;
	double low, high;

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

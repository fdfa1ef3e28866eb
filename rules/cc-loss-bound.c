/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "rules/tcp.h"
#include "rules/thresholds.h"
#include "src/core/units.h"
#include "src/model/loss.h"

struct loss_view {
	struct rule_loss loss;
	struct tcp_sender sender;
	double low_bps, high_bps;	/* formula at the smoothed and the shortest RTT */
	double timeout_share;		/* least part of the flows' time spent in timeouts */
};

static double formula(const struct rule_input *in, enum loss_law law, double mss, double rtt_us,
		      double p)
{
	double one = law == LOSS_LAW_CUBIC ? loss_cubic_bps(mss, rtt_us / 1e6, p) :
					     loss_reno_bps(mss, rtt_us / 1e6, p);

	return one * fmax(1, (double)in->run->spec.streams);
}

static void fill_formula(const struct rule_input *in, struct loss_view *v)
{
	enum loss_law law = loss_law_of(v->sender.congestion_control);
	struct nd_u64 mss = END_FLOW_MIN(in->end, snd_mss);
	double loaded = v->sender.rtt_us.v, idle = (double)v->sender.min_rtt_us.v;

	if (v->sender.min_rtt_us.k != ND_KNOWN || !(idle > 0) || idle > loaded)
		idle = loaded;
	if (mss.k != ND_KNOWN)
		return;
	v->low_bps = formula(in, law, (double)mss.v, loaded, v->loss.event_share);
	v->high_bps = formula(in, law, (double)mss.v, idle, v->loss.event_share);
}

/*
 * Something behind the send buffer is slower than the writer: the congestion window.  Rarely
 * is it seen full: a burst of losses empties the flight for a while.
 */
static bool window_is_short(const struct tcp_sender *s)
{
	if (s->cwnd_fill.k == ND_KNOWN && s->cwnd_fill.v >= CC_CWND_FILL)
		return true;
	if (s->notsent_empty.k != ND_KNOWN || s->notsent_empty.v > CC_UNSENT_EMPTY)
		return false;
	return s->app_limited.k != ND_KNOWN || s->app_limited.v <= CC_APP_LIMITED;
}

static bool enough_losses(const struct loss_view *v)
{
	return v->loss.events >= LOSS_MIN_EVENTS || v->timeout_share >= CC_TIMEOUT_SHARE;
}

static void add_fix(const struct rule_input *in, struct rule_output *out, struct finding *f,
		    const struct loss_view *v)
{
	static const char *const sides[] = { "this host", "the peer" };
	const struct facts *f_sender = in->facts;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		const struct link_facts *port = exam_port(in->exam, (enum side)i);

		if (port && nd_str_is(port->kind, "physical") && port->name.k == ND_KNOWN)
			finding_command(out, f, "ethtool -S %s | grep -iE "
					"'drop|discard|err|crc|miss' | grep -v ': 0$'    # on %s",
					rule_shell(out, port->name.v), sides[i]);
	}
	/* Over a LAN bbr's pacing costs more CPU than it wins. */
	if (v->sender.min_rtt_us.k != ND_KNOWN ||
	    (double)v->sender.min_rtt_us.v < CC_BBR_RTT_US || !f_sender ||
	    f_sender->sysctl.tcp_available_congestion_control.k != ND_KNOWN ||
	    !strstr(f_sender->sysctl.tcp_available_congestion_control.v, "bbr"))
		return;
	finding_command(out, f, "sysctl -w net.ipv4.tcp_congestion_control=bbr    # on %s, if the "
			"losses cannot be removed", sides[in->side]);
	if (f_sender->sysctl.tcp_congestion_control.k == ND_KNOWN)
		finding_undo(out, f, "sysctl -w net.ipv4.tcp_congestion_control=%s",
			     rule_shell(out, f_sender->sysctl.tcp_congestion_control.v));
}

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct loss_view *v)
{
	const char *run = rule_text(out, "runs[%s].%s", in->run->id.v, side_word(in->side));

	finding_number(out, f, rule_text(out, "runs[%s].loss", in->run->id.v), v->loss.share,
		       UNIT_SHARE, NULL, "TCP_INFO: bytes sent again / bytes sent");
	finding_number(out, f, rule_text(out, "runs[%s].retransmits", in->run->id.v),
		       v->loss.segments, UNIT_PACKETS, NULL, "TCP_INFO, without duplicates");
	finding_number(out, f, rule_text(out, "%s.loss events", run), v->loss.events, UNIT_COUNT,
		       rule_text(out, ">= %d", LOSS_MIN_EVENTS), v->loss.events_counted ?
		       "/proc/net/netstat: recoveries, loss probes, timeouts" : "TCP_INFO");
	if (v->loss.timeouts > 0)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "timeouts"),
			       v->loss.timeouts, UNIT_COUNT, NULL, "TCP_INFO");
	tcp_flow_evidence(out, f, in->run, in->side, "cwnd_fill", v->sender.cwnd_fill, UNIT_SHARE,
			  rule_text(out, ">= %g, or unsent bytes in most samples", CC_CWND_FILL));
	tcp_flow_evidence(out, f, in->run, in->side, "notsent_empty_share",
			  v->sender.notsent_empty, UNIT_SHARE, NULL);
	tcp_flow_evidence(out, f, in->run, in->side, "recovery_share", v->sender.recovery,
			  UNIT_SHARE, NULL);
	tcp_flow_evidence(out, f, in->run, in->side, "rtt_us", v->sender.rtt_us, UNIT_MICROSECONDS,
			  NULL);
	if (!(v->low_bps > 0))
		return;
	finding_number(out, f, "formula at this round trip", v->low_bps, UNIT_BITS_PER_SECOND,
		       NULL, "Mathis 1997, RFC 9438");
	finding_number(out, f, "formula at the shortest round trip", v->high_bps,
		       UNIT_BITS_PER_SECOND,
		       rule_text(out, ">= %g x the measured rate", 1 / CC_LOSS_MATCH_HIGH),
		       "Mathis 1997, RFC 9438");
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct loss_view *v)
{
	struct finding *f = rule_fire(out);
	char share[32], rate[32];

	format_quantity(v->loss.share, UNIT_SHARE, share, sizeof(share));
	format_rate(in->measured_bps, rate, sizeof(rate));
	f->side = SIDE_PATH;
	f->severity = SEVERITY_MEDIUM;
	f->risk = RISK_AFFECTS_OTHERS;
	if (!v->loss.events_counted)
		f->confidence = 0.6;
	f->title = rule_text(out, "%s of what %s sends is lost on the way, and %s slows down to %s",
			     share, in->side == SIDE_PEER ? "the peer" : "this host",
			     v->sender.congestion_control, rate);
	add_evidence(in, out, f, v);
	add_fix(in, out, f, v);
	finding_lifts(f, CEILING_LOSS, HUGE_VAL, HUGE_VAL);
}

static bool facts_are_there(const struct rule_input *in, struct rule_output *out,
			    const struct loss_view *v)
{
	const char *member = NULL;
	enum nd_known why = ND_UNREAD;

	if (!v->sender.congestion_control)
		member = "congestion_control";
	else if (v->sender.cwnd_fill.k != ND_KNOWN && v->sender.notsent_empty.k != ND_KNOWN) {
		member = "cwnd_fill";
		why = v->sender.cwnd_fill.k;
	} else if (v->sender.rtt_us.k != ND_KNOWN) {
		member = "rtt_us";
		why = v->sender.rtt_us.k;
	}
	if (member)
		rule_missing(out, tcp_flow_fact(out, in->run, in->side, member), why, NULL);
	return !member;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct loss_view v = { .sender = tcp_sender_of(in->exam, in->run) };
	double flow_seconds;

	if (!in->end->present || !rule_loss_of(in->exam, in->direction, &v.loss)) {
		rule_missing(out, rule_text(out, "runs[%s].loss", in->run->id.v),
			     in->end->present ? in->run->loss.k : ND_UNREAD, NULL);
		return;
	}
	flow_seconds = fmax(1, (double)in->run->spec.streams) *
		       (in->run->seconds.k == ND_KNOWN ? in->run->seconds.v : 0);
	if (flow_seconds > 0)
		v.timeout_share = v.loss.timeouts * CC_TIMEOUT_LEAST_S / flow_seconds;
	if (!enough_losses(&v)) {
		rule_clear(out, "losses: %.0f; fewer than %d do not set a rate", v.loss.events,
			   LOSS_MIN_EVENTS);
		return;
	}
	if (!facts_are_there(in, out, &v))
		return;
	if (loss_law_of(v.sender.congestion_control) == LOSS_LAW_NONE) {
		rule_clear(out, "%s does not slow down for single losses",
			   v.sender.congestion_control);
		return;
	}
	fill_formula(in, &v);
	if (tcp_full_link(in))
		rule_clear(out, "packets were lost, but the link was full");
	else if (tcp_window_limited(&v.sender) || !window_is_short(&v.sender))
		rule_clear(out, "packets were lost, but the congestion window was not the limit");
	else if (v.high_bps > 0 && in->measured_bps > CC_LOSS_MATCH_HIGH * v.high_bps)
		rule_clear(out, "the rate is above what the losses should allow");
	else if (v.timeout_share < CC_TIMEOUT_SHARE &&
		 in->measured_bps < CC_LOSS_MATCH_LOW * v.low_bps)
		rule_clear(out, "so few losses would allow a higher rate");
	else
		fire(in, out, &v);
}

const struct rule rule_cc_loss_bound = {
	.id = "cc-loss-bound",
	.title = "packet loss keeps the congestion window small",
	.scope = RULE_PER_SENDER,
	.reads = "retransmissions, duplicates, recoveries and timeouts of the sender, its "
		 "congestion control and window, unsent bytes, round trip, segment size",
	.fires_when = "cubic or reno; >= 30 losses (one dropped burst or aggregate is one), or "
		      ">= 20 % of the time spent in timeouts; the congestion window is >= 80 % "
		      "full, or unsent bytes wait in >= 40 % of the samples and no other window "
		      "or link is full; and the rate is between half the formula at the measured "
		      "round trip and twice the formula at the shortest",
	.why = "Loss-based congestion control cuts its window at each loss and grows it by little "
	       "in a round trip, so the rate settles at mss / rtt x 1.22 / sqrt(loss) a stream, "
	       "whatever the link could carry.",
	.fix = "Find where packets are lost and remove that: drop and error counters of both "
	       "hosts and of each switch between them, cables and optics, policers. Over long "
	       "paths bbr with the fq qdisc, more streams or larger packets raise the rate in "
	       "spite of it.",
	.not_when = "A drop counter of one of the hosts explains the losses, then its own rule "
		    "names it. Retransmissions that the receiver reports as duplicates were late, "
		    "not lost. bbr does not slow down for single losses.",
	.references = "Mathis et al., The macroscopic behavior of the TCP congestion avoidance "
		      "algorithm, 1997\nRFC 9438 (CUBIC)\nRFC 2883 (DSACK)",
	.tcp = true,
	.evaluate = evaluate,
};

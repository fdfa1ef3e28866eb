/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>

#include "rules/tcp_buffer.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct tcp_sender *s, const struct tcp_receiver *r)
{
	enum side sender = side_other(in->side);
	struct nd_u64 buffer = END_FLOW_MIN(in->end, rcvbuf_bytes);

	finding_number(out, f, rule_text(out, "runs[%s].spec.rcvbuf_bytes",
					 in->run->id.k == ND_KNOWN ? in->run->id.v : "?"),
		       (double)in->run->spec.rcvbuf_bytes, UNIT_BYTES, "0: autotuned",
		       "option -w");
	if (buffer.k == ND_KNOWN)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "rcvbuf_bytes"),
			       (double)buffer.v, UNIT_BYTES, NULL,
			       "SO_MEMINFO: smallest of the flows");
	tcp_flow_evidence(out, f, in->run, sender, "rwnd_limited_share", s->rwnd_limited,
			  UNIT_SHARE, rule_text(out, ">= %g, or window_fill >= %g", s->bbr ?
						TCP_RWND_LIMITED_BBR : TCP_RWND_LIMITED,
						TCP_WINDOW_FILL));
	tcp_flow_evidence(out, f, in->run, sender, "window_fill", s->window_fill, UNIT_SHARE, NULL);
	tcp_flow_evidence(out, f, in->run, sender, "rtt_us", s->rtt_us, UNIT_MICROSECONDS, NULL);
	tcp_flow_evidence(out, f, in->run, in->side, "receive_queue_fill", r->queue_fill,
			  UNIT_SHARE, NULL);
}

/* Without -w both ends' buffers grow to what the sysctls allow. */
static void add_gain(const struct rule_input *in, struct finding *f, const struct tcp_sender *s)
{
	double low, high, send_low, send_high;

	if (!in->facts || in->facts->sysctl.tcp_rmem_max.k != ND_KNOWN)
		return;
	tcp_receive_rates(in->facts, in->run, s, (double)in->facts->sysctl.tcp_rmem_max.v, &low,
			  &high);
	if (in->run->spec.sndbuf_bytes) {
		if (!in->other_facts || in->other_facts->sysctl.tcp_wmem_max.k != ND_KNOWN)
			return;
		tcp_send_rates(in->run, s, (double)in->other_facts->sysctl.tcp_wmem_max.v,
			       &send_low, &send_high);
		low = fmin(low, send_low);
		high = fmin(high, send_high);
		f->lifts_too = CEILING_WINDOW_SEND;
	}
	finding_lifts(f, CEILING_WINDOW_RECEIVE, low, high);
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_sender *s,
		 const struct tcp_receiver *r)
{
	struct finding *f = rule_fire(out);
	char size[32], rate[32];

	format_bytes((double)in->run->spec.rcvbuf_bytes, size, sizeof(size));
	format_rate(in->measured_bps, rate, sizeof(rate));
	f->severity = SEVERITY_HIGH;
	f->risk = RISK_NONE;
	f->subject = "-w";
	if (r->queue_fill.k != ND_KNOWN)
		f->confidence = 0.6;	/* whether the reader kept up was not seen */
	f->title = rule_text(out, "you pinned the receive buffers to %s (-w): the full window "
			     "holds the sender to %s", size, rate);
	add_evidence(in, out, f, s, r);
	add_gain(in, f, s);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	struct tcp_receiver r = tcp_receiver_of(in->run);

	if (!in->run->spec.rcvbuf_bytes) {
		rule_not_applicable(out, "the receive buffers were autotuned");
		return;
	}
	if (!tcp_receive_window_full(in, out, &s))
		return;
	if (tcp_unscaled(in->run)) {
		rule_clear(out, "the window was full for lack of window scaling");
		return;
	}
	/* The kernel doubles what is asked for. */
	if (!tcp_receive_excused(in, out, &s, &r, 2 * (double)in->run->spec.rcvbuf_bytes))
		fire(in, out, &s, &r);
}

const struct rule rule_tcp_so_rcvbuf_pinned = {
	.id = "tcp-so-rcvbuf-pinned",
	.title = "a receive buffer set by option keeps the TCP window too small",
	.scope = RULE_PER_RECEIVER,
	.reads = "the receive buffer asked for (-w, SO_RCVBUF); the sender's TCP_INFO: window of "
		 "the receiver, bytes in flight, time limited by the window, round trip; unread "
		 "bytes of the receiver",
	.fires_when = "a receive buffer was asked for, the sender was limited by the receiver's "
		      "window for >= 20 % of the time (bbr: 5 %) or filled it to >= 85 % on "
		      "average, and the reader was not behind",
	.why = "SO_RCVBUF does not only set a size: it switches autotuning off. The window stays "
	       "at about half of the buffer, however long the round trip is.",
	.fix = "Leave the option out (-w here, SO_RCVBUF in a program): the buffers then grow as "
	       "far as net.ipv4.tcp_rmem and tcp_wmem allow.",
	.not_when = "The reader leaves the buffer full, the link is full already, or a queue on "
		    "the way holds the bytes that are in flight.",
	.references = "socket(7), SO_RCVBUF\n"
		      "Linux net/core/sock.c __sock_set_rcvbuf(), SOCK_RCVBUF_LOCK",
	.tcp = true,
	.evaluate = evaluate,
};

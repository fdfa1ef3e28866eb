/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>

#include "rules/tcp_buffer.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct tcp_sender *s)
{
	struct nd_u64 buffer = END_FLOW_MIN(in->end, sndbuf_bytes);

	finding_number(out, f, rule_text(out, "runs[%s].spec.sndbuf_bytes",
					 in->run->id.k == ND_KNOWN ? in->run->id.v : "?"),
		       (double)in->run->spec.sndbuf_bytes, UNIT_BYTES, "0: autotuned",
		       "option -w");
	if (buffer.k == ND_KNOWN)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "sndbuf_bytes"),
			       (double)buffer.v, UNIT_BYTES, NULL,
			       "SO_MEMINFO: smallest of the flows");
	tcp_flow_evidence(out, f, in->run, in->side, "notsent_empty_share", s->notsent_empty,
			  UNIT_SHARE, rule_text(out, ">= %g", CPU_NOTSENT_EMPTY));
	tcp_flow_evidence(out, f, in->run, in->side, "send_queue_fill", s->queue_fill, UNIT_SHARE,
			  rule_text(out, ">= %g, or writes of <= %g x a block", TCP_SNDBUF_FILL,
				    TCP_CUT_WRITE));
	tcp_flow_evidence(out, f, in->run, in->side, "blocked_share", s->blocked, UNIT_SHARE, NULL);
	tcp_flow_evidence(out, f, in->run, in->side, "rtt_us", s->rtt_us, UNIT_MICROSECONDS, NULL);
}

/* Without -w both ends' buffers grow to what the sysctls allow. */
static void add_gain(const struct rule_input *in, struct finding *f, const struct tcp_sender *s)
{
	double low, high, receive_low, receive_high;

	if (!in->facts || in->facts->sysctl.tcp_wmem_max.k != ND_KNOWN)
		return;
	tcp_send_rates(in->run, s, (double)in->facts->sysctl.tcp_wmem_max.v, &low, &high);
	if (in->run->spec.rcvbuf_bytes) {
		if (!in->other_facts || in->other_facts->sysctl.tcp_rmem_max.k != ND_KNOWN)
			return;
		tcp_receive_rates(in->other_facts, in->run, s,
				  (double)in->other_facts->sysctl.tcp_rmem_max.v, &receive_low,
				  &receive_high);
		low = fmin(low, receive_low);
		high = fmin(high, receive_high);
		f->lifts_too = CEILING_WINDOW_RECEIVE;
	}
	finding_lifts(f, CEILING_WINDOW_SEND, low, high);
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_sender *s)
{
	struct finding *f = rule_fire(out);
	char size[32], rate[32];

	format_bytes((double)in->run->spec.sndbuf_bytes, size, sizeof(size));
	format_rate(in->measured_bps, rate, sizeof(rate));
	f->severity = SEVERITY_HIGH;
	f->risk = RISK_NONE;
	f->subject = "-w";
	f->title = rule_text(out, "you pinned the send buffers to %s (-w): they are full and all "
			     "in flight at %s", size, rate);
	add_evidence(in, out, f, s);
	add_gain(in, f, s);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	enum nd_known reason;
	const char *missing;

	if (!in->run->spec.sndbuf_bytes) {
		rule_not_applicable(out, "the send buffers were autotuned");
		return;
	}
	missing = tcp_send_missing(in, out, &s, &reason);
	if (missing) {
		rule_missing(out, missing, reason, NULL);
		return;
	}
	/* The kernel doubles what is asked for. */
	if (!tcp_send_excused(in, out, &s, 2 * (double)in->run->spec.sndbuf_bytes))
		fire(in, out, &s);
}

const struct rule rule_tcp_so_sndbuf_pinned = {
	.id = "tcp-so-sndbuf-pinned",
	.title = "a send buffer set by option keeps too little in flight",
	.scope = RULE_PER_SENDER,
	.reads = "the send buffer asked for (-w, SO_SNDBUF); unsent bytes and windows (TCP_INFO), "
		 "fill of the buffers (SO_MEMINFO), bytes our send calls moved and time they "
		 "waited",
	.fires_when = "a send buffer was asked for; nothing unsent is left in >= 80 % of the "
		      "samples; neither window is full; and the buffers are >= 67 % full with the "
		      "writer waiting >= 30 % of the time, or our writes are cut to <= 75 % of a "
		      "block",
	.why = "SO_SNDBUF does not only set a size: it switches autotuning off. Sent data stays in "
	       "the buffer until it is acknowledged, so that a round trip carries three quarters "
	       "of the buffer at most.",
	.fix = "Leave the option out (-w here, SO_SNDBUF in a program): the buffers then grow as "
	       "far as net.ipv4.tcp_wmem and tcp_rmem allow.",
	.not_when = "The writer cannot fill the buffer (CPU or application), the congestion or "
		    "receive window is full, or the link is.",
	.references = "socket(7), SO_SNDBUF\n"
		      "Linux net/core/sock.c sock_setsockopt(), SOCK_SNDBUF_LOCK",
	.tcp = true,
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "rules/tcp_buffer.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct tcp_sender *s)
{
	tcp_sysctl_evidence(out, f, in->side, "tcp_wmem_max", in->facts->sysctl.tcp_wmem_max,
			    UNIT_BYTES, NULL);
	finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "sndbuf_bytes"),
		       (double)END_FLOW_MIN(in->end, sndbuf_bytes).v, UNIT_BYTES,
		       rule_text(out, ">= %g of tcp_wmem_max", TCP_BUFFER_GROWN),
		       "SO_MEMINFO: smallest of the flows");
	tcp_flow_evidence(out, f, in->run, in->side, "notsent_empty_share", s->notsent_empty,
			  UNIT_SHARE, rule_text(out, ">= %g", CPU_NOTSENT_EMPTY));
	tcp_flow_evidence(out, f, in->run, in->side, "send_queue_fill", s->queue_fill, UNIT_SHARE,
			  rule_text(out, ">= %g, or writes of <= %g x a block", TCP_SNDBUF_FILL,
				    TCP_CUT_WRITE));
	if (s->mean_write > 0)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "bytes / calls"),
			       s->mean_write, UNIT_BYTES,
			       rule_text(out, "of %llu offered",
					 (unsigned long long)in->run->spec.block_bytes),
			       "our send calls");
	tcp_flow_evidence(out, f, in->run, in->side, "blocked_share", s->blocked, UNIT_SHARE, NULL);
	tcp_flow_evidence(out, f, in->run, in->side, "cwnd_fill", s->cwnd_fill, UNIT_SHARE,
			  rule_text(out, "< %g", CC_CWND_FILL));
	tcp_flow_evidence(out, f, in->run, in->side, "rtt_us", s->rtt_us, UNIT_MICROSECONDS, NULL);
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_sender *s)
{
	const struct tcp_memory memory = tcp_send_memory(&in->facts->sysctl);
	double now = (double)memory.max.v;
	double wanted = tcp_buffer_for(in, s, TCP_SNDBUF_FACTOR, TCP_WMEM_MAX_DEFAULT, now);
	struct finding *f = rule_fire(out);
	char size[32], rate[32];
	double low, high;

	format_bytes(now, size, sizeof(size));
	format_rate(in->measured_bps, rate, sizeof(rate));
	f->severity = SEVERITY_HIGH;
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = "tcp_wmem";
	f->title = rule_text(out, "the send buffers of %s may grow to %s only: they are full and "
			     "all in flight at %s",
			     in->side == SIDE_PEER ? "the peer" : "this host", size, rate);
	add_evidence(in, out, f, s);
	tcp_memory_fix(out, f, &memory, wanted);
	tcp_send_rates(in->run, s, wanted, &low, &high);
	finding_lifts(f, CEILING_WINDOW_SEND, low, high);
}

/* The first fact without which nothing can be said, NULL: all are there. */
static const char *missing_fact(const struct rule_input *in, struct rule_output *out,
				const struct tcp_sender *s, enum nd_known *reason)
{
	*reason = ND_UNREAD;
	if (!in->facts || in->facts->sysctl.tcp_wmem_max.k != ND_KNOWN) {
		if (in->facts)
			*reason = in->facts->sysctl.tcp_wmem_max.k;
		return tcp_sysctl_fact(out, in->side, "tcp_wmem_max");
	}
	if (!s->present || END_FLOW_MIN(in->end, sndbuf_bytes).k != ND_KNOWN)
		return tcp_flow_fact(out, in->run, in->side, "sndbuf_bytes");
	return tcp_send_missing(in, out, s, reason);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	enum nd_known reason;
	const char *missing;
	double limit;

	if (in->run->spec.sndbuf_bytes) {
		rule_not_applicable(out, "the send buffer was set by option");
		return;
	}
	missing = missing_fact(in, out, &s, &reason);
	if (missing) {
		rule_missing(out, missing, reason, NULL);
		return;
	}
	limit = (double)in->facts->sysctl.tcp_wmem_max.v;
	if (tcp_flows_at(in->end, offsetof(struct flow_summary, sndbuf_bytes),
			 TCP_BUFFER_GROWN * limit) < TCP_FLOWS_AT_LIMIT)
		rule_clear(out, "the send buffers had not grown to their limit");
	else if (!tcp_send_excused(in, out, &s, limit))
		fire(in, out, &s);
}

const struct rule rule_tcp_sndbuf_limit = {
	.id = "tcp-sndbuf-limit",
	.title = "the sender's buffer limit keeps too little in flight",
	.scope = RULE_PER_SENDER,
	.reads = "net.ipv4.tcp_wmem of the sender; its sockets' buffers (SO_MEMINFO), unsent bytes "
		 "and windows (TCP_INFO); bytes our send calls moved and time they waited",
	.fires_when = "half of the send buffers are within 10 % of tcp_wmem's maximum; nothing "
		      "unsent is left in >= 80 % of the samples; neither window is full; and the "
		      "buffers are >= 67 % full with the writer waiting >= 30 % of the time, or "
		      "our writes are cut to <= 75 % of a block",
	.why = "Sent data stays in the send buffer until it is acknowledged. When the buffer is "
	       "smaller than rate x round trip, all of it is in flight and the writer waits, "
	       "however large the windows are. Autotuning grows it up to the third value of "
	       "tcp_wmem, 4 MiB by default.",
	.fix = "Raise the third value of net.ipv4.tcp_wmem on the sender; new connections use it.",
	.not_when = "The writer cannot fill the buffer (CPU or application), the congestion or "
		    "receive window is full, or the link is. tcpi_sndbuf_limited alone is no "
		    "witness: it counts in jiffies and misses short round trips.",
	.references = "Linux Documentation/networking/ip-sysctl.rst, tcp_wmem\n"
		      "Linux net/ipv4/tcp_input.c tcp_sndbuf_expand()\n"
		      "ESnet fasterdata.es.net, host tuning",
	.tcp = true,
	.evaluate = evaluate,
};

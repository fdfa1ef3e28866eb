/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "rules/tcp_buffer.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct tcp_sender *s, const struct tcp_receiver *r)
{
	enum side sender = side_other(in->side);

	tcp_sysctl_evidence(out, f, in->side, "tcp_rmem_max", in->facts->sysctl.tcp_rmem_max,
			    UNIT_BYTES, NULL);
	finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "rcvbuf_bytes"),
		       (double)END_FLOW_MIN(in->end, rcvbuf_bytes).v, UNIT_BYTES,
		       rule_text(out, ">= %g of tcp_rmem_max", TCP_BUFFER_GROWN),
		       "SO_MEMINFO: smallest of the flows");
	tcp_flow_evidence(out, f, in->run, sender, "rwnd_limited_share", s->rwnd_limited,
			  UNIT_SHARE, rule_text(out, ">= %g, or window_fill >= %g", s->bbr ?
						TCP_RWND_LIMITED_BBR : TCP_RWND_LIMITED,
						TCP_WINDOW_FILL));
	tcp_flow_evidence(out, f, in->run, sender, "window_fill", s->window_fill, UNIT_SHARE, NULL);
	tcp_flow_evidence(out, f, in->run, sender, "snd_wnd_bytes",
			  END_FLOW_MEAN(in->other_end, snd_wnd_bytes), UNIT_BYTES, NULL);
	tcp_flow_evidence(out, f, in->run, sender, "rtt_us", s->rtt_us, UNIT_MICROSECONDS, NULL);
	tcp_flow_evidence(out, f, in->run, in->side, "receive_queue_fill", r->queue_fill,
			  UNIT_SHARE, NULL);
	if (r->mean_read > 0)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "bytes / calls"),
			       r->mean_read, UNIT_BYTES, NULL, "our receive calls");
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_sender *s,
		 const struct tcp_receiver *r)
{
	const struct tcp_memory memory = tcp_receive_memory(&in->facts->sysctl);
	double now = (double)memory.max.v;
	double wanted = tcp_buffer_for(in, s, TCP_RCVBUF_FACTOR, TCP_RMEM_MAX_DEFAULT, now);
	struct finding *f = rule_fire(out);
	char size[32], rate[32];
	double low, high;

	format_bytes(now, size, sizeof(size));
	format_rate(in->measured_bps, rate, sizeof(rate));
	f->severity = SEVERITY_HIGH;
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = "tcp_rmem";
	if (r->queue_fill.k != ND_KNOWN)
		f->confidence = 0.6;	/* whether the reader kept up was not seen */
	f->title = rule_text(out, "the receive buffers of %s may grow to %s only, and the full "
			     "window holds the sender to %s",
			     in->side == SIDE_PEER ? "the peer" : "this host", size, rate);
	add_evidence(in, out, f, s, r);
	tcp_memory_fix(out, f, &memory, wanted);
	tcp_receive_rates(in->facts, in->run, s, wanted, &low, &high);
	finding_lifts(f, CEILING_WINDOW_RECEIVE, low, high);
}

static bool is_excused(const struct rule_input *in, struct rule_output *out,
		       const struct tcp_sender *s, const struct tcp_receiver *r)
{
	double limit = (double)in->facts->sysctl.tcp_rmem_max.v;

	if (tcp_unscaled(in->run)) {
		rule_clear(out, "the window was full for lack of window scaling");
		return true;
	}
	if (tcp_flows_at(in->end, offsetof(struct flow_summary, rcvbuf_bytes),
			 TCP_BUFFER_GROWN * limit) < TCP_FLOWS_AT_LIMIT) {
		rule_clear(out, "the window was full, but the receive buffers had not grown to "
			   "their limit");
		return true;
	}
	return tcp_receive_excused(in, out, s, r, limit);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	struct tcp_receiver r = tcp_receiver_of(in->run);

	if (in->run->spec.rcvbuf_bytes) {
		rule_not_applicable(out, "the receive buffer was set by option");
		return;
	}
	if (!tcp_receive_window_full(in, out, &s))
		return;
	if (!in->facts || in->facts->sysctl.tcp_rmem_max.k != ND_KNOWN) {
		rule_missing(out, tcp_sysctl_fact(out, in->side, "tcp_rmem_max"),
			     in->facts ? in->facts->sysctl.tcp_rmem_max.k : ND_UNREAD, NULL);
		return;
	}
	if (!r.present || END_FLOW_MIN(in->end, rcvbuf_bytes).k != ND_KNOWN) {
		rule_missing(out, tcp_flow_fact(out, in->run, in->side, "rcvbuf_bytes"),
			     ND_UNREAD, NULL);
		return;
	}
	if (!is_excused(in, out, &s, &r))
		fire(in, out, &s, &r);
}

const struct rule rule_tcp_rcvbuf_limit = {
	.id = "tcp-rcvbuf-limit",
	.title = "the receiver's buffer limit keeps the TCP window too small",
	.scope = RULE_PER_RECEIVER,
	.reads = "net.ipv4.tcp_rmem of the receiver and its sockets' buffers; the sender's "
		 "TCP_INFO: window of the receiver, bytes in flight, time limited by the window, "
		 "round trip; unread bytes and reads of the receiver",
	.fires_when = "the sender was limited by the receiver's window for >= 20 % of the time "
		      "(bbr: 5 %), or filled it to >= 85 % on average; half of the receive buffers "
		      "are within 10 % of tcp_rmem's maximum; and the reader was not behind",
	.why = "A sender may only have in flight what the receiver has room for. Autotuning "
	       "grows the room up to the third value of tcp_rmem; when that is smaller than rate x "
	       "round trip, the sender stops and waits in every round trip.",
	.fix = "Raise the third value of net.ipv4.tcp_rmem on the receiver. New connections use "
	       "it; rmem_max has no part in this.",
	.not_when = "The reader leaves the buffer full (tcp-reader-slow): a larger one would only "
		    "hold more. The link is full already, or a queue on the way holds the bytes "
		    "that are in flight. Buffers set with SO_RCVBUF do not grow "
		    "(tcp-so-rcvbuf-pinned).",
	.references = "Linux Documentation/networking/ip-sysctl.rst, tcp_rmem\n"
		      "Linux net/ipv4/tcp_input.c tcp_rcv_space_adjust()\n"
		      "ESnet fasterdata.es.net, host tuning",
	.tcp = true,
	.evaluate = evaluate,
};

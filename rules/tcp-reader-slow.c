/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "rules/ends.h"
#include "rules/tcp_buffer.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_sender *s,
		 const struct tcp_receiver *r, struct nd_u64 zero)
{
	struct traffic_end t = traffic_end_of(in);
	struct finding *f = rule_fire(out);
	char rate[32];

	format_rate(in->measured_bps, rate, sizeof(rate));
	/* How fast it could read, and so the gain, nobody knows. */
	f->severity = SEVERITY_HIGH;
	f->risk = RISK_NONE;
	f->title = rule_text(out, "the reader on %s lets %.0f %% of its buffer lie unread and "
			     "takes %s only, though its CPU has room",
			     in->side == SIDE_PEER ? "the peer" : "this host",
			     r->queue_fill.v * 100, rate);
	tcp_flow_evidence(out, f, in->run, in->side, "receive_queue_fill", r->queue_fill,
			  UNIT_SHARE, rule_text(out, ">= %g", CPU_RECEIVE_QUEUE_FULL));
	finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "bytes / calls"), r->mean_read,
		       UNIT_BYTES, rule_text(out, ">= %g of a block", TCP_WHOLE_READ),
		       "our receive calls");
	tcp_flow_evidence(out, f, in->run, in->side, "blocked_share", r->blocked, UNIT_SHARE, NULL);
	tcp_flow_evidence(out, f, in->run, side_other(in->side), "rwnd_limited_share",
			  s->rwnd_limited, UNIT_SHARE, NULL);
	if (zero.k == ND_KNOWN)
		finding_number(out, f, rule_text(out, "runs[%s].%s.mibs[TcpExtTCPToZeroWindowAdv]",
						 in->run->id.k == ND_KNOWN ? in->run->id.v : "?",
						 side_word(in->side)), (double)zero.v, UNIT_COUNT,
			       "> 0, or the sender limited by the window", "/proc/net/netstat");
	finding_cpu(out, f, &t);
	finding_command(out, f, "pidstat -druw -p ALL 1 5    # on %s: what the reader waits for",
			end_host(out, in->facts, in->side));
}

/*
 * Has the receiver's machine time for its reader?  A reader that waits for a CPU, or uses one
 * up, is slow for a reason that the cpu-* rules name.
 */
static bool has_room(const struct traffic_end *t)
{
	const struct core_load *hot = end_hot_core(t->end);

	if (cpu_bound_of(t, CORE_BUSY) != CPU_HAS_ROOM)
		return false;
	return !t->shared || !hot || hot->busy.v < CORE_BUSY;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	struct tcp_receiver r = tcp_receiver_of(in->run);
	struct traffic_end t = traffic_end_of(in);
	const struct ceiling *full = tcp_full_link(in);
	struct nd_u64 zero = nd_u64_unknown(ND_UNREAD);

	if (!r.present || r.queue_fill.k != ND_KNOWN) {
		rule_missing(out, tcp_flow_fact(out, in->run, in->side, "receive_queue_fill"),
			     r.present ? r.queue_fill.k : ND_UNREAD, NULL);
		return;
	}
	if (!tcp_reader_behind(in->run, &r)) {
		rule_clear(out, "the reader kept up: %.0f %% of its buffer was unread",
			   r.queue_fill.v * 100);
		return;
	}
	if (cpu_bound_of(&t, CORE_BUSY) == CPU_UNKNOWN) {
		end_missing(out, &t, "cores", ND_UNREAD, NULL);
		return;
	}
	if (in->end->window)
		zero = counters_mib(in->end->window, "TcpExtTCPToZeroWindowAdv");
	if (!has_room(&t))
		rule_clear(out, "the reader was behind because its CPU was busy");
	else if (full)
		rule_clear(out, "the reader was behind, but the %s was full",
			   ceiling_word(full->kind));
	else if (!(zero.k == ND_KNOWN && zero.v) && !tcp_window_limited(&s))
		rule_clear(out, "the reader was behind, but its window never closed");
	else
		fire(in, out, &s, &r, zero);
}

const struct rule rule_tcp_reader_slow = {
	.id = "tcp-reader-slow",
	.title = "the receiving application reads too slowly",
	.scope = RULE_PER_RECEIVER,
	.reads = "unread bytes of the receiver's sockets and the size of its reads, zero windows "
		 "it announced, time the sender was limited by the window, the receiver's CPUs",
	.fires_when = ">= 60 % of the receive buffer is unread on average although reads took "
		      "whole blocks; the window was closed or limited the sender; and no core or "
		      "thread of the receiver is full",
	.why = "The window shows what the application has made room for. When it stops reading, "
	       "for whatever it waits, the window closes and the sender stops, just as if the "
	       "buffer were too small.",
	.fix = "Look at what the reader waits for (disk, a lock, a pipe, its own peer, a paused or "
	       "throttled process): larger buffers do not make it faster.",
	.not_when = "The reader uses all of a CPU or waits for one (cpu-* rules). A buffer smaller "
		    "than a read is full before each.",
	.references = "Linux Documentation/networking/snmp_counter.rst, TcpExtTCPToZeroWindowAdv\n"
		      "tcp(7)",
	.tcp = true,
	.evaluate = evaluate,
};

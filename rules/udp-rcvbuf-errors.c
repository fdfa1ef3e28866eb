/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ends.h"
#include "rules/keep.h"
#include "rules/thresholds.h"
#include "src/core/units.h"
#include "src/model/limits.h"

struct socket_loss {
	struct rule_loss loss;
	struct nd_u64 drops, buffer;
	struct nd_f64 blocked;		/* of the readers' time: waiting for datagrams */
	double share;			/* of the datagrams sent */
	bool keeps_up;			/* the readers had time left, and only came late */
};

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct socket_loss *l)
{
	struct traffic_end t = traffic_end_of(in);
	struct nd_u64 host = in->end->window ? counters_mib(in->end->window, "UdpRcvbufErrors") :
					       nd_u64_unknown(ND_UNREAD);

	finding_number(out, f, end_fact(out, &t, "flows[*].socket_drops"), (double)l->drops.v,
		       UNIT_PACKETS, rule_text(out, ">= %d datagrams", LOSS_MIN_EVENTS),
		       "SK_MEMINFO_DROPS");
	finding_number(out, f, end_fact(out, &t, "flows[*].lost"), l->loss.counted, UNIT_PACKETS,
		       NULL, "the datagrams' numbers");
	finding_number(out, f, "share of the datagrams sent", l->share, UNIT_SHARE,
		       rule_text(out, ">= %g: it costs more than noise", UDP_LOSS_SHARE),
		       "computed");
	if (host.k == ND_KNOWN)
		finding_number(out, f, end_fact(out, &t, "mibs[UdpRcvbufErrors]"), (double)host.v,
			       UNIT_PACKETS, NULL, "/proc/net/snmp, of the whole host");
	if (l->buffer.k == ND_KNOWN)
		finding_number(out, f, end_fact(out, &t, "flows[*].rcvbuf_bytes"),
			       (double)l->buffer.v, UNIT_BYTES, NULL,
			       "SO_MEMINFO: smallest of the flows");
	if (l->blocked.k == ND_KNOWN)
		finding_number(out, f, end_fact(out, &t, "flows[*].blocked_share"), l->blocked.v,
			       UNIT_SHARE, rule_text(out, ">= %g: the readers had time left",
						     UDP_READER_WAITS), "clock_gettime()");
	finding_cpu(out, f, &t);
}

/* The kernel gave less than was asked for: SO_RCVBUF is cut to rmem_max, and doubled. */
static bool cut_to_maximum(const struct rule_input *in, const struct socket_loss *l)
{
	struct nd_u64 most = in->facts ? in->facts->sysctl.rmem_max : nd_u64_unknown(ND_UNREAD);

	return most.k == ND_KNOWN && l->buffer.k == ND_KNOWN && l->buffer.v <= 2 * most.v &&
	       most.v < UDP_RMEM_MAX_WANTED && !in->run->spec.rcvbuf_bytes;
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct socket_loss *l)
{
	struct finding *f = rule_fire(out);
	double sent = rule_sent_bps(in->exam, in->direction);
	char share[32];

	format_quantity(l->share, UNIT_SHARE, share, sizeof(share));
	f->severity = l->share >= UDP_LOSS_SHARE ? SEVERITY_HIGH : SEVERITY_LOW;
	f->title = rule_text(out, "the sockets of %s had no room for %s of the datagrams that were "
			     "sent: the reader %s", in->side == SIDE_PEER ? "the peer" :
			     "this host", share, l->keeps_up ? "comes late" : "is too slow");
	add_evidence(in, out, f, l);
	if (l->keeps_up && cut_to_maximum(in, l)) {
		f->risk = RISK_AFFECTS_OTHERS;
		f->subject = "rmem_max";
		finding_sysctl(out, f, "net.core.rmem_max", UDP_RMEM_MAX_WANTED,
			       in->facts->sysctl.rmem_max);
	} else {
		finding_command(out, f, "ss -uamnp    # skmem: rb the buffer's size, d its losses");
	}
	/* A buffer helps who only comes late; how fast the others could read nobody knows. */
	if (l->keeps_up && l->loss.share < 1)
		finding_lifts(f, CEILING_WINDOW_RECEIVE, in->measured_bps,
			      sent * (1 - (l->loss.share - l->share)));
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct socket_loss l = {
		.drops = END_FLOW_SUM(in->end, socket_drops),
		.buffer = END_FLOW_MIN(in->end, rcvbuf_bytes),
		.blocked = END_FLOW_MEAN(in->end, blocked_share),
	};
	struct traffic_end t = traffic_end_of(in);

	if (in->run->spec.protocol != RUN_UDP) {
		rule_not_applicable(out, "no datagrams were sent");
		return;
	}
	if (!rule_loss_of(in->exam, in->direction, &l.loss) || l.loss.sockets.k != ND_KNOWN) {
		rule_missing(out, end_fact(out, &t, "flows[*].socket_drops"),
			     l.drops.k != ND_KNOWN ? l.drops.k : ND_UNREAD, NULL);
		return;
	}
	l.keeps_up = l.blocked.k == ND_KNOWN && l.blocked.v >= UDP_READER_WAITS;
	if (l.loss.segments > 0)
		l.share = l.loss.share * l.loss.sockets.v / l.loss.segments;
	if (l.loss.sockets.v < LOSS_MIN_EVENTS)
		rule_clear(out, "datagrams lost by the sockets: %.0f; fewer than %d say nothing",
			   l.loss.sockets.v, LOSS_MIN_EVENTS);
	else
		fire(in, out, &l);
}

const struct rule rule_udp_rcvbuf_errors = {
	.id = "udp-rcvbuf-errors",
	.title = "the receiver's sockets have no room for datagrams",
	.scope = RULE_PER_RECEIVER,
	.reads = "datagrams that the receiver's sockets dropped, its count of missing ones, size "
		 "of the buffers, time the readers waited for datagrams, the receiver's CPUs; "
		 "net.core.rmem_max",
	.fires_when = ">= 30 datagrams of ours were lost for want of room in a socket; it matters "
		      "from 1 % of those sent",
	.why = "Datagrams wait in the socket's buffer until the application reads them; what comes "
	       "when it is full is dropped, and nobody sends it again. Either the reader is slower "
	       "than the sender, or it gets its CPU too late for the buffer to bridge.",
	.fix = "Where the reader has time left: a larger buffer (-w, SO_RCVBUF, up to "
	       "net.core.rmem_max). Where it has not: more streams, so that more CPUs read; "
	       "UDP_GRO and recvmmsg(); a sender that is paced (-b).",
	.not_when = "A reader that uses up its CPU gains nothing by a larger buffer "
		    "(cpu-app-bound).",
	.references = "socket(7), SO_RCVBUF\nLinux Documentation/networking/snmp_counter.rst\n"
		      "Linux Documentation/admin-guide/sysctl/net.rst, rmem_max",
	.evaluate = evaluate,
};

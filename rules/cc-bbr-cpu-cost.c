/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "rules/qdisc.h"
#include "rules/tcp.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

/* fq on the link to the peer or below: it paces without a timer for each packet. */
static bool has_fq(const struct rule_input *in)
{
	const struct link_facts *l = in->link;
	int depth;
	size_t i;

	for (depth = 0; l && depth < 16; depth++) {
		for (i = 0; i < in->facts->nqdiscs; i++)
			if (l->ifindex.k == ND_KNOWN &&
			    nd_u64_is(in->facts->qdiscs[i].ifindex, l->ifindex.v) &&
			    nd_str_is(in->facts->qdiscs[i].kind, "fq"))
				return true;
		if (l->lower_ifindex.k != ND_KNOWN || nd_str_is(l->kind, "veth"))
			break;
		l = facts_link(in->facts, l->lower_ifindex.v);
	}
	return false;
}

/* Share of a CPU that the sender's busiest thread or core used; other work does not count. */
static struct nd_f64 sender_busy(const struct rule_input *in)
{
	struct nd_f64 worker = end_busiest_worker(in->end);
	struct nd_f64 other = rule_other_work(in->exam, in->run, in->side);
	const struct core_load *hot = end_hot_core(in->end);
	double core = hot && other.k == ND_KNOWN && other.v < OTHER_WORK_SHARE ? hot->busy.v : 0;

	if (worker.k != ND_KNOWN)
		return hot && other.k == ND_KNOWN ? nd_f64(core) : nd_f64_unknown(worker.k);
	return nd_f64(fmax(worker.v, core));
}

/*
 * What to set instead.  An experiment without privileges is bound to what everybody may take,
 * root is not: cubic, the kernel's default, unless this kernel is known not to have it.
 */
static const char *better_than_bbr(const struct rule_input *in, const struct run *other)
{
	const struct nd_str *has = &in->facts->sysctl.tcp_available_congestion_control;
	bool lacks_cubic = has->k == ND_KNOWN && !strstr(has->v, "cubic");

	if (lacks_cubic && other && other->spec.congestion_control[0])
		return other->spec.congestion_control;
	return "cubic";
}

static void add_fix(const struct rule_input *in, struct rule_output *out, struct finding *f,
		    const char *other)
{
	const struct sysctl_facts *sys = &in->facts->sysctl;

	if (in->run->spec.congestion_control[0] ||
	    !(sys->tcp_congestion_control.k == ND_KNOWN &&
	      strncmp(sys->tcp_congestion_control.v, "bbr", 3) == 0)) {
		f->fix = "Do not ask for bbr (an option, or the route's congctl); or pace with the "
			 "fq qdisc.";
		return;
	}
	finding_command(out, f, "sysctl -w net.ipv4.tcp_congestion_control=%s",
			rule_shell(out, other));
	finding_persist(out, f, "echo 'net.ipv4.tcp_congestion_control = %s' "
			">>/etc/sysctl.d/90-netdoctor.conf", other);
	finding_undo(out, f, "sysctl -w net.ipv4.tcp_congestion_control=%s",
		     rule_shell(out, sys->tcp_congestion_control.v));
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_sender *s,
		 const struct run *other, struct nd_f64 busy)
{
	double after = other ? (double)other->goodput_bps.v : 0;
	const char *name = other && other->spec.congestion_control[0] ?
			   other->spec.congestion_control : "cubic";
	const char *host = in->side == SIDE_PEER ? "the peer" : "this host";
	struct finding *f = rule_fire(out);
	char now[32], then[32];

	format_rate(in->measured_bps, now, sizeof(now));
	format_rate(after, then, sizeof(then));
	f->severity = SEVERITY_MEDIUM;
	f->subject = s->congestion_control;
	f->title = other ? rule_text(out, "%s on %s reaches %s where %s reaches %s: over so short "
				     "a path its pacing only costs CPU", s->congestion_control,
				     host, now, name, then) :
			   rule_text(out, "%s on %s fills a CPU with pacing at %s",
				     s->congestion_control, host, now);
	finding_word(out, f, tcp_flow_fact(out, in->run, in->side, "congestion_control"),
		     s->congestion_control, "bbr", "TCP_CONGESTION");
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", in->run->id.v),
		       in->measured_bps, UNIT_BITS_PER_SECOND, NULL, "traffic run");
	if (other)
		finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", other->id.v), after,
			       UNIT_BITS_PER_SECOND, rule_text(out, ">= %g x bbr's", CC_BBR_GAIN),
			       "traffic run with another congestion control");
	finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "min_rtt_us"),
		       (double)s->min_rtt_us.v, UNIT_MICROSECONDS,
		       rule_text(out, "< %g", CC_BBR_RTT_US), "TCP_INFO");
	if (busy.k == ND_KNOWN)
		finding_number(out, f, rule_text(out, "runs[%s].%s.most of a CPU that our sending "
						 "used", in->run->id.v, side_word(in->side)),
			       busy.v, UNIT_SHARE, other ? NULL :
			       rule_text(out, ">= %g", CC_BBR_CORE_BUSY),
			       "/proc/stat, CLOCK_THREAD_CPUTIME_ID");
	add_fix(in, out, f, better_than_bbr(in, other));
	if (other) {
		f->proof = PROOF_EXPERIMENT;
		finding_lifts(f, CEILING_CPU, CC_BBR_REPEATS * after, after / CC_BBR_REPEATS);
	} else {
		finding_lifts(f, CEILING_CPU, CC_BBR_GAIN * in->measured_bps,
			      CC_BBR_GAIN_MOST * in->measured_bps);
	}
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	const struct run *other = exam_run_for(in->exam, in->direction,
					       RUN_OTHER_CONGESTION_CONTROL);
	struct nd_f64 busy = sender_busy(in);

	if (!s.present || !s.congestion_control) {
		rule_missing(out, tcp_flow_fact(out, in->run, in->side, "congestion_control"),
			     ND_UNREAD, NULL);
		return;
	}
	if (!s.bbr) {
		rule_clear(out, "the sender uses %s", s.congestion_control);
		return;
	}
	if (!in->facts || !in->facts->nqdiscs) {
		rule_missing(out, rule_text(out, "%s.qdiscs", side_word(in->side)), ND_UNREAD,
			     NULL);
		return;
	}
	if (s.min_rtt_us.k != ND_KNOWN) {
		rule_missing(out, tcp_flow_fact(out, in->run, in->side, "min_rtt_us"),
			     s.min_rtt_us.k, NULL);
		return;
	}
	if (!other && busy.k != ND_KNOWN) {
		rule_missing(out, rule_text(out, "runs[%s].%s.cores", in->run->id.v,
					    side_word(in->side)), busy.k, NULL);
		return;
	}
	if ((double)s.min_rtt_us.v >= CC_BBR_RTT_US)
		rule_clear(out, "the path is long: pacing is worth its cost");
	else if (has_fq(in))
		rule_clear(out, "the fq qdisc does bbr's pacing");
	else if (other && (double)other->goodput_bps.v < CC_BBR_GAIN * in->measured_bps)
		rule_clear(out, "%s was not much faster", other->spec.congestion_control);
	else if (!other && busy.v < CC_BBR_CORE_BUSY)
		rule_clear(out, "the sender's CPUs had room");
	else
		fire(in, out, &s, other, busy);
}

const struct rule rule_cc_bbr_cpu_cost = {
	.id = "cc-bbr-cpu-cost",
	.title = "bbr's pacing costs more CPU than the path is worth",
	.scope = RULE_PER_SENDER,
	.reads = "the sender's congestion control, qdiscs, shortest round trip and CPU; a run with "
		 "cubic (or reno) on our own sockets",
	.fires_when = "bbr without the fq qdisc, shortest round trip < 1 ms; shown by experiment "
		      "when the other congestion control is >= 1.3 times as fast, else causal when "
		      "a sending thread or core is >= 90 % busy",
	.why = "bbr sends at a paced rate. Without fq each socket paces itself with a "
	       "high-resolution timer and small bursts; on a fast short path these cost more CPU "
	       "than the sending.",
	.fix = "Use cubic on LANs; where bbr is wanted, pace with fq: tc qdisc replace dev IF root "
	       "fq (with mq: for each queue).",
	.not_when = "Long paths, where bbr is worth its cost, or fq at work already.",
	.references = "Linux net/ipv4/tcp_bbr.c, tcp_output.c tcp_pacing_check()\ntc-fq(8)",
	.tcp = true,
	.evaluate = evaluate,
};

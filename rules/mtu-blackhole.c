/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/tcp.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct run *small)
{
	struct nd_u64 pmtu = END_FLOW_MIN(in->end, pmtu), mss = END_FLOW_MIN(in->end, snd_mss);
	struct nd_u64 timeouts = END_FLOW_SUM(in->end, timeouts);

	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", in->run->id.v),
		       in->measured_bps, UNIT_BITS_PER_SECOND, NULL, "traffic run");
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", small->id.v),
		       (double)small->goodput_bps.v, UNIT_BITS_PER_SECOND,
		       rule_text(out, ">= %g x, and >= %g", MTU_BLACKHOLE_GAIN, MTU_BLACKHOLE_BPS),
		       "traffic run with small segments");
	finding_number(out, f, rule_text(out, "runs[%s].spec.mss_bytes", small->id.v),
		       (double)small->spec.mss_bytes, UNIT_BYTES, NULL, "TCP_MAXSEG");
	if (mss.k == ND_KNOWN)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "snd_mss"),
			       (double)mss.v, UNIT_BYTES, NULL, "TCP_INFO");
	if (pmtu.k == ND_KNOWN)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "pmtu"),
			       (double)pmtu.v, UNIT_BYTES, NULL, "TCP_INFO");
	if (in->link && in->link->mtu.k == ND_KNOWN && in->link->name.k == ND_KNOWN)
		finding_number(out, f, rule_text(out, "%s.links[%s].mtu", side_word(in->side),
						 in->link->name.v),
			       (double)in->link->mtu.v, UNIT_BYTES, NULL, "rtnetlink");
	if (timeouts.k == ND_KNOWN)
		finding_number(out, f, tcp_flow_fact(out, in->run, in->side, "timeouts"),
			       (double)timeouts.v, UNIT_COUNT, NULL, "TCP_INFO");
}

static void add_fix(const struct rule_input *in, struct rule_output *out, struct finding *f)
{
	const char *to = in->facts && in->facts->route.to.k == ND_KNOWN ?
			 rule_shell(out, in->facts->route.to.v) : "PEER";

	/* It finds the hop: the last that answers is before the one that drops. */
	finding_command(out, f, "tracepath -n %s    # which hop; let its ICMP \"fragmentation "
			"needed\" through", to);
	finding_command(out, f, "sysctl -w net.ipv4.tcp_mtu_probing=1    # until then TCP finds "
			"the size by trying");
	finding_persist(out, f, "echo 'net.ipv4.tcp_mtu_probing = 1' "
			">>/etc/sysctl.d/90-netdoctor.conf");
	if (in->facts && in->facts->sysctl.tcp_mtu_probing.k == ND_KNOWN)
		finding_undo(out, f, "sysctl -w net.ipv4.tcp_mtu_probing=%llu",
			     (unsigned long long)in->facts->sysctl.tcp_mtu_probing.v);
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct run *small)
{
	struct nd_u64 mss = END_FLOW_MIN(in->end, snd_mss);
	double growth = mss.k == ND_KNOWN && small->spec.mss_bytes ?
			fmax(1, (double)mss.v / (double)small->spec.mss_bytes) : 1;
	struct finding *f = rule_fire(out);
	char rate[32], now[32];

	format_rate((double)small->goodput_bps.v, rate, sizeof(rate));
	format_rate(in->measured_bps, now, sizeof(now));
	f->side = SIDE_PATH;
	f->proof = PROOF_EXPERIMENT;
	f->severity = SEVERITY_CRITICAL;
	f->risk = RISK_NONE;
	f->title = rule_text(out, "large packets vanish on the way: %s with segments%s, but %s "
			     "with %llu bytes", now, mss.k == ND_KNOWN ?
			     rule_text(out, " of %llu bytes", (unsigned long long)mss.v) :
			     " of full size", rate, (unsigned long long)small->spec.mss_bytes);
	add_evidence(in, out, f, small);
	add_fix(in, out, f);
	/* Where packets are the cost, the rate grows with their size; not faster. */
	finding_lifts(f, CEILING_LOSS, (double)small->goodput_bps.v,
		      (double)small->goodput_bps.v * growth);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct run *small = exam_run_for(in->exam, in->direction, RUN_SMALL_SEGMENTS);
	struct nd_u64 mss = END_FLOW_MIN(in->end, snd_mss);
	double with_small = small ? (double)small->goodput_bps.v : 0;

	if (in->measured_bps >= MTU_BLACKHOLE_BPS) {
		rule_clear(out, "packets of full size arrive");
		return;
	}
	if (!small) {
		rule_missing(out, "runs[small segments]", ND_UNREAD,
			     "let netdoctor try small segments (leave out --no-experiments)");
		return;
	}
	if (mss.k == ND_KNOWN && mss.v <= small->spec.mss_bytes) {
		rule_clear(out, "the segments are small already");
		return;
	}
	if (with_small < MTU_BLACKHOLE_BPS || with_small < MTU_BLACKHOLE_GAIN * in->measured_bps) {
		rule_clear(out, "small segments do not arrive either");
		return;
	}
	fire(in, out, small);
}

const struct rule rule_mtu_blackhole = {
	.id = "mtu-blackhole",
	.title = "large packets vanish on the way and nobody says so",
	.scope = RULE_PER_SENDER,
	.reads = "measured rate; a run with segments of 1200 bytes; path MTU and timeouts of the "
		 "sender's sockets",
	.fires_when = "less than 2 Mbit/s arrive, and a run with small segments is >= 3 times as "
		      "fast and above that",
	.why = "A link on the way has a smaller MTU than both ends. The router there drops what is "
	       "too large and says so by ICMP; when a firewall drops that message, the sender "
	       "repeats the same large packets for ever, while small ones pass.",
	.fix = "Let ICMP \"fragmentation needed\" (IPv6: \"packet too big\") pass, or set the same "
	       "MTU on every link of the way. tcp_mtu_probing=1 on the sender works around it.",
	.not_when = "Small segments are lost as well: that is plain loss.",
	.references = "RFC 2923, RFC 4821\nLinux Documentation/networking/ip-sysctl.rst, "
		      "tcp_mtu_probing",
	.tcp = true,
	.evaluate = evaluate,
};

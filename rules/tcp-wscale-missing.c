/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>

#include "rules/tcp_buffer.h"
#include "rules/thresholds.h"
#include "src/core/units.h"
#include "src/model/window.h"

static bool is_off(const struct facts *f)
{
	return f && nd_u64_is(f->sysctl.tcp_window_scaling, 0);
}

static bool is_unknown(const struct facts *f)
{
	return !f || f->sysctl.tcp_window_scaling.k != ND_KNOWN;
}

/* The option needs both ends: any of them, or something between, can keep it away. */
static enum side culprit(const struct rule_input *in)
{
	if (is_off(in->facts))
		return is_off(in->other_facts) ? SIDE_BOTH : in->side;
	/* The receiver's ceiling is what the fix lifts, wherever it has to be made. */
	return is_off(in->other_facts) ? SIDE_BOTH : SIDE_PATH;
}

static void suggest_on(struct rule_output *out, struct finding *f, const struct facts *host,
		       enum side s)
{
	const char *where = s == SIDE_PEER ? "the peer" : "this host";

	if (!is_off(host))
		return;
	finding_command(out, f, "sysctl -w net.ipv4.tcp_window_scaling=1    # on %s", where);
	finding_persist(out, f, "echo 'net.ipv4.tcp_window_scaling = 1' "
			">>/etc/sysctl.d/90-netdoctor.conf    # on %s", where);
	finding_undo(out, f, "sysctl -w net.ipv4.tcp_window_scaling=0    # on %s", where);
}

static void suggest_look(const struct rule_input *in, struct rule_output *out, struct finding *f)
{
	f->fix = "Something between the hosts (firewall, proxy, load balancer, tunnel) takes the "
		 "option out of the SYN: compare what one end sends with what the other gets.";
	f->risk = RISK_AFFECTS_OTHERS;
	if (in->link && in->link->name.k == ND_KNOWN)
		finding_command(out, f, "tcpdump -vni %s 'tcp[tcpflags] & tcp-syn != 0'    # on "
				"both hosts: wscale in the options", rule_shell(out,
				in->link->name.v));
}

static const char *cause_text(const struct rule_input *in)
{
	if (is_off(in->facts) && is_off(in->other_facts))
		return "both hosts have it off";
	if (is_off(in->facts) || is_off(in->other_facts)) {
		enum side s = is_off(in->facts) ? in->side : side_other(in->side);

		return s == SIDE_PEER ? "the peer has it off" : "this host has it off";
	}
	if (is_unknown(in->facts) || is_unknown(in->other_facts))
		return "an end whose settings were not seen, or the path, takes it away";
	return "both hosts have it on, so something between takes it away";
}

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct tcp_sender *s, double limit)
{
	static const enum side sides[] = { SIDE_LOCAL, SIDE_PEER };
	enum side sender = side_other(in->side);
	size_t i;

	finding_word(out, f, tcp_flow_fact(out, in->run, sender, "option_wscale"), "no", "yes",
		     "TCP_INFO, TCPI_OPT_WSCALE");
	for (i = 0; i < ARRAY_SIZE(sides); i++)
		if (in->exam->facts[sides[i]])
			tcp_sysctl_evidence(out, f, sides[i], "tcp_window_scaling",
					    in->exam->facts[sides[i]]->sysctl.tcp_window_scaling,
					    UNIT_NONE, "1");
	tcp_flow_evidence(out, f, in->run, sender, "window_fill", s->window_fill, UNIT_SHARE,
			  rule_text(out, ">= %g, or rwnd_limited_share >= %g", TCP_WINDOW_FILL,
				    TCP_RWND_LIMITED));
	tcp_flow_evidence(out, f, in->run, sender, "rwnd_limited_share", s->rwnd_limited,
			  UNIT_SHARE, NULL);
	if (s->min_rtt_us.k == ND_KNOWN)
		finding_number(out, f, tcp_flow_fact(out, in->run, sender, "min_rtt_us"),
			       (double)s->min_rtt_us.v, UNIT_MICROSECONDS, NULL, "TCP_INFO");
	finding_number(out, f, "streams * 65535 * 8 / min_rtt", limit, UNIT_BITS_PER_SECOND,
		       rule_text(out, "T <= %g of it", TCP_NO_WSCALE_MATCH), "computed");
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_sender *s,
		 double limit)
{
	struct finding *f = rule_fire(out);
	char rate[32];
	double low, high;

	format_rate(in->measured_bps, rate, sizeof(rate));
	f->side = culprit(in);
	f->severity = SEVERITY_HIGH;
	f->risk = RISK_NONE;
	f->title = rule_text(out, "the connections have no window scaling: 64 KB in flight each "
			     "make %s; %s", rate, cause_text(in));
	add_evidence(in, out, f, s, limit);
	suggest_on(out, f, in->exam->facts[SIDE_LOCAL], SIDE_LOCAL);
	suggest_on(out, f, in->exam->facts[SIDE_PEER], SIDE_PEER);
	if (!f->ncommands)
		suggest_look(in, out, f);
	if (!in->facts || in->facts->sysctl.tcp_rmem_max.k != ND_KNOWN ||
	    in->run->spec.rcvbuf_bytes)
		return;
	tcp_receive_rates(in->facts, in->run, s, (double)in->facts->sysctl.tcp_rmem_max.v, &low,
			  &high);
	finding_lifts(f, CEILING_WINDOW_RECEIVE, low, high);
}

/* Either end's flows know; false: neither was seen, or the kernel does not tell. */
static bool knows_option(const struct run *run)
{
	static const enum side sides[] = { SIDE_LOCAL, SIDE_PEER };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(sides); i++)
		for (j = 0; run->ends[sides[i]].present && j < run->ends[sides[i]].nflows; j++)
			if (run->ends[sides[i]].flows[j].option_wscale.k == ND_KNOWN)
				return true;
	return false;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	struct tcp_receiver r = tcp_receiver_of(in->run);
	enum side sender = side_other(in->side);
	double limit;

	if (!knows_option(in->run)) {
		rule_missing(out, tcp_flow_fact(out, in->run, sender, "option_wscale"), ND_UNREAD,
			     NULL);
		return;
	}
	if (!tcp_unscaled(in->run)) {
		rule_clear(out, "the connections agreed on window scaling");
		return;
	}
	if (!s.present || (s.rwnd_limited.k != ND_KNOWN && s.window_fill.k != ND_KNOWN)) {
		rule_missing(out, tcp_flow_fact(out, in->run, sender, "rwnd_limited_share"),
			     s.present ? s.rwnd_limited.k : ND_UNREAD, NULL);
		return;
	}
	if (s.min_rtt_us.k != ND_KNOWN || !s.min_rtt_us.v) {
		rule_missing(out, tcp_flow_fact(out, in->run, sender, "min_rtt_us"), ND_UNREAD,
			     NULL);
		return;
	}
	limit = fmax(1, (double)in->run->spec.streams) *
		window_unscaled_bps((double)s.min_rtt_us.v / 1e6);
	if (!tcp_window_limited(&s) || in->measured_bps > TCP_NO_WSCALE_MATCH * limit)
		rule_clear(out, "the connections have no window scaling, but 64 KB were enough "
			   "for this round trip");
	else if (!tcp_receive_excused(in, out, &s, &r, WINDOW_UNSCALED_BYTES))
		fire(in, out, &s, limit);
}

const struct rule rule_tcp_wscale_missing = {
	.id = "tcp-wscale-missing",
	.title = "the connections run without window scaling",
	.scope = RULE_PER_RECEIVER,
	.reads = "TCPI_OPT_WSCALE of the flows, net.ipv4.tcp_window_scaling of both hosts; time "
		 "limited by the window, bytes in flight, shortest round trip",
	.fires_when = "a flow has no window scale option, the window was full (as in "
		      "tcp-rcvbuf-limit), and the rate is <= 1.1 x streams x 65535 bytes a round "
		      "trip",
	.why = "The window field of a TCP header has 16 bits. Without the scale option, which both "
	       "SYNs must carry, no more than 64 KB can be in flight, however large the buffers "
	       "are.",
	.fix = "Turn net.ipv4.tcp_window_scaling on at both ends. New connections use it.",
	.not_when = "The round trip is so short that 64 KB are enough.",
	.references = "RFC 7323, section 2\n"
		      "Linux Documentation/networking/ip-sysctl.rst, tcp_window_scaling",
	.tcp = true,
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/tcp_static.h"

#include <math.h>

#include "rules/thresholds.h"
#include "src/core/units.h"

static void fire(const struct rule_input *in, struct rule_output *out, const struct tcp_static *w,
		 const struct tcp_sender *s, double now_bps, double path_bps)
{
	double now = (double)w->limit.v, low, high;
	double wanted = tcp_buffer_for(in, s, w->factor, w->least, now);
	struct finding *f = rule_fire(out);
	char size[32], rate[32], path[32];

	format_bytes(now, size, sizeof(size));
	format_rate(now_bps, rate, sizeof(rate));
	format_rate(path_bps, path, sizeof(path));
	f->proof = PROOF_STATIC;
	f->severity = SEVERITY_LOW;
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = w->memory.name;
	f->title = rule_text(out, "%s of %s allows buffers of %s: enough for %s over this round "
			     "trip, not for the path's %s", w->memory.name,
			     in->side == SIDE_PEER ? "the peer" : "this host", size, rate, path);
	tcp_sysctl_evidence(out, f, in->side, w->member, w->limit, UNIT_BYTES, NULL);
	finding_number(out, f, rule_text(out, "runs[%s] shortest round trip",
					 in->run->id.k == ND_KNOWN ? in->run->id.v : "?"),
		       (double)s->min_rtt_us.v, UNIT_MICROSECONDS,
		       rule_text(out, ">= %g", TCP_STATIC_RTT_US), "TCP_INFO");
	finding_number(out, f, "all streams with these buffers", now_bps, UNIT_BITS_PER_SECOND,
		       rule_text(out, "< %g of the path", TCP_STATIC_WINDOW_SHARE), "model");
	finding_number(out, f, "the path's lowest link", path_bps, UNIT_BITS_PER_SECOND, NULL,
		       "ladder");
	tcp_memory_fix(out, f, &w->memory, wanted);
	w->rates(in, s, wanted, &low, &high);
	finding_lifts(f, w->kind, low, high);
}

void tcp_static_evaluate(const struct rule_input *in, struct rule_output *out,
			 const struct tcp_static *w)
{
	struct tcp_sender s = tcp_sender_of(in->exam, in->run);
	double path_bps = tcp_next_limit(in), low, high;
	struct tcp_sender idle;

	if (w->limit.k != ND_KNOWN) {
		rule_missing(out, tcp_sysctl_fact(out, in->side, w->member), w->limit.k, NULL);
		return;
	}
	if (s.min_rtt_us.k != ND_KNOWN) {
		rule_missing(out, "path.idle_rtt_us", s.min_rtt_us.k, NULL);
		return;
	}
	if ((double)s.min_rtt_us.v < TCP_STATIC_RTT_US) {
		rule_clear(out, "a round trip of %llu us needs no large buffers",
			   (unsigned long long)s.min_rtt_us.v);
		return;
	}
	if (!(path_bps > 0)) {
		rule_not_applicable(out, "the path has no line rate that buffers could fall short "
				    "of");
		return;
	}
	/* What the buffers allow when no queue stretches the round trip. */
	idle = s;
	idle.rtt_us = nd_f64((double)s.min_rtt_us.v);
	w->rates(in, &idle, (double)w->limit.v, &low, &high);
	if (low >= TCP_STATIC_WINDOW_SHARE * path_bps)
		rule_clear(out, "buffers may grow as far as the path needs");
	else if (in->measured_bps >= TCP_STATIC_WINDOW_SHARE * path_bps)
		rule_clear(out, "the buffers carried the path's rate");
	else
		fire(in, out, w, &s, low, path_bps);
}

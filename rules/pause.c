/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/pause.h"

#include <math.h>
#include <string.h>

#include "rules/tcp.h"
#include "rules/thresholds.h"

/* Flow control by priority (PFC) has settings of its own. */
static bool by_priority(const struct nic_count *c)
{
	static const char *const parts[] = { "prio", "ppp", "pxoff" };
	size_t i;

	for (i = 0; c->name && i < ARRAY_SIZE(parts); i++)
		if (strstr(c->name, parts[i]))
			return true;
	return false;
}

static void answer_unknown(const struct rule_input *in, struct rule_output *out,
			   enum nic_event event, const struct pause_seen *p)
{
	const struct nd_bool *on = !in->port ? NULL : event == NIC_PAUSE_SENT ?
				   &in->port->pause_tx : &in->port->pause_rx;

	if (p->frames.k == ND_NOT_APPLICABLE)
		rule_not_applicable(out, "the device has no wire of its own");
	else if (on && nd_is_false(*on))
		rule_clear(out, "flow control is off");
	else
		rule_missing(out, nic_fact(out, in->run, in->side, in->port, &p->frames,
					   event == NIC_PAUSE_SENT ? "pause frames sent" :
					   "pause frames received"), p->frames.k,
			     p->frames.k == ND_NOT_SUPPORTED ?
			     "try ethtool -I --show-pause, and the switch's counters" : NULL);
}

bool pause_find(const struct rule_input *in, struct rule_output *out, enum nic_event frames,
		struct pause_seen *p)
{
	double seconds = in->end->window_ns.k == ND_KNOWN ? (double)in->end->window_ns.v / 1e9 : 0;

	*p = (struct pause_seen){ .share = -1 };
	if (nic_is_software(in->port)) {
		rule_not_applicable(out, "no wire is on the way");
		return false;
	}
	p->frames = nic_count_of(in->end, in->port, frames);
	if (p->frames.k == ND_KNOWN && !(seconds > 0))
		p->frames.k = ND_UNREAD;
	if (p->frames.k != ND_KNOWN) {
		answer_unknown(in, out, frames, p);
		return false;
	}
	p->per_second = p->frames.value / seconds;
	if (frames == NIC_PAUSE_RECEIVED)
		p->stopped_us = nic_count_of(in->end, in->port, NIC_PAUSE_RECEIVED_US);
	if (p->stopped_us.k == ND_KNOWN)
		p->share = fmin(1, p->stopped_us.value / 1e6 / seconds);
	if (p->per_second < PAUSE_PER_SECOND && p->share < PAUSE_SHARE) {
		rule_clear(out, p->frames.value > 0 ? "hardly any pause frames" :
			   "no pause frames");
		return false;
	}
	if (frames == NIC_PAUSE_RECEIVED && nd_is_false(in->port->pause_rx) &&
	    !by_priority(&p->frames)) {
		rule_clear(out, "%.0f pause frames came, but the port is set not to obey them",
			   p->frames.value);
		return false;
	}
	return true;
}

void pause_judge(const struct rule_input *in, struct rule_output *out, struct finding *f,
		 const struct pause_seen *p)
{
	const struct ceiling *full = tcp_full_link(in);

	finding_number(out, f, nic_fact(out, in->run, in->side, in->port, &p->frames, ""),
		       p->per_second, UNIT_PER_SECOND, rule_text(out, ">= %g", PAUSE_PER_SECOND),
		       nic_source(&p->frames));
	if (p->share >= 0)
		finding_number(out, f, nic_fact(out, in->run, in->side, in->port, &p->stopped_us,
						""), p->share, UNIT_SHARE,
			       rule_text(out, ">= %g of the window", PAUSE_SHARE),
			       nic_source(&p->stopped_us));
	/* A rate close to the wire's is all there is, paused now and then or not. */
	f->severity = full ? SEVERITY_LOW : SEVERITY_MEDIUM;
	if (full)
		return;
	/* How long the port stood still, few drivers tell: then all up to the next limit. */
	finding_lifts(f, CEILING_NONE, in->measured_bps,
		      p->share >= 0 && p->share < 1 ? in->measured_bps / (1 - p->share) : HUGE_VAL);
}

const char *pause_share_text(struct rule_output *out, const struct pause_seen *p)
{
	return p->share >= 0 ? rule_text(out, ", %.0f %% of the time", p->share * 100) : "";
}

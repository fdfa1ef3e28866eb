/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "rules/qdisc.h"
#include "rules/round_trips.h"
#include "rules/thresholds.h"
#include "src/core/units.h"
#include "src/model/shaper.h"

/* What fq calls unlimited: ~0 bytes a second. */
#define FQ_UNLIMITED_BPS 34359738360.0
/* A rate to raise a class to where no line rate is known. */
#define NO_LIMIT_BPS 100e9

/* Signs that packets waited for the limit; false: its counters were not seen. */
static bool pressure_of(const struct rule_input *in, const struct qdisc_facts *q,
			const struct qdisc_sample **sample)
{
	*sample = in->end->present && in->end->window ?
		  counters_qdisc(in->end->window, q->ifindex.v, q->handle.v, q->parent.v,
				 nd_is_true(q->is_class)) : NULL;
	return *sample && ((*sample)->overlimits.k == ND_KNOWN ||
			   (*sample)->drops.k == ND_KNOWN ||
			   (*sample)->backlog_bytes.k == ND_KNOWN);
}

/* How far below its rate a limiter with a full queue may be: its timers need a CPU, too. */
static double lateness(const struct rule_input *in)
{
	struct nd_f64 busy = end_mean_busy(in->end);

	return busy.k == ND_KNOWN && busy.v >= ALL_CORES_SATURATED ? QDISC_LATE_TIMERS_FULL :
								     QDISC_LATE_TIMERS;
}

static bool grew(struct nd_u64 v)
{
	return v.k == ND_KNOWN && v.v > 0;
}

static const char *bits(struct rule_output *out, double bps)
{
	return rule_text(out, "%.0fbit", bps);
}

/* The class's own syntax; its burst goes with its rate. */
static const char *class_rates(struct rule_output *out, const struct qdisc_facts *q, double rate,
			       double ceil)
{
	if (nd_str_is(q->kind, "hfsc"))
		return rule_text(out, "hfsc ls rate %s ul rate %s", bits(out, rate),
				 bits(out, ceil));
	return rule_text(out, "%s rate %s ceil %s", rule_shell(out, q->kind.v), bits(out, rate),
			 bits(out, ceil));
}

static double raise_class(const struct rule_input *in, struct rule_output *out, struct finding *f,
			  const struct qdisc_facts *q, const char *place)
{
	struct nd_f64 line = exam_line_rate(in->exam, in->side);
	double rate = line.k == ND_KNOWN ? line.v : NO_LIMIT_BPS;
	double old = q->rate_bps.k == ND_KNOWN ? (double)q->rate_bps.v : 0;

	finding_command(out, f, "tc class change %s %s", place,
			class_rates(out, q, nd_str_is(q->kind, "hfsc") && old > 0 ? old : rate,
				    rate));
	if (q->rate_bps.k != ND_KNOWN || q->ceil_bps.k != ND_KNOWN)
		return rate;
	finding_undo(out, f, "tc class change %s %s%s", place,
		     class_rates(out, q, old, (double)q->ceil_bps.v),
		     q->burst_bytes.k == ND_KNOWN && nd_str_is(q->kind, "htb") ?
		     rule_text(out, " burst %llu", (unsigned long long)q->burst_bytes.v) : "");
	return rate;
}

/* A qdisc that can do without its limit is told so. */
static void unlimit(struct rule_output *out, struct finding *f, const struct qdisc_facts *q,
		    const char *place, const char *option, const char *unlimited)
{
	const char *kind = rule_shell(out, q->kind.v);

	finding_command(out, f, "tc qdisc change %s %s %s %s", place, kind, option, unlimited);
	finding_undo(out, f, "tc qdisc change %s %s %s %s", place, kind, option,
		     bits(out, (double)q->rate_bps.v));
}

static void remove_qdisc(struct rule_output *out, struct finding *f, const struct rule_shaper *s,
			 const char *place)
{
	const struct qdisc_facts *q = s->qdisc;

	finding_command(out, f, "tc qdisc show dev %s    # all its settings, to put it back",
			rule_shell(out, s->link->name.k == ND_KNOWN ? s->link->name.v : "?"));
	finding_command(out, f, "tc qdisc del %s", place);
	if (nd_str_is(q->kind, "tbf") && q->burst_bytes.k == ND_KNOWN &&
	    q->limit_bytes.k == ND_KNOWN)
		finding_undo(out, f, "tc qdisc add %s tbf rate %s burst %llu limit %llu", place,
			     bits(out, (double)q->rate_bps.v),
			     (unsigned long long)q->burst_bytes.v,
			     (unsigned long long)q->limit_bytes.v);
	else
		finding_undo(out, f, "tc qdisc add %s ...    # as `tc qdisc show` printed it",
			     place);
}

/* The layer-2 rate afterwards. */
static double add_fix(const struct rule_input *in, struct rule_output *out, struct finding *f,
		      const struct rule_shaper *s)
{
	const struct qdisc_facts *q = s->qdisc;
	const char *place = qdisc_place(out, q, s->link);

	if (nd_is_true(q->is_class))
		return raise_class(in, out, f, q, place);
	if (nd_str_is(q->kind, "fq"))
		unlimit(out, f, q, place, "maxrate", bits(out, FQ_UNLIMITED_BPS));
	else if (nd_str_is(q->kind, "cake"))
		unlimit(out, f, q, place, "bandwidth", "unlimited");
	else
		remove_qdisc(out, f, s, place);
	return HUGE_VAL;
}

static void add_counter(const struct rule_input *in, struct rule_output *out, struct finding *f,
			const struct rule_shaper *s, const char *member, struct nd_u64 v,
			enum unit unit)
{
	if (v.k != ND_KNOWN)
		return;
	finding_number(out, f, rule_text(out, "runs[%s].%s", in->run->id.v,
					 qdisc_fact(out, in->side, s->qdisc, s->link, member)),
		       (double)v.v, unit, "> 0 for one of them", "rtnetlink TCA_STATS2");
}

static void add_evidence(const struct rule_input *in, struct rule_output *out, struct finding *f,
			 const struct rule_shaper *s, const struct qdisc_sample *sample,
			 double goodput)
{
	const struct qdisc_facts *q = s->qdisc;

	if (q->rate_bps.k == ND_KNOWN)
		finding_number(out, f, qdisc_fact(out, in->side, q, s->link, "rate_bps"),
			       (double)q->rate_bps.v, UNIT_BITS_PER_SECOND, NULL,
			       "rtnetlink TCA_OPTIONS");
	if (q->ceil_bps.k == ND_KNOWN)
		finding_number(out, f, qdisc_fact(out, in->side, q, s->link, "ceil_bps"),
			       (double)q->ceil_bps.v, UNIT_BITS_PER_SECOND, NULL,
			       "rtnetlink TCA_OPTIONS");
	finding_number(out, f, "payload that this rate leaves", goodput, UNIT_BITS_PER_SECOND,
		       NULL, "rate * mss / frame");
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", in->run->id.v),
		       in->measured_bps, UNIT_BITS_PER_SECOND,
		       rule_text(out, "within %g of it; with a queue at its end %g below",
				 QDISC_RATE_MATCH, lateness(in)), "traffic run");
	if (!sample)
		return;
	add_counter(in, out, f, s, "overlimits", sample->overlimits, UNIT_COUNT);
	add_counter(in, out, f, s, "drops", sample->drops, UNIT_PACKETS);
	add_counter(in, out, f, s, "backlog_bytes", sample->backlog_bytes, UNIT_BYTES);
	finding_round_trips(in, out, f);
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct rule_shaper *s,
		 const struct qdisc_sample *sample, bool seen, double segment, double frame)
{
	double goodput = shaper_goodput_bps(s->rate_bps, segment, frame), lifted;
	const char *words = qdisc_words(out, s->qdisc, s->link);
	struct finding *f = rule_fire(out);
	char limit[32], rate[32];

	format_rate(s->rate_bps, limit, sizeof(limit));
	format_rate(in->measured_bps, rate, sizeof(rate));
	f->severity = SEVERITY_HIGH;
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = words;
	if (!seen)
		f->confidence = 0.6;
	f->title = rule_text(out, "%s of %s limits what is sent to %s: %s of payload", words,
			     in->side == SIDE_PEER ? "the peer" : "this host", limit, rate);
	add_evidence(in, out, f, s, sample, goodput);
	lifted = shaper_goodput_bps(add_fix(in, out, f, s), segment, frame);
	finding_persist(out, f, "grep -rlsw tc /etc/systemd /etc/network /etc/NetworkManager "
			"/etc/rc.local /usr/local    # tc forgets at reboot: something sets it, "
			"change it there");
	if (s->next_bps > 0)
		lifted = fmin(lifted, shaper_goodput_bps(s->next_bps, segment, frame));
	finding_lifts(f, CEILING_SHAPER, lifted, lifted);
}

/* A qdisc on the way to the peer whose kind we cannot read; NULL: none. */
static const struct qdisc_facts *unreadable(const struct rule_input *in)
{
	size_t i;

	for (i = 0; i < in->facts->nqdiscs; i++) {
		const struct qdisc_facts *q = &in->facts->qdiscs[i];

		if (in->link->ifindex.k == ND_KNOWN && nd_u64_is(q->ifindex, in->link->ifindex.v) &&
		    q->rate_bps.k != ND_KNOWN && q->rate_bps.k != ND_NOT_APPLICABLE)
			return q;
	}
	return NULL;
}

static void no_limit(const struct rule_input *in, struct rule_output *out)
{
	const struct qdisc_facts *q;

	if (!in->facts || !in->link || !in->facts->nqdiscs) {
		rule_missing(out, rule_text(out, "%s.qdiscs", side_word(in->side)), ND_UNREAD,
			     NULL);
		return;
	}
	q = unreadable(in);
	if (q)
		rule_missing(out, qdisc_fact(out, in->side, q, in->link, "rate_bps"),
			     q->rate_bps.k, NULL);
	else
		rule_clear(out, "no rate limit is set on the way out");
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct qdisc_sample *sample;
	double segment, frame, goodput, used;
	struct rule_shaper s;
	bool seen;

	if (!rule_shaper_of(in->exam, in->direction, &s)) {
		no_limit(in, out);
		return;
	}
	if (!rule_packet(in->exam, in->direction, in->side, &segment, &frame)) {
		rule_missing(out, rule_text(out, "runs[%s].%s.flows[*].snd_mss", in->run->id.v,
					    side_word(in->side)), ND_UNREAD, NULL);
		return;
	}
	goodput = shaper_goodput_bps(s.rate_bps, segment, frame);
	used = goodput > 0 ? in->measured_bps / goodput : 0;
	seen = pressure_of(in, s.qdisc, &sample);
	if (used > 1 + QDISC_RATE_MATCH)
		rule_clear(out, "%s is set to less than what was sent: our packets do not pass it",
			   qdisc_words(out, s.qdisc, s.link));
	else if (used < 1 - lateness(in))
		rule_clear(out, "only %.0f %% of the limit of %s was used", used * 100,
			   qdisc_words(out, s.qdisc, s.link));
	else if (used < 1 - QDISC_RATE_MATCH && !(sample && grew(sample->backlog_bytes)))
		rule_clear(out, "%.0f %% of the limit of %s was used, and nothing waited for it",
			   used * 100, qdisc_words(out, s.qdisc, s.link));
	else if (seen && !nd_str_is(s.qdisc->kind, "fq") && !grew(sample->overlimits) &&
		 !grew(sample->drops) && !grew(sample->backlog_bytes))
		rule_clear(out, "the rate is near the limit of %s, but nothing waited for it",
			   qdisc_words(out, s.qdisc, s.link));
	else
		fire(in, out, &s, sample, seen, segment, frame);
}

const struct rule rule_qdisc_rate_limit = {
	.id = "qdisc-rate-limit",
	.title = "a traffic-control rate limit holds the sender back",
	.scope = RULE_PER_SENDER,
	.reads = "rates of tbf, htb, hfsc, cbq, cbs, cake, netem and fq qdiscs and classes on the "
		 "sender's link to the peer and the links below it; their overlimits, drops and "
		 "backlog under traffic; segment size; measured rate; as evidence round trips, "
		 "where measured",
	.fires_when = "the rate is within 7 % of rate x payload / layer-2 bytes of the tightest "
		      "limit that our packets pass, and its overlimits or drops grew or its queue "
		      "is not empty; down to 20 % below (50 % while all CPUs are full) with a "
		      "queue at the end of the window",
	.why = "A shaper lets packets leave at its rate and keeps or drops the rest. It counts "
	       "whole layer-2 frames, so a little less than its rate arrives as payload.",
	.fix = "Raise the class's rate and ceiling, or remove the limit, if it is not wanted.",
	.not_when = "Someone may want the limit: ask before removing it. A class that may borrow "
		    "is limited by its ceiling, not its rate. Limits on other classes or links "
		    "than those our packets take do not count.",
	.references = "tc(8), tc-htb(8), tc-tbf(8), tc-fq(8), tc-cake(8)",
	.evaluate = evaluate,
};

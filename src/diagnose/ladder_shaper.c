/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rate limits on the sender: qdiscs and classes its packets pass, pacing and rates we asked for. */
#include "src/diagnose/ladder.h"

#include <string.h>

#include "src/model/shaper.h"

/* Of a link's bytes in the window: a class with less is not the one our flows are in. */
#define CLASS_CARRIES_US 0.5

/* Real hosts have tens; a hostile report's thousands must not cost minutes. */
#define MAX_LIMITED_ROWS 1024

/* What it lets pass in the long run; 0: it does not limit.  fq's rate is for each flow. */
static double limit_of(const struct qdisc_facts *q, double streams)
{
	double rate = q->rate_bps.k == ND_KNOWN ? (double)q->rate_bps.v : 0;
	double ceil = q->ceil_bps.k == ND_KNOWN ? (double)q->ceil_bps.v : 0;

	/* tbf's second rate only shapes bursts; hfsc's first is a share, not a limit. */
	if (nd_str_is(q->kind, "tbf"))
		return rate;
	if (nd_str_is(q->kind, "hfsc"))
		return ceil;
	if (nd_str_is(q->kind, "fq"))
		return rate * streams;
	/* A class may borrow up to its ceiling. */
	return ceil > 0 ? ceil : rate;
}

/* Whether our traffic went through; a class whose counters are unknown is taken as passed. */
static bool carried_us(const struct ladder_path *p, const struct qdisc_facts *q)
{
	const struct qdisc_sample *s;
	const struct link_sample *l;

	if (!p->sender || !p->sender->present || !p->sender->window)
		return !nd_is_true(q->is_class);
	s = counters_qdisc(p->sender->window, q->ifindex.v, q->handle.v, q->parent.v,
			   nd_is_true(q->is_class));
	l = counters_link(p->sender->window, q->ifindex.v);
	if (!s || s->bytes.k != ND_KNOWN)
		return !nd_is_true(q->is_class);
	if (!l || l->tx_bytes.k != ND_KNOWN || !l->tx_bytes.v)
		return s->bytes.v > 0;
	return (double)s->bytes.v >= CLASS_CARRIES_US * (double)l->tx_bytes.v;
}

/* Puts the limits on one link into *out, tightest first. */
static void limits_on(const struct facts *f, const struct ladder_path *p,
		      const struct link_facts *link, struct rule_shaper *out)
{
	size_t i, limited = 0;

	for (i = 0; i < f->nqdiscs && limited < MAX_LIMITED_ROWS; i++) {
		const struct qdisc_facts *q = &f->qdiscs[i];
		double rate = limit_of(q, p->streams);

		if (!nd_u64_is(q->ifindex, link->ifindex.v) || !(rate > 0))
			continue;
		limited++;
		if (!carried_us(p, q))
			continue;
		if (!out->qdisc || rate < out->rate_bps) {
			out->next_bps = out->qdisc ? out->rate_bps : 0;
			out->qdisc = q;
			out->link = link;
			out->rate_bps = rate;
		} else if (!(out->next_bps > 0) || rate < out->next_bps) {
			out->next_bps = rate;
		}
	}
}

static void limits_below(const struct facts *f, const struct ladder_path *p,
			 const struct link_facts *egress, struct rule_shaper *out)
{
	const struct link_facts *l = egress;
	int depth;

	*out = (struct rule_shaper){ 0 };
	for (depth = 0; l && depth < 16; depth++) {
		if (l->ifindex.k == ND_KNOWN)
			limits_on(f, p, l, out);
		if (l->lower_ifindex.k != ND_KNOWN || nd_str_is(l->kind, "veth"))
			break;
		l = facts_link(f, l->lower_ifindex.v);
	}
}

bool rule_shaper_of(const struct exam *e, enum run_direction d, struct rule_shaper *out)
{
	const struct facts *f = e->facts[run_sender(d)];
	const struct link_facts *egress = exam_egress(e, run_sender(d));
	struct ladder_path p;

	*out = (struct rule_shaper){ 0 };
	if (!f || !egress)
		return false;
	ladder_path_init(e, d, &p);
	limits_below(f, &p, egress, out);
	return out->qdisc != NULL;
}

static const char *name_of(struct ladder_builder *b, const struct rule_shaper *s)
{
	const struct qdisc_facts *q = s->qdisc;

	return ladder_text(b, "%s %s%llx:%llx on %s", q->kind.k == ND_KNOWN ? q->kind.v : "qdisc",
			   nd_is_true(q->is_class) ? "class " : "",
			   (unsigned long long)(q->handle.v >> 16),
			   (unsigned long long)(q->handle.v & 0xffff),
			   s->link->name.k == ND_KNOWN ? s->link->name.v : "?");
}

/* Of a qdisc, which counts frames.  Returns what payload the rate leaves. */
static double set_shaper(struct ceiling *c, const struct ladder_path *p, double rate,
			 double segment)
{
	double frame = path_frame(p, segment);
	double goodput = shaper_goodput_bps(rate, segment, frame);

	ceiling_input(c, "rate", rate, UNIT_BITS_PER_SECOND);
	ceiling_input(c, "mss", segment, UNIT_BYTES);
	ceiling_input(c, "frame", frame, UNIT_BYTES);
	ceiling_set(c, goodput, goodput, BASIS_CONFIGURED, "rate * mss / frame");
	return goodput;
}

/* Per flow, in the spec; 0: none. */
static double asked_for(const struct run *run, uint64_t each_bps)
{
	return (double)each_bps * (double)run->spec.streams;
}

/* The kernel's pacing, which counts headers, or not, by who does it. */
static void set_pacing(struct ceiling *c, const struct ladder_path *p, double pacing,
		       double segment)
{
	c->subject = "pacing asked for";
	c->asked_for = true;
	/* Where TCP paces by itself it counts payload (tcp_update_skb_after_send()), fq frames. */
	ceiling_set(c, set_shaper(c, p, pacing, segment), pacing, BASIS_CONFIGURED,
		    "rate * mss / frame to rate");
}

/* The rate that the sending program keeps: it counts what it writes. */
static void set_rate(struct ceiling *c, double rate)
{
	c->subject = "rate asked for";
	c->asked_for = true;
	ceiling_input(c, "rate", rate, UNIT_BITS_PER_SECOND);
	ceiling_set(c, rate, rate, BASIS_CONFIGURED, "rate");
}

void ladder_add_shaper(struct ladder_builder *b, const struct ladder_path *p)
{
	enum side side = run_sender(p->direction);
	const struct facts *f = b->exam->facts[side];
	const struct link_facts *egress = exam_egress(b->exam, side);
	/* A run that drives both directions keeps its rates in both. */
	const struct run *run = exam_driving_run(b->exam, p->direction);
	double segment = path_segment(p, egress), pacing = 0, rate = 0;
	struct rule_shaper limit = { 0 };
	struct ceiling *c;

	if (f && egress)
		limits_below(f, p, egress, &limit);
	if (run) {
		pacing = asked_for(run, run->spec.pacing_bps);
		rate = asked_for(run, run->spec.rate_bps);
	}
	/* No limit configured is no ceiling, known or unknown. */
	if (!limit.qdisc && !(pacing > 0) && !(rate > 0))
		return;
	c = ceiling_add(b, p, CEILING_SHAPER, side);
	if (rate > 0 && (!(pacing > 0) || rate <= pacing) &&
	    (!limit.qdisc || rate <= limit.rate_bps)) {
		set_rate(c, rate);
		return;
	}
	if (!(segment > 0)) {
		ceiling_unknown(b, c, "neither the segment size nor the link's MTU is known");
		return;
	}
	if (limit.qdisc && (!(pacing > 0) || limit.rate_bps < pacing)) {
		c->subject = name_of(b, &limit);
		set_shaper(c, p, limit.rate_bps, segment);
		return;
	}
	set_pacing(c, p, pacing, segment);
}

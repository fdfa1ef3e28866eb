/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rate limits on the sender: qdiscs and classes its packets pass, and pacing we asked for. */
#include "src/diagnose/ladder.h"

#include <string.h>

#include "src/model/shaper.h"

/* Of a link's bytes in the window: a class with less is not the one our flows are in. */
#define CLASS_CARRIES_US 0.5

/* Real hosts have tens; a hostile report's thousands must not cost minutes. */
#define MAX_LIMITED_ROWS 1024

/* fq's rate is for each flow, all others' for what passes them. */
static double limit_of(const struct qdisc_facts *q, double streams)
{
	double rate = 0;

	if (q->ceil_bps.k == ND_KNOWN && q->ceil_bps.v > 0)
		rate = (double)q->ceil_bps.v;	/* a class may borrow up to here */
	else if (q->rate_bps.k == ND_KNOWN && q->rate_bps.v > 0)
		rate = (double)q->rate_bps.v;
	return nd_str_is(q->kind, "fq") ? rate * streams : rate;
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

/* The tightest limit on one link; NULL when it has none. */
static const struct qdisc_facts *tightest_on(const struct facts *f, const struct ladder_path *p,
					     uint64_t ifindex)
{
	const struct qdisc_facts *tightest = NULL;
	size_t i, limited = 0;

	for (i = 0; i < f->nqdiscs && limited < MAX_LIMITED_ROWS; i++) {
		const struct qdisc_facts *q = &f->qdiscs[i];

		if (!nd_u64_is(q->ifindex, ifindex) || !(limit_of(q, p->streams) > 0))
			continue;
		limited++;
		if (!carried_us(p, q))
			continue;
		if (!tightest || limit_of(q, p->streams) < limit_of(tightest, p->streams))
			tightest = q;
	}
	return tightest;
}

static const struct qdisc_facts *tightest_below(const struct facts *f, const struct ladder_path *p,
						const struct link_facts *egress)
{
	const struct qdisc_facts *tightest = NULL, *q;
	const struct link_facts *l = egress;
	int depth;

	for (depth = 0; l && depth < 16; depth++) {
		if (l->ifindex.k == ND_KNOWN) {
			q = tightest_on(f, p, l->ifindex.v);
			if (q && (!tightest ||
				  limit_of(q, p->streams) < limit_of(tightest, p->streams)))
				tightest = q;
		}
		if (l->lower_ifindex.k != ND_KNOWN || nd_str_is(l->kind, "veth"))
			break;
		l = facts_link(f, l->lower_ifindex.v);
	}
	return tightest;
}

static const char *name_of(struct ladder_builder *b, const struct facts *f,
			   const struct qdisc_facts *q)
{
	const struct link_facts *l = facts_link(f, q->ifindex.v);

	return ladder_text(b, "%s %s%llx:%llx on %s", q->kind.k == ND_KNOWN ? q->kind.v : "qdisc",
			   nd_is_true(q->is_class) ? "class " : "",
			   (unsigned long long)(q->handle.v >> 16),
			   (unsigned long long)(q->handle.v & 0xffff),
			   l && l->name.k == ND_KNOWN ? l->name.v : "?");
}

static void set_shaper(struct ceiling *c, const struct ladder_path *p, double rate, double segment)
{
	double frame = path_frame(p, segment);
	double goodput = shaper_goodput_bps(rate, segment, frame);

	ceiling_input(c, "rate", rate, UNIT_BITS_PER_SECOND);
	ceiling_input(c, "mss", segment, UNIT_BYTES);
	ceiling_input(c, "frame", frame, UNIT_BYTES);
	ceiling_set(c, goodput, goodput, BASIS_CONFIGURED, "rate * mss / frame");
}

void ladder_add_shaper(struct ladder_builder *b, const struct ladder_path *p)
{
	enum side side = run_sender(p->direction);
	const struct facts *f = b->exam->facts[side];
	const struct link_facts *egress = exam_egress(b->exam, side);
	const struct qdisc_facts *q = f && egress ? tightest_below(f, p, egress) : NULL;
	double segment = path_segment(p, egress), rate = 0;
	struct ceiling *c;

	if (p->run && p->run->spec.pacing_bps)
		rate = (double)p->run->spec.pacing_bps * p->streams;
	/* No limit configured is no ceiling, known or unknown. */
	if (!q && !(rate > 0))
		return;
	c = ceiling_add(b, p, CEILING_SHAPER, side);
	if (!(segment > 0)) {
		ceiling_unknown(b, c, "neither the segment size nor the link's MTU is known");
		return;
	}
	if (q && (!(rate > 0) || limit_of(q, p->streams) < rate)) {
		c->subject = name_of(b, f, q);
		rate = limit_of(q, p->streams);
	} else {
		c->subject = "pacing asked for";
	}
	set_shaper(c, p, rate, segment);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "rules/drops.h"
#include "rules/qdisc.h"
#include "rules/tcp.h"
#include "rules/thresholds.h"

#define PARENT_ROOT 0xffffffffu	/* TC_H_ROOT of linux/pkt_sched.h */

struct dropping {
	const struct link_facts *link;
	/* The row that counts most (a parent counts its children's), and where they happened. */
	const struct qdisc_facts *qdisc, *leaf;
	struct drops drops;
	double leaf_drops;
	bool queues, counted;	/* one that queues is there; its counters were seen */
};

static bool is_kind(const struct qdisc_facts *q, const char *const *kinds)
{
	for (; *kinds; kinds++)
		if (nd_str_is(q->kind, *kinds))
			return true;
	return false;
}

/* Their drops are a signal to senders: a queue has been standing. */
static bool manages_queue(const struct qdisc_facts *q)
{
	static const char *const kinds[] = {
		"fq_codel", "codel", "cake", "cake_mq", "pie", "fq_pie", "red", "sfb", "gred",
		"choke", NULL
	};

	return is_kind(q, kinds);
}

/* Holds other qdiscs and no packets. */
static bool only_holds(const struct qdisc_facts *q)
{
	static const char *const kinds[] = { "mq", "mqprio", "clsact", "ingress", NULL };

	return is_kind(q, kinds);
}

static void add_row(const struct run_end *end, const struct qdisc_facts *q,
		    const struct link_facts *link, struct dropping *d)
{
	const struct qdisc_sample *s;

	if (nd_is_true(q->is_class) || nd_str_is(q->kind, "noqueue"))
		return;
	d->queues = true;
	s = counters_qdisc(end->window, q->ifindex.v, q->handle.v, q->parent.v, false);
	if (!s || s->drops.k != ND_KNOWN || s->packets.k != ND_KNOWN)
		return;
	d->counted = true;
	if (!d->qdisc || (double)s->drops.v > d->drops.packets) {
		d->qdisc = q;
		d->link = link;
		d->drops.packets = (double)s->drops.v;
		d->drops.passed = (double)s->packets.v;
	}
	/* Of equals the later: children follow their parents. */
	if (!only_holds(q) && (!d->leaf || (double)s->drops.v >= d->leaf_drops)) {
		d->leaf = q;
		d->leaf_drops = (double)s->drops.v;
	}
}

static void find_dropping(const struct rule_input *in, struct dropping *d)
{
	const struct link_facts *links[2] = { in->link, in->port == in->link ? NULL : in->port };
	size_t i, j;

	*d = (struct dropping){ .drops.aggregates = true };
	for (i = 0; i < ARRAY_SIZE(links); i++) {
		if (!links[i] || links[i]->ifindex.k != ND_KNOWN)
			continue;
		for (j = 0; j < in->facts->nqdiscs; j++)
			if (nd_u64_is(in->facts->qdiscs[j].ifindex, links[i]->ifindex.v))
				add_row(in->end, &in->facts->qdiscs[j], links[i], d);
	}
	if (!d->leaf)
		d->leaf = d->qdisc;
}

static void suggest(struct rule_output *out, struct finding *f, const struct dropping *d)
{
	const struct link_facts *l = d->link;
	const struct qdisc_facts *q = d->leaf;
	const char *dev = rule_shell(out, l->name.k == ND_KNOWN ? l->name.v : "?");

	finding_command(out, f, "tc -s qdisc show dev %s", dev);
	if (nd_str_is(q->kind, "pfifo_fast") && l->tx_queue_length.k == ND_KNOWN &&
	    l->tx_queue_length.v && l->tx_queue_length.v <= QDISC_QUEUE_MAX / RING_GROWTH) {
		unsigned long long now = l->tx_queue_length.v;

		finding_command(out, f, "ip link set dev %s txqueuelen %llu", dev,
				now * RING_GROWTH);
		finding_undo(out, f, "ip link set dev %s txqueuelen %llu", dev, now);
	} else if (q->handle.v && q->limit_packets.k == ND_KNOWN && q->limit_packets.v &&
		   q->limit_packets.v <= QDISC_QUEUE_MAX / RING_GROWTH) {
		unsigned long long now = q->limit_packets.v;
		const char *place = qdisc_place(out, q, l), *kind = rule_shell(out, q->kind.v);

		finding_command(out, f, "tc qdisc change %s %s limit %llu", place, kind,
				now * RING_GROWTH);
		finding_undo(out, f, "tc qdisc change %s %s limit %llu", place, kind, now);
	}
}

static void fire(const struct rule_input *in, struct rule_output *out, const struct dropping *d)
{
	struct finding *f = rule_fire(out);

	f->subject = d->link->name.k == ND_KNOWN ? d->link->name.v : NULL;
	f->title = rule_text(out, "%s of %s dropped %.0f packets on their way out",
			     qdisc_words(out, d->leaf, d->link),
			     in->side == SIDE_PEER ? "the peer" : "this host", d->drops.packets);
	finding_number(out, f, qdisc_fact(out, in->side, d->qdisc, d->link, "drops"),
		       d->drops.packets, UNIT_PACKETS,
		       rule_text(out, ">= %g of those sent", QDISC_DROP_SHARE),
		       "rtnetlink TCA_STATS2");
	finding_number(out, f, "share of the packets that came", drops_share(&d->drops), UNIT_SHARE,
		       NULL, "computed");
	if (d->leaf->limit_packets.k == ND_KNOWN)
		finding_number(out, f, qdisc_fact(out, in->side, d->leaf, d->link, "limit_packets"),
			       (double)d->leaf->limit_packets.v, UNIT_PACKETS, NULL, "rtnetlink");
	drops_judge(in, out, f, &d->drops);
	f->risk = RISK_AFFECTS_OTHERS;
	if (manages_queue(d->leaf)) {
		f->risk = RISK_NONE;
		f->fix = "The queue keeps itself short by dropping: find what is too slow behind "
			 "it (a rate limit, a paused port, a busy CPU) rather than lengthen it.";
		finding_command(out, f, "tc -s qdisc show dev %s",
				rule_shell(out, f->subject ? f->subject : "?"));
		return;
	}
	suggest(out, f, d);
}

static void answer_missing(const struct rule_input *in, struct rule_output *out, bool of_facts)
{
	if (of_facts)
		rule_missing(out, rule_text(out, "%s.qdiscs of the link to the peer",
					    side_word(in->side)), ND_UNREAD, NULL);
	else
		rule_missing(out, rule_text(out, "runs[%s].%s.qdiscs[*].drops",
					    in->run->id.k == ND_KNOWN ? in->run->id.v : "?",
					    side_word(in->side)), ND_UNREAD, NULL);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct ceiling *full = tcp_full_link(in);
	struct dropping d;

	if (!in->facts || !in->link || !in->facts->nqdiscs || !in->end->present ||
	    !in->end->window) {
		answer_missing(in, out, !in->facts || !in->link || !in->facts->nqdiscs);
		return;
	}
	find_dropping(in, &d);
	if (!d.queues)
		rule_not_applicable(out, "the link has no queue that could drop");
	else if (!d.counted)
		answer_missing(in, out, false);
	else if (drops_share(&d.drops) < QDISC_DROP_SHARE)
		rule_clear(out, "the qdiscs dropped %s", d.drops.packets > 0 ? "hardly anything" :
			   "nothing");
	else if (nd_str_is(d.leaf->kind, "netem"))
		rule_clear(out, "netem drops because it was told to");
	else if (drops_were_not_ours(in))
		rule_clear(out, "%s dropped %.0f packets, but none of ours: nothing had to be sent "
			   "again", qdisc_words(out, d.leaf, d.link), d.drops.packets);
	else if (full && manages_queue(d.leaf))
		rule_clear(out, "%s dropped %.0f packets, as it should while the %s is full",
			   qdisc_words(out, d.leaf, d.link), d.drops.packets,
			   ceiling_word(full->kind));
	else
		fire(in, out, &d);
}

const struct rule rule_qdisc_drops = {
	.id = "qdisc-drops",
	.title = "the sender's own queue drops packets",
	.scope = RULE_PER_SENDER,
	.reads = "drops and packets of the qdiscs on the link to the peer and the port below it, "
		 "their kinds and limits; the sender's retransmissions",
	.fires_when = ">= 1e-5 of the packets were dropped by a qdisc of the sender in the window, "
		      "and our flows lost something",
	.why = "Packets wait in the link's qdisc until the device takes them. When that queue is "
	       "full they are dropped before they leave the host, and TCP treats it as congestion "
	       "of the path.",
	.fix = "Lengthen the queue, or replace it by fq, which paces the flows and pushes back on "
	       "the sockets instead.",
	.not_when = "fq_codel and its kind drop on purpose while the link is full; netem does as "
		    "it was told. With a rate limit the drops follow from it (qdisc-rate-limit).",
	.references = "tc(8), tc-fq(8), tc-pfifo(8)",
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/qdisc.h"
#include "rules/thresholds.h"

/* The netem on a host's way out and the link it is on, NULL: none. */
static const struct qdisc_facts *find(const struct rule_input *in, const struct link_facts **link)
{
	const struct link_facts *l = in->link;
	int depth;
	size_t i;

	/* Bounded: links in a hostile report may form a ring. */
	for (depth = 0; l && depth < 16; depth++) {
		*link = l;
		for (i = 0; l->ifindex.k == ND_KNOWN && i < in->facts->nqdiscs; i++)
			if (nd_u64_is(in->facts->qdiscs[i].ifindex, l->ifindex.v) &&
			    nd_is_false(in->facts->qdiscs[i].is_class) &&
			    nd_str_is(in->facts->qdiscs[i].kind, "netem"))
				return &in->facts->qdiscs[i];
		if (l->lower_ifindex.k != ND_KNOWN || nd_str_is(l->kind, "veth"))
			break;
		l = facts_link(in->facts, l->lower_ifindex.v);
	}
	return NULL;
}

/* Our packets went through it in the main run of the direction this host sends in. */
static const struct qdisc_sample *traffic_of(const struct rule_input *in,
					     const struct qdisc_facts *q, const struct run **run)
{
	enum run_direction d = in->side == SIDE_LOCAL ? RUN_FORWARD : RUN_REVERSE;
	const struct run_end *end;

	*run = exam_main_run(in->exam, d);
	end = *run ? &(*run)->ends[in->side] : NULL;
	if (!end || !end->present || !end->window)
		return NULL;
	return counters_qdisc(end->window, q->ifindex.v, q->handle.v, q->parent.v, false);
}

static void fire(const struct rule_input *in, struct rule_output *out,
		 const struct qdisc_facts *q, const struct link_facts *link)
{
	const char *name = link->name.k == ND_KNOWN ? link->name.v : "?";
	const char *words = qdisc_words(out, q, link);
	struct finding *f = rule_fire(out);
	const struct qdisc_sample *sample;
	const struct run *run;

	sample = traffic_of(in, q, &run);
	f->severity = SEVERITY_MEDIUM;
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = words;
	f->title = rule_text(out, "%s of %s delays or drops packets on purpose", words,
			     in->side == SIDE_PEER ? "the peer" : "this host");
	finding_word(out, f, qdisc_fact(out, in->side, q, link, "kind"), "netem", NULL,
		     "rtnetlink TCA_KIND");
	if (sample && sample->packets.k == ND_KNOWN && sample->packets.v > 0) {
		f->proof = PROOF_CAUSAL;
		f->has_direction = true;
		f->direction = run->spec.direction;
		finding_number(out, f, rule_text(out, "runs[%s].%s",
						 run->id.k == ND_KNOWN ? run->id.v : "?",
						 qdisc_fact(out, in->side, q, link, "packets")),
			       (double)sample->packets.v, UNIT_PACKETS, "> 0",
			       "rtnetlink TCA_STATS2");
		if (sample->drops.k == ND_KNOWN)
			finding_number(out, f, rule_text(out, "runs[%s].%s",
							 run->id.k == ND_KNOWN ? run->id.v : "?",
							 qdisc_fact(out, in->side, q, link,
								    "drops")),
				       (double)sample->drops.v, UNIT_PACKETS, NULL,
				       "rtnetlink TCA_STATS2");
	}
	finding_command(out, f, "tc qdisc show dev %s    # its settings, to put it back",
			rule_shell(out, name));
	finding_command(out, f, "tc qdisc del %s", qdisc_place(out, q, link));
	finding_undo(out, f, "tc qdisc add %s netem ...    # as `tc qdisc show` printed it",
		     qdisc_place(out, q, link));
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	const struct link_facts *link = NULL;
	const struct qdisc_facts *q;

	if (!in->link) {
		rule_not_applicable(out, "no link to a peer");
		return;
	}
	if (!in->facts->nqdiscs) {
		rule_missing(out, rule_text(out, "%s.qdiscs", side_word(in->side)), ND_UNREAD,
			     NULL);
		return;
	}
	q = find(in, &link);
	if (q)
		fire(in, out, q, link);
	else
		rule_clear(out, "no network emulation is set up");
}

const struct rule rule_qdisc_netem_left = {
	.id = "qdisc-netem-left",
	.title = "a network emulator is set up on the way out",
	.scope = RULE_PER_HOST,
	.reads = "qdiscs on the link to the peer and below it; packets through them under traffic",
	.fires_when = "one of them is netem; causal when our packets went through it",
	.why = "netem delays, drops, reorders or slows packets to imitate a bad network. After a "
	       "test it is easily forgotten, and then it is one.",
	.fix = "Remove it.",
	.not_when = "Test benches, where it is meant.",
	.references = "tc-netem(8)",
	.evaluate = evaluate,
};

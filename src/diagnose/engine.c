/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/diagnose/engine.h"

#include <errno.h>
#include <string.h>

double direction_measured(const struct exam *exam, enum run_direction d)
{
	const struct run *r = exam_main_run(exam, d);

	return r ? (double)r->goodput_bps.v : 0;
}

double rule_sent_bps(const struct exam *exam, enum run_direction d)
{
	const struct run *r = exam_main_run(exam, d);
	double measured = direction_measured(exam, d);

	if (!r || r->spec.protocol != RUN_UDP || r->loss.k != ND_KNOWN || r->loss.v >= 1)
		return measured;
	return measured / (1 - r->loss.v);
}

static void call(const struct rule *rule, const struct rule_input *in, struct rule_output *out)
{
	out->rule = rule;
	out->in = in;
	out->answers = 0;
	rule->evaluate(in, out);
	/* A rule that says nothing would read as "nothing wrong". */
	if (out->answers == 0)
		rule_missing(out, "the rule gave no answer", ND_INVALID, "report this as a fault");
}

/* One of a direction whose main run it has. */
static void call_for_run(const struct rule *rule, const struct rule_input *in,
			 struct rule_output *out)
{
	if (!rule->tcp || in->run->spec.protocol == RUN_TCP) {
		call(rule, in, out);
		return;
	}
	out->rule = rule;
	out->in = in;
	rule_not_applicable(out, "datagrams were sent, and this is about TCP");
}

static void fill_side(const struct exam *exam, enum side side, struct rule_input *in)
{
	in->side = side;
	in->facts = exam->facts[side];
	in->other_facts = exam->facts[side_other(side)];
	in->link = exam_egress(exam, side);
	in->port = exam_port(exam, side);
}

static void per_host(const struct rule *rule, const struct rule_input *base,
		     struct rule_output *out)
{
	int s;

	for (s = 0; s < EXAM_ENDS; s++) {
		struct rule_input in = *base;

		if (!base->exam->facts[s])
			continue;
		fill_side(base->exam, (enum side)s, &in);
		call(rule, &in, out);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Several links may stand on one port: what it has is found once. */
static void drop_repeated(struct rule_output *out, size_t from)
{
	size_t i, j, n = from;

	for (i = from; i < out->nfindings; i++) {
		const struct finding *f = out->findings[i];

		for (j = 0; j < n; j++) {
			const struct finding *before = out->findings[j];

			if (before->rule == f->rule && before->side == f->side &&
			    same_text(before->subject, f->subject) &&
			    same_text(before->title, f->title))
				break;
		}
		if (j == n)
			out->findings[n++] = out->findings[i];
	}
	out->nfindings = n;
}

static void one_link(const struct rule *rule, const struct rule_input *base, enum side side,
		     const struct link_facts *l, struct rule_output *out)
{
	struct exam exam = *base->exam;
	struct rule_input in = *base;
	struct facts facts = *exam.facts[side];
	size_t before = out->nfindings;

	facts.route.ifindex = l->ifindex;
	exam.facts[side] = &facts;
	in.exam = &exam;
	fill_side(&exam, side, &in);
	call(rule, &in, out);
	drop_repeated(out, before);
}

/*
 * Without a peer no route says which link matters: each that was examined stands in for it, one
 * after the other.  Those of software come last, so that a port speaks for itself first.
 */
static void per_link(const struct rule *rule, const struct rule_input *base,
		     struct rule_output *out)
{
	int s, software;
	size_t i;

	for (s = 0; s < EXAM_ENDS; s++) {
		const struct facts *f = base->exam->facts[s];

		for (software = 0; f && software < 2; software++)
			for (i = 0; i < f->nlinks; i++)
				if (link_examined(&f->links[i]) &&
				    nd_str_is(f->links[i].kind, "physical") == !software)
					one_link(rule, base, (enum side)s, &f->links[i], out);
	}
}

static void per_direction(const struct rule *rule, const struct rule_input *base,
			  struct rule_output *out)
{
	static const enum run_direction directions[] = { RUN_FORWARD, RUN_REVERSE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(directions); i++) {
		struct rule_input in = *base;
		const struct run *run = exam_main_run(base->exam, directions[i]);

		if (!run)
			continue;
		in.direction = directions[i];
		fill_side(base->exam, rule->scope == RULE_PER_SENDER ? run_sender(in.direction) :
							run_receiver(in.direction), &in);
		in.run = run;
		in.end = &run->ends[in.side];
		in.other_end = &run->ends[side_other(in.side)];
		in.measured_bps = (double)run->goodput_bps.v;
		call_for_run(rule, &in, out);
	}
}

int engine_evaluate(const struct rule *const *rules, size_t nrules, const struct exam *exam,
		    const struct ladder *ladder, bool static_only, struct rule_output *out)
{
	const struct rule_input base = { .exam = exam, .ladder = ladder };
	size_t i;

	for (i = 0; i < nrules && !out->failed; i++) {
		const struct rule *rule = rules[i];

		switch (rule->scope) {
		case RULE_PER_HOST:
			if (static_only)
				per_link(rule, &base, out);
			else
				per_host(rule, &base, out);
			break;
		case RULE_PER_SENDER:
		case RULE_PER_RECEIVER:
			if (!static_only)
				per_direction(rule, &base, out);
			break;
		case RULE_PER_EXAM:
			if (!static_only)
				call(rule, &base, out);
			break;
		}
	}
	return out->failed ? -ENOMEM : 0;
}

void engine_rule_out(struct rule_output *out, const struct rule *rule, const char *because)
{
	struct ruled_out *row = arena_append_row(out->mem, (void **)&out->ruled_out,
						 &out->nruled_out, sizeof(*row));

	if (!row) {
		out->failed = true;
		return;
	}
	*row = (struct ruled_out){ .rule = rule, .because = because };
}

static bool fired_or_unseen(const struct rule_output *out, const struct rule *rule)
{
	size_t i;

	for (i = 0; i < out->nfindings; i++)
		if (out->findings[i]->rule == rule)
			return true;
	for (i = 0; i < out->nunseen; i++)
		if (out->unseen[i].rule == rule)
			return true;
	return false;
}

/* "reason" when all scopes agree, else "local: reason; peer: other reason". */
static const char *joined_reasons(struct rule_output *out, const struct rule *rule)
{
	const struct clear_note *first = NULL;
	const char *text = "";
	bool same = true;
	size_t i;

	for (i = 0; i < out->nclears; i++) {
		if (out->clears[i].rule != rule)
			continue;
		if (!first)
			first = &out->clears[i];
		else if (strcmp(first->because, out->clears[i].because) != 0)
			same = false;
	}
	if (!first || same)
		return first ? first->because : NULL;
	for (i = 0; i < out->nclears; i++) {
		const struct clear_note *c = &out->clears[i];

		if (c->rule == rule)
			text = rule_text(out, "%s%s%s: %s", text, *text ? "; " : "", c->where,
					 c->because);
	}
	return text;
}

int engine_note_ruled_out(const struct rule *const *rules, size_t nrules, struct rule_output *out)
{
	size_t i;

	for (i = 0; i < nrules; i++) {
		const char *because;

		if (fired_or_unseen(out, rules[i]))
			continue;
		because = joined_reasons(out, rules[i]);
		if (because)
			engine_rule_out(out, rules[i], because);
	}
	return out->failed ? -ENOMEM : 0;
}

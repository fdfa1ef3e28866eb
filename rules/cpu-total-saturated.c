/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ends.h"
#include "rules/thresholds.h"

/* The wire could carry clearly more than these CPUs do. */
static bool wire_has_room(const struct rule_input *in, const struct traffic_end *t)
{
	const struct ceiling *c = ladder_find(in->ladder, t->direction, CEILING_WIRE, t->side);

	return c && c->known && t->measured_bps < LINK_WIRE_REACHED * c->low_bps;
}

static const char *titled(struct rule_output *out, const struct traffic_end *t,
			  const struct cpu_use *u)
{
	if (t->shared)
		return rule_text(out, "both ends share the %.0f CPUs of this machine, and all "
				 "are full", u->ncores);
	return rule_text(out, "all %.0f CPUs of %s are full", u->ncores, end_words(t));
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	struct finding *f;
	struct cpu_use u;

	cpu_use_of(t, &u);
	if (!u.known)
		return end_missing(out, t, "cores", ND_UNREAD, NULL);
	if (u.mean_busy < CORE_SATURATED)
		return END_CLEAR;
	f = machine_fire(out, t);
	/* Two ends on one machine do twice the work of one: no fault of the machine. */
	f->severity = t->shared ? SEVERITY_INFO : wire_has_room(in, t) ? SEVERITY_MEDIUM :
		      SEVERITY_LOW;
	f->risk = RISK_HANDS_ON;
	f->title = titled(out, t, &u);
	finding_number(out, f, end_fact(out, t, "cores busy, mean"), u.mean_busy, UNIT_SHARE,
		       rule_text(out, ">= %g", CORE_SATURATED), "/proc/stat");
	finding_number(out, f, end_fact(out, t, "cores"), u.ncores, UNIT_COUNT, NULL,
		       "/proc/stat");
	finding_cpu(out, f, t);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, true, "some CPU was idle at each end");
}

const struct rule rule_cpu_total_saturated = {
	.id = "cpu-total-saturated",
	.title = "all CPUs of a machine are full",
	.scope = RULE_PER_EXAM,
	.reads = "time of all cores under traffic, at both ends; the line rate",
	.fires_when = "the CPUs we may use are >= 95 % busy on average; a fault only where the "
		      "wire had room",
	.why = "Every byte costs time in the stack, the copies and the application. When all CPUs "
	       "work, only doing less for each byte makes it faster.",
	.fix = "Larger packets (MTU, offloads), fewer copies (sendfile, MSG_ZEROCOPY), no "
	       "encryption or filtering on the way, or more and faster cores.",
	.not_when = "Both ends on one machine: it does the work of two, and only says what this "
		    "machine can do with itself.",
	.references = "Cai et al., Understanding host network stack overheads, SIGCOMM 2021",
	.evaluate = evaluate,
};

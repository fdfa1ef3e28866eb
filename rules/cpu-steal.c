/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ends.h"
#include "rules/thresholds.h"

static void fire(struct rule_output *out, const struct traffic_end *t,
		 const struct core_load *hot)
{
	struct finding *f = machine_fire(out, t);
	double lost = report_share(hot->steal.v);

	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_HANDS_ON;
	if (hot->cpu.k == ND_KNOWN)
		f->subject = rule_text(out, "cpu %llu", (unsigned long long)hot->cpu.v);
	f->title = rule_text(out, "the hypervisor takes %.0f %% of the busiest CPU of %s away",
			     lost * 100, end_words(t));
	finding_number(out, f, end_fact(out, t, "steal of the busiest core"), lost,
		       UNIT_SHARE, rule_text(out, ">= %g", CPU_STEAL_SHARE), "/proc/stat");
	finding_cpu(out, f, t);
	if (t->facts && t->facts->host.virtualization.k == ND_KNOWN)
		finding_word(out, f, rule_text(out, "%s.host.virtualization", side_word(t->side)),
			     t->facts->host.virtualization.v, NULL, "CPUID, DMI");
	/* What the neighbours' caches cost comes on top, so the full share is not sure. */
	finding_lifts(f, CEILING_CPU, t->measured_bps * (1 + lost / 2),
		      t->measured_bps / (1 - (lost < 0.9 ? lost : 0.9)));
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	const struct core_load *hot = end_hot_core(t->end);

	(void)in;
	if (!hot)
		return end_missing(out, t, "cores", ND_UNREAD, NULL);
	if (hot->busy.v < CORE_BUSY)
		return END_CLEAR;
	if (hot->steal.k != ND_KNOWN)
		return end_missing(out, t, "cores.steal", hot->steal.k, NULL);
	if (hot->steal.v < CPU_STEAL_SHARE)
		return END_CLEAR;
	fire(out, t, hot);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, true,
		      "the hypervisor took nothing from a CPU the traffic needed");
}

const struct rule rule_cpu_steal = {
	.id = "cpu-steal",
	.title = "the hypervisor runs others on the CPU the traffic needs",
	.scope = RULE_PER_EXAM,
	.reads = "steal time of the busiest core under traffic, at both ends",
	.fires_when = "the busiest core is >= 85 % busy and >= 3 % of its time was stolen",
	.why = "A virtual CPU that is ready to run but does not get the real one loses that time, "
	       "and packets wait meanwhile.",
	.fix = "A larger or dedicated instance, fewer neighbours on the host, or pinned virtual "
	       "CPUs. On instances that burst, wait for CPU credits.",
	.not_when = "The core had time to spare: then nothing was lost.",
	.references = "Linux Documentation/filesystems/proc.rst, /proc/stat",
	.evaluate = evaluate,
};

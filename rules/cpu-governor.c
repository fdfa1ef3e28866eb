/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ends.h"
#include "rules/thresholds.h"

/* Highest clock seen on this core while traffic flowed. */
static struct nd_u64 clock_of(const struct run_end *end, uint64_t cpu)
{
	size_t i;

	for (i = 0; end->window && i < end->window->nfreqs; i++)
		if (nd_u64_is(end->window->freqs[i].cpu, cpu))
			return end->window->freqs[i].current_khz;
	return nd_u64_unknown(ND_UNREAD);
}

static void fire(struct rule_output *out, const struct traffic_end *t, const struct cpu_facts *c,
		 uint64_t khz)
{
	double faster = (double)c->hardware_khz.v / (double)khz;
	const char *side = side_word(t->side);
	struct finding *f = machine_fire(out, t);

	f->severity = SEVERITY_LOW;	/* the gain raises it */
	f->risk = RISK_AFFECTS_OTHERS;
	f->subject = rule_text(out, "cpu %llu", (unsigned long long)c->cpu.v);
	f->title = rule_text(out, "the governor \"%s\" keeps the busiest CPU of %s at %.2f of "
			     "%.2f GHz", c->governor.v, end_words(t), (double)khz / 1e6,
			     (double)c->hardware_khz.v / 1e6);
	finding_word(out, f, rule_text(out, "%s.cpus[%llu].governor", side,
				       (unsigned long long)c->cpu.v), c->governor.v,
		     "performance", "cpufreq scaling_governor");
	finding_number(out, f, end_fact(out, t, rule_text(out, "freqs[%llu].current_khz",
							  (unsigned long long)c->cpu.v)),
		       (double)khz, UNIT_KILOHERTZ,
		       rule_text(out, "<= %g of hardware_khz", CPU_GOVERNOR_FREQ_SHARE),
		       "cpufreq scaling_cur_freq");
	finding_number(out, f, rule_text(out, "%s.cpus[%llu].hardware_khz", side,
					 (unsigned long long)c->cpu.v),
		       (double)c->hardware_khz.v, UNIT_KILOHERTZ, NULL,
		       "cpufreq cpuinfo_max_freq");
	finding_cpu(out, f, t);
	finding_command(out, f, "cpupower frequency-set -g performance");
	finding_undo(out, f, "cpupower frequency-set -g %s", rule_shell(out, c->governor.v));
	finding_persist(out, f, "tuned-adm profile network-throughput");
	/* Waiting for memory takes as long at any clock. */
	finding_lifts(f, CEILING_CPU, t->measured_bps * (1 + (faster - 1) / 2),
		      t->measured_bps * faster);
}

static enum end_answer missing_of(struct rule_output *out, const struct traffic_end *t,
				  const struct core_load *hot, const char *what, enum nd_known why)
{
	rule_missing(out, rule_text(out, "%s.cpus[%llu].%s", side_word(t->side),
				    (unsigned long long)hot->cpu.v, what),
		     why == ND_KNOWN ? ND_INVALID : why, NULL);
	return END_MISSING;
}

static enum end_answer check(const struct rule_input *in, struct rule_output *out,
			     const struct traffic_end *t)
{
	const struct core_load *hot = end_hot_core(t->end);
	const struct cpu_facts *c;
	struct nd_u64 khz;

	(void)in;
	if (!hot || hot->cpu.k != ND_KNOWN)
		return end_missing(out, t, "cores", ND_UNREAD, NULL);
	if (hot->busy.v < CPU_GOVERNOR_CORE_BUSY)
		return END_CLEAR;
	c = facts_cpu(t->facts, hot->cpu.v);
	if (!c)
		return missing_of(out, t, hot, "governor", ND_UNREAD);
	/* Virtual machines have no clock to govern. */
	if (c->governor.k == ND_ABSENT || c->governor.k == ND_NOT_SUPPORTED ||
	    c->governor.k == ND_NOT_APPLICABLE)
		return END_NOT_APPLICABLE;
	if (c->governor.k != ND_KNOWN)
		return missing_of(out, t, hot, "governor", c->governor.k);
	if (nd_str_is(c->governor, "performance"))
		return END_CLEAR;
	if (c->hardware_khz.k != ND_KNOWN)
		return missing_of(out, t, hot, "hardware_khz", c->hardware_khz.k);
	khz = clock_of(t->end, hot->cpu.v);
	if (khz.k != ND_KNOWN || !khz.v)
		return end_missing(out, t, rule_text(out, "freqs[%llu].current_khz",
						     (unsigned long long)hot->cpu.v), khz.k, NULL);
	if ((double)khz.v > CPU_GOVERNOR_FREQ_SHARE * (double)c->hardware_khz.v)
		return END_CLEAR;
	/* At the limit that somebody set, the governor is not what holds it down. */
	if (c->limit_khz.k == ND_KNOWN && (double)khz.v >= 0.95 * (double)c->limit_khz.v)
		return END_CLEAR;
	fire(out, t, c, khz.v);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	ends_evaluate(in, out, check, true, "no governor kept a busy core slow");
}

const struct rule rule_cpu_governor = {
	.id = "cpu-governor",
	.title = "the frequency governor keeps a full core slow",
	.scope = RULE_PER_EXAM,
	.reads = "scaling_governor, cpuinfo_max_freq and scaling_max_freq of the busiest core, its "
		 "scaling_cur_freq under traffic, at both ends",
	.fires_when = "the core is >= 85 % busy, its governor is not performance, and its clock "
		      "never was above 0.8 of the hardware's maximum (nor at a lower limit that "
		      "is set)",
	.why = "A governor that saves power raises the clock late or never: bursts of packets "
	       "look like little load. What a full core does goes with its clock.",
	.fix = "Use the governor performance (tuned's network-throughput profile sets it).",
	.not_when = "Turbo needs more than all cores can have at once; then the clock is below "
		    "its maximum with any governor. Virtual machines.",
	.references = "Linux Documentation/admin-guide/pm/cpufreq.rst\n"
		      "Linux Documentation/admin-guide/pm/intel_pstate.rst",
	.evaluate = evaluate,
};

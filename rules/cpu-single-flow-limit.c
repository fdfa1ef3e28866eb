/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ends.h"
#include "rules/thresholds.h"
#include "src/core/units.h"

/* The same end in the run with one stream. */
static struct traffic_end in_run(const struct traffic_end *t, const struct run *run)
{
	struct traffic_end one = *t;

	one.run = run;
	one.end = &run->ends[t->side];
	one.measured_bps = (double)run->goodput_bps.v;
	return one;
}

static const char *rate(struct rule_output *out, double bps)
{
	char buf[32];

	format_rate(bps, buf, sizeof(buf));
	return rule_text(out, "%s", buf);
}

static void fire(struct rule_output *out, const struct traffic_end *t,
		 const struct traffic_end *one, enum cpu_bound bound)
{
	struct finding *f = end_fire(out, t);

	/* Nothing to win for the rate of all streams: it is about programs with one. */
	f->severity = SEVERITY_LOW;
	f->risk = RISK_NONE;
	f->title = rule_text(out, "one stream gets %s, %llu get %s: with one, %s on %s",
			     rate(out, one->measured_bps),
			     (unsigned long long)t->run->spec.streams,
			     rate(out, t->measured_bps), cpu_bound_text(out, one, bound),
			     end_words(t));
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", run_name(one->run)),
		       one->measured_bps, UNIT_BITS_PER_SECOND,
		       rule_text(out, "%g x less than with all streams", CPU_SINGLE_FLOW_RATIO),
		       "traffic run");
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", run_name(t->run)),
		       t->measured_bps, UNIT_BITS_PER_SECOND, NULL, "traffic run");
	finding_cpu(out, f, one);
}

static bool window_limited(const struct run *one)
{
	struct nd_f64 limited = END_FLOW_MEAN(&one->ends[run_sender(one->spec.direction)],
					      rwnd_limited_share);

	return limited.k == ND_KNOWN && limited.v >= TCP_RWND_LIMITED;
}

/* The end, of both, that one stream fills a core or a thread of; -1: neither, -2: not known. */
static int full_end(const struct traffic_end *ends, const struct run *run, enum cpu_bound *bound)
{
	int i, unknown = 0;

	/* The receiver does more for each byte: it is full first. */
	for (i = 1; i >= 0; i--) {
		struct traffic_end one = in_run(&ends[i], run);

		*bound = cpu_bound_of(&one, CORE_SATURATED);
		if (*bound == CPU_CORE_FULL || *bound == CPU_THREAD_FULL)
			return i;
		unknown += *bound == CPU_UNKNOWN;
	}
	return unknown ? -2 : -1;
}

static enum end_answer check(struct rule_output *out, const struct traffic_end *ends)
{
	const struct run *one = exam_run_for(ends[0].exam, ends[0].direction, RUN_ONE_STREAM);
	struct traffic_end at;
	enum cpu_bound bound;
	int full;

	if (!one || ends[0].run->spec.streams < 2)
		return END_NOT_APPLICABLE;
	if ((double)one->goodput_bps.v * CPU_SINGLE_FLOW_RATIO > ends[0].measured_bps ||
	    window_limited(one))
		return END_CLEAR;
	full = full_end(ends, one, &bound);
	if (full == -2) {
		at = in_run(&ends[ends[0].end->present ? 1 : 0], one);
		return end_missing(out, &at, "cores", ND_UNREAD, NULL);
	}
	if (full < 0)
		return END_CLEAR;
	at = in_run(&ends[full], one);
	fire(out, &ends[full], &at, bound);
	return END_FIRED;
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct traffic_end ends[TRAFFIC_ENDS];
	size_t i, clear = 0, said = 0, n = traffic_ends(in->exam, ends);

	for (i = 0; i + 1 < n; i += 2) {
		enum end_answer answer = check(out, &ends[i]);

		clear += answer == END_CLEAR;
		said += answer == END_FIRED || answer == END_MISSING;
	}
	if (said)
		return;
	if (clear)
		rule_clear(out, "no single core limits one stream to less than 1 / %g of all",
			   CPU_SINGLE_FLOW_RATIO);
	else
		rule_not_applicable(out, "no run with one stream to compare");
}

const struct rule rule_cpu_single_flow_limit = {
	.id = "cpu-single-flow-limit",
	.title = "a single stream is limited by a single core",
	.scope = RULE_PER_EXAM,
	.reads = "rates of the runs with all streams and with one; cores and threads in the latter",
	.fires_when = "all streams get >= 1.5 x the rate of one, and with one a core or a thread "
		      "of either end is >= 95 % busy",
	.why = "The packets of one connection arrive in one queue and are read by one thread: a "
	       "core for each, however many there are.",
	.fix = "Several connections in parallel; a faster core; GRO and a larger MTU to make each "
	       "byte cheaper; the thread on another core than the interrupt, near it (RFS).",
	.not_when = "One stream is limited by its window or by losses.",
	.references = "Cai et al., Understanding host network stack overheads, SIGCOMM 2021\n"
		      "Linux Documentation/networking/scaling.rst",
	.evaluate = evaluate,
};

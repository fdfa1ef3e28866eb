/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gain, severity, rank and plan, on ladders made by hand. */
#include "src/diagnose/engine.h"

#include <stdarg.h>
#include <string.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/model_test.h"

static const struct rule rule_a = { .id = "cpu-a", .title = "a", .scope = RULE_PER_SENDER };
static const struct rule rule_b = { .id = "ring-b", .title = "b", .scope = RULE_PER_RECEIVER };
static const struct rule rule_link = { .id = "link-c", .title = "c", .scope = RULE_PER_SENDER };
static const struct rule rule_contention = {
	.id = "cpu-contention", .title = "d", .scope = RULE_PER_EXAM
};

/* Forward 6 Gbit/s; wire 9.4, the receiver's CPU full, windows wide, losses at the rate. */
static struct ceiling rows[] = {
	{ .kind = CEILING_WIRE, .side = SIDE_LOCAL, .known = true, .low_bps = 9.4e9,
	  .high_bps = 9.4e9 },
	{ .kind = CEILING_CPU, .side = SIDE_PEER, .known = true, .low_bps = 6e9,
	  .high_bps = 6.1e9 },
	{ .kind = CEILING_CPU, .side = SIDE_LOCAL, .known = false, .low_bps = 8e9,
	  .high_bps = 12e9 },
	{ .kind = CEILING_WINDOW_SEND, .side = SIDE_LOCAL, .known = true, .low_bps = 5e9,
	  .high_bps = 50e9 },
	{ .kind = CEILING_LOSS, .side = SIDE_PATH, .known = true, .low_bps = 5e9,
	  .high_bps = 6.5e9 },
	{ .kind = CEILING_PCIE, .side = SIDE_PEER, .known = false },
};
static const struct ladder ladder = { rows, ARRAY_SIZE(rows) };

static struct finding finding(const struct rule *rule, enum proof proof, enum side side)
{
	return (struct finding){
		.rule = rule, .proof = proof, .side = side, .has_direction = true,
		.direction = RUN_FORWARD, .title = rule->title,
	};
}

static struct exam *exam_at(double bps)
{
	struct exam *e = build_two_hosts();

	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, bps);
	return e;
}

static void gain_stops_at_the_next_ceiling(void **state)
{
	struct finding f = finding(&rule_a, PROOF_CAUSAL, SIDE_PEER), *list[] = { &f };
	struct exam *e = exam_at(6e9);

	(void)state;
	finding_lifts(&f, CEILING_CPU, 11e9, 40e9);
	gain_of_findings(e, &ladder, list, 1);
	assert_true(f.gain_known);
	/* High: the wire.  Low: the sender's core might be full at 8. */
	assert_near(f.gain_low_bps / 1e9, 2.0, 1e-9);
	assert_near(f.gain_high_bps / 1e9, 3.4, 1e-9);
	assert_near(f.rate_low_bps / 1e9, 8.0, 1e-9);
	assert_near(f.rate_high_bps / 1e9, 9.4, 1e-9);
	assert_near(f.confidence, 0.9, 0);
	/* (2.0 + 3.4) / 2 of the wire's 9.4: 29 %. */
	assert_int_equal(f.severity, SEVERITY_HIGH);
	assert_near(finding_score(e, &ladder, &f), 0.9 * 2.7 / 9.4, 1e-9);
	/* A smaller promise is kept as it is. */
	finding_lifts(&f, CEILING_CPU, 6.3e9, 6.3e9);
	f.severity = SEVERITY_INFO;
	gain_of_findings(e, &ladder, list, 1);
	assert_near(f.gain_high_bps / 1e9, 0.3, 1e-9);
	assert_int_equal(f.severity, SEVERITY_MEDIUM);
	exam_free(e);
}

static void another_limit_at_the_rate_leaves_no_gain(void **state)
{
	struct finding f = finding(&rule_a, PROOF_CAUSAL, SIDE_LOCAL), *list[] = { &f };
	struct exam *e = exam_at(6e9);

	(void)state;
	/* Lifting the sender's CPU does nothing for the receiver's. */
	finding_lifts(&f, CEILING_CPU, HUGE_VAL, HUGE_VAL);
	gain_of_findings(e, &ladder, list, 1);
	assert_true(f.gain_known);
	assert_near(f.gain_low_bps, 0, 0);
	assert_near(f.gain_high_bps / 1e9, 0.1, 1e-9);
	/* Severity set by the rule stays the least. */
	f.severity = SEVERITY_HIGH;
	gain_of_findings(e, &ladder, list, 1);
	assert_int_equal(f.severity, SEVERITY_HIGH);
	exam_free(e);
}

/* What rests on a reached rate limit cannot matter, whatever its rule thinks of it. */
static void a_rate_limit_leaves_nothing_to_others(void **state)
{
	struct finding f[3] = {
		finding(&rule_a, PROOF_CAUSAL, SIDE_LOCAL),
		finding(&rule_contention, PROOF_CAUSAL, SIDE_LOCAL),
		finding(&rule_b, PROOF_CAUSAL, SIDE_LOCAL),
	};
	struct finding *list[] = { &f[0], &f[1], &f[2] };
	struct exam *e = exam_at(6e9);
	struct ceiling with[] = {
		rows[0],
		{ .kind = CEILING_SHAPER, .side = SIDE_LOCAL, .known = true, .low_bps = 6.1e9,
		  .high_bps = 6.1e9 },
	};
	struct ladder l = { with, ARRAY_SIZE(with) };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(f); i++)
		f[i].severity = SEVERITY_MEDIUM;
	finding_lifts(&f[0], CEILING_CPU, 9e9, 9e9);
	finding_lifts(&f[2], CEILING_SHAPER, 9.4e9, 9.4e9);
	gain_of_findings(e, &l, list, ARRAY_SIZE(f));
	assert_int_equal(f[0].severity, SEVERITY_LOW);
	assert_int_equal(f[1].severity, SEVERITY_LOW);	/* also without a figure */
	assert_int_equal(f[2].severity, SEVERITY_CRITICAL);
	rank_findings(e, &l, list, ARRAY_SIZE(f));
	assert_ptr_equal(list[0], &f[2]);
	/* Far below the limit it holds nothing. */
	with[1].low_bps = with[1].high_bps = 9e9;
	f[1].severity = SEVERITY_MEDIUM;
	gain_of_findings(e, &l, list, ARRAY_SIZE(f));
	assert_int_equal(f[0].severity, SEVERITY_CRITICAL);
	assert_int_equal(f[1].severity, SEVERITY_MEDIUM);
	exam_free(e);
}

static void one_fix_may_lift_two_ceilings(void **state)
{
	struct finding f = finding(&rule_a, PROOF_CAUSAL, SIDE_PEER), *list[] = { &f };
	struct exam *e = exam_at(3e9);
	struct ceiling with[] = {
		rows[0],
		{ .kind = CEILING_WINDOW_RECEIVE, .side = SIDE_PEER, .known = true,
		  .low_bps = 3e9, .high_bps = 3e9 },
		{ .kind = CEILING_WINDOW_SEND, .side = SIDE_LOCAL, .known = true,
		  .low_bps = 4.5e9, .high_bps = 4.5e9 },
	};
	struct ladder l = { with, ARRAY_SIZE(with) };

	(void)state;
	finding_lifts(&f, CEILING_WINDOW_RECEIVE, 20e9, 20e9);
	gain_of_findings(e, &l, list, 1);
	assert_near(f.gain_high_bps / 1e9, 1.5, 1e-9);
	/* The option that set the receive buffers set the send buffers too. */
	f.lifts_too = CEILING_WINDOW_SEND;
	gain_of_findings(e, &l, list, 1);
	assert_near(f.gain_low_bps / 1e9, 6.4, 1e-9);
	exam_free(e);
}

static void losses_count_unless_they_are_the_limits_echo(void **state)
{
	struct finding f = finding(&rule_a, PROOF_STATIC, SIDE_PEER), *list[] = { &f };
	struct exam *e = exam_at(6e9);
	struct ceiling with[2] = { rows[0], rows[4] };
	struct ladder l = { with, 2 };

	(void)state;
	/* Advice about PCIe, which was not seen limiting: losses still hold the rate. */
	finding_lifts(&f, CEILING_PCIE, 20e9, 20e9);
	gain_of_findings(e, &l, list, 1);
	assert_near(f.gain_high_bps / 1e9, 0.5, 1e-9);
	assert_near(f.confidence, 0.3, 0);
	f = finding(&rule_a, PROOF_CAUSAL, SIDE_PEER);
	finding_lifts(&f, CEILING_PCIE, 20e9, 20e9);
	gain_of_findings(e, &l, list, 1);
	assert_near(f.gain_high_bps / 1e9, 3.4, 1e-9);
	exam_free(e);
}

static void no_number_without_any_limit(void **state)
{
	struct finding f = finding(&rule_a, PROOF_CAUSAL, SIDE_LOCAL), *list[] = { &f };
	struct exam *e = exam_at(6e9);
	struct ladder empty = { NULL, 0 };

	(void)state;
	finding_lifts(&f, CEILING_SHAPER, HUGE_VAL, HUGE_VAL);
	f.severity = SEVERITY_CRITICAL;
	gain_of_findings(e, &empty, list, 1);
	assert_false(f.gain_known);
	assert_int_equal(f.severity, SEVERITY_CRITICAL);
	/* It ranks as the least of its class: 30 %. */
	assert_near(finding_score(e, &empty, &f), 0.9 * 0.3, 1e-9);
	exam_free(e);
}

static void odd_promises_are_no_promises(void **state)
{
	struct finding f = finding(&rule_a, PROOF_CAUSAL, SIDE_LOCAL);

	(void)state;
	finding_lifts(&f, CEILING_CPU, NAN, 5e9);
	assert_false(f.after_known);
	finding_lifts(&f, CEILING_CPU, -1, 5e9);
	assert_false(f.after_known);
	finding_lifts(&f, CEILING_CPU, 6e9, 5e9);
	assert_false(f.after_known);
	finding_lifts(&f, CEILING_CPU, 5e9, HUGE_VAL);
	assert_true(f.after_known);
}

static void confidence_is_lowered_never_raised(void **state)
{
	struct finding f[4] = {
		finding(&rule_a, PROOF_CAUSAL, SIDE_PEER),
		finding(&rule_a, PROOF_EXPERIMENT, SIDE_PEER),
		finding(&rule_a, PROOF_STATIC, SIDE_PEER),
		finding(&rule_a, PROOF_STATIC, SIDE_PEER),
	};
	struct finding *list[] = { &f[0], &f[1], &f[2], &f[3] };
	struct exam *e = exam_at(6e9);

	(void)state;
	f[0].confidence = 0.6;
	f[2].confidence = 0.9;
	f[2].severity = SEVERITY_LOW;
	gain_of_findings(e, &ladder, list, 4);
	/* What does not claim to limit is certain. */
	assert_true(finding_is_plain_fact(&f[3]));
	assert_near(f[3].confidence, 1.0, 0);
	assert_near(f[0].confidence, 0.6, 0);
	assert_near(f[1].confidence, 1.0, 0);
	assert_near(f[2].confidence, 0.3, 0);
	exam_free(e);
}

/* Whatever rests on what a byte costs, at the machine and in the direction of the contention. */
static void other_work_makes_cpu_costs_less_sure(void **state)
{
	struct finding f[6] = {
		finding(&rule_a, PROOF_EXPERIMENT, SIDE_PEER),
		finding(&rule_a, PROOF_CAUSAL, SIDE_PEER),
		finding(&rule_a, PROOF_EXPERIMENT, SIDE_LOCAL),
		finding(&rule_a, PROOF_EXPERIMENT, SIDE_PEER),
		finding(&rule_b, PROOF_CAUSAL, SIDE_PEER),
		finding(&rule_contention, PROOF_CAUSAL, SIDE_PEER),
	};
	struct finding *list[] = { &f[0], &f[1], &f[2], &f[3], &f[4], &f[5] };
	struct exam *e = exam_at(6e9);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(f); i++)
		finding_lifts(&f[i], CEILING_CPU, 9e9, 9e9);
	f[3].direction = RUN_REVERSE;
	f[4].lifts = CEILING_WINDOW_RECEIVE;
	f[5].evidence[0] = (struct evidence){ .fact = "CPUs used by others", .value = 1.5 };
	f[5].nevidence = 1;
	gain_of_findings(e, &ladder, list, ARRAY_SIZE(f));
	assert_near(f[0].confidence, 0.6, 0);
	assert_near(f[1].confidence, 0.6, 0);
	assert_int_equal(f[1].nevidence, 1);
	assert_near(f[1].evidence[0].value, 1.5, 0);
	assert_near(f[2].confidence, 1.0, 0);	/* another machine */
	assert_near(f[3].confidence, 1.0, 0);	/* another direction */
	assert_near(f[4].confidence, 0.9, 0);	/* a window was seen full: that takes no CPU */
	assert_near(f[5].confidence, 0.9, 0);
	assert_int_equal(f[2].nevidence + f[3].nevidence + f[4].nevidence, 0);
	exam_free(e);
}

static void advice_is_never_above_what_was_seen(void **state)
{
	struct finding f[2] = {
		finding(&rule_a, PROOF_STATIC, SIDE_PEER),
		finding(&rule_b, PROOF_CAUSAL, SIDE_PEER),
	};
	struct finding *list[] = { &f[0], &f[1] };
	struct exam *e = exam_at(6e9);

	(void)state;
	f[0].severity = SEVERITY_CRITICAL;
	f[1].severity = SEVERITY_LOW;
	gain_of_findings(e, &ladder, list, 2);
	rank_findings(e, &ladder, list, 2);
	assert_ptr_equal(list[0], &f[1]);
	assert_int_equal(f[0].severity, SEVERITY_LOW);
	assert_int_equal(f[1].rank, 1);
	assert_int_equal(f[0].rank, 2);
	exam_free(e);
}

static void rank_is_gain_times_confidence(void **state)
{
	struct finding f[4] = {
		finding(&rule_a, PROOF_CAUSAL, SIDE_PEER),
		finding(&rule_a, PROOF_CAUSAL, SIDE_PEER),
		finding(&rule_a, PROOF_EXPERIMENT, SIDE_PEER),
		finding(&rule_link, PROOF_CAUSAL, SIDE_PEER),
	};
	struct finding *list[] = { &f[0], &f[1], &f[2], &f[3] };
	struct exam *e = exam_at(6e9);

	(void)state;
	finding_lifts(&f[0], CEILING_CPU, 7e9, 7e9);
	finding_lifts(&f[1], CEILING_CPU, 8e9, 8e9);
	f[1].confidence = 0.6;
	finding_lifts(&f[2], CEILING_CPU, 7.4e9, 7.4e9);
	/* A link below its speed comes first although it wins less. */
	f[3].severity = SEVERITY_MEDIUM;
	gain_of_findings(e, &ladder, list, 4);
	rank_findings(e, &ladder, list, 4);
	assert_ptr_equal(list[0], &f[3]);
	assert_ptr_equal(list[1], &f[2]);	/* 1.4 x 1.0 */
	assert_ptr_equal(list[2], &f[1]);	/* 2.0 x 0.6 */
	assert_ptr_equal(list[3], &f[0]);	/* 1.0 x 0.9 */
	exam_free(e);
}

/* Other work goes away by itself; what is set up wrong does not. */
static void what_passes_comes_after_what_stays(void **state)
{
	struct finding f[3] = {
		finding(&rule_contention, PROOF_CAUSAL, SIDE_PEER),
		finding(&rule_a, PROOF_CAUSAL, SIDE_PEER),
		finding(&rule_a, PROOF_CAUSAL, SIDE_PEER),
	};
	struct finding *list[] = { &f[0], &f[1], &f[2] };
	struct exam *e = exam_at(6e9);

	(void)state;
	finding_lifts(&f[0], CEILING_CPU, 9e9, 9e9);
	f[1].severity = SEVERITY_MEDIUM;
	f[2].severity = SEVERITY_LOW;
	gain_of_findings(e, &ladder, list, 3);
	rank_findings(e, &ladder, list, 3);
	assert_ptr_equal(list[0], &f[1]);
	assert_ptr_equal(list[1], &f[0]);
	assert_ptr_equal(list[2], &f[2]);
	exam_free(e);
}

static void a_host_finding_gets_its_better_direction(void **state)
{
	struct finding f = finding(&rule_a, PROOF_CAUSAL, SIDE_PEER), *list[] = { &f };
	struct ceiling wires[] = {
		rows[0],
		{ .kind = CEILING_WIRE, .side = SIDE_LOCAL, .direction = RUN_REVERSE, .known = true,
		  .low_bps = 9.4e9, .high_bps = 9.4e9 },
	};
	struct ladder l = { wires, 2 };
	struct exam *e = exam_at(6e9);

	(void)state;
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 2e9);
	f.has_direction = false;
	finding_lifts(&f, CEILING_PCIE, 20e9, 20e9);
	gain_of_findings(e, &l, list, 1);
	assert_near(f.gain_high_bps / 1e9, 7.4, 1e-9);
	assert_near(f.rate_high_bps / 1e9, 9.4, 1e-9);
	exam_free(e);
}

static struct finding lifting(enum ceiling_kind kind, enum side side, double after)
{
	struct finding f = finding(&rule_a, PROOF_CAUSAL, side);

	finding_lifts(&f, kind, after, after);
	return f;
}

static void the_plan_goes_from_ceiling_to_ceiling(void **state)
{
	struct ceiling four[] = {
		{ .kind = CEILING_WIRE, .side = SIDE_LOCAL, .known = true, .low_bps = 9.4e9,
		  .high_bps = 9.4e9 },
		{ .kind = CEILING_CPU, .side = SIDE_PEER, .known = true, .low_bps = 8e9,
		  .high_bps = 8e9 },
		{ .kind = CEILING_SHAPER, .side = SIDE_LOCAL, .known = true, .low_bps = 1e9,
		  .high_bps = 1e9 },
	};
	struct finding findings[] = {
		lifting(CEILING_SHAPER, SIDE_LOCAL, HUGE_VAL),
		lifting(CEILING_CPU, SIDE_PEER, 20e9),
		lifting(CEILING_PCIE, SIDE_LOCAL, 40e9),
	};
	struct exam *e = exam_at(1e9);
	struct diagnosis d = {
		.mem = e->mem, .ladder = { four, 3 }, .findings = findings, .nfindings = 3,
	};

	(void)state;
	assert_int_equal(plan_build(e, &d), 0);
	assert_int_equal(d.nplan, 2);
	assert_ptr_equal(d.plan[0].finding, &findings[0]);
	assert_near(d.plan[0].before_bps / 1e9, 1, 1e-9);
	assert_near(d.plan[0].after_bps / 1e9, 8, 1e-9);
	assert_ptr_equal(d.plan[1].finding, &findings[1]);
	assert_near(d.plan[1].before_bps / 1e9, 8, 1e-9);
	assert_near(d.plan[1].after_bps / 1e9, 9.4, 1e-9);
	/* The ladder of the diagnosis itself is as measured. */
	assert_near(four[2].high_bps, 1e9, 0);
	exam_free(e);
}

static void advice_is_no_step_of_the_plan(void **state)
{
	struct finding f = lifting(CEILING_SHAPER, SIDE_LOCAL, 20e9);
	struct exam *e = exam_at(1e9);
	struct diagnosis d = {
		.mem = e->mem, .ladder = { rows, 1 }, .findings = &f, .nfindings = 1,
	};

	(void)state;
	f.proof = PROOF_STATIC;
	assert_int_equal(plan_build(e, &d), 0);
	assert_int_equal(d.nplan, 0);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gain_stops_at_the_next_ceiling),
		cmocka_unit_test(another_limit_at_the_rate_leaves_no_gain),
		cmocka_unit_test(a_rate_limit_leaves_nothing_to_others),
		cmocka_unit_test(one_fix_may_lift_two_ceilings),
		cmocka_unit_test(losses_count_unless_they_are_the_limits_echo),
		cmocka_unit_test(no_number_without_any_limit),
		cmocka_unit_test(odd_promises_are_no_promises),
		cmocka_unit_test(confidence_is_lowered_never_raised),
		cmocka_unit_test(other_work_makes_cpu_costs_less_sure),
		cmocka_unit_test(advice_is_never_above_what_was_seen),
		cmocka_unit_test(rank_is_gain_times_confidence),
		cmocka_unit_test(what_passes_comes_after_what_stays),
		cmocka_unit_test(a_host_finding_gets_its_better_direction),
		cmocka_unit_test(the_plan_goes_from_ceiling_to_ceiling),
		cmocka_unit_test(advice_is_no_step_of_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

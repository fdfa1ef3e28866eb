/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verdict, sentence and exit code, from whole exams. */
#include "src/diagnose/engine.h"

#include <stdarg.h>
#include <string.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/model_test.h"

static void fire_shaper(const struct rule_input *in, struct rule_output *out)
{
	struct finding *f = rule_fire(out);

	f->severity = SEVERITY_HIGH;
	f->title = "tbf on eth0 lets 1 Gbit/s through";
	finding_lifts(f, CEILING_SHAPER, HUGE_VAL, HUGE_VAL);
	(void)in;
}

static void fire_low(const struct rule_input *in, struct rule_output *out)
{
	rule_fire(out)->severity = SEVERITY_LOW;
	(void)in;
}

static void fire_host(const struct rule_input *in, struct rule_output *out)
{
	struct finding *f = rule_fire(out);

	f->severity = SEVERITY_MEDIUM;
	f->title = rule_text(out, "governor of %s is powersave", side_word(in->side));
}

static const struct rule shaper_rule = {
	.id = "qdisc-rate-limit", .title = "t", .scope = RULE_PER_SENDER, .evaluate = fire_shaper,
};
static const struct rule low_rule = {
	.id = "offload-x", .title = "t", .scope = RULE_PER_SENDER, .evaluate = fire_low,
};
static const struct rule host_rule = {
	.id = "cpu-governor", .title = "t", .scope = RULE_PER_HOST, .evaluate = fire_host,
};

static void expect(const struct exam *e, const struct rule *rule, enum verdict verdict,
		   int exit_code, const char *summary)
{
	struct diagnosis *d;

	assert_int_equal(diagnose_with(&rule, rule ? 1 : 0, e, false, &d), 0);
	assert_string_equal(d->summary, summary);
	assert_string_equal(verdict_word(d->verdict), verdict_word(verdict));
	assert_int_equal(diagnosis_exit_code(d), exit_code);
	diagnosis_free(d);
}

static void healthy_at_the_wire(void **state)
{
	struct exam *e = build_two_hosts();

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.41e9);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.38e9);
	expect(e, NULL, VERDICT_HEALTHY, 0, "Healthy: 9.41 Gbit/s forward and 9.38 Gbit/s reverse, "
	       "limited by the 10 Gbit/s link.");
	/* Something small that could be better does not make it ill. */
	expect(e, &low_rule, VERDICT_HEALTHY, 0, "Healthy: 9.41 Gbit/s forward and 9.38 Gbit/s "
	       "reverse, limited by the 10 Gbit/s link.");
	exam_free(e);
}

static void fire_contention(const struct rule_input *in, struct rule_output *out)
{
	struct finding *f = rule_fire(out);

	f->severity = SEVERITY_MEDIUM;
	f->has_direction = true;
	f->title = "other work takes 1.5 of the 2 CPUs of this host";
	(void)in;
}

/* The test was told to go no faster: that is meant, and what else is wrong does not show. */
static void healthy_at_the_tests_own_limit(void **state)
{
	static const struct rule contention = { .id = "cpu-contention", .title = "t",
						.scope = RULE_PER_EXAM,
						.evaluate = fire_contention };
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1.97e9);

	(void)state;
	r->spec.pacing_bps = 2000000000 / r->spec.streams;
	expect(e, NULL, VERDICT_HEALTHY, 0, "Healthy: 1.97 Gbit/s forward, limited by the test's "
	       "own rate limit of 2 Gbit/s.");
	expect(e, &contention, VERDICT_HEALTHY, 0, "Healthy: 1.97 Gbit/s forward, limited by the "
	       "test's own rate limit of 2 Gbit/s.");
	/* With a target it is in the way. */
	e->wishes.target_bps = nd_u64(5000000000);
	expect(e, &contention, VERDICT_LIMITED, 1, "Limited to 1.97 Gbit/s forward by the test's "
	       "own rate limit of 2 Gbit/s.");
	e->wishes.target_bps = nd_u64_unknown(ND_UNREAD);
	/* Not reached: then it explains nothing. */
	r->goodput_bps = nd_u64(1000000000);
	expect(e, &contention, VERDICT_LIMITED, 1, "Limited to 1 Gbit/s forward: other work takes "
	       "1.5 of the 2 CPUs of this host.");
	exam_free(e);
}

static void healthy_on_shared_cpus(void **state)
{
	struct exam *e = fixture_veth_exam(2);

	(void)state;
	fixture_busy(build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 60e9), 1.0);
	expect(e, NULL, VERDICT_HEALTHY, 0,
	       "Healthy: 60 Gbit/s forward, limited by the CPUs both ends share.");
	fixture_busy(build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 58e9), 0.92);
	expect(e, NULL, VERDICT_HEALTHY, 0, "Healthy: 60 Gbit/s forward and 58 Gbit/s reverse, "
	       "limited by the CPUs both ends share.");
	exam_free(e);
}

static void healthy_on_one_full_cpu_of_one_machine(void **state)
{
	struct exam *e = fixture_veth_exam(BUILD_CPUS);
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 30e9);

	(void)state;
	fixture_busy(r, 0.6);
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		build_hot_core(r, s, 1, 0.98, 0.5);
	expect(e, NULL, VERDICT_HEALTHY, 0,
	       "Healthy: 30 Gbit/s forward, limited by cpu 1, which both ends share.");
	exam_free(e);
}

static void cpus_full_of_other_work_are_a_limit(void **state)
{
	struct exam *e = fixture_veth_exam(2);
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 4e9);

	(void)state;
	fixture_busy(r, 1.0);
	fixture_workers(r, 0.05);
	assert_near(rule_other_work(e, r, SIDE_LOCAL).v, 0.4, 1e-9);
	expect(e, NULL, VERDICT_LIMITED, 1, "Limited to 4 Gbit/s forward by the CPUs both ends "
	       "share, which other work fills too.");
	r->ends[SIDE_PEER].window->nworkers = 0;
	assert_int_equal(rule_other_work(e, r, SIDE_LOCAL).k, ND_UNREAD);
	exam_free(e);
}

static void healthy_when_all_cpus_of_a_host_work(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r;

	(void)state;
	build_link(e, SIDE_LOCAL)->speed_mbps = build_link(e, SIDE_PEER)->speed_mbps =
		nd_u64(100000);
	fixture_pci(e, SIDE_LOCAL, FIXTURE_NIC)->speed_mtps =
		fixture_pci(e, SIDE_PEER, FIXTURE_NIC)->speed_mtps = nd_u64(32000);
	r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 40e9);
	fixture_workers(r, 0.3);
	for (unsigned int i = 0; i < BUILD_CPUS; i++)
		build_hot_core(r, SIDE_PEER, i, 0.97, 0.6);
	expect(e, NULL, VERDICT_HEALTHY, 0,
	       "Healthy: 40 Gbit/s forward, limited by the CPUs of the peer.");
	/* One full core of four is no limit that has to be. */
	for (unsigned int i = 1; i < BUILD_CPUS; i++)
		build_hot_core(r, SIDE_PEER, i, 0.2, 0.1);
	expect(e, NULL, VERDICT_LIMITED, 1, "Limited to 40 Gbit/s forward by cpu 0 of the peer.");
	exam_free(e);
}

static void the_target_decides(void **state)
{
	struct exam *e = build_two_hosts();

	(void)state;
	e->wishes.target_bps = nd_u64(5000000000);
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 4.9e9);
	expect(e, NULL, VERDICT_HEALTHY, 0,
	       "Healthy: 4.90 Gbit/s forward, the target of 5 Gbit/s is met.");
	/* Even with a finding: the user asked for no more. */
	expect(e, &shaper_rule, VERDICT_HEALTHY, 0,
	       "Healthy: 4.90 Gbit/s forward, the target of 5 Gbit/s is met.");
	e->wishes.target_bps = nd_u64(10000000000);
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.41e9);
	expect(e, NULL, VERDICT_LIMITED, 1,
	       "Limited to 9.41 Gbit/s forward by the 10 Gbit/s link.");
	exam_free(e);
}

static void limited_by_a_finding(void **state)
{
	struct exam *e = build_two_hosts();

	(void)state;
	fixture_add_qdisc(e, SIDE_LOCAL, "tbf", 1000000000);
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 0.954e9);
	/* Cores 20 % busy: somewhere between 3.2 and 4.8 they might be next. */
	expect(e, &shaper_rule, VERDICT_LIMITED, 2, "Limited to 954 Mbit/s forward: tbf on eth0 "
	       "lets 1 Gbit/s through. The fix should give about 4.01 Gbit/s.");
	expect(e, NULL, VERDICT_LIMITED, 1, "Limited to 954 Mbit/s forward by the rate limit of "
	       "this host (tbf 2:0 on eth0).");
	exam_free(e);
}

static void unexplained_gaps_are_said(void **state)
{
	struct exam *e = build_two_hosts();

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6e9);
	expect(e, NULL, VERDICT_UNEXPLAINED, 3, "Unexplained: 6 Gbit/s forward is 64 % of the "
	       "9.41 Gbit/s that the 10 Gbit/s link would allow, and nothing that could be seen "
	       "explains the gap.");
	exam_free(e);
	e = build_unread();
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6e9);
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
		build_unseen_end(&e->runs[0], s);
	expect(e, NULL, VERDICT_UNEXPLAINED, 3, "Unexplained: 6 Gbit/s forward, and nothing that "
	       "could be seen limits it.");
	exam_free(e);
}

static void more_than_the_wire_is_a_wrong_fact(void **state)
{
	struct exam *e = build_two_hosts();

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 20e9);
	expect(e, NULL, VERDICT_UNEXPLAINED, 3, "Unexplained: 20 Gbit/s forward is more than the "
	       "9.41 Gbit/s computed for the 10 Gbit/s link: a fact or the model is wrong.");
	exam_free(e);
}

static void a_cause_matters_more_than_a_gap(void **state)
{
	struct exam *e = build_two_hosts();
	struct diagnosis *d;
	const struct rule *rules[] = { &shaper_rule };

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6e9);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.4e9);
	assert_int_equal(diagnose_with(rules, 1, e, false, &d), 0);
	assert_int_equal(d->verdict, VERDICT_LIMITED);
	assert_int_equal(d->ndirections, 2);
	assert_near(d->directions[0].explained.v, 6 / 9.415, 0.001);
	assert_int_equal(d->directions[1].bottleneck->kind, CEILING_WIRE);
	assert_near(d->directions[1].explained.v, 9.4 / 9.415, 0.001);
	diagnosis_free(d);
	exam_free(e);
}

static void no_run_no_verdict(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r;

	(void)state;
	expect(e, NULL, VERDICT_INCONCLUSIVE, 3, "Inconclusive: no traffic was driven.");
	r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6e9);
	r->status = RUN_FAILED;
	expect(e, NULL, VERDICT_INCONCLUSIVE, 3,
	       "Inconclusive: no run was long enough to measure.");
	r->problem = nd_str("the peer went away");
	expect(e, NULL, VERDICT_INCONCLUSIVE, 3, "Inconclusive: the peer went away.");
	e->problem = nd_str("interrupted");
	expect(e, NULL, VERDICT_INCONCLUSIVE, 3, "Inconclusive: interrupted.");
	exam_free(e);
}

static void half_an_exam_is_not_healthy(void **state)
{
	const struct rule *shaper = &shaper_rule;
	struct exam *e = build_two_hosts();
	struct diagnosis *d;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.41e9);
	e->problem = nd_str("the peer is gone");
	expect(e, NULL, VERDICT_INCONCLUSIVE, 3,
	       "Inconclusive: measured 9.41 Gbit/s forward before it ended early: "
	       "the peer is gone.");
	/* What was proven before stands. */
	assert_int_equal(diagnose_with(&shaper, 1, e, false, &d), 0);
	assert_int_equal(d->verdict, VERDICT_LIMITED);
	diagnosis_free(d);
	exam_free(e);
}

static void a_check_needs_no_traffic(void **state)
{
	const struct rule *rules[] = { &host_rule, &shaper_rule };
	struct exam *e = build_one_host();
	struct diagnosis *d;

	(void)state;
	assert_int_equal(diagnose_with(rules, 2, e, true, &d), 0);
	assert_string_equal(d->summary, "governor of local is powersave.");
	assert_int_equal(d->verdict, VERDICT_LIMITED);
	assert_int_equal(diagnosis_exit_code(d), 1);
	diagnosis_free(d);
	assert_int_equal(diagnose_with(rules, 0, e, true, &d), 0);
	assert_string_equal(d->summary, "Inconclusive: no check applies to eth0.");
	assert_int_equal(d->verdict, VERDICT_INCONCLUSIVE);
	assert_int_equal(diagnosis_exit_code(d), 3);
	diagnosis_free(d);
	exam_free(e);
}

static void all_is_well(const struct rule_input *in, struct rule_output *out)
{
	(void)in;
	rule_clear(out, "it is as it should be");
}

static void a_fact_is_missing(const struct rule_input *in, struct rule_output *out)
{
	(void)in;
	rule_missing(out, "local.qdiscs", ND_NOT_PERMITTED, NULL);
}

static void expect_static(const struct exam *e, const struct rule *const *rules, size_t n, int code,
			 const char *summary)
{
	struct diagnosis *d;

	assert_int_equal(diagnose_with(rules, n, e, true, &d), 0);
	assert_string_equal(d->summary, summary);
	assert_int_equal(diagnosis_exit_code(d), code);
	diagnosis_free(d);
}

/* "Healthy" is said of what was checked, and of nothing else. */
static void a_check_says_what_was_checked(void **state)
{
	static const struct rule clear = { .id = "a", .scope = RULE_PER_HOST,
					   .evaluate = all_is_well };
	static const struct rule missing = { .id = "b", .scope = RULE_PER_HOST,
					     .evaluate = a_fact_is_missing };
	static const struct rule missing_too = { .id = "c", .scope = RULE_PER_HOST,
						 .evaluate = a_fact_is_missing };
	const struct rule *rules[] = { &clear, &missing, &missing_too };
	struct exam *e = build_one_host();
	struct facts *f = (struct facts *)e->facts[SIDE_LOCAL];
	struct link_facts links[6];

	(void)state;
	expect_static(e, rules, 1, 0, "Nothing wrong is seen in 1 check of eth0; no traffic was "
		     "driven.");
	expect_static(e, rules, 2, 0, "Nothing wrong is seen in 1 check of eth0, but 1 could not "
		     "be made; no traffic was driven.");
	expect_static(e, rules, 3, 3, "Inconclusive: nothing wrong is seen in 1 check of eth0, but "
		     "2 could not be made; the first lacks local.qdiscs (not-permitted).");
	expect_static(e, rules + 1, 1, 3, "Inconclusive: no check of eth0 could be made; the first "
		     "lacks local.qdiscs (not-permitted).");
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		links[i] = f->links[0];
		links[i].name = nd_str(i ? "veth" : "eth0");
		links[i].kind = nd_str(i ? "veth" : "physical");
	}
	f->links = links;
	f->nlinks = 2;
	expect_static(e, rules, 1, 0, "Nothing wrong is seen in 1 check of eth0 and the software "
		     "link veth; no traffic was driven.");
	f->nlinks = 6;
	expect_static(e, rules, 1, 0, "Nothing wrong is seen in 1 check of eth0 and 5 software "
		     "links; no traffic was driven.");
	f->links = links + 1;
	f->nlinks = 2;
	expect_static(e, rules, 0, 3, "Inconclusive: no check applies to the software links veth "
		     "and veth (no network card was examined).");
	f->nlinks = 0;
	expect_static(e, rules, 0, 3, "Inconclusive: no check applies to this host (no link was "
		     "examined).");
	exam_free(e);
}

/* A run both ways is of one direction; what it measured of the other is that one's rate. */
static void both_ways(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 9.41e9);
	struct diagnosis *d;

	(void)state;
	r->other_goodput_bps = nd_u64(9400000000);
	assert_int_equal(diagnose_with(NULL, 0, e, false, &d), 0);
	assert_int_equal(d->ndirections, 1);
	diagnosis_free(d);
	r->spec.bidirectional = true;
	assert_int_equal(diagnose_with(NULL, 0, e, false, &d), 0);
	assert_int_equal(d->ndirections, 2);
	assert_int_equal(d->directions[1].direction, RUN_REVERSE);
	assert_true(d->directions[1].measured && d->directions[1].measured_bps == 9.4e9);
	assert_string_equal(d->summary, "Healthy: 9.41 Gbit/s forward and 9.40 Gbit/s reverse, "
					"limited by the 10 Gbit/s link.");
	diagnosis_free(d);
	r->other_goodput_bps = nd_u64_unknown(ND_UNREAD);
	assert_int_equal(diagnose_with(NULL, 0, e, false, &d), 0);
	assert_int_equal(d->ndirections, 1);
	diagnosis_free(d);
	/* A run of its own says more. */
	r->other_goodput_bps = nd_u64(1000000000);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, 9.38e9);
	assert_int_equal(diagnose_with(NULL, 0, e, false, &d), 0);
	assert_true(d->directions[1].measured_bps == 9.38e9);
	diagnosis_free(d);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(healthy_at_the_wire),
		cmocka_unit_test(healthy_at_the_tests_own_limit),
		cmocka_unit_test(healthy_on_shared_cpus),
		cmocka_unit_test(healthy_on_one_full_cpu_of_one_machine),
		cmocka_unit_test(cpus_full_of_other_work_are_a_limit),
		cmocka_unit_test(healthy_when_all_cpus_of_a_host_work),
		cmocka_unit_test(the_target_decides),
		cmocka_unit_test(limited_by_a_finding),
		cmocka_unit_test(unexplained_gaps_are_said),
		cmocka_unit_test(more_than_the_wire_is_a_wrong_fact),
		cmocka_unit_test(a_cause_matters_more_than_a_gap),
		cmocka_unit_test(no_run_no_verdict),
		cmocka_unit_test(half_an_exam_is_not_healthy),
		cmocka_unit_test(a_check_needs_no_traffic),
		cmocka_unit_test(a_check_says_what_was_checked),
		cmocka_unit_test(both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both directions at once, beside each alone; and the verdict, which is about each alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/report/report.h"
#include "tests/unit/report_fixture.h"

static struct diagnosis *told(const struct exam *e)
{
	struct diagnosis *d;

	assert_int_equal(diagnose(e, &d), 0);
	return d;
}

static void says(const struct exam *e, const char *text)
{
	struct diagnosis *d = told(e);

	assert_non_null(d->both.run);
	assert_string_equal(d->both.text, text);
	diagnosis_free(d);
}

static struct exam *two_directions(double forward_bps, double reverse_bps)
{
	struct exam *e = build_two_hosts();

	build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, forward_bps);
	build_run(e, RUN_REVERSE, RUN_ALL_STREAMS, reverse_bps);
	return e;
}

static void full_duplex(void **state)
{
	struct exam *e = two_directions(9.41e9, 9.38e9);
	const struct run *both = build_both_run(e, 9.1e9, 8.9e9);
	struct diagnosis *d = told(e);

	(void)state;
	assert_ptr_equal(d->both.run, both);
	assert_true(d->both.of[RUN_FORWARD].measured_bps == 9.1e9);
	assert_true(d->both.of[RUN_REVERSE].measured_bps == 8.9e9);
	assert_true(d->both.of[RUN_REVERSE].alone_bps.v == 9.38e9);
	assert_true(d->both.of[RUN_REVERSE].share.v > 0.94);
	assert_true(d->both.of[RUN_REVERSE].share.v < 0.95);
	assert_false(d->both.of[RUN_FORWARD].lower || d->both.of[RUN_REVERSE].lower);
	assert_string_equal(d->both.text, "Each direction reaches what it reaches alone: the path "
					  "is full duplex.");
	diagnosis_free(d);
	exam_free(e);
}

static void what_the_two_share(void **state)
{
	struct exam *e = two_directions(9.41e9, 9.38e9);
	struct run *both = build_both_run(e, 4.6e9, 4.7e9);

	(void)state;
	says(e, "Each direction reaches less than alone, and no CPU was full: together they carry "
		"no more than one does, as over a half-duplex link, a bus, or a rate limit for "
		"both.");
	both->goodput_bps = nd_u64(9400000000);
	says(e, "Reverse reaches less than alone, and no CPU was full: what the two directions "
		"share was not seen.");
	build_hot_core(both, SIDE_PEER, 3, 0.98, 0.4);
	says(e, "Reverse reaches less than alone: cpu 3 of the peer was full while both went on.");
	for (unsigned int cpu = 0; cpu < BUILD_CPUS; cpu++)
		build_hot_core(both, SIDE_LOCAL, cpu, 1, 0.4);
	says(e, "Reverse reaches less than alone: the CPUs of this host were full (100 % busy) "
		"while both went on.");
	e->path.same_machine = nd_bool(true);
	says(e, "Reverse reaches less than alone: the CPUs both ends share were full (100 % busy) "
		"while both went on.");
	e->path.same_machine = nd_bool(false);
	build_hot_core(both, SIDE_LOCAL, 0, 0.2, 0);
	build_hot_core(both, SIDE_LOCAL, 1, 0.2, 0);
	build_hot_core(both, SIDE_LOCAL, 2, 0.2, 0);
	build_hot_core(both, SIDE_LOCAL, 3, 0.2, 0);
	/* As of a plain iperf3. */
	build_unseen_end(both, SIDE_PEER);
	says(e, "Reverse reaches less than alone, and not all CPUs were seen: they may be what the "
		"two directions share.");
	exam_free(e);
}

static void only_a_whole_run_counts(void **state)
{
	struct exam *e = two_directions(9.41e9, 9.38e9);
	struct run *both = build_both_run(e, 9.4e9, 0);
	struct diagnosis *d;

	(void)state;
	/* A server that drops the streams of one direction. */
	both->status = RUN_INCOMPLETE;
	d = told(e);
	assert_null(d->both.run);
	diagnosis_free(d);
	both->status = RUN_COMPLETE;
	both->other_goodput_bps = nd_u64_unknown(ND_UNREAD);
	assert_null(exam_both_run(e));
	both->other_goodput_bps = nd_u64(1);
	assert_ptr_equal(exam_both_run(e), both);
	assert_int_equal(run_rate(both, RUN_REVERSE).v, 1);
	assert_int_equal(run_rate(&e->runs[0], RUN_REVERSE).k, ND_NOT_APPLICABLE);
	/* A report may claim anything. */
	both->spec.bidirectional = false;
	assert_null(exam_both_run(e));
	exam_free(e);
}

/* The diagnosis as JSON, but for what stands beside it and for where runs are named. */
static char *verdict_of(const struct exam *e)
{
	const struct report_options o = { .tool_version = "1" };
	struct diagnosis *d = told(e);
	cJSON *report = report_to_json(e, d, &o);
	cJSON *diagnosis = cJSON_GetObjectItemCaseSensitive(report, "diagnosis");
	char *text;

	cJSON_DeleteItemFromObjectCaseSensitive(diagnosis, "both_at_once");
	text = cJSON_Print(diagnosis);
	assert_non_null(text);
	cJSON_Delete(report);
	diagnosis_free(d);
	return text;
}

/* CPUs that are full only while both directions go on are no cause of what one reaches. */
static void the_verdict_is_about_each_alone(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct exam *e = build_hot_core_exam();
		char *before, *after;

		e->path.same_machine = nd_bool(shared);
		before = verdict_of(e);
		/* More at once than the slower alone: no proof that its CPU could do more. */
		struct run *both = build_both_run(e, 7.5e9, 7.6e9);
		for (unsigned int cpu = 0; cpu < BUILD_CPUS; cpu++)
			for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
				build_hot_core(both, s, cpu, 1, 0.9);
		both->retransmits = nd_u64(100000);
		both->loss = nd_f64(0.2);
		after = verdict_of(e);
		assert_string_equal(before, after);
		free(before);
		free(after);
		exam_free(e);
	}
}

static void as_json(void **state)
{
	const struct report_options o = { .tool_version = "1" };
	struct exam *e = two_directions(9.41e9, 9.38e9), *again;
	struct diagnosis *d;
	struct error err;
	cJSON *report, *run, *both, *exam;

	(void)state;
	build_both_run(e, 9.1e9, 4.69e9);
	d = told(e);
	report = report_to_json(e, d, &o);
	both = cJSON_GetObjectItem(cJSON_GetObjectItem(report, "diagnosis"), "both_at_once");
	assert_string_equal(json_get_str(both, "run", 64), "3-bidir-both-directions");
	both = cJSON_GetArrayItem(cJSON_GetObjectItem(both, "directions"), 1);
	assert_string_equal(json_get_str(both, "direction", 64), "reverse");
	assert_true(cJSON_GetObjectItem(both, "measured_bps")->valuedouble == 4.69e9);
	assert_true(cJSON_GetObjectItem(both, "share")->valuedouble == 0.5);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(both, "lower")));
	exam = cJSON_GetObjectItem(report, "exam");
	run = cJSON_GetArrayItem(cJSON_GetObjectItem(exam, "runs"), 2);
	assert_string_equal(json_get_str(run, "direction", 64), "bidir");
	assert_string_equal(json_get_str(run, "purpose", 64), "both-directions");
	/* A recorded report tells the same. */
	assert_int_equal(exam_from_json(exam, &again, &err), 0);
	assert_non_null(exam_both_run(again));
	assert_int_equal(run_rate(exam_both_run(again), RUN_REVERSE).v, 4690000000);
	exam_free(again);
	cJSON_Delete(report);
	diagnosis_free(d);
	exam_free(e);
}

static void check_report(const struct exam *e, const struct diagnosis *d, const char *name,
			 int (*write)(const struct exam *e, const struct diagnosis *d,
				      const struct report_options *o, struct text *out))
{
	struct text t = TEXT_INIT;

	assert_int_equal(write(e, d, &fixture_options, &t), 0);
	golden_check(name, t.data);
	text_free(&t);
}

static void as_reports(void **state)
{
	struct exam *e = two_directions(9.41e9, 9.38e9);
	struct run *both = build_both_run(e, 9.1e9, 4.7e9);
	struct diagnosis *d;

	(void)state;
	build_hot_core(both, SIDE_PEER, 3, 0.98, 0.4);
	both->idle.samples = both->loaded.samples = nd_u64(40);
	both->idle.p50_us = nd_f64(50);
	both->idle.p99_us = nd_f64(70);
	both->loaded.p50_us = nd_f64(4100);
	both->loaded.p99_us = nd_f64(9000);
	d = told(e);
	check_report(e, d, "report-both.txt", report_text);
	check_report(e, d, "report-both.md", report_markdown);
	diagnosis_free(d);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_duplex),
		cmocka_unit_test(what_the_two_share),
		cmocka_unit_test(only_a_whole_run_counts),
		cmocka_unit_test(the_verdict_is_about_each_alone),
		cmocka_unit_test(as_json),
		cmocka_unit_test(as_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

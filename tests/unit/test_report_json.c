/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/report/schema.h"
#include "tests/unit/report_fixture.h"

#define SCHEMA "docs/schema/netdoctor-report-1.schema.json"
#define SKELETON "src/report/schema.skeleton.json"

enum { FILE_CAP = 1024 * 1024, MAX_FILES = 64 };

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = calloc(1, FILE_CAP);

	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	assert_non_null(s);
	assert_true(fread(s, 1, FILE_CAP - 1, f) < FILE_CAP - 1);
	fclose(f);
	return s;
}

static void test_schema_is_current(void **state)
{
	char *skeleton = read_file(SKELETON), *want = read_file(SCHEMA), *got;
	cJSON *obj = cJSON_Parse(skeleton);
	struct error err = { "" };

	(void)state;
	assert_non_null(obj);
	if (schema_fill(obj, &err))
		fail_msg("%s", err.text);
	got = cJSON_Print(obj);
	assert_non_null(got);
	if (strncmp(got, want, strlen(got)) != 0 || strcmp(want + strlen(got), "\n") != 0)
		fail_msg(SCHEMA " is out of date: make docs");
	cJSON_free(got);
	cJSON_Delete(obj);
	free(skeleton);
	free(want);
}

static void test_schema_names_are_checked(void **state)
{
	static const char *const bad[] = {
		"{\"x-fields\":\"nonsense\"}", "{\"x-sections\":\"nonsense\"}",
		"{\"a\":[{\"x-words\":\"nonsense\"}]}", "{\"x-words\":7}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cJSON *obj = cJSON_Parse(bad[i]);
		struct error err = { "" };

		assert_int_equal(schema_fill(obj, &err), -EINVAL);
		assert_true(err.text[0]);
		cJSON_Delete(obj);
	}
}

/* ---- what the JSON says ---- */

static const cJSON *at(const cJSON *obj, const char *path)
{
	char copy[128], *cursor = copy, *part;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((part = strsep(&cursor, "."))) {
		char *end;
		long i = strtol(part, &end, 10);

		obj = *end ? cJSON_GetObjectItemCaseSensitive(obj, part)
			   : cJSON_GetArrayItem(obj, (int)i);
		if (!obj)
			fail_msg("no %s in %s", part, path);
	}
	return obj;
}

static void test_contents(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	cJSON *r = report_to_json(e, d, &fixture_options);

	(void)state;
	assert_string_equal(at(r, "schema")->valuestring, "netdoctor-report/1");
	assert_string_equal(at(r, "created")->valuestring, "2026-01-01T00:04:05Z");
	assert_string_equal(at(r, "tool.version")->valuestring, "0.1.0");
	assert_true(cJSON_IsFalse(at(r, "redacted")));
	assert_string_equal(at(r, "diagnosis.verdict")->valuestring, "limited");
	assert_string_equal(at(r, "diagnosis.directions.0.bottleneck.ceiling")->valuestring, "cpu");
	assert_string_equal(at(r, "diagnosis.directions.0.bottleneck.side")->valuestring, "peer");
	assert_true(at(r, "diagnosis.directions.0.measured_bps")->valuedouble == 6.04e9);
	assert_true(cJSON_IsNull(at(r, "diagnosis.directions.0.target_bps")));
	/* unbounded above */
	assert_true(cJSON_IsNull(at(r, "diagnosis.ceilings.4.high_bps")));
	assert_true(at(r, "diagnosis.ceilings.4.low_bps")->valuedouble == 20e9);
	/* unknown */
	assert_true(cJSON_IsNull(at(r, "diagnosis.ceilings.5.low_bps")));
	assert_true(cJSON_IsString(at(r, "diagnosis.ceilings.5.why_unknown")));
	assert_true(at(r, "diagnosis.ceilings.3.inputs.busy.value")->valuedouble == 0.98);
	assert_string_equal(at(r, "diagnosis.ceilings.3.inputs.busy.unit")->valuestring, "share");
	assert_string_equal(at(r, "diagnosis.findings.0.rule")->valuestring,
			    "cpu-softirq-bound-rx");
	assert_string_equal(at(r, "diagnosis.findings.0.severity")->valuestring, "critical");
	assert_true(at(r, "diagnosis.findings.0.gain_bps.low")->valuedouble == 3.37e9);
	assert_true(at(r, "diagnosis.findings.0.after_bps.high")->valuedouble == 9.41e9);
	assert_string_equal(at(r, "diagnosis.findings.0.evidence.2.value")->valuestring, "ixgbe");
	assert_string_equal(at(r, "diagnosis.findings.0.fix.commands.1")->valuestring,
			    "ethtool -X eth0 equal 4");
	assert_string_equal(at(r, "diagnosis.findings.0.fix.risk")->valuestring, "queue-restart");
	assert_int_equal(cJSON_GetArraySize(at(r, "diagnosis.findings.0.references")), 2);
	assert_true(cJSON_IsNull(at(r, "diagnosis.findings.1.direction")));
	assert_true(cJSON_IsNull(at(r, "diagnosis.findings.1.gain_bps")));
	assert_true(at(r, "diagnosis.plan.0.finding")->valuedouble == 1);
	assert_int_equal(cJSON_GetArraySize(at(r, "diagnosis.not_evaluated")), 3);
	assert_int_equal(cJSON_GetArraySize(at(r, "diagnosis.ruled_out")), 4);
	cJSON_Delete(r);
	fixture_free(d);
	exam_free(e);
}

/* The exam of a report, written again, is the exam of the report. */
static void test_read_back(void **state)
{
	struct exam *e = build_hot_core_exam(), *back;
	struct diagnosis *d = fixture_limited(e);
	struct text t = TEXT_INIT, u = TEXT_INIT;
	struct error err = { "" };
	uint64_t created_ns;

	(void)state;
	assert_int_equal(report_json(e, d, &fixture_options, &t), 0);
	if (report_read_json(t.data, t.len, &back, &created_ns, &err))
		fail_msg("%s", err.text);
	assert_true(created_ns == fixture_options.created_ns);
	assert_int_equal(report_json(back, d, &fixture_options, &u), 0);
	assert_string_equal(t.data, u.data);
	text_free(&t);
	text_free(&u);
	exam_free(back);
	fixture_free(d);
	exam_free(e);
}

/* An old report, diagnosed again by the same rules, gets the same diagnosis. */
static void test_diagnosed_again(void **state)
{
	struct exam *e = build_hot_core_exam(), *back;
	struct diagnosis *d, *again;
	struct text t = TEXT_INIT, u = TEXT_INIT;
	struct error err = { "" };

	(void)state;
	/* a share that has no short decimal form */
	build_hot_core(&e->runs[0], SIDE_PEER, 2, 2.0 / 3, 1.0 / 3);
	assert_int_equal(diagnose(e, &d), 0);
	assert_int_equal(report_json(e, d, &fixture_options, &t), 0);
	assert_int_equal(report_read_json(t.data, t.len, &back, NULL, &err), 0);
	assert_int_equal(diagnose(back, &again), 0);
	assert_int_equal(report_json(back, again, &fixture_options, &u), 0);
	assert_string_equal(t.data, u.data);
	text_free(&t);
	text_free(&u);
	diagnosis_free(d);
	diagnosis_free(again);
	exam_free(back);
	exam_free(e);
}

static void test_read_refuses(void **state)
{
	static const char *const bad[] = {
		"", "{", "[]", "7", "{}", "{\"schema\":7}", "{\"schema\":\"netdoctor-report/2\"}",
		"{\"schema\":\"\\u001b[31m\"}", "{\"schema\":\"netdoctor-report/1\"}",
		"{\"schema\":\"netdoctor-report/1\",\"exam\":[]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = { "" };
		struct exam *e;

		assert_int_equal(report_read_json(bad[i], strlen(bad[i]), &e, NULL, &err), -EINVAL);
		assert_null(e);
		assert_true(err.text[0]);
		assert_null(strchr(err.text, '\033'));
	}
}

/* ---- against the schema ---- */

struct files {
	char dir[64];
	char *argv[MAX_FILES];
	int n;
};

static void add_argument(struct files *f, const char *s)
{
	assert_true(f->n < MAX_FILES - 1);
	f->argv[f->n] = strdup(s);
	assert_non_null(f->argv[f->n]);
	f->n++;
}

static void add_file(struct files *f, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d.json", f->dir, f->n);
	add_argument(f, path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Takes over both. */
static void add_report(struct files *f, struct exam *e, struct diagnosis *d)
{
	struct text t = TEXT_INIT;

	assert_int_equal(report_json(e, d, &fixture_options, &t), 0);
	add_file(f, t.data);
	text_free(&t);
	fixture_free(d);
	exam_free(e);
}

static int run_with(struct files *f, const char *python)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		execvp(python, f->argv);
		_exit(77);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first python3 may be one of the user's own, without Debian's packages. */
static int run(struct files *f)
{
	int rc = run_with(f, "python3");

	return rc == 77 ? run_with(f, "/usr/bin/python3") : rc;
}

static void remove_files(struct files *f)
{
	for (int i = 0; i < f->n; i++) {
		if (strncmp(f->argv[i], f->dir, strlen(f->dir)) == 0)
			unlink(f->argv[i]);
		free(f->argv[i]);
	}
	rmdir(f->dir);
}

static struct files new_files(void)
{
	struct files f = { .dir = "/tmp/netdoctor-test-XXXXXX" };

	assert_non_null(mkdtemp(f.dir));
	add_argument(&f, "python3");
	add_argument(&f, "tests/tools/validate_json.py");
	add_argument(&f, SCHEMA);
	return f;
}

static void check_files(struct files *f)
{
	int rc = run(f);

	remove_files(f);
	if (rc == 77) {
		print_message("no python3 with jsonschema (Debian: python3-jsonschema)\n");
		skip();
	}
	assert_int_equal(rc, 0);
}

static struct exam *hostile_exam(void)
{
	static const char name[] = "\033]0;x\007\xff\xc2\x9b\xe2\x80\xae\"\\";
	struct exam *e = build_hot_core_exam();

	build_facts(e, SIDE_LOCAL)->host.hostname = nd_str(name);
	build_link(e, SIDE_PEER)->name = nd_str(name);
	e->path.peer_address = nd_str(name);
	e->problem = nd_str(name);
	e->runs[0].id = nd_str(name);
	e->runs[0].seconds = nd_f64(NAN);
	return e;
}

static void spoil_numbers(struct diagnosis *d)
{
	d->directions[0].measured_bps = NAN;
	d->directions[0].explained = nd_f64(HUGE_VAL);
	d->ladder.ceilings[0].low_bps = -HUGE_VAL;
	d->ladder.ceilings[1].inputs[0].value = NAN;
	d->findings[0].rate_high_bps = HUGE_VAL;
	d->findings[0].evidence[0].value = NAN;
	d->findings[0].evidence[1].threshold = d->findings[0].evidence[1].source = NULL;
	d->findings[0].subject = d->findings[0].why = d->findings[0].fix = NULL;
	d->ruled_out[0].because = d->unseen[0].missing = d->unseen[0].how = NULL;
}

static void test_real_reports_are_valid(void **state)
{
	struct files f = new_files();
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d;

	(void)state;
	add_report(&f, e, fixture_limited(e));
	e = build_two_hosts();
	add_report(&f, e, fixture_healthy(e));
	e = build_unread();
	add_report(&f, e, fixture_blind(e));
	e = build_one_host();
	build_unseen_end(build_run(e, RUN_FORWARD, RUN_DISCARD_RECEIVE, 1e9), SIDE_PEER);
	add_report(&f, e, fixture_check(e));
	e = hostile_exam();
	d = fixture_limited(e);
	spoil_numbers(d);
	add_report(&f, e, d);
	/* and what the engine makes of an exam */
	e = build_hot_core_exam();
	assert_int_equal(diagnose(e, &d), 0);
	add_report(&f, e, d);
	check_files(&f);
}

/* Removes (value NULL) or replaces one member of a good report. */
static void add_spoilt(struct files *f, const char *path, const char *key, const char *value)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	cJSON *r = report_to_json(e, d, &fixture_options);
	cJSON *parent = *path ? (cJSON *)at(r, path) : r;
	char *printed;

	cJSON_DeleteItemFromObjectCaseSensitive(parent, key);
	if (value)
		cJSON_AddItemToObject(parent, key, cJSON_Parse(value));
	printed = cJSON_PrintUnformatted(r);
	assert_non_null(printed);
	add_file(f, printed);
	cJSON_free(printed);
	cJSON_Delete(r);
	fixture_free(d);
	exam_free(e);
}

/* A schema that takes everything would pass the test above. */
static void test_schema_refuses(void **state)
{
	static const struct { const char *path, *key, *value; } cases[] = {
		{ "", "schema", "\"netdoctor-report/2\"" },
		{ "", "redacted", NULL },
		{ "", "extra", "1" },
		{ "", "created", "\"yesterday\"" },
		{ "exam.hosts", "local", "{\"nonsense\":{}}" },
		{ "exam.hosts.peer.links.0", "speed_mbps", "\"fast\"" },
		{ "exam.hosts.peer.links.0", "speed", "10000" },
		{ "exam.hosts.peer.links.0", "mtu", "{\"unknown\":\"dunno\"}" },
		{ "exam.path", "same_machine", "1" },
		{ "exam.runs.0", "goodput_bps", "-1" },
		{ "exam.runs.0", "retransmits", "7" },
		{ "exam.runs.0", "purpose", "\"fun\"" },
		{ "exam.runs.0.flows.0", "side", "\"both\"" },
		{ "exam.runs.0.cpu.peer.busiest", "busy", "98" },
		{ "exam.runs.0.ends.peer.counters.cpus.0", "user_us", "12" },
		{ "diagnosis", "verdict", "\"fine\"" },
		{ "diagnosis", "summary", NULL },
		{ "diagnosis.findings.0", "severity", "\"catastrophic\"" },
		{ "diagnosis.findings.0", "confidence", "1.2" },
		{ "diagnosis.findings.0", "rule", "\"No Such\"" },
		{ "diagnosis.findings.0.fix", "risk", NULL },
		{ "diagnosis.ceilings.0", "low_bps", "9.5" },
		{ "diagnosis.ceilings.0", "id", "\"none\"" },
		{ "diagnosis.directions.0.bottleneck", "kind", "\"cpu\"" },
	};
	struct files f = new_files();

	(void)state;
	add_spoilt(&f, "", "redacted", "true");
	add_argument(&f, "--");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		add_spoilt(&f, cases[i].path, cases[i].key, cases[i].value);
	check_files(&f);
}

static void test_printed_form_is_harmless(void **state)
{
	struct exam *e = hostile_exam();
	struct diagnosis *d = fixture_limited(e);
	struct text t = TEXT_INIT;

	(void)state;
	d->summary = "a\033[31m\xc2\x9b" "31m\xe2\x80\xaeme\xff\177";
	assert_int_equal(report_json(e, d, &fixture_options, &t), 0);
	for (const char *p = t.data; *p;) {
		uint32_t c;
		size_t n = utf8_decode(p, &c);

		assert_true(n);
		assert_true(c >= 0x20 || c == '\n' || c == '\t');
		assert_false(c >= 0x7f && c <= 0x9f);
		assert_false(c >= 0x202a && c <= 0x202e);
		p += n;
	}
	assert_non_null(strstr(t.data, "a\\u001b[31m\\u009b31m\\u202eme"));
	text_free(&t);
	fixture_free(d);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema_is_current),
		cmocka_unit_test(test_schema_names_are_checked),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_read_back),
		cmocka_unit_test(test_diagnosed_again),
		cmocka_unit_test(test_read_refuses),
		cmocka_unit_test(test_printed_form_is_harmless),
		cmocka_unit_test(test_real_reports_are_valid),
		cmocka_unit_test(test_schema_refuses),
	};

	return cmocka_run_group_tests_name("report_json", tests, NULL, NULL);
}

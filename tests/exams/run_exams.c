/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the rules on exams: tests/exams/<rule>.json, each with cases that change a base exam
 * (tests/exams/base/<name>.json) and say what must come out.  See README.md there.
 *
 * Usage: run_exams FOLDER FILE...; a FILE below base/ is diagnosed as it is.  Prints TAP.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/json.h"
#include "tests/exams/expect.h"
#include "tests/exams/json_path.h"

struct tally { unsigned int tests, failed; };

static void report(struct tally *t, bool ok, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void report(struct tally *t, bool ok, const char *fmt, ...)
{
	va_list ap;

	t->tests++;
	t->failed += !ok;
	printf("%sok %u - ", ok ? "" : "not ", t->tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* The caller frees with cJSON_Delete(); NULL after saying why. */
static cJSON *load(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	const char *end = NULL;
	cJSON *doc = NULL;
	size_t cap = 0;

	/* No JSON text has a NUL: this reads all of it. */
	if (!f || getdelim(&text, &cap, '\0', f) < 0) {
		printf("# %s: %s\n", path, strerror(errno));
		goto out;
	}
	doc = cJSON_ParseWithOpts(text, &end, true);
	if (!doc)
		printf("# %s: not JSON at byte %td\n", path, end ? end - text : 0);
out:
	free(text);
	if (f)
		fclose(f);
	return doc;
}

static cJSON *load_base(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/base/%s.json", folder, name ? name : "(no base)");
	return load(path);
}

static bool is_unknown(const cJSON *value)
{
	return cJSON_IsNull(value) || (cJSON_IsObject(value) &&
	       cJSON_GetObjectItemCaseSensitive(value, "unknown"));
}

/* What the exam does not read back (a misspelt member) would test nothing. */
static unsigned int lost_members(const struct exam *e, const cJSON *set)
{
	cJSON *back = exam_to_json(e);
	unsigned int lost = 0;
	const cJSON *v;

	cJSON_ArrayForEach(v, set) {
		if (is_unknown(v) || json_path_count(back, v->string))
			continue;
		printf("#   set: the exam has no \"%s\"\n", v->string);
		lost++;
	}
	cJSON_Delete(back);
	return lost;
}

/* The base's exam with the changes of the case; NULL after saying why. */
static struct exam *exam_of_case(const cJSON *base, const cJSON *set)
{
	cJSON *doc = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(base, "exam"), true);
	struct error err = { "" };
	struct exam *e = NULL;
	const cJSON *v;
	char why[256];

	cJSON_ArrayForEach(v, set) {
		if (json_path_set(doc, v->string, v, why, sizeof(why))) {
			printf("#   set \"%s\": %s\n", v->string, why);
			goto out;
		}
	}
	if (exam_from_json(doc, &e, &err))
		printf("#   %s\n", err.text);
	if (e && lost_members(e, set)) {
		exam_free(e);
		e = NULL;
	}
out:
	cJSON_Delete(doc);
	return e;
}

/* The rule alone: before precedence and ranking, with its gain. */
static unsigned int check_rule(const struct rule *rule, const struct exam *e, const cJSON *expect)
{
	struct arena *mem = arena_new(0);
	struct rule_output out = { .mem = mem };
	struct ladder ladder = { 0 };
	unsigned int wrong = 1;

	if (mem && !ladder_build(e, mem, &ladder) &&
	    !engine_evaluate(&rule, 1, e, &ladder, false, &out)) {
		gain_of_findings(e, &ladder, out.findings, out.nfindings);
		wrong = expect_of_rule(expect, &out);
	} else {
		printf("#   the engine failed\n");
	}
	arena_free(mem);
	return wrong;
}

static unsigned int check_diagnosis(const struct exam *e, const cJSON *expect,
				    unsigned int (*check)(const cJSON *, const struct diagnosis *))
{
	struct diagnosis *d;
	unsigned int wrong;

	if (diagnose(e, &d))
		return 1;
	wrong = check(expect, d);
	diagnosis_free(d);
	return wrong;
}

static bool run_case(const char *folder, const struct rule *rule, const cJSON *file, const cJSON *c)
{
	const cJSON *expect = cJSON_GetObjectItemCaseSensitive(c, "expect");
	const char *name = json_get_str(c, "base", 64);
	unsigned int wrong = 1;
	struct exam *e;
	cJSON *base;

	base = load_base(folder, name ? name : json_get_str(file, "base", 64));
	e = base ? exam_of_case(base, cJSON_GetObjectItemCaseSensitive(c, "set")) : NULL;
	if (e && cJSON_IsObject(expect)) {
		wrong = rule ? check_rule(rule, e, expect) : 0;
		wrong += check_diagnosis(e, expect, expect_of_diagnosis);
	}
	exam_free(e);
	cJSON_Delete(base);
	return !wrong;
}

static void run_file(const char *folder, const char *path, struct tally *t)
{
	cJSON *file = load(path);
	const char *id = json_get_str(file, "rule", 64);
	const struct rule *rule = rule_by_id(id);
	const cJSON *cases = cJSON_GetObjectItemCaseSensitive(file, "cases"), *c;

	/* Without "rule" the cases are about the whole diagnosis. */
	if (!cJSON_GetArraySize(cases) || (id && !rule))
		report(t, false, "%s: %s", path, id && !rule ? "no such rule" : "no cases");
	else
		cJSON_ArrayForEach(c, cases) {
			const char *name = json_get_str(c, "name", 200);

			report(t, name && run_case(folder, rule, file, c), "%s: %s",
			       id ? id : path, name ? name : "(no name)");
		}
	cJSON_Delete(file);
}

static void run_base(const char *path, struct tally *t)
{
	static const cJSON none = { .type = cJSON_Object };
	cJSON *base = load(path);
	const cJSON *expect = cJSON_GetObjectItemCaseSensitive(base, "expect");
	struct exam *e = base ? exam_of_case(base, &none) : NULL;

	report(t, e && expect && !check_diagnosis(e, expect, expect_of_base),
	       "%s as it is", path);
	exam_free(e);
	cJSON_Delete(base);
}

int main(int argc, char **argv)
{
	struct tally t = { 0 };
	int i;

	for (i = 2; i < argc; i++) {
		if (strstr(argv[i], "/base/"))
			run_base(argv[i], &t);
		else
			run_file(argv[1], argv[i], &t);
	}
	printf("1..%u\n", t.tests);
	return t.failed || !t.tests ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>

#include "src/exam/exam.h"
#include "src/exam/run_json.h"

enum { FACTS_ARENA_LIMIT = 32 * 1024 * 1024 };

static const struct field problem_field[] = {
	FIELD(struct exam, problem, STR, NONE, 0, "What ended the examination early."),
};

static bool put_hosts(cJSON *obj, const struct exam *e)
{
	cJSON *hosts = cJSON_AddObjectToObject(obj, "hosts");

	for (enum side s = SIDE_LOCAL; hosts && s < EXAM_ENDS; s++) {
		cJSON *facts = e->facts[s] ? record_to_json(&facts_schema, e->facts[s])
					   : cJSON_CreateNull();

		if (!json_put(hosts, side_word(s), facts))
			return false;
	}
	return hosts;
}

static bool put_runs(cJSON *obj, const struct exam *e)
{
	cJSON *runs = cJSON_AddArrayToObject(obj, "runs");

	for (size_t i = 0; runs && i < e->nruns; i++)
		if (!json_push(runs, run_to_json(&e->runs[i])))
			return false;
	return runs;
}

cJSON *exam_to_json(const struct exam *e)
{
	/* Only "problem" is a field of struct exam itself; the object starts with it. */
	cJSON *obj = row_to_json(problem_field, ARRAY_SIZE(problem_field), e);
	/* A plain bool for readers; the reason when it is unknown is in path. */
	cJSON *same = e->path.same_machine.k == ND_KNOWN ? cJSON_CreateBool(e->path.same_machine.v)
							 : cJSON_CreateNull();

	if (!obj || !put_hosts(obj, e)) {
		cJSON_Delete(same);
		goto fail;
	}
	if (!json_put(obj, "same_machine", same) ||
	    !json_put(obj, "path", row_to_json(path_fields, path_nfields, &e->path)) ||
	    !json_put(obj, "wishes", row_to_json(wishes_fields, wishes_nfields, &e->wishes)) ||
	    !put_runs(obj, e))
		goto fail;
	return obj;
fail:
	cJSON_Delete(obj);
	return NULL;
}

static int hosts_from_json(const cJSON *hosts, struct exam *e, struct error *err)
{
	for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++) {
		const cJSON *obj = cJSON_GetObjectItemCaseSensitive(hosts, side_word(s));
		struct facts *f;
		int rc;

		if (!obj || cJSON_IsNull(obj))
			continue;
		f = facts_new(FACTS_ARENA_LIMIT);
		if (!f)
			return error_set(err, ENOMEM, "out of memory");
		e->facts[s] = f;
		rc = record_from_json(&facts_schema, obj, f->mem, f, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int rows_of_one(const struct field *fields, size_t nfields, const cJSON *obj, void *row,
		       const char *what, struct exam *e, struct error *err)
{
	int rc = 0;

	if (obj)
		rc = cJSON_IsObject(obj) ? row_from_json(fields, nfields, obj, e->mem, row)
					 : -EINVAL;
	return rc ? error_set(err, -rc, "the exam's %s is not readable", what) : 0;
}

static int runs_from_json(const cJSON *runs, struct exam *e, struct error *err)
{
	const cJSON *item;
	int n = cJSON_GetArraySize(runs);

	if (runs && !cJSON_IsArray(runs))
		return error_set(err, EINVAL, "the exam's runs are not an array");
	if (n > EXAM_MAX_RUNS)
		return error_set(err, E2BIG, "%d runs, at most %d are accepted", n, EXAM_MAX_RUNS);
	if (n == 0)
		return 0;
	e->runs = arena_alloc_array(e->mem, (size_t)n, sizeof(*e->runs));
	if (!e->runs)
		return error_set(err, ENOMEM, "out of memory");
	cJSON_ArrayForEach(item, runs) {
		int rc = run_from_json(item, e->mem, &e->runs[e->nruns], err);

		if (rc)
			return rc;
		/* Counted only now: exam_free() looks at no half-read run. */
		e->nruns++;
	}
	return 0;
}

int exam_from_json(const cJSON *obj, struct exam **out, struct error *err)
{
	struct exam *e;
	int rc;

	*out = NULL;
	if (!cJSON_IsObject(obj))
		return error_set(err, EINVAL, "there is no exam in this file");
	e = exam_new();
	if (!e)
		return error_set(err, ENOMEM, "out of memory");
	rc = rows_of_one(problem_field, ARRAY_SIZE(problem_field), obj, e, "problem", e, err);
	if (rc)
		goto out;
	rc = rows_of_one(path_fields, path_nfields, cJSON_GetObjectItemCaseSensitive(obj, "path"),
			 &e->path, "path", e, err);
	if (rc)
		goto out;
	rc = rows_of_one(wishes_fields, wishes_nfields,
			 cJSON_GetObjectItemCaseSensitive(obj, "wishes"), &e->wishes, "wishes", e,
			 err);
	if (rc)
		goto out;
	rc = hosts_from_json(cJSON_GetObjectItemCaseSensitive(obj, "hosts"), e, err);
	if (rc)
		goto out;
	rc = runs_from_json(cJSON_GetObjectItemCaseSensitive(obj, "runs"), e, err);
out:
	if (rc) {
		exam_free(e);
		e = NULL;
	}
	*out = e;
	return rc;
}

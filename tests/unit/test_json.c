/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/core_test.h"

struct row {
	struct nd_u64 count, size;
	struct nd_i64 delta;
	struct nd_f64 share;
	struct nd_bool on;
	struct nd_str name;
	struct nd_cpus cpus;
};
struct record { struct row one; struct row *rows; size_t nrows; };

#define ROW(m_, k_, f_) FIELD(struct row, m_, k_, NONE, f_, "A member.")
static const struct field fields[] = {
	ROW(count, U64, FIELD_COUNTER), ROW(size, U64, 0), ROW(delta, I64, 0), ROW(share, F64, 0),
	ROW(on, BOOL, 0), ROW(name, STR, 0), ROW(cpus, CPUS, 0),
};
static const struct section sections[] = {
	SECTION_ONE(struct record, one, fields, "One."),
	SECTION_ROWS(struct record, rows, nrows, struct row, fields, "Many."),
};
static const struct schema schema = {
	"record", sections, ARRAY_SIZE(sections), sizeof(struct record)
};

static void assert_json(const struct row *r, const char *want)
{
	cJSON *j = row_to_json(fields, ARRAY_SIZE(fields), r);
	char *text = cJSON_PrintUnformatted(j);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
	cJSON_Delete(j);
}

static void values_are_written(void **state)
{
	struct row r = { 0 };

	(void)state;
	assert_json(&r, "{}");
	r.count = nd_u64(5);
	r.size = nd_u64(0);
	r.delta = nd_i64(-7);
	r.share = nd_f64(0.25);
	r.on = nd_bool(false);
	r.name = nd_str("a\"\n");
	nd_cpus_parse_list("0-3,8", &r.cpus);
	assert_json(&r, "{\"count\":\"5\",\"size\":0,\"delta\":-7,\"share\":0.25,\"on\":false,"
			"\"name\":\"a\\\"\\n\",\"cpus\":\"0-3,8\"}");
}

static void unknowns_are_written(void **state)
{
	struct row r = { 0 };

	(void)state;
	r.count = nd_u64_unknown(ND_NOT_PERMITTED);
	r.name = nd_str_unknown(ND_ABSENT);
	r.cpus.k = ND_INVALID;
	/* JSON has no number for it, and null would not say why. */
	r.share = nd_f64(NAN);
	assert_json(&r, "{\"count\":{\"unknown\":\"not-permitted\"},"
			"\"share\":{\"unknown\":\"invalid\"},\"name\":{\"unknown\":\"absent\"},"
			"\"cpus\":{\"unknown\":\"invalid\"}}");
	memset(&r, 0, sizeof(r));
	r.name = nd_str(NULL);
	assert_json(&r, "{\"name\":{\"unknown\":\"invalid\"}}");
}

static void large_numbers_stay_exact(void **state)
{
	static const uint64_t values[] = {
		0, 1, 999999999999999, 1000000000000000, 9007199254740991, 9007199254740992,
		9007199254740993, INT64_MAX, UINT64_MAX,
	};
	struct arena *mem = arena_new(0);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct row back = { 0 }, r = {
			.size = nd_u64(values[i]),
			.delta = nd_i64(-(int64_t)(values[i] / 2)),
		};
		cJSON *j = row_to_json(fields, ARRAY_SIZE(fields), &r), *again;
		char *text = cJSON_PrintUnformatted(j);

		again = cJSON_Parse(text);
		assert_int_equal(row_from_json(fields, ARRAY_SIZE(fields), again, mem, &back), 0);
		assert_true(nd_u64_is(back.size, values[i]));
		assert_int_equal(back.delta.k, ND_KNOWN);
		assert_true(back.delta.v == r.delta.v);
		free(text);
		cJSON_Delete(j);
		cJSON_Delete(again);
	}
	arena_free(mem);
}

static void any_bytes_become_utf8(void **state)
{
	struct row r = { .name = nd_str("ok \xc3\xbc bad \xff\xc0\xaf end") };

	(void)state;
	assert_json(&r, "{\"name\":\"ok \xc3\xbc bad \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd end\"}");
}

/* Reads one row from text and returns the result. */
static int read_row(const char *text, struct arena *mem, struct row *r)
{
	cJSON *j = cJSON_Parse(text);
	int rc;

	memset(r, 0, sizeof(*r));
	rc = row_from_json(fields, ARRAY_SIZE(fields), j, mem, r);
	cJSON_Delete(j);
	return rc;
}

static void both_forms_are_read(void **state)
{
	struct arena *mem = arena_new(0);
	struct row r;

	(void)state;
	assert_int_equal(read_row("{\"count\":5,\"size\":\"6\",\"delta\":\"-7\","
				  "\"extra\":[1,{}]}", mem, &r), 0);
	assert_true(nd_u64_is(r.count, 5));
	assert_true(nd_u64_is(r.size, 6));
	assert_true(r.delta.k == ND_KNOWN && r.delta.v == -7);
	assert_int_equal(r.name.k, ND_UNREAD);
	/* Integers may be spelled with an exponent. */
	read_row("{\"count\":1e6,\"size\":9007199254740991}", mem, &r);
	assert_true(nd_u64_is(r.count, 1000000));
	assert_true(nd_u64_is(r.size, 9007199254740991));
	arena_free(mem);
}

static void wrong_values_are_invalid(void **state)
{
	static const char *const counts[] = {
		"-1", "1.5", "1e300", "9007199254740992", "9007199254740993",
		"\"\"", "\"-1\"", "\"1.5\"", "\" 1\"",
		"\"18446744073709551616\"", "\"0x10\"", "true", "null", "[]", "[1]", "{}",
		"{\"unknown\":5}", "{\"unknown\":\"known\"}", "{\"unknown\":\"whatever\"}",
		"{\"Unknown\":\"absent\"}", "{\"value\":5}",
	};
	static const char *const others[] = {
		"{\"delta\":1e18}", "{\"delta\":\"9223372036854775808\"}", "{\"delta\":0.5}",
		"{\"share\":\"0.5\"}", "{\"share\":1e999}", "{\"share\":null}", "{\"on\":1}",
		"{\"on\":\"true\"}", "{\"name\":5}", "{\"name\":[\"x\"]}", "{\"cpus\":3}",
		"{\"cpus\":\"0-99999999999\"}", "{\"cpus\":\"3-1\"}", "{\"cpus\":\"all\"}",
	};
	struct arena *mem = arena_new(0);
	struct row r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		char text[128];

		snprintf(text, sizeof(text), "{\"count\":%s,\"size\":3}", counts[i]);
		assert_int_equal(read_row(text, mem, &r), 0);
		if (r.count.k != ND_INVALID || r.count.v)
			fail_msg("%s was taken", text);
		assert_true(nd_u64_is(r.size, 3));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_equal(read_row(others[i], mem, &r), 0);
		if ((r.delta.k | r.share.k | r.on.k | r.name.k | r.cpus.k) != ND_INVALID)
			fail_msg("%s was taken", others[i]);
	}
	assert_int_equal(read_row("[]", mem, &r), -EINVAL);
	assert_int_equal(read_row("5", mem, &r), -EINVAL);
	assert_int_equal(row_from_json(fields, ARRAY_SIZE(fields), NULL, mem, &r), -EINVAL);
	arena_free(mem);
}

static void saying_it_twice_is_invalid(void **state)
{
	struct arena *mem = arena_new(0);
	struct row r;

	(void)state;
	assert_int_equal(read_row("{\"size\":1,\"on\":true,\"size\":2}", mem, &r), 0);
	assert_int_equal(r.size.k, ND_INVALID);
	assert_true(nd_is_true(r.on));
	arena_free(mem);
}

static void long_strings_are_invalid(void **state)
{
	char text[5000], *end;
	struct arena *mem = arena_new(0);
	struct row r;

	(void)state;
	end = text + sprintf(text, "{\"name\":\"");
	memset(end, 'x', 4097);
	strcpy(end + 4097, "\"}");
	read_row(text, mem, &r);
	assert_int_equal(r.name.k, ND_INVALID);
	assert_int_equal(arena_used(mem), 0);
	strcpy(end + 4096, "\"}");
	read_row(text, mem, &r);
	assert_int_equal(r.name.k, ND_KNOWN);
	assert_int_equal(strlen(r.name.v), 4096);
	arena_free(mem);
}

static int read_record(const char *text, struct arena *mem, struct record *r, struct error *err)
{
	cJSON *j = cJSON_Parse(text);
	int rc;

	memset(r, 0, sizeof(*r));
	err->text[0] = '\0';
	rc = record_from_json(&schema, j, mem, r, err);
	cJSON_Delete(j);
	return rc;
}

static void wrong_shapes_are_refused(void **state)
{
	static const char *const bad[] = {
		"[]", "5", "\"x\"", "null", "{\"one\":[]}", "{\"one\":null}", "{\"one\":5}",
		"{\"rows\":{}}", "{\"rows\":null}", "{\"rows\":\"\"}", "{\"rows\":[5]}",
		"{\"rows\":[{},[]]}", "{\"rows\":[null]}",
	};
	struct arena *mem = arena_new(0);
	struct record r;
	struct error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_record(bad[i], mem, &r, &err), -EINVAL);
		assert_true(strlen(err.text) > 0);
		assert_int_equal(r.nrows, 0);
	}
	assert_int_equal(read_record("{}", mem, &r, &err), 0);
	assert_int_equal(read_record("{\"rows\":[],\"unknown\":7}", mem, &r, &err), 0);
	assert_int_equal(r.nrows, 0);
	arena_free(mem);
}

static char *many_rows(size_t n)
{
	char *text = malloc(3 * n + 32), *p;

	assert_non_null(text);
	p = text + sprintf(text, "{\"rows\":[");
	for (size_t i = 0; i < n; i++)
		p += sprintf(p, "%s{}", i ? "," : "");
	strcpy(p, "]}");
	return text;
}

static void too_many_rows_are_refused(void **state)
{
	char *text = many_rows(JSON_MAX_ROWS + 1);
	struct arena *mem = arena_new(0);
	struct record r;
	struct error err;

	(void)state;
	assert_int_equal(read_record(text, mem, &r, &err), -E2BIG);
	/* Counted before anything is allocated. */
	assert_int_equal(arena_used(mem), 0);
	arena_free(mem);
	free(text);
}

static void memory_is_bounded(void **state)
{
	static const char one[] = "{\"one\":{\"name\":\"0123456789\"}}";
	char *text = many_rows(1000);
	struct arena *mem = arena_new(1000);
	struct record r;
	struct error err;

	(void)state;
	assert_int_equal(read_record(text, mem, &r, &err), -ENOMEM);
	assert_int_equal(r.nrows, 0);
	assert_null(r.rows);
	free(text);
	assert_int_equal(read_record(one, mem, &r, &err), 0);
	arena_free(mem);
	mem = arena_new(8);
	assert_int_equal(read_record(one, mem, &r, &err), -ENOMEM);
	assert_int_equal(r.one.name.k, ND_UNREAD);
	arena_free(mem);
}

static struct { unsigned int left; bool limited; } budget;

static void *limited_malloc(size_t n)
{
	if (budget.limited && !budget.left)
		return NULL;
	budget.left--;
	return malloc(n);
}

/* At whichever allocation it happens, the answer is NULL and nothing is lost. */
static void running_out_of_memory_is_reported(void **state)
{
	cJSON_Hooks hooks = { .malloc_fn = limited_malloc, .free_fn = free };
	struct row rows[2];
	struct record r = { .rows = rows, .nrows = 2 };
	unsigned int n;
	cJSON *j = NULL;

	(void)state;
	memset(rows, 0, sizeof(rows));
	rows[0].count = nd_u64_unknown(ND_ABSENT);
	rows[1].name = nd_str("name");
	rows[1].count = nd_u64(1);
	nd_cpus_set(&r.one.cpus, 1);
	r.one.on = nd_bool(true);
	cJSON_InitHooks(&hooks);
	for (n = 0; !j && n < 1000; n++) {
		budget.limited = true;
		budget.left = n;
		j = record_to_json(&schema, &r);
	}
	budget.limited = false;
	assert_non_null(j);
	assert_true(n > 10);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "rows")), 2);
	budget.limited = true;
	budget.left = 0;
	assert_null(json_add_u64(j, "more", 1));
	budget.left = 0;
	assert_null(json_add_i64(j, "more", INT64_MIN));
	cJSON_InitHooks(NULL);
	cJSON_Delete(j);
}

static void members_are_read_strictly(void **state)
{
	cJSON *o = cJSON_Parse("{\"n\":5,\"s\":\"18446744073709551615\",\"neg\":-3,\"f\":2.5,"
			       "\"b\":true,\"t\":\"abcd\",\"z\":null,\"big\":1e300}");
	uint64_t u = 99;
	int64_t i = 99;
	double d = 99;
	bool b = false;

	(void)state;
	assert_true(json_get_u64(o, "n", 0, 10, &u) && u == 5);
	assert_true(json_get_u64(o, "s", 0, UINT64_MAX, &u) && u == UINT64_MAX);
	u = 99;
	assert_false(json_get_u64(o, "n", 6, 10, &u));
	assert_false(json_get_u64(o, "n", 0, 4, &u));
	assert_false(json_get_u64(o, "neg", 0, 10, &u));
	assert_false(json_get_u64(o, "f", 0, 10, &u));
	assert_false(json_get_u64(o, "b", 0, 10, &u));
	assert_false(json_get_u64(o, "z", 0, 10, &u));
	assert_false(json_get_u64(o, "N", 0, 10, &u));
	assert_false(json_get_u64(o, "big", 0, UINT64_MAX, &u));
	assert_false(json_get_u64(NULL, "n", 0, 10, &u));
	assert_int_equal(u, 99);
	assert_true(json_get_i64(o, "neg", -3, 0, &i) && i == -3);
	assert_false(json_get_i64(o, "neg", -2, 0, &i));
	assert_true(json_get_f64(o, "f", &d) && d == 2.5);
	assert_true(json_get_f64(o, "n", &d) && d == 5);
	assert_false(json_get_f64(o, "s", &d));
	assert_true(json_get_bool(o, "b", &b) && b);
	assert_false(json_get_bool(o, "n", &b));
	assert_string_equal(json_get_str(o, "t", 4), "abcd");
	assert_string_equal(json_get_str(o, "t", SIZE_MAX), "abcd");
	assert_null(json_get_str(o, "t", 3));
	assert_null(json_get_str(o, "n", 10));
	assert_null(json_get_str(o, "none", 10));
	cJSON_Delete(o);
}

static void members_are_added_exactly(void **state)
{
	cJSON *o = cJSON_CreateObject();
	char *text;

	(void)state;
	assert_non_null(json_add_u64(o, "a", 940000000));
	assert_non_null(json_add_u64(o, "b", UINT64_MAX));
	assert_non_null(json_add_i64(o, "c", -5));
	assert_non_null(json_add_i64(o, "d", INT64_MIN));
	text = cJSON_PrintUnformatted(o);
	assert_string_equal(text, "{\"a\":940000000,\"b\":\"18446744073709551615\",\"c\":-5,"
				  "\"d\":\"-9223372036854775808\"}");
	free(text);
	cJSON_Delete(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_written),
		cmocka_unit_test(unknowns_are_written),
		cmocka_unit_test(large_numbers_stay_exact),
		cmocka_unit_test(any_bytes_become_utf8),
		cmocka_unit_test(both_forms_are_read),
		cmocka_unit_test(wrong_values_are_invalid),
		cmocka_unit_test(saying_it_twice_is_invalid),
		cmocka_unit_test(long_strings_are_invalid),
		cmocka_unit_test(wrong_shapes_are_refused),
		cmocka_unit_test(too_many_rows_are_refused),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(running_out_of_memory_is_reported),
		cmocka_unit_test(members_are_read_strictly),
		cmocka_unit_test(members_are_added_exactly),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}

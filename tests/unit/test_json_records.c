/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole facts and counters on their way through JSON. */
#include "src/core/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/core/facts.h"
#include "tests/unit/core_test.h"

/* Gives the member a value, or one of the reasons, chosen by n. */
static void set_member(const struct field *f, void *row, uint64_t n, struct arena *mem)
{
	void *m = (char *)row + f->offset;
	enum nd_known k = (enum nd_known)(n % ND_KNOWN_STATES);
	uint64_t v = n * UINT64_C(0x9e3779b97f4a7c15);

	switch (f->kind) {
	case FIELD_U64:
		*(struct nd_u64 *)m = k == ND_KNOWN ? nd_u64(v >> n % 64) : nd_u64_unknown(k);
		break;
	case FIELD_I64:
		*(struct nd_i64 *)m = k == ND_KNOWN ? nd_i64((int64_t)v >> n % 64) :
			nd_i64_unknown(k);
		break;
	case FIELD_F64:
		*(struct nd_f64 *)m = k == ND_KNOWN ? nd_f64((double)(v >> 40) / 8) :
			nd_f64_unknown(k);
		break;
	case FIELD_BOOL:
		*(struct nd_bool *)m = k == ND_KNOWN ? nd_bool(v & 1) : nd_bool_unknown(k);
		break;
	case FIELD_STR:
		*(struct nd_str *)m = k == ND_KNOWN ?
			nd_str(arena_printf(mem, "text %llu \xe2\x82\xac", (unsigned long long)v)) :
			nd_str_unknown(k);
		break;
	case FIELD_CPUS:
		memset(m, 0, sizeof(struct nd_cpus));
		if (k == ND_KNOWN)
			nd_cpus_set(m, (unsigned int)(v % ND_MAX_CPUS));
		((struct nd_cpus *)m)->k = k;
		break;
	}
}

static void assert_same_member(const struct section *s, const struct field *f, const void *a,
			       const void *b)
{
	const void *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
	const struct nd_str *p = x, *q = y;
	bool same;

	switch (f->kind) {
	case FIELD_STR:
		same = p->k == q->k && (p->k != ND_KNOWN || !strcmp(p->v, q->v));
		break;
	case FIELD_BOOL:
		same = !memcmp(x, y, 1) &&
		       ((const struct nd_bool *)x)->k == ((const struct nd_bool *)y)->k;
		break;
	case FIELD_CPUS:
		same = !memcmp(x, y, sizeof(((struct nd_cpus *)0)->bits)) &&
		       ((const struct nd_cpus *)x)->k == ((const struct nd_cpus *)y)->k;
		break;
	default:
		/* An 8-byte value, then its state. */
		same = !memcmp(x, y, 8 + sizeof(enum nd_known));
		break;
	}
	if (!same)
		fail_msg("%s.%s changed on its way through JSON", s->name, f->name);
}

/* Fills every section with so many rows, every member with every state in turn. */
static void fill(const struct schema *s, void *rec, size_t nrows, struct arena *mem)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nsections; i++) {
		const struct section *sec = &s->sections[i];
		size_t rows = sec->single ? 1 : nrows;
		char *p = sec->single ? (char *)rec + sec->offset :
			arena_alloc_array(mem, rows, sec->row_size);

		assert_non_null(p);
		if (!sec->single) {
			memcpy((char *)rec + sec->offset, &p, sizeof(p));
			memcpy((char *)rec + sec->count_offset, &rows, sizeof(rows));
		}
		for (size_t r = 0; r < rows; r++, n++)
			for (size_t f = 0; f < sec->nfields; f++)
				set_member(&sec->fields[f], p + r * sec->row_size, n + f, mem);
	}
}

/* Sends a record through text and compares what arrives. */
static void round_trip(const struct schema *s, void *rec, struct arena *mem, void *back,
		       struct arena *back_mem)
{
	struct error err;
	cJSON *j, *parsed;
	char *text;

	fill(s, rec, 3 * ND_KNOWN_STATES, mem);
	j = record_to_json(s, rec);
	text = cJSON_Print(j);
	assert_non_null(text);
	parsed = cJSON_Parse(text);
	assert_non_null(parsed);
	assert_int_equal(record_from_json(s, parsed, back_mem, back, &err), 0);
	for (size_t i = 0; i < s->nsections; i++) {
		const struct section *sec = &s->sections[i];

		assert_int_equal(section_count(sec, rec), section_count(sec, back));
		for (size_t r = 0; r < section_count(sec, rec); r++)
			for (size_t f = 0; f < sec->nfields; f++)
				assert_same_member(sec, &sec->fields[f], section_row(sec, rec, r),
						   section_row(sec, back, r));
	}
	free(text);
	cJSON_Delete(j);
	cJSON_Delete(parsed);
}

static void facts_go_both_ways(void **state)
{
	struct facts *f = facts_new(0), *back = facts_new(0);

	(void)state;
	round_trip(&facts_schema, f, f->mem, back, back->mem);
	facts_free(f);
	facts_free(back);
}

static void counters_go_both_ways(void **state)
{
	struct counters *c = counters_new(0), *back = counters_new(0);
	cJSON *j;

	(void)state;
	round_trip(&counters_schema, c, c->mem, back, back->mem);
	/* Also without text in between, as a session may do it. */
	j = record_to_json(&counters_schema, c);
	counters_free(back);
	back = counters_new(0);
	assert_int_equal(record_from_json(&counters_schema, j, back->mem, back, NULL), 0);
	assert_int_equal(back->nflows, c->nflows);
	cJSON_Delete(j);
	counters_free(c);
	counters_free(back);
}

/* A counter on the wire is always a string, however small. */
static void counters_are_strings(void **state)
{
	struct counters *c = counters_new(0);
	cJSON *j, *clock;

	(void)state;
	c->clock.monotonic_ns = nd_u64(7);
	j = record_to_json(&counters_schema, c);
	clock = cJSON_GetObjectItemCaseSensitive(j, "clock");
	assert_true(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(clock, "monotonic_ns")));
	cJSON_Delete(j);
	counters_free(c);
}

/* Changes bytes of a good document; whatever parses must be taken or refused in an orderly way. */
static void random_damage_is_survived(void **state)
{
	static const char letters[] = "{}[]\",:0123456789-.eEtrufalsn\\ known";
	struct counters *c = counters_new(0);
	unsigned int parsed = 0;
	uint64_t seed = 8;
	cJSON *j;
	char *good;

	(void)state;
	fill(&counters_schema, c, 1, c->mem);
	j = record_to_json(&counters_schema, c);
	good = cJSON_PrintUnformatted(j);
	cJSON_Delete(j);
	for (int round = 0; round < 3000; round++) {
		struct counters *back = counters_new(8192);
		char *text = strdup(good);
		size_t len = strlen(text);

		for (uint64_t hits = 1 + next_random(&seed) % 3; hits; hits--)
			text[next_random(&seed) % len] =
				letters[next_random(&seed) % (sizeof(letters) - 1)];
		j = cJSON_Parse(text);
		if (j && !record_from_json(&counters_schema, j, back->mem, back, NULL)) {
			cJSON *again = record_to_json(&counters_schema, back);

			parsed++;
			assert_true(back->nmibs <= 1);
			assert_true(!back->nmibs || back->mibs[0].name.k != ND_KNOWN ||
				    back->mibs[0].name.v);
			assert_non_null(again);
			cJSON_Delete(again);
		}
		cJSON_Delete(j);
		free(text);
		counters_free(back);
	}
	assert_true(parsed > 500);
	free(good);
	counters_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_go_both_ways),
		cmocka_unit_test(counters_go_both_ways),
		cmocka_unit_test(counters_are_strings),
		cmocka_unit_test(random_damage_is_survived),
	};

	return cmocka_run_group_tests_name("json-records", tests, NULL, NULL);
}

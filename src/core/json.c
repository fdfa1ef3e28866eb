/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/text.h"

/*
 * Numbers travel as doubles, but cJSON prints 15 digits when that is "close enough":
 * from 10^15 on we write decimal strings instead.  Of others we take numbers below
 * 2^53; 2^53 itself is also what 2^53 + 1 becomes.
 */
#define NUMBER_LIMIT UINT64_C(1000000000000000)
#define EXACT_LIMIT 9007199254740992.0
#define STRING_LIMIT 4096
#define CPUS_TEXT 6144

static cJSON *u64_item(uint64_t v, bool as_string)
{
	char digits[24];

	if (!as_string && v < NUMBER_LIMIT)
		return cJSON_CreateNumber((double)v);
	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	return cJSON_CreateString(digits);
}

static cJSON *i64_item(int64_t v, bool as_string)
{
	char digits[24];

	if (!as_string && v < (int64_t)NUMBER_LIMIT && v > -(int64_t)NUMBER_LIMIT)
		return cJSON_CreateNumber((double)v);
	snprintf(digits, sizeof(digits), "%" PRId64, v);
	return cJSON_CreateString(digits);
}

static cJSON *unknown_item(enum nd_known k)
{
	cJSON *o = cJSON_CreateObject();

	if (o && !cJSON_AddStringToObject(o, "unknown", nd_known_word(k))) {
		cJSON_Delete(o);
		return NULL;
	}
	return o;
}

/* Host names, sysfs texts and NIC names may be any bytes; JSON must be UTF-8. */
cJSON *json_string(const char *s)
{
	struct text t = TEXT_INIT;
	cJSON *item;
	uint32_t c;

	if (!s)
		return unknown_item(ND_INVALID);
	while (*s) {
		size_t n = utf8_decode(s, &c);

		if (n)
			text_addn(&t, s, n);
		else
			text_add(&t, "\xef\xbf\xbd");	/* U+FFFD, the replacement character */
		s += n ? n : 1;
	}
	item = t.failed ? NULL : cJSON_CreateString(t.data ? t.data : "");
	text_free(&t);
	return item;
}

static cJSON *cpus_item(const struct nd_cpus *m)
{
	char list[CPUS_TEXT];

	nd_cpus_format_list(m, list, sizeof(list));
	return cJSON_CreateString(list);
}

/* State of any member: it is the last element of every value struct, but not at one offset. */
static enum nd_known member_state(const struct field *f, const void *member)
{
	switch (f->kind) {
	case FIELD_U64:
		return ((const struct nd_u64 *)member)->k;
	case FIELD_I64:
		return ((const struct nd_i64 *)member)->k;
	case FIELD_F64:
		return ((const struct nd_f64 *)member)->k;
	case FIELD_BOOL:
		return ((const struct nd_bool *)member)->k;
	case FIELD_STR:
		return ((const struct nd_str *)member)->k;
	case FIELD_CPUS:
		return ((const struct nd_cpus *)member)->k;
	}
	return ND_INVALID;
}

static cJSON *member_to_json(const struct field *f, const void *member)
{
	enum nd_known k = member_state(f, member);
	bool exact = f->flags & FIELD_COUNTER;

	if (k != ND_KNOWN)
		return unknown_item(k);
	switch (f->kind) {
	case FIELD_U64:
		return u64_item(((const struct nd_u64 *)member)->v, exact);
	case FIELD_I64:
		return i64_item(((const struct nd_i64 *)member)->v, exact);
	case FIELD_F64: {
		double v = ((const struct nd_f64 *)member)->v;

		/* JSON has no word for these; cJSON would write null. */
		return isfinite(v) ? cJSON_CreateNumber(v) : unknown_item(ND_INVALID);
	}
	case FIELD_BOOL:
		return cJSON_CreateBool(((const struct nd_bool *)member)->v);
	case FIELD_STR:
		return json_string(((const struct nd_str *)member)->v);
	case FIELD_CPUS:
		return cpus_item(member);
	}
	return NULL;
}

/* Adds item under a constant key; takes it over also when it fails. */
static bool add_item(cJSON *obj, const char *key, cJSON *item)
{
	if (item && cJSON_AddItemToObject(obj, key, item))
		return true;
	cJSON_Delete(item);
	return false;
}

cJSON *row_to_json(const struct field *fields, size_t nfields, const void *row)
{
	cJSON *obj = cJSON_CreateObject();

	if (!obj)
		return NULL;
	for (size_t i = 0; i < nfields; i++) {
		const struct field *f = &fields[i];
		const void *member = (const char *)row + f->offset;

		if (member_state(f, member) == ND_UNREAD)
			continue;
		if (!add_item(obj, f->name, member_to_json(f, member))) {
			cJSON_Delete(obj);
			return NULL;
		}
	}
	return obj;
}

cJSON *rows_to_json(const struct field *fields, size_t nfields, size_t row_size,
		    const void *rows, size_t nrows)
{
	cJSON *arr = cJSON_CreateArray();

	if (!arr)
		return NULL;
	for (size_t i = 0; i < nrows; i++) {
		cJSON *row = row_to_json(fields, nfields, (const char *)rows + i * row_size);

		if (!row || !cJSON_AddItemToArray(arr, row)) {
			cJSON_Delete(row);
			cJSON_Delete(arr);
			return NULL;
		}
	}
	return arr;
}

cJSON *record_to_json(const struct schema *s, const void *rec)
{
	cJSON *obj = cJSON_CreateObject();

	if (!obj)
		return NULL;
	for (size_t i = 0; i < s->nsections; i++) {
		const struct section *sec = &s->sections[i];
		const void *rows = section_row(sec, rec, 0);
		cJSON *item;

		if (sec->single)
			item = row_to_json(sec->fields, sec->nfields, rows);
		else
			item = rows_to_json(sec->fields, sec->nfields, sec->row_size, rows,
					    rows ? section_count(sec, rec) : 0);
		if (!add_item(obj, sec->name, item)) {
			cJSON_Delete(obj);
			return NULL;
		}
	}
	return obj;
}

/* A whole number that a double holds exactly. */
static bool whole_number(const cJSON *item, double *out)
{
	if (!cJSON_IsNumber(item))
		return false;
	*out = item->valuedouble;
	return isfinite(*out) && *out == floor(*out) && fabs(*out) < EXACT_LIMIT;
}

static bool item_u64(const cJSON *item, uint64_t *out)
{
	double d;

	if (whole_number(item, &d)) {
		if (d < 0)
			return false;
		*out = (uint64_t)d;
		return true;
	}
	return cJSON_IsString(item) && item->valuestring && !parse_u64(item->valuestring, out);
}

static bool item_i64(const cJSON *item, int64_t *out)
{
	double d;

	if (whole_number(item, &d)) {
		*out = (int64_t)d;
		return true;
	}
	return cJSON_IsString(item) && item->valuestring && !parse_i64(item->valuestring, out);
}

/* The reason in {"unknown": "word"}; a claim that it is known after all is none. */
static enum nd_known unknown_reason(const cJSON *item)
{
	const cJSON *word = cJSON_GetObjectItemCaseSensitive(item, "unknown");
	enum nd_known k;

	if (!cJSON_IsString(word) || nd_known_from_word(word->valuestring, &k) || k == ND_KNOWN)
		return ND_INVALID;
	return k;
}

static bool short_string(const cJSON *item)
{
	return cJSON_IsString(item) && item->valuestring &&
	       strnlen(item->valuestring, STRING_LIMIT + 1) <= STRING_LIMIT;
}

/* Sets the member and returns 0; -EINVAL: no value of its kind; -ENOMEM. */
static int member_from_json(const struct field *f, const cJSON *item, struct arena *mem,
			    void *member)
{
	uint64_t u;
	int64_t i;

	switch (f->kind) {
	case FIELD_U64:
		if (!item_u64(item, &u))
			return -EINVAL;
		*(struct nd_u64 *)member = nd_u64(u);
		return 0;
	case FIELD_I64:
		if (!item_i64(item, &i))
			return -EINVAL;
		*(struct nd_i64 *)member = nd_i64(i);
		return 0;
	case FIELD_F64:
		if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
			return -EINVAL;
		*(struct nd_f64 *)member = nd_f64(item->valuedouble);
		return 0;
	case FIELD_BOOL:
		if (!cJSON_IsBool(item))
			return -EINVAL;
		*(struct nd_bool *)member = nd_bool(cJSON_IsTrue(item));
		return 0;
	case FIELD_STR: {
		char *copy;

		if (!short_string(item))
			return -EINVAL;
		copy = arena_strdup(mem, item->valuestring);
		if (!copy)
			return -ENOMEM;
		*(struct nd_str *)member = nd_str(copy);
		return 0;
	}
	case FIELD_CPUS:
		if (!short_string(item))
			return -EINVAL;
		return nd_cpus_parse_list(item->valuestring, member) ? -EINVAL : 0;
	}
	return -EINVAL;
}

static const struct field *find_field(const struct field *fields, size_t nfields, const char *name)
{
	for (size_t i = 0; i < nfields; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

int row_from_json(const struct field *fields, size_t nfields, const cJSON *obj,
		  struct arena *mem, void *row)
{
	const cJSON *item;

	if (!cJSON_IsObject(obj))
		return -EINVAL;
	cJSON_ArrayForEach(item, obj) {
		const char *name = item->string ? item->string : "";
		const struct field *f = find_field(fields, nfields, name);
		void *member;
		int rc;

		if (!f)
			continue;
		member = (char *)row + f->offset;
		/* Said twice: two readers could believe two different things. */
		if (member_state(f, member) != ND_UNREAD) {
			field_set_unknown(f, row, ND_INVALID);
			continue;
		}
		if (cJSON_IsObject(item)) {
			field_set_unknown(f, row, unknown_reason(item));
			continue;
		}
		rc = member_from_json(f, item, mem, member);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			field_set_unknown(f, row, ND_INVALID);
	}
	return 0;
}

int rows_from_json(const struct field *fields, size_t nfields, size_t row_size, const cJSON *arr,
		   struct arena *mem, void **rows, size_t *nrows, struct error *err)
{
	const cJSON *item;
	size_t n = 0;
	char *out;

	*rows = NULL;
	*nrows = 0;
	if (!cJSON_IsArray(arr))
		return error_set(err, EINVAL, "not an array of rows");
	cJSON_ArrayForEach(item, arr) {
		if (!cJSON_IsObject(item))
			return error_set(err, EINVAL, "row %zu is not an object", n);
		if (++n > JSON_MAX_ROWS)
			return error_set(err, E2BIG, "more than %d rows", JSON_MAX_ROWS);
	}
	if (!n)
		return 0;
	out = arena_alloc_array(mem, n, row_size);
	if (!out)
		return error_set(err, ENOMEM, "no memory for %zu rows", n);
	n = 0;
	cJSON_ArrayForEach(item, arr) {
		int rc = row_from_json(fields, nfields, item, mem, out + n * row_size);

		if (rc)
			return error_set(err, rc, "no memory for row %zu", n);
		n++;
	}
	*rows = out;
	*nrows = n;
	return 0;
}

static int section_from_json(const struct section *s, const cJSON *item, struct arena *mem,
			     void *rec, struct error *err)
{
	struct error inner = { { 0 } };
	void *rows;
	size_t n;
	int rc;

	if (s->single) {
		rc = row_from_json(s->fields, s->nfields, item, mem, (char *)rec + s->offset);
		if (rc == -EINVAL)
			return error_set(err, rc, "%s: not an object", s->name);
		return rc ? error_set(err, rc, "%s: no memory", s->name) : 0;
	}
	rc = rows_from_json(s->fields, s->nfields, s->row_size, item, mem, &rows, &n, &inner);
	if (rc)
		return error_set(err, rc, "%s: %s", s->name, inner.text);
	memcpy((char *)rec + s->offset, &rows, sizeof(rows));
	memcpy((char *)rec + s->count_offset, &n, sizeof(n));
	return 0;
}

int record_from_json(const struct schema *s, const cJSON *obj, struct arena *mem,
		     void *rec, struct error *err)
{
	if (!cJSON_IsObject(obj))
		return error_set(err, EINVAL, "%s: not an object", s->name);
	for (size_t i = 0; i < s->nsections; i++) {
		const struct section *sec = &s->sections[i];
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, sec->name);
		int rc;

		if (!item)
			continue;
		rc = section_from_json(sec, item, mem, rec, err);
		if (rc)
			return rc;
	}
	return 0;
}

bool json_get_u64(const cJSON *obj, const char *key, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;

	if (!item_u64(cJSON_GetObjectItemCaseSensitive(obj, key), &v) || v < min || v > max)
		return false;
	*out = v;
	return true;
}

bool json_get_i64(const cJSON *obj, const char *key, int64_t min, int64_t max, int64_t *out)
{
	int64_t v;

	if (!item_i64(cJSON_GetObjectItemCaseSensitive(obj, key), &v) || v < min || v > max)
		return false;
	*out = v;
	return true;
}

bool json_get_f64(const cJSON *obj, const char *key, double *out)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);

	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
		return false;
	*out = item->valuedouble;
	return true;
}

bool json_get_bool(const cJSON *obj, const char *key, bool *out)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);

	if (!cJSON_IsBool(item))
		return false;
	*out = cJSON_IsTrue(item);
	return true;
}

const char *json_get_str(const cJSON *obj, const char *key, size_t max_len)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);

	if (!cJSON_IsString(item) || !item->valuestring)
		return NULL;
	/* max_len may be SIZE_MAX: no + 1. */
	return strnlen(item->valuestring, max_len) == max_len && item->valuestring[max_len] ?
		NULL : item->valuestring;
}

static cJSON *add_to(cJSON *obj, const char *key, cJSON *item)
{
	return add_item(obj, key, item) ? item : NULL;
}

cJSON *json_add_u64(cJSON *obj, const char *key, uint64_t v)
{
	return add_to(obj, key, u64_item(v, false));
}

cJSON *json_add_i64(cJSON *obj, const char *key, int64_t v)
{
	return add_to(obj, key, i64_item(v, false));
}

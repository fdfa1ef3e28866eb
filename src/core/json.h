/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Field tables <-> JSON (cJSON).
 *
 * A known value is a JSON number, string or bool; counters (and any integer of
 * 10^15 or more: cJSON prints 15 digits) are decimal strings so that they stay
 * exact.  Both forms are read, numbers below 2^53.  An unknown value is
 * {"unknown": "<reason>"}.  ND_UNREAD members are left out.  CPU sets are list
 * strings ("0-3,8").
 *
 * Input is hostile: wrong types, out-of-range numbers, duplicate or unknown
 * keys and huge arrays give ND_INVALID members, skipped keys or -EINVAL, and
 * never more memory than the arena allows.  Strings longer than 4096 bytes are
 * ND_INVALID.  Output is valid UTF-8 whatever the machine's texts hold.
 */
#ifndef ND_CORE_JSON_H
#define ND_CORE_JSON_H

#include <cjson/cJSON.h>

#include "src/core/error.h"
#include "src/core/fields.h"

/* Returns a new object the caller owns, or NULL when out of memory. */
cJSON *record_to_json(const struct schema *s, const void *rec);
cJSON *row_to_json(const struct field *fields, size_t nfields, const void *row);
cJSON *rows_to_json(const struct field *fields, size_t nfields, size_t row_size,
		    const void *rows, size_t nrows);

/* Most rows accepted in one section; more is -E2BIG. */
#define JSON_MAX_ROWS 65536

/* Fills rec (zeroed by the caller) from obj; strings go to mem.  0, -EINVAL, -E2BIG, -ENOMEM. */
int record_from_json(const struct schema *s, const cJSON *obj, struct arena *mem,
		     void *rec, struct error *err);
int row_from_json(const struct field *fields, size_t nfields, const cJSON *obj,
		  struct arena *mem, void *row);
int rows_from_json(const struct field *fields, size_t nfields, size_t row_size, const cJSON *arr,
		   struct arena *mem, void **rows, size_t *nrows, struct error *err);

/* Strict single-member readers for hand-written messages; false when absent or of another type. */
bool json_get_u64(const cJSON *obj, const char *key, uint64_t min, uint64_t max, uint64_t *out);
bool json_get_i64(const cJSON *obj, const char *key, int64_t min, int64_t max, int64_t *out);
bool json_get_f64(const cJSON *obj, const char *key, double *out);	/* finite only */
bool json_get_bool(const cJSON *obj, const char *key, bool *out);
/* NULL when absent, not a string, or longer than max_len bytes. */
const char *json_get_str(const cJSON *obj, const char *key, size_t max_len);
/* Adds v exactly: a number below 10^15, a decimal string from there.  NULL: no memory. */
cJSON *json_add_u64(cJSON *obj, const char *key, uint64_t v);
cJSON *json_add_i64(cJSON *obj, const char *key, int64_t v);
/* A JSON string of any bytes: invalid UTF-8 becomes U+FFFD.  NULL gives an unknown. */
cJSON *json_string(const char *s);
/* Adds item, which is taken over in any case; false when it is NULL or memory ran out. */
static inline bool json_put(cJSON *obj, const char *key, cJSON *item)
{
	if (item && cJSON_AddItemToObject(obj, key, item))
		return true;
	cJSON_Delete(item);
	return false;
}
static inline bool json_push(cJSON *arr, cJSON *item)
{
	if (item && cJSON_AddItemToArray(arr, item))
		return true;
	cJSON_Delete(item);
	return false;
}

#endif

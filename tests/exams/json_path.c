/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/exams/json_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step { char key[96], select[192]; bool has_select, last; };

/* The step at *path, which moves behind it; false when there is none or it is malformed. */
static bool next_step(const char **path, struct step *s)
{
	size_t len = strcspn(*path, "/[");
	const char *end;

	*s = (struct step){ .has_select = (*path)[len] == '[' };
	if (!len || len >= sizeof(s->key))
		return false;
	memcpy(s->key, *path, len);
	*path += len;
	if (s->has_select) {
		end = strchr(*path, ']');
		if (!end || (size_t)(end - *path) > sizeof(s->select))
			return false;
		memcpy(s->select, *path + 1, (size_t)(end - *path) - 1);
		*path = end + 1;
	}
	if (**path && **path != '/')
		return false;
	*path += **path == '/';
	s->last = !**path;
	return true;
}

static bool value_is(const cJSON *v, const char *text)
{
	char number[32];

	if (cJSON_IsString(v))
		return strcmp(v->valuestring, text) == 0;
	if (cJSON_IsBool(v))
		return strcmp(cJSON_IsTrue(v) ? "true" : "false", text) == 0;
	if (!cJSON_IsNumber(v))
		return false;
	snprintf(number, sizeof(number), "%.15g", v->valuedouble);
	return strcmp(number, text) == 0;
}

static bool row_matches(const cJSON *row, const char *select)
{
	char copy[192], *word, *more = copy;

	if (strcmp(select, "*") == 0)
		return true;
	snprintf(copy, sizeof(copy), "%s", select);
	while ((word = strsep(&more, ","))) {
		char *value = strchr(word, '=');

		if (!value)
			return false;
		*value++ = '\0';
		if (!value_is(cJSON_GetObjectItemCaseSensitive(row, word), value))
			return false;
	}
	return true;
}

static int put(cJSON *obj, const char *key, const cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(obj, key);
	if (cJSON_IsNull(value))
		return 0;
	return cJSON_AddItemToObject(obj, key, cJSON_Duplicate(value, true)) ? 0 : -ENOMEM;
}

static int put_row(cJSON *rows, int i, const cJSON *value)
{
	if (cJSON_IsNull(value))
		cJSON_DeleteItemFromArray(rows, i);
	else if (!cJSON_ReplaceItemInArray(rows, i, cJSON_Duplicate(value, true)))
		return -ENOMEM;
	return 0;
}

static int set_in(cJSON *obj, const char *path, const cJSON *value, char *why, size_t cap)
{
	struct step s;
	cJSON *child;
	int i, err = 0, picked = 0;

	if (!next_step(&path, &s)) {
		snprintf(why, cap, "malformed path at \"%s\"", path);
		return -EINVAL;
	}
	if (s.last && !s.has_select)
		return put(obj, s.key, value);
	child = cJSON_GetObjectItemCaseSensitive(obj, s.key);
	if (!s.has_select && cJSON_IsObject(child))
		return set_in(child, path, value, why, cap);
	if (s.has_select && s.last && strcmp(s.select, "+") == 0) {
		if (!child)
			child = cJSON_AddArrayToObject(obj, s.key);
		return cJSON_AddItemToArray(child, cJSON_Duplicate(value, true)) ? 0 : -ENOMEM;
	}
	/* From the end: deleting a row moves those behind it. */
	for (i = cJSON_GetArraySize(child) - 1; s.has_select && i >= 0 && !err; i--) {
		cJSON *row = cJSON_GetArrayItem(child, i);

		if (!row_matches(row, s.select))
			continue;
		picked++;
		err = s.last ? put_row(child, i, value) : set_in(row, path, value, why, cap);
	}
	if (!picked) {
		snprintf(why, cap, "\"%s\" [%s] picks nothing", s.key, s.select);
		return -ENOENT;
	}
	return err;
}

int json_path_set(cJSON *doc, const char *path, const cJSON *value, char *why, size_t cap)
{
	int err = set_in(doc, path, value, why, cap);

	if (err == -ENOMEM)
		snprintf(why, cap, "out of memory");
	return err;
}

size_t json_path_count(const cJSON *doc, const char *path)
{
	const cJSON *child, *row;
	struct step s;
	size_t n = 0;

	if (!next_step(&path, &s))
		return 0;
	child = cJSON_GetObjectItemCaseSensitive(doc, s.key);
	if (!child)
		return 0;
	if (!s.has_select)
		return s.last ? 1 : json_path_count(child, path);
	if (strcmp(s.select, "+") == 0)
		return (size_t)cJSON_GetArraySize(child);
	cJSON_ArrayForEach(row, child)
		if (row_matches(row, s.select))
			n += s.last ? 1 : json_path_count(row, path);
	return n;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/schema.h"

#include <errno.h>
#include <string.h>

#include "src/core/json.h"
#include "src/core/text.h"
#include "src/exam/exam.h"
#include "src/report/schema_words.h"

struct named_table {
	const char *name;
	const struct field *fields;
	const size_t *nfields;
};

static const struct named_table tables[] = {
	{ "path", path_fields, &path_nfields },
	{ "wishes", wishes_fields, &wishes_nfields },
	{ "run", run_fields, &run_nfields },
	{ "end", run_end_fields, &run_end_nfields },
	{ "interval", end_interval_fields, &end_interval_nfields },
	{ "core", core_load_fields, &core_load_nfields },
	{ "flow", flow_summary_fields, &flow_summary_nfields },
	{ "placed", placed_worker_fields, &placed_worker_nfields },
	{ "latency", latency_fields, &latency_nfields },
};

/* Which of the skeleton's value definitions a field is one of. */
static const char *value_ref(const struct field *f)
{
	switch (f->kind) {
	case FIELD_U64:
		return f->flags & FIELD_COUNTER ? "#/$defs/counter" : "#/$defs/u64";
	case FIELD_I64:
		return f->flags & FIELD_COUNTER ? "#/$defs/counter" : "#/$defs/i64";
	case FIELD_F64:
		return f->unit == UNIT_SHARE ? "#/$defs/share" : "#/$defs/f64";
	case FIELD_BOOL:
		return "#/$defs/bool";
	case FIELD_STR:
		return "#/$defs/str";
	case FIELD_CPUS:
		return "#/$defs/cpus";
	}
	return NULL;
}

static cJSON *field_schema(const struct field *f)
{
	struct text help = TEXT_INIT;
	cJSON *obj = cJSON_CreateObject();
	bool ok;

	text_add(&help, f->help);
	if (*unit_word(f->unit))
		text_printf(&help, " Unit: %s.", unit_word(f->unit));
	ok = obj && !help.failed && cJSON_AddStringToObject(obj, "$ref", value_ref(f)) &&
	     cJSON_AddStringToObject(obj, "description", help.data);
	text_free(&help);
	if (!ok) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

static int add_fields(cJSON *properties, const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!json_put(properties, fields[i].name, field_schema(&fields[i])))
			return -ENOMEM;
	return 0;
}

/* {"type": "object", "properties": {...}, "additionalProperties": false} */
static cJSON *row_schema(const struct section *s)
{
	cJSON *obj = cJSON_CreateObject(), *properties;

	if (obj && cJSON_AddStringToObject(obj, "type", "object")) {
		properties = cJSON_AddObjectToObject(obj, "properties");
		if (properties && !add_fields(properties, s->fields, s->nfields) &&
		    cJSON_AddFalseToObject(obj, "additionalProperties"))
			return obj;
	}
	cJSON_Delete(obj);
	return NULL;
}

static cJSON *section_schema(const struct section *s)
{
	cJSON *obj;

	if (s->single) {
		obj = row_schema(s);
	} else {
		obj = cJSON_CreateObject();
		if (obj && (!cJSON_AddStringToObject(obj, "type", "array") ||
			    !json_put(obj, "items", row_schema(s)))) {
			cJSON_Delete(obj);
			return NULL;
		}
	}
	if (obj && s->help && !cJSON_AddStringToObject(obj, "description", s->help)) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

/* The object's "properties", made when it has none. */
static cJSON *properties_of(cJSON *obj)
{
	cJSON *p = cJSON_GetObjectItemCaseSensitive(obj, "properties");

	return p ? p : cJSON_AddObjectToObject(obj, "properties");
}

static int fill_fields(cJSON *obj, const char *name, struct error *err)
{
	cJSON *properties = properties_of(obj);

	if (!properties)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (strcmp(tables[i].name, name) == 0)
			return add_fields(properties, tables[i].fields, *tables[i].nfields);
	return error_set(err, EINVAL, "x-fields \"%s\": no such field table", name);
}

static int fill_sections(cJSON *obj, const char *name, struct error *err)
{
	const struct schema *s = strcmp(name, "facts") == 0	   ? &facts_schema
				 : strcmp(name, "counters") == 0 ? &counters_schema
								   : NULL;
	cJSON *properties = properties_of(obj);

	if (!s)
		return error_set(err, EINVAL, "x-sections \"%s\": no such schema", name);
	if (!properties)
		return -ENOMEM;
	for (size_t i = 0; i < s->nsections; i++)
		if (!json_put(properties, s->sections[i].name, section_schema(&s->sections[i])))
			return -ENOMEM;
	return 0;
}

static int fill_words(cJSON *obj, const char *name, struct error *err)
{
	cJSON *words = cJSON_AddArrayToObject(obj, "enum");
	const char *word;

	if (!words)
		return -ENOMEM;
	if (!schema_word(name, 0))
		return error_set(err, EINVAL, "x-words \"%s\": no such words", name);
	for (unsigned int i = 0; (word = schema_word(name, i)); i++)
		if (!json_push(words, cJSON_CreateString(word)))
			return -ENOMEM;
	return 0;
}

/* Replaces one x- member of obj, if it has it. */
static int fill_one(cJSON *obj, const char *key,
		    int (*fill)(cJSON *obj, const char *name, struct error *err),
		    struct error *err)
{
	cJSON *x;
	int rc;

	if (!cJSON_IsObject(obj) || !cJSON_GetObjectItemCaseSensitive(obj, key))
		return 0;
	x = cJSON_DetachItemFromObjectCaseSensitive(obj, key);
	rc = cJSON_IsString(x) ? fill(obj, x->valuestring, err)
			       : error_set(err, EINVAL, "%s is not a string", key);
	cJSON_Delete(x);
	return rc;
}

int schema_fill(cJSON *skeleton, struct error *err)
{
	cJSON *item;
	int rc = fill_one(skeleton, "x-fields", fill_fields, err);

	if (!rc)
		rc = fill_one(skeleton, "x-sections", fill_sections, err);
	if (!rc)
		rc = fill_one(skeleton, "x-words", fill_words, err);
	if (rc)
		return rc;
	cJSON_ArrayForEach(item, skeleton) {
		rc = schema_fill(item, err);
		if (rc)
			return rc;
	}
	return 0;
}

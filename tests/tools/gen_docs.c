/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the documents that are made from tables; `make docs` runs it.
 *
 *	gen_docs schema SKELETON OUT.json	the JSON Schema of a report
 *	gen_docs rules DIR			DIR/RULE.md for each rule, and DIR/README.md
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/report/explain.h"
#include "src/report/schema.h"

enum { SKELETON_CAP = 1024 * 1024, PATH_CAP = 512 };

static int complain(const char *what, int err)
{
	fprintf(stderr, "gen_docs: %s: %s\n", what, strerror(err < 0 ? -err : err));
	return 1;
}

/* Keeps a file that already says so: make goes by times. */
static bool says(const char *path, const struct text *t)
{
	FILE *f = fopen(path, "r");
	char *have;
	bool same;

	if (!f)
		return false;
	have = calloc(1, t->len + 2);
	same = have && fread(have, 1, t->len + 1, f) == t->len &&
	       memcmp(have, t->data, t->len) == 0;
	free(have);
	fclose(f);
	return same;
}

static int write_text(const char *path, struct text *t)
{
	FILE *f = NULL;
	int rc = 0;

	if (t->failed || !t->data) {
		rc = complain(path, ENOMEM);
	} else if (!says(path, t)) {
		f = fopen(path, "w");
		if (!f || fwrite(t->data, 1, t->len, f) != t->len)
			rc = complain(path, errno);
		if (f && fclose(f) && !rc)
			rc = complain(path, errno);
	}
	text_free(t);
	return rc;
}

static cJSON *read_json(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = calloc(1, SKELETON_CAP);
	cJSON *obj = NULL;

	if (f && s && fread(s, 1, SKELETON_CAP - 1, f) > 0)
		obj = cJSON_Parse(s);
	if (f)
		fclose(f);
	free(s);
	return obj;
}

static int write_schema(const char *skeleton, const char *path)
{
	cJSON *obj = read_json(skeleton);
	struct text t = TEXT_INIT;
	struct error err = { "" };
	char *printed;
	int rc;

	if (!obj)
		return complain(skeleton, EINVAL);
	rc = schema_fill(obj, &err);
	if (rc) {
		cJSON_Delete(obj);
		return complain(err.text, rc);
	}
	printed = cJSON_Print(obj);
	cJSON_Delete(obj);
	if (!printed)
		return complain(path, ENOMEM);
	text_add(&t, printed);
	text_add(&t, "\n");
	cJSON_free(printed);
	return write_text(path, &t);
}

static int write_rules(const char *dir)
{
	struct text t = TEXT_INIT;
	char path[PATH_CAP];
	int rc;

	explain_index_markdown(rules_table, rules_count, &t);
	snprintf(path, sizeof(path), "%s/README.md", dir);
	rc = write_text(path, &t);
	for (size_t i = 0; !rc && i < rules_count; i++) {
		explain_rule_markdown(rules_table[i], &t);
		snprintf(path, sizeof(path), "%s/%s.md", dir, rules_table[i]->id);
		rc = write_text(path, &t);
	}
	return rc;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "schema") == 0)
		return write_schema(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "rules") == 0)
		return write_rules(argv[2]);
	fprintf(stderr, "usage: gen_docs schema SKELETON OUT | gen_docs rules DIR\n");
	return 64;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON Schema of a report, from its skeleton and our tables.
 *
 * The skeleton (src/report/schema.skeleton.json) is a schema in which
 *	"x-fields": NAME	stands for one property per row of a field table,
 *	"x-sections": NAME	for one property per section of a struct schema,
 *	"x-words": NAME		for an "enum" of the words of a C enum.
 * So the published schema cannot say other than the program does.
 */
#ifndef ND_REPORT_SCHEMA_H
#define ND_REPORT_SCHEMA_H

#include <cjson/cJSON.h>

#include "src/core/error.h"

/* Fills the skeleton in place.  0, -EINVAL (a NAME nobody knows), -ENOMEM. */
int schema_fill(cJSON *skeleton, struct error *err);

#endif

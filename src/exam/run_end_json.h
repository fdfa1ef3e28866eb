/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One end of a run <-> JSON.  On the wire it is one object
 * (run_end_to_json); in a report, flows and cores stand elsewhere.
 */
#ifndef ND_EXAM_RUN_END_JSON_H
#define ND_EXAM_RUN_END_JSON_H

#include "src/exam/exam.h"

/* An end that was not seen is null.  The rest is all but flows and cores. */
cJSON *run_end_rest_to_json(const struct run_end *e);

cJSON *core_to_json(const struct core_load *c);
cJSON *cores_to_json(const struct core_load *cores, size_t n);

/* row_from_json, and quantities that cannot be become ND_INVALID. */
int checked_row_from_json(const struct field *fields, size_t nfields, const cJSON *obj,
			  struct arena *mem, void *row);

struct run_end_parts {
	const cJSON *end;	/* NULL or null: this end was not seen */
	const cJSON *cores, *flows;	/* arrays, NULL: none */
	const char *flows_side;		/* take the flows with this "side"; NULL: all */
};
/* After an error `out` owns nothing.  0, -EINVAL, -E2BIG, -ENOMEM. */
int run_end_parts_from_json(const struct run_end_parts *p, struct arena *mem, struct run_end *out,
			    struct error *err);

#endif

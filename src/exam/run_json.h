/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run <-> JSON, in the shape of a report's "runs" rows.  What can be
 * derived ("intervals", "cpu.*.busiest" ...) is written for readers and ignored
 * when read back.
 */
#ifndef ND_EXAM_RUN_JSON_H
#define ND_EXAM_RUN_JSON_H

#include "src/exam/exam.h"

cJSON *run_to_json(const struct run *r);
/*
 * The same in pieces, for who prints thousands of flows and need not have them all at once: all but
 * "flows", and row i of that, below run_flow_rows().
 */
cJSON *run_rest_to_json(const struct run *r);
size_t run_flow_rows(const struct run *r);
cJSON *run_flow_to_json(const struct run *r, size_t i);

/* out zeroed by the caller; after an error it owns nothing.  0, -EINVAL, -E2BIG, -ENOMEM. */
int run_from_json(const cJSON *obj, struct arena *mem, struct run *out, struct error *err);

#endif

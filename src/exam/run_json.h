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
/* out zeroed by the caller; after an error it owns nothing.  0, -EINVAL, -E2BIG, -ENOMEM. */
int run_from_json(const cJSON *obj, struct arena *mem, struct run *out, struct error *err);

#endif

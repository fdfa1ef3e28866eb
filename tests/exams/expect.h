/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a case of tests/exams expects, against what came out. */
#ifndef ND_TESTS_EXAMS_EXPECT_H
#define ND_TESTS_EXAMS_EXPECT_H

#include <cjson/cJSON.h>

#include "src/diagnose/engine.h"

/* Each prints "# ..." lines for what differs and returns their number. */
unsigned int expect_of_rule(const cJSON *expect, const struct rule_output *out);
unsigned int expect_of_diagnosis(const cJSON *expect, const struct diagnosis *d);
/* Of an untouched base exam: nothing above "low" but the ids in expect.above_low. */
unsigned int expect_of_base(const cJSON *expect, const struct diagnosis *d);

#endif

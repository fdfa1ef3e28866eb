/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building the ladder of an exam and looking at one rung. */
#ifndef ND_TESTS_UNIT_LADDER_TEST_H
#define ND_TESTS_UNIT_LADDER_TEST_H

#include <string.h>

#include "src/diagnose/engine.h"
#include "tests/unit/model_test.h"

/* Every test builds its exam, then looks at the ladder. */
static inline const struct ceiling *find(const struct exam *e, struct ladder *l,
					 enum run_direction d, enum ceiling_kind k,
					 enum side s)
{
	memset(l, 0, sizeof(*l));
	assert_int_equal(ladder_build(e, e->mem, l), 0);
	return ladder_find(l, d, k, s);
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A diagnosis by hand for the tests of reports and screens: build_hot_core_exam()
 * found limited by the peer's receiving core, with a second finding from the
 * configuration, rules ruled out and facts not seen.  What diagnose() would say
 * today is not asked: these tests are about how it is shown.
 */
#ifndef ND_TESTS_UNIT_REPORT_FIXTURE_H
#define ND_TESTS_UNIT_REPORT_FIXTURE_H

#include "src/diagnose/diagnosis.h"
#include "src/report/report.h"
#include "tests/unit/exam_builder.h"

/* Const to reports; a test may spoil it.  Free with fixture_free(). */
struct diagnosis *fixture_limited(const struct exam *e);
/* Healthy, both directions at the wire, no finding. */
struct diagnosis *fixture_healthy(const struct exam *e);
/* Nothing could be told: no direction measured, every ceiling unknown. */
struct diagnosis *fixture_blind(const struct exam *e);
/* Static rules of one host: one finding, some passed, one not seen. */
struct diagnosis *fixture_check(const struct exam *e);
void fixture_free(struct diagnosis *d);
/* Of fixture_limited(): s in all places that a machine, a peer or a report may fill. */
void fixture_say_everywhere(struct exam *e, struct diagnosis *d, const char *s);
/* Of the same: rates and shares that are none, infinite, negative. */
void fixture_spoil_numbers(struct diagnosis *d);

extern const struct report_options fixture_options;	/* 80 columns, UTF-8, no colour */

/*
 * Compares with tests/unit/golden/NAME; NETDOCTOR_BLESS=1 in the environment
 * writes it instead.  Fails the test with the first line that differs.
 */
void golden_check(const char *name, const char *text);
void golden_check_file(const char *path, const char *text);	/* below the top of the tree */
/* Shell escapes, other than the colours a report may use, are a failure. */
void assert_terminal_safe(const char *text);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `test` prints while it goes on and when it ends. */
#ifndef ND_CLI_TEST_OUTPUT_H
#define ND_CLI_TEST_OUTPUT_H

#include "src/cli/progress_line.h"
#include "src/cli/test_options.h"
#include "src/cli/test_stream.h"
#include "src/exam/conduct.h"

struct test_output {
	const struct test_settings *settings;
	const struct peer_target *target;
	struct progress_line line;
	struct test_stream stream;	/* JSON of either kind */
	bool json;
	int rc;				/* an exit code once printing has failed */
};

void test_output_init(struct test_output *o, const struct test_settings *s,
		      const struct peer_target *target);
void test_output_progress(struct test_output *o, const struct exam_progress *p);
/* One line on what is done otherwise than asked for. */
void test_output_remark(struct test_output *o, const char *text);
/* There was no test at all.  An exit code. */
int test_output_failed(struct test_output *o, const char *why);
/* The summary of what was measured.  An exit code. */
int test_output_end(struct test_output *o, const struct exam *e);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A test's JSON, printed as the test goes: one object whose parts follow one another, or
 * a line for each event.  What was printed is forgotten, so that a day of intervals takes
 * no memory.
 */
#ifndef ND_CLI_TEST_STREAM_H
#define ND_CLI_TEST_STREAM_H

#include "src/cli/test_options.h"
#include "src/exam/conduct.h"
#include "src/report/test_json.h"

struct test_stream {
	bool lines;		/* --json-stream */
	bool started;		/* "start" was printed */
	size_t intervals;
	struct test_json json;
	char system_info[512], cookie[PEER_COOKIE_BYTES];
	bool failed;		/* to print, or no memory: nothing more is */
};

void test_stream_init(struct test_stream *s, const struct test_settings *settings,
		      const struct peer_target *target);
void test_stream_progress(struct test_stream *s, const struct exam_progress *p);
/* The end, in any case a whole object; problem NULL: none.  0, or -1 when printing has failed. */
int test_stream_end(struct test_stream *s, const struct exam *e, const char *problem);

#endif

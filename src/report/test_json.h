/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A test as JSON, in the form of `iperf3 -J`: its keys, units and types, so that what
 * reads the one reads the other; what iperf3 has no keys for is under "netdoctor".
 * Pure.  Each part is made by itself, so that it can be printed when it is known and
 * then forgotten.  All return a new object, NULL: no memory.
 */
#ifndef ND_REPORT_TEST_JSON_H
#define ND_REPORT_TEST_JSON_H

#include "src/core/json.h"
#include "src/exam/beat.h"
#include "src/exam/exam.h"

struct test_json {
	const char *tool_version, *system_info;
	const char *host;		/* as the user wrote it */
	uint64_t port;
	uint64_t begun_ns;		/* wall clock, since the epoch */
	char begun_text[40];		/* the same, "Mon, 30 Nov 2026 13:16:45 GMT" */
	const char *cookie;		/* names the test; as iperf3's */
	/* As the user asked: the spec may say otherwise where the peer has limits. */
	uint64_t duration_ms;		/* 0: by amount */
	bool only_end;			/* no intervals: iperf3 then has one, of all */
	/* From the connections on; NULL before. */
	const struct exam *exam;
	const struct run_spec *spec;
};

/* flows NULL: it came to no connection. */
cJSON *test_json_start(const struct test_json *t, const struct flow_begin *flows);
/* peer NULL: its part has not come. */
cJSON *test_json_interval(const struct test_json *t, const struct beat *ours,
			  const struct beat *peer);
/* r NULL: nothing was measured, {}. */
cJSON *test_json_end(const struct test_json *t, const struct run *r);

#endif

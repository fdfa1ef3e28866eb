/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `test`: letters, units and defaults as iperf3's where it has them. */
#ifndef ND_CLI_TEST_OPTIONS_H
#define ND_CLI_TEST_OPTIONS_H

#include "src/cli/options.h"
#include "src/cli/peer_options.h"
#include "src/exam/plan.h"

struct test_settings {
	struct peer_settings peer;
	uint64_t time_ms, omit_ms, interval_ms, streams, block_bytes, window_bytes, mss_bytes;
	uint64_t total_bytes, total_blocks, pacing_bps, flow_label;
	const char *rate, *affinity, *tos, *congestion_control;
	bool reverse, bidirectional, udp, no_delay, send_file, zerocopy, discard_receive, gso, gro,
	     dont_fragment, server_output, latency;
	unsigned int format;
	bool json, json_stream, quiet, plain, tui;
	/* What test_options_check() makes of the texts. */
	uint64_t rate_bps, burst_blocks, client_cpu, server_cpu, tos_byte;
	bool rate_given;
};

/* Not on the command line. */
#define TEST_UNSET UINT64_MAX
#define TEST_USUAL_TIME_MS 10000

/* A table's row has a lowest value only, but 0 is none of time and another meaning of interval. */
#define TEST_TIME_WANT "want 0.1 to 86400 seconds"
#define TEST_INTERVAL_WANT "want 0.1 to 3600 seconds, or 0"

#define TEST_SETTINGS_DEFAULTS \
	{ .time_ms = TEST_UNSET, .interval_ms = 1000, .streams = 1, }

/* Reads the texts and refuses what makes no sense together.  0, or -1 after a complaint. */
int test_options_check(struct test_settings *s);
/* A plan of exactly one run. */
void test_options_plan(const struct test_settings *s, struct plan_wishes *out);

#endif

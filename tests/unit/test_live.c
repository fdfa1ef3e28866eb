/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/interval.h"
#include "src/exam/live.h"

static void there_and_back(void **state)
{
	struct core_load *cores = calloc(ND_MAX_CPUS, sizeof(*cores));
	struct end_interval iv = { .start_s = nd_f64(1.5), .seconds = nd_f64(0.1),
				   .bytes = nd_u64(1000000), .retransmits = nd_u64(3),
				   .link_rx_bytes = nd_u64(1100000), .cores = cores,
				   .ncores = ND_MAX_CPUS };
	struct end_live *live = calloc(2, sizeof(*live));

	(void)state;
	assert_non_null(cores);
	assert_non_null(live);
	for (size_t i = 0; i < ND_MAX_CPUS; i++)
		cores[i] = (struct core_load){ .cpu = nd_u64(i), .busy = nd_f64(0.5),
					       .softirq = nd_f64(i == 7 ? 7 : 0.25) };
	interval_live(&iv, &live[0]);
	assert_int_equal(live[0].ncores, LIVE_MAX_CORES);
	cJSON *o = live_to_json(&live[0]);
	assert_non_null(o);
	char *text = cJSON_PrintUnformatted(o);
	/* Ten times a second: it has to stay small. */
	assert_true(strlen(text) < 10000);
	assert_true(live_from_json(o, &live[1]));
	assert_int_equal(live[1].ncores, LIVE_MAX_CORES);
	assert_memory_equal(live[0].cores, live[1].cores, sizeof(live[0].cores));
	assert_int_equal(live[1].cores[511].cpu, 511);
	assert_int_equal(live[1].cores[3].softirq, LIVE_WHOLE / 4);
	assert_int_equal(live[1].cores[7].softirq, LIVE_WHOLE);
	assert_int_equal(live[1].cores[3].user, LIVE_UNKNOWN);
	assert_true(live[1].retransmits_ps.v > 29 && live[1].retransmits_ps.v < 31);
	assert_true(live[1].link_rx_bps.v > 87e6 && live[1].link_rx_bps.v < 89e6);
	assert_int_equal(live[1].link_tx_bps.k, ND_UNREAD);
	cJSON_free(text);
	cJSON_Delete(o);
	free(live);
	free(cores);
}

static void nonsense_of_a_peer(void **state)
{
	static const char *const cores[] = {
		"\"0003c8\"", "\"zz03c80000000000\"", "\"0400c80000000000\"",
		"\"0003c90000000000\"", "\"0003c8000000000-\"", "7", "[]", "null",
		"\"0003c80000000000 \"",
	};
	struct end_live *live = calloc(1, sizeof(*live));
	char text[256];

	(void)state;
	assert_non_null(live);
	for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
		snprintf(text, sizeof(text), "{\"start_s\":1,\"seconds\":0.1,\"rate_bps\":5,"
			 "\"link_rx_bps\":-1,\"link_tx_bps\":1e99,\"new\":{},\"cores\":%s}",
			 cores[i]);
		cJSON *o = cJSON_Parse(text);
		assert_non_null(o);
		/* The rest counts. */
		assert_true(live_from_json(o, live));
		assert_int_equal(live->ncores, 0);
		assert_int_equal(live->link_rx_bps.k, ND_UNREAD);
		assert_int_equal(live->link_tx_bps.k, ND_UNREAD);
		cJSON_Delete(o);
	}
	/* More cores than there is room for. */
	size_t n = (LIVE_MAX_CORES + 1) * 16;
	char *many = malloc(n + 1);
	assert_non_null(many);
	memset(many, '0', n);
	many[n] = '\0';
	cJSON *o = cJSON_Parse("{\"start_s\":1,\"seconds\":0.1,\"rate_bps\":5}");
	assert_non_null(cJSON_AddStringToObject(o, "cores", many));
	assert_true(live_from_json(o, live));
	assert_int_equal(live->ncores, 0);
	cJSON_Delete(o);
	free(many);
	free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(nonsense_of_a_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

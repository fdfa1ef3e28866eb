/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/interval.h"
#include "src/exam/live.h"
#include "src/exam/live_queues.h"

static void there_and_back(void **state)
{
	struct core_load *cores = calloc(ND_MAX_CPUS, sizeof(*cores));
	struct end_interval iv = { .start_s = nd_f64(1.5), .seconds = nd_f64(0.1),
				   .bytes = nd_u64(1000000),
				   .received_bytes = nd_u64(250000), .retransmits = nd_u64(3),
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
	/* A quarter of what it moved it took in. */
	assert_true(fabs(live[1].rate_bps - 80e6) < 1 && fabs(live[1].received_bps.v - 20e6) < 1);
	cJSON_free(text);
	cJSON_Delete(o);
	free(live);
	free(cores);
}

static void queues_there_and_back(void **state)
{
	struct end_live *live = calloc(2, sizeof(*live));

	(void)state;
	assert_non_null(live);
	live[0].nqueues = LIVE_MAX_QUEUES;
	for (uint16_t i = 0; i < LIVE_MAX_QUEUES; i++)
		live[0].queues[i] = (struct live_queue){ 4000000000U + i, i, 1000.0 * i };
	live[0].nworkers = LIVE_MAX_WORKERS;
	for (uint16_t i = 0; i < LIVE_MAX_WORKERS; i++)
		live[0].workers[i] = i % 2 ? i : (uint16_t)LIVE_NO_CPU;
	live[0].queues[0] = (struct live_queue){ LIVE_NO_IRQ, LIVE_NO_CPU, 1e300 };
	cJSON *o = live_to_json(&live[0]);
	assert_non_null(o);
	assert_true(live_from_json(o, &live[1]));
	assert_int_equal(live[1].nqueues, LIVE_MAX_QUEUES);
	assert_int_equal(live[1].queues[511].irq, 4000000511U);
	assert_int_equal(live[1].queues[511].cpu, 511);
	assert_true(live[1].queues[511].per_s > 510999 && live[1].queues[511].per_s < 511001);
	assert_true(live[1].queues[0].irq == LIVE_NO_IRQ && live[1].queues[0].cpu == LIVE_NO_CPU);
	assert_true(live[1].queues[0].per_s > 4e9);
	assert_int_equal(live[1].nworkers, LIVE_MAX_WORKERS);
	assert_memory_equal(live[0].workers, live[1].workers, sizeof(live[0].workers));
	cJSON_ReplaceItemInObjectCaseSensitive(o, "workers", cJSON_CreateString("0001fffe"));
	assert_true(live_from_json(o, &live[1]));
	assert_int_equal(live[1].nworkers, 0);
	cJSON_ReplaceItemInObjectCaseSensitive(o, "workers", cJSON_CreateString("000100"));
	assert_true(live_from_json(o, &live[1]));
	assert_int_equal(live[1].nworkers, 0);
	cJSON_Delete(o);
	free(live);
}

static void nonsense_queues(void **state)
{
	static const char *const queues[] = {
		"\"00000001000100000001 \"", "\"0000000104000000000a\"", "\"0000000g000100000001\"",
		"\"00\"", "[1]", "null", "5",
	};
	struct end_live *live = calloc(1, sizeof(*live));
	char text[256];

	(void)state;
	assert_non_null(live);
	for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
		snprintf(text, sizeof(text), "{\"start_s\":1,\"seconds\":0.1,\"rate_bps\":5,"
			 "\"queues\":%s}", queues[i]);
		cJSON *o = cJSON_Parse(text);
		assert_non_null(o);
		assert_true(live_from_json(o, live));
		assert_int_equal(live->nqueues, 0);
		cJSON_Delete(o);
	}
	free(live);
}

/* Interrupts of a vector on several CPUs are one number; not read: those of before. */
static void vectors(void **state)
{
	struct irq_sample before[] = {
		{ nd_u64(40), nd_u64(0), nd_u64(100) }, { nd_u64(40), nd_u64(1), nd_u64(0) },
		{ nd_u64(41), nd_u64(1), nd_u64(7) },
	};
	struct irq_sample after[] = {
		{ nd_u64(40), nd_u64(0), nd_u64(150) }, { nd_u64(40), nd_u64(1), nd_u64(200) },
		{ nd_u64(41), nd_u64(1), nd_u64(7) },
	};
	struct counters samples[] = {
		{ .clock = { nd_u64(1000000000) }, .irqs = before, .nirqs = 3 },
		{ .clock = { nd_u64(1500000000) }, .irqs = after, .nirqs = 3 },
		{ .clock = { nd_u64(1600000000) } },
	};
	struct softnet_sample packets = { .cpu = nd_u64(1), .processed = nd_u64(50) };
	struct counters step = { .clock = { nd_u64(100000000) }, .softnet = &packets,
				 .nsoftnet = 1 };
	struct end_live *live = calloc(1, sizeof(*live));
	struct live_queues *q = calloc(1, sizeof(*q));

	(void)state;
	assert_true(live && q);
	assert_int_equal(live_queues_add(q, &samples[2], &step), 0);
	live_queues_show(q, live);
	assert_int_equal(live->nqueues, 1);
	assert_true(live->queues[0].irq == LIVE_NO_IRQ && live->queues[0].cpu == 1);
	assert_true(live->queues[0].per_s > 499 && live->queues[0].per_s < 501);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		assert_int_equal(live_queues_add(q, &samples[i], &step), 0);
	live_queues_show(q, live);
	assert_int_equal(live->nqueues, 2);
	assert_true(live->queues[0].irq == 40 && live->queues[0].cpu == 1);
	assert_true(live->queues[0].per_s > 499 && live->queues[0].per_s < 501);
	assert_true(live->queues[1].irq == 41 && live->queues[1].cpu == LIVE_NO_CPU);
	assert_true(live->queues[1].per_s < 0.001);
	live_queues_free(q);
	free(q);
	free(live);
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
		cmocka_unit_test(queues_there_and_back),
		cmocka_unit_test(nonsense_queues),
		cmocka_unit_test(vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

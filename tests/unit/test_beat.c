/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beats: added up from steps, told to the other end, and brought together with its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/beat.h"

static void add_step(struct beat_maker *m, size_t nflows, uint64_t bytes)
{
	struct flow_sample *flows = calloc(nflows, sizeof(*flows));
	struct cpu_sample cpu = { .cpu = nd_u64(3), .user_us = nd_u64(10000),
				  .system_us = nd_u64(20000), .idle_us = nd_u64(70000) };
	struct counters step = { .clock.monotonic_ns = nd_u64(100000000), .flows = flows,
				 .nflows = nflows, .cpus = &cpu, .ncpus = 1 };

	assert_non_null(flows);
	for (size_t i = 0; i < nflows; i++)
		flows[i] = (struct flow_sample){
			.flow = nd_u64(i), .direction = nd_str(i % 2 ? "receive" : "send"),
			.bytes = nd_u64(bytes), .retransmits = nd_u64(2),
			.cwnd = nd_u64(10), .snd_mss = nd_u64(1448), .rtt_us = nd_u64(bytes),
		};
	assert_int_equal(beat_maker_add(m, &step), 0);
	free(flows);
}

static struct beat *beat_of(size_t nflows)
{
	struct beat_maker *m = beat_maker_new();
	struct beat *b = NULL;

	add_step(m, nflows, 1000);
	add_step(m, nflows, 500);
	assert_int_equal(beat_maker_take(m, &b), 0);
	assert_non_null(b);
	beat_maker_free(m);
	return b;
}

static void steps_add_up(void **state)
{
	struct beat_maker *m = beat_maker_new();
	struct beat *b = beat_of(4), *next;

	(void)state;
	assert_int_equal(b->nflows, 4);
	assert_int_equal(b->flows[0].bytes.v, 1500);
	assert_int_equal(b->flows[0].retransmits.v, 4);
	assert_int_equal(b->flows[0].rtt_us.v, 500);	/* a gauge: as at the end */
	assert_int_equal(b->flows[0].cwnd_bytes.v, 14480);
	assert_int_equal(b->sums[LOAD_SEND].bytes.v, 3000);
	assert_int_equal(b->sums[LOAD_SEND].flow.v, 2);
	assert_int_equal(b->sums[LOAD_RECEIVE].bytes.v, 3000);
	assert_true(b->seconds > 0.1999 && b->seconds < 0.2001);
	assert_int_equal(b->ncores, 1);
	assert_true(b->cores[0].busy.v > 0.299 && b->cores[0].busy.v < 0.301);
	beat_free(b);
	/* Nothing was added: there is no beat, and the next begins at 0. */
	assert_int_equal(beat_maker_take(m, &next), 0);
	assert_null(next);
	beat_maker_free(m);
}

static void told_and_read_back(void **state)
{
	struct beat *b = beat_of(3), *back;
	cJSON *o;

	(void)state;
	b->number = 7;
	b->start_s = 7;
	o = beat_to_json(b);
	back = beat_from_json(o);
	assert_non_null(back);
	assert_int_equal(back->number, 7);
	assert_int_equal(back->nflows, 3);
	assert_int_equal(back->flows[2].bytes.v, 1500);
	assert_string_equal(back->flows[1].direction.v, "receive");
	assert_int_equal(back->sums[LOAD_SEND].bytes.v, 3000);
	assert_int_equal(back->cores[0].cpu.v, 3);
	cJSON_Delete(o);
	beat_free(b);
	beat_free(back);
}

static void many_flows_are_told_as_sums(void **state)
{
	struct beat *b = beat_of(BEAT_MAX_FLOWS + 1), *back;
	cJSON *o = beat_to_json(b);

	(void)state;
	assert_false(cJSON_HasObjectItem(o, "flows"));
	back = beat_from_json(o);
	assert_non_null(back);
	assert_int_equal(back->nflows, 0);
	assert_int_equal(back->sums[LOAD_RECEIVE].bytes.v, BEAT_MAX_FLOWS / 2 * 1500);
	cJSON_Delete(o);
	beat_free(b);
	beat_free(back);
}

static void nonsense_is_refused(void **state)
{
	static const char *const texts[] = {
		"null", "[]", "{}", "{\"number\":-1,\"omitted\":false,\"start_s\":0,\"seconds\":1}",
		"{\"number\":1,\"omitted\":1,\"start_s\":0,\"seconds\":1}",
		"{\"number\":1,\"omitted\":false,\"start_s\":-4,\"seconds\":1}",
		"{\"number\":1,\"omitted\":false,\"start_s\":0,\"seconds\":1e300}",
		"{\"number\":1,\"omitted\":false,\"start_s\":0,\"seconds\":1,\"flows\":3}",
		"{\"number\":1,\"omitted\":false,\"start_s\":0,\"seconds\":1,\"flows\":[3]}",
		"{\"number\":1,\"omitted\":false,\"start_s\":0,\"seconds\":1,\"cores\":[[]]}",
		"{\"number\":1,\"omitted\":false,\"start_s\":0,\"seconds\":1,\"sent\":[]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cJSON *o = cJSON_Parse(texts[i]);
		assert_non_null(o);
		assert_null(beat_from_json(o));
		cJSON_Delete(o);
	}
}

static void endless_flows_are_refused(void **state)
{
	cJSON *o = cJSON_Parse("{\"number\":1,\"omitted\":false,\"start_s\":0,\"seconds\":1}");
	cJSON *flows = cJSON_AddArrayToObject(o, "flows");

	(void)state;
	for (int i = 0; i <= BEAT_MAX_FLOWS; i++)
		cJSON_AddItemToArray(flows, cJSON_CreateObject());
	assert_null(beat_from_json(o));
	cJSON_DeleteItemFromArray(flows, 0);
	struct beat *b = beat_from_json(o);
	assert_non_null(b);
	beat_free(b);
	cJSON_Delete(o);
}

static struct beat *numbered(uint64_t number, bool omitted)
{
	struct beat *b = beat_of(1);

	b->number = number;
	b->omitted = omitted;
	return b;
}

static void expect(struct beat_pairing *p, uint64_t now_ns, bool over, int ours, int theirs)
{
	struct beat *out[EXAM_ENDS];
	bool is = beat_pairing_next(p, now_ns, over, out);

	assert_int_equal(is, ours >= 0);
	if (!is)
		return;
	assert_int_equal(out[SIDE_LOCAL]->number, ours);
	assert_int_equal(out[SIDE_PEER] != NULL, theirs >= 0);
	if (theirs >= 0)
		assert_int_equal(out[SIDE_PEER]->number, theirs);
	beat_free(out[SIDE_LOCAL]);
	beat_free(out[SIDE_PEER]);
}

static void ends_are_paired(void **state)
{
	struct beat_pairing p = { .n = { 0 } };

	(void)state;
	expect(&p, 0, true, -1, -1);
	beat_pairing_add(&p, SIDE_LOCAL, numbered(0, true), 0);
	expect(&p, 0, false, -1, -1);				/* the peer's may still come */
	beat_pairing_add(&p, SIDE_PEER, numbered(0, true), 10);
	expect(&p, 10, false, 0, 0);
	/* The warm-up's are not the window's. */
	beat_pairing_add(&p, SIDE_LOCAL, numbered(0, false), 20);
	beat_pairing_add(&p, SIDE_PEER, numbered(1, true), 20);
	expect(&p, 20, false, -1, -1);
	expect(&p, 20 + BEAT_PATIENCE_NS, false, 0, -1);	/* late: not waited for */
	/* One that the peer left out. */
	beat_pairing_add(&p, SIDE_LOCAL, numbered(1, false), 30);
	beat_pairing_add(&p, SIDE_LOCAL, numbered(2, false), 30);
	beat_pairing_add(&p, SIDE_PEER, numbered(2, false), 30);
	expect(&p, 30, false, 1, -1);
	expect(&p, 30, false, 2, 2);
	beat_pairing_add(&p, SIDE_LOCAL, numbered(3, false), 40);
	expect(&p, 40, true, 3, -1);
	/* A peer that tells more than it was asked for takes no memory. */
	for (uint64_t i = 0; i < 3 * BEAT_QUEUE; i++)
		beat_pairing_add(&p, SIDE_PEER, numbered(i, false), 50);
	assert_int_equal(p.n[SIDE_PEER], BEAT_QUEUE);
	beat_pairing_clear(&p);
	assert_int_equal(p.n[SIDE_PEER], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_add_up),
		cmocka_unit_test(told_and_read_back),
		cmocka_unit_test(many_flows_are_told_as_sums),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(endless_flows_are_refused),
		cmocka_unit_test(ends_are_paired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

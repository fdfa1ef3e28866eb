/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many samples of a flow folded into one row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/flow_summary.h"

static struct counters *sample(void)
{
	struct counters *c = counters_new(0);

	assert_non_null(c);
	return c;
}

static struct flow_sample *add_flow(struct counters *c, uint64_t id, const char *direction)
{
	void *rows = c->flows;
	struct flow_sample *f = arena_append_row(c->mem, &rows, &c->nflows, sizeof(*f));

	assert_non_null(f);
	c->flows = rows;
	f->flow = nd_u64(id);
	f->direction = nd_str(direction);
	f->snd_mss = nd_u64(1448);
	return f;
}

static void fold(struct flow_folder *folder, struct counters *c)
{
	assert_int_equal(flow_folder_add(folder, c), 0);
	counters_free(c);	/* the folder must keep nothing of the sample */
}

static void counters_become_differences_and_gauges_means(void **state)
{
	struct flow_folder *folder = flow_folder_new();
	struct arena *mem = arena_new(0);
	struct flow_summary *rows;
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		struct counters *c = sample();
		struct flow_sample *f = add_flow(c, 7, "send");
		f->bytes = nd_u64(1000000 + i * 500000);
		f->retransmits = nd_u64(10 + i);
		f->rtt_us = nd_u64(100 + 100 * i);
		f->unacked = nd_u64(4 * i);
		f->cwnd = nd_u64(10);
		f->snd_wnd_bytes = nd_u64(i == 1 ? 50000 : 14480);
		f->notsent_bytes = nd_u64(i == 2 ? 5000 : 0);
		f->busy_us = nd_u64(i * 450000);
		f->ca_state = nd_u64(i == 1 ? 3 : 0);
		f->congestion_control = nd_str(arena_strdup(c->mem, "cubic"));
		fold(folder, c);
	}
	assert_int_equal(flow_folder_finish(folder, 1000000, mem, &rows, &n), 0);
	flow_folder_free(folder);
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].flow.v, 7);
	assert_int_equal(rows[0].samples.v, 3);
	assert_int_equal(rows[0].bytes.v, 1000000);
	assert_int_equal(rows[0].goodput_bps.v, 8000000);
	assert_int_equal(rows[0].retransmits.v, 2);
	assert_float_equal(rows[0].rtt_us.v, 200, 1e-3);
	assert_float_equal(rows[0].inflight_bytes.v, 4 * 1448, 1e-3);
	assert_float_equal(rows[0].cwnd_fill.v, 0.4, 1e-3);
	assert_int_equal(rows[0].snd_wnd_max_bytes.v, 50000);
	/* 0, (4 + 1) * 1448 of 50000, and (8 + 1) * 1448 of 14480. */
	assert_float_equal(rows[0].window_fill.v, (0 + 7240.0 / 50000 + 0.9) / 3, 1e-3);
	assert_float_equal(rows[0].notsent_empty_share.v, 2.0 / 3, 1e-3);
	assert_float_equal(rows[0].recovery_share.v, 1.0 / 3, 1e-3);
	assert_float_equal(rows[0].busy_share.v, 0.9, 1e-3);
	assert_string_equal(rows[0].congestion_control.v, "cubic");
	arena_free(mem);
}

static void datagrams_that_come_late_are_not_lost(void **state)
{
	/* The second flow's were skipped before the window and come in it. */
	static const uint64_t skipped[] = { 100, 100 + 20, 50, 50 + 1 }, late[] = { 40, 47, 3, 8 };
	struct flow_folder *folder = flow_folder_new();
	struct arena *mem = arena_new(0);
	struct flow_summary *rows;
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct counters *c = sample();

		for (uint64_t flow = 0; flow < 2; flow++) {
			struct flow_sample *f = add_flow(c, flow, "receive");

			f->packets = nd_u64(1000 + 500 * i);
			f->skipped = nd_u64(skipped[2 * flow + i]);
			f->out_of_order = nd_u64(late[2 * flow + i]);
			f->jitter_us = nd_u64(10 + 20 * i);
			f->socket_drops = nd_u64(4 * i);
			f->udp_gro = nd_bool(true);
		}
		fold(folder, c);
	}
	assert_int_equal(flow_folder_finish(folder, 1000000, mem, &rows, &n), 0);
	flow_folder_free(folder);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].packets.v, 500);
	assert_int_equal(rows[0].lost.v, 20 - 7);
	assert_int_equal(rows[0].out_of_order.v, 7);
	assert_int_equal(rows[0].socket_drops.v, 4);
	assert_float_equal(rows[0].jitter_us.v, 20, 1e-3);
	assert_true(nd_is_true(rows[0].udp_gro));
	assert_int_equal(rows[1].lost.k, ND_KNOWN);
	assert_int_equal(rows[1].lost.v, 0);
	assert_int_equal(flow_lost(nd_u64(1), nd_u64_unknown(ND_NOT_APPLICABLE)).k,
			 ND_NOT_APPLICABLE);
	arena_free(mem);
}

static void unknown_stays_unknown_with_its_reason(void **state)
{
	struct flow_folder *folder = flow_folder_new();
	struct arena *mem = arena_new(0);
	struct flow_summary *rows;
	size_t n;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct counters *c = sample();
		struct flow_sample *f = add_flow(c, 0, "receive");
		f->snd_wnd_bytes = nd_u64_unknown(ND_NOT_SUPPORTED);
		f->bytes = nd_u64(i ? 5 : 10);	/* backwards: void, not negative */
		f->retransmits = nd_u64_unknown(ND_NOT_SUPPORTED);
		f->busy_us = nd_u64_unknown(ND_NOT_PERMITTED);
		fold(folder, c);
	}
	assert_int_equal(flow_folder_finish(folder, 1000000, mem, &rows, &n), 0);
	flow_folder_free(folder);
	assert_string_equal(rows[0].direction.v, "receive");
	assert_int_equal(rows[0].bytes.k, ND_RESET);
	assert_int_equal(rows[0].goodput_bps.k, ND_UNREAD);
	assert_int_equal(rows[0].retransmits.k, ND_NOT_SUPPORTED);
	assert_int_equal(rows[0].snd_wnd_bytes.k, ND_NOT_SUPPORTED);
	assert_int_equal(rows[0].snd_wnd_max_bytes.k, ND_NOT_SUPPORTED);
	assert_int_equal(rows[0].busy_share.k, ND_NOT_PERMITTED);
	assert_int_equal(rows[0].rtt_us.k, ND_UNREAD);
	arena_free(mem);
}

static void flows_are_told_apart(void **state)
{
	struct flow_folder *folder = flow_folder_new();
	struct arena *mem = arena_new(0);
	struct flow_summary *rows;
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct counters *c = sample();
		/* In another order the second time. */
		for (uint64_t k = 0; k < 3; k++) {
			uint64_t id = i ? 2 - k : k;
			add_flow(c, id, "send")->bytes = nd_u64(i * (id + 1) * 100);
		}
		fold(folder, c);
	}
	assert_int_equal(flow_folder_finish(folder, 1000000, mem, &rows, &n), 0);
	flow_folder_free(folder);
	assert_int_equal(n, 3);
	for (uint64_t id = 0; id < 3; id++) {
		assert_int_equal(rows[id].flow.v, id);
		assert_int_equal(rows[id].bytes.v, (id + 1) * 100);
	}
	arena_free(mem);
}

static void no_samples_no_rows(void **state)
{
	struct flow_folder *folder = flow_folder_new();
	struct arena *mem = arena_new(0);
	struct flow_summary *rows;
	size_t n = 9;

	(void)state;
	assert_int_equal(flow_folder_finish(folder, 0, mem, &rows, &n), 0);
	assert_int_equal(n, 0);
	assert_null(rows);
	flow_folder_free(folder);
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_become_differences_and_gauges_means),
		cmocka_unit_test(datagrams_that_come_late_are_not_lost),
		cmocka_unit_test(unknown_stays_unknown_with_its_reason),
		cmocka_unit_test(flows_are_told_apart),
		cmocka_unit_test(no_samples_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

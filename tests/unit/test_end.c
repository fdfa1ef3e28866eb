/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both ends of a real run over loopback sockets, without a session between them. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "src/exam/conduct.h"
#include "src/exam/end.h"
#include "probes/probe.h"

#define FLOWS 3

static int tcp_pair(int fds[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(l, (void *)&a, sizeof(a)) || listen(l, 1) || getsockname(l, (void *)&a, &len))
		return -1;
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fds[0], (void *)&a, sizeof(a)))
		return -1;
	fds[1] = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	close(l);
	return fds[1] < 0 ? -1 : 0;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

struct rig { struct facts *facts; struct end *tx, *rx; struct run_spec spec; };

static void rig_start(struct rig *r, uint64_t warmup_ms, uint64_t window_ms)
{
	int tx[FLOWS], rx[FLOWS];
	struct probe_context ctx = { .peer_address = "127.0.0.1" };
	struct error err = { "" };

	memset(r, 0, sizeof(*r));
	r->spec = (struct run_spec){ .streams = FLOWS, .block_bytes = 65536, .warmup_ms = warmup_ms,
				     .window_ms = window_ms };
	assert_int_equal(exam_read_host(&ctx, &r->facts, &err), 0);
	for (int i = 0; i < FLOWS; i++) {
		int pair[2] = { -1, -1 };
		assert_int_equal(tcp_pair(pair), 0);
		tx[i] = pair[0];
		rx[i] = pair[1];
	}
	struct run_window w = { .from_ns = now_ns() + warmup_ms * 1000000ULL };
	w.to_ns = w.from_ns + window_ms * 1000000ULL;
	w.stop_ns = w.to_ns + 50000000ULL;
	struct end_config c = { .spec = &r->spec, .role = LOAD_RECEIVE, .fds = rx, .window = w,
				.facts = r->facts };
	assert_int_equal(end_start(&c, &r->rx, &err), 0);
	c.role = LOAD_SEND;
	c.fds = tx;
	assert_int_equal(end_start(&c, &r->tx, &err), 0);
}

static void both_ends_agree(void **state)
{
	struct rig r;
	struct run_end tx, rx;
	struct arena *mem = arena_new(0);
	struct end_live live;
	bool fresh, seen = false;

	(void)state;
	rig_start(&r, 200, 600);
	while (end_wait(r.tx, 300, &live, &fresh))
		seen |= fresh && live.rate_bps > 0;
	assert_true(seen);
	assert_int_equal(end_finish(r.tx, mem, &tx), 0);
	assert_int_equal(end_finish(r.rx, mem, &rx), 0);
	assert_true(tx.present && rx.present);
	assert_int_equal(tx.nflows, FLOWS);
	assert_int_equal(rx.nflows, FLOWS);
	assert_true(nd_str_is(tx.flows[0].direction, "send"));
	assert_true(nd_str_is(rx.flows[0].direction, "receive"));
	/* The same window seen by two threads: they differ by what is in the buffers. */
	assert_true(rx.bytes.k == ND_KNOWN && rx.bytes.v > 1000000);
	double ratio = (double)tx.bytes.v / (double)rx.bytes.v;
	assert_true(ratio > 0.5 && ratio < 2.0);
	assert_true(rx.window_ns.v > 500000000ULL && rx.window_ns.v < 2000000000ULL);
	assert_in_range(rx.nintervals, 3, 8);
	assert_true(rx.intervals[0].start_s.v > -0.2 && rx.intervals[0].start_s.v < 0.2);
	uint64_t sum = 0;
	for (size_t i = 0; i < rx.nintervals; i++)
		sum += rx.intervals[i].bytes.v;
	assert_true((double)sum > 0.7 * (double)rx.bytes.v && sum <= rx.bytes.v);
	assert_true(rx.ncores > 0 && rx.cores[0].busy.k == ND_KNOWN && rx.cores[0].busy.v <= 1.0);
	assert_true(tx.flows[0].snd_mss.k == ND_KNOWN && tx.flows[0].snd_mss.v > 500);
	assert_int_equal(tx.window->nflows, 0);
	assert_true(tx.window->nworkers > 0);
	assert_int_equal(tx.broken_flows.v, 0);
	counters_free(tx.window);
	counters_free(rx.window);
	arena_free(mem);
	facts_free(r.facts);
}

/* Waiting whether there is more is no part of the time that an iperf3 client is told. */
static void settling_takes_no_time_of_the_test(void **state)
{
	struct rig r;
	struct peer_results said = { 0 };
	uint64_t begun = now_ns(), quiet_ns = 500000000ULL;
	struct end_live live;
	bool fresh;

	(void)state;
	rig_start(&r, 0, 300);
	struct run_end tx, rx;
	struct arena *mem = arena_new(0);
	while (end_wait(r.rx, 300, &live, &fresh))
		;
	end_quiesce(r.rx);
	end_quiesce(r.tx);
	end_settle(r.rx, (unsigned int)(quiet_ns / 1000000), 20000);
	end_stop(r.rx);
	uint64_t elapsed = now_ns() - begun;
	assert_int_equal(end_results(r.rx, &said), 0);
	assert_true(said.flows[0].seconds > 0.2);
	assert_true(said.flows[0].seconds * 1e9 <= (double)(elapsed - quiet_ns));
	peer_results_free(&said);
	assert_int_equal(end_finish(r.rx, mem, &rx), 0);
	assert_int_equal(end_finish(r.tx, mem, &tx), 0);
	counters_free(tx.window);
	counters_free(rx.window);
	arena_free(mem);
	facts_free(r.facts);
}

static void cancel_keeps_what_was_sampled(void **state)
{
	struct rig r;
	struct run_end tx, rx;
	struct arena *mem = arena_new(0);
	struct end_live live;
	bool fresh;

	(void)state;
	rig_start(&r, 0, 60000);
	uint64_t begun = now_ns();
	while (end_wait(r.rx, 50, &live, &fresh) && now_ns() - begun < 400000000ULL)
		;
	end_cancel(r.rx);
	end_cancel(r.tx);
	assert_int_equal(end_finish(r.rx, mem, &rx), 0);
	assert_int_equal(end_finish(r.tx, mem, &tx), 0);
	assert_true(now_ns() - begun < 5000000000ULL);
	assert_true(rx.present && rx.window_ns.v > 100000000ULL);
	counters_free(tx.window);
	counters_free(rx.window);
	arena_free(mem);
	facts_free(r.facts);
}

/* A server that was stopped: its connections end, ours notices and keeps what was before. */
static void lost_connections_end_the_window(void **state)
{
	struct rig r;
	struct run_end tx, rx;
	struct arena *mem = arena_new(0);
	struct end_live live;
	bool fresh;

	(void)state;
	rig_start(&r, 0, 60000);
	uint64_t begun = now_ns();
	while (end_wait(r.rx, 50, &live, &fresh) && now_ns() - begun < 600000000ULL)
		;
	end_cancel(r.tx);
	assert_int_equal(end_finish(r.tx, mem, &tx), 0);
	uint64_t closed = now_ns();
	while (end_wait(r.rx, 1000, &live, &fresh))
		assert_true(now_ns() - closed < 10000000000ULL);
	end_stop(r.rx);
	assert_int_equal(end_finish(r.rx, mem, &rx), 0);
	assert_true(rx.present);
	assert_in_range(rx.broken_flows.v, 1, FLOWS);
	assert_non_null(strstr(rx.problem.v, " of 3 connections ended early: closed by the other"));
	assert_true(rx.window_ns.v > 100000000ULL && rx.window_ns.v <= closed - begun);
	assert_int_equal(tx.broken_flows.v, 0);
	counters_free(tx.window);
	counters_free(rx.window);
	arena_free(mem);
	facts_free(r.facts);
}

/* Sends by hand for 0.5 s and then no more, without a word. */
static void silence_is_cut_off(bool cancel, uint64_t window_ms, struct run_end *rx,
			       uint64_t *elapsed_ns)
{
	struct probe_context ctx = { .peer_address = "127.0.0.1" };
	struct run_spec spec = { .streams = 1, .block_bytes = 65536, .window_ms = window_ms };
	struct end_config c = { .spec = &spec, .role = LOAD_RECEIVE };
	struct facts *facts = NULL;
	struct end *end = NULL;
	struct error err = { "" };
	struct end_live live;
	int pair[2] = { -1, -1 };
	char block[1000] = { 0 };
	uint64_t begun;
	struct arena *mem = arena_new(0);
	bool fresh;

	assert_int_equal(exam_read_host(&ctx, &facts, &err), 0);
	assert_int_equal(tcp_pair(pair), 0);
	c.fds = &pair[1];
	c.facts = facts;
	begun = c.window.from_ns = now_ns();
	c.window.to_ns = begun + window_ms * 1000000ULL;
	c.window.stop_ns = c.window.to_ns + 50000000ULL;
	assert_int_equal(end_start(&c, &end, &err), 0);
	while (now_ns() - begun < 500000000ULL) {
		assert_int_equal(send(pair[0], block, sizeof(block), MSG_NOSIGNAL), sizeof(block));
		end_wait(end, 20, &live, &fresh);
	}
	while (now_ns() - begun < 1500000000ULL && end_wait(end, 50, &live, &fresh))
		;
	if (cancel)
		end_cancel(end);
	*elapsed_ns = now_ns() - begun;
	assert_int_equal(end_finish(end, mem, rx), 0);
	close(pair[0]);
	counters_free(rx->window);
	facts_free(facts);
	arena_free(mem);
}

static void a_vanished_peer_costs_no_rate(void **state)
{
	struct run_end rx;
	uint64_t elapsed;

	(void)state;
	silence_is_cut_off(true, 60000, &rx, &elapsed);
	assert_true(rx.present);
	assert_true(rx.window_ns.v > 200000000ULL && rx.window_ns.v < elapsed - 400000000ULL);
	/* Known only after the window was over. */
	silence_is_cut_off(true, 1200, &rx, &elapsed);
	assert_true(rx.present);
	assert_true(rx.window_ns.v > 200000000ULL && rx.window_ns.v < 1000000000ULL);
	/* When all went well a standstill is a result like any other. */
	silence_is_cut_off(false, 1200, &rx, &elapsed);
	assert_true(rx.present);
	assert_true(rx.window_ns.v > 1100000000ULL);
}

static void cancel_in_warm_up_is_no_result(void **state)
{
	struct rig r;
	struct run_end tx, rx;
	struct arena *mem = arena_new(0);

	(void)state;
	rig_start(&r, 60000, 1000);
	end_cancel(r.rx);
	end_cancel(r.tx);
	assert_int_equal(end_finish(r.rx, mem, &rx), 0);
	assert_int_equal(end_finish(r.tx, mem, &tx), 0);
	assert_false(rx.present);
	assert_int_equal(rx.problem.k, ND_KNOWN);
	assert_null(rx.window);
	arena_free(mem);
	facts_free(r.facts);
}

static void udp_pair(int fds[2])
{
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in a = { .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		fds[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		assert_int_equal(bind(fds[i], (void *)&a, sizeof(a)), 0);
	}
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in a;
		socklen_t len = sizeof(a);
		assert_int_equal(getsockname(fds[!i], (void *)&a, &len), 0);
		assert_int_equal(connect(fds[i], (void *)&a, sizeof(a)), 0);
	}
}

/* Its window was to begin 2 s ago; the sender's begins later, after a warm-up that counts not. */
static void a_receiver_that_begins_late_counts_by_marks(void **state)
{
	struct rig r = { .spec = { .protocol = RUN_UDP, .streams = 1, .block_bytes = 1000,
				   .rate_bps = 8000000, .warmup_ms = 300, .window_ms = 600,
				   .udp_marks = true } };
	struct probe_context ctx = { .peer_address = "127.0.0.1" };
	struct run_end tx, rx;
	struct arena *mem = arena_new(0);
	struct error err = { "" };
	struct end_live live;
	bool fresh;
	int pair[2] = { -1, -1 };
	uint64_t now;

	(void)state;
	assert_int_equal(exam_read_host(&ctx, &r.facts, &err), 0);
	udp_pair(pair);
	now = now_ns();
	struct end_config c = { .spec = &r.spec, .role = LOAD_RECEIVE, .fds = &pair[1],
				.facts = r.facts };
	c.window.from_ns = now - 2000000000ULL;
	c.window.to_ns = now + 1000000000ULL;
	c.window.stop_ns = c.window.to_ns + 50000000ULL;
	assert_int_equal(end_start(&c, &r.rx, &err), 0);
	c.role = LOAD_SEND;
	c.fds = &pair[0];
	c.window.from_ns = now + 300000000ULL;
	c.window.to_ns = now + 900000000ULL;
	c.window.stop_ns = c.window.to_ns + 200000000ULL;
	assert_int_equal(end_start(&c, &r.tx, &err), 0);
	while (end_wait(r.tx, 300, &live, &fresh))
		;
	while (end_wait(r.rx, 300, &live, &fresh))
		;
	assert_int_equal(end_finish(r.tx, mem, &tx), 0);
	assert_int_equal(end_finish(r.rx, mem, &rx), 0);
	assert_true(tx.marked_ns.k == ND_KNOWN && rx.marked_ns.k == ND_KNOWN);
	assert_true(rx.window_ns.v < 2900000000ULL);
	assert_true(tx.bytes.v > 0);
	assert_true(nd_u64_is(tx.bytes, (rx.flows[0].packets.v + rx.flows[0].lost.v) * 1000));
	assert_true(nd_u64_is(rx.bytes, rx.flows[0].packets.v * 1000));
	counters_free(tx.window);
	counters_free(rx.window);
	arena_free(mem);
	facts_free(r.facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_agree),
		cmocka_unit_test(settling_takes_no_time_of_the_test),
		cmocka_unit_test(cancel_keeps_what_was_sampled),
		cmocka_unit_test(lost_connections_end_the_window),
		cmocka_unit_test(a_vanished_peer_costs_no_rate),
		cmocka_unit_test(cancel_in_warm_up_is_no_result),
		cmocka_unit_test(a_receiver_that_begins_late_counts_by_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What flows carry and how: amounts, rates, both directions, send paths, placement. */
#include "src/load/load.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/load/flow.h"
#include "tests/unit/load_pairs.h"

static bool done(const struct load *l)
{
	for (int i = 0; i < 2000 && !load_done(l); i++)
		pause_ms(5);
	return load_done(l);
}

static void amount_is_exact(size_t n, const struct run_spec *spec, uint64_t total)
{
	struct counters *a, *b;
	struct pairs p;
	struct ends e;
	int err;

	connect_pairs(&p, n, spec);
	e = start_ends(&p, spec);
	assert_true(done(e.sender));
	assert_false(load_done(e.receiver));
	assert_int_equal(load_bytes(e.sender), total);
	assert_true(reaches(e.receiver, total));
	a = sample(e.sender);
	pause_ms(30);
	b = sample(e.sender);
	for (size_t i = 0; i < b->nflows; i++)	/* who is done waits for nothing */
		assert_int_equal(b->flows[i].blocked_us.v, a->flows[i].blocked_us.v);
	for (size_t i = 0; i < b->nworkers; i++)
		assert_true(b->workers[i].cpu_us.v - a->workers[i].cpu_us.v < 20000);
	counters_free(a);
	counters_free(b);
	assert_int_equal(load_bytes(e.receiver), total);
	assert_int_equal(load_broken_flows(e.sender, &err), 0);
	stop_ends(&e);
}

static void test_amounts(void **state)
{
	static const enum run_send_path paths[] = {
		RUN_SEND_COPY, RUN_SEND_FILE, RUN_SEND_ZEROCOPY
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct run_spec s = load_plain;

		s.send_path = paths[i];
		s.total_bytes = 20000001;
		amount_is_exact(1, &s, 20000001);
		amount_is_exact(5, &s, 20000001);
		s.total_bytes = 3;	/* less than a byte for each flow */
		amount_is_exact(4, &s, 3);
		s.total_bytes = 0;
		s.total_blocks = 7;
		s.block_bytes = 1001;
		amount_is_exact(3, &s, 7007);
	}
}

/* What moves in a warm-up is none of the amount, and the end of one comes with the bytes. */
static void test_amount_after_a_warmup(void **state)
{
	struct run_spec s = load_plain;
	struct load *tx, *rx;
	struct error err;
	struct pairs p;
	int first;

	(void)state;
	s.warmup_ms = 1000;
	s.total_bytes = 20000001;
	connect_pairs(&p, 3, &s);
	struct load_config c = { .spec = &s, .role = LOAD_RECEIVE, .fds = p.server, .n = 3,
				 .end_closes = true };
	assert_int_equal(load_create(&c, &rx, &err), 0);
	c.role = LOAD_SEND;
	c.fds = p.client;
	assert_int_equal(load_create(&c, &tx, &err), 0);
	assert_int_equal(load_start(rx, &err), 0);
	assert_int_equal(load_start(tx, &err), 0);
	assert_true(reaches(rx, 30000000));
	assert_false(load_done(tx));
	assert_int_equal(load_open_receivers(rx), 3);
	uint64_t before = load_bytes(tx);
	load_begin_amount(tx, before);
	assert_true(done(tx));
	for (int i = 0; i < 2000 && load_open_receivers(rx); i++)
		pause_ms(5);
	assert_int_equal(load_open_receivers(rx), 0);
	assert_int_equal(load_bytes(tx), before + s.total_bytes);
	assert_int_equal(load_bytes_of(rx, LOAD_RECEIVE), before + s.total_bytes);
	assert_int_equal(load_bytes_of(rx, LOAD_SEND), 0);
	assert_int_equal(load_broken_flows(rx, &first), 0);
	assert_int_equal(load_broken_flows(tx, &first), 0);
	load_stop(tx);
	load_stop(rx);
}

static void test_amount_begins_late(void **state)
{
	struct run_spec s = { .block_bytes = 1000, .warmup_ms = 1, .total_bytes = 5000 };
	struct amount a;

	(void)state;
	amount_open(&a, &s, 2);
	assert_false(amount_counts(&a));
	assert_int_equal(amount_take_some(&a, 70000), 70000);
	amount_begin(&a, 69000);	/* of what was taken 1000 were in hand */
	assert_true(amount_counts(&a));
	assert_int_equal(a.goal, 74000);
	assert_int_equal(amount_take_some(&a, 4500), 4000);
	assert_int_equal(amount_take(&a, 1000), 0);
	amount_open(&a, &s, 2);
	assert_int_equal(amount_take_some(&a, 70000), 70000);
	amount_begin(&a, 1000);		/* all of it, and more */
	assert_int_equal(a.goal, 70000);
	assert_int_equal(amount_take(&a, 1000), 0);
	s.total_bytes = UINT64_MAX;
	amount_open(&a, &s, 2);
	assert_int_equal(amount_take_some(&a, 1000), 1000);
	amount_begin(&a, 500);
	assert_true(a.goal > UINT64_MAX / 8 && amount_take(&a, 1000) > 0);
}

static void test_no_amount_is_never_done(void **state)
{
	struct pairs p;
	struct ends e;

	(void)state;
	connect_pairs(&p, 1, &load_plain);
	e = start_ends(&p, &load_plain);
	assert_true(reaches(e.receiver, 1000000));
	assert_false(load_done(e.sender));
	load_quiesce(e.sender);
	pause_ms(20);
	assert_false(load_done(e.sender));
	stop_ends(&e);
}

/* A flow that nobody reads from holds at most a share; the others do not wait for it. */
static void test_amount_with_a_stuck_flow(void **state)
{
	struct run_spec s = load_plain;
	struct load *sender, *receiver;
	struct error err;
	struct pairs p;

	(void)state;
	s.total_bytes = 200000000;
	connect_pairs(&p, 3, &s);
	assert_int_equal(create_load(&s, LOAD_RECEIVE, p.server, 2, &receiver, &err), 0);
	assert_int_equal(create_load(&s, LOAD_SEND, p.client, 3, &sender, &err), 0);
	assert_int_equal(load_start(receiver, &err), 0);
	assert_int_equal(load_start(sender, &err), 0);
	for (int i = 0; i < 2000 && load_bytes(sender) < s.total_bytes - (8 << 20); i++)
		pause_ms(5);
	assert_true(load_bytes(sender) >= s.total_bytes - (8 << 20));
	load_stop(sender);
	load_stop(receiver);
	close(p.server[2]);
}

static void test_amount_of_a_spec(void **state)
{
	struct run_spec s = { .block_bytes = 1000 };
	struct amount a;
	uint64_t sum = 0, share;

	(void)state;
	assert_int_equal(amount_of(&s), 0);
	s.total_bytes = 12345;
	assert_int_equal(amount_of(&s), 12345);
	s.total_blocks = 5;		/* the smaller of both */
	assert_int_equal(amount_of(&s), 5000);
	s.total_blocks = UINT64_MAX;
	s.total_bytes = 0;
	assert_true(amount_of(&s) == UINT64_MAX);
	s.total_blocks = 0;
	s.total_bytes = 10000001;
	amount_open(&a, &s, 4);
	for (uint64_t left = s.total_bytes; (share = amount_take(&a, 1000)) > 0; left -= share) {
		assert_true(share % 1000 == 0 || share == left);
		assert_true(share <= 1024 * 1024);
		sum += share;
	}
	assert_int_equal(sum, s.total_bytes);
	amount_return(&a, 17);
	assert_int_equal(amount_take(&a, 1000), 17);
	assert_int_equal(amount_take(&a, 1000), 0);
}

/* The rate follows from the bytes, whenever we happen to look. */
static void test_pace(void **state)
{
	const uint64_t second = 1000000000;
	struct pace p;
	uint64_t sent = 0, now = 5 * second, step = 1;

	(void)state;
	pace_open(&p, 8000000, 1000, now);	/* a byte a microsecond */
	while (now < 6 * second) {
		uint64_t n;

		while ((n = pace_grant(&p, 700, now)) > 0) {
			assert_true(n <= 700);
			pace_spend(&p, n);
			sent += n;
		}
		assert_true(p.due_ns > (double)now);
		step = step * 7 % 1999993 + 1;	/* wakes at odd times, up to 2 ms late */
		now += step;
	}
	assert_in_range(sent, 995000, 1004000);
	/* Held up for ten seconds it makes up for a tenth of one. */
	now += 10 * second;
	for (uint64_t n; (n = pace_grant(&p, 1000, now)) > 0; sent += n)
		pace_spend(&p, n);
	assert_in_range(sent, 995000 + 99000, 1004000 + 102000);
	/* The fastest and the slowest rate of a spec. */
	pace_open(&p, UINT64_C(10000000000000), 1 << 20, 0);
	assert_int_equal(pace_grant(&p, 1 << 20, 0), 1 << 20);
	pace_spend(&p, 1 << 20);
	assert_true(p.due_ns > 800 && p.due_ns < 900);
	pace_open(&p, 8000, 1, 0);
	pace_spend(&p, pace_grant(&p, 1, 0));
	assert_int_equal(pace_grant(&p, 1, 999999), 0);
	assert_int_equal(pace_grant(&p, 1, 1000001), 1);
}

static void rate_is_kept(uint64_t bps, size_t n, uint64_t block, uint64_t burst)
{
	struct run_spec s = load_plain;
	uint64_t began, bytes, us, want;
	struct counters *a, *b;
	struct pairs p;
	struct ends e;

	s.rate_bps = bps;
	s.block_bytes = block;
	s.burst_blocks = burst;
	connect_pairs(&p, n, &s);
	e = start_ends(&p, &s);
	pause_ms(100);
	a = sample(e.sender);
	began = now_us();
	bytes = load_bytes(e.sender);
	pause_ms(500);
	bytes = load_bytes(e.sender) - bytes;
	us = now_us() - began;
	b = sample(e.sender);
	want = us * bps / 8000000 * n;
	/* Never more than a burst above; below, a machine that has no time for us decides. */
	assert_true(bytes <= want + want / 50 + n * (burst + 1) * block);
	assert_true(bytes >= want / 3);
	for (size_t i = 0; bps < 100000000 && i < b->nworkers; i++)
		assert_true(b->workers[i].cpu_us.v - a->workers[i].cpu_us.v < us / 4);
	counters_free(a);
	counters_free(b);
	stop_ends(&e);
}

static void test_rates(void **state)
{
	(void)state;
	rate_is_kept(1000000, 1, 128 * 1024, 0);
	rate_is_kept(10000000, 3, 128 * 1024, 0);
	rate_is_kept(10000000, 1, 1000, 5);
	rate_is_kept(200000000, 2, 64 * 1024, 0);
}

static void test_rate_with_an_amount(void **state)
{
	struct run_spec s = load_plain;
	uint64_t began = now_us();

	(void)state;
	s.rate_bps = 40000000;
	s.total_bytes = 1000000;
	amount_is_exact(1, &s, 1000000);
	assert_true(now_us() - began > 150000);	/* 200 ms at that rate */
}

static void test_both_directions(void **state)
{
	struct run_spec s = load_plain;
	struct counters *a, *b;
	struct pairs p;
	struct ends e;
	int err;

	(void)state;
	s.bidirectional = true;
	s.streams = 3;
	connect_pairs(&p, 6, &s);
	e = start_ends(&p, &s);
	assert_true(reaches(e.sender, 20000000));
	assert_true(reaches(e.receiver, 20000000));
	load_quiesce(e.sender);
	load_quiesce(e.receiver);
	settled_bytes(e.receiver);
	assert_int_equal(settled_bytes(e.sender), load_bytes(e.receiver));
	a = sample(e.sender);
	b = sample(e.receiver);
	for (size_t i = 0; i < 6; i++) {
		assert_true(nd_str_is(a->flows[i].direction, i < 3 ? "send" : "receive"));
		assert_true(nd_str_is(b->flows[i].direction, i < 3 ? "receive" : "send"));
		assert_true(a->flows[i].bytes.v > 0);
		assert_int_equal(a->flows[i].bytes.v, b->flows[i].bytes.v);
	}
	counters_free(a);
	counters_free(b);
	assert_int_equal(load_broken_flows(e.sender, &err), 0);
	stop_ends(&e);
}

static void amount_both_ways(enum run_send_path path)
{
	struct run_spec s = load_plain;
	struct pairs p;
	struct ends e;

	s.bidirectional = true;
	s.streams = 2;
	s.total_bytes = 5000001;
	s.send_path = path;
	connect_pairs(&p, 4, &s);
	e = start_ends(&p, &s);
	assert_true(done(e.sender));
	assert_true(done(e.receiver));
	assert_true(reaches(e.sender, 2 * s.total_bytes));
	assert_true(reaches(e.receiver, 2 * s.total_bytes));
	assert_int_equal(load_bytes(e.sender), 2 * s.total_bytes);
	assert_int_equal(load_bytes(e.receiver), 2 * s.total_bytes);
	stop_ends(&e);
}

static void test_amounts_both_ways(void **state)
{
	(void)state;
	amount_both_ways(RUN_SEND_COPY);
	amount_both_ways(RUN_SEND_FILE);
	amount_both_ways(RUN_SEND_ZEROCOPY);
}

static void test_file_holds_the_pattern(void **state)
{
	unsigned char got[2][5000];
	struct run_spec s = load_plain;
	struct error err;

	(void)state;
	s.block_bytes = sizeof(got[0]);
	for (int i = 0; i < 2; i++) {
		struct load *l;
		struct pairs p;

		s.send_path = i ? RUN_SEND_FILE : RUN_SEND_COPY;
		connect_pairs(&p, 1, &s);
		assert_int_equal(create_load(&s, LOAD_SEND, p.client, 1, &l, &err), 0);
		assert_int_equal(load_start(l, &err), 0);
		assert_int_equal(recv(p.server[0], got[i], sizeof(got[i]), MSG_WAITALL),
				 sizeof(got[i]));
		load_stop(l);
		close(p.server[0]);
	}
	assert_memory_equal(got[0], got[1], sizeof(got[0]));
}

static void test_zerocopy_is_counted(void **state)
{
	struct run_spec s = load_plain;
	struct counters *c;
	struct pairs p;
	struct ends e;

	(void)state;
	s.send_path = RUN_SEND_ZEROCOPY;
	s.total_bytes = 10000000;
	connect_pairs(&p, 2, &s);
	e = start_ends(&p, &s);
	assert_true(done(e.sender));
	assert_true(reaches(e.receiver, s.total_bytes));
	/* Loopback cannot do without a copy, and says so when it reports the last send. */
	for (int i = 0; ; i++) {
		c = sample(e.sender);
		if (i == 200 || (c->flows[0].zerocopy_copied.v == c->flows[0].zerocopy_sends.v &&
				 c->flows[1].zerocopy_copied.v == c->flows[1].zerocopy_sends.v))
			break;
		counters_free(c);
		pause_ms(10);
	}
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(c->flows[i].zerocopy_sends.k, ND_KNOWN);
		assert_int_equal(c->flows[i].zerocopy_copied.v, c->flows[i].zerocopy_sends.v);
		assert_int_equal(c->flows[i].zerocopy_sends.v, c->flows[i].calls.v);
	}
	assert_true(c->flows[0].calls.v + c->flows[1].calls.v >= 10000000 / s.block_bytes);
	counters_free(c);
	c = sample(e.receiver);
	assert_int_equal(c->flows[0].zerocopy_sends.k, ND_NOT_APPLICABLE);
	counters_free(c);
	stop_ends(&e);
}

/* Many small sends reach the limit of notifications long before the send buffer's. */
static void test_zerocopy_out_of_notifications(void **state)
{
	struct run_spec s = load_plain;
	struct load *sender, *receiver;
	struct counters *a, *b;
	struct error err;
	struct pairs p;
	int e;

	(void)state;
	s.send_path = RUN_SEND_ZEROCOPY;
	s.block_bytes = 16;
	s.total_blocks = 100000;
	connect_pairs(&p, 1, &s);
	assert_int_equal(create_load(&s, LOAD_SEND, p.client, 1, &sender, &err), 0);
	assert_int_equal(create_load(&s, LOAD_RECEIVE, p.server, 1, &receiver, &err), 0);
	assert_int_equal(load_start(sender, &err), 0);
	settled_bytes(sender);
	a = sample(sender);
	pause_ms(100);
	b = sample(sender);
	assert_true(b->workers[0].cpu_us.v - a->workers[0].cpu_us.v < 50000);
	counters_free(a);
	counters_free(b);
	assert_int_equal(load_start(receiver, &err), 0);
	assert_true(done(sender));
	assert_true(reaches(receiver, 1600000));
	assert_int_equal(load_bytes(receiver), 1600000);
	assert_int_equal(load_broken_flows(sender, &e), 0);
	load_stop(sender);
	load_stop(receiver);
}

/* EPOLLERR means the error queue then, but a reset must still be seen. */
static void test_zerocopy_reset(void **state)
{
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	struct run_spec s = load_plain;
	struct error err;
	struct load *l;
	struct pairs p;
	uint64_t began;
	int e;

	(void)state;
	s.send_path = RUN_SEND_ZEROCOPY;
	connect_pairs(&p, 1, &s);
	assert_int_equal(create_load(&s, LOAD_SEND, p.client, 1, &l, &err), 0);
	assert_int_equal(load_start(l, &err), 0);
	assert_true(settled_bytes(l) > 0);
	setsockopt(p.server[0], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(p.server[0]);
	assert_int_equal(broken(l, 1, &e), 1);
	assert_true(e == ECONNRESET || e == EPIPE);
	load_stop(l);
	/* Nor does a peer that never reads hold up the end. */
	connect_pairs(&p, 1, &s);
	assert_int_equal(create_load(&s, LOAD_SEND, p.client, 1, &l, &err), 0);
	assert_int_equal(load_start(l, &err), 0);
	assert_true(settled_bytes(l) > 0);
	began = now_us();
	load_stop(l);
	assert_true(now_us() - began < 5000000);
	close(p.server[0]);
}

static void test_pinned_workers(void **state)
{
	unsigned int cpus[2] = { 0, 0 };
	struct load_config c = { .spec = &load_plain, .role = LOAD_RECEIVE, .n = 4 };
	struct counters *s;
	struct error err = { "" };
	struct load *l;
	struct pairs p;
	cpu_set_t allowed;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpus[0], &allowed))
		cpus[0]++;
	cpus[1] = cpus[0];
	connect_pairs(&p, 4, &load_plain);
	c.fds = p.server;
	c.cpus = cpus;
	c.ncpus = 2;
	assert_int_equal(load_create(&c, &l, &err), 0);
	assert_int_equal(load_start(l, &err), 0);
	pause_ms(30);
	s = sample(l);
	assert_int_equal(s->nworkers, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(s->workers[i].flows.v, 2);
		assert_int_equal(s->workers[i].cpu.v, cpus[0]);
		assert_true(nd_cpus_has(&s->workers[i].allowed, cpus[0]));
		assert_false(nd_cpus_has(&s->workers[i].allowed, cpus[0] + 1));
	}
	counters_free(s);
	load_stop(l);
	for (size_t i = 0; i < p.n; i++)
		close(p.client[i]);
	connect_pairs(&p, 1, &load_plain);
	c.fds = p.server;
	c.n = c.ncpus = 1;
	cpus[0] = 60000;	/* beyond any cpu_set_t */
	assert_int_equal(load_create(&c, &l, &err), 0);
	assert_int_equal(load_start(l, &err), -EINVAL);
	assert_non_null(strstr(err.text, "CPU 60000"));
	load_stop(l);
	close(p.client[0]);
	cpus[0] = UINT32_MAX;
	assert_int_equal(load_create(&c, &l, &err), -EINVAL);
	assert_null(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amount_of_a_spec),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_amount_after_a_warmup),
		cmocka_unit_test(test_amount_begins_late),
		cmocka_unit_test(test_no_amount_is_never_done),
		cmocka_unit_test(test_amount_with_a_stuck_flow),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_rate_with_an_amount),
		cmocka_unit_test(test_both_directions),
		cmocka_unit_test(test_amounts_both_ways),
		cmocka_unit_test(test_file_holds_the_pattern),
		cmocka_unit_test(test_zerocopy_is_counted),
		cmocka_unit_test(test_zerocopy_out_of_notifications),
		cmocka_unit_test(test_zerocopy_reset),
		cmocka_unit_test(test_pinned_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

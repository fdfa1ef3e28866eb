/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traffic engine over loopback TCP pairs that the test makes. */
#include "src/load/load.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/load_pairs.h"

static void quiesced_bytes_arrive(size_t n, const struct run_spec *spec)
{
	struct pairs p;
	struct ends e;
	uint64_t sent;
	int err;

	connect_pairs(&p, n, spec);
	e = start_ends(&p, spec);
	assert_true(reaches(e.receiver, 1000000 * n));
	load_quiesce(e.sender);
	sent = settled_bytes(e.sender);
	assert_true(reaches(e.receiver, sent));
	pause_ms(20);
	assert_int_equal(load_bytes(e.sender), sent);
	assert_int_equal(load_bytes(e.receiver), sent);
	assert_int_equal(load_broken_flows(e.sender, &err), 0);
	assert_int_equal(err, 0);
	assert_int_equal(load_broken_flows(e.receiver, &err), 0);
	stop_ends(&e);
}

static void test_bytes_match_after_quiesce(void **state)
{
	struct run_spec discard = load_plain, odd = load_plain;

	(void)state;
	quiesced_bytes_arrive(1, &load_plain);
	quiesced_bytes_arrive(5, &load_plain);
	discard.discard_receive = true;
	quiesced_bytes_arrive(2, &discard);
	odd.block_bytes = 1234;
	quiesced_bytes_arrive(3, &odd);
}

static void test_received_bytes_are_the_pattern(void **state)
{
	unsigned char got[4096];
	struct error err;
	struct load *l;
	struct pairs p;
	size_t have = 0, zeros = 0;

	(void)state;
	connect_pairs(&p, 1, &load_plain);
	assert_int_equal(create_load(&load_plain, LOAD_SEND, p.client, 1, &l, &err), 0);
	assert_int_equal(load_start(l, &err), 0);
	while (have < sizeof(got)) {
		ssize_t n = recv(p.server[0], got + have, sizeof(got) - have, 0);

		assert_true(n > 0);
		have += (size_t)n;
	}
	for (size_t i = 0; i < sizeof(got); i++)
		zeros += got[i] == 0;
	assert_true(zeros < sizeof(got) / 64);
	load_stop(l);
	close(p.server[0]);
}

static void test_sample_members(void **state)
{
	struct counters *tx, *rx;
	struct pairs p;
	struct ends e;
	const struct flow_sample *f;

	(void)state;
	connect_pairs(&p, 3, &load_plain);
	e = start_ends(&p, &load_plain);
	assert_true(reaches(e.receiver, 20000000));
	tx = sample(e.sender);
	rx = sample(e.receiver);
	assert_int_equal(tx->nflows, 3);
	assert_int_equal(rx->nflows, 3);
	for (size_t i = 0; i < 3; i++) {
		f = &tx->flows[i];
		assert_true(nd_u64_is(f->flow, i));
		assert_true(nd_str_is(f->direction, "send"));
		assert_true(nd_str_is(rx->flows[i].direction, "receive"));
		assert_int_equal(f->local_port.v, rx->flows[i].peer_port.v);
		assert_int_equal(f->peer_port.v, rx->flows[i].local_port.v);
		assert_true(f->peer_port.v > 0);
		assert_true(f->bytes.v > 0 && f->calls.v > 0);
		assert_true(f->bytes.v >= f->calls.v);
		assert_int_equal(f->blocked_us.k, ND_KNOWN);
		assert_true(f->rtt_us.k == ND_KNOWN && f->rtt_us.v > 0);
		assert_true(f->cwnd.v > 0 && f->snd_mss.v > 500);
		assert_true(nd_is_true(f->option_wscale) || nd_is_false(f->option_wscale));
		assert_true(f->sndbuf_bytes.v > 0 && f->rcvbuf_bytes.v > 0);
		assert_int_equal(f->wmem_bytes.k, ND_KNOWN);
		assert_int_equal(f->congestion_control.k, ND_KNOWN);
		assert_int_equal(rx->flows[i].receive_queue_bytes.k, ND_KNOWN);
		/* Nobody paces these: no limit, which is not a rate. */
		assert_int_equal(f->max_pacing_bps.k, ND_NOT_APPLICABLE);
	}
	counters_free(tx);
	counters_free(rx);
	stop_ends(&e);
}

static void test_sample_workers(void **state)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct counters *before, *after;
	struct error err;
	struct load *l;
	struct pairs p;
	uint64_t flows = 0;

	(void)state;
	connect_pairs(&p, 3, &load_plain);
	assert_int_equal(create_load(&load_plain, LOAD_RECEIVE, p.server, p.n, &l, &err), 0);
	before = sample(l);
	assert_true(before->nworkers >= 1 && before->nworkers <= 3);
	assert_true((long)before->nworkers <= cpus);
	assert_int_equal(before->workers[0].cpu_us.k, ND_NOT_APPLICABLE);
	assert_int_equal(load_start(l, &err), 0);
	pause_ms(50);
	after = sample(l);
	for (size_t i = 0; i < after->nworkers; i++) {
		const struct worker_sample *w = &after->workers[i];

		assert_true(nd_u64_is(w->worker, i));
		flows += w->flows.v;
		assert_true(w->thread_id.v > 0 && (pid_t)w->thread_id.v != getpid());
		assert_true(w->cpu_us.k == ND_KNOWN && w->cpu_us.v < 1000000);
		assert_true(w->cpu.k == ND_KNOWN && nd_cpus_has(&w->allowed, (unsigned)w->cpu.v));
		assert_int_equal(w->user_us.k, ND_KNOWN);
		assert_int_equal(w->system_us.k, ND_KNOWN);
		assert_true(w->voluntary_switches.k == ND_KNOWN && w->voluntary_switches.v > 0);
		assert_int_equal(w->involuntary_switches.k, ND_KNOWN);
		assert_int_not_equal(w->run_delay_us.k, ND_UNREAD);
	}
	assert_int_equal(flows, 3);
	counters_free(before);
	counters_free(after);
	load_stop(l);
	for (size_t i = 0; i < p.n; i++)
		close(p.client[i]);
}

/* Two loads may share one instant, as both ends on one machine do. */
static void test_samples_append(void **state)
{
	struct counters *c = counters_new(0);
	struct pairs p;
	struct ends e;

	(void)state;
	connect_pairs(&p, 2, &load_plain);
	e = start_ends(&p, &load_plain);
	assert_int_equal(load_sample(e.sender, c), 0);
	assert_int_equal(load_sample(e.receiver, c), 0);
	assert_int_equal(c->nflows, 4);
	assert_true(nd_str_is(c->flows[1].direction, "send"));
	assert_true(nd_str_is(c->flows[2].direction, "receive"));
	counters_free(c);
	c = counters_new(2000);
	assert_non_null(c);
	assert_int_equal(load_sample(e.sender, c), -ENOMEM);
	assert_int_equal(c->nflows, 0);
	counters_free(c);
	stop_ends(&e);
}

/* Of each flow's socket; UINT64_MAX: the kernel does not tell. */
static uint64_t sent_of(const struct counters *c, size_t i)
{
	return c->flows[i].bytes_sent.k == ND_KNOWN ? c->flows[i].bytes_sent.v : UINT64_MAX;
}

/* Of many sockets each sample asks some, and in the end none was left out. */
static void test_sockets_are_asked_in_turn(void **state)
{
	enum { MANY = MAX_PAIRS, ASKED_NEXT = 2 * LOAD_SOCKETS_A_SAMPLE - MANY };
	struct counters *c[3] = { counters_new(0), counters_new(0), counters_new(0) };
	struct error err = { "" };
	struct load *l;
	struct pairs p;

	(void)state;
	connect_pairs(&p, MANY, &load_plain);
	assert_int_equal(create_load(&load_plain, LOAD_SEND, p.client, MANY, &l, &err), 0);
	assert_int_equal(load_sample_in_turn(l, c[0]), 0);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(send(p.client[i], "x", 1, 0), 1);
	assert_int_equal(load_sample_in_turn(l, c[1]), 0);
	assert_int_equal(load_sample_in_turn(l, c[2]), 0);
	for (size_t i = 0; i < MANY && sent_of(c[0], i) != UINT64_MAX; i++) {
		bool asked = i < ASKED_NEXT || i >= LOAD_SOCKETS_A_SAMPLE;

		assert_int_equal(sent_of(c[0], i), 0);
		assert_int_equal(sent_of(c[1], i), asked);
		assert_int_equal(sent_of(c[2], i), 1);
		assert_int_equal(c[1]->flows[i].flow.v, i);
	}
	for (size_t i = 0; i < 3; i++)
		counters_free(c[i]);
	load_stop(l);
	for (size_t i = 0; i < MANY; i++)
		close(p.server[i]);
}

/* A sender whose peer does not read is blocked, and the sample says so while it lasts. */
static void test_blocked_time(void **state)
{
	struct counters *a, *b;
	struct error err;
	struct load *l;
	struct pairs p;
	uint64_t delta;

	(void)state;
	connect_pairs(&p, 1, &load_plain);
	assert_int_equal(create_load(&load_plain, LOAD_SEND, p.client, 1, &l, &err), 0);
	assert_int_equal(load_start(l, &err), 0);
	assert_true(settled_bytes(l) > 0);
	a = sample(l);
	pause_ms(100);
	b = sample(l);
	delta = b->flows[0].blocked_us.v - a->flows[0].blocked_us.v;
	assert_int_equal(b->flows[0].bytes.v, a->flows[0].bytes.v);
	assert_in_range(delta, 80000, 2000000);
	assert_true(b->workers[0].cpu_us.v - a->workers[0].cpu_us.v < 50000);
	counters_free(a);
	counters_free(b);
	/* Told to stop writing, it no longer waits for anything. */
	load_quiesce(l);
	pause_ms(50);
	a = sample(l);
	pause_ms(50);
	b = sample(l);
	assert_int_equal(b->flows[0].blocked_us.v, a->flows[0].blocked_us.v);
	counters_free(a);
	counters_free(b);
	load_stop(l);
	close(p.server[0]);
}

static void test_one_of_four_breaks(void **state)
{
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	struct counters *a, *b;
	struct error err;
	struct load *l, *rest;
	struct pairs p;
	int fds[3], e;

	(void)state;
	connect_pairs(&p, 4, &load_plain);
	memcpy(fds, &p.server[1], sizeof(fds));
	assert_int_equal(create_load(&load_plain, LOAD_RECEIVE, fds, 3, &rest, &err), 0);
	assert_int_equal(create_load(&load_plain, LOAD_SEND, p.client, 4, &l, &err), 0);
	assert_int_equal(load_start(rest, &err), 0);
	assert_int_equal(load_start(l, &err), 0);
	pause_ms(50);
	assert_int_equal(load_broken_flows(l, &e), 0);
	setsockopt(p.server[0], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(p.server[0]);
	assert_int_equal(broken(l, 1, &e), 1);
	assert_int_equal(e, ECONNRESET);
	a = sample(l);
	assert_true(reaches(l, load_bytes(l) + 10000000));
	b = sample(l);
	assert_int_equal(a->flows[0].bytes.v, b->flows[0].bytes.v);
	counters_free(a);
	counters_free(b);
	assert_int_equal(load_broken_flows(rest, &e), 0);
	load_stop(l);
	/* Now the receivers see three ends of stream, and rest without spinning. */
	assert_int_equal(broken(rest, 3, &e), 3);
	assert_int_equal(e, EPIPE);
	a = sample(rest);
	pause_ms(100);
	b = sample(rest);
	for (size_t i = 0; i < a->nworkers; i++)
		assert_true(b->workers[i].cpu_us.v - a->workers[i].cpu_us.v < 50000);
	counters_free(a);
	counters_free(b);
	load_stop(rest);
}

/* Data and its end may arrive together: the end must not be lost behind a short read. */
static void test_end_right_behind_data(void **state)
{
	struct pairs p;
	struct error err;
	struct load *l;
	int e;

	(void)state;
	connect_pairs(&p, 8, &load_plain);
	assert_int_equal(create_load(&load_plain, LOAD_RECEIVE, p.server, p.n, &l, &err), 0);
	for (size_t i = 0; i < p.n / 2; i++) {
		assert_int_equal(send(p.client[i], "0123456789", 10, 0), 10);
		close(p.client[i]);
	}
	assert_int_equal(load_start(l, &err), 0);
	pause_ms(30);
	for (size_t i = p.n / 2; i < p.n; i++) {
		assert_int_equal(send(p.client[i], "0123456789", 10, 0), 10);
		close(p.client[i]);
	}
	assert_true(reaches(l, 80));
	assert_int_equal(broken(l, p.n, &e), p.n);
	assert_int_equal(load_bytes(l), 80);
	load_stop(l);
}

/* After the run is declared over, a closing peer is no failure. */
static void test_end_after_quiesce(void **state)
{
	struct pairs p;
	struct ends e;
	int err;

	(void)state;
	connect_pairs(&p, 2, &load_plain);
	e = start_ends(&p, &load_plain);
	pause_ms(20);
	load_quiesce(e.sender);
	load_quiesce(e.receiver);
	load_stop(e.sender);
	pause_ms(50);
	assert_int_equal(load_broken_flows(e.receiver, &err), 0);
	load_stop(e.receiver);
}

static void test_many_flows(void **state)
{
	struct rlimit files = { 4096, 4096 };
	size_t served, patience = 100;
	struct counters *c;
	struct pairs p;
	struct ends e;

	(void)state;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 2 * MAX_PAIRS + 64) {
		files.rlim_cur = 2 * MAX_PAIRS + 64;
		if (files.rlim_cur > files.rlim_max || setrlimit(RLIMIT_NOFILE, &files) < 0) {
			print_message("skipped: fewer than %d open files allowed\n",
				      2 * MAX_PAIRS + 64);
			skip();
		}
	}
	connect_pairs(&p, MAX_PAIRS, &load_plain);
	e = start_ends(&p, &load_plain);
	assert_true(reaches(e.receiver, 50000000));
	do {
		c = sample(e.receiver);
		assert_int_equal(c->nflows, MAX_PAIRS);
		served = 0;
		for (size_t i = 0; i < MAX_PAIRS; i++)
			served += c->flows[i].bytes.v > 0;
		counters_free(c);
		pause_ms(20);
	} while (served < MAX_PAIRS && --patience > 0);
	assert_int_equal(served, MAX_PAIRS);	/* nobody starves */
	stop_ends(&e);
}

struct watcher { struct load *l; atomic_bool done; size_t samples; bool monotone; };

static void *watch(void *arg)
{
	struct watcher *w = arg;
	uint64_t bytes = 0, blocked = 0;

	w->monotone = true;
	while (!atomic_load(&w->done)) {
		struct counters *c = counters_new(0);

		if (!c || load_sample(w->l, c))
			break;
		if (c->flows[0].bytes.v < bytes || c->flows[0].blocked_us.v < blocked)
			w->monotone = false;
		bytes = c->flows[0].bytes.v;
		blocked = c->flows[0].blocked_us.v;
		counters_free(c);
		w->samples++;
		pause_ms(1);
	}
	return NULL;
}

static void test_sampling_beside_traffic(void **state)
{
	struct watcher w = { .samples = 0 };
	struct pairs p;
	struct ends e;
	pthread_t t;

	(void)state;
	connect_pairs(&p, 4, &load_plain);
	e = start_ends(&p, &load_plain);
	w.l = e.receiver;
	assert_int_equal(pthread_create(&t, NULL, watch, &w), 0);
	pause_ms(200);
	load_quiesce(e.sender);
	pause_ms(20);
	atomic_store(&w.done, true);
	pthread_join(t, NULL);
	assert_true(w.samples > 5);
	assert_true(w.monotone);
	stop_ends(&e);
}

static void test_stop_without_start(void **state)
{
	struct error err;
	struct load *l;
	struct pairs p;

	(void)state;
	connect_pairs(&p, 2, &load_plain);
	assert_int_equal(create_load(&load_plain, LOAD_SEND, p.client, 2, &l, &err), 0);
	assert_int_equal(load_bytes(l), 0);
	load_stop(l);
	assert_int_equal(close(p.client[0]), -1);
	close(p.server[0]);
	close(p.server[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_match_after_quiesce),
		cmocka_unit_test(test_received_bytes_are_the_pattern),
		cmocka_unit_test(test_sample_members),
		cmocka_unit_test(test_sample_workers),
		cmocka_unit_test(test_samples_append),
		cmocka_unit_test(test_sockets_are_asked_in_turn),
		cmocka_unit_test(test_blocked_time),
		cmocka_unit_test(test_one_of_four_breaks),
		cmocka_unit_test(test_end_right_behind_data),
		cmocka_unit_test(test_end_after_quiesce),
		cmocka_unit_test(test_many_flows),
		cmocka_unit_test(test_sampling_beside_traffic),
		cmocka_unit_test(test_stop_without_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

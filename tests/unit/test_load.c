/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traffic engine over loopback TCP pairs that the test makes. */
#include "src/load/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_PAIRS = 256 };

struct pairs {
	int client[MAX_PAIRS], server[MAX_PAIRS];
	size_t n;
};

static const struct run_spec plain = {
	.streams = 1, .block_bytes = 64 * 1024, .window_ms = 100
};

static void pause_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* n connected pairs; the client ends are prepared as a session would do. */
static void connect_pairs(struct pairs *p, size_t n, const struct run_spec *spec)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	struct error err;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(listener >= 0);
	assert_return_code(bind(listener, (struct sockaddr *)&a, len), errno);
	assert_return_code(listen(listener, MAX_PAIRS), errno);
	assert_return_code(getsockname(listener, (struct sockaddr *)&a, &len), errno);
	for (p->n = 0; p->n < n; p->n++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		assert_true(fd >= 0);
		assert_int_equal(load_prepare_socket(fd, spec, LOAD_SEND, &err), 0);
		assert_return_code(connect(fd, (struct sockaddr *)&a, len), errno);
		p->client[p->n] = fd;
		p->server[p->n] = accept(listener, NULL, NULL);
		assert_true(p->server[p->n] >= 0);
	}
	close(listener);
}

struct ends { struct load *sender, *receiver; };

static struct ends start_ends(const struct pairs *p, const struct run_spec *spec)
{
	struct error err = { "" };
	struct ends e;

	assert_int_equal(load_create(spec, LOAD_RECEIVE, p->server, p->n, &e.receiver, &err), 0);
	assert_int_equal(load_create(spec, LOAD_SEND, p->client, p->n, &e.sender, &err), 0);
	assert_int_equal(load_start(e.receiver, &err), 0);
	assert_int_equal(load_start(e.sender, &err), 0);
	return e;
}

static void stop_ends(struct ends *e)
{
	load_stop(e->sender);
	load_stop(e->receiver);
}

/* True when `bytes` reaches at least `goal` within two seconds. */
static bool reaches(const struct load *l, uint64_t goal)
{
	for (int i = 0; i < 400 && load_bytes(l) < goal; i++)
		pause_ms(5);
	return load_bytes(l) >= goal;
}

/* Waits until no bytes have moved for 100 ms: a busy machine may be late. */
static uint64_t settled_bytes(const struct load *l)
{
	uint64_t before;

	do {
		before = load_bytes(l);
		pause_ms(100);
	} while (load_bytes(l) != before);
	return before;
}

/* Waits up to two seconds for that many flows to break. */
static size_t broken(const struct load *l, size_t goal, int *first_errno)
{
	for (int i = 0; i < 400 && load_broken_flows(l, first_errno) < goal; i++)
		pause_ms(5);
	return load_broken_flows(l, first_errno);
}

static struct counters *sample(struct load *l)
{
	struct counters *c = counters_new(0);

	assert_non_null(c);
	assert_int_equal(load_sample(l, c), 0);
	return c;
}

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
	struct run_spec discard = plain, odd = plain;

	(void)state;
	quiesced_bytes_arrive(1, &plain);
	quiesced_bytes_arrive(5, &plain);
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
	connect_pairs(&p, 1, &plain);
	assert_int_equal(load_create(&plain, LOAD_SEND, p.client, 1, &l, &err), 0);
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
	connect_pairs(&p, 3, &plain);
	e = start_ends(&p, &plain);
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
	connect_pairs(&p, 3, &plain);
	assert_int_equal(load_create(&plain, LOAD_RECEIVE, p.server, p.n, &l, &err), 0);
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
	connect_pairs(&p, 2, &plain);
	e = start_ends(&p, &plain);
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

/* A sender whose peer does not read is blocked, and the sample says so while it lasts. */
static void test_blocked_time(void **state)
{
	struct counters *a, *b;
	struct error err;
	struct load *l;
	struct pairs p;
	uint64_t delta;

	(void)state;
	connect_pairs(&p, 1, &plain);
	assert_int_equal(load_create(&plain, LOAD_SEND, p.client, 1, &l, &err), 0);
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

static void test_mss_and_pacing(void **state)
{
	struct run_spec spec = plain;
	uint64_t bytes, began;
	struct counters *c;
	struct pairs p;
	struct ends e;

	(void)state;
	spec.mss_bytes = 1000;
	spec.pacing_bps = 80000000;
	connect_pairs(&p, 1, &spec);
	e = start_ends(&p, &spec);
	began = now_us();
	pause_ms(200);
	c = sample(e.sender);
	assert_in_range(c->flows[0].snd_mss.v, 900, 1000);
	assert_int_equal(c->flows[0].max_pacing_bps.v, 80000000);
	/* 10 bytes a microsecond and a start-up burst; unpaced loopback moves hundreds. */
	bytes = load_bytes(e.receiver);
	assert_in_range(bytes, 1, 2000000 + (now_us() - began) * 20);
	counters_free(c);
	stop_ends(&e);
}

static void test_buffers(void **state)
{
	struct run_spec spec = plain;
	struct error err = { "" };
	int v, fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(v);

	(void)state;
	spec.sndbuf_bytes = 65536;
	spec.rcvbuf_bytes = 32768;
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_SEND, &err), 0);
	getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &v, &len);
	assert_int_equal(v, 2 * 65536);
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_RECEIVE, &err), 0);
	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, &len);
	assert_int_equal(v, 2 * 32768);
	/* More than the sysctl allows is capped in silence by the kernel, not by us. */
	spec.sndbuf_bytes = 1000000000;
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_SEND, &err), -ENOBUFS);
	assert_non_null(strstr(err.text, "SO_SNDBUF 1000000000"));
	assert_non_null(strstr(err.text, "net.core.wmem_max"));
	spec.sndbuf_bytes = UINT64_MAX;
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_SEND, &err), -EINVAL);
	spec = plain;
	spec.mss_bytes = 70000;
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_SEND, &err), -EINVAL);
	assert_non_null(strstr(err.text, "TCP_MAXSEG 70000"));
	close(fd);
}

static void test_congestion_control(void **state)
{
	struct run_spec spec = plain;
	struct error err = { "" };
	struct counters *c;
	struct pairs p;
	struct ends e;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	snprintf(spec.congestion_control, sizeof(spec.congestion_control), "no_such_cc");
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_SEND, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no_such_cc"));
	assert_non_null(strstr(err.text, "modprobe"));
	/* The sender alone has a congestion control. */
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_RECEIVE, &err), 0);
	close(fd);
	/* Reno is always there and always allowed. */
	snprintf(spec.congestion_control, sizeof(spec.congestion_control), "reno");
	connect_pairs(&p, 1, &spec);
	e = start_ends(&p, &spec);
	c = sample(e.sender);
	assert_true(nd_str_is(c->flows[0].congestion_control, "reno"));
	counters_free(c);
	stop_ends(&e);
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
	connect_pairs(&p, 4, &plain);
	memcpy(fds, &p.server[1], sizeof(fds));
	assert_int_equal(load_create(&plain, LOAD_RECEIVE, fds, 3, &rest, &err), 0);
	assert_int_equal(load_create(&plain, LOAD_SEND, p.client, 4, &l, &err), 0);
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
	connect_pairs(&p, 8, &plain);
	assert_int_equal(load_create(&plain, LOAD_RECEIVE, p.server, p.n, &l, &err), 0);
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
	connect_pairs(&p, 2, &plain);
	e = start_ends(&p, &plain);
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
	connect_pairs(&p, MAX_PAIRS, &plain);
	e = start_ends(&p, &plain);
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
	connect_pairs(&p, 4, &plain);
	e = start_ends(&p, &plain);
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

static void test_create_refuses(void **state)
{
	struct run_spec spec = plain;
	struct error err = { "" };
	struct load *l = NULL;
	int fd = socket(AF_INET, SOCK_STREAM, 0), unix_pair[2];

	(void)state;
	assert_int_equal(load_create(&spec, LOAD_SEND, &fd, 0, &l, &err), -EINVAL);
	assert_int_equal(load_create(&spec, LOAD_SEND, &fd, RUN_MAX_STREAMS + 1, &l, &err),
			 -EINVAL);
	assert_int_equal(load_create(&spec, LOAD_SEND, &fd, 1, &l, &err), -ENOTCONN);
	assert_null(l);
	spec.block_bytes = 0;
	assert_int_equal(load_create(&spec, LOAD_SEND, &fd, 1, &l, &err), -EINVAL);
	spec.block_bytes = RUN_MAX_BLOCK_BYTES + 1;
	assert_int_equal(load_create(&spec, LOAD_SEND, &fd, 1, &l, &err), -EINVAL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair), 0);
	assert_int_equal(load_create(&plain, LOAD_SEND, unix_pair, 1, &l, &err), -EOPNOTSUPP);
	/* A refused socket stays the caller's. */
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(unix_pair[0]), 0);
	assert_int_equal(close(unix_pair[1]), 0);
	load_stop(NULL);
}

static void test_stop_without_start(void **state)
{
	struct error err;
	struct load *l;
	struct pairs p;

	(void)state;
	connect_pairs(&p, 2, &plain);
	assert_int_equal(load_create(&plain, LOAD_SEND, p.client, 2, &l, &err), 0);
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
		cmocka_unit_test(test_blocked_time),
		cmocka_unit_test(test_mss_and_pacing),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_congestion_control),
		cmocka_unit_test(test_one_of_four_breaks),
		cmocka_unit_test(test_end_right_behind_data),
		cmocka_unit_test(test_end_after_quiesce),
		cmocka_unit_test(test_many_flows),
		cmocka_unit_test(test_sampling_beside_traffic),
		cmocka_unit_test(test_create_refuses),
		cmocka_unit_test(test_stop_without_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

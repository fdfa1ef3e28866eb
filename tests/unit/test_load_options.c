/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The socket options of a run spec, and what the traffic engine refuses. */
#include "src/load/load.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/load_pairs.h"

/* What a paced sender counts is on its way, not in a send buffer. */
static void test_paced_bytes_are_sent(void **state)
{
	struct run_spec spec = load_plain;
	uint64_t least = UINT64_MAX / 2;
	struct pairs p;
	struct ends e;

	(void)state;
	spec.block_bytes = 128 * 1024;
	spec.pacing_bps = 20000000;	/* 25 kB in 10 ms */
	connect_pairs(&p, 1, &spec);
	e = start_ends(&p, &spec);
	assert_true(reaches(e.receiver, 1000000));
	for (int i = 0; i < 50; i++) {
		uint64_t received = load_bytes(e.receiver), sent = load_bytes(e.sender);

		/* On a busy machine more may wait for the receiver, now and then. */
		if (sent < received + least)
			least = sent - received;
		pause_ms(10);
	}
	/* A segment of loopback's 64 KiB may be on its way besides. */
	assert_in_range(least, 0, 100000);
	stop_ends(&e);
}

/* However fast the other end sends: it waits. */
static void test_receiver_keeps_a_rate(void **state)
{
	struct run_spec spec = load_plain;
	uint64_t began, received, sent;
	struct error err;
	struct pairs p;
	struct ends e;

	(void)state;
	connect_pairs(&p, 2, &spec);
	assert_int_equal(create_load(&spec, LOAD_SEND, p.client, 2, &e.sender, &err), 0);
	spec.receive_bps = 80000000;
	assert_int_equal(create_load(&spec, LOAD_RECEIVE, p.server, 2, &e.receiver, &err), 0);
	assert_int_equal(load_start(e.receiver, &err), 0);
	began = now_us();
	assert_int_equal(load_start(e.sender, &err), 0);
	assert_true(reaches(e.receiver, 5000000));
	received = load_bytes(e.receiver);
	/* Two times 10 bytes a microsecond, a burst and what it may catch up with. */
	assert_true(received <= (now_us() - began + 110000) * 20 + 200000);
	sent = load_bytes(e.sender);
	assert_true(sent < received + 60000000);	/* in buffers */
	stop_ends(&e);
}

static void test_mss_and_pacing(void **state)
{
	struct run_spec spec = load_plain;
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
	struct run_spec spec = load_plain;
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
	spec = load_plain;
	spec.mss_bytes = 70000;
	assert_int_equal(load_prepare_socket(fd, &spec, LOAD_SEND, &err), -EINVAL);
	assert_non_null(strstr(err.text, "TCP_MAXSEG 70000"));
	close(fd);
}

static void test_congestion_control(void **state)
{
	struct run_spec spec = load_plain;
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

static int option(int fd, int level, int name)
{
	int v = -1;
	socklen_t len = sizeof(v);

	assert_return_code(getsockopt(fd, level, name, &v, &len), errno);
	return v;
}

static void test_tos_and_no_delay(void **state)
{
	struct run_spec spec = load_plain;
	struct error err = { "" };
	struct load *l;
	struct pairs p;
	int one = 1, v6;

	(void)state;
	spec.tos = 0xb8;
	connect_pairs(&p, 2, &load_plain);
	setsockopt(p.client[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	assert_int_equal(load_prepare_socket(p.client[0], &spec, LOAD_SEND, &err), 0);
	assert_int_equal(option(p.client[0], IPPROTO_TCP, TCP_NODELAY), 0);
	assert_int_equal(option(p.client[0], IPPROTO_IP, IP_TOS), 0xb8);
	spec.no_delay = true;
	assert_int_equal(create_load(&spec, LOAD_SEND, p.client, 1, &l, &err), 0);
	assert_int_not_equal(option(p.client[0], IPPROTO_TCP, TCP_NODELAY), 0);
	load_stop(l);
	/* A receiver's ACKs are marked as well. */
	assert_int_equal(create_load(&spec, LOAD_RECEIVE, p.server, 2, &l, &err), 0);
	assert_int_equal(option(p.server[1], IPPROTO_IP, IP_TOS), 0xb8);
	load_stop(l);
	close(p.client[1]);
	v6 = socket(AF_INET6, SOCK_STREAM, 0);
	if (v6 < 0)
		return;		/* no IPv6 here */
	assert_int_equal(load_prepare_socket(v6, &spec, LOAD_SEND, &err), 0);
	assert_int_equal(option(v6, IPPROTO_IPV6, IPV6_TCLASS), 0xb8);
	assert_int_equal(option(v6, IPPROTO_IP, IP_TOS), 0xb8);
	spec.tos = 256;
	assert_int_equal(load_prepare_socket(v6, &spec, LOAD_SEND, &err), -EINVAL);
	close(v6);
}

static void test_flow_label(void **state)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct run_spec spec = load_plain;
	struct error err = { "" };
	socklen_t len = sizeof(a);
	struct load *l;
	int listener = socket(AF_INET6, SOCK_STREAM, 0), fd, accepted;

	(void)state;
	spec.flow_label = 0x1234;
	assert_int_equal(load_prepare_address(-1, &spec, (struct sockaddr *)&v4, &err),
			 -EOPNOTSUPP);
	if (listener < 0 || bind(listener, (struct sockaddr *)&a, len) < 0) {
		print_message("skipped: no IPv6 here\n");
		skip();
	}
	assert_return_code(listen(listener, 1), errno);
	assert_return_code(getsockname(listener, (struct sockaddr *)&a, &len), errno);
	fd = socket(AF_INET6, SOCK_STREAM, 0);
	assert_int_equal(load_prepare_address(fd, &load_plain, (struct sockaddr *)&a, &err), 0);
	assert_int_equal(a.sin6_flowinfo, 0);
	assert_int_equal(load_prepare_address(fd, &spec, (struct sockaddr *)&a, &err), 0);
	assert_int_equal(a.sin6_flowinfo, htonl(0x1234));
	assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof(a)), errno);
	accepted = accept(listener, NULL, NULL);
	assert_true(accepted >= 0);
	len = sizeof(a);
	assert_return_code(getpeername(fd, (struct sockaddr *)&a, &len), errno);
	assert_int_equal(ntohl(a.sin6_flowinfo) & 0xfffff, 0x1234);
	/* One that was accepted cannot get a label, and sends without. */
	assert_int_equal(create_load(&spec, LOAD_SEND, &accepted, 1, &l, &err), 0);
	load_stop(l);
	assert_int_equal(create_load(&spec, LOAD_SEND, &fd, 1, &l, &err), 0);
	load_stop(l);
	close(listener);
}

static void test_create_refuses(void **state)
{
	struct run_spec spec = load_plain;
	struct error err = { "" };
	struct load *l = NULL;
	int fd = socket(AF_INET, SOCK_STREAM, 0), unix_pair[2];

	(void)state;
	assert_int_equal(create_load(&spec, LOAD_SEND, &fd, 0, &l, &err), -EINVAL);
	assert_int_equal(create_load(&spec, LOAD_SEND, &fd, RUN_MAX_STREAMS + 1, &l, &err),
			 -EINVAL);
	assert_int_equal(create_load(&spec, LOAD_SEND, &fd, 1, &l, &err), -ENOTCONN);
	assert_null(l);
	spec.block_bytes = 0;
	assert_int_equal(create_load(&spec, LOAD_SEND, &fd, 1, &l, &err), -EINVAL);
	spec.block_bytes = RUN_MAX_BLOCK_BYTES + 1;
	assert_int_equal(create_load(&spec, LOAD_SEND, &fd, 1, &l, &err), -EINVAL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair), 0);
	assert_int_equal(create_load(&load_plain, LOAD_SEND, unix_pair, 1, &l, &err), -EOPNOTSUPP);
	/* A refused socket stays the caller's. */
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(unix_pair[0]), 0);
	assert_int_equal(close(unix_pair[1]), 0);
	load_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mss_and_pacing),
		cmocka_unit_test(test_paced_bytes_are_sent),
		cmocka_unit_test(test_receiver_keeps_a_rate),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_congestion_control),
		cmocka_unit_test(test_tos_and_no_delay),
		cmocka_unit_test(test_flow_label),
		cmocka_unit_test(test_create_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

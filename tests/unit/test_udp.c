/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datagrams through the traffic engine, over loopback. */
#include "src/load/udp.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/load/udp_header.h"
#include "tests/unit/load_pairs.h"

static const struct run_spec udp_plain = {
	.protocol = RUN_UDP, .streams = 1, .block_bytes = 1448, .window_ms = 100
};

/* Enough for a test, and no more than a receiver's buffer holds. */
enum { FEW = 40 };

static void connect_udp(struct pairs *p, size_t n, int family)
{
	struct error err = { "" };

	for (p->n = 0; p->n < n; p->n++) {
		struct sockaddr_storage a = { .ss_family = (sa_family_t)family }, b = a;
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;
		socklen_t len = sizeof(a), blen = sizeof(b);
		int c = socket(family, SOCK_DGRAM, 0), s = socket(family, SOCK_DGRAM, 0);

		assert_true(c >= 0 && s >= 0);
		if (family == AF_INET)
			((struct sockaddr_in *)&a)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		else
			v6->sin6_addr = in6addr_loopback;
		b = a;
		assert_return_code(bind(s, (struct sockaddr *)&a, len), errno);
		assert_return_code(bind(c, (struct sockaddr *)&b, blen), errno);
		assert_return_code(getsockname(s, (struct sockaddr *)&a, &len), errno);
		assert_return_code(getsockname(c, (struct sockaddr *)&b, &blen), errno);
		assert_return_code(connect(c, (struct sockaddr *)&a, len), errno);
		assert_return_code(connect(s, (struct sockaddr *)&b, blen), errno);
		assert_int_equal(load_prepare_socket(c, &udp_plain, LOAD_SEND, &err), 0);
		assert_int_equal(load_prepare_socket(s, &udp_plain, LOAD_RECEIVE, &err), 0);
		p->client[p->n] = c;
		p->server[p->n] = s;
	}
}

static struct flow_sample flow_of(struct load *l, size_t i)
{
	struct counters *c = sample(l);
	struct flow_sample s = c->flows[i];

	counters_free(c);
	return s;
}

static struct load *start_one(const struct run_spec *spec, enum load_role role, int fd)
{
	struct error err = { "" };
	struct load *l;

	if (create_load(spec, role, &fd, 1, &l, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(load_start(l, &err), 0);
	return l;
}

/* A fixed amount, so that nothing depends on when somebody stops. */
static void amount_arrives(const struct run_spec *spec, size_t flows, int family)
{
	uint64_t bytes = spec->total_blocks * spec->block_bytes, packets = 0;
	struct counters *c;
	struct pairs p;
	struct ends e;

	connect_udp(&p, flows, family);
	e = start_ends(&p, spec);
	if (!reaches(e.receiver, bytes))
		fail_msg("%lu of %lu bytes", (unsigned long)load_bytes(e.receiver),
			 (unsigned long)bytes);
	assert_int_equal(settled_bytes(e.receiver), bytes);
	assert_true(load_done(e.sender));
	c = sample(e.receiver);
	for (size_t i = 0; i < flows; i++) {
		assert_int_equal(c->flows[i].skipped.v, 0);
		assert_int_equal(c->flows[i].out_of_order.v, 0);
		assert_int_equal(c->flows[i].duplicates.v, 0);
		assert_int_equal(c->flows[i].socket_drops.k, ND_KNOWN);
		assert_int_equal(c->flows[i].socket_drops.v, 0);
		assert_int_equal(c->flows[i].jitter_us.k, ND_KNOWN);
		packets += c->flows[i].packets.v;
	}
	assert_int_equal(packets, spec->total_blocks);
	counters_free(c);
	c = sample(e.sender);
	packets = 0;
	for (size_t i = 0; i < flows; i++)
		packets += c->flows[i].packets.v;
	assert_int_equal(packets, spec->total_blocks);
	counters_free(c);
	stop_ends(&e);
}

static void test_all_arrive(void **state)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct run_spec s = udp_plain;

	(void)state;
	s.total_blocks = FEW;
	for (unsigned int i = 0; i < 8; i++) {
		s.udp_gso = i & 1;
		s.udp_gro = i & 2;
		s.udp_counters_32bit = i & 4;
		amount_arrives(&s, 1, families[i & 1]);
	}
	amount_arrives(&s, 3, AF_INET);
	s.streams = 2;
	s.bidirectional = false;
	s.block_bytes = RUN_MIN_DATAGRAM_BYTES;
	amount_arrives(&s, 2, AF_INET);
	s.total_blocks = 5;
	s.block_bytes = 20000;
	amount_arrives(&s, 1, AF_INET);
	s.total_blocks = 2;
	s.block_bytes = RUN_MAX_DATAGRAM_BYTES;
	amount_arrives(&s, 1, AF_INET);
}

static void test_both_ways_at_once(void **state)
{
	struct run_spec s = udp_plain;
	struct pairs p;
	struct ends e;

	(void)state;
	s.bidirectional = true;
	s.total_blocks = FEW;
	connect_udp(&p, 2, AF_INET);
	e = start_ends(&p, &s);
	/* load_bytes() is of both flows of an end. */
	assert_true(reaches(e.receiver, 2 * FEW * s.block_bytes));
	assert_true(reaches(e.sender, 2 * FEW * s.block_bytes));
	assert_int_equal(flow_of(e.receiver, 0).packets.v, FEW);
	assert_int_equal(flow_of(e.sender, 1).packets.v, FEW);
	assert_string_equal(flow_of(e.sender, 1).direction.v, "receive");
	assert_int_equal(flow_of(e.sender, 1).skipped.v, 0);
	stop_ends(&e);
}

static void test_heads_and_payload(void **state)
{
	struct run_spec s = udp_plain;
	unsigned char got[4096], first[4096];
	struct pairs p;
	struct load *l;

	(void)state;
	s.block_bytes = 600;
	s.total_bytes = 4 * 600 + 50;	/* the last one is short */
	s.udp_gso = true;
	connect_udp(&p, 1, AF_INET);
	l = start_one(&s, LOAD_SEND, p.client[0]);
	for (uint64_t n = 1; n <= 5; n++) {
		struct udp_header h;
		uint64_t now = now_us(), sent;

		assert_int_equal(recv(p.server[0], got, sizeof(got), 0), n < 5 ? 600 : 50);
		assert_true(udp_header_get(got, sizeof(got), true, &h));
		assert_int_equal(h.number, n);
		sent = h.seconds * UINT64_C(1000000) + h.microseconds;
		assert_in_range(sent, now - 10000000, now + 10000000);
		if (n == 1)
			memcpy(first, got, 600);
		/* Noise, the same in each. */
		assert_memory_equal(got + 16, first + 16, n < 5 ? 584 : 34);
		assert_memory_not_equal(got + 16, got + 24, 8);
	}
	load_stop(l);
	close(p.server[0]);
}

static void put(int fd, const struct run_spec *s, uint64_t number)
{
	unsigned char datagram[2000] = { 0 };
	struct udp_header h = { 1, 2, number };

	udp_header_put(datagram, &h, true);
	assert_int_equal(send(fd, datagram, s->block_bytes, 0), (ssize_t)s->block_bytes);
}

/* Numbers written by hand, with what may come in between: nothing of it counts. */
static void test_receiver_counts(void **state)
{
	static const uint64_t numbers[] = { 1, 2, 4, 3, 3, 8 };
	static const char cookie[37] = "abcdefghijklmnopqrstuvwxyz2345672345";
	struct flow_sample f;
	struct pairs p;
	struct load *l;

	(void)state;
	connect_udp(&p, 1, AF_INET);
	assert_int_equal(send(p.client[0], cookie, sizeof(cookie), 0), sizeof(cookie));
	assert_int_equal(send(p.client[0], "", 0, 0), 0);
	assert_int_equal(send(p.client[0], "short", 5, 0), 5);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		put(p.client[0], &udp_plain, numbers[i]);
	l = start_one(&udp_plain, LOAD_RECEIVE, p.server[0]);
	assert_int_equal(send(p.client[0], cookie, sizeof(cookie), 0), sizeof(cookie));
	assert_true(reaches(l, 5 * udp_plain.block_bytes));
	assert_int_equal(settled_bytes(l), 5 * udp_plain.block_bytes);
	f = flow_of(l, 0);
	assert_int_equal(f.packets.v, 5);
	assert_int_equal(f.skipped.v, 4);
	assert_int_equal(f.out_of_order.v, 1);
	assert_int_equal(f.duplicates.v, 1);
	load_stop(l);
	close(p.client[0]);
}

/* What is told of the one kind is not told of the other. */
static void test_members_of_either_protocol(void **state)
{
	struct run_spec s = udp_plain;
	struct flow_sample f;
	struct pairs p;
	struct ends e;

	(void)state;
	s.total_blocks = 1;
	connect_udp(&p, 1, AF_INET);
	e = start_ends(&p, &s);
	assert_true(reaches(e.receiver, s.block_bytes));
	f = flow_of(e.receiver, 0);
	assert_int_equal(f.retransmits.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.rtt_us.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.snd_mss.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.option_sack.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.congestion_control.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.udp_gso_segments.k, ND_NOT_APPLICABLE);
	assert_true(nd_is_false(f.udp_gro));
	assert_int_equal(f.rcvbuf_bytes.k, ND_KNOWN);
	f = flow_of(e.sender, 0);
	assert_int_equal(f.bytes_retransmitted.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.skipped.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.jitter_us.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.socket_drops.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.udp_gso_segments.v, 1);
	stop_ends(&e);
	connect_pairs(&p, 1, &load_plain);
	e = start_ends(&p, &load_plain);
	f = flow_of(e.receiver, 0);
	assert_int_equal(f.packets.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.skipped.k, ND_NOT_APPLICABLE);
	assert_int_equal(f.socket_drops.k, ND_NOT_APPLICABLE);
	stop_ends(&e);
}

/* Every datagram whose number ends in binary 11 is dropped below the socket. */
static void drop_quarter(int fd)
{
	/* Filters of UDP sockets see the UDP header: 8 bytes, then ours. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8 + 15),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 3),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog prog = { .len = 5, .filter = code };

	assert_return_code(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)),
			   errno);
}

static void test_loss(void **state)
{
	struct run_spec s = udp_plain;
	struct flow_sample f;
	struct pairs p;
	struct ends e;

	(void)state;
	s.total_blocks = FEW;	/* 3, 7 ... 39 do not arrive; 40 does */
	for (int gso = 0; gso < 2; gso++) {
		s.udp_gso = gso;
		connect_udp(&p, 1, AF_INET);
		drop_quarter(p.server[0]);
		e = start_ends(&p, &s);
		assert_true(reaches(e.receiver, FEW * 3 / 4 * s.block_bytes));
		assert_int_equal(settled_bytes(e.receiver), FEW * 3 / 4 * s.block_bytes);
		f = flow_of(e.receiver, 0);
		assert_int_equal(f.packets.v, FEW * 3 / 4);
		assert_int_equal(f.skipped.v, FEW / 4);
		assert_int_equal(f.out_of_order.v, 0);
		stop_ends(&e);
	}
}

/* What overflows the receive buffer is lost, and told apart. */
static void test_socket_drops(void **state)
{
	int small = 4096;
	struct flow_sample f;
	struct pairs p;
	struct load *l;

	(void)state;
	connect_udp(&p, 1, AF_INET);
	setsockopt(p.server[0], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (uint64_t n = 1; n <= 100; n++)
		put(p.client[0], &udp_plain, n);
	l = start_one(&udp_plain, LOAD_RECEIVE, p.server[0]);
	assert_true(reaches(l, udp_plain.block_bytes));
	settled_bytes(l);
	put(p.client[0], &udp_plain, 101);
	pause_ms(100);
	settled_bytes(l);
	f = flow_of(l, 0);
	assert_true(f.packets.v >= 2 && f.packets.v < 101);
	assert_int_equal(f.packets.v + f.skipped.v, 101);
	assert_int_equal(f.socket_drops.v, f.skipped.v);
	load_stop(l);
	close(p.client[0]);
}

static void test_receive_buffer_is_raised(void **state)
{
	struct run_spec s = udp_plain;
	int fd = socket(AF_INET, SOCK_DGRAM, 0), before = 0, after = 0, told = 0;
	socklen_t len = sizeof(before);
	struct error err = { "" };

	(void)state;
	assert_return_code(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &before, &len), errno);
	assert_int_equal(load_prepare_socket(fd, &s, LOAD_RECEIVE, &err), 0);
	assert_return_code(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &after, &len), errno);
	assert_true(after >= before);
	s.rcvbuf_bytes = 50000;
	assert_int_equal(load_prepare_socket(fd, &s, LOAD_RECEIVE, &err), 0);
	assert_return_code(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &told, &len), errno);
	assert_int_equal(told, 100000);
	close(fd);
}

static void test_segments(void **state)
{
	struct run_spec s = udp_plain;
	struct flow_sample f;
	struct pairs p;
	struct load *l;

	(void)state;
	s.udp_gso = true;
	s.total_blocks = 1;
	connect_udp(&p, 2, AF_INET);
	l = start_one(&s, LOAD_SEND, p.client[0]);
	f = flow_of(l, 0);
	/* 65507 bytes of 1448; a kernel before 4.18 has none. */
	assert_true(f.udp_gso_segments.v == 45 || f.udp_gso_segments.v == 1);
	load_stop(l);
	/* Two do not fit into one message: nothing to cut. */
	s.block_bytes = 40000;
	l = start_one(&s, LOAD_SEND, p.client[1]);
	assert_int_equal(flow_of(l, 0).udp_gso_segments.v, 1);
	load_stop(l);
	close(p.server[0]);
	close(p.server[1]);
}

/* The kernel is stubborn: no checksums, then it does not cut.  The traffic flows all the same. */
static void test_segments_refused(void **state)
{
	struct run_spec s = udp_plain;
	int on = 1;
	struct pairs p;
	struct ends e;

	(void)state;
	s.udp_gso = true;
	s.total_blocks = FEW;
	connect_udp(&p, 1, AF_INET);
	assert_return_code(setsockopt(p.client[0], SOL_SOCKET, SO_NO_CHECK, &on, sizeof(on)),
			   errno);
	e = start_ends(&p, &s);
	assert_true(reaches(e.receiver, FEW * s.block_bytes));
	assert_int_equal(flow_of(e.sender, 0).udp_gso_segments.v, 1);
	assert_int_equal(flow_of(e.receiver, 0).skipped.v, 0);
	stop_ends(&e);
}

static void rate_is_kept(uint64_t rate_bps, uint64_t block, bool gso)
{
	struct run_spec s = udp_plain;
	uint64_t begun, before, us, bytes;
	struct pairs p;
	struct ends e;

	s.rate_bps = rate_bps;
	s.block_bytes = block;
	s.udp_gso = gso;
	connect_udp(&p, 1, AF_INET);
	e = start_ends(&p, &s);
	pause_ms(100);
	begun = now_us();
	before = load_bytes(e.sender);
	pause_ms(700);
	bytes = load_bytes(e.sender) - before;
	us = now_us() - begun;
	/* A busy machine may hold us up, but nothing makes us faster: 1 %, and one burst. */
	assert_true(bytes <= rate_bps / 8 * us / 1000000 * 101 / 100 + 2 * block +
			     rate_bps / 8 / 1000 + rate_bps / 80);
	assert_true(bytes >= rate_bps / 8 * us / 1000000 / 3);
	stop_ends(&e);
}

static void test_rate(void **state)
{
	(void)state;
	rate_is_kept(1000000, 1448, false);
	rate_is_kept(50000000, 1448, false);
	rate_is_kept(50000000, 1448, true);
	rate_is_kept(200000000, 8000, true);
}

static void test_other_end_gone(void **state)
{
	struct run_spec s = udp_plain;
	struct pairs p;
	struct load *l;
	int first = 0;

	(void)state;
	s.rate_bps = 10000000;
	connect_udp(&p, 1, AF_INET);
	close(p.server[0]);
	l = start_one(&s, LOAD_SEND, p.client[0]);
	assert_int_equal(broken(l, 1, &first), 1);
	assert_int_equal(first, EPIPE);
	load_stop(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrive),
		cmocka_unit_test(test_both_ways_at_once),
		cmocka_unit_test(test_heads_and_payload),
		cmocka_unit_test(test_receiver_counts),
		cmocka_unit_test(test_members_of_either_protocol),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_socket_drops),
		cmocka_unit_test(test_receive_buffer_is_raised),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_segments_refused),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_other_end_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

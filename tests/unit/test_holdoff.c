/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a worker lets packets gather, and when it stays awake: both for packets of another CPU. */
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/load/holdoff.h"

enum { BUFFER = 128 * 1024, BUFFER_GIVEN = 2 * BUFFER };

/* Two connected datagram sockets of loopback; packets come in on the CPU of who sends. */
struct pair { int receiver, sender; };

static struct pair new_pair(void)
{
	struct pair p = { socket(AF_INET, SOCK_DGRAM, 0), socket(AF_INET, SOCK_DGRAM, 0) };
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int bytes = BUFFER;

	assert_return_code(bind(p.receiver, (struct sockaddr *)&a, sizeof(a)), errno);
	getsockname(p.receiver, (struct sockaddr *)&a, &len);
	assert_return_code(connect(p.sender, (struct sockaddr *)&a, len), errno);
	getsockname(p.sender, (struct sockaddr *)&a, &len);
	assert_return_code(connect(p.receiver, (struct sockaddr *)&a, len), errno);
	setsockopt(p.receiver, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return p;
}

static void close_pair(struct pair p)
{
	close(p.receiver);
	close(p.sender);
}

/* False: this process may not run there. */
static bool move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* Of the CPUs it may run on: the first two, -1 where there are not so many. */
static cpu_set_t two_cpus(int cpu[2])
{
	cpu_set_t all;
	int n = 0;

	cpu[0] = cpu[1] = -1;
	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &all))
			cpu[n++] = i;
	return all;
}

static const struct run_spec datagrams = { .protocol = RUN_UDP };
static struct load_common common = { .spec = &datagrams };

/* Not on the stack: ASan's has no room for its alignment. */
static struct flow *new_flow(int fd)
{
	struct flow *f = aligned_alloc(alignof(struct flow), sizeof(*f));

	assert_non_null(f);
	memset(f, 0, sizeof(*f));
	f->fd = fd;
	f->common = &common;
	return f;
}

/* The most that may gather, once `bytes` came in within the last millisecond. */
static struct holdoff wait_after(struct flow *f, uint64_t bytes)
{
	struct holdoff h = { .moved_bytes = bytes, .waited_ns = monotonic_ns() - 1000000 };

	assert_true(holdoff_wait(&h, &f, 1) == (h.awake_until_ns == 0));
	assert_int_equal(h.moved_bytes, 0);
	return h;
}

static void test_slow_flows_wake_at_once(void **state)
{
	struct pair p = new_pair();
	struct flow *f = new_flow(p.receiver);

	(void)state;
	assert_int_equal(wait_after(f, 100 * 1000).current, 0);	/* 0.8 Gbit/s */
	free(f);
	close_pair(p);
}

/* From one CPU to another, or to the same. */
static uint64_t most_between(int from, int to)
{
	struct pair p = new_pair();
	struct flow *f = new_flow(p.receiver);

	assert_true(move_to(from));
	assert_int_equal(send(p.sender, "x", 1, 0), 1);
	assert_true(move_to(to));
	struct holdoff h = wait_after(f, 10 * 1000 * 1000);
	assert_int_not_equal(h.current, 0);
	free(f);
	close_pair(p);
	return h.most_bytes;
}

static void test_packets_of_the_same_cpu_wake_at_once(void **state)
{
	int cpu[2];
	cpu_set_t all = two_cpus(cpu);

	(void)state;
	assert_int_equal(most_between(cpu[0], cpu[0]), 0);
	sched_setaffinity(0, sizeof(all), &all);
}

static void test_packets_of_another_cpu_gather(void **state)
{
	int cpu[2];
	cpu_set_t all = two_cpus(cpu);

	(void)state;
	if (cpu[1] < 0) {
		printf("skipped: one CPU only\n");
		skip();
	}
	assert_int_equal(most_between(cpu[1], cpu[0]), BUFFER_GIVEN / 64);
	sched_setaffinity(0, sizeof(all), &all);
}

/* More than its receiver has room for. */
static void overrun(struct pair p)
{
	static const char data[1024];

	for (size_t i = 0; i < 2 * BUFFER_GIVEN / sizeof(data); i++)
		send(p.sender, data, sizeof(data), 0);
}

static void test_who_lost_datagrams_here_stays_awake(void **state)
{
	int cpu[2];
	cpu_set_t all = two_cpus(cpu);

	(void)state;
	if (cpu[1] < 0) {
		printf("skipped: one CPU only\n");
		skip();
	}
	struct pair p = new_pair();
	struct flow *f = new_flow(p.receiver);
	assert_true(move_to(cpu[1]));
	overrun(p);
	assert_true(move_to(cpu[0]));
	struct holdoff h = wait_after(f, 10 * 1000 * 1000);
	uint64_t until = h.awake_until_ns;
	assert_true(until > monotonic_ns());
	assert_false(holdoff_wait(&h, &f, 1));	/* also when nothing came since */
	assert_int_equal(h.awake_until_ns, until);

	/* Then it sleeps again, unless there were more. */
	h.awake_until_ns = monotonic_ns();
	h.moved_bytes = UINT64_C(1) << 40;
	assert_true(holdoff_wait(&h, &f, 1));
	assert_true(move_to(cpu[1]));
	overrun(p);
	assert_true(move_to(cpu[0]));
	h.current = 0;
	h.moved_bytes = UINT64_C(1) << 40;
	assert_false(holdoff_wait(&h, &f, 1));
	sched_setaffinity(0, sizeof(all), &all);
	free(f);
	close_pair(p);
}

/* Its sender may need the CPU that it would keep. */
static void test_who_lost_them_on_its_own_cpu_sleeps(void **state)
{
	int cpu[2];
	cpu_set_t all = two_cpus(cpu);
	struct pair p = new_pair();
	struct flow *f = new_flow(p.receiver);

	(void)state;
	assert_true(move_to(cpu[0]));
	overrun(p);
	assert_int_equal(wait_after(f, 10 * 1000 * 1000).awake_until_ns, 0);
	sched_setaffinity(0, sizeof(all), &all);
	free(f);
	close_pair(p);
}

static void test_many_flows_wake_at_once(void **state)
{
	enum { MANY = 100 };
	struct pair p = new_pair();
	struct flow *f = new_flow(p.receiver), *all[MANY];
	struct holdoff h = { .moved_bytes = 10 * 1000 * 1000,
			     .waited_ns = monotonic_ns() - 1000000 };

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		all[i] = f;
	assert_true(holdoff_wait(&h, all, MANY));
	assert_int_equal(h.most_bytes, 0);
	free(f);
	close_pair(p);
}

static void test_a_broken_socket_wakes_at_once(void **state)
{
	struct flow *f = new_flow(-1);

	(void)state;
	assert_int_equal(wait_after(f, 10 * 1000 * 1000).most_bytes, 0);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_flows_wake_at_once),
		cmocka_unit_test(test_packets_of_the_same_cpu_wake_at_once),
		cmocka_unit_test(test_packets_of_another_cpu_gather),
		cmocka_unit_test(test_who_lost_datagrams_here_stays_awake),
		cmocka_unit_test(test_who_lost_them_on_its_own_cpu_sleeps),
		cmocka_unit_test(test_many_flows_wake_at_once),
		cmocka_unit_test(test_a_broken_socket_wakes_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

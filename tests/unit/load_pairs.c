/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/load_pairs.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

const struct run_spec load_plain = {
	.streams = 1, .block_bytes = 64 * 1024, .window_ms = 100
};

void pause_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void connect_pairs(struct pairs *p, size_t n, const struct run_spec *spec)
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

int create_load(const struct run_spec *spec, enum load_role role, const int *fds, size_t n,
		struct load **out, struct error *err)
{
	const struct load_config c = { .spec = spec, .role = role, .fds = fds, .n = n };

	return load_create(&c, out, err);
}

struct ends start_ends(const struct pairs *p, const struct run_spec *spec)
{
	struct error err = { "" };
	struct ends e;

	assert_int_equal(create_load(spec, LOAD_RECEIVE, p->server, p->n, &e.receiver, &err), 0);
	assert_int_equal(create_load(spec, LOAD_SEND, p->client, p->n, &e.sender, &err), 0);
	assert_int_equal(load_start(e.receiver, &err), 0);
	assert_int_equal(load_start(e.sender, &err), 0);
	return e;
}

void stop_ends(struct ends *e)
{
	load_stop(e->sender);
	load_stop(e->receiver);
}

bool reaches(const struct load *l, uint64_t goal)
{
	for (int i = 0; i < 400 && load_bytes(l) < goal; i++)
		pause_ms(5);
	return load_bytes(l) >= goal;
}

uint64_t settled_bytes(const struct load *l)
{
	uint64_t before;

	do {
		before = load_bytes(l);
		pause_ms(100);
	} while (load_bytes(l) != before);
	return before;
}

size_t broken(const struct load *l, size_t goal, int *first_errno)
{
	for (int i = 0; i < 400 && load_broken_flows(l, first_errno) < goal; i++)
		pause_ms(5);
	return load_broken_flows(l, first_errno);
}

struct counters *sample(struct load *l)
{
	struct counters *c = counters_new(0);

	assert_non_null(c);
	assert_int_equal(load_sample(l, c), 0);
	return c;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/load/ping.h"

#define MS UINT64_C(1000000)

/* ---- the ledger ---- */

static struct ping_ledger *ledger(void)
{
	struct ping_ledger *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	l->idle_until_ns = 100 * MS;
	return l;
}

static int answer(struct ping_ledger *l, uint64_t number, uint64_t held_ns, uint64_t now_ns,
		  uint64_t queued_ns)
{
	const struct ping_message m = { .number = number, .held_ns = held_ns };

	return ping_ledger_answer(l, &m, now_ns, queued_ns);
}

static void test_message(void **state)
{
	static const unsigned char bytes[PING_MESSAGE_BYTES] = { 0, 0, 0, 0, 0, 0, 1, 2,
								 0xff, 0, 0, 0, 0, 0, 0, 1 };
	unsigned char out[PING_MESSAGE_BYTES];
	struct ping_message m;

	(void)state;
	ping_message_get(bytes, &m);
	assert_true(m.number == 258);
	assert_true(m.held_ns == UINT64_C(0xff00000000000001));
	ping_message_put(out, &m);
	assert_memory_equal(out, bytes, sizeof(bytes));
}

static void test_waiting_of_ours_is_taken_off(void **state)
{
	struct ping_ledger *l = ledger();
	const struct histogram *h = &l->result.times[PING_LOADED];

	(void)state;
	assert_true(ping_ledger_ask(l, PING_LOADED, 1000 * MS));
	assert_int_equal(answer(l, 0, 3 * MS, 1010 * MS, 2 * MS), 0);
	assert_true(h->max_ns == 5 * MS);
	/* A clock that was set, a peer that lies: what cannot be is not taken off. */
	assert_true(ping_ledger_ask(l, PING_LOADED, 2000 * MS));
	assert_int_equal(answer(l, 1, UINT64_MAX, 2010 * MS, UINT64_MAX), 0);
	assert_true(h->max_ns == 10 * MS);
	assert_true(ping_ledger_ask(l, PING_LOADED, 3000 * MS));
	assert_int_equal(answer(l, 2, 6 * MS, 3010 * MS, 6 * MS), 0);
	assert_true(h->min_ns == 4 * MS);
	/* Back in time. */
	assert_true(ping_ledger_ask(l, PING_LOADED, 4000 * MS));
	assert_int_equal(answer(l, 3, 0, 3999 * MS, 0), 0);
	assert_true(h->min_ns == 0);
	assert_true(h->count == 4);
	free(l);
}

static void test_answers_come_as_asked(void **state)
{
	struct ping_ledger *l = ledger();

	(void)state;
	assert_int_equal(answer(l, 0, 0, 1, 0), -EBADMSG);
	assert_true(ping_ledger_ask(l, PING_IDLE, 1));
	assert_true(ping_ledger_ask(l, PING_IDLE, 2));
	assert_int_equal(answer(l, 1, 0, 3, 0), -EBADMSG);
	assert_int_equal(answer(l, UINT64_MAX, 0, 3, 0), -EBADMSG);
	assert_int_equal(answer(l, 0, 0, 3, 0), 0);
	assert_int_equal(answer(l, 0, 0, 3, 0), -EBADMSG);
	assert_int_equal(answer(l, 1, 0, 3, 0), 0);
	assert_int_equal(answer(l, 2, 0, 3, 0), -EBADMSG);
	assert_true(l->result.times[PING_IDLE].count == 2);
	free(l);
}

static void test_idle_ends_where_traffic_begins(void **state)
{
	struct ping_ledger *l = ledger();

	(void)state;
	assert_true(ping_ledger_ask(l, PING_IDLE, 90 * MS));
	assert_true(ping_ledger_ask(l, PING_IDLE, 95 * MS));
	assert_true(ping_ledger_ask(l, PING_LOADED, 200 * MS));
	assert_int_equal(answer(l, 0, 0, 100 * MS, 0), 0);
	assert_int_equal(answer(l, 1, 0, 101 * MS, 0), 0);
	assert_int_equal(answer(l, 2, 0, 300 * MS, 0), 0);
	assert_true(ping_ledger_ask(l, PING_LOADED, 310 * MS));
	ping_ledger_close(l);
	assert_true(l->result.times[PING_IDLE].count == 1);
	assert_true(l->result.unanswered[PING_IDLE] == 1);
	assert_true(l->result.times[PING_LOADED].count == 1);
	assert_true(l->result.times[PING_LOADED].max_ns == 100 * MS);
	assert_true(l->result.unanswered[PING_LOADED] == 1);
	free(l);
}

static void test_no_more_than_fit_are_open(void **state)
{
	struct ping_ledger *l = ledger();

	(void)state;
	l->idle_until_ns = 2000 * MS;
	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < PING_IN_FLIGHT; i++)
			assert_true(ping_ledger_ask(l, PING_IDLE, i));
		assert_false(ping_ledger_ask(l, PING_IDLE, 5));
		for (uint64_t i = 0; i < PING_IN_FLIGHT; i++)
			assert_int_equal(answer(l, l->answered, 0, 1000 * MS, 0), 0);
	}
	assert_true(l->result.times[PING_IDLE].count == 3 * PING_IN_FLIGHT);
	ping_ledger_close(l);
	assert_true(l->result.unanswered[PING_IDLE] == 0);
	free(l);
}

/* A second one would wait behind the first in our own kernel, and hide nothing by not being sent:
 * what the first took counts for every beat that it took. */
static void test_one_is_on_its_way_under_load(void **state)
{
	struct ping_ledger *l = ledger();
	const struct histogram *h = &l->result.times[PING_LOADED];

	(void)state;
	assert_true(ping_ledger_ask(l, PING_IDLE, 90 * MS));
	assert_true(ping_ledger_ask(l, PING_LOADED, 200 * MS));
	assert_false(ping_ledger_ask(l, PING_LOADED, 210 * MS));
	assert_false(ping_ledger_ask(l, PING_LOADED, 220 * MS));
	assert_int_equal(answer(l, 0, 0, 95 * MS, 0), 0);
	assert_int_equal(answer(l, 1, 0, 225 * MS, 0), 0);
	assert_true(h->count == 3 && h->min_ns == 25 * MS && h->max_ns == 25 * MS);
	assert_true(ping_ledger_ask(l, PING_LOADED, 230 * MS));
	assert_int_equal(answer(l, 2, 0, 231 * MS, 0), 0);
	assert_true(h->count == 4 && h->min_ns == 1 * MS);
	assert_true(ping_ledger_ask(l, PING_LOADED, 240 * MS));
	assert_false(ping_ledger_ask(l, PING_LOADED, 250 * MS));
	ping_ledger_close(l);
	assert_true(l->result.unanswered[PING_LOADED] == 1);
	free(l);
}

/* ---- two ends ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void wait_ms(unsigned int ms)
{
	const struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

static void connected_pair(int fds[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(a);

	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fds[0], (struct sockaddr *)&a, sizeof(a)), 0);
	fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fds[1] >= 0);
	close(listener);
}

static struct ping *start(const struct ping_config *c)
{
	struct error err = { "" };
	struct ping *p = NULL;

	if (ping_start(c, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static struct ping_config asking(int fd)
{
	uint64_t now = now_ns();
	struct ping_config c = { .fd = fd, .tos = 8, .idle_until_ns = now + 10000 * MS };

	c.send[PING_IDLE].from_ns = now;
	c.send[PING_IDLE].to_ns = now + 100 * MS;
	c.send[PING_LOADED].from_ns = now + 150 * MS;
	c.send[PING_LOADED].to_ns = now + 100000 * MS;
	return c;
}

static void test_live(void **state)
{
	struct ping_result got, none;
	struct ping *client, *server;
	int fds[2];

	(void)state;
	connected_pair(fds);
	server = start(&(struct ping_config){ .fd = fds[1], .echo = true });
	struct ping_config c = asking(fds[0]);
	client = start(&c);
	wait_ms(500);
	ping_quiet(client);
	wait_ms(500);
	ping_stop(client, &got);
	ping_stop(server, &none);
	/* At most what the beats allow; a busy machine sends fewer. */
	assert_in_range(got.times[PING_IDLE].count, 1, 51);
	assert_in_range(got.times[PING_LOADED].count, 1, 51);
	assert_true(got.unanswered[PING_IDLE] + got.unanswered[PING_LOADED] <= 1);
	/* Loopback; seconds would be ours. */
	assert_true(histogram_quantile(&got.times[PING_IDLE], 0.5).v < 1e8);
	assert_true(none.times[PING_IDLE].count == 0 && none.unanswered[PING_LOADED] == 0);
}

static void test_silent_and_foreign_peers(void **state)
{
	static const unsigned char noise[PING_MESSAGE_BYTES * 3] = { 0xff, 1, 2, 3 };
	struct ping_result got;
	struct ping *p;
	int fds[2];

	(void)state;
	/* Never answers. */
	connected_pair(fds);
	struct ping_config c = asking(fds[0]);
	p = start(&c);
	wait_ms(60);
	ping_stop(p, &got);
	assert_true(got.times[PING_IDLE].count == 0);
	assert_true(got.unanswered[PING_IDLE] >= 1);
	close(fds[1]);
	/* Answers what nobody asked, in pieces. */
	connected_pair(fds);
	c = asking(fds[0]);
	p = start(&c);
	assert_int_equal(send(fds[1], noise, 7, 0), 7);
	assert_int_equal(send(fds[1], noise, sizeof(noise), MSG_NOSIGNAL), sizeof(noise));
	wait_ms(60);
	ping_stop(p, &got);
	assert_true(got.times[PING_IDLE].count == 0);
	close(fds[1]);
	/* Gone at once. */
	connected_pair(fds);
	close(fds[1]);
	c = asking(fds[0]);
	p = start(&c);
	wait_ms(20);
	ping_stop(p, NULL);
	ping_stop(NULL, &got);
	assert_true(got.unanswered[PING_IDLE] == 0);
}

static void test_no_socket(void **state)
{
	struct error err = { "" };
	struct ping *p = NULL;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_true(ping_start(&(struct ping_config){ .fd = fds[0], .echo = true }, &p, &err) < 0);
	assert_null(p);
	assert_true(strlen(err.text) > 0);
	/* It was taken over: the other end sees it closed. */
	assert_int_equal(read(fds[1], &(char){ 0 }, 1), 0);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_waiting_of_ours_is_taken_off),
		cmocka_unit_test(test_answers_come_as_asked),
		cmocka_unit_test(test_idle_ends_where_traffic_begins),
		cmocka_unit_test(test_no_more_than_fit_are_open),
		cmocka_unit_test(test_one_is_on_its_way_under_load),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_silent_and_foreign_peers),
		cmocka_unit_test(test_no_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iperf3's protocol from people who do not keep to it, at both ends. */
#include "tests/unit/iperf3_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/iperf3_wire.h"
#include "src/peer/wire.h"

static struct fixture *start(const struct peer_timing *t)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1", .allow_iperf3 = true };

	return fixture_start(&o, t);
}

/* ---- clients ---- */

static void test_bad_parameters(void **state)
{
	static char deep[4000];
	static const struct { const char *text; uint32_t code; } cases[] = {
		{ "{\"tcp\":true,\"parallel\":65535}", IPERF3_ENUMSTREAMS },
		{ "{\"tcp\":true,\"parallel\":-1}", IPERF3_ENUMSTREAMS },
		{ "{\"udp\":true,\"len\":1e9}", IPERF3_EBLOCKSIZE },
		{ "{\"udp\":true,\"len\":1}", IPERF3_EUDPBLOCKSIZE },
		{ "{\"udp\":true,\"bandwidth\":-1e300}", IPERF3_ERECVPARAMS },
		{ "{\"tcp\":true,\"time\":1e19}", IPERF3_EDURATION },
		{ "{\"tcp\":true,\"time\":100000}", IPERF3_EDURATION },
	};
	struct fixture *f = start(NULL);
	int fd;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = raw_connect(f->port);
		assert_int_equal(raw_greet(fd, cases[i].text), IPERF3_SERVER_ERROR);
		assert_error_code(fd, cases[i].code);
		close(fd);
	}
	memset(deep, '[', sizeof(deep) - 1);
	fd = raw_connect(f->port);
	assert_int_equal(raw_greet(fd, deep), 0);
	assert_true(raw_closed(fd, PATIENCE_MS));
	close(fd);
	fixture_stop(f);
}

enum { AFTER_CREATE, AFTER_START };

/* As far as that; the control connection. */
static int client_at(struct fixture *f, int stage, int *data)
{
	int fd = raw_connect(f->port);

	assert_int_equal(raw_greet(fd, "{\"tcp\":true,\"time\":1,\"len\":1000}"),
			 IPERF3_CREATE_STREAMS);
	*data = -1;
	if (stage == AFTER_CREATE)
		return fd;
	*data = raw_connect(f->port);
	assert_int_equal(send(*data, RAW_COOKIE, PEER_COOKIE_BYTES, MSG_NOSIGNAL),
			 PEER_COOKIE_BYTES);
	assert_int_equal(next_state(fd), IPERF3_TEST_START);
	assert_int_equal(next_state(fd), IPERF3_TEST_RUNNING);
	return fd;
}

/* At each stage: another state than is due, silence, or it is gone.  A good client is served. */
static void misbehave(int stage, int what, const char *event)
{
	struct peer_timing t = patient;
	size_t fds = count_entries("/proc/self/fd"), tasks = count_entries("/proc/self/task");
	struct fixture *f;
	struct peer *good;
	int data, fd;

	if (what < 0)
		t.data_ms = 300;
	f = start(&t);
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	fd = client_at(f, stage, &data);
	good = fixture_client(f, NULL);
	if (what > 0)
		say(fd, (unsigned char)what);
	else if (what == 0)
		close(fd);
	assert_true(fixture_saw(f, event));
	if (what)
		assert_true(raw_closed(fd, PATIENCE_MS));
	peer_close(good);
	if (what)
		close(fd);
	if (data >= 0)
		close(data);
	fixture_stop(f);
	assert_back_at("/proc/self/fd", fds);
	assert_back_at("/proc/self/task", tasks);
}

static void test_bad_clients(void **state)
{
	(void)state;
	misbehave(AFTER_CREATE, IPERF3_CLIENT_TERMINATE, "iperf3 test over: it gave up");
	misbehave(AFTER_CREATE, IPERF3_TEST_END, "iperf3 test over: it gave up");
	misbehave(AFTER_CREATE, 77, "iperf3 test over: it gave up");
	misbehave(AFTER_CREATE, 0, "iperf3 test over: ");
	misbehave(AFTER_CREATE, -1, "its streams did not come in time");
	misbehave(AFTER_START, IPERF3_CLIENT_TERMINATE, "iperf3 test over: gone in the middle");
	misbehave(AFTER_START, IPERF3_DONE, "iperf3 test over: gone in the middle");
	misbehave(AFTER_START, 77, "iperf3 test over: gone in the middle");
	misbehave(AFTER_START, 0, "iperf3 test over: gone in the middle");
}

static void bad_results(uint32_t announced, const char *text)
{
	struct fixture *f = start(NULL);
	int data, fd = client_at(f, AFTER_START, &data);

	/* The fake run wants a byte and is over. */
	assert_int_equal(send(data, "", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(next_state(fd), IPERF3_EXCHANGE_RESULTS);
	say_text(fd, announced ? announced : (uint32_t)strlen(text), text);
	assert_int_equal(next_state(fd), IPERF3_SERVER_ERROR);
	assert_error_code(fd, IPERF3_ERECVRESULTS);
	close(fd);
	close(data);
	fixture_stop(f);
}

#define STREAM(id_) "{\"id\":" id_ ",\"bytes\":1,\"retransmits\":0,\"jitter\":0,\"errors\":0," \
		    "\"packets\":0}"

static void test_bad_results(void **state)
{
	(void)state;
	bad_results(0xffffffff, "");
	bad_results(1, "x");
	bad_results(0, "[]");
	bad_results(0, "{\"streams\":7}");
	bad_results(0, "{\"streams\":[]}");
	bad_results(0, "{\"streams\":[" STREAM("2") "]}");
	bad_results(0, "{\"streams\":[" STREAM("3") "]}");
	bad_results(0, "{\"streams\":[" STREAM("-1") "]}");
	bad_results(0, "{\"streams\":[" STREAM("1") "," STREAM("1") "]}");
	bad_results(0, "{\"streams\":[{\"id\":1,\"bytes\":\"many\"}]}");
}

/* ---- UDP streams ---- */

static int udp_from(const char *address, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_int_equal(inet_pton(AF_INET, address, &a.sin_addr), 1);
	assert_return_code(bind(fd, (struct sockaddr *)&a, sizeof(a)), errno);
	a.sin_port = htons(port);
	assert_int_equal(inet_pton(AF_INET, "127.0.0.1", &a.sin_addr), 1);
	assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof(a)), errno);
	return fd;
}

static void assert_hello(int fd, const char *hello, const char *answer)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char got[100];

	assert_int_equal(send(fd, hello, 4, 0), 4);
	assert_int_equal(poll(&p, 1, answer ? PATIENCE_MS : 60), answer ? 1 : 0);
	assert_int_equal(recv(fd, got, sizeof(got), MSG_DONTWAIT), answer ? 4 : -1);
	if (answer)
		assert_memory_equal(got, answer, 4);
}

static void test_hellos(void **state)
{
	static const char parameters[] = "{\"udp\":true,\"time\":1,\"len\":1000,\"parallel\":2}";
	struct fixture *f = start(NULL);
	int stranger = udp_from("127.0.0.2", f->port), one = udp_from("127.0.0.1", f->port),
	    two = udp_from("127.0.0.1", f->port), three = udp_from("127.0.0.1", f->port);
	int first = raw_connect(f->port), second = raw_connect(f->port);
	unsigned char header[4];
	char cookie[PEER_COOKIE_BYTES] = RAW_COOKIE;

	(void)state;
	cookie[0] = 'z';
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	assert_int_equal(raw_greet(first, parameters), IPERF3_CREATE_STREAMS);
	/* Another client of this host waits: hellos do not say whose they are. */
	wire_put_be32(header, (uint32_t)strlen(parameters));
	assert_int_equal(send(second, cookie, sizeof(cookie), 0), PEER_COOKIE_BYTES);
	assert_int_equal(next_state(second), IPERF3_PARAM_EXCHANGE);
	assert_int_equal(send(second, header, 4, 0), 4);
	assert_true(send(second, parameters, strlen(parameters), 0) > 0);
	assert_hello(stranger, "9876", NULL);
	assert_hello(one, "6789", NULL);
	assert_hello(one, "9876", "6789");
	assert_hello(one, "9876", "6789");	/* it had not heard */
	assert_hello(two, "\x15\xcd\x5b\x07", "\xb1\x68\xde\x3a");
	assert_int_equal(next_state(first), IPERF3_TEST_START);
	assert_int_equal(next_state(second), IPERF3_CREATE_STREAMS);
	assert_hello(three, "9876", "6789");
	close(second);
	assert_true(fixture_saw(f, "iperf3 test over: "));
	close(first);
	close(stranger);
	close(one);
	close(two);
	close(three);
	fixture_stop(f);
}

static struct fixture *asked_for_udp(const char *parameters, int *control)
{
	struct fixture *f = start(NULL);

	*control = raw_connect(f->port);
	assert_int_equal(raw_greet(*control, parameters), IPERF3_CREATE_STREAMS);
	return f;
}

/*
 * Four bytes from a program beside it are taken for the client's, whose own come when there are
 * enough already.  It is answered, and what it sends counts.
 */
static void test_another_program_opens_a_stream(void **state)
{
	static const char block[1000];
	int control;
	struct fixture *f = asked_for_udp("{\"udp\":true,\"time\":60,\"len\":1000,"
					  "\"parallel\":2}", &control);
	int other = udp_from("127.0.0.1", f->port), one = udp_from("127.0.0.1", f->port),
	    two = udp_from("127.0.0.1", f->port);
	uint64_t until = deadline_in_ms(PATIENCE_MS);

	(void)state;
	atomic_store(&f->run_kind, FAKE_RUN_TAKES);
	assert_hello(other, "9876", "6789");
	assert_hello(one, "9876", "6789");
	assert_hello(two, "9876", "6789");
	assert_int_equal(next_state(control), IPERF3_TEST_START);
	assert_int_equal(next_state(control), IPERF3_TEST_RUNNING);
	for (;;) {
		assert_int_equal(send(one, block, sizeof(block), 0), sizeof(block));
		assert_int_equal(send(two, block, sizeof(block), 0), sizeof(block));
		sleep_ms(10);
		if (atomic_load(&f->taken[0]) && atomic_load(&f->taken[1]))
			break;
		assert_true(monotonic_ns() < until);
	}
	say(control, IPERF3_TEST_END);
	assert_int_equal(next_state(control), IPERF3_EXCHANGE_RESULTS);
	close(control);
	close(other);
	close(one);
	close(two);
	fixture_stop(f);
}

/* What a client is told when another program of its host opens a stream too, and stays or goes. */
static unsigned char beside_a_receiver(bool stays)
{
	int control;
	struct fixture *f = asked_for_udp("{\"udp\":true,\"time\":60,\"len\":1000,"
					  "\"reverse\":true}", &control);
	int other = udp_from("127.0.0.1", f->port), own = udp_from("127.0.0.1", f->port);
	unsigned char answer;

	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	assert_int_equal(send(other, "9876", 4, 0), 4);
	assert_hello(own, "9876", "6789");
	if (!stays)
		close(other);
	answer = next_state(control);
	if (answer == IPERF3_SERVER_ERROR)
		assert_error_code(control, IPERF3_ECREATESTREAM);
	else
		assert_int_equal(next_state(control), IPERF3_TEST_RUNNING);
	close(control);
	close(own);
	if (stays)
		close(other);
	fixture_stop(f);
	return answer;
}

/* It says nothing that would tell; on a busy machine its own may come after our start. */
static void test_another_program_beside_a_receiver(void **state)
{
	unsigned char answer = 0;

	(void)state;
	for (int i = 0; i < 20 && answer != IPERF3_SERVER_ERROR; i++)
		answer = beside_a_receiver(true);
	assert_int_equal(answer, IPERF3_SERVER_ERROR);
	for (int i = 0; i < 20 && answer != IPERF3_TEST_START; i++)
		answer = beside_a_receiver(false);
	assert_int_equal(answer, IPERF3_TEST_START);
}

/* ---- servers ---- */

/* Answers cookie with 9 and parameters with 10. */
static void play_until_streams(int fd)
{
	fake_server_greet(fd, IPERF3_CREATE_STREAMS);
}

static const unsigned char rate_error[] = { 0xfe, 0, 0, 0, 27, 0, 0, 0, 0 };

static void play_error(struct fake_server *f, int fd)
{
	char cookie[PEER_COOKIE_BYTES];

	(void)f;
	raw_read(fd, cookie, sizeof(cookie), PATIENCE_MS);
	(void)!send(fd, rate_error, sizeof(rate_error), MSG_NOSIGNAL);
	raw_closed(fd, PATIENCE_MS);
}

/* By then it has nothing against our login. */
static void play_late_error(struct fake_server *f, int fd)
{
	(void)f;
	play_until_streams(fd);
	(void)!send(fd, rate_error, sizeof(rate_error), MSG_NOSIGNAL);
	raw_closed(fd, PATIENCE_MS);
}

static void play_unknown(struct fake_server *f, int fd)
{
	(void)f;
	fake_server_greet(fd, 77);
	raw_closed(fd, PATIENCE_MS);
}

static void play_terminate(struct fake_server *f, int fd)
{
	(void)f;
	play_until_streams(fd);
	say(fd, IPERF3_SERVER_TERMINATE);
	raw_closed(fd, PATIENCE_MS);
}

static void play_silence(struct fake_server *f, int fd)
{
	(void)f;
	play_until_streams(fd);
	raw_closed(fd, PATIENCE_MS);
}

static void play_hang_up(struct fake_server *f, int fd)
{
	(void)f;
	play_until_streams(fd);
}

static void play_wrong_order(struct fake_server *f, int fd)
{
	(void)f;
	play_until_streams(fd);
	say(fd, IPERF3_EXCHANGE_RESULTS);
	raw_closed(fd, PATIENCE_MS);
}

/* As before 3.7: it wants two streams, and refuses the two that would go the other way. */
static void play_one_way(struct fake_server *f, int fd)
{
	static const unsigned char denied = IPERF3_ACCESS_DENIED;
	char cookie[PEER_COOKIE_BYTES];
	int data[4];

	play_until_streams(fd);
	for (int i = 0; i < 4; i++) {
		data[i] = accept4(f->listen_fd, NULL, NULL, SOCK_CLOEXEC);
		raw_read(data[i], cookie, sizeof(cookie), PATIENCE_MS);
	}
	say(fd, IPERF3_TEST_START);
	say(fd, IPERF3_TEST_RUNNING);
	for (int i = 2; i < 4; i++)
		(void)!send(data[i], &denied, 1, MSG_NOSIGNAL);
	sleep_ms(20);
	close(data[2]);
	close(data[3]);
	raw_closed(fd, PATIENCE_MS);
	close(data[0]);
	close(data[1]);
}

static void refused(void (*play)(struct fake_server *f, int fd), int rc, const char *text)
{
	const struct run_spec spec = { .streams = 2, .block_bytes = 1000, .window_ms = 100,
				       .bidirectional = play == play_one_way };
	size_t open_before = count_entries("/proc/self/fd");
	struct fake_server f = { .port = 0 };
	struct peer_target target = { .host = "127.0.0.1", .dialect = PEER_IPERF3 };
	struct error err = { "" };
	struct peer *p = NULL;
	int fds[4] = { -1, -1, -1, -1 }, got;

	fake_server_start(&f, play);
	target.port = f.port;
	target.key.open = true;
	assert_int_equal(client_connect(&target, &patient, &p, &err), 0);
	got = peer_run_prepare(p, &spec, fds, rc == -ETIMEDOUT ? 400 : PATIENCE_MS, &err);
	if (got != rc || !strstr(err.text, text))
		fail_msg("%d (not %d): %s (not %s)", got, rc, err.text, text);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		assert_int_equal(fds[i], -1);
	peer_close(p);
	fake_server_stop(&f);
	assert_back_at("/proc/self/fd", open_before);
}

static void test_bad_servers(void **state)
{
	(void)state;
	refused(play_error, -EPROTONOSUPPORT, "error 27 (it limits the total rate)");
	refused(play_late_error, -EPROTONOSUPPORT,
		"broke the test off with error 27 (it limits the total rate)");
	refused(play_unknown, -EPROTO, "sent state 77, which was not due");
	refused(play_terminate, -ESHUTDOWN, "was stopped");
	refused(play_silence, -ETIMEDOUT, "says nothing after our streams");
	refused(play_hang_up, -ECONNRESET, "closed the connection after our streams");
	refused(play_wrong_order, -EPROTO, "sent state 13, which was not due");
	refused(play_one_way, -EOPNOTSUPP, "both at once takes 3.7 or newer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_bad_clients),
		cmocka_unit_test(test_bad_results),
		cmocka_unit_test(test_hellos),
		cmocka_unit_test(test_another_program_opens_a_stream),
		cmocka_unit_test(test_another_program_beside_a_receiver),
		cmocka_unit_test(test_bad_servers),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the datagrams of a UDP run find their flow, and who is not let in. */
#include "tests/unit/peer_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/dial.h"
#include "src/peer/wire.h"

static const struct run_spec udp_run = {
	.protocol = RUN_UDP, .direction = RUN_FORWARD, .streams = 3, .block_bytes = 1000,
	.window_ms = 100
};

static int udp_socket(const char *address)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(inet_pton(AF_INET, address, &a.sin_addr), 1);
	assert_return_code(bind(fd, (struct sockaddr *)&a, sizeof(a)), errno);
	return fd;
}

static void connect_udp(int fd, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof(a)), errno);
}

/* True when nobody has UDP sockets on the port any more; asked for a while. */
static bool udp_port_is_free(uint16_t port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };

	for (int i = 0; i < 200; i++) {
		int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

		rc = bind(fd, (struct sockaddr *)&a, sizeof(a));
		if (fd < 0) {
			fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
			rc = bind(fd, (struct sockaddr *)&v4, sizeof(v4));
		}
		close(fd);
		if (rc == 0)
			return true;
		sleep_ms(10);
	}
	return false;
}

static void test_runs(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct run_spec spec = udp_run;

	(void)state;
	/* Each flow's number goes over it: flow i is flow i at both ends. */
	fixture_run(p, &spec);
	assert_true(fixture_saw(f, "RUN 127.0.0.1: run: 3 UDP streams, the client sends"));
	assert_int_equal(f->last_spec.protocol, RUN_UDP);
	spec.direction = RUN_REVERSE;
	fixture_run(p, &spec);
	spec.streams = 100;
	fixture_run(p, &spec);
	spec.streams = 1;
	fixture_run(p, &spec);
	assert_true(udp_port_is_free(f->port));
	/* TCP goes on as ever on the same port. */
	fixture_run(p, &small_run);
	peer_close(p);
	fixture_stop(f);
}

static void test_both_ways(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct run_spec spec = udp_run;
	struct error err = { "" };
	int fds[RUN_MAX_STREAMS];

	(void)state;
	spec.bidirectional = true;
	for (int i = 0; i < 2; i++) {
		if (peer_run_prepare(p, &spec, fds, PATIENCE_MS, &err) < 0)
			fail_msg("%s", err.text);
		for (size_t k = 0; k < run_flows(&spec); k++)
			assert_true(fds[k] >= 0);
		fixture_close_run(fds, run_flows(&spec));
		peer_run_cancel(p);
	}
	assert_true(udp_port_is_free(f->port));
	peer_close(p);
	fixture_stop(f);
}

static void run_with(const struct fixture *f, const char *host, const char *bind_address)
{
	struct peer_target target = fixture_target(f);
	struct run_spec spec = udp_run;
	struct error err = { "" };
	struct peer *p;

	target.host = host;
	target.bind_address = bind_address;
	if (client_connect(&target, &patient, &p, &err) < 0) {
		print_message("%s: not possible here: %s\n", host, err.text);
		return;
	}
	fixture_run(p, &spec);
	spec.direction = RUN_REVERSE;
	fixture_run(p, &spec);
	peer_close(p);
}

static void test_addresses(void **state)
{
	struct peer_server_options o = { .bind_address = NULL };
	struct fixture *f = fixture_start(&o, NULL);

	(void)state;
	run_with(f, "127.0.0.1", NULL);
	run_with(f, "127.0.0.1", "127.0.0.5");
	run_with(f, "127.0.0.7", "127.0.0.5");
	run_with(f, "::1", NULL);
	run_with(f, "::1", "::1");
	assert_true(udp_port_is_free(f->port));
	fixture_stop(f);
}

/* ---- strangers ---- */

struct door {
	struct fixture *f;
	struct raw_session session;
	cJSON *answer;		/* with the cookies */
};

static void door_open(struct door *d, const struct peer_timing *t)
{
	d->f = fixture_start(NULL, t);
	raw_session_open(&d->session, d->f->port, &d->f->key);
	raw_send(&d->session.channel, "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}");
	cJSON_Delete(raw_receive(&d->session.channel, "hello"));
	raw_send(&d->session.channel, "{\"type\":\"prepare\",\"id\":9,\"spec\":{"
		 "\"protocol\":\"udp\",\"block_bytes\":1000,\"direction\":\"forward\","
		 "\"streams\":2,\"window_ms\":100}}");
	d->answer = raw_receive(&d->session.channel, "data");
}

static void door_close(struct door *d)
{
	cJSON_Delete(d->answer);
	raw_session_close(&d->session);
	fixture_stop(d->f);
}

static const char *door_cookie(const struct door *d, int i)
{
	const cJSON *all = cJSON_GetObjectItemCaseSensitive(d->answer, "cookies");

	return cJSON_GetArrayItem(all, i)->valuestring;
}

static void say(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, 0), (ssize_t)len);
}

/* Bytes of the answer, 0: none within that time. */
static size_t heard(int fd, char *buf, size_t cap, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	n = recv(fd, buf, cap, MSG_DONTWAIT);
	return n > 0 ? (size_t)n : 0;
}

static void assert_silence(int fd)
{
	char buf[2000];

	assert_int_equal(heard(fd, buf, sizeof(buf), 60), 0);
}

static void assert_answer(int fd, const char *cookie)
{
	char buf[2000], want[PEER_COOKIE_BYTES];

	assert_int_equal(heard(fd, buf, sizeof(buf), PATIENCE_MS), PEER_COOKIE_BYTES);
	wire_cookie_answer(cookie, want);
	assert_memory_equal(buf, want, sizeof(want));
	assert_memory_not_equal(buf, cookie, PEER_COOKIE_BYTES);	/* no mere echo */
}

static void test_strangers(void **state)
{
	int fd = udp_socket("127.0.0.1"), elsewhere = udp_socket("127.0.0.2"), other, tcp;
	char cookie[PEER_COOKIE_BYTES], junk[1400] = "junk";
	unsigned char byte = 0;
	struct door d;

	(void)state;
	door_open(&d, NULL);
	connect_udp(fd, d.f->port);
	connect_udp(elsewhere, d.f->port);
	/* Nothing, something, too much, almost, and the right one with one letter off. */
	say(fd, "", 0);
	say(fd, junk, sizeof(junk));
	say(fd, RAW_COOKIE, PEER_COOKIE_BYTES);
	say(fd, door_cookie(&d, 0), PEER_COOKIE_BYTES - 1);
	memcpy(junk, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	say(fd, junk, PEER_COOKIE_BYTES + 1);
	memcpy(cookie, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	cookie[35] = cookie[35] == 'a' ? 'b' : 'a';
	say(fd, cookie, PEER_COOKIE_BYTES);
	/* From another host than the session's: it could be anybody's address. */
	say(elsewhere, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	assert_silence(elsewhere);
	assert_silence(fd);
	/* By TCP it opens nothing either: like any new client it is asked who it is. */
	tcp = raw_connect(d.f->port);
	say(tcp, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	assert_int_equal(raw_read(tcp, &byte, 1, PATIENCE_MS), 1);
	assert_int_equal(byte, WIRE_PARAM_EXCHANGE);
	close(tcp);
	/* After all of this the right one is let in: once, but for who asks again. */
	say(fd, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	assert_answer(fd, door_cookie(&d, 0));
	other = udp_socket("127.0.0.1");
	connect_udp(other, d.f->port);
	say(other, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	assert_silence(other);
	say(fd, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	assert_answer(fd, door_cookie(&d, 0));
	say(fd, junk, sizeof(junk));
	say(fd, door_cookie(&d, 0), PEER_COOKIE_BYTES);
	assert_silence(fd);	/* data has begun: nobody reads here but the run */
	say(other, door_cookie(&d, 1), PEER_COOKIE_BYTES);
	assert_answer(other, door_cookie(&d, 1));
	cJSON_Delete(raw_receive(&d.session.channel, "ready"));
	raw_send(&d.session.channel, "{\"type\":\"cancel\",\"id\":9}");
	assert_true(udp_port_is_free(d.f->port));
	close(fd);
	close(other);
	close(elsewhere);
	door_close(&d);
}

/* Data before the run is there stays in its flow's socket, in order. */
static void test_early_data(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	int fds[RUN_MAX_STREAMS];
	uint64_t deadline = deadline_in_ms(PATIENCE_MS);

	(void)state;
	fixture_prepare_run(p, &udp_run, fds);
	for (unsigned char i = 0; i < udp_run.streams; i++)
		assert_int_equal(wire_send(fds[i], &i, 1, deadline), 0);
	fixture_start_run(p, 5000);
	fixture_finish_run(p);
	fixture_close_run(fds, udp_run.streams);
	peer_close(p);
	fixture_stop(f);
}

static void test_nobody_comes(void **state)
{
	struct peer_timing t = patient;
	struct door d;
	cJSON *m;
	int fd = udp_socket("127.0.0.1");

	(void)state;
	t.data_ms = 300;
	door_open(&d, &t);
	connect_udp(fd, d.f->port);
	say(fd, door_cookie(&d, 1), PEER_COOKIE_BYTES);
	assert_answer(fd, door_cookie(&d, 1));
	m = raw_receive(&d.session.channel, "error");
	assert_string_equal(json_get_str(m, "code", 20), "late");
	assert_non_null(strstr(json_get_str(m, "text", 200), "1 of 2 data connections"));
	cJSON_Delete(m);
	assert_true(udp_port_is_free(d.f->port));
	raw_send(&d.session.channel, "{\"type\":\"clock\",\"id\":10}");
	cJSON_Delete(raw_receive(&d.session.channel, "clock"));
	close(fd);
	door_close(&d);
}

static void test_port_is_ours(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;
	struct door d;

	(void)state;
	door_open(&d, NULL);
	/* What any user's program can do must not get it our clients' cookies. */
	assert_return_code(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), errno);
	a.sin_port = htons(d.f->port);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), -1);
	assert_int_equal(errno, EADDRINUSE);
	close(fd);
	door_close(&d);
}

/* ---- the client ---- */

static void assert_no_answer(uint16_t port, const char *text)
{
	struct socket_address remote = { .len = sizeof(struct sockaddr_in) };
	struct sockaddr_in *a = (struct sockaddr_in *)&remote.ss;
	struct dial_data d = { .remote = &remote, .spec = &udp_run, .label = "x" };
	struct error err = { "" };
	cJSON *cookies = cJSON_CreateArray();
	int fds[3] = { -1, -1, -1 };

	a->sin_family = AF_INET;
	a->sin_port = htons(port);
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < 3; i++)
		cJSON_AddItemToArray(cookies, cJSON_CreateString(RAW_COOKIE));
	d.cookies = cookies;
	assert_int_equal(dial_udp(&d, fds, deadline_in_ms(250), &err), -ETIMEDOUT);
	if (!strstr(err.text, text))
		fail_msg("%s (not: %s)", err.text, text);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fds[i], -1);
	cJSON_Delete(cookies);
}

static void test_no_answer(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int silent = udp_socket("127.0.0.1"), tries = 0;
	char text[100], buf[100];
	socklen_t len = sizeof(a);

	(void)state;
	getsockname(silent, (struct sockaddr *)&a, &len);
	snprintf(text, sizeof(text), "no UDP answer from 127.0.0.1 port %u: is a firewall dropping "
		 "UDP?", ntohs(a.sin_port));
	assert_no_answer(ntohs(a.sin_port), text);
	/* All three, and more than once each. */
	while (heard(silent, buf, sizeof(buf), 0) == PEER_COOKIE_BYTES)
		tries++;
	assert_in_range(tries, 4, 9);
	close(silent);
	assert_no_answer(ntohs(a.sin_port), "(Connection refused): is a firewall dropping UDP?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_early_data),
		cmocka_unit_test(test_nobody_comes),
		cmocka_unit_test(test_port_is_ours),
		cmocka_unit_test(test_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

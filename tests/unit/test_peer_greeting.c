/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The server against strangers: what they send, what they do not, how many they are. */
#include "tests/unit/peer_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/wire.h"

#define OURS "{\"tcp\":true,\"netdoctor\":{\"version\":1}}"
/* Sent by iperf3 3.12 for "-t 1 -P 2 -R". */
#define IPERF3 "{\"tcp\":true,\"omit\":0,\"time\":1,\"num\":0,\"blockcount\":0,\"parallel\":2," \
	       "\"reverse\":true,\"len\":131072,\"pacing_timer\":1000,\"client_version\":\"3.12\"}"

/* The server still serves, long before any deadline of those in its way. */
static void assert_serves(struct fixture *f)
{
	uint64_t began = monotonic_ns();

	peer_close(fixture_client(f, NULL));
	assert_true(ms_since(began) < PATIENCE_MS / 2);
}

static void send_all(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

static void test_strangers(void **state)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct fixture *f = fixture_start(NULL, NULL);
	unsigned char answer = 0, noise[4096];
	int fd = raw_connect(f->port);

	(void)state;
	send_all(fd, http, sizeof(http) - 1);
	assert_int_equal(raw_read(fd, &answer, 1, PATIENCE_MS), 1);
	assert_int_equal(answer, WIRE_ACCESS_DENIED);
	assert_true(raw_closed(fd, PATIENCE_MS));
	close(fd);
	assert_true(fixture_saw(f, "REFUSED 127.0.0.1: refused: not a netdoctor"));
	/* A fixed sequence, so that a failure can be had again. */
	for (unsigned int seed = 1; seed <= 30; seed++) {
		uint32_t x = seed * 2654435761u;

		for (size_t i = 0; i < sizeof(noise); i++) {
			x ^= x << 13;
			x ^= x >> 17;
			x ^= x << 5;
			noise[i] = (unsigned char)x;
		}
		fd = raw_connect(f->port);
		(void)!send(fd, noise, sizeof(noise), MSG_NOSIGNAL);
		close(fd);
	}
	/* A cookie without its NUL. */
	fd = raw_connect(f->port);
	send_all(fd, RAW_COOKIE "a", PEER_COOKIE_BYTES);
	assert_true(raw_closed(fd, PATIENCE_MS));
	close(fd);
	assert_serves(f);
	fixture_stop(f);
}

static void test_silence(void **state)
{
	enum { N = 20 };
	struct peer_timing t = patient;
	unsigned char state_byte;
	struct fixture *f;
	uint64_t began;
	int fds[N];

	(void)state;
	t.greeting_ms = 1000;
	f = fixture_start(NULL, &t);
	began = monotonic_ns();
	for (int i = 0; i < N; i++) {
		fds[i] = raw_connect(f->port);
		/* A few go further before they fall silent. */
		if (i % 4 > 0)
			send_all(fds[i], RAW_COOKIE, PEER_COOKIE_BYTES);
		if (i % 4 > 1)
			send_all(fds[i], "\0\0\0\x20{", 5);
		if (i % 4 > 2)
			shutdown(fds[i], SHUT_WR);
	}
	peer_close(fixture_client(f, NULL));
	for (int i = 0; i < N; i++) {
		if (i % 4 > 0) {
			assert_int_equal(raw_read(fds[i], &state_byte, 1, PATIENCE_MS), 1);
			assert_int_equal(state_byte, WIRE_PARAM_EXCHANGE);
		}
		assert_true(raw_closed(fds[i], PATIENCE_MS));
		close(fds[i]);
	}
	assert_in_range(ms_since(began), 900, 4000);
	assert_true(fixture_saw(f, "did not say who it is in time"));
	fixture_stop(f);
}

/* One deadline for it all: a byte now and then does not extend it. */
static void test_dripping(void **state)
{
	struct peer_timing t = patient;
	struct fixture *f;
	uint64_t began;
	int fd, rc = -ETIMEDOUT;
	char c;

	(void)state;
	t.greeting_ms = 500;
	f = fixture_start(NULL, &t);
	fd = raw_connect(f->port);
	began = monotonic_ns();
	/* Thirty-six letters, one a tenth of a second: time enough to be cut off. */
	for (int i = 0; i < PEER_COOKIE_BYTES - 1 && rc == -ETIMEDOUT; i++) {
		(void)!send(fd, "a", 1, MSG_NOSIGNAL);
		rc = wire_receive(fd, &c, 1, deadline_in_ms(100));
	}
	assert_int_equal(rc, -ECONNRESET);
	assert_in_range(ms_since(began), 400, 3000);
	close(fd);
	fixture_stop(f);
}

static void test_byte_at_a_time(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	unsigned char frame[PEER_COOKIE_BYTES + 4 + sizeof(OURS) - 1], answer;
	int fd = raw_connect(f->port);

	(void)state;
	memcpy(frame, RAW_COOKIE, PEER_COOKIE_BYTES);
	wire_put_be32(frame + PEER_COOKIE_BYTES, sizeof(OURS) - 1);
	memcpy(frame + PEER_COOKIE_BYTES + 4, OURS, sizeof(OURS) - 1);
	for (size_t i = 0; i < sizeof(frame); i++) {
		send_all(fd, frame + i, 1);
		sleep_ms(1);
	}
	assert_int_equal(raw_read(fd, &answer, 1, PATIENCE_MS), 1);
	assert_int_equal(answer, WIRE_PARAM_EXCHANGE);
	assert_int_equal(raw_read(fd, &answer, 1, PATIENCE_MS), 1);
	assert_int_equal(answer, PEER_SWITCH);
	/* And then no TLS. */
	send_all(fd, "plain text is no TLS record", 27);
	assert_true(raw_closed(fd, PATIENCE_MS));
	close(fd);
	assert_true(fixture_saw(f, "the TLS handshake failed"));
	fixture_stop(f);
}

static void test_lengths(void **state)
{
	static const uint32_t lengths[] = {
		0, 1, PEER_MAX_PARAMETERS + 1, 0x7fffffff, 0x80000000, 0xffffffff
	};
	struct fixture *f = fixture_start(NULL, NULL);
	char longest[PEER_MAX_PARAMETERS + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		unsigned char header[4], exchange;
		int fd = raw_connect(f->port);

		wire_put_be32(header, lengths[i]);
		send_all(fd, RAW_COOKIE, PEER_COOKIE_BYTES);
		send_all(fd, header, 4);
		assert_int_equal(raw_read(fd, &exchange, 1, PATIENCE_MS), 1);
		assert_true(raw_closed(fd, PATIENCE_MS));
		close(fd);
	}
	assert_true(fixture_saw(f, "parameters of an impossible length"));
	/* The longest allowed. */
	memset(longest, ' ', PEER_MAX_PARAMETERS);
	longest[PEER_MAX_PARAMETERS] = '\0';
	memcpy(longest, OURS, sizeof(OURS) - 1);
	for (int i = 0; i < 2; i++) {
		int fd = raw_connect(f->port);

		assert_int_equal(raw_greet(fd, longest), i == 0 ? PEER_SWITCH : 0);
		close(fd);
		longest[sizeof(OURS) - 2] = ']';	/* the second time it is no JSON */
	}
	assert_true(fixture_saw(f, "parameters that make no sense"));
	assert_serves(f);
	fixture_stop(f);
}

static void test_iperf3_bytes(void **state)
{
	static const unsigned char rest[8] = { 0, 0, 0, 142, 0, 0, 0, 0 };
	struct fixture *f = fixture_start(NULL, NULL);
	unsigned char codes[8];
	int fd = raw_connect(f->port);

	(void)state;
	assert_int_equal(raw_greet(fd, IPERF3), WIRE_SERVER_ERROR);
	assert_int_equal(raw_read(fd, codes, sizeof(codes), PATIENCE_MS), sizeof(codes));
	assert_memory_equal(codes, rest, sizeof(rest));
	assert_true(raw_closed(fd, PATIENCE_MS));
	close(fd);
	assert_true(fixture_saw(f, "a plain iperf3 client 3.12"));
	fixture_stop(f);
}

static void test_iperf3_client(void **state)
{
	struct fixture *f;
	char command[200], output[2000];
	FILE *pipe_end;
	size_t n;

	(void)state;
	if (system("iperf3 --version >/dev/null 2>&1") != 0) {
		print_message("iperf3 is not installed\n");
		skip();
	}
	f = fixture_start(NULL, NULL);
	snprintf(command, sizeof(command), "iperf3 -c 127.0.0.1 -p %u -t 1 2>&1", f->port);
	pipe_end = popen(command, "r");
	assert_non_null(pipe_end);
	n = fread(output, 1, sizeof(output) - 1, pipe_end);
	output[n] = '\0';
	pclose(pipe_end);
	/* It takes the refusal for what it is, and does not hang. */
	assert_non_null(strstr(output, "authorization failed"));
	assert_true(fixture_saw(f, "a plain iperf3 client 3."));
	assert_serves(f);
	fixture_stop(f);
}

static void test_crowd(void **state)
{
	enum { N = SERVER_MAX_GREETINGS + 40 };
	struct fixture *f = fixture_start(NULL, NULL);
	size_t told;
	int fds[N];

	(void)state;
	for (int i = 0; i < N; i++)
		fds[i] = raw_connect(f->port);
	assert_serves(f);
	/* The oldest made room, the newest are still there. */
	assert_true(raw_closed(fds[0], PATIENCE_MS));
	assert_true(raw_closed(fds[38], PATIENCE_MS));
	assert_false(raw_closed(fds[N - 1], 20));
	for (int i = 0; i < N; i++)
		close(fds[i]);
	/* Told, but not once for each. */
	assert_true(fixture_saw(f, "too many connections are waiting"));
	pthread_mutex_lock(&f->lock);
	told = strlen(f->events);
	pthread_mutex_unlock(&f->lock);
	assert_true(told < 2000);
	fixture_stop(f);
}

static void test_data_cookie_reuse(void **state)
{
	struct peer_timing t = patient;
	struct fixture *f;
	struct raw_session r;
	unsigned char answer = 0;
	const char *cookie;
	int first, again;
	cJSON *m;

	(void)state;
	t.data_ms = 1500;
	f = fixture_start(NULL, &t);
	raw_session_open(&r, f->port, &f->key);
	raw_send(&r.channel, "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}");
	cJSON_Delete(raw_receive(&r.channel, "hello"));
	raw_send(&r.channel, "{\"type\":\"prepare\",\"id\":9,\"spec\":{\"direction\":\"forward\","
			     "\"streams\":2,\"window_ms\":100}}");
	m = raw_receive(&r.channel, "data");
	assert_int_equal(cJSON_GetObjectItemCaseSensitive(m, "id")->valuedouble, 9);
	cookie = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(m, "cookies"), 0)->valuestring;
	first = raw_connect(f->port);
	send_all(first, cookie, PEER_COOKIE_BYTES);
	/* Taken without an answer. */
	assert_int_equal(raw_read(first, &answer, 1, 50), 0);
	again = raw_connect(f->port);
	send_all(again, cookie, PEER_COOKIE_BYTES);
	assert_int_equal(raw_read(again, &answer, 1, PATIENCE_MS), 1);
	assert_int_equal(answer, WIRE_ACCESS_DENIED);
	assert_true(raw_closed(again, PATIENCE_MS));
	assert_true(fixture_saw(f, "cookie came a second time"));
	cJSON_Delete(m);
	/* One of two never comes: the run is called off, its socket closed, the session goes on. */
	m = raw_receive(&r.channel, "error");
	assert_string_equal(json_get_str(m, "code", 20), "late");
	assert_non_null(strstr(json_get_str(m, "text", 200), "1 of 2 data connections"));
	cJSON_Delete(m);
	assert_true(raw_closed(first, PATIENCE_MS));
	raw_send(&r.channel, "{\"type\":\"clock\",\"id\":10}");
	cJSON_Delete(raw_receive(&r.channel, "clock"));
	close(first);
	close(again);
	raw_session_close(&r);
	fixture_stop(f);
}

/* CPU time of a process in clock ticks, from /proc/PID/stat. */
static unsigned long cpu_ticks(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user = 0, system_time = 0;
	const char *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	p = strrchr(text, ')');
	assert_non_null(p);
	assert_int_equal(sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
				&user, &system_time), 2);
	return user + system_time;
}

static void test_out_of_descriptors(void **state)
{
	enum { N = 40 };
	struct fixture *f, here = { .key.open = true };
	int port_pipe[2], fds[N];
	unsigned long before;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(port_pipe), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct peer_server_options o = { .bind_address = "127.0.0.1", .key.open = true };
		struct rlimit r = { 24, 24 };

		if (setrlimit(RLIMIT_NOFILE, &r) < 0)
			_exit(1);
		f = fixture_start(&o, NULL);
		if (write(port_pipe[1], &f->port, sizeof(f->port)) != sizeof(f->port))
			_exit(1);
		sleep_ms(10000);
		_exit(0);
	}
	assert_int_equal(read(port_pipe[0], &here.port, sizeof(here.port)), sizeof(here.port));
	for (int i = 0; i < N; i++)
		fds[i] = raw_connect(here.port);
	before = cpu_ticks(child);
	/* Behind forty silent ones, with room for fewer than twenty. */
	peer_close(fixture_client(&here, NULL));
	sleep_ms(300);
	assert_true(cpu_ticks(child) - before < 15);	/* 1/100 s each: it does not spin */
	for (int i = 0; i < N; i++)
		close(fds[i]);
	peer_close(fixture_client(&here, NULL));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(port_pipe[0]);
	close(port_pipe[1]);
}

static void test_port_in_use(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer_server_options o = { .bind_address = "127.0.0.1", .port = f->port };
	struct peer_service none = { .state = NULL };
	struct peer_server *s;
	struct error err = { "" };

	(void)state;
	assert_int_equal(peer_server_open(&o, &none, &s, &err), -EADDRINUSE);
	assert_non_null(strstr(err.text, "--port"));
	o.bind_address = "nonsense";
	assert_int_equal(peer_server_open(&o, &none, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nonsense"));
	assert_null(s);
	fixture_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_dripping),
		cmocka_unit_test(test_byte_at_a_time),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_iperf3_bytes),
		cmocka_unit_test(test_iperf3_client),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_data_cookie_reuse),
		cmocka_unit_test(test_out_of_descriptors),
		cmocka_unit_test(test_port_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

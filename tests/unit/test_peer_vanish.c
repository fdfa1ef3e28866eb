/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clients that are gone in the middle of a step, at every step of both dialects, and clients that
 * say each byte by itself.  Whatever they took is given back, and others are served.
 */
#include "tests/unit/peer_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/iperf3_wire.h"
#include "src/peer/wire.h"

static const char parameters[] = "{\"tcp\":true,\"time\":1,\"len\":1000}";
static const char results[] = "{\"streams\":[{\"id\":1,\"bytes\":1,\"retransmits\":0,\"jitter\":0,"
	"\"errors\":0,\"packets\":0}]}";

/* What an iperf3 client says, one piece after the other, and what it hears before each. */
enum piece { COOKIE, LENGTH, PARAMETERS, DATA_COOKIE, DATA, RESULTS_LENGTH, RESULTS, PIECES };

struct client {
	int control, data;
	size_t left;		/* bytes until it is gone */
	char cookie[PEER_COOKIE_BYTES];
};

/* Hangs up as a killed process with unread bytes does. */
static void vanish(int *fd)
{
	const struct linger now = { .l_onoff = 1 };

	if (*fd < 0)
		return;
	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(*fd);
	*fd = -1;
}

/* False: it is gone. */
static bool say(struct client *c, int fd, const void *bytes, size_t len)
{
	size_t n = len < c->left ? len : c->left;

	if (n)
		assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
	c->left -= n;
	return n == len;
}

static void hear(struct client *c, const char *states)
{
	for (; *states; states++) {
		unsigned char got = 0;

		assert_int_equal(raw_read(c->control, &got, 1, PATIENCE_MS), 1);
		assert_int_equal(got, *states);
	}
}

static bool say_length(struct client *c, size_t len)
{
	unsigned char header[4];

	wire_put_be32(header, (uint32_t)len);
	return say(c, c->control, header, sizeof(header));
}

static bool say_piece(struct client *c, enum piece piece, uint16_t port)
{
	switch (piece) {
	case COOKIE:
		return say(c, c->control, c->cookie, PEER_COOKIE_BYTES);
	case LENGTH:
		hear(c, "\x09");
		return say_length(c, strlen(parameters));
	case PARAMETERS:
		return say(c, c->control, parameters, strlen(parameters));
	case DATA_COOKIE:
		hear(c, "\x0a");
		c->data = raw_connect(port);
		return say(c, c->data, c->cookie, PEER_COOKIE_BYTES);
	case DATA:
		hear(c, "\x01\x02");
		return say(c, c->data, "", 1);
	case RESULTS_LENGTH:
		/* The fake run wants a byte and is over, without a word of ours. */
		hear(c, "\x0d");
		return say_length(c, strlen(results));
	default:
		return say(c, c->control, results, strlen(results));
	}
}

static void test_iperf3(void **state)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1", .allow_iperf3 = true };
	struct fixture *f = fixture_start(&o, NULL);
	struct peer *good = fixture_client(f, NULL);
	size_t fds = count_entries("/proc/self/fd"), tasks = count_entries("/proc/self/task");
	size_t all = 2 * PEER_COOKIE_BYTES + 4 + strlen(parameters) + 1;

	(void)state;
	for (size_t left = 0; left <= all + 4 + strlen(results);
	     left += left < all ? 9 : 23) {
		struct client c = { .data = -1, .left = left, .cookie = RAW_COOKIE };
		enum piece piece = COOKIE;

		/* The last one's may still be that of a test. */
		c.cookie[0] = wire_cookie_letter((unsigned int)left);
		c.cookie[1] = wire_cookie_letter((unsigned int)left / 32);
		c.control = raw_connect(f->port);
		while (piece < PIECES && say_piece(&c, piece, f->port))
			piece++;
		vanish(&c.control);
		vanish(&c.data);
	}
	assert_back_at("/proc/self/fd", fds);
	assert_back_at("/proc/self/task", tasks);
	peer_close(good);
	peer_close(fixture_client(f, NULL));
	fixture_stop(f);
}

/* ---- netdoctor ---- */

static const char *const requests[] = {
	"{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}",
	"{\"type\":\"clock\",\"id\":1}",
	"{\"type\":\"facts\",\"id\":2}",
};

/* Each byte in a record of its own, so many of all of them. */
static size_t say_slowly(struct raw_session *r, size_t left)
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		unsigned char message[200];
		size_t len = strlen(requests[i]);

		wire_put_be32(message, (uint32_t)len);
		memcpy(message + 4, requests[i], len);
		for (size_t at = 0; at < len + 4; at++) {
			short events = 0;

			if (!left--)
				return 0;
			assert_int_equal(tls_write(r->channel.tls, message + at, 1, &events), 1);
		}
		if (i == 0)
			cJSON_Delete(raw_receive(&r->channel, "hello"));
		else
			cJSON_Delete(raw_receive(&r->channel, i == 1 ? "clock" : "facts"));
	}
	return left;
}

static void test_netdoctor(void **state)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1", .max_sessions = 4 };
	struct fixture *f = fixture_start(&o, NULL);
	struct peer *good = fixture_client(f, NULL);
	size_t fds = count_entries("/proc/self/fd"), tasks = count_entries("/proc/self/task");
	bool all = false;

	(void)state;
	for (size_t left = 0; !all; left += 17) {
		struct raw_session r;

		raw_session_open(&r, f->port, &f->key);
		all = say_slowly(&r, left) > 0;
		raw_session_close(&r);
		/* A place of its own is waited for: they are four. */
		assert_back_at("/proc/self/task", tasks);
	}
	assert_back_at("/proc/self/fd", fds);
	peer_close(good);
	peer_close(fixture_client(f, NULL));
	fixture_stop(f);
}

/* Who asks for nothing for long keeps its place until somebody comes. */
static void test_idle_session_gives_its_place_up(void **state)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1", .max_sessions = 1 };
	struct peer_timing t = patient;
	struct error err = { "" };
	struct fixture *f;
	struct peer *idle, *next, *none = NULL;
	struct peer_target target;

	(void)state;
	t.data_ms = 3000;
	t.last_ms = 300;
	f = fixture_start(&o, &t);
	target = fixture_target(f);
	idle = fixture_client(f, NULL);
	assert_int_equal(client_connect(&target, &patient, &none, &err), -EBUSY);
	sleep_ms(3100);
	next = fixture_client(f, NULL);
	assert_true(fixture_saw(f, "GONE 127.0.0.1: session over: asked for nothing for long, and "
				   "another client needs its place"));
	fixture_run(next, &small_run);
	assert_int_equal(peer_facts(idle, PATIENCE_MS, &(cJSON *){ NULL }, &err), -ETIME);
	assert_non_null(strstr(err.text, "another client needs the place"));
	assert_int_equal(client_connect(&target, &patient, &none, &err), -EBUSY);
	peer_close(idle);
	peer_close(next);
	fixture_stop(f);
}

/* It has its turn, opens none of its connections, or not all, and says nothing. */
static void test_turn_without_data(void **state)
{
	struct peer_timing t = patient;
	struct raw_session r;
	struct fixture *f;
	struct peer *next;
	char text[4000], *spec;
	cJSON *json = run_spec_to_json(&small_run);

	(void)state;
	t.silence_ms = 500;
	t.data_ms = 600000;
	f = fixture_start(NULL, &t);
	raw_session_open(&r, f->port, &f->key);
	raw_send(&r.channel, "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}");
	cJSON_Delete(raw_receive(&r.channel, "hello"));
	spec = cJSON_PrintUnformatted(json);
	snprintf(text, sizeof(text), "{\"type\":\"prepare\",\"id\":1,\"spec\":%s}", spec);
	cJSON_free(spec);
	cJSON_Delete(json);
	raw_send(&r.channel, text);
	cJSON_Delete(raw_receive(&r.channel, "data"));
	next = fixture_client(f, NULL);
	fixture_run(next, &small_run);
	assert_true(fixture_saw(f, "session over: the client gave no sign of life for 500 ms"));
	peer_close(next);
	raw_session_close(&r);
	fixture_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iperf3),
		cmocka_unit_test(test_netdoctor),
		cmocka_unit_test(test_idle_session_gives_its_place_up),
		cmocka_unit_test(test_turn_without_data),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, cookies, parameters, data cookies and turns: the parts without a network. */
#include "src/peer/wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/data.h"
#include "src/peer/timing.h"
#include "src/peer/turn.h"

/* ---- keys ---- */

static void test_key_text(void **state)
{
	static const char *const bad[] = {
		"", "Open", "open ", "00112233445566778899aabbccddeef",
		"00112233445566778899aabbccddeeff0", "00112233445566778899aabbccddeefg",
		" 0112233445566778899aabbccddeeff", "0x112233445566778899aabbccddeeff",
	};
	struct peer_key key, again;
	char text[2 * PEER_KEY_BYTES + 1];

	(void)state;
	assert_int_equal(peer_key_parse("00112233445566778899aAbBcCdDeEfF", &key), 0);
	assert_false(key.open);
	assert_int_equal(key.bytes[1], 0x11);
	assert_int_equal(key.bytes[15], 0xff);
	peer_key_format(&key, text);
	assert_string_equal(text, "00112233445566778899aabbccddeeff");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(peer_key_parse(bad[i], &key), -EINVAL);
	assert_int_equal(peer_key_parse("open", &key), 0);
	assert_true(key.open);
	peer_key_format(&key, text);
	assert_string_equal(text, "open");
	assert_int_equal(peer_key_generate(&key), 0);
	assert_int_equal(peer_key_generate(&again), 0);
	assert_memory_not_equal(key.bytes, again.bytes, sizeof(key.bytes));
}

static int read_key(const char *content, mode_t mode, struct peer_key *key, struct error *err)
{
	char path[] = "/tmp/netdoctor-key-XXXXXX";
	int rc, fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	rc = peer_key_read_file(path, key, err);
	unlink(path);
	return rc;
}

static void test_key_file(void **state)
{
	struct peer_key key;
	struct error err;
	char longer[1000];

	(void)state;
	assert_int_equal(read_key("00112233445566778899aabbccddeeff\n", 0600, &key, &err), 0);
	assert_int_equal(key.bytes[15], 0xff);
	assert_int_equal(read_key("  00112233445566778899aabbccddeeff \r\nrest", 0400, &key, &err),
			 0);
	assert_int_equal(read_key("00112233445566778899aabbccddeeff", 0640, &key, &err), -EPERM);
	assert_non_null(strstr(err.text, "chmod 600"));
	assert_int_equal(read_key("00112233445566778899aabbccddeeff", 0604, &key, &err), -EPERM);
	assert_int_equal(read_key("", 0600, &key, &err), -EINVAL);
	assert_int_equal(read_key("\n00112233445566778899aabbccddeeff\n", 0600, &key, &err),
			 -EINVAL);
	memset(longer, '0', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(read_key(longer, 0600, &key, &err), -EINVAL);
	assert_int_equal(peer_key_read_file("/nonexistent/key", &key, &err), -ENOENT);
	assert_int_equal(peer_key_read_file("/tmp", &key, &err), -EISDIR);
}

/* ---- cookies and parameters ---- */

static void test_cookie(void **state)
{
	char cookie[PEER_COOKIE_BYTES], other[PEER_COOKIE_BYTES];

	(void)state;
	assert_int_equal(wire_make_cookie(cookie), 0);
	assert_int_equal(wire_make_cookie(other), 0);
	assert_memory_not_equal(cookie, other, sizeof(cookie));
	for (size_t n = 0; n <= sizeof(cookie); n++)
		assert_true(wire_cookie_begins(cookie, n));
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(wire_cookie_value(wire_cookie_letter(i)), i);
	assert_false(wire_cookie_begins("G", 1));
	assert_false(wire_cookie_begins("a1", 2));
	assert_false(wire_cookie_begins("a\0", 2));
	cookie[PEER_COOKIE_BYTES - 1] = 'a';
	assert_true(wire_cookie_begins(cookie, PEER_COOKIE_BYTES - 1));
	assert_false(wire_cookie_begins(cookie, PEER_COOKIE_BYTES));
}

static int parse(const char *text, struct wire_parameters *p)
{
	return wire_parse_parameters(text, strlen(text), p);
}

static void test_parameters(void **state)
{
	struct wire_parameters p;
	unsigned char *frame;
	size_t len;

	(void)state;
	assert_int_equal(wire_format_parameters(7, "", &frame, &len), 0);
	assert_int_equal(wire_get_be32(frame), len - 4);
	assert_int_equal(wire_parse_parameters((char *)frame + 4, len - 4, &p), 0);
	assert_true(p.netdoctor);
	assert_int_equal(p.version, 7);
	assert_string_equal(p.client_version, "3.12");
	free(frame);
	/* As sent by iperf3 3.12 for "-P 2 -t 1 -R". */
	assert_int_equal(parse("{\"tcp\":true,\"omit\":0,\"time\":1,\"num\":0,\"blockcount\":0,"
			       "\"parallel\":2,\"reverse\":true,\"len\":131072,"
			       "\"pacing_timer\":1000,\"client_version\":\"3.12\"}", &p), 0);
	assert_false(p.netdoctor);
	assert_string_equal(p.client_version, "3.12");
	assert_int_equal(parse("{\"netdoctor\":{\"version\":1,\"later\":[]}}", &p), 0);
	assert_true(p.netdoctor);
	assert_string_equal(p.client_version, "");
	/* Not printed as it comes. */
	assert_int_equal(parse("{\"client_version\":\"\\u001b[2J\"}", &p), 0);
	assert_null(strchr(p.client_version, 0x1b));
	assert_int_equal(parse("{\"client_version\":\"3333333333333333333333333333333333\"}", &p),
			 0);
	assert_string_equal(p.client_version, "");
}

static void test_bad_parameters(void **state)
{
	static const char *const bad[] = {
		"", "{", "[]", "1", "null", "\"netdoctor\"", "{} x", "{}{}",
		"{\"netdoctor\":1}", "{\"netdoctor\":{}}", "{\"netdoctor\":[1]}",
		"{\"netdoctor\":{\"version\":\"x\"}}", "{\"netdoctor\":{\"version\":0}}",
		"{\"netdoctor\":{\"version\":-1}}", "{\"netdoctor\":{\"version\":1e300}}",
		"{\"netdoctor\":{\"version\":1.5}}", "{\"netdoctor\":null}",
	};
	struct wire_parameters p;
	char deep[PEER_MAX_PARAMETERS];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (parse(bad[i], &p) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	memset(deep, '[', sizeof(deep));
	assert_int_equal(wire_parse_parameters(deep, sizeof(deep), &p), -EINVAL);
	memset(deep, 0, sizeof(deep));
	assert_int_equal(wire_parse_parameters(deep, sizeof(deep), &p), -EINVAL);
	assert_int_equal(wire_parse_parameters("{}\0", 3, &p), -EINVAL);
}

static void test_json_bounds(void **state)
{
	size_t len = 2 * (size_t)WIRE_MAX_VALUES + 16;
	char *text = malloc(len);
	cJSON *m;

	(void)state;
	assert_non_null(text);
	memset(text, ',', len);
	text[0] = '[';
	for (size_t i = 1; i < len; i += 2)
		text[i] = '1';
	text[len - 1] = ']';
	assert_null(wire_parse_json(text, len));
	text[2000] = ']';
	m = wire_parse_json(text, 2001);
	assert_int_equal(cJSON_GetArraySize(m), 1000);
	cJSON_Delete(m);
	free(text);
	m = wire_parse_json("{\"a\":1} \r\n\t", 11);
	assert_non_null(m);
	cJSON_Delete(m);
}

/* ---- data cookies ---- */

static void cookie_of(const cJSON *cookies, int i, char out[PEER_COOKIE_BYTES])
{
	const char *text = cJSON_GetArrayItem(cookies, i)->valuestring;

	assert_int_equal(strlen(text), PEER_COOKIE_BYTES - 1);
	memcpy(out, text, PEER_COOKIE_BYTES);
}

static void test_data_registry(void **state)
{
	enum { N = 2048 };
	const struct run_spec many = { .streams = N };
	const struct run_spec two = { .streams = 1, .protocol = RUN_UDP, .latency = true };
	struct data_registry r;
	int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), fds[N], pair[2];
	char cookie[PEER_COOKIE_BYTES];
	eventfd_t count;
	cJSON *cookies;

	(void)state;
	data_init(&r);
	assert_int_equal(wire_make_cookie(cookie), 0);
	assert_int_equal(data_offer(&r, RUN_TCP, cookie, 1), DATA_UNKNOWN);
	assert_int_equal(data_open(&r, &many, wake, deadline_in_ms(10000), &cookies), 0);
	assert_int_equal(cJSON_GetArraySize(cookies), N);
	/* A socket of the other kind is none of this run's. */
	cookie_of(cookies, 5, cookie);
	assert_int_equal(data_offer(&r, RUN_UDP, cookie, 1), DATA_UNKNOWN);
	assert_int_equal(data_look(&r, RUN_UDP, cookie), DATA_UNKNOWN);
	assert_int_equal(data_look(&r, RUN_TCP, cookie), DATA_TAKEN);
	/* The right number with other letters behind it. */
	cookie_of(cookies, 5, cookie);
	cookie[35] = cookie[35] == 'a' ? 'b' : 'a';
	assert_int_equal(data_offer(&r, RUN_TCP, cookie, 1), DATA_UNKNOWN);
	/* A number beyond the run's. */
	memset(cookie, '7', PEER_COOKIE_BYTES - 1);
	assert_int_equal(data_offer(&r, RUN_TCP, cookie, 1), DATA_UNKNOWN);
	/* In any order: each lands in its place.  (Numbers stand in for sockets.) */
	for (int i = N - 1; i >= 0; i--) {
		assert_int_equal(data_take(&r, fds), -EAGAIN);
		assert_int_equal(eventfd_read(wake, &count), -1);
		cookie_of(cookies, i, cookie);
		assert_int_equal(data_offer(&r, RUN_TCP, cookie, 100000 + i), DATA_TAKEN);
	}
	assert_int_equal(eventfd_read(wake, &count), 0);
	assert_int_equal(data_arrived(&r), N);
	assert_int_equal(data_take(&r, fds), 0);
	for (int i = 0; i < N; i++)
		assert_int_equal(fds[i], 100000 + i);
	assert_int_equal(data_offer(&r, RUN_TCP, cookie, 1), DATA_REUSED);
	assert_int_equal(data_look(&r, RUN_TCP, cookie), DATA_REUSED);
	data_close(&r);
	assert_int_equal(data_offer(&r, RUN_TCP, cookie, 1), DATA_UNKNOWN);
	cJSON_Delete(cookies);

	/* Expired; and a socket that nobody took is closed. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(data_open(&r, &two, wake, deadline_in_ms(10000), &cookies), 0);
	/* The connection for latency is TCP whatever the flows are. */
	assert_int_equal(cJSON_GetArraySize(cookies), 2);
	cookie_of(cookies, 1, cookie);
	assert_int_equal(data_look(&r, RUN_UDP, cookie), DATA_UNKNOWN);
	assert_int_equal(data_offer(&r, RUN_TCP, cookie, pair[0]), DATA_TAKEN);
	r.expires_ns = monotonic_ns();
	cookie_of(cookies, 0, cookie);
	assert_int_equal(data_offer(&r, RUN_TCP, cookie, 1), DATA_UNKNOWN);
	data_destroy(&r);
	assert_int_equal(read(pair[1], cookie, 1), 0);
	close(pair[1]);
	cJSON_Delete(cookies);
	close(wake);
}

/* ---- turns ---- */

static bool woken(const struct turn *t)
{
	eventfd_t count;

	return eventfd_read(t->wake_fd, &count) == 0;
}

static void test_turns(void **state)
{
	struct turn_queue q;
	struct turn t[4];

	(void)state;
	turn_queue_init(&q);
	for (int i = 0; i < 4; i++) {
		t[i].wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		turn_join(&q, &t[i]);
		assert_int_equal(turn_ahead(&q, &t[i]), i);
	}
	/* Out of the middle: nobody's turn comes. */
	turn_leave(&q, &t[1]);
	assert_int_equal(turn_ahead(&q, &t[2]), 1);
	assert_false(woken(&t[2]));
	turn_leave(&q, &t[0]);
	assert_true(woken(&t[2]));
	assert_false(woken(&t[3]));
	assert_int_equal(turn_ahead(&q, &t[2]), 0);
	turn_join(&q, &t[0]);
	turn_leave(&q, &t[2]);
	assert_true(woken(&t[3]));
	turn_leave(&q, &t[3]);
	assert_true(woken(&t[0]));
	turn_leave(&q, &t[0]);
	for (int i = 0; i < 4; i++)
		close(t[i].wake_fd);
	turn_queue_destroy(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_text),
		cmocka_unit_test(test_key_file),
		cmocka_unit_test(test_cookie),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_bad_parameters),
		cmocka_unit_test(test_json_bounds),
		cmocka_unit_test(test_data_registry),
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

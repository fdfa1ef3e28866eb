/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whoever sends what the other side cannot use is told so before the connection ends. */
#include "tests/unit/peer_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/peer/protocol.h"

/* What cannot be used is answered with the reason, though more of it is still to come. */
static void server_says_why(const char *hello, uint32_t announced, const char *text, size_t more,
			    const char *why)
{
	struct fixture *f = fixture_start(NULL, NULL);
	char *filler = calloc(1, more + 1);
	struct raw_session r;
	struct bad_session b;
	cJSON *m;

	assert_non_null(filler);
	memset(filler, '[', more);
	raw_session_open(&r, f->port, &f->key);
	b.tls = r.channel.tls;
	if (*hello) {
		raw_send(&r.channel, hello);
		cJSON_Delete(raw_receive(&r.channel, "hello"));
	}
	bad_frame(&b, announced, text);
	if (more) {
		short events;

		tls_write(b.tls, filler, more, &events);
		sleep_ms(50);
		tls_write(b.tls, "x", 1, &events);
	}
	m = raw_receive(&r.channel, "error");
	assert_non_null(strstr(json_get_str(m, "text", PROTOCOL_MAX_TEXT), why));
	cJSON_Delete(m);
	free(filler);
	raw_session_close(&r);
	fixture_stop(f);
}

static void test_bad_clients_are_told(void **state)
{
	static const char hello[] = "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}";

	(void)state;
	server_says_why("", 0xffffffff, "{", 0, "got a message longer than");
	server_says_why(hello, 64 * 1024 + 1, "{", 0, "got a message longer than");
	server_says_why(hello, 64 * 1024 + 1, "{", 30000, "got a message longer than");
	server_says_why(hello, 2000, "", 2000, "does not understand");	/* too deep */
	server_says_why(hello, 0, "{\"type\":\"x\",\"id\":1}", 0, "does not understand");
}

/* The other way round: what the client says of a server's message. */
static void *heard_by(struct fake_server *f, int fd, const char *hello, uint32_t announced,
		      const char *text)
{
	struct bad_session b = { NULL, NULL };
	char *heard = calloc(1, 4096);
	size_t n = 0;
	short events;

	if (bad_open(f, fd, &b)) {
		if (*hello)
			bad_say(&b, hello);
		bad_frame(&b, announced, text);
		for (uint64_t until = deadline_in_ms(PATIENCE_MS); monotonic_ns() < until;) {
			ssize_t got = tls_read(b.tls, heard + n, 4095 - n, &events);

			if (got < 0 && got != -EAGAIN)
				break;
			if (got > 0)
				n += (size_t)got;
			else
				sleep_ms(5);
			/* Framed by lengths: text is somewhere behind NULs. */
			for (size_t i = 0; i < n; i++)
				if (!heard[i])
					heard[i] = ' ';
		}
	}
	bad_close(&b);
	f->key.open = strstr(heard, "\"error\"") && strstr(heard, "longer than any should be");
	free(heard);
	return NULL;
}

static void play_long_hello_and_listen(struct fake_server *f, int fd)
{
	heard_by(f, fd, "", TOO_LONG, "{");
}

static void play_long_answer_and_listen(struct fake_server *f, int fd)
{
	heard_by(f, fd, GOOD_HELLO, TOO_LONG, "{");
}

static void test_bad_servers_are_told(void **state)
{
	struct fake_server f = { .port = 0 };
	struct error err = { "" };
	struct peer *p = NULL;
	cJSON *reply;

	(void)state;
	fake_server_start(&f, play_long_hello_and_listen);
	assert_int_equal(try_connect(&f, PATIENCE_MS, &p, &err), -EMSGSIZE);
	assert_non_null(strstr(err.text, "no hello: it sent a message longer than"));
	fake_server_stop(&f);
	assert_true(f.key.open);
	fake_server_start(&f, play_long_answer_and_listen);
	assert_int_equal(try_connect(&f, PATIENCE_MS, &p, &err), 0);
	assert_int_equal(peer_facts(p, PATIENCE_MS, &reply, &err), -EMSGSIZE);
	peer_close(p);
	fake_server_stop(&f);
	assert_true(f.key.open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_clients_are_told),
		cmocka_unit_test(test_bad_servers_are_told),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

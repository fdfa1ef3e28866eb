/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The client against all that is no good netdoctor server; the server against bad clients. */
#include "tests/unit/peer_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cmocka.h>

#include "src/peer/wire.h"

/* Connects to a server played by this function: must fail like that, in time. */
static void assert_refused(void (*play)(struct fake_server *f, int fd), int rc, const char *text)
{
	struct fake_server f = { .port = 0 };
	struct error err = { "" };
	struct peer *p = NULL;
	uint64_t began;
	int got;

	fake_server_start(&f, play);
	began = monotonic_ns();
	/* Where silence is the answer, it is waited for. */
	got = try_connect(&f, rc == -ETIMEDOUT ? 600 : PATIENCE_MS, &p, &err);
	assert_null(p);
	if (got != rc || !strstr(err.text, text))
		fail_msg("%d (not %d): %s (not %s)", got, rc, err.text, text);
	assert_true(ms_since(began) < PATIENCE_MS / 2);
	fake_server_stop(&f);
}

/* ---- before TLS ---- */

static void play_banner(struct fake_server *f, int fd)
{
	(void)f;
	(void)!send(fd, "SSH-2.0-OpenSSH\r\n", 17, MSG_NOSIGNAL);
	raw_closed(fd, PATIENCE_MS);
}

static void play_silence(struct fake_server *f, int fd)
{
	(void)f;
	raw_closed(fd, PATIENCE_MS);
}

static void play_hang_up(struct fake_server *f, int fd)
{
	(void)f, (void)fd;
}

static void play_busy_iperf3(struct fake_server *f, int fd)
{
	(void)f;
	(void)!send(fd, "\xff", 1, MSG_NOSIGNAL);
	raw_closed(fd, PATIENCE_MS);
}

static void play_iperf3_error(struct fake_server *f, int fd)
{
	(void)f;
	fake_server_greet(fd, WIRE_SERVER_ERROR);
	(void)!send(fd, "\0\0\0\x1b\0\0\0\0", 8, MSG_NOSIGNAL);
	raw_closed(fd, PATIENCE_MS);
}

/* And the client says its goodbye, 12, as an iperf3 client would. */
static void play_iperf3(struct fake_server *f, int fd)
{
	unsigned char goodbye = 0;

	fake_server_greet(fd, WIRE_CREATE_STREAMS);
	raw_read(fd, &goodbye, 1, PATIENCE_MS);
	f->key.open = goodbye == WIRE_CLIENT_TERMINATE;
}

static void play_silence_after_switch(struct fake_server *f, int fd)
{
	(void)f;
	fake_server_greet(fd, PEER_SWITCH);
	raw_closed(fd, PATIENCE_MS);
}

static void play_noise_after_switch(struct fake_server *f, int fd)
{
	(void)f;
	fake_server_greet(fd, PEER_SWITCH);
	(void)!send(fd, "this is no TLS either, whatever it is", 37, MSG_NOSIGNAL);
	raw_closed(fd, PATIENCE_MS);
}

static void play_hang_up_after_switch(struct fake_server *f, int fd)
{
	(void)f;
	fake_server_greet(fd, PEER_SWITCH);
}

static void test_other_programs(void **state)
{
	struct fake_server f = { .port = 0 };
	struct error err = { "" };
	struct peer *p;

	(void)state;
	assert_refused(play_banner, -EPROTO, "neither netdoctor nor iperf3");
	assert_refused(play_silence, -ETIMEDOUT, "says nothing");
	assert_refused(play_hang_up, -ECONNRESET, "closed the connection");
	assert_refused(play_busy_iperf3, -EPROTONOSUPPORT, "is busy with a test");
	assert_refused(play_iperf3_error, -EPROTONOSUPPORT, "error 27 (it limits the total rate)");
	assert_refused(play_silence_after_switch, -ETIMEDOUT, "TLS handshake");
	assert_refused(play_noise_after_switch, -EPROTO, "TLS handshake failed");
	assert_refused(play_hang_up_after_switch, -ECONNRESET, "TLS handshake");
	fake_server_start(&f, play_iperf3);
	assert_int_equal(try_connect(&f, PATIENCE_MS, &p, &err), -EPROTONOSUPPORT);
	assert_non_null(strstr(err.text, "runs iperf3, not netdoctor: start 'netdoctor serve'"));
	fake_server_stop(&f);
	assert_true(f.key.open);
}

static void test_iperf3_server(void **state)
{
	struct fake_server f = { .port = 0 };
	struct error err = { "" };
	struct peer *p;
	char port[8];
	pid_t child;
	int fd, rc = -ECONNREFUSED;

	(void)state;
	if (system("iperf3 --version >/dev/null 2>&1") != 0) {
		print_message("iperf3 is not installed\n");
		skip();
	}
	fd = raw_listen(&f.port);	/* only to find a free port */
	close(fd);
	snprintf(port, sizeof(port), "%u", f.port);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		execlp("iperf3", "iperf3", "-s", "-p", port, (char *)NULL);
		_exit(1);
	}
	/* Twice: it must be free for the next client when we have gone. */
	for (int i = 0; i < 2; i++) {
		rc = -ECONNREFUSED;
		for (int tries = 0; rc == -ECONNREFUSED && tries < 50; tries++) {
			sleep_ms(20);
			rc = try_connect(&f, PATIENCE_MS, &p, &err);
		}
		if (rc != -EPROTONOSUPPORT || !strstr(err.text, "runs iperf3, not netdoctor: "))
			fail_msg("%d: %s", rc, err.text);
		sleep_ms(100);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_nobody_there(void **state)
{
	struct peer_target target = { .host = "127.0.0.1", .key.open = true, .timeout_ms = 300 };
	struct error err = { "" };
	struct peer *p;
	int fd = raw_listen(&target.port);

	(void)state;
	close(fd);
	assert_int_equal(client_connect(&target, &patient, &p, &err), -ECONNREFUSED);
	assert_non_null(strstr(err.text, "start 'netdoctor serve' there"));
	target.bind_address = "not-an-address";
	assert_int_equal(client_connect(&target, &patient, &p, &err), -EINVAL);
	target.bind_address = "192.0.2.1";	/* TEST-NET-1: nobody's */
	assert_int_equal(client_connect(&target, &patient, &p, &err), -EADDRNOTAVAIL);
	target.bind_address = NULL;
	target.host = "256.0.0.1.invalid";
	assert_true(client_connect(&target, &patient, &p, &err) < 0);
	assert_non_null(strstr(err.text, "256.0.0.1.invalid"));
	target.host = "::1";
	target.family = AF_INET;
	assert_int_equal(client_connect(&target, &patient, &p, &err), -ENOENT);
	assert_null(p);
}

/* ---- a server that has no key but a certificate ---- */

static X509 *self_signed(EVP_PKEY *key)
{
	X509 *cert = X509_new();

	X509_set_version(cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
	X509_gmtime_adj(X509_getm_notBefore(cert), -60);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
	X509_set_pubkey(cert, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
				   (const unsigned char *)"netdoctor", -1, -1, 0);
	X509_set_issuer_name(cert, X509_get_subject_name(cert));
	X509_sign(cert, key, EVP_sha256());
	return cert;
}

static void play_certificate(struct fake_server *f, int fd)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = self_signed(key);
	SSL *ssl;

	(void)f;
	SSL_CTX_use_certificate(ctx, cert);
	SSL_CTX_use_PrivateKey(ctx, key);
	ssl = SSL_new(ctx);
	fake_server_greet(fd, PEER_SWITCH);
	SSL_set_fd(ssl, fd);
	/* Ignores the offered key, as a man in the middle must. */
	SSL_accept(ssl);
	raw_closed(fd, PATIENCE_MS);
	SSL_free(ssl);
	X509_free(cert);
	EVP_PKEY_free(key);
	SSL_CTX_free(ctx);
}

static void test_certificate_is_no_key(void **state)
{
	(void)state;
	assert_refused(play_certificate, -EPROTO, "could not prove that it has the key");
}

/* ---- a server that has the key and is bad all the same ---- */

/* In place of a hello, then waits for the client to turn away. */
static void play_hello(struct fake_server *f, int fd, uint32_t announced, const char *text)
{
	struct bad_session b = { NULL, NULL };

	if (bad_open(f, fd, &b))
		bad_frame(&b, announced, text);
	raw_closed(fd, PATIENCE_MS);
	bad_close(&b);
}

#define HELLO(name_, announced_, text_) \
	static void name_(struct fake_server *f, int fd) \
	{ \
		play_hello(f, fd, announced_, text_); \
	}

HELLO(play_endless_hello, 0xffffffff, "")
HELLO(play_long_hello, TOO_LONG, "{")
HELLO(play_empty_hello, 0, "")
HELLO(play_half_hello, 1000, "{\"type\":\"hello\"")
HELLO(play_garbled_hello, 0, "this is not a object")
HELLO(play_typeless_hello, 0, "{\"version\": 1 }")
HELLO(play_bare_hello, 0, "{\"type\":\"hello\",\"version\":true}")
HELLO(play_limitless_hello, 0, "{\"type\":\"hello\",\"version\":1}")
HELLO(play_newer_hello, 0, "{\"type\":\"hello\",\"version\":7,\"tool\":\"2.0\\u001b[31mx\"}")
HELLO(play_newer_error, 0, "{\"type\":\"error\",\"version\":7,\"tool\":\"2.0\"   }")
HELLO(play_coloured_error, 0, "{\"type\":\"error\",\"text\":\"\\u001b[31mred\\nline\"}")
HELLO(play_mute_error, 0, "{\"type\":\"error\",\"a\":1}")

static void test_bad_hellos(void **state)
{
	(void)state;
	assert_refused(play_endless_hello, -EMSGSIZE, "hello");
	assert_refused(play_long_hello, -EMSGSIZE, "hello");
	assert_refused(play_empty_hello, -EBADMSG, "hello");
	assert_refused(play_half_hello, -ETIMEDOUT, "no answer to our hello");
	assert_refused(play_garbled_hello, -EBADMSG, "hello");
	assert_refused(play_typeless_hello, -EBADMSG, "hello");
	assert_refused(play_bare_hello, -EBADMSG, "no version");
	assert_refused(play_limitless_hello, -EBADMSG, "no limits");
	assert_refused(play_newer_hello, -EOPNOTSUPP,
		       "protocol 7 (release 2.0?[31mx), this side 1");
	assert_refused(play_newer_error, -EOPNOTSUPP, "install the same release on both");
	assert_refused(play_coloured_error, -EREMOTEIO, ": ?[31mred?line");
	assert_refused(play_mute_error, -EREMOTEIO, "without a reason");
}

/* A good hello; then what the client gets for each request. */
static void play_after_hello(struct fake_server *f, int fd, const char *text)
{
	struct bad_session b = { NULL, NULL };

	if (bad_open(f, fd, &b)) {
		bad_say(&b, GOOD_HELLO);
		bad_say(&b, text);
	}
	raw_closed(fd, PATIENCE_MS);
	bad_close(&b);
}

static void play_chatter(struct fake_server *f, int fd)
{
	struct bad_session b = { NULL, NULL };

	if (bad_open(f, fd, &b)) {
		bad_say(&b, GOOD_HELLO);
		for (int i = 0; i < 100; i++) {
			bad_say(&b, "{\"type\":\"alive\",\"id\":1}");
			bad_say(&b, "{\"type\":\"facts\",\"id\":99,\"facts\":{}}");
			sleep_ms(10);
		}
	}
	raw_closed(fd, PATIENCE_MS);
	bad_close(&b);
}

#define ANSWER(name_, text_) \
	static void name_(struct fake_server *f, int fd) \
	{ \
		play_after_hello(f, fd, text_); \
	}

ANSWER(play_no_facts, "{\"type\":\"facts\",\"id\":1,\"facts\":[]}")
ANSWER(play_other_type, "{\"type\":\"ready\",\"id\":1}")
ANSWER(play_fatal,
       "{\"type\":\"error\",\"id\":0,\"code\":\"stopping\",\"text\":\"it was stopped\"}")
ANSWER(play_few_cookies, "{\"type\":\"data\",\"id\":1,\"pacing_bps\":0,\"cookies\":[\"a\"]}")
ANSWER(play_short_cookies,
       "{\"type\":\"data\",\"id\":1,\"pacing_bps\":0,\"cookies\":[\"a\",\"b\"]}")
ANSWER(play_odd_cookies, "{\"type\":\"data\",\"id\":1,\"pacing_bps\":0,\"cookies\":[null,{}]}")
ANSWER(play_no_pacing, "{\"type\":\"data\",\"id\":1,\"cookies\":[\"" RAW_COOKIE "\",\"" RAW_COOKIE
       "\"]}")

static void assert_answer(void (*play)(struct fake_server *f, int fd), bool run, int rc,
			  const char *text, bool alive)
{
	static const struct run_spec two = { .streams = 2, .block_bytes = 1, .window_ms = 100 };
	struct fake_server f = { .port = 0 };
	struct error err = { "" };
	struct peer *p = NULL;
	cJSON *reply = NULL;
	unsigned int timeout;
	uint64_t began;
	int fds[2], got;

	fake_server_start(&f, play);
	if (try_connect(&f, PATIENCE_MS, &p, &err) < 0)
		fail_msg("connect: %s", err.text);
	began = monotonic_ns();
	timeout = rc == -ETIMEDOUT ? 300 : PATIENCE_MS;
	got = run ? peer_run_prepare(p, &two, fds, timeout, &err) :
		    peer_facts(p, timeout, &reply, &err);
	if (got != rc || !strstr(err.text, text))
		fail_msg("%d (not %d): %s (not %s)", got, rc, err.text, text);
	assert_null(reply);
	assert_int_equal(peer_alive(p), alive);
	assert_true(ms_since(began) < PATIENCE_MS / 2);
	peer_close(p);
	fake_server_stop(&f);
}

static void test_bad_answers(void **state)
{
	(void)state;
	assert_answer(play_no_facts, false, -EBADMSG, "without facts", true);
	assert_answer(play_other_type, false, -EBADMSG, "session lost", false);
	assert_answer(play_fatal, false, -ESHUTDOWN, "it was stopped", false);
	assert_answer(play_chatter, false, -ETIMEDOUT, "no answer in time", true);
	assert_answer(play_few_cookies, true, -EBADMSG, "does not fit", true);
	assert_answer(play_short_cookies, true, -EBADMSG, "does not fit", true);
	assert_answer(play_odd_cookies, true, -EBADMSG, "does not fit", true);
	assert_answer(play_no_pacing, true, -EBADMSG, "does not fit", true);
	assert_answer(play_fatal, true, -ESHUTDOWN, "it was stopped", false);
}

/* ---- a client that has the key and is bad all the same ---- */

static void bad_client(const char *hello, uint32_t announced, const char *text, const char *event)
{
	struct peer_timing t = patient;
	struct raw_session r;
	struct bad_session b;
	struct fixture *f;

	t.greeting_ms = announced == 100 ? 3000 : PATIENCE_MS;
	t.last_ms = 100;	/* it does not close when it is told to */
	f = fixture_start(NULL, &t);
	raw_session_open(&r, f->port, &f->key);
	b.tls = r.channel.tls;
	if (*hello) {
		raw_send(&r.channel, hello);
		cJSON_Delete(raw_receive(&r.channel, "hello"));
	}
	bad_frame(&b, announced, text);
	assert_true(raw_closed(r.channel.fd, PATIENCE_MS));
	assert_true(fixture_saw(f, event));
	peer_close(fixture_client(f, NULL));
	raw_session_close(&r);
	fixture_stop(f);
}

static void test_bad_clients(void **state)
{
	static const char hello[] = "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}";

	(void)state;
	bad_client("", 0xffffffff, "", "REFUSED 127.0.0.1: refused: no hello: sent a message");
	bad_client("", 0, "{\"type\":\"x\"}", "refused: no hello");
	bad_client("", 100, "{", "refused: no hello: nothing heard");
	bad_client(hello, 64 * 1024 + 1, "", "GONE 127.0.0.1: session over: sent a message longer");
	bad_client(hello, 0, "{}", "sent something that is no request");
	bad_client(hello, 0, "[\"type\",\"x\"]", "sent something that is no request");
	bad_client(hello, 0, "{\"type\":\"x\",\"id\":1}", "sent something that is no request");
	bad_client(hello, 0, "{\"type\":\"facts\"}", "sent something that is no request");
	bad_client(hello, 0, "{\"type\":\"facts\",\"id\":-1}", "sent something that is no request");
}

static void test_server_prints_what_a_client_complains_of(void **state)
{
	static const char hello[] = "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}";

	(void)state;
	bad_client("", 0, "{\"type\":\"error\",\"id\":0,\"text\":\"it got\\u001b[1m x\"}",
		   "refused: no hello: it got?[1m x");
	bad_client(hello, 0, "{\"type\":\"error\",\"id\":0,\"text\":\"it got no sense\"}",
		   "GONE 127.0.0.1: session over: it got no sense");
}

static void test_bad_specs(void **state)
{
	static const char *const bad[] = {
		"null", "[]", "{}", "{\"direction\":\"up\",\"streams\":1,\"window_ms\":100}",
		"{\"direction\":\"forward\",\"streams\":2049,\"window_ms\":100}",
		"{\"direction\":\"forward\",\"streams\":0,\"window_ms\":100}",
		"{\"direction\":\"forward\",\"streams\":\"x\",\"window_ms\":100}",
		"{\"direction\":\"forward\",\"streams\":1,\"window_ms\":1e18}",
	};
	struct fixture *f = fixture_start(NULL, NULL);
	struct raw_session r;
	char text[300];

	(void)state;
	raw_session_open(&r, f->port, &f->key);
	raw_send(&r.channel, "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}");
	cJSON_Delete(raw_receive(&r.channel, "hello"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cJSON *m;

		snprintf(text, sizeof(text), "{\"type\":\"prepare\",\"id\":%zu,\"spec\":%s}", i + 1,
			 bad[i]);
		raw_send(&r.channel, text);
		m = raw_receive(&r.channel, "error");
		assert_string_equal(json_get_str(m, "code", 20), "refused");
		assert_int_equal(cJSON_GetObjectItemCaseSensitive(m, "id")->valuedouble, i + 1);
		cJSON_Delete(m);
	}
	raw_session_close(&r);
	fixture_stop(f);
}

/* Asks and asks, until the server can send no more. */
static void test_client_that_does_not_read(void **state)
{
	struct peer_timing t = patient;
	struct fixture *f;
	struct raw_session r;
	char text[60];
	int few = 1;

	(void)state;
	t.send_ms = 300;
	f = fixture_start(NULL, &t);
	atomic_store(&f->facts_bytes, 1000000);
	raw_session_open(&r, f->port, &f->key);
	setsockopt(r.channel.fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
	raw_send(&r.channel, "{\"type\":\"hello\",\"id\":0,\"version\":1,\"tool\":\"x\"}");
	cJSON_Delete(raw_receive(&r.channel, "hello"));
	for (int i = 1; i < 30; i++) {
		snprintf(text, sizeof(text), "{\"type\":\"facts\",\"id\":%d}", i);
		raw_send(&r.channel, text);
	}
	assert_true(fixture_saw(f, "session over: does not read what it is sent"));
	peer_close(fixture_client(f, NULL));
	raw_session_close(&r);
	fixture_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_programs),
		cmocka_unit_test(test_iperf3_server),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_certificate_is_no_key),
		cmocka_unit_test(test_bad_hellos),
		cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_bad_clients),
		cmocka_unit_test(test_server_prints_what_a_client_complains_of),
		cmocka_unit_test(test_bad_specs),
		cmocka_unit_test(test_client_that_does_not_read),
	};

	/* SSL_accept() in the fake servers writes to clients that have hung up. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

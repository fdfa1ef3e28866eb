/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions over loopback: keys, facts, clock, whole runs, places, limits. */
#include "tests/unit/peer_fixture.h"

#include <errno.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/dial.h"

static int connect_with(struct fixture *f, const struct peer_key *key, struct error *err)
{
	struct peer_target target = fixture_target(f);
	struct peer *p = NULL;
	int rc;

	target.key = *key;
	rc = client_connect(&target, &patient, &p, err);
	assert_true((rc == 0) == (p != NULL));
	peer_close(p);
	return rc;
}

/* ---- the good ---- */

static void test_session(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct run_spec reverse = small_run;
	struct error err = { "" };
	int64_t offset = INT64_MAX;
	cJSON *reply;

	(void)state;
	assert_string_equal(peer_local_address(p), "127.0.0.1");
	assert_string_equal(peer_remote_address(p), "127.0.0.1");
	assert_int_equal(peer_rtt_us(p).k, ND_KNOWN);
	assert_true(peer_rtt_us(p).v < 1000000);
	assert_int_equal(peer_limits(p).max_seconds, 120);
	assert_int_equal(peer_limits(p).max_bps, 0);
	assert_int_equal(peer_facts(p, PATIENCE_MS, &reply, &err), 0);
	assert_int_equal(cJSON_GetArraySize(reply), 1);
	assert_string_equal(json_get_str(cJSON_GetObjectItemCaseSensitive(reply, "facts"),
					 "client", 100), "127.0.0.1");
	assert_string_equal(json_get_str(cJSON_GetObjectItemCaseSensitive(reply, "facts"),
					 "here", 100), "127.0.0.1");
	cJSON_Delete(reply);
	assert_int_equal(peer_clock_offset(p, &offset, &err), 0);
	assert_true(offset > -50000000 && offset < 50000000);
	fixture_run(p, &small_run);
	assert_int_equal(f->last_spec.streams, 3);
	assert_int_equal(f->last_spec.block_bytes, 1024);
	reverse.direction = RUN_REVERSE;
	reverse.streams = 200;
	fixture_run(p, &reverse);
	assert_int_equal(f->last_spec.direction, RUN_REVERSE);
	assert_true(peer_alive(p));
	peer_close(p);
	assert_true(fixture_saw(f, "CLIENT 127.0.0.1: session begins (netdoctor "));
	assert_true(fixture_saw(f, "RUN 127.0.0.1: run: 3 streams, the client sends, 0.1 s"));
	assert_true(fixture_saw(f, "GONE 127.0.0.1: session over: said goodbye"));
	fixture_stop(f);
}

static void test_long_facts(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct error err = { "" };
	const cJSON *filler;
	cJSON *reply;

	(void)state;
	/* Many TLS records and several rounds of growth of the receiver's buffer. */
	atomic_store(&f->facts_bytes, 5000000);
	assert_int_equal(peer_facts_begin(p, &err), 0);
	assert_int_equal(peer_facts_finish(p, PATIENCE_MS, &reply, &err), 0);
	filler = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reply, "facts"),
						  "filler");
	assert_int_equal(strspn(filler->valuestring, "x"), 5000000);
	cJSON_Delete(reply);
	/* Longer than a message may be: said, and survived. */
	atomic_store(&f->facts_bytes, PEER_MAX_MESSAGE);
	assert_int_equal(peer_facts(p, PATIENCE_MS, &reply, &err), -EREMOTEIO);
	assert_non_null(strstr(err.text, "too long"));
	assert_true(peer_alive(p));
	peer_close(p);
	fixture_stop(f);
}

/* Of a name with several addresses: those where nobody listens do not matter. */
/* A bare root directory has no /etc/hosts. */
static const char *name_of_loopback(void)
{
	struct addrinfo hints = { .ai_family = AF_INET }, *found = NULL;

	if (getaddrinfo("localhost", NULL, &hints, &found)) {
		print_message("localhost is no name here: its address instead\n");
		return "127.0.0.1";
	}
	freeaddrinfo(found);
	return "localhost";
}

static void test_addresses(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer_target target = fixture_target(f);
	struct sockaddr_in a[2] = {
		{ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
		{ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }
	};
	struct addrinfo second = {
		.ai_family = AF_INET,
		.ai_addr = (struct sockaddr *)&a[1],
		.ai_addrlen = sizeof(a[1])
	};
	struct addrinfo first = second;
	struct error err = { "" };
	uint16_t free_port;
	struct peer *p;
	int fd;

	(void)state;
	close(raw_listen(&free_port));
	first.ai_addr = (struct sockaddr *)&a[0];
	first.ai_next = &second;
	a[0].sin_port = htons(free_port);
	a[1].sin_port = htons(f->port);
	fd = dial_control(&first, NULL, 50, deadline_in_ms(PATIENCE_MS));
	assert_true(fd >= 0);
	close(fd);
	/* An address family that the kernel does not even have. */
	first.ai_family = AF_MAX - 1;
	fd = dial_control(&first, NULL, 50, deadline_in_ms(PATIENCE_MS));
	assert_true(fd >= 0);
	close(fd);
	first.ai_family = AF_INET;
	a[1].sin_port = a[0].sin_port;
	assert_int_equal(dial_control(&first, NULL, 50, deadline_in_ms(PATIENCE_MS)),
			 -ECONNREFUSED);
	target.host = name_of_loopback();
	target.family = AF_INET;
	if (client_connect(&target, &patient, &p, &err) < 0)
		fail_msg("%s", err.text);
	fixture_run(p, &small_run);
	peer_close(p);
	fixture_stop(f);
}

static void test_ipv6_and_all_addresses(void **state)
{
	struct peer_server_options o = { .bind_address = NULL };
	struct fixture *f = fixture_start(&o, NULL);
	struct peer_target target = fixture_target(f);
	struct error err = { "" };
	struct peer *p;

	(void)state;
	target.bind_address = "127.0.0.1";
	assert_int_equal(client_connect(&target, &patient, &p, &err), 0);
	assert_string_equal(peer_remote_address(p), "127.0.0.1");
	fixture_run(p, &small_run);
	peer_close(p);
	assert_true(fixture_saw(f, "CLIENT 127.0.0.1: "));
	target.host = "::1";
	target.bind_address = NULL;
	if (client_connect(&target, &patient, &p, &err) < 0) {
		fixture_stop(f);
		print_message("no IPv6 loopback here: %s\n", err.text);
		skip();
	}
	assert_string_equal(peer_local_address(p), "::1");
	fixture_run(p, &small_run);
	peer_close(p);
	fixture_stop(f);
}

/* ---- keys ---- */

static void test_wrong_key(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer_key other, open = { .open = true };
	struct error err = { "" };

	(void)state;
	assert_int_equal(peer_key_generate(&other), 0);
	assert_int_equal(connect_with(f, &other, &err), -EKEYREJECTED);
	assert_non_null(strstr(err.text, "wrong key: use the key that 'netdoctor serve' printed"));
	assert_true(fixture_saw(f, "REFUSED 127.0.0.1: refused: wrong key"));
	assert_int_equal(connect_with(f, &open, &err), -ENOKEY);
	assert_non_null(strstr(err.text, "needs a key"));
	assert_true(fixture_saw(f, "it has no key"));
	assert_int_equal(connect_with(f, &f->key, &err), 0);
	fixture_stop(f);
}

static void test_open_mode(void **state)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1", .key.open = true };
	struct fixture *f = fixture_start(&o, NULL);
	struct peer_key open = { .open = true }, key = { .open = false };
	struct error err = { "" };

	(void)state;
	assert_int_equal(connect_with(f, &open, &err), 0);
	/* The all-zero key under the other name is no way in either. */
	assert_int_equal(connect_with(f, &key, &err), -ENOKEY);
	assert_non_null(strstr(err.text, "open to all"));
	assert_true(fixture_saw(f, "this server is open"));
	fixture_stop(f);
}

static void test_other_version(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct raw_session r;
	cJSON *m;

	(void)state;
	raw_session_open(&r, f->port, &f->key);
	raw_send(&r.channel, "{\"type\":\"hello\",\"id\":0,\"version\":2,\"tool\":\"9.9\\u001b\"}");
	m = raw_receive(&r.channel, "error");
	assert_string_equal(json_get_str(m, "code", 20), "version");
	assert_non_null(strstr(json_get_str(m, "text", 300), "protocol 1"));
	assert_non_null(strstr(json_get_str(m, "text", 300), "the client 2 (release 9.9?)"));
	cJSON_Delete(m);
	assert_true(fixture_saw(f, "REFUSED 127.0.0.1: refused: this server speaks"));
	assert_true(raw_closed(r.channel.fd, PATIENCE_MS));
	raw_session_close(&r);
	fixture_stop(f);
}

/* ---- places ---- */

static void test_places(void **state)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1", .max_sessions = 1 };
	struct fixture *f = fixture_start(&o, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct error err = { "" };

	(void)state;
	assert_int_equal(connect_with(f, &f->key, &err), -EBUSY);
	assert_non_null(strstr(err.text, "busy: 1 session already"));
	assert_true(fixture_saw(f, "REFUSED 127.0.0.1: refused: busy"));
	peer_close(p);
	assert_true(fixture_saw(f, "said goodbye"));
	peer_close(fixture_client(f, NULL));
	fixture_stop(f);
}

static void test_once(void **state)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1", .once = true };
	struct fixture *f = fixture_start(&o, NULL);
	struct peer_key other;
	struct error err = { "" };
	struct peer *p;

	(void)state;
	/* One that does not get in does not use it up. */
	assert_int_equal(peer_key_generate(&other), 0);
	assert_int_equal(connect_with(f, &other, &err), -EKEYREJECTED);
	p = fixture_client(f, NULL);
	assert_int_equal(connect_with(f, &f->key, &err), -EBUSY);
	assert_non_null(strstr(err.text, "one session only"));
	fixture_run(p, &small_run);
	peer_close(p);
	pthread_join(f->thread, NULL);
	assert_int_equal(f->result, 0);
	peer_server_close(f->server);
	close(f->stop_fd);
	free(f);
}

/* ---- limits ---- */

static int try_run(struct peer *p, const struct run_spec *spec, struct error *err)
{
	int fds[RUN_MAX_STREAMS], rc = peer_run_prepare(p, spec, fds, PATIENCE_MS, err);

	if (rc == 0)
		fixture_close_run(fds, run_flows(spec));
	peer_run_cancel(p);
	return rc;
}

static void test_limits(void **state)
{
	struct peer_server_options o = {
		.bind_address = "127.0.0.1", .max_seconds = 2, .max_streams = 4,
		.max_bps = 1000000000
	};
	struct fixture *f = fixture_start(&o, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct run_spec spec = small_run;
	struct error err = { "" };

	(void)state;
	assert_int_equal(peer_limits(p).max_seconds, 2);
	assert_int_equal(peer_limits(p).max_streams, 4);
	assert_int_equal(peer_limits(p).max_bps, 1000000000);
	spec.streams = 5;
	assert_int_equal(try_run(p, &spec, &err), -EPERM);
	assert_non_null(strstr(err.text, "5 streams asked for, this server allows 4"));
	spec.streams = 4;
	spec.warmup_ms = 1000;
	spec.window_ms = 1001;
	assert_int_equal(try_run(p, &spec, &err), -EPERM);
	assert_non_null(strstr(err.text, "2.001 s with its warm-up asked for, this server "));
	spec.window_ms = 1000;
	assert_int_equal(try_run(p, &spec, &err), 0);
	assert_int_equal(peer_run_spec(p)->pacing_bps, 250000000);
	spec.pacing_bps = 1000000;
	assert_int_equal(try_run(p, &spec, &err), 0);
	assert_int_equal(peer_run_spec(p)->pacing_bps, 1000000);
	/* Of UDP it is the rate that we keep ourselves; both directions share it. */
	spec.protocol = RUN_UDP;
	spec.pacing_bps = 0;
	assert_int_equal(try_run(p, &spec, &err), 0);
	assert_int_equal(peer_run_spec(p)->rate_bps, 250000000);
	assert_int_equal(peer_run_spec(p)->pacing_bps, 0);
	spec.streams = 2;
	spec.bidirectional = true;
	spec.rate_bps = 1000000;
	assert_int_equal(try_run(p, &spec, &err), 0);
	assert_int_equal(peer_run_spec(p)->rate_bps, 1000000);
	spec.rate_bps = 300000000;
	assert_int_equal(try_run(p, &spec, &err), 0);
	assert_int_equal(peer_run_spec(p)->rate_bps, 250000000);
	spec.protocol = RUN_TCP;
	spec.bidirectional = false;
	spec.streams = 0;
	assert_int_equal(try_run(p, &spec, &err), -EINVAL);
	spec.streams = RUN_MAX_STREAMS + 1;
	assert_int_equal(try_run(p, &spec, &err), -EINVAL);
	assert_true(peer_alive(p));
	spec = small_run;
	fixture_run(p, &spec);
	assert_int_equal(f->last_spec.pacing_bps, 333333333);
	peer_close(p);
	fixture_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_long_facts),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_ipv6_and_all_addresses),
		cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_open_mode),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole sessions over loopback: keys, facts, clock, runs, turns, limits, ends. */
#include "tests/unit/peer_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/wire.h"

static const struct run_spec small = {
	.direction = RUN_FORWARD, .streams = 3, .block_bytes = 1024, .window_ms = 100
};

/* A client that notices a silent server soon. */
static const struct peer_timing watchful = {
	.hello_ms = PATIENCE_MS, .send_ms = PATIENCE_MS, .silence_ms = 700, .bye_ms = 200
};

static struct run_window window_of(unsigned int ms)
{
	uint64_t now = timing_now_ns();

	/* Both ends are this machine: its clock is the peer's. */
	return (struct run_window){ now, now + 1, now + ms * UINT64_C(1000000) };
}

static void prepare(struct peer *p, const struct run_spec *spec, int *fds)
{
	struct error err = { "" };

	if (peer_run_prepare(p, spec, fds, PATIENCE_MS, &err) < 0)
		fail_msg("prepare: %s", err.text);
}

static void start(struct peer *p, unsigned int ms)
{
	struct run_window w = window_of(ms);
	struct error err = { "" };

	if (peer_run_start(p, &w, &err) < 0)
		fail_msg("start: %s", err.text);
}

static void close_fds(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

static void finish(struct peer *p)
{
	struct error err = { "" };
	cJSON *end = NULL;

	if (peer_run_finish(p, PATIENCE_MS, &end, &err) < 0)
		fail_msg("finish: %s", err.text);
	assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(end, "streams")));
	cJSON_Delete(end);
}

/* A run of FAKE_RUN_BYTES. */
static void whole_run(struct peer *p, const struct run_spec *spec)
{
	int fds[RUN_MAX_STREAMS];

	prepare(p, spec, fds);
	start(p, 5000);
	for (uint64_t i = 0; i < spec->streams; i++) {
		unsigned char byte = (unsigned char)i, got = 0;

		if (spec->direction == RUN_FORWARD) {
			assert_int_equal(wire_send(fds[i], &byte, 1, deadline_in_ms(PATIENCE_MS)), 0);
			continue;
		}
		assert_int_equal(wire_receive(fds[i], &got, 1, deadline_in_ms(PATIENCE_MS)), 0);
		assert_int_equal(got, byte);
	}
	finish(p);
	close_fds(fds, spec->streams);
}

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
	struct run_spec reverse = small;
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
	whole_run(p, &small);
	assert_int_equal(f->last_spec.streams, 3);
	assert_int_equal(f->last_spec.block_bytes, 1024);
	reverse.direction = RUN_REVERSE;
	reverse.streams = 200;
	whole_run(p, &reverse);
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
	whole_run(p, &small);
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
	whole_run(p, &small);
	peer_close(p);
	fixture_stop(f);
}

static void test_samples(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct error err = { "" };
	unsigned int samples = 0;
	uint64_t until;
	int fds[3];

	(void)state;
	atomic_store(&f->run_kind, FAKE_RUN_SAMPLES);
	prepare(p, &small, fds);
	start(p, 400);
	until = deadline_in_ms(500);
	while (timing_now_ns() < until) {
		cJSON *sample = NULL;

		assert_int_equal(peer_run_poll(p, 50, &sample, &err), 0);
		samples += sample != NULL;
		cJSON_Delete(sample);
	}
	assert_in_range(samples, 2, 21);
	finish(p);
	close_fds(fds, 3);
	peer_close(p);
	fixture_stop(f);
}

static void test_signs_of_life(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, &watchful);
	int fds[3];

	(void)state;
	/* Longer than silence_ms without a sample: the server's signs of life carry it. */
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	prepare(p, &small, fds);
	start(p, 900);
	finish(p);
	close_fds(fds, 3);
	/* Nor is a server lost when the client did not look for a while. */
	prepare(p, &small, fds);
	start(p, 900);
	sleep_ms(800);
	finish(p);
	close_fds(fds, 3);
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

/* ---- turns and places ---- */

struct second_client { struct fixture *f; atomic_bool done; };

static void *second_client_thread(void *arg)
{
	struct second_client *s = arg;
	struct peer *p = fixture_client(s->f, NULL);
	int fds[3];

	prepare(p, &small, fds);
	atomic_store(&s->done, true);
	start(p, 100);
	finish(p);
	close_fds(fds, 3);
	peer_close(p);
	return NULL;
}

static void test_two_sessions_take_turns(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct second_client second = { .f = f };
	struct peer *p = fixture_client(f, NULL), *hasty = fixture_client(f, NULL);
	struct error err = { "" };
	pthread_t thread;
	int fds[3], none[3];

	(void)state;
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	prepare(p, &small, fds);
	pthread_create(&thread, NULL, second_client_thread, &second);
	/* A third one with little patience; giving up costs it the run, not the session. */
	assert_int_equal(peer_run_prepare(hasty, &small, none, 500, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another client's run"));
	assert_int_equal(none[0], -1);
	assert_true(peer_alive(hasty));
	start(p, 600);
	sleep_ms(100);
	assert_false(atomic_load(&second.done));
	finish(p);
	close_fds(fds, 3);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&second.done));
	prepare(hasty, &small, none);
	start(hasty, 50);
	finish(hasty);
	close_fds(none, 3);
	assert_int_equal(atomic_load(&f->most_running), 1);
	assert_int_equal(atomic_load(&f->runs), 3);
	peer_close(hasty);
	peer_close(p);
	fixture_stop(f);
}

static void test_vanished_client_gives_its_turn_up(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL), *next = fixture_client(f, NULL);
	uint64_t began;
	int fds[3];

	(void)state;
	/* Prepared, so that it has the turn, and never started. */
	prepare(p, &small, fds);
	shutdown(p->channel.fd, SHUT_RDWR);
	began = timing_now_ns();
	whole_run(next, &small);
	assert_true(ms_since(began) < patient.start_ms / 2);
	close_fds(fds, 3);
	peer_close(p);
	peer_close(next);
	assert_true(fixture_saw(f, "gone without a goodbye"));
	fixture_stop(f);
}

static void test_late_start_gives_the_turn_up(void **state)
{
	struct peer_timing t = patient;
	struct error err = { "" };
	struct peer *p, *next;
	struct fixture *f;
	cJSON *sample;
	int fds[3];

	(void)state;
	t.start_ms = 300;
	f = fixture_start(NULL, &t);
	p = fixture_client(f, NULL);
	next = fixture_client(f, NULL);
	prepare(p, &small, fds);
	whole_run(next, &small);	/* gets its turn after start_ms */
	start(p, 100);
	assert_int_equal(peer_run_poll(p, PATIENCE_MS, &sample, &err), -ETIME);
	assert_non_null(strstr(err.text, "start did not come in time"));
	assert_true(peer_alive(p));
	close_fds(fds, 3);
	peer_close(p);
	peer_close(next);
	fixture_stop(f);
}

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
	whole_run(p, &small);
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
		close_fds(fds, spec->streams);
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
	struct run_spec spec = small;
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
	assert_non_null(strstr(err.text, "2.001 s with its warm-up asked for, this server allows 2"));
	spec.window_ms = 1000;
	assert_int_equal(try_run(p, &spec, &err), 0);
	assert_int_equal(peer_run_spec(p)->pacing_bps, 250000000);
	spec.pacing_bps = 1000000;
	assert_int_equal(try_run(p, &spec, &err), 0);
	assert_int_equal(peer_run_spec(p)->pacing_bps, 1000000);
	spec.streams = 0;
	assert_int_equal(try_run(p, &spec, &err), -EINVAL);
	spec.streams = RUN_MAX_STREAMS + 1;
	assert_int_equal(try_run(p, &spec, &err), -EINVAL);
	assert_true(peer_alive(p));
	spec = small;
	whole_run(p, &spec);
	assert_int_equal(f->last_spec.pacing_bps, 333333333);
	peer_close(p);
	fixture_stop(f);
}

static void test_window_is_checked(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	uint64_t now = timing_now_ns(), second = 1000000000;
	const struct run_window bad[] = {
		{ now, now + 1, now - second },			/* over */
		{ now + 2, now + 1, now + second },		/* turned round */
		{ now, now + 2 * second, now + second },
		{ now, now + 1, now + 60 * second },		/* longer than agreed */
		{ now, now + 1, INT64_MAX },
	};
	struct error err = { "" };
	cJSON *end;
	int fds[3];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		prepare(p, &small, fds);
		assert_int_equal(peer_run_start(p, &bad[i], &err), 0);
		assert_int_equal(peer_run_finish(p, PATIENCE_MS, &end, &err), -EPERM);
		close_fds(fds, 3);
	}
	assert_int_equal(atomic_load(&f->runs), 0);
	whole_run(p, &small);
	peer_close(p);
	fixture_stop(f);
}

/* ---- failures ---- */

static void test_service_failures(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	struct error err = { "" };
	cJSON *reply;
	int fds[3];

	(void)state;
	atomic_store(&f->facts_fail, true);
	assert_int_equal(peer_facts(p, PATIENCE_MS, &reply, &err), -EREMOTEIO);
	assert_non_null(strstr(err.text, "the probes"));
	assert_null(strchr(err.text, '\n'));
	atomic_store(&f->run_kind, FAKE_RUN_FAILS);
	prepare(p, &small, fds);
	start(p, 100);
	assert_int_equal(peer_run_finish(p, PATIENCE_MS, &reply, &err), -EREMOTEIO);
	assert_non_null(strstr(err.text, "the fake run failed"));
	close_fds(fds, 3);
	assert_true(peer_alive(p));
	/* Used wrongly. */
	assert_int_equal(peer_run_finish(p, PATIENCE_MS, &reply, &err), -EINVAL);
	assert_int_equal(peer_run_poll(p, 10, &reply, &err), -EINVAL);
	assert_int_equal(peer_facts_finish(p, 10, &reply, &err), -EINVAL);
	/* And the session is as good as new. */
	atomic_store(&f->facts_fail, false);
	assert_int_equal(peer_facts(p, PATIENCE_MS, &reply, &err), 0);
	cJSON_Delete(reply);
	atomic_store(&f->run_kind, FAKE_RUN_BYTES);
	whole_run(p, &small);
	peer_close(p);
	fixture_stop(f);
}

static void test_cancel(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	int fds[3];

	(void)state;
	atomic_store(&f->run_kind, FAKE_RUN_SAMPLES);
	for (unsigned int i = 1; i <= 3; i++) {
		prepare(p, &small, fds);
		start(p, 5000);
		sleep_ms(50);
		peer_run_cancel(p);
		assert_true(fixture_reaches(&f->cancelled, i));
		close_fds(fds, 3);
	}
	/* What was still under way for the cancelled runs is not taken for this one's. */
	atomic_store(&f->run_kind, FAKE_RUN_BYTES);
	whole_run(p, &small);
	peer_close(p);
	fixture_stop(f);
}

static void test_client_killed_in_a_run(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	int fds[3];

	(void)state;
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	prepare(p, &small, fds);
	start(p, 5000);
	assert_true(fixture_reaches(&f->running, 1));
	/* As the kernel does for a killed process: no goodbye. */
	shutdown(p->channel.fd, SHUT_RDWR);
	assert_true(fixture_reaches(&f->cancelled, 1));
	close_fds(fds, 3);
	peer_close(p);
	assert_true(fixture_saw(f, "GONE 127.0.0.1: session over: gone without a goodbye"));
	fixture_stop(f);
}

static void test_server_stopped_in_a_run(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL), *idle = fixture_client(f, NULL);
	struct error err = { "" };
	cJSON *end = NULL, *reply;
	int fds[3];

	(void)state;
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	prepare(p, &small, fds);
	start(p, 5000);
	assert_true(fixture_reaches(&f->running, 1));
	fixture_stop(f);
	/* The part that was measured still comes. */
	assert_int_equal(peer_run_finish(p, PATIENCE_MS, &end, &err), 0);
	cJSON_Delete(end);
	assert_true(peer_facts(p, PATIENCE_MS, &reply, &err) < 0);
	assert_false(peer_alive(p));
	assert_true(peer_facts(idle, PATIENCE_MS, &reply, &err) < 0);
	assert_false(peer_alive(idle));
	close_fds(fds, 3);
	peer_close(idle);
	peer_close(p);
}

/* A server in a process of its own, stopped or killed in the middle of a run. */
static void end_of_server(int signal_number, unsigned int least_ms, const char *text)
{
	int port_pipe[2], fds[3], rc = 0;
	struct fixture *f, here = { .port = 0 };
	struct error err = { "" };
	uint64_t began;
	struct peer *p;
	cJSON *sample;
	pid_t child;

	assert_int_equal(pipe(port_pipe), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct peer_server_options o = { .bind_address = "127.0.0.1", .key.open = true };

		f = fixture_start(&o, NULL);
		atomic_store(&f->run_kind, FAKE_RUN_SAMPLES);
		if (write(port_pipe[1], &f->port, sizeof(f->port)) != sizeof(f->port))
			_exit(1);
		sleep_ms(10000);
		_exit(0);
	}
	assert_int_equal(read(port_pipe[0], &here.port, sizeof(here.port)), sizeof(here.port));
	here.key.open = true;
	p = fixture_client(&here, &watchful);
	prepare(p, &small, fds);
	start(p, 5000);
	assert_int_equal(peer_run_poll(p, 600, &sample, &err), 0);
	assert_non_null(sample);
	cJSON_Delete(sample);
	began = timing_now_ns();
	kill(child, signal_number);
	while (rc == 0 && ms_since(began) < 4000) {
		rc = peer_run_poll(p, 50, &sample, &err);
		cJSON_Delete(sample);
	}
	assert_in_range(ms_since(began), least_ms, 4000);
	assert_true(rc < 0);
	assert_false(peer_alive(p));
	assert_non_null(strstr(err.text, text));
	close_fds(fds, 3);
	peer_close(p);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(port_pipe[0]);
	close(port_pipe[1]);
}

static void test_server_killed_in_a_run(void **state)
{
	(void)state;
	end_of_server(SIGKILL, 0, "session lost: it closed the connection or is gone");
}

static void test_server_frozen_in_a_run(void **state)
{
	(void)state;
	end_of_server(SIGSTOP, 500, "session lost: no sign of life for 700 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_long_facts),
		cmocka_unit_test(test_ipv6_and_all_addresses),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_signs_of_life),
		cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_open_mode),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_two_sessions_take_turns),
		cmocka_unit_test(test_vanished_client_gives_its_turn_up),
		cmocka_unit_test(test_late_start_gives_the_turn_up),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_window_is_checked),
		cmocka_unit_test(test_service_failures),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_client_killed_in_a_run),
		cmocka_unit_test(test_server_stopped_in_a_run),
		cmocka_unit_test(test_server_killed_in_a_run),
		cmocka_unit_test(test_server_frozen_in_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs over loopback: samples, turns, and every way in which one can end early. */
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


/* A client that notices a silent server soon. */
static const struct peer_timing watchful = {
	.hello_ms = PATIENCE_MS, .send_ms = PATIENCE_MS, .alive_ms = 50, .silence_ms = 1000,
	.outage_ms = 2000, .bye_ms = 200
};

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
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 400);
	until = deadline_in_ms(500);
	while (monotonic_ns() < until) {
		cJSON *sample = NULL;

		assert_int_equal(peer_run_poll(p, 50, &sample, &err), 0);
		samples += sample != NULL;
		cJSON_Delete(sample);
	}
	assert_in_range(samples, 2, 21);
	fixture_finish_run(p);
	fixture_close_run(fds, 3);
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
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 2500);
	fixture_finish_run(p);
	fixture_close_run(fds, 3);
	/* Nor is a server lost when the client did not look for a while. */
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 2500);
	sleep_ms(2300);
	fixture_finish_run(p);
	fixture_close_run(fds, 3);
	peer_close(p);
	fixture_stop(f);
}

/* ---- turns ---- */

struct second_client { struct fixture *f; atomic_bool done; };

static void *second_client_thread(void *arg)
{
	struct second_client *s = arg;
	struct peer *p = fixture_client(s->f, NULL);
	int fds[3];

	fixture_prepare_run(p, &small_run, fds);
	atomic_store(&s->done, true);
	fixture_start_run(p, 100);
	fixture_finish_run(p);
	fixture_close_run(fds, 3);
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
	fixture_prepare_run(p, &small_run, fds);
	pthread_create(&thread, NULL, second_client_thread, &second);
	/* A third one with little patience; giving up costs it the run, not the session. */
	assert_int_equal(peer_run_prepare(hasty, &small_run, none, 500, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another client's run"));
	assert_int_equal(none[0], -1);
	assert_true(peer_alive(hasty));
	fixture_start_run(p, 600);
	sleep_ms(100);
	assert_false(atomic_load(&second.done));
	fixture_finish_run(p);
	fixture_close_run(fds, 3);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&second.done));
	fixture_prepare_run(hasty, &small_run, none);
	fixture_start_run(hasty, 50);
	fixture_finish_run(hasty);
	fixture_close_run(none, 3);
	assert_int_equal(atomic_load(&f->most_running), 1);
	assert_int_equal(atomic_load(&f->runs), 3);
	peer_close(hasty);
	peer_close(p);
	fixture_stop(f);
}

static bool is_set(void *state)
{
	return atomic_load((atomic_bool *)state);
}

static void *set_soon(void *arg)
{
	sleep_ms(200);
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

static void test_waiting_for_a_turn_can_be_cancelled(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL), *waiting = fixture_client(f, NULL);
	struct error err = { "" };
	atomic_bool cancelled = false;
	uint64_t began = monotonic_ns();
	pthread_t thread;
	int fds[3], none[3];

	(void)state;
	fixture_prepare_run(p, &small_run, fds);
	peer_heed(waiting, is_set, &cancelled);
	pthread_create(&thread, NULL, set_soon, &cancelled);
	assert_int_equal(peer_run_prepare(waiting, &small_run, none, PATIENCE_MS, &err), -EINTR);
	assert_true(ms_since(began) < PATIENCE_MS / 2);
	assert_non_null(strstr(err.text, "interrupted while waiting"));
	pthread_join(thread, NULL);
	assert_int_equal(none[0], -1);
	/* It has left the queue, and its session is as good as before. */
	assert_true(peer_alive(waiting));
	atomic_store(&cancelled, false);
	fixture_close_run(fds, 3);
	peer_close(p);
	fixture_run(waiting, &small_run);
	peer_close(waiting);
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
	fixture_prepare_run(p, &small_run, fds);
	shutdown(p->channel.fd, SHUT_RDWR);
	began = monotonic_ns();
	fixture_run(next, &small_run);
	assert_true(ms_since(began) < patient.start_ms / 2);
	fixture_close_run(fds, 3);
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
	fixture_prepare_run(p, &small_run, fds);
	fixture_run(next, &small_run);	/* gets its turn after start_ms */
	fixture_start_run(p, 100);
	assert_int_equal(peer_run_poll(p, PATIENCE_MS, &sample, &err), -ETIME);
	assert_non_null(strstr(err.text, "start did not come in time"));
	assert_true(peer_alive(p));
	fixture_close_run(fds, 3);
	peer_close(p);
	peer_close(next);
	fixture_stop(f);
}

static void test_window_is_checked(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	uint64_t now = monotonic_ns(), second = 1000000000;
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
		fixture_prepare_run(p, &small_run, fds);
		assert_int_equal(peer_run_start(p, &bad[i], &err), 0);
		assert_int_equal(peer_run_finish(p, PATIENCE_MS, &end, &err), -EPERM);
		fixture_close_run(fds, 3);
	}
	assert_int_equal(atomic_load(&f->runs), 0);
	fixture_run(p, &small_run);
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
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 100);
	assert_int_equal(peer_run_finish(p, PATIENCE_MS, &reply, &err), -EREMOTEIO);
	assert_non_null(strstr(err.text, "the fake run failed"));
	fixture_close_run(fds, 3);
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
	fixture_run(p, &small_run);
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
		fixture_prepare_run(p, &small_run, fds);
		fixture_start_run(p, 5000);
		sleep_ms(50);
		peer_run_cancel(p);
		assert_true(fixture_reaches(&f->cancelled, i));
		fixture_close_run(fds, 3);
	}
	/* What was still under way for the cancelled runs is not taken for this one's. */
	atomic_store(&f->run_kind, FAKE_RUN_BYTES);
	fixture_run(p, &small_run);
	peer_close(p);
	fixture_stop(f);
}

static void test_next_request_before_the_cancelled_run_is_over(void **state)
{
	struct fixture *f = fixture_start(NULL, NULL);
	struct peer *p = fixture_client(f, NULL);
	int64_t offset;
	int fds[3];

	(void)state;
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	atomic_store(&f->slow_to_cancel, true);
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 5000);
	peer_run_cancel(p);
	fixture_close_run(fds, 3);
	assert_int_equal(peer_clock_offset(p, &offset, NULL), 0);
	assert_int_equal(atomic_load(&f->cancelled), 1);
	assert_int_equal(atomic_load(&f->running), 0);
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
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 5000);
	assert_true(fixture_reaches(&f->running, 1));
	/* As the kernel does for a killed process: no goodbye. */
	shutdown(p->channel.fd, SHUT_RDWR);
	assert_true(fixture_reaches(&f->cancelled, 1));
	fixture_close_run(fds, 3);
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
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 5000);
	assert_true(fixture_reaches(&f->running, 1));
	fixture_stop(f);
	/* The part that was measured still comes. */
	assert_int_equal(peer_run_finish(p, PATIENCE_MS, &end, &err), 0);
	cJSON_Delete(end);
	assert_true(peer_facts(p, PATIENCE_MS, &reply, &err) < 0);
	assert_false(peer_alive(p));
	assert_true(peer_facts(idle, PATIENCE_MS, &reply, &err) < 0);
	assert_false(peer_alive(idle));
	fixture_close_run(fds, 3);
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
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 5000);
	assert_int_equal(peer_run_poll(p, 600, &sample, &err), 0);
	assert_non_null(sample);
	cJSON_Delete(sample);
	began = monotonic_ns();
	kill(child, signal_number);
	while (rc == 0 && ms_since(began) < 20000) {
		rc = peer_run_poll(p, 50, &sample, &err);
		cJSON_Delete(sample);
	}
	assert_in_range(ms_since(began), least_ms, 25000);
	assert_true(rc < 0);
	assert_false(peer_alive(p));
	assert_non_null(strstr(err.text, text));
	fixture_close_run(fds, 3);
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
	end_of_server(SIGSTOP, 1500, "session lost: no sign of life for 2000 ms");
}

/* A stopped client: what it was sent is not read, and nothing comes from it. */
static void test_silent_client_gives_way(void **state)
{
	struct peer_server_options o = { .max_sessions = 2 };
	struct peer_timing t = patient;
	struct error err = { "" };
	struct fixture *f;
	struct peer *p, *next;
	cJSON *sample;
	int fds[3];

	(void)state;
	t.silence_ms = 1000;
	f = fixture_start(&o, &t);
	p = fixture_client(f, NULL);
	next = fixture_client(f, NULL);
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	fixture_prepare_run(p, &small_run, fds);
	fixture_start_run(p, 8000);
	assert_int_equal(peer_run_poll(p, 200, &sample, &err), 0);
	/* It has spoken until now, and nobody waits: its silence is its own. */
	sleep_ms(1500);
	assert_int_equal(peer_run_poll(p, 200, &sample, &err), 0);
	atomic_store(&f->run_kind, FAKE_RUN_BYTES);
	fixture_run(next, &small_run);
	assert_true(fixture_saw(f, "GONE 127.0.0.1: session over: the client gave no sign of life "
				   "for 1000 ms, and others wait"));
	assert_true(peer_run_poll(p, 200, &sample, &err) < 0);
	assert_non_null(strstr(err.text, "no sign of life"));
	assert_false(peer_alive(p));
	fixture_close_run(fds, 3);
	peer_close(p);
	peer_close(next);
	fixture_stop(f);
}

/* One that only waits long, or is of a release that gives no signs, keeps its turn. */
static void test_client_with_signs_keeps_its_turn(void **state)
{
	struct peer_timing t = patient;
	struct error err = { "" };
	struct second_client second = { 0 };
	struct fixture *f;
	struct peer *p;
	pthread_t thread;
	uint64_t began;
	int fds[3];

	(void)state;
	t.silence_ms = 2000;
	second.f = f = fixture_start(NULL, &t);
	atomic_store(&f->run_kind, FAKE_RUN_UNTIL_STOP);
	for (int signs = 0; signs < 2; signs++) {
		p = fixture_client(f, NULL);
		assert_true(p->gives_signs);
		p->gives_signs = signs;
		fixture_prepare_run(p, &small_run, fds);
		pthread_create(&thread, NULL, second_client_thread, &second);
		fixture_start_run(p, 3500);
		began = monotonic_ns();
		while (ms_since(began) < 3000) {
			cJSON *sample = NULL;

			assert_int_equal(peer_run_poll(p, 100, &sample, &err), 0);
			cJSON_Delete(sample);
		}
		fixture_finish_run(p);
		fixture_close_run(fds, 3);
		pthread_join(thread, NULL);
		peer_close(p);
	}
	fixture_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_signs_of_life),
		cmocka_unit_test(test_two_sessions_take_turns),
		cmocka_unit_test(test_waiting_for_a_turn_can_be_cancelled),
		cmocka_unit_test(test_vanished_client_gives_its_turn_up),
		cmocka_unit_test(test_late_start_gives_the_turn_up),
		cmocka_unit_test(test_window_is_checked),
		cmocka_unit_test(test_service_failures),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_next_request_before_the_cancelled_run_is_over),
		cmocka_unit_test(test_client_killed_in_a_run),
		cmocka_unit_test(test_server_stopped_in_a_run),
		cmocka_unit_test(test_silent_client_gives_way),
		cmocka_unit_test(test_client_with_signs_keeps_its_turn),
		cmocka_unit_test(test_server_killed_in_a_run),
		cmocka_unit_test(test_server_frozen_in_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

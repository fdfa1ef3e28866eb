/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of iperf3 clients: who keeps one, and who gives way to the next. */
#include "tests/unit/iperf3_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/iperf3_wire.h"

/* A client that was stopped in its test sends nothing, and gives way; one that sends does not. */
static void test_silent_in_a_test(void **state)
{
	struct peer_server_options o = {
		.bind_address = "127.0.0.1", .allow_iperf3 = true, .max_iperf3 = 1
	};
	struct peer_timing t = patient;
	struct fixture *f;
	int a, b, of_a;

	(void)state;
	t.silence_ms = 600;
	f = fixture_start(&o, &t);
	atomic_store(&f->run_kind, FAKE_RUN_BYTES);
	assert_int_equal(one_of_many(f, 'a', &a), IPERF3_CREATE_STREAMS);
	of_a = stream_of(f, 'a');
	assert_int_equal(next_state(a), IPERF3_TEST_START);
	assert_int_equal(next_state(a), IPERF3_TEST_RUNNING);
	/* Once it is silent for long enough, and has had the second that anybody has. */
	sleep_ms(1300);
	assert_int_equal(one_of_many(f, 'b', &b), IPERF3_CREATE_STREAMS);
	assert_int_equal(next_state(a), IPERF3_SERVER_ERROR);
	assert_error_code(a, IPERF3_EDURATIONEXPIRED);
	assert_true(fixture_saw(f, "nothing comes from it, and another client needs its place"));
	close(of_a);
	close(a);
	close(b);
	fixture_stop(f);
}

/* What our kernel was given says nothing: it holds megabytes that nobody over there reads. */
static void test_reads_nothing(void **state)
{
	struct peer_server_options o = {
		.bind_address = "127.0.0.1", .allow_iperf3 = true, .max_iperf3 = 1
	};
	struct peer_timing t = patient;
	struct fixture *f;
	char some[65536];
	int a, b, of_a;

	(void)state;
	t.silence_ms = 600;
	f = fixture_start(&o, &t);
	atomic_store(&f->run_kind, FAKE_RUN_SENDS);
	assert_int_equal(one_asks(f, 'a', "{\"tcp\":true,\"time\":60,\"reverse\":true}", &a),
			 IPERF3_CREATE_STREAMS);
	of_a = stream_of(f, 'a');
	assert_int_equal(next_state(a), IPERF3_TEST_START);
	assert_int_equal(next_state(a), IPERF3_TEST_RUNNING);
	/* A slow one stays, whoever comes. */
	for (uint64_t until = deadline_in_ms(2000); monotonic_ns() < until; sleep_ms(100))
		assert_true(recv(of_a, some, sizeof(some), 0) > 0);
	assert_int_equal(one_of_many(f, 'b', &b), IPERF3_ACCESS_DENIED);
	close(b);
	for (uint64_t until = deadline_in_ms(PATIENCE_MS);; close(b)) {
		unsigned char answer = one_of_many(f, 'b', &b);

		if (answer == IPERF3_CREATE_STREAMS)
			break;
		assert_int_equal(answer, IPERF3_ACCESS_DENIED);
		assert_true(monotonic_ns() < until);
		sleep_ms(200);
	}
	assert_int_equal(next_state(a), IPERF3_SERVER_ERROR);
	assert_error_code(a, IPERF3_EDURATIONEXPIRED);
	assert_true(fixture_saw(f, "it takes nothing in, and another client needs its place"));
	close(of_a);
	close(a);
	close(b);
	fixture_stop(f);
}

/* Some of its results, or none of them. */
static void test_silent_after_a_test(void **state)
{
	struct peer_server_options o = {
		.bind_address = "127.0.0.1", .allow_iperf3 = true, .max_iperf3 = 1
	};
	static const char *const said[] = { "", "{\"cpu_util_total\":" };
	struct peer_timing t = patient;

	(void)state;
	t.silence_ms = 200;
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		struct fixture *f = fixture_start(&o, &t);
		int a, b, of_a;

		atomic_store(&f->run_kind, FAKE_RUN_BYTES);
		assert_int_equal(one_of_many(f, 'a', &a), IPERF3_CREATE_STREAMS);
		of_a = stream_of(f, 'a');
		assert_int_equal(next_state(a), IPERF3_TEST_START);
		assert_int_equal(next_state(a), IPERF3_TEST_RUNNING);
		assert_int_equal(send(of_a, "", 1, MSG_NOSIGNAL), 1);
		assert_int_equal(next_state(a), IPERF3_EXCHANGE_RESULTS);
		if (*said[i])
			say_text(a, 300, said[i]);
		/* It may pause; then everybody has a second. */
		sleep_ms(1300);
		assert_int_equal(one_of_many(f, 'b', &b), IPERF3_CREATE_STREAMS);
		assert_int_equal(next_state(a), IPERF3_SERVER_ERROR);
		assert_error_code(a, IPERF3_ERECVRESULTS);
		assert_true(fixture_saw(f, "its results do not come, and another client needs"));
		close(of_a);
		close(a);
		close(b);
		fixture_stop(f);
	}
}

/* Who asks for a test and brings no streams gives way to who comes after; a test does not. */
static void test_displaced(void **state)
{
	struct peer_server_options o = {
		.bind_address = "127.0.0.1", .allow_iperf3 = true, .max_iperf3 = 2
	};
	struct peer_timing t = patient;
	struct fixture *f;
	int a, b, c, d, of_b, of_c;

	(void)state;
	t.data_ms = 60000;
	f = fixture_start(&o, &t);
	/* It goes on until the byte comes. */
	atomic_store(&f->run_kind, FAKE_RUN_BYTES);
	assert_int_equal(one_of_many(f, 'a', &a), IPERF3_CREATE_STREAMS);
	assert_int_equal(one_of_many(f, 'b', &b), IPERF3_CREATE_STREAMS);
	sleep_ms(1100);
	assert_int_equal(one_of_many(f, 'c', &c), IPERF3_CREATE_STREAMS);
	assert_int_equal(next_state(a), IPERF3_SERVER_ERROR);
	assert_error_code(a, IPERF3_ECREATESTREAM);
	assert_true(fixture_saw(f, "and another client needs its place"));
	of_b = stream_of(f, 'b');
	assert_int_equal(next_state(b), IPERF3_TEST_START);
	assert_int_equal(next_state(b), IPERF3_TEST_RUNNING);
	of_c = stream_of(f, 'c');
	assert_int_equal(next_state(c), IPERF3_TEST_START);
	sleep_ms(1100);
	assert_int_equal(one_of_many(f, 'd', &d), IPERF3_ACCESS_DENIED);
	close(of_b);
	close(of_c);
	close(a);
	close(b);
	close(c);
	close(d);
	fixture_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_displaced),
		cmocka_unit_test(test_silent_in_a_test),
		cmocka_unit_test(test_reads_nothing),
		cmocka_unit_test(test_silent_after_a_test),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

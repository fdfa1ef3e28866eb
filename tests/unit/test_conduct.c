/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exams over loopback with a peer whose end of the runs goes wrong: no loss is silent. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/exam/conduct.h"
#include "src/exam/service.h"

enum peer_kind { PEER_GOOD, PEER_SAYS_NULL, PEER_BEGINS_LATE, PEER_IS_CUT };

struct rig {
	enum peer_kind kind;
	struct exam_service *service;
	struct peer_service good;	/* the callbacks that netdoctor serve has */
	struct peer_server *server;
	struct peer_key key;
	int stop_fd;
	pthread_t thread;
};

static bool always(void *state)
{
	(void)state;
	return true;
}

static int bad_run(void *state, const struct peer_client_info *client, const struct run_spec *spec,
		   const int *fds, const struct run_window *window,
		   const struct peer_run_hooks *hooks, cJSON **end, struct error *err)
{
	struct rig *r = state;
	struct run_window w = *window;
	struct peer_run_hooks h = *hooks;

	switch (r->kind) {
	case PEER_SAYS_NULL:
		for (uint64_t i = 0; i < spec->streams; i++)
			close(fds[i]);
		*end = cJSON_CreateNull();
		return 0;
	case PEER_BEGINS_LATE:
		/* As one that the machine did not let run until its window was over. */
		w.from_ns -= 10000000000u;
		w.to_ns -= 10000000000u;
		break;
	case PEER_IS_CUT:
		/* Before its window, however slow this machine is. */
		w.from_ns += 10000000000u;
		w.to_ns += 10000000000u;
		w.stop_ns += 10000000000u;
		h.cancelled = always;
		break;
	case PEER_GOOD:
		break;
	}
	return r->good.run(r->good.state, client, spec, fds, &w, &h, end, err);
}

static int facts(void *state, const struct peer_client_info *client, cJSON **out, struct error *err)
{
	struct rig *r = state;

	return r->good.facts(r->good.state, client, out, err);
}

static void *serve(void *arg)
{
	struct rig *r = arg;
	struct error err = { "" };

	peer_server_run(r->server, r->stop_fd, &err);
	return NULL;
}

static void rig_start(struct rig *r, enum peer_kind kind)
{
	struct peer_server_options o = { .bind_address = "127.0.0.1" };
	struct peer_service bad = { .state = r, .facts = facts, .run = bad_run };
	struct error err = { "" };

	*r = (struct rig){ .kind = kind, .service = exam_service_new() };
	assert_non_null(r->service);
	r->good = exam_service_callbacks(r->service);
	assert_int_equal(peer_key_generate(&r->key), 0);
	o.key = r->key;
	r->stop_fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(peer_server_open(&o, &bad, &r->server, &err), 0);
	assert_int_equal(pthread_create(&r->thread, NULL, serve, r), 0);
}

static void rig_stop(struct rig *r)
{
	eventfd_write(r->stop_fd, 1);
	pthread_join(r->thread, NULL);
	peer_server_close(r->server);
	exam_service_free(r->service);
	close(r->stop_fd);
}

static const struct run_spec tcp = {
	.streams = 1, .block_bytes = 65536, .warmup_ms = 100, .window_ms = 500
};

/* One run of half a second. */
static struct exam *examine_with(struct rig *r, enum run_direction d, const struct run_spec *base)
{
	struct peer_target target = { .host = "127.0.0.1", .key = r->key,
				      .port = peer_server_port(r->server) };
	struct conduct_options o = {
		.target = &target,
		.plan = { .base = *base, .forward = d == RUN_FORWARD, .reverse = d == RUN_REVERSE },
	};
	struct error err = { "" };
	struct exam *e = NULL;

	if (exam_conduct(&o, &e, &err))
		fail_msg("%s", err.text);
	assert_int_equal(e->nruns, 1);
	return e;
}

static struct exam *examine(struct rig *r, enum run_direction d)
{
	return examine_with(r, d, &tcp);
}

static void assert_lost(enum peer_kind kind, enum run_direction d, const char *why)
{
	struct rig r;

	rig_start(&r, kind);
	struct exam *e = examine(&r, d);
	const struct run *run = &e->runs[0];

	assert_int_not_equal(run->status, RUN_COMPLETE);
	assert_int_equal(run->problem.k, ND_KNOWN);
	if (!strstr(run->problem.v, why))
		fail_msg("%s (not %s)", run->problem.v, why);
	/* It cost the run, not the session. */
	if (e->problem.k == ND_KNOWN)
		assert_null(strstr(e->problem.v, "session lost"));
	exam_free(e);
	rig_stop(&r);
}

static void a_good_peer_completes_the_run(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r, PEER_GOOD);
	struct exam *e = examine(&r, RUN_REVERSE);
	assert_int_equal(e->runs[0].status, RUN_COMPLETE);
	assert_int_not_equal(e->problem.k, ND_KNOWN);
	exam_free(e);
	rig_stop(&r);
}

/* Datagrams: goodput is what arrived, loss is counted there, and nothing is told of TCP. */
static void datagrams_are_counted_where_they_arrive(void **state)
{
	const struct run_spec udp = {
		.protocol = RUN_UDP, .streams = 1, .block_bytes = 1400, .warmup_ms = 100,
		.window_ms = 500, .rate_bps = 20000000
	};
	struct rig r;

	(void)state;
	rig_start(&r, PEER_GOOD);
	for (enum run_direction d = RUN_FORWARD; d <= RUN_REVERSE; d++) {
		struct exam *e = examine_with(&r, d, &udp);
		const struct run *run = &e->runs[0];
		const struct flow_summary *rx = run->ends[run_receiver(d)].flows;
		const struct flow_summary *tx = run->ends[run_sender(d)].flows;

		if (run->status != RUN_COMPLETE)
			fail_msg("%s", run->problem.k == ND_KNOWN ? run->problem.v : "no reason");
		assert_int_equal(run->spec.protocol, RUN_UDP);
		/* At most the rate, a little late or early; a busy machine may be slower. */
		assert_in_range(run->goodput_bps.v, 1, 25000000);
		assert_int_equal(run->loss.k, ND_KNOWN);
		assert_true(run->loss.v >= 0 && run->loss.v < 0.5);
		assert_int_equal(run->retransmits.k, ND_NOT_APPLICABLE);
		assert_int_equal(rx->lost.k, ND_KNOWN);
		assert_true(run->spec.udp_marks);
		/* Unless one end began late both count the same, to the last datagram. */
		if (run->ends[SIDE_LOCAL].window_ns.v >= 495000000 &&
		    run->ends[SIDE_PEER].window_ns.v >= 495000000) {
			assert_int_equal(tx->packets.v, rx->packets.v + rx->lost.v);
			assert_int_equal(rx->bytes.v, rx->packets.v * 1400);
		}
		assert_int_equal(rx->jitter_us.k, ND_KNOWN);
		assert_int_equal(rx->socket_drops.k, ND_KNOWN);
		assert_int_equal(tx->lost.k, ND_NOT_APPLICABLE);
		assert_int_equal(tx->packets.k, ND_KNOWN);
		exam_free(e);
	}
	rig_stop(&r);
}

static void a_peer_that_measured_nothing(void **state)
{
	(void)state;
	assert_lost(PEER_SAYS_NULL, RUN_FORWARD, "its end of the run measured nothing");
	assert_lost(PEER_SAYS_NULL, RUN_REVERSE, "its end of the run measured nothing");
}

static void a_peer_that_says_why_it_measured_nothing(void **state)
{
	(void)state;
	assert_lost(PEER_IS_CUT, RUN_REVERSE, "measured nothing: it ended before its measured");
}

static void a_peer_whose_window_was_over(void **state)
{
	(void)state;
	assert_lost(PEER_BEGINS_LATE, RUN_FORWARD, "of 0.5 s: it began late or was cut short");
	assert_lost(PEER_BEGINS_LATE, RUN_REVERSE, "of 0.5 s: it began late or was cut short");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_peer_completes_the_run),
		cmocka_unit_test(datagrams_are_counted_where_they_arrive),
		cmocka_unit_test(a_peer_that_measured_nothing),
		cmocka_unit_test(a_peer_that_says_why_it_measured_nothing),
		cmocka_unit_test(a_peer_whose_window_was_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

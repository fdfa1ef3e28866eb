/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/exam/timeline.h"
#include "tests/unit/exam_builder.h"

static char *print(const struct exam *e)
{
	cJSON *obj = exam_to_json(e);
	char *s;

	assert_non_null(obj);
	s = cJSON_PrintUnformatted(obj);
	cJSON_Delete(obj);
	assert_non_null(s);
	return s;
}

static struct exam *parse(const char *json)
{
	cJSON *obj = cJSON_Parse(json);
	struct error err = { "" };
	struct exam *e;

	assert_non_null(obj);
	if (exam_from_json(obj, &e, &err))
		fail_msg("%s", err.text);
	cJSON_Delete(obj);
	return e;
}

/* to_json -> from_json -> to_json gives the same bytes.  Takes over e, returns the second one. */
static struct exam *round_trip(struct exam *e)
{
	char *first = print(e);
	struct exam *back = parse(first);
	char *second = print(back);

	assert_string_equal(first, second);
	cJSON_free(first);
	cJSON_free(second);
	exam_free(e);
	return back;
}

static void test_two_hosts(void **state)
{
	struct exam *e = round_trip(build_hot_core_exam());
	const struct run *r = &e->runs[0];
	const struct run_end *peer = &r->ends[SIDE_PEER];

	(void)state;
	assert_int_equal(e->nruns, 2);
	assert_string_equal(r->id.v, "1-forward-all-streams");
	assert_int_equal(r->goodput_bps.v, 6040000000);
	assert_int_equal(r->spec.direction, RUN_FORWARD);
	assert_int_equal(r->spec.streams, BUILD_STREAMS);
	assert_int_equal(e->runs[1].spec.direction, RUN_REVERSE);
	assert_true(peer->present);
	assert_int_equal(peer->nflows, BUILD_STREAMS);
	assert_string_equal(peer->flows[7].direction.v, "receive");
	assert_string_equal(r->ends[SIDE_LOCAL].flows[7].direction.v, "send");
	assert_int_equal(peer->flows[7].goodput_bps.v, 755000000);
	assert_int_equal(peer->flows[7].timeouts.k, ND_NOT_SUPPORTED);
	assert_int_equal(peer->ncores, BUILD_CPUS);
	assert_true(peer->cores[3].busy.v == 0.98);
	assert_int_equal(peer->nintervals, 40);
	assert_int_equal(peer->intervals[39].bytes.v, 75500000);
	assert_true(peer->intervals[39].cores[3].softirq.v == 0.91);
	assert_non_null(peer->window);
	assert_int_equal(peer->window->cpus[3].softirq_us.v, 3640000);
	assert_string_equal(e->facts[SIDE_PEER]->host.hostname.v, "beta");
	assert_int_equal(e->facts[SIDE_PEER]->links[0].speed_mbps.v, 10000);
	assert_true(nd_is_false(e->path.same_machine));
	assert_int_equal(e->path.idle_rtt_us.v, 110);
	exam_free(e);
}

static void test_report_shape(void **state)
{
	struct exam *e = build_hot_core_exam();
	cJSON *obj = exam_to_json(e), *run, *cpu, *interval, *busiest;

	(void)state;
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(obj, "same_machine")));
	run = cJSON_GetArrayItem(cJSON_GetObjectItem(obj, "runs"), 0);
	assert_string_equal(cJSON_GetObjectItem(run, "purpose")->valuestring, "all-streams");
	assert_string_equal(cJSON_GetObjectItem(run, "protocol")->valuestring, "tcp");
	assert_string_equal(cJSON_GetObjectItem(run, "direction")->valuestring, "forward");
	assert_true(cJSON_GetObjectItem(run, "streams")->valuedouble == 8);
	assert_true(cJSON_GetObjectItem(run, "goodput_bps")->valuedouble == 6.04e9);
	/* counters are decimal strings */
	assert_string_equal(cJSON_GetObjectItem(run, "retransmits")->valuestring, "0");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(run, "flows")), 16);
	cpu = cJSON_GetObjectItem(cJSON_GetObjectItem(run, "cpu"), "peer");
	busiest = cJSON_GetObjectItem(cpu, "busiest");
	assert_true(cJSON_GetObjectItem(busiest, "cpu")->valuedouble == 3);
	assert_true(cJSON_GetObjectItem(busiest, "softirq")->valuedouble == 0.91);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cpu, "cores")), BUILD_CPUS);
	interval = cJSON_GetArrayItem(cJSON_GetObjectItem(run, "intervals"), 0);
	assert_true(cJSON_GetObjectItem(interval, "goodput_bps")->valuedouble == 6.04e9);
	busiest = cJSON_GetObjectItem(cJSON_GetObjectItem(interval, "peer"), "busiest");
	assert_true(cJSON_GetObjectItem(busiest, "cpu")->valuedouble == 3);
	cJSON_Delete(obj);
	exam_free(e);
}

static void test_one_ended(void **state)
{
	struct exam *e = build_one_host();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);

	(void)state;
	build_unseen_end(r, SIDE_PEER);
	r->status = RUN_INCOMPLETE;
	r->problem = nd_str("the peer went away after 2.1 s");
	r->goodput_bps = nd_u64_unknown(ND_ABSENT);
	e->problem = nd_str("connection to 10.0.0.2 lost");
	e = round_trip(e);
	assert_null(e->facts[SIDE_PEER]);
	assert_false(e->runs[0].ends[SIDE_PEER].present);
	assert_null(e->runs[0].ends[SIDE_PEER].window);
	assert_true(e->runs[0].ends[SIDE_LOCAL].present);
	assert_int_equal(e->runs[0].status, RUN_INCOMPLETE);
	assert_int_equal(e->runs[0].goodput_bps.k, ND_ABSENT);
	assert_string_equal(e->problem.v, "connection to 10.0.0.2 lost");
	exam_free(e);
}

static void test_unread(void **state)
{
	struct exam *e = build_unread();

	(void)state;
	e = round_trip(e);
	assert_non_null(e->facts[SIDE_LOCAL]);
	assert_int_equal(e->facts[SIDE_LOCAL]->host.hostname.k, ND_UNREAD);
	assert_int_equal(e->path.same_machine.k, ND_UNREAD);
	assert_int_equal(e->nruns, 0);
	exam_free(e);
}

static void test_every_unknown_survives(void **state)
{
	(void)state;
	for (enum nd_known k = ND_ABSENT; k < ND_KNOWN_STATES; k++) {
		struct exam *e = build_two_hosts();
		struct run *r = build_run(e, RUN_REVERSE, RUN_ONE_STREAM, 2e9);

		e->path.same_machine = nd_bool_unknown(k);
		r->loss = nd_f64_unknown(k);
		r->retransmits = nd_u64_unknown(k);
		r->ends[SIDE_PEER].flows[0].rtt_us = nd_f64_unknown(k);
		r->ends[SIDE_PEER].intervals[0].bytes = nd_u64_unknown(k);
		r->ends[SIDE_PEER].cores[0].steal = nd_f64_unknown(k);
		build_link(e, SIDE_PEER)->name = nd_str_unknown(k);
		e = round_trip(e);
		assert_int_equal(e->path.same_machine.k, k);
		assert_int_equal(e->runs[0].loss.k, k);
		assert_int_equal(e->runs[0].ends[SIDE_PEER].cores[0].steal.k, k);
		assert_int_equal(e->facts[SIDE_PEER]->links[0].name.k, k);
		exam_free(e);
	}
}

static void test_exact_counters(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);

	(void)state;
	r->ends[SIDE_LOCAL].bytes = nd_u64(9007199254740993);
	r->ends[SIDE_LOCAL].flows[0].bytes = nd_u64(UINT64_MAX);
	e = round_trip(e);
	assert_true(e->runs[0].ends[SIDE_LOCAL].bytes.v == 9007199254740993);
	assert_true(e->runs[0].ends[SIDE_LOCAL].flows[0].bytes.v == UINT64_MAX);
	exam_free(e);
}

static void test_wire_form_is_whole(void **state)
{
	struct exam *e = build_hot_core_exam();
	cJSON *obj = run_end_to_json(&e->runs[0].ends[SIDE_PEER]), *again;
	struct run_end back;
	struct error err = { "" };

	(void)state;
	assert_int_equal(run_end_from_json(obj, e->mem, &back, &err), 0);
	again = run_end_to_json(&back);
	assert_true(cJSON_Compare(obj, again, true));
	assert_int_equal(back.nflows, BUILD_STREAMS);
	assert_int_equal(back.ncores, BUILD_CPUS);
	counters_free(back.window);
	cJSON_Delete(obj);
	cJSON_Delete(again);

	/* An end that was not there stays so. */
	obj = cJSON_CreateNull();
	assert_int_equal(run_end_from_json(obj, e->mem, &back, &err), 0);
	assert_false(back.present);
	cJSON_Delete(obj);
	exam_free(e);
}

static int read_end(const char *json, struct run_end *out, struct error *err)
{
	struct arena *mem = arena_new(64 * 1024 * 1024);
	cJSON *obj = cJSON_Parse(json);
	int rc;

	assert_non_null(mem);
	assert_non_null(obj);
	rc = run_end_from_json(obj, mem, out, err);
	counters_free(out->window);
	out->window = NULL;
	cJSON_Delete(obj);
	arena_free(mem);
	return rc;
}

static void test_hostile_ends(void **state)
{
	static const struct { const char *json; int rc; } cases[] = {
		{ "[]", -EINVAL },
		{ "7", -EINVAL },
		{ "\"x\"", -EINVAL },
		{ "{}", 0 },
		{ "{\"flows\":7}", -EINVAL },
		{ "{\"flows\":[7]}", -EINVAL },
		{ "{\"flows\":[null]}", -EINVAL },
		{ "{\"cores\":{}}", -EINVAL },
		{ "{\"cores\":[[]]}", -EINVAL },
		{ "{\"intervals\":[[]]}", -EINVAL },
		{ "{\"intervals\":[{\"cores\":3}]}", -EINVAL },
		{ "{\"intervals\":\"many\"}", -EINVAL },
		{ "{\"counters\":[]}", -EINVAL },
		{ "{\"counters\":{\"cpus\":{}}}", -EINVAL },
		{ "{\"flows\":[],\"flows\":[],\"nonsense\":{\"a\":[1,2]}}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = { "" };
		struct run_end end;
		int rc = read_end(cases[i].json, &end, &err);

		if (rc != cases[i].rc)
			fail_msg("%s: %d instead of %d (%s)", cases[i].json, rc, cases[i].rc,
				 err.text);
		assert_true(rc == 0 || err.text[0]);
		assert_true(rc == 0 || !end.present);
	}
}

static char *repeat(const char *head, const char *item, size_t n, const char *tail)
{
	struct { char *s; size_t len; } t;
	size_t len = strlen(item);

	t.s = malloc(strlen(head) + n * (len + 1) + strlen(tail) + 1);
	assert_non_null(t.s);
	t.len = strlen(head);
	memcpy(t.s, head, t.len);
	for (size_t i = 0; i < n; i++) {
		if (i)
			t.s[t.len++] = ',';
		memcpy(t.s + t.len, item, len);
		t.len += len;
	}
	memcpy(t.s + t.len, tail, strlen(tail) + 1);
	return t.s;
}

static void check_repeat(const char *head, const char *item, size_t n, const char *tail, int want)
{
	struct error err = { "" };
	struct run_end end;
	char *json = repeat(head, item, n, tail);

	assert_int_equal(read_end(json, &end, &err), want);
	free(json);
}

static void test_limits(void **state)
{
	char *cores = repeat("{\"cores\":[", "{}", EXAM_MAX_CORES, "]}");

	(void)state;
	check_repeat("{\"flows\":[", "{}", RUN_MAX_STREAMS, "]}", 0);
	check_repeat("{\"flows\":[", "{}", RUN_MAX_STREAMS + 1, "]}", -E2BIG);
	check_repeat("{\"intervals\":[", "{}", EXAM_MAX_INTERVALS, "]}", 0);
	check_repeat("{\"intervals\":[", "{}", EXAM_MAX_INTERVALS + 1, "]}", -E2BIG);
	check_repeat("{\"cores\":[", "{}", EXAM_MAX_CORES, "]}", 0);
	check_repeat("{\"cores\":[", "{}", EXAM_MAX_CORES + 1, "]}", -E2BIG);
	/* Many intervals of many cores: the sum is bounded too (here by the arena or the limit). */
	{
		struct error err = { "" };
		struct run_end end;
		char *json = repeat("{\"intervals\":[", cores, 600, "]}");
		int rc = read_end(json, &end, &err);

		assert_true(rc == -E2BIG || rc == -ENOMEM);
		free(json);
	}
	free(cores);
}

static void test_values_out_of_range(void **state)
{
	static const char json[] =
		"{\"window_ns\":-1,\"bytes\":\"18446744073709551616\",\"problem\":7,"
		"\"cores\":[{\"cpu\":1024,\"busy\":7,\"user\":-0.5,\"system\":1e999,\"irq\":0.5}],"
		"\"flows\":[{\"rtt_us\":-1,\"window_fill\":2,\"cwnd\":10}],"
		"\"intervals\":[{\"start_s\":-0.02,\"seconds\":-3}]}";
	struct arena *mem = arena_new(0);
	cJSON *obj = cJSON_Parse(json);
	struct error err = { "" };
	struct run_end e;

	(void)state;
	assert_int_equal(run_end_from_json(obj, mem, &e, &err), 0);
	assert_int_equal(e.window_ns.k, ND_INVALID);
	assert_int_equal(e.bytes.k, ND_INVALID);
	assert_int_equal(e.problem.k, ND_INVALID);
	assert_int_equal(e.cores[0].cpu.k, ND_INVALID);
	assert_int_equal(e.cores[0].busy.k, ND_INVALID);
	assert_int_equal(e.cores[0].user.k, ND_INVALID);
	assert_int_equal(e.cores[0].system.k, ND_INVALID);
	assert_true(e.cores[0].irq.k == ND_KNOWN && e.cores[0].irq.v == 0.5);
	assert_int_equal(e.flows[0].rtt_us.k, ND_INVALID);
	assert_int_equal(e.flows[0].window_fill.k, ND_INVALID);
	assert_int_equal(e.flows[0].cwnd.k, ND_KNOWN);
	assert_int_equal(e.intervals[0].start_s.k, ND_KNOWN);
	assert_int_equal(e.intervals[0].seconds.k, ND_INVALID);
	cJSON_Delete(obj);
	arena_free(mem);
}

/* Puts `value` at runs[0].<key> of a good exam and reads it. */
static int read_with(const char *key, const char *value, struct error *err)
{
	struct exam *e = build_hot_core_exam(), *back;
	cJSON *obj = exam_to_json(e);
	cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItem(obj, "runs"), 0);
	int rc;

	cJSON_ReplaceItemInObject(run, key, cJSON_Parse(value));
	rc = exam_from_json(obj, &back, err);
	assert_true((rc == 0) == (back != NULL));
	exam_free(back);
	cJSON_Delete(obj);
	exam_free(e);
	return rc;
}

static void test_hostile_runs(void **state)
{
	struct error err = { "" };

	(void)state;
	assert_int_equal(read_with("id", "\"x\\u001b[31m\"", &err), 0);
	assert_int_equal(read_with("purpose", "\"\\u001b]0;x\\u0007\"", &err), -EINVAL);
	assert_null(strchr(err.text, '\033'));
	assert_int_equal(read_with("purpose", "3", &err), -EINVAL);
	assert_int_equal(read_with("status", "\"fine\"", &err), -EINVAL);
	assert_int_equal(read_with("spec", "{}", &err), -EINVAL);
	assert_int_equal(read_with("spec", "null", &err), -EINVAL);
	assert_int_equal(read_with("ends", "[1,2]", &err), 0);
	assert_int_equal(read_with("ends", "{\"local\":{},\"peer\":7}", &err), -EINVAL);
	assert_int_equal(read_with("flows", "\"all\"", &err), -EINVAL);
	assert_int_equal(read_with("flows", "[{\"side\":\"local\"},{\"side\":7},7]", &err), 0);
	assert_int_equal(read_with("cpu", "[]", &err), 0);
}

static void test_hostile_exams(void **state)
{
	static const struct { const char *json; int rc; } cases[] = {
		{ "null", -EINVAL },
		{ "[]", -EINVAL },
		{ "{}", 0 },
		{ "{\"hosts\":{\"local\":7}}", -EINVAL },
		{ "{\"hosts\":7,\"path\":{}}", 0 },
		{ "{\"path\":[]}", -EINVAL },
		{ "{\"wishes\":3}", -EINVAL },
		{ "{\"runs\":{}}", -EINVAL },
		{ "{\"runs\":[{}]}", -EINVAL },
		{ "{\"runs\":[[]]}", -EINVAL },
	};
	char *many = repeat("{\"runs\":[", "{}", EXAM_MAX_RUNS + 1, "]}");
	struct error err;
	struct exam *e;
	cJSON *obj;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int rc;

		obj = cJSON_Parse(cases[i].json);
		rc = exam_from_json(obj, &e, &err);
		if (rc != cases[i].rc)
			fail_msg("%s: %d instead of %d", cases[i].json, rc, cases[i].rc);
		exam_free(e);
		cJSON_Delete(obj);
	}
	obj = cJSON_Parse(many);
	assert_int_equal(exam_from_json(obj, &e, &err), -E2BIG);
	assert_null(e);
	cJSON_Delete(obj);
	free(many);
}

static void test_timeline_counts_each_retransmission_once(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	struct run_end *sender = &r->ends[SIDE_LOCAL];
	uint64_t sum = 0;

	(void)state;
	/* The sender's clock beats half an interval later, and jitters. */
	for (size_t i = 0; i < sender->nintervals; i++) {
		sender->intervals[i].start_s.v += i % 2 ? 0.049 : 0.03;
		sender->intervals[i].retransmits = nd_u64(i);
	}
	for (size_t i = 0; i < run_moment_count(r); i++) {
		struct run_moment m;

		run_moment_at(r, i, &m);
		assert_int_equal(m.goodput_bps.v, 1000000000);
		if (i)
			assert_non_null(m.hot[SIDE_LOCAL]);
		sum += m.retransmits.v;
	}
	assert_int_equal(sum, 39 * 40 / 2);
	exam_free(e);
}

static void test_timeline_without_receiver(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	struct run_moment m;

	(void)state;
	build_unseen_end(r, SIDE_PEER);
	r->ends[SIDE_LOCAL].intervals[0].retransmits = nd_u64(5);
	assert_int_equal(run_moment_count(r), 40);
	run_moment_at(r, 0, &m);
	/* What was sent is not goodput. */
	assert_int_equal(m.goodput_bps.k, ND_UNREAD);
	assert_int_equal(m.retransmits.v, 5);
	assert_null(m.hot[SIDE_PEER]);
	build_unseen_end(r, SIDE_LOCAL);
	assert_int_equal(run_moment_count(r), 0);
	exam_free(e);
}

static void test_timeline_of_both_directions(void **state)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 1e9);
	struct end_interval *i = &r->ends[SIDE_PEER].intervals[0];
	const uint64_t all = i->bytes.v;
	struct run_moment m;

	(void)state;
	run_moment_at(r, 0, &m);
	assert_int_equal(m.other_goodput_bps.k, ND_NOT_APPLICABLE);
	r->spec.bidirectional = true;
	run_moment_at(r, 0, &m);	/* of an older peer: not known, and not the sum */
	assert_int_not_equal(m.goodput_bps.k, ND_KNOWN);
	assert_int_not_equal(m.other_goodput_bps.k, ND_KNOWN);
	i->received_bytes = nd_u64(all / 4);
	run_moment_at(r, 0, &m);
	assert_int_equal(m.goodput_bps.v, 250000000);
	assert_int_equal(m.other_goodput_bps.v, 750000000);
	i->received_bytes = nd_u64(all + 1);
	run_moment_at(r, 0, &m);
	assert_int_equal(m.other_goodput_bps.k, ND_INVALID);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_hosts),
		cmocka_unit_test(test_timeline_of_both_directions),
		cmocka_unit_test(test_report_shape),
		cmocka_unit_test(test_one_ended),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_every_unknown_survives),
		cmocka_unit_test(test_exact_counters),
		cmocka_unit_test(test_wire_form_is_whole),
		cmocka_unit_test(test_hostile_ends),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_values_out_of_range),
		cmocka_unit_test(test_hostile_runs),
		cmocka_unit_test(test_hostile_exams),
		cmocka_unit_test(test_timeline_counts_each_retransmission_once),
		cmocka_unit_test(test_timeline_without_receiver),
	};

	return cmocka_run_group_tests_name("exam_json", tests, NULL, NULL);
}

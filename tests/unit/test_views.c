/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each view makes of large, odd and damaged exams, and what its keys ask for. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/exam_fixture.h"
#include "tests/unit/json_damage.h"
#include "tests/unit/screen_fixture.h"
#include "ui/finding_page.h"
#include "ui/flow_rows.h"
#include "ui/formula.h"
#include "ui/moved.h"
#include "ui/queue_rows.h"
#include "ui/vectors.h"

enum { MANY_CORES = 512, NODES = 8, HOT_CPU = 300, MANY_FLOWS = 2048 };

static void show(struct screen *s, const char *view)
{
	for (size_t i = 0; i < views_count; i++)
		if (!strcmp(views_table[i]->name, view)) {
			app_key(&s->app, '1' + (uint32_t)i);
			return;
		}
	fail_msg("no view %s", view);
}

static void assert_shown(const struct screen *s, const char *what)
{
	struct text t = screen_text(s, 200, 60, true);

	if (!strstr(t.data, what))
		fail_msg("not shown: %s\n%s", what, t.data);
	text_free(&t);
}

/* ---- cores ---- */

static void many_cpus(struct exam *e, enum side side)
{
	struct facts *f = build_facts(e, side);

	f->cpus = arena_alloc_array(f->mem, MANY_CORES, sizeof(*f->cpus));
	assert_non_null(f->cpus);
	f->ncpus = MANY_CORES;
	for (unsigned int i = 0; i < MANY_CORES; i++)
		f->cpus[i] = (struct cpu_facts){ .cpu = nd_u64(i),
						 .node = nd_u64(i / (MANY_CORES / NODES)) };
	build_link(e, side)->numa_node = nd_i64(HOT_CPU / (MANY_CORES / NODES));
}

static void many_loads(struct exam *e, struct run *r, enum side side)
{
	struct run_end *end = &r->ends[side];

	end->cores = arena_alloc_array(e->mem, MANY_CORES, sizeof(*end->cores));
	assert_non_null(end->cores);
	end->ncores = MANY_CORES;
	for (unsigned int i = 0; i < MANY_CORES; i++)
		end->cores[i] = (struct core_load){
			.cpu = nd_u64(i), .busy = nd_f64(i == HOT_CPU ? 0.99 : 0.03),
			.user = nd_f64(0.01), .system = nd_f64(0.01),
			.softirq = nd_f64(i == HOT_CPU ? 0.97 : 0.01), .irq = nd_f64(0),
			.steal = nd_f64(0),
		};
	for (size_t i = 0; i < end->nintervals; i++) {
		end->intervals[i].cores = end->cores;
		end->intervals[i].ncores = MANY_CORES;
	}
}

static struct screen *many_cores(void)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6.04e9);

	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		many_cpus(e, side);
		many_loads(e, r, side);
	}
	return screen_of(e);
}

static void cores_fold_into_nodes(void **state)
{
	struct screen *s = many_cores();

	(void)state;
	show(s, "Cores");
	assert_int_equal(app_rows(&s->app), NODES);
	screen_check(s, "many");
	/* The node that has the hot core, which is where the NIC is too. */
	assert_shown(s, "node 4 (64)");
	assert_shown(s, "cpu 300 99 %, eth0 is here");
	for (int i = 0; i < 4; i++)
		app_key(&s->app, UI_KEY_DOWN);
	app_key(&s->app, UI_KEY_ENTER);
	assert_int_equal(app_rows(&s->app), NODES + MANY_CORES / NODES);
	screen_check(s, "many-unfolded");
	/* From a core the node folds up again. */
	app_key(&s->app, UI_KEY_DOWN);
	app_key(&s->app, UI_KEY_ENTER);
	assert_int_equal(app_rows(&s->app), NODES);
	assert_int_equal(s->app.states[s->app.current].selected, 4);
	app_key(&s->app, 'u');
	assert_int_equal(app_rows(&s->app), NODES + MANY_CORES);
	app_key(&s->app, '/');
	for (const char *k = "cpu 511"; *k; k++)
		app_key(&s->app, (uint32_t)*k);
	app_key(&s->app, UI_KEY_ENTER);
	assert_int_equal(s->app.states[s->app.current].selected, NODES + MANY_CORES - 1);
	screen_free(s);
}

static void search_for(struct screen *s, const char *what)
{
	app_key(&s->app, '/');
	for (const char *k = what; *k; k++)
		app_key(&s->app, (uint32_t)*k);
	app_key(&s->app, UI_KEY_ENTER);
}

static void search_looks_into_folded_nodes(void **state)
{
	struct screen *s = many_cores();
	const struct view_state *v;

	(void)state;
	show(s, "Cores");
	v = &s->app.states[s->app.current];
	/* Its node opens, and no other. */
	search_for(s, "cpu 500");
	assert_int_equal(app_rows(&s->app), NODES + MANY_CORES / NODES);
	assert_int_equal(v->selected, NODES - 1 + 1 + 500 % (MANY_CORES / NODES));
	assert_shown(s, "cpu 500");
	/* What is nowhere changes nothing. */
	search_for(s, "cpu 9999");
	assert_int_equal(app_rows(&s->app), NODES + MANY_CORES / NODES);
	assert_int_equal(v->selected, NODES - 1 + 1 + 500 % (MANY_CORES / NODES));
	assert_shown(s, "not found");
	/* One is open: the others open too. */
	app_key(&s->app, 'u');
	assert_int_equal(app_rows(&s->app), NODES + MANY_CORES);
	app_key(&s->app, 'u');
	assert_int_equal(app_rows(&s->app), NODES);
	screen_free(s);
}

static void cores_sort_by_busy(void **state)
{
	struct screen *s = screen_of(build_hot_core_exam());
	struct text first = TEXT_INIT;
	struct view_state *v;

	(void)state;
	show(s, "Cores");
	app_key(&s->app, 'o');
	app_key(&s->app, 's');
	v = &s->app.states[s->app.current];
	assert_int_equal(v->side, SIDE_PEER);
	app_view(&s->app)->row_text(&s->app.scene, v, 0, &first);
	assert_string_equal(first.data, "cpu 3 worker 3, serves eth0 queue 3");
	text_free(&first);
	assert_shown(s, "hot: cpu 3 98 %: softirq 91 %");
	screen_free(s);
}

/* ---- queues ---- */

static void names_of_vectors(void **state)
{
	static const struct { const char *name; int queue; } cases[] = {
		{ "eth0-TxRx-3", 3 }, { "mlx5_comp12@pci:0000:3b:00.0", 12 },
		{ "virtio0-input.0", 0 }, { "i40e-eth0-TxRx-63", 63 }, { "eth0", -1 },
		{ "mlx5_async@pci:0000:3b:00.0", -1 }, { "", -1 }, { "12", -1 }, { "@3", -1 },
		{ "eth0-rx-99999999999", -1 },
	};
	unsigned int queue;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool is = vector_queue(cases[i].name, &queue);
		if (is != (cases[i].queue >= 0) || (is && (int)queue != cases[i].queue))
			fail_msg("%s", cases[i].name);
	}
}

static void names_of_queue_counters(void **state)
{
	static const struct { const char *name; int queue; bool receive; } cases[] = {
		{ "rx_queue_3_packets", 3, true }, { "tx_queue_0_packets", 0, false },
		{ "rx7_packets", 7, true }, { "tx-12.packets", 12, false },
		{ "queue_2_rx_cnt", 2, true }, { "[5]: rx_ucast_packets", 5, true },
		{ "rx_packets", -1, true }, { "rx_64_byte_packets", -1, true },
		{ "rx_size_512_packets", -1, true }, { "rx_prio3_packets", -1, true },
		{ "rx0_xdp_drop", -1, true }, { "tx3_tso_packets", -1, false },
		{ "rx_queue_3_bytes", -1, true }, { "tx_65_to_127_packets", -1, false },
	};
	unsigned int queue;
	bool receive;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool is = queue_packets_name(cases[i].name, &receive, &queue);
		if (is != (cases[i].queue >= 0) ||
		    (is && ((int)queue != cases[i].queue || receive != cases[i].receive)))
			fail_msg("%s", cases[i].name);
	}
}

static void counters_by_interest(void **state)
{
	struct screen *s = screen_of_recorded("lan-25g-cpu-bound");
	struct view_state v = { .run = 1 };
	struct moved_list moved;
	struct shown_run r;

	(void)state;
	assert_int_equal(moved_class_of("rx_out_of_buffer"), MOVED_LOST);
	assert_int_equal(moved_class_of("eth0 rx_missed_errors"), MOVED_LOST);
	assert_int_equal(moved_class_of("TcpRetransSegs"), MOVED_LOST);
	assert_int_equal(moved_class_of("rx_pause_ctrl_phy"), MOVED_HELD);
	assert_int_equal(moved_class_of("TcpOutSegs"), MOVED_PACKETS);
	assert_int_equal(moved_class_of("eth0 rx_bytes"), MOVED_BYTES);
	shown_run_find(&s->app.scene, &v, &r);
	assert_int_equal(moved_make(&s->app.scene, &r, SIDE_PEER, &moved), 0);
	assert_true(moved.n > 3);
	assert_string_equal(moved.rows[0].name, "softnet time_squeeze");
	assert_true(moved.rows[0].total.v == 4100);
	for (size_t i = 0; i + 1 < moved.n; i++)
		assert_true(moved.rows[i].class <= moved.rows[i + 1].class);
	moved_free(&moved);
	screen_free(s);
}

static void uneven_queues_are_named(void **state)
{
	struct screen *s = screen_of_recorded("lan-25g-cpu-bound");
	struct view_state v = { .run = 1 };
	struct queue_rows queues;
	struct shown_run r;

	(void)state;
	shown_run_find(&s->app.scene, &v, &r);
	assert_int_equal(queue_rows_make(&s->app.scene, &r, SIDE_PEER, &queues), 0);
	assert_int_equal(queues.n, 8);
	assert_true(queue_rows_uneven(&queues) && queues.busiest == 2);
	assert_true(fabs(queues.most - 0.70) < 0.01);
	assert_true(nd_u64_is(queues.rows[2].cpu, 2));
	/* The driver has no counters of its queues: not 0 packets. */
	assert_int_equal(queues.rows[2].rx_pps.k, ND_ABSENT);
	queue_rows_free(&queues);
	screen_free(s);
	/* A link of software: packets by CPU. */
	s = screen_of_recorded("veth-same-machine");
	show(s, "Queues");
	screen_check(s, "software-link");
	screen_free(s);
}

/* ---- ladder ---- */

static void formula_has_the_numbers(void **state)
{
	struct ceiling c = {
		.formula = "streams * window * 8 / rtt, without mss",
		.ninputs = 4,
		.inputs = { { "streams", 8, UNIT_COUNT }, { "window", 65535, UNIT_BYTES },
			    { "rtt_us", 20400, UNIT_MICROSECONDS }, { "win", 1, UNIT_COUNT } },
	};
	struct text t = TEXT_INIT;

	(void)state;
	formula_with_numbers(&c, &t);
	assert_string_equal(t.data, "8 * 65.5 kB * 8 / 20.4 ms, without mss");
	text_free(&t);
	c.formula = NULL;
	formula_with_numbers(&c, &t);
	assert_true(t.len == 0);
	text_free(&t);
}

/* ---- flows ---- */

static struct screen *many_flows(void)
{
	struct exam *e = build_two_hosts();
	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6.04e9);

	r->spec.streams = MANY_FLOWS;
	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		struct run_end *end = &r->ends[side];
		struct flow_summary *flows = arena_alloc_array(e->mem, MANY_FLOWS,
							       sizeof(*flows));
		assert_non_null(flows);
		for (unsigned int i = 0; i < MANY_FLOWS; i++) {
			flows[i] = end->flows[i % end->nflows];
			flows[i].flow = nd_u64(i);
			flows[i].goodput_bps = i == 7 ? nd_u64_unknown(ND_RESET)
						      : nd_u64(1000000 + i * 7919 % 4096);
		}
		end->flows = flows;
		end->nflows = MANY_FLOWS;
	}
	return screen_of(e);
}

static void flows_sort_by_any_column(void **state)
{
	struct screen *s = many_flows();
	struct view_state v = { .run = 1 };
	struct flow_rows flows;
	struct shown_run r;

	(void)state;
	show(s, "Flows");
	assert_int_equal(app_rows(&s->app), MANY_FLOWS);
	shown_run_find(&s->app.scene, &v, &r);
	for (v.sort = 0; v.sort < FLOW_SORTS; v.sort++)
		for (int reverse = 0; reverse < 2; reverse++) {
			v.ascending = reverse;
			assert_int_equal(flow_rows_make(&v, &r, &flows), 0);
			assert_int_equal(flows.n, MANY_FLOWS);
			for (size_t i = 0; i + 1 < flows.n; i++)
				assert_false(flows.rows[i].sort_key < flows.rows[i + 1].sort_key);
			/* What is not known is last in each order of its column. */
			if (v.sort == FLOW_SORT_RATE)
				assert_int_equal(flows.rows[flows.n - 1].flow, 7);
			flow_rows_free(&flows);
		}
	app_key(&s->app, 'G');
	assert_shown(s, " 2047 peer");
	screen_free(s);
}

static void one_flow_shows_both_ends(void **state)
{
	struct screen *s = screen_of(build_hot_core_exam());

	(void)state;
	show(s, "Flows");
	app_key(&s->app, UI_KEY_ENTER);
	assert_shown(s, "local               peer");
	assert_shown(s, "send                receive");
	assert_shown(s, "? (not-supported)");
	screen_check(s, "one-flow");
	screen_free(s);
}

/* What has no ceilings stands above those of each alone; and how long the path takes then. */
static void both_at_once_is_shown(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct run *both = build_both_run(e, 5.1e9, 4.2e9);
	struct screen *s;

	(void)state;
	build_hot_core(both, SIDE_PEER, 2, 0.99, 0.5);
	e->runs[0].idle.p50_us = nd_f64(50);
	e->runs[0].loaded.p50_us = nd_f64(4140);
	e->runs[1].loaded.p50_us = nd_f64(82);
	s = screen_of(e);
	show(s, "Overview");
	assert_shown(s, "both at once: 5.10 Gbit/s forward, 4.20 Gbit/s reverse");
	assert_shown(s, "cpu 2 of the peer was full while both went on.");
	assert_shown(s, "loaded 4.1/0.082 ms");
	show(s, "Cores");
	for (int i = 0; i < 3; i++)
		app_key(&s->app, ']');
	assert_shown(s, "run 3 of 3: all streams in both directions");
	screen_free(s);
}

/* ---- findings ---- */

static void findings_ask_for_what_to_do(void **state)
{
	struct screen *s = screen_of_recorded("lan-25g-cpu-bound");
	const struct finding *f = &s->diagnosis->findings[0];

	(void)state;
	show(s, "Findings");
	assert_true(s->diagnosis->nfindings && f->ncommands);
	app_key(&s->app, 'c');
	assert_int_equal(s->app.request.wish, WISH_COPY);
	assert_memory_equal(s->app.request.text.data, f->commands[0], strlen(f->commands[0]));
	app_request_done(&s->app, NULL);
	app_key(&s->app, 'a');
	assert_int_equal(s->app.request.wish, WISH_AGAIN);
	app_request_done(&s->app, NULL);
	/* Plain text has no frames, scrolls, and goes away again. */
	app_key(&s->app, 'v');
	struct text plain = screen_text(s, 80, 24, true);
	assert_null(strstr(plain.data, "\xe2\x94\x82"));
	assert_non_null(strstr(plain.data, f->title));
	text_free(&plain);
	app_key(&s->app, UI_KEY_PAGE_DOWN);
	plain = screen_text(s, 80, 24, true);
	assert_null(strstr(plain.data, f->title));
	text_free(&plain);
	app_key(&s->app, 'v');
	assert_false(s->app.plain);
	screen_free(s);
}

static void runs_are_compared(void **state)
{
	struct screen *before = screen_of_recorded("lan-25g-cpu-bound");
	struct screen *s = screen_of_recorded("lan-10g");

	(void)state;
	s->app.scene.before = before->exam;
	s->app.scene.diagnosis_before = before->diagnosis;
	show(s, "Findings");
	app_key(&s->app, 'b');
	assert_shown(s, "limited -> healthy");
	assert_shown(s, "14.1 Gbit/s -> 9.41 Gbit/s (-33 %)");
	assert_shown(s, "gone      [high]");
	screen_free(s);
	screen_free(before);
}

/* Each entry of the list has a page and a title. */
static void every_entry_has_a_page(void **state)
{
	struct screen *s = screen_of(build_unread());
	struct entry e;

	(void)state;
	assert_true(entry_count(&s->app.scene) > 0);
	for (size_t i = 0; i < entry_count(&s->app.scene); i++) {
		struct text t = TEXT_INIT;
		assert_true(entry_at(&s->app.scene, i, &e));
		entry_title(&e, &t);
		assert_true(t.len > 0);
		text_free(&t);
	}
	assert_false(entry_at(&s->app.scene, entry_count(&s->app.scene), &e));
	screen_free(s);
}

/* ---- all ---- */

static void unknown_is_no_zero(void **state)
{
	struct screen *s = screen_of(build_unread());

	(void)state;
	for (size_t i = 0; i < views_count; i++) {
		app_key(&s->app, '1' + (uint32_t)i);
		struct text t = screen_text(s, 200, 60, true);
		if (strstr(t.data, " 0 %") || strstr(t.data, "0 bit/s") || strstr(t.data, "0 B "))
			fail_msg("%s", t.data);
		text_free(&t);
	}
	screen_free(s);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 16;
}

/* Keys, moments and sizes at random over one exam. */
static void use(struct screen *s, uint64_t *seed)
{
	static const uint32_t keys[] = {
		'1', '2', '3', '4', '5', '6', 's', 'r', 'o', 'u', 'c', 'C', 'U', 'v', 'b', '[',
		']', ' ', '<', '>', 'g', 'G', UI_KEY_UP, UI_KEY_DOWN, UI_KEY_LEFT, UI_KEY_ENTER,
		UI_KEY_PAGE_DOWN, UI_KEY_PAGE_UP,
	};

	for (unsigned int i = 0; i < 60; i++) {
		uint64_t r = next_random(seed);
		app_key(&s->app, keys[r % ARRAY_SIZE(keys)]);
		app_request_done(&s->app, NULL);
		if (i % 6)
			continue;
		struct text t = screen_text(s, 1 + (r >> 8) % 220, 1 + (r >> 20) % 70, r & 64);
		text_free(&t);
	}
}

static void damaged_exams(void **state)
{
	struct exam *e = build_hot_core_exam(), *back;
	uint64_t seed = UINT64_C(0x76696577735f3031);
	unsigned int shown = 0;
	cJSON *good;

	(void)state;
	for (size_t r = 0; r < e->nruns; r++)
		for (size_t s = 0; s < EXAM_ENDS; s++) {
			e->runs[r].ends[s].nintervals = 3;
			e->runs[r].ends[s].nflows = 2;
		}
	good = exam_to_json(e);
	assert_non_null(good);
	for (unsigned int i = 0; i < 150; i++) {
		cJSON *obj = cJSON_Duplicate(good, true);
		struct error err = { "" };
		/* One strange value, or some at a time. */
		for (unsigned int k = 0; k <= i % 4; k++)
			json_damage(obj, &seed);
		int rc = exam_from_json(obj, &back, &err);
		cJSON_Delete(obj);
		if (rc)
			continue;
		struct screen *s = screen_of(back);
		use(s, &seed);
		screen_free(s);
		shown++;
	}
	assert_true(shown > 30);
	cJSON_Delete(good);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search_looks_into_folded_nodes),
		cmocka_unit_test(cores_fold_into_nodes),
		cmocka_unit_test(cores_sort_by_busy),
		cmocka_unit_test(names_of_vectors),
		cmocka_unit_test(names_of_queue_counters),
		cmocka_unit_test(counters_by_interest),
		cmocka_unit_test(uneven_queues_are_named),
		cmocka_unit_test(formula_has_the_numbers),
		cmocka_unit_test(flows_sort_by_any_column),
		cmocka_unit_test(one_flow_shows_both_ends),
		cmocka_unit_test(findings_ask_for_what_to_do),
		cmocka_unit_test(runs_are_compared),
		cmocka_unit_test(every_entry_has_a_page),
		cmocka_unit_test(both_at_once_is_shown),
		cmocka_unit_test(unknown_is_no_zero),
		cmocka_unit_test(damaged_exams),
	};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}

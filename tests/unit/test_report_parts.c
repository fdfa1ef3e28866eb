/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/report/explain.h"
#include "src/report/pen.h"
#include "src/report/progress.h"
#include "src/report/stamp.h"
#include "tests/unit/report_fixture.h"

static char *take(struct text *t)
{
	assert_false(t->failed);
	assert_non_null(t->data);
	assert_terminal_safe(t->data);
	assert_null(strstr(t->data, " \n"));
	return t->data;
}

/* ---- check ---- */

static char *render_check(struct exam *e, const struct report_options *o)
{
	struct diagnosis *d = fixture_check(e);
	struct text t = TEXT_INIT;

	assert_int_equal(report_check_text(e, d, o, &t), 0);
	fixture_free(d);
	return take(&t);
}

static void test_check(void **state)
{
	struct exam *e = build_one_host();
	char *s = render_check(e, &fixture_options);

	(void)state;
	golden_check("check.txt", s);
	free(s);
	exam_free(e);
}

static void test_check_of_nothing_known(void **state)
{
	struct exam *e = build_unread();
	struct facts *f = build_facts(e, SIDE_LOCAL);
	struct link_facts *l = arena_append_row(f->mem, (void **)&f->links, &f->nlinks, sizeof(*l));
	struct report_options o = fixture_options;
	char *s;

	(void)state;
	assert_non_null(l);
	*l = (struct link_facts){
		.ifindex = nd_u64(7), .kind = nd_str("physical"),
		.name = nd_str("\033]0;x\007\nveth0"), .pci_address = nd_str("0000:01:00.0"),
		.rx_ring = nd_u64_unknown(ND_NOT_PERMITTED),
		.speed_mbps = nd_u64_unknown(ND_NOT_SUPPORTED),
	};
	o.utf8 = false;
	s = render_check(e, &o);
	golden_check("check-unknown.txt", s);
	free(s);
	exam_free(e);
}

/* A hostile snapshot may say that a port is its own parent. */
static void test_check_of_a_pci_loop(void **state)
{
	struct exam *e = build_one_host();
	char *s;

	(void)state;
	build_facts(e, SIDE_LOCAL)->pci[0].parent = nd_str("0000:3b:00.0");
	s = render_check(e, &fixture_options);
	free(s);
	exam_free(e);
}

/* ---- explain ---- */

static const struct rule rule = {
	.id = "rss-single-queue", .title = "all packets arrive through one queue",
	.scope = RULE_PER_RECEIVER, .reads = "channels, per-queue counters, cpu time of softirqs",
	.fires_when = "one receive queue of several possible, more than one flow, the hot core's "
		      "softirq share >= 0.80 & the rate < line rate * 0.97",
	.why = "One queue is served by one core. When that core is full, the others cannot help.",
	.fix = "ethtool -L IF combined N", .not_when = "one flow; RPS spreads already",
	.references = "https://docs.kernel.org/networking/scaling.html\nman 8 ethtool [-L]",
};
static const struct rule bare_rule = { .id = "bare", .title = "nothing said" };

static void test_explain(void **state)
{
	const struct rule *const rules[] = { &rule, &bare_rule };
	struct text t = TEXT_INIT;
	char *s;

	(void)state;
	assert_int_equal(explain_rule(&rule, &fixture_options, &t), 0);
	text_add(&t, "----\n");
	assert_int_equal(explain_rule(&bare_rule, &fixture_options, &t), 0);
	text_add(&t, "----\n");
	assert_int_equal(explain_list(rules, 2, &t), 0);
	s = take(&t);
	golden_check("explain.txt", s);
	free(s);
}

static void test_explain_markdown(void **state)
{
	const struct rule *const rules[] = { &rule, &bare_rule };
	struct text t = TEXT_INIT;
	char *s;

	(void)state;
	assert_int_equal(explain_rule_markdown(&rule, &t), 0);
	assert_int_equal(explain_index_markdown(rules, 2, &t), 0);
	s = take(&t);
	golden_check("explain.md", s);
	free(s);
}

static void test_every_rule_explains_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < rules_count; i++) {
		struct text t = TEXT_INIT;

		assert_int_equal(explain_rule(rules_table[i], &fixture_options, &t), 0);
		free(take(&t));
		t = (struct text)TEXT_INIT;
		assert_int_equal(explain_rule_markdown(rules_table[i], &t), 0);
		free(take(&t));
	}
}

/* ---- progress ---- */

static void check_line(const struct progress *p, unsigned int width, bool utf8, const char *want)
{
	struct report_options o = { .width = width, .utf8 = utf8 };
	struct text t = TEXT_INIT;

	assert_int_equal(progress_line(p, &o, &t), 0);
	assert_string_equal(t.data, want);
	text_free(&t);
}

static const struct progress running = {
	.phase = PROGRESS_RUN, .peer = "beta", .run = 2, .runs = 4, .direction = RUN_REVERSE,
	.purpose = RUN_ALL_STREAMS, .streams = 8, .elapsed_s = 2, .total_s = 4,
	.rate_bps = { 9.38e9, ND_KNOWN },
	.hot = { { .cpu = { 0, ND_KNOWN }, .busy = { 0.2, ND_KNOWN } },
		 { .cpu = { 3, ND_KNOWN }, .busy = { 0.98, ND_KNOWN } } },
};

static void test_progress(void **state)
{
	struct progress p = running;

	(void)state;
	check_line(&p, 100, false,
		   "run 2 of 4: reverse, 8 streams  [#####     ]  9.38 Gbit/s  local cpu 0 20 %  "
		   "peer cpu 3 98 %");
	/* least important first */
	check_line(&p, 85, false,
		   "run 2 of 4: reverse, 8 streams  [#####     ]  9.38 Gbit/s  local cpu 0 20 %");
	check_line(&p, 60, false, "run 2 of 4: reverse, 8 streams  [#####     ]  9.38 Gbit/s");
	check_line(&p, 50, true,
		   "run 2 of 4: reverse, 8 streams  [\u2588\u2588\u2588\u2588\u2588     ]");
	check_line(&p, 20, true, "run 2 of 4: reverse\u2026");
	check_line(&p, 20, false, "run 2 of 4: reverse~");

	p.purpose = RUN_BOTH_DIRECTIONS;
	p.direction = RUN_FORWARD;
	p.bidirectional = true;
	p.other_bps = nd_f64(5.1e9);
	check_line(&p, 100, false,
		   "run 2 of 4: both at once, 8 streams each way  [#####     ]  "
		   "9.38 Gbit/s forward, 5.10 Gbit/s reverse");

	p = running;
	p.phase = PROGRESS_WARMUP;
	p.purpose = RUN_DISCARD_RECEIVE;
	p.runs = 0;
	p.rate_bps.k = ND_UNREAD;
	p.hot[SIDE_PEER].busy.k = ND_NOT_PERMITTED;
	p.total_s = 0;
	check_line(&p, 100, false,
		   "run 2: reverse, receiving without copying  warming up  local cpu 0 20 %");

	p = (struct progress){ .phase = PROGRESS_CONNECT, .peer = "\033]0;x\007" };
	check_line(&p, 100, false, "connecting to \\x1b]0;x\\x07");
	p = (struct progress){ .phase = PROGRESS_FACTS };
	check_line(&p, 100, false, "reading this host");
	p = (struct progress){ .phase = PROGRESS_DIAGNOSE };
	check_line(&p, 100, false, "diagnosing");
}

static void test_progress_never_wraps(void **state)
{
	struct progress p = running;

	(void)state;
	for (unsigned int width = 1; width < 130; width++) {
		struct report_options o = { .width = width, .utf8 = width % 2 };
		struct text t = TEXT_INIT;

		p.elapsed_s = width;
		assert_int_equal(progress_line(&p, &o, &t), 0);
		assert_true(text_columns(t.data) <= width);
		assert_null(strchr(t.data, '\n'));
		text_free(&t);
	}
}

/* ---- pen and stamp ---- */

static char *bar(double low, double high, double mark)
{
	struct text t = TEXT_INIT;
	struct pen p = { .out = &t, .width = 80 };

	pen_bar(&p, 10, 100, low, high, mark);
	return t.data;
}

static void check_bar(double low, double high, double mark, const char *want)
{
	char *s = bar(low, high, mark);

	assert_string_equal(s, want);
	free(s);
}

static void test_bars(void **state)
{
	(void)state;
	check_bar(50, 50, -1, "#####     ");
	check_bar(50, 80, -1, "#####===  ");
	check_bar(50, 80, 20, "##|##===  ");
	check_bar(100, 100, 100, "#########|");
	check_bar(0, 0, 0, "|         ");
	check_bar(100, 300, -1, "#########>");
	check_bar(100, HUGE_VAL, 30, "###|#####>");
	check_bar(-5, -5, -1, "          ");
	check_bar(NAN, NAN, NAN, "          ");
}

static void check_range(double low, double high, const char *want)
{
	struct text t = TEXT_INIT;
	struct pen p = { .out = &t };

	pen_rate_range(&p, &t, low, high);
	assert_string_equal(t.data, want);
	text_free(&t);
}

static void test_ranges(void **state)
{
	(void)state;
	check_range(9.41e9, 9.41e9, "9.41 Gbit/s");
	check_range(9.411e9, 9.412e9, "9.41 Gbit/s");
	check_range(6.2e9, 6.5e9, "6.20-6.50 Gbit/s");
	check_range(940e6, 1.2e9, "940 Mbit/s - 1.20 Gbit/s");
	check_range(12e9, HUGE_VAL, ">= 12.0 Gbit/s");
}

static void test_fields(void **state)
{
	struct text t = TEXT_INIT;
	struct pen p = { .out = &t, .utf8 = true };

	(void)state;
	pen_field(&p, "abc", 5);
	text_add(&t, "|");
	pen_field(&p, "a\u00e9\u2192defg", 5);
	text_add(&t, "|");
	pen_field(&p, NULL, 2);
	text_add(&t, "|");
	pen_field(&p, "\033[2J", 6);
	assert_string_equal(t.data, "abc  |a\u00e9\u2192d\u2026|  |\\x1b[\u2026");
	text_free(&t);
}

static void test_numbers_keep_their_units(void **state)
{
	struct text t = TEXT_INIT;
	struct pen p = { .out = &t, .width = 14 };

	(void)state;
	pen_wrap(&p, 0, 2, "softirq  is\n\tat 91 % of it");
	assert_string_equal(t.data, "softirq is at\n  91 % of it\n");
	text_free(&t);
}

static void check_stamp(uint64_t seconds, const char *want)
{
	char s[STAMP_CAP];

	stamp_rfc3339(seconds * 1000000000, s);
	assert_string_equal(s, want);
}

static void test_stamps(void **state)
{
	char s[STAMP_CAP];

	(void)state;
	check_stamp(0, "1970-01-01T00:00:00Z");
	check_stamp(951782400, "2000-02-29T00:00:00Z");
	check_stamp(951868800, "2000-03-01T00:00:00Z");
	check_stamp(1735689599, "2024-12-31T23:59:59Z");
	check_stamp(4107542400, "2100-03-01T00:00:00Z");
	stamp_rfc3339(UINT64_MAX, s);
	assert_string_equal(s, "2554-07-21T23:34:33Z");
}

static void test_stamps_read(void **state)
{
	static const char *const bad[] = {
		"", "2026", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
		"1969-12-31T23:59:59Z", "2554-01-01T00:00:00Z", "2026-01-01T00:00:00",
		"2026-01-01T00:00:00ZZ", "2026-01-01 00:00:00Z", "-026-01-01T00:00:00Z",
	};
	char s[STAMP_CAP];
	uint64_t ns;

	(void)state;
	for (uint64_t seconds = 0; seconds < 18000000000; seconds += 86399 * 97) {
		stamp_rfc3339(seconds * 1000000000, s);
		assert_int_equal(stamp_read(s, &ns), 0);
		assert_true(ns == seconds * 1000000000);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (stamp_read(bad[i], &ns) != -EINVAL)
			fail_msg("%s was read", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamps_read),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_of_nothing_known),
		cmocka_unit_test(test_check_of_a_pci_loop),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_markdown),
		cmocka_unit_test(test_every_rule_explains_itself),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_progress_never_wraps),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_numbers_keep_their_units),
		cmocka_unit_test(test_stamps),
	};

	return cmocka_run_group_tests_name("report_parts", tests, NULL, NULL);
}

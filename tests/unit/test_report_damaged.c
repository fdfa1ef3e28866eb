/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports from others: whatever one value is replaced by, a report is refused
 * with a reason, or read, diagnosed and shown without harm.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/json_damage.h"
#include "tests/unit/markup_check.h"
#include "tests/unit/report_fixture.h"

enum { ROUNDS = 400 };

static void show_marked_up(const struct exam *e, const struct diagnosis *d,
			   const struct report_options *o)
{
	struct text markdown = TEXT_INIT, html = TEXT_INIT, markup = TEXT_INIT;

	assert_int_equal(report_markdown(e, d, o, &markdown), 0);
	assert_int_equal(report_html(e, d, o, &html), 0);
	assert_terminal_safe(markdown.data);
	assert_terminal_safe(html.data);
	markdown_markup(markdown.data, &markup);
	html_markup(html.data, &markup);
	text_free(&markdown);
	text_free(&html);
	text_free(&markup);
}

static void show(struct exam *e)
{
	struct text text = TEXT_INIT, json = TEXT_INIT;
	struct report_options o = fixture_options;
	struct diagnosis *d;

	o.verbose = true;
	assert_int_equal(diagnose(e, &d), 0);
	assert_int_equal(report_text(e, d, &o, &text), 0);
	assert_terminal_safe(text.data);
	show_marked_up(e, d, &o);
	assert_int_equal(report_json(e, d, &o, &json), 0);
	diagnosis_free(d);
	text_free(&text);
	text_free(&json);
	assert_int_equal(diagnose_static(e, &d), 0);
	assert_int_equal(report_check_text(e, d, &o, &text), 0);
	assert_terminal_safe(text.data);
	diagnosis_free(d);
	text_free(&text);
}

static void test_damaged_reports(void **state)
{
	struct exam *e = build_hot_core_exam(), *back;
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	unsigned int accepted = 0;
	cJSON *good;

	(void)state;
	/* Fewer of what there is most of, so that the damage is spread. */
	for (size_t r = 0; r < e->nruns; r++) {
		for (size_t s = 0; s < EXAM_ENDS; s++) {
			e->runs[r].ends[s].nintervals = 2;
			e->runs[r].ends[s].nflows = 2;
		}
	}
	good = exam_to_json(e);
	for (int i = 0; i < ROUNDS; i++) {
		cJSON *obj = cJSON_Duplicate(good, true);
		struct error err = { "" };
		int rc;

		json_damage(obj, &seed);
		rc = exam_from_json(obj, &back, &err);
		assert_true(rc == 0 || (rc == -EINVAL && err.text[0] && !back));
		cJSON_Delete(obj);
		if (rc)
			continue;
		accepted++;
		show(back);
		exam_free(back);
	}
	/* Most nodes are single values, which one by one may be strange. */
	assert_true(accepted > ROUNDS / 2 && accepted < ROUNDS);
	cJSON_Delete(good);
	exam_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_reports),
	};

	return cmocka_run_group_tests_name("report_damaged", tests, NULL, NULL);
}

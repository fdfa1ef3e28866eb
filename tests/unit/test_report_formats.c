/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports as Markdown and HTML: what they look like, and that words never become markup. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/report/html_parts.h"
#include "src/report/markdown_words.h"
#include "tests/unit/markup_check.h"
#include "tests/unit/report_fixture.h"

typedef int (*writer)(const struct exam *, const struct diagnosis *, const struct report_options *,
		      struct text *);

static const struct { writer report, check; void (*markup)(const char *, struct text *);
		      const char *ending; } formats[] = {
	{ report_markdown, report_check_markdown, markdown_markup, "md" },
	{ report_html, report_check_html, html_markup, "html" },
};

/* What is written; its markup, if asked for, which is checked in any case. */
static char *render(size_t format, writer write, const struct exam *e, const struct diagnosis *d,
		    const struct report_options *o, struct text *markup)
{
	struct text t = TEXT_INIT, own = TEXT_INIT;

	assert_int_equal(write(e, d, o, &t), 0);
	assert_terminal_safe(t.data);
	formats[format].markup(t.data, markup ? markup : &own);
	text_free(&own);
	return t.data;
}

static void golden(struct exam *e, struct diagnosis *d, const struct report_options *o,
		   const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *s = render(i, formats[i].report, e, d, o, NULL), file[64];

		snprintf(file, sizeof(file), "%s.%s", name, formats[i].ending);
		golden_check(file, s);
		free(s);
	}
	fixture_free(d);
	exam_free(e);
}

static void test_limited(void **state)
{
	struct exam *e = build_hot_core_exam();
	struct report_options o = fixture_options;

	(void)state;
	build_run(e, RUN_FORWARD, RUN_ONE_STREAM, 3.1e9);
	o.verbose = true;
	/* Neither is theirs to use. */
	o.colour = true;
	o.utf8 = false;
	golden(e, fixture_limited(e), &o, "report-limited");
}

static void test_blind(void **state)
{
	struct exam *e = build_unread();

	(void)state;
	golden(e, fixture_blind(e), &fixture_options, "report-blind");
}

static void test_check(void **state)
{
	struct exam *e = build_one_host();
	struct diagnosis *d = fixture_check(e);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *s = render(i, formats[i].check, e, d, &fixture_options, NULL), file[64];

		snprintf(file, sizeof(file), "check.%s", formats[i].ending);
		golden_check(file, s);
		free(s);
	}
	fixture_free(d);
	exam_free(e);
}

/* The markup of a report whose words are s; what makes code of it, in Markdown. */
static void markup_with(size_t format, const char *s, struct text *markup)
{
	struct exam *e = build_hot_core_exam();
	struct diagnosis *d = fixture_limited(e);
	struct report_options o = fixture_options;

	fixture_say_everywhere(e, d, s);
	o.verbose = true;
	free(render(format, formats[format].report, e, d, &o, markup));
	fixture_free(d);
	exam_free(e);
}

static void assert_harmless(size_t format, const struct text *want, const char *s)
{
	struct text got = TEXT_INIT;

	markup_with(format, s, &got);
	if (strcmp(got.data, want->data) != 0) {
		size_t at = 0, line = 1;

		for (; got.data[at] && got.data[at] == want->data[at]; at++)
			line += got.data[at] == '\n';
		fail_msg("%s: \"%s\" changes the markup, at %zu: %.60s\ninstead of %.60s",
			 formats[format].ending, s, line, got.data + at, want->data + at);
	}
	text_free(&got);
}

static void test_every_byte(void **state)
{
	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		struct text want = TEXT_INIT;

		markup_with(f, "ab", &want);
		for (int c = 1; c < 256; c++) {
			const char alone[] = { (char)c, '\0' }, within[] = { 'a', (char)c, 'b', 0 };
			const char before[] = { (char)c, ' ', 'b', 0 };
			const char twice[] = { (char)c, (char)c, 'a', (char)c, (char)c, 0 };

			assert_harmless(f, &want, alone);
			assert_harmless(f, &want, within);
			assert_harmless(f, &want, before);
			assert_harmless(f, &want, twice);
		}
		text_free(&want);
	}
}

static void test_hostile(void **state)
{
	static const char *const hostile[] = {
		"<script>alert(1)</script>", "</style><script>", "</title>", "</textarea>", "]]>",
		"<!--", "-->", "\"><img src=x onerror=alert(1)>", "' onload='x", "&lt;b&gt;",
		"&#60;b&#62;", "a | b |", "|---|---|", "\\|", "\\\\|", "`", "``", "a`b``c```d",
		"```", "```\nrm -rf /\n```", "~~~", "`a` | `b`", "`|`", "\n\n# x", "\r\n- x",
		"\t x", "    x", "# x", "#", "- x", "+ x", "* x", "1. x", "1) x", "> x", "=== x",
		"---", "***", "___", "**x**", "_x_", "~~x~~", "[x](http://x.example)",
		"![x](http://x.example/?)", "[x]: http://x.example", "[^1]", "<http://x.example>",
		"http://x.example", "(https://x.example).", "www.x.example", "WWW.x.example",
		"ftp://x.example", "x@x.example", "@all", "(@all)", "#1", "x/y#1", "!1", "%1",
		"%\"x\"", "&1", "$x$", "$$", "^1", "~bug", ":ab: x", "fd00:ab:1::", "::", "/close",
		"/assign @all", "[[_TOC_]]", "\\", "\\*", "x\\", "\xe2\x80\xae", "\xff", "\033[2J",
		"\xc2\x9b", "javascript:alert(1)", "", " ", "\xc3\xa9\xc3\xa9", "'\"'", "(", ").",
		"a\"b'",
	};

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		struct text want = TEXT_INIT;

		markup_with(f, "ab", &want);
		for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
			assert_harmless(f, &want, hostile[i]);
		text_free(&want);
	}
}

static void test_numbers_that_are_none(void **state)
{
	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		struct exam *e = build_hot_core_exam();
		struct diagnosis *d = fixture_limited(e);
		struct run_end *end = &e->runs[0].ends[SIDE_PEER];
		char *s;

		fixture_spoil_numbers(d);
		end->intervals[0].start_s = nd_f64(-1e300);
		end->intervals[1].seconds = nd_f64(1e300);
		end->intervals[2].cores[0].busy = nd_f64_unknown(ND_ABSENT);
		end->intervals[3].received_bytes = nd_u64(UINT64_MAX);
		end->intervals[4].received_bytes = nd_u64_unknown(ND_ABSENT);
		s = render(f, formats[f].report, e, d, &fixture_options, NULL);
		assert_null(strstr(s, "\"nan"));
		assert_null(strstr(s, "\"-"));
		assert_null(strstr(s, "inf\""));
		free(s);
		fixture_free(d);
		exam_free(e);
	}
}

static void test_markdown_words(void **state)
{
	static const struct { const char *words, *want; } cases[] = {
		{ "14.1 Gbit/s, 98 % busy", "14.1 Gbit/s, 98 % busy" },
		{ "  two\n\tlines  ", "two lines" },
		{ "(see tcp_rmem).", "(see `tcp_rmem`)." },
		{ "0000:3b:00.0", "`0000:3b:00.0`" },
		{ "a`b", "``a`b``" },
		{ "`", "`` ` ``" },
		{ "a|b", "<code>a&#124;b</code>" },
		{ "\033", "`\\x1b`" },
		{ "- 1. x", "- 1. x" },
		{ "", "" },
	};
	static const struct { const char *words, *want; } lines[] = {
		{ "- 1. x", "`-` 1. x" },
		{ "12) x", "`12`) x" },
		{ "/close /x", "`/close` /x" },
		{ "1.5 x", "1.5 x" },
	};
	static const char *const commands[] = { "echo `date`", "a ```` b" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases) + ARRAY_SIZE(lines); i++) {
		struct text t = TEXT_INIT;
		size_t k = i - ARRAY_SIZE(cases);
		bool line = i >= ARRAY_SIZE(cases);

		(line ? markdown_line : markdown_words)(&t, line ? lines[k].words : cases[i].words);
		assert_string_equal(t.data ? t.data : "", line ? lines[k].want : cases[i].want);
		text_free(&t);
	}
	assert_int_equal(markdown_fence(commands, 1), 3);
	assert_int_equal(markdown_fence(commands, 2), 5);
	assert_int_equal(markdown_fence(NULL, 0), 3);
}

static void test_html_words(void **state)
{
	struct text t = TEXT_INIT;

	(void)state;
	html_words(&t, " <a&\"b\n'> ");
	assert_string_equal(t.data, "&lt;a&amp;&quot;b &#39;&gt;");
	text_free(&t);
	html_verbatim(&t, "a  <b\n");
	assert_string_equal(t.data, "a  &lt;b\\x0a");
	text_free(&t);
	assert_true(html_share(1, 2) == 0.5 && html_share(3, 2) == 1 && html_share(-1, 2) == 0);
	assert_true(html_share(NAN, 2) == 0 && html_share(1, 0) == 0);
	assert_true(html_share(HUGE_VAL, 2) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limited),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_numbers_that_are_none),
		cmocka_unit_test(test_markdown_words),
		cmocka_unit_test(test_html_words),
	};

	return cmocka_run_group_tests_name("report_formats", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "src/core/value.h"
#include "ui/draw.h"

/* What is drawn on a canvas of this size, with '/' between its rows. */
struct fixture { struct canvas c; char text[4096]; };

static struct fixture *new_canvas(unsigned int columns, unsigned int rows, bool utf8)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	setlocale(LC_CTYPE, "C.UTF-8");
	assert_int_equal(canvas_init(&f->c, columns, rows, utf8), 0);
	return f;
}

static const char *shown(struct fixture *f)
{
	struct text t = TEXT_INIT;

	canvas_to_text(&f->c, &t);
	snprintf(f->text, sizeof(f->text), "%.*s", t.len ? (int)t.len - 1 : 0, t.data);
	text_free(&t);
	for (char *s = f->text; *s; s++)
		*s = *s == '\n' ? '/' : *s;
	return f->text;
}

static void free_canvas(struct fixture *f)
{
	canvas_free(&f->c);
	free(f);
}

static void text_is_clipped(void **state)
{
	struct fixture *f = new_canvas(6, 2, true);

	(void)state;
	assert_int_equal(canvas_text(&f->c, canvas_whole(&f->c), 0, 0, INK_PLAIN, "abcdef"), 6);
	assert_int_equal(canvas_text(&f->c, canvas_whole(&f->c), 0, 1, INK_PLAIN, "abcdefg"), 6);
	assert_string_equal(shown(f), "abcdef/abcde\u2026");
	canvas_clear(&f->c);
	struct area a = { 2, 0, 3, 1 };
	assert_int_equal(canvas_text(&f->c, a, 0, 0, INK_PLAIN, "abcdef"), 3);
	assert_int_equal(canvas_text(&f->c, a, 0, 1, INK_PLAIN, "below"), 3);
	assert_int_equal(canvas_text(&f->c, a, 7, 0, INK_PLAIN, "right of it"), 0);
	assert_string_equal(shown(f), "  ab\u2026/");
	free_canvas(f);
}

static void hostile_text_never_reaches_a_cell(void **state)
{
	static const struct { const char *text, *utf8, *ascii; } cases[] = {
		{ "a\033[2Jb", "a?[2Jb", "a?[2Jb" },
		{ "a\r\n\tb\x7f", "a???b?", "a???b?" },
		{ "\xc2\x9b" "2J", "?2J", "?2J" },			/* C1: CSI */
		{ "\xe2\x80\xaetxt.exe", "?txt.exe", "?txt.exe" },	/* right to left */
		{ "\xe2\x81\xa6x\xe2\x81\xa9", "?x?", "?x?" },		/* isolates */
		{ "\xff\xfe\xc0\xaf", "????", "????" },			/* no UTF-8 */
		{ "\xed\xa0\x80", "???", "???" },			/* a surrogate */
		{ "\xef\xbb\xbfx", "?x", "?x" },			/* byte order mark */
		{ "cafe\xcc\x81", "cafe", "cafe?" },			/* combining: no column */
		{ "\xe4\xb8\xad" "x", "\xe4\xb8\xad" "x", "?x" },	/* wide */
		{ "\xe2\x80\xa8x", "?x", "?x" },			/* line separator */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (int utf8 = 0; utf8 < 2; utf8++) {
			struct fixture *f = new_canvas(20, 1, utf8);
			canvas_text(&f->c, canvas_whole(&f->c), 0, 0, INK_PLAIN, cases[i].text);
			if (utf8 && wcwidth(0x4e2d) != 2)
				print_message("# no UTF-8 locale here\n");
			else
				assert_string_equal(shown(f),
						    utf8 ? cases[i].utf8 : cases[i].ascii);
			free_canvas(f);
		}
}

static void wide_characters_take_two_cells(void **state)
{
	struct fixture *f = new_canvas(5, 2, true);
	struct area all = canvas_whole(&f->c);

	(void)state;
	if (wcwidth(0x4e2d) != 2) {
		print_message("no UTF-8 locale here\n");
		free_canvas(f);
		skip();
	}
	assert_int_equal(canvas_text(&f->c, all, 0, 0, INK_PLAIN, "中中中"), 5);
	assert_string_equal(shown(f), "中中\u2026/");
	/* Half of one overwritten: the other half goes too, on either side. */
	canvas_put(&f->c, all, 1, 0, INK_PLAIN, 'x');
	canvas_put(&f->c, all, 2, 0, INK_PLAIN, 'y');
	assert_string_equal(shown(f), " xy \u2026/");
	/* No room for both halves. */
	canvas_clear(&f->c);
	canvas_text(&f->c, all, 4, 0, INK_PLAIN, "中");
	assert_string_equal(shown(f), "    \u2026/");
	free_canvas(f);
}

static void nothing_is_drawn_outside(void **state)
{
	static const struct area areas[] = {
		{ 0, 0, 0, 0 }, { 3, 2, 1, 1 }, { 100, 100, 100, 100 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
		{ 1, 1, UINT32_MAX, UINT32_MAX }, { 0, UINT32_MAX, 4, 4 },
	};
	static const double values[] = { 1, NAN, 3 };
	struct bar_part part = { 2, 'x', INK_USER };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(areas); i++) {
		struct fixture *f = new_canvas(4, 3, true);
		struct area a = areas[i];
		canvas_text(&f->c, a, 0, 0, INK_PLAIN, "text that is long");
		canvas_text_right(&f->c, a, 0, INK_PLAIN, "text");
		canvas_mark(&f->c, a, UINT32_MAX, UINT32_MAX, INK_PLAIN, MARK_CUT);
		canvas_select(&f->c, a);
		draw_stack(&f->c, a, 0, 0, 8, &part, 1);
		draw_range(&f->c, a, 0, 0, 8, 10, 5, HUGE_VAL, 7, INK_RATE);
		if (a.rows < 1000) {
			canvas_box(&f->c, a, INK_BORDER, "title");
			canvas_wrap(&f->c, a, 0, INK_PLAIN, "some words to wrap");
			draw_graph(&f->c, a, INK_RATE, values, ARRAY_SIZE(values), 0);
		}
		free_canvas(f);
	}
	struct fixture *f = new_canvas(0, 0, true);
	canvas_text(&f->c, canvas_whole(&f->c), 0, 0, INK_PLAIN, "x");
	assert_null(canvas_at(&f->c, 0, 0));
	free_canvas(f);
	/* Beyond the limits a canvas is as large as they let it be. */
	f = new_canvas(100000, 100000, true);
	assert_int_equal(f->c.columns, CANVAS_MAX_COLUMNS);
	assert_int_equal(f->c.rows, CANVAS_MAX_ROWS);
	free_canvas(f);
}

static void words_are_wrapped(void **state)
{
	struct fixture *f = new_canvas(6, 4, true);

	(void)state;
	assert_int_equal(canvas_wrap(&f->c, canvas_whole(&f->c), 0, INK_PLAIN,
				     "one two threefour"), 4);
	assert_int_equal(canvas_wrap_rows(&f->c, 6, "one two threefour"), 4);
	assert_string_equal(shown(f), "one/two/threef/our");
	assert_int_equal(canvas_wrap_rows(&f->c, 6, ""), 1);
	assert_int_equal(canvas_wrap_rows(&f->c, 0, "x y"), 1);
	assert_int_equal(canvas_wrap_rows(&f->c, 6, "a\nb\n"), 2);
	free_canvas(f);
}

static void boxes(void **state)
{
	struct fixture *f = new_canvas(10, 3, false);
	struct area in = canvas_box(&f->c, canvas_whole(&f->c), INK_BORDER, "a long title");

	(void)state;
	assert_int_equal(in.columns, 8);
	assert_int_equal(in.rows, 1);
	assert_string_equal(shown(f), "+- a l~ -+/|        |/+--------+");
	free_canvas(f);
}

static void stacked_bars(void **state)
{
	const struct bar_part parts[] = {
		{ 0.25, 'u', INK_USER }, { 0.5, 'q', INK_SOFTIRQ }, { NAN, 'i', INK_IRQ },
		{ -1, 't', INK_STEAL }, { 7, 's', INK_SYSTEM },
	};
	struct fixture *f = new_canvas(8, 1, false);

	(void)state;
	draw_stack(&f->c, canvas_whole(&f->c), 0, 0, 8, parts, 2);
	assert_string_equal(shown(f), "uuqqqq..");
	assert_int_equal(canvas_at(&f->c, 0, 0)->ink, INK_USER);
	/* More than all is all. */
	draw_stack(&f->c, canvas_whole(&f->c), 0, 0, 8, parts, ARRAY_SIZE(parts));
	assert_string_equal(shown(f), "uuqqqqss");
	free_canvas(f);
}

static void ranges(void **state)
{
	struct fixture *f = new_canvas(10, 3, false);
	struct area all = canvas_whole(&f->c);

	(void)state;
	draw_range(&f->c, all, 0, 0, 10, 100, 50, 80, 35, INK_CEILING);
	draw_range(&f->c, all, 0, 1, 10, 100, 90, HUGE_VAL, -1, INK_CEILING);
	draw_range(&f->c, all, 0, 2, 10, 0, 1, 2, 3, INK_CEILING);
	assert_string_equal(shown(f), "###|#===/#########>/|");
	free_canvas(f);
}

static void graphs(void **state)
{
	static const double values[] = { 8, NAN, 4, 8, 0, 0.001 };
	struct fixture *f = new_canvas(7, 2, true);

	(void)state;
	draw_graph(&f->c, canvas_whole(&f->c), INK_RATE, values, ARRAY_SIZE(values), 8);
	assert_string_equal(shown(f), " \u2588  \u2588/ \u2588 \u2588\u2588 \u2581");
	/* More values than columns: each column shows its largest, from the right. */
	canvas_clear(&f->c);
	draw_graph(&f->c, (struct area){ 0, 0, 2, 1 }, INK_RATE, values, 4, 8);
	assert_string_equal(shown(f), "\u2588\u2588/");
	draw_graph(&f->c, canvas_whole(&f->c), INK_RATE, NULL, 0, 0);
	free_canvas(f);
}

static void tables(void **state)
{
	static const struct column columns[] = {
		{ "name", 6, 1, 0, false }, { "rate", 6, 0, 2, true }, { "extra", 5, 0, 1, false },
	};
	struct fixture *f = new_canvas(20, 2, false);
	struct area all = canvas_whole(&f->c);
	struct table t;

	(void)state;
	table_layout(&t, columns, ARRAY_SIZE(columns), 20);
	table_head(&f->c, all, 0, &t, 1, true);
	table_cell(&f->c, all, 1, &t, 0, INK_PLAIN, "a long name");
	table_cell(&f->c, all, 1, &t, 1, INK_PLAIN, "9.41");
	table_cell(&f->c, all, 1, &t, 9, INK_PLAIN, "none");
	assert_string_equal(shown(f), "name     ratev extra/a long~   9.41");
	/* The least wanted goes first, the last one stays however narrow. */
	table_layout(&t, columns, ARRAY_SIZE(columns), 14);
	assert_int_equal(t.width[2], 0);
	assert_int_equal(t.width[0], 7);
	table_layout(&t, columns, ARRAY_SIZE(columns), 3);
	assert_int_equal(t.width[1], 0);
	assert_int_equal(t.width[0], 6);
	free_canvas(f);
}

static void lists(void **state)
{
	(void)state;
	assert_int_equal(list_first(0, 0, 5), 0);
	assert_int_equal(list_first(9, 10, 20), 0);
	assert_int_equal(list_first(50, 100, 10), 45);
	assert_int_equal(list_first(99, 100, 10), 90);
	assert_int_equal(list_first(2, 100, 10), 0);
	assert_int_equal(list_first(5, 6, 0), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_clipped),
		cmocka_unit_test(hostile_text_never_reaches_a_cell),
		cmocka_unit_test(wide_characters_take_two_cells),
		cmocka_unit_test(nothing_is_drawn_outside),
		cmocka_unit_test(words_are_wrapped),
		cmocka_unit_test(boxes),
		cmocka_unit_test(stacked_bars),
		cmocka_unit_test(ranges),
		cmocka_unit_test(graphs),
		cmocka_unit_test(tables),
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/error.h"
#include "src/core/value.h"
#include "tests/unit/core_test.h"

static void builder_grows(void **state)
{
	struct text t = TEXT_INIT;

	(void)state;
	text_add(&t, "a");
	text_addn(&t, "bcd", 2);
	text_printf(&t, "%d-%s", 42, "x");
	text_repeat(&t, "=", 3);
	assert_string_equal(t.data, "abc42-x===");
	assert_int_equal(t.len, 10);
	for (int i = 0; i < 5000; i++)
		text_printf(&t, "%04d", i);
	assert_int_equal(t.len, 20010);
	assert_int_equal(strlen(t.data), t.len);
	assert_memory_equal(t.data + t.len - 8, "49984999", 8);
	text_printf(&t, "%3000s", "x");
	assert_int_equal(strlen(t.data), 23010);
	assert_false(t.failed);
	text_free(&t);
	assert_null(t.data);
	text_addn(&t, "", 0);
	assert_string_equal(t.data, "");
	text_free(&t);
}

static void too_much_fails_for_good(void **state)
{
	struct text t = TEXT_INIT;

	(void)state;
	text_add(&t, "kept");
	text_addn(&t, "x", SIZE_MAX - 2);
	assert_true(t.failed);
	text_add(&t, "not added");
	text_printf(&t, "%d", 1);
	assert_string_equal(t.data, "kept");
	text_free(&t);
}

static const struct { const char *in, *escaped, *printable; } escapes[] = {
	{ "plain ASCII ~!", "plain ASCII ~!", "plain ASCII ~!" },
	{ "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80",
	  "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80" },
	{ "\x1b[31mred", "\\x1b[31mred", "?[31mred" },
	{ "a\nb\tc\rd\x7f", "a\\x0ab\\x09c\\x0dd\\x7f", "a?b?c?d?" },
	{ "\xc2\x9b""2J", "\\xc2\\x9b2J", "?2J" },			/* C1 CSI */
	{ "\xe2\x80\xae""cba", "\\xe2\\x80\\xae""cba", "?cba" },	/* RIGHT-TO-LEFT OVERRIDE */
	{ "\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9", "?x?" },
	{ "\xc0\xaf", "\\xc0\\xaf", "??" },				/* overlong '/' */
	{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf", "???" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "???" },			/* surrogate */
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "????" },		/* beyond U+10FFFF */
	{ "\xff\xfe", "\\xff\\xfe", "??" },
	{ "cut \xe2\x82", "cut \\xe2\\x82", "cut ??" },
	{ "\xe2(\xa1", "\\xe2(\\xa1", "?(?" },
	{ "", "", "" },
};

static void untrusted_text_is_escaped(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		struct text t = TEXT_INIT;
		char fixed[64];

		text_add(&t, "");
		text_add_escaped(&t, escapes[i].in);
		assert_string_equal(t.data, escapes[i].escaped);
		snprintf(fixed, sizeof(fixed), "%s", escapes[i].in);
		text_make_printable(fixed);
		assert_string_equal(fixed, escapes[i].printable);
		text_free(&t);
	}
}

static void shell_words_are_quoted(void **state)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "eth0", "eth0" },
		{ "net.ipv4.tcp_rmem=4096", "net.ipv4.tcp_rmem=4096" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "$(reboot)", "'$(reboot)'" },
		{ "`x`", "'`x`'" },
		{ "it's", "'it'\\''s'" },
		{ "back\\slash", "'back\\slash'" },
		{ "~root", "'~root'" },
		{ "a;b", "'a;b'" },
		{ "\xc3\xbc", "'\xc3\xbc'" },
		{ "a\nb", "$'a\\012b'" },
		{ "\x1b'\\1", "$'\\033\\'\\\\1'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text t = TEXT_INIT;

		text_add_shell_word(&t, cases[i].in);
		assert_string_equal(t.data, cases[i].out);
		text_free(&t);
	}
}

/* The real judge of quoting is a shell: what it makes of the words must be the words. */
static void a_shell_gets_the_words_back(void **state)
{
	static const char letters[] = "ab '\"\\$`!*?;&|<>()[]{}#~=%\n\t\x1b\x7f\xc2\x9b\xff";
	char path[] = "/tmp/nd-text-XXXXXX", command[64], got[8192];
	struct text script = TEXT_INIT, want = TEXT_INIT;
	uint64_t seed = 5;
	FILE *f, *shell;
	int fd = mkstemp(path);
	size_t n;

	(void)state;
	assert_true(fd >= 0);
	for (int round = 0; round < 200; round++) {
		char word[24];
		size_t start = script.len;

		n = random_text(&seed, letters, sizeof(letters) - 1, word, sizeof(word));
		text_addn(&want, word, n + 1);
		text_add(&script, "printf '%s\\0' ");
		text_add_shell_word(&script, word);
		/* Nothing in it may make a terminal act when it is shown or pasted. */
		for (size_t i = start; i < script.len; i++)
			assert_true((unsigned char)script.data[i] >= 0x20);
		text_add(&script, "\n");
	}
	f = fdopen(fd, "w");
	assert_int_equal(fwrite(script.data, 1, script.len, f), script.len);
	fclose(f);
	/* dash does not know $'...' yet. */
	snprintf(command, sizeof(command), "LC_ALL=C bash %s", path);
	shell = popen(command, "r");
	assert_non_null(shell);
	n = fread(got, 1, sizeof(got), shell);
	if (pclose(shell) == 127 << 8) {
		print_message("skipped: no bash here\n");
		skip();
	}
	assert_int_equal(n, want.len);
	assert_memory_equal(got, want.data, n);
	remove(path);
	text_free(&script);
	text_free(&want);
}

static void unsigned_numbers_are_strict(void **state)
{
	static const char *const bad[] = {
		"", " ", " 1", "+1", "-1", "-0", "1a", "0x1", "1 2", "1.0", "1e3", "\n",
	};
	uint64_t v = 99;

	(void)state;
	assert_int_equal(parse_u64("0", &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(parse_u64("18446744073709551615\n", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(parse_u64("007 \t\n", &v), 0);
	assert_int_equal(v, 7);
	v = 99;
	assert_int_equal(parse_u64("18446744073709551616", &v), -ERANGE);
	assert_int_equal(parse_u64("99999999999999999999999999", &v), -ERANGE);
	assert_int_equal(parse_u64("99999999999999999999999999x", &v), -EINVAL);
	assert_int_equal(parse_u64(NULL, &v), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_u64(bad[i], &v), -EINVAL);
	assert_int_equal(v, 99);
}

static void signed_numbers_are_strict(void **state)
{
	static const char *const bad[] = { "", "-", "--1", "+1", "- 1", " -1", "-1-", "1-" };
	int64_t v = 99;

	(void)state;
	assert_int_equal(parse_i64("-1\n", &v), 0);
	assert_int_equal(v, -1);
	assert_int_equal(parse_i64("-0", &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(parse_i64("9223372036854775807", &v), 0);
	assert_true(v == INT64_MAX);
	assert_int_equal(parse_i64("-9223372036854775808", &v), 0);
	assert_true(v == INT64_MIN);
	v = 99;
	assert_int_equal(parse_i64("9223372036854775808", &v), -ERANGE);
	assert_int_equal(parse_i64("-9223372036854775809", &v), -ERANGE);
	assert_int_equal(parse_i64("-18446744073709551616", &v), -ERANGE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_i64(bad[i], &v), -EINVAL);
	assert_int_equal(v, 99);
}

static void hex_numbers_are_strict(void **state)
{
	uint64_t v = 99;

	(void)state;
	assert_int_equal(parse_hex_u64("0x8086\n", &v), 0);
	assert_int_equal(v, 0x8086);
	assert_int_equal(parse_hex_u64("fFfFfFfFfFfFfFfF", &v), 0);
	assert_true(v == UINT64_MAX);
	v = 99;
	assert_int_equal(parse_hex_u64("10000000000000000", &v), -ERANGE);
	assert_int_equal(parse_hex_u64("0x", &v), -EINVAL);
	assert_int_equal(parse_hex_u64("0x0x1", &v), -EINVAL);
	assert_int_equal(parse_hex_u64("-1", &v), -EINVAL);
	assert_int_equal(parse_hex_u64("12g", &v), -EINVAL);
	assert_int_equal(v, 99);
}

static void every_byte_is_a_hex_digit_or_none(void **state)
{
	static const char digits[] = "0123456789abcdefABCDEF";

	(void)state;
	for (int c = 0; c < 256; c++) {
		const char *at = c ? strchr(digits, c) : NULL;
		int value = at ? (int)(at - digits) : -1;

		assert_int_equal(hex_digit((char)c), value > 15 ? value - 6 : value);
	}
}

static void decimal_fractions_are_strict(void **state)
{
	static const char *const bad[] = {
		"", ".5", "5.", "1e", "1e+", "inf", "nan", "0x1p3", "1,5", "--1", "+1", " 1", "1f",
	};
	double v = 99;

	(void)state;
	assert_int_equal(parse_f64("-12.5e-1 \n", &v), 0);
	assert_true(v == -1.25);
	assert_int_equal(parse_f64("0", &v), 0);
	assert_true(v == 0);
	v = 99;
	assert_int_equal(parse_f64("1e999", &v), -ERANGE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_f64(bad[i], &v), -EINVAL);
	assert_true(v == 99);
}

static void lines_and_words_are_cut(void **state)
{
	char text[] = "one  two\t3\n\n  last line ";
	char *cursor = text, *words, *line;

	(void)state;
	words = next_line(&cursor);
	assert_string_equal(next_word(&words), "one");
	assert_string_equal(next_word(&words), "two");
	assert_string_equal(next_word(&words), "3");
	assert_null(next_word(&words));
	assert_null(next_word(&words));
	assert_string_equal(next_line(&cursor), "");
	line = next_line(&cursor);
	assert_string_equal(line, "  last line ");
	assert_string_equal(trim(line), "last line");
	assert_null(next_line(&cursor));
	assert_null(next_line(&cursor));
	line = NULL;
	assert_null(next_line(&line));
	assert_null(next_word(&line));
}

static void trimming_takes_all_space(void **state)
{
	char blank[] = " \t\r\n\v\f", empty[] = "", both[] = "\n a b \n";

	(void)state;
	assert_string_equal(trim(blank), "");
	assert_string_equal(trim(empty), "");
	assert_string_equal(trim(both), "a b");
}

static void errors_are_one_printable_line(void **state)
{
	struct error e;
	char name[800];

	(void)state;
	assert_int_equal(error_set(&e, ENOENT, "%s: not there", "/proc/x"), -ENOENT);
	assert_string_equal(e.text, "/proc/x: not there");
	assert_int_equal(error_set(&e, -EIO, "a\nb\x1b[2J"), -EIO);
	assert_string_equal(e.text, "a?b?[2J");
	assert_int_equal(error_set(NULL, EINVAL, "nobody listens"), -EINVAL);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	/* The euro sign that the buffer's end cuts in half. */
	memcpy(name + sizeof(e.text) - 3, "\xe2\x82\xac", 3);
	error_set(&e, EINVAL, "%s", name);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_string_equal(e.text + sizeof(e.text) - 4, "x??");
}

/* Whatever comes in, what goes out is valid UTF-8 without a control character. */
static void random_bytes_become_safe(void **state)
{
	static const char letters[] = "a\xc2\x80\xbf\xe2\x80\xae\xf0\x9f\x98\xed\xa0"
				      "\x1b\n\x7f\xff\xc0";
	uint64_t seed = 6;
	char in[64];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct text t = TEXT_INIT;
		uint32_t c;
		size_t n;

		random_text(&seed, letters, sizeof(letters) - 1, in, sizeof(in));
		text_add(&t, "");
		text_add_escaped(&t, in);
		text_make_printable(in);
		for (const char *p = in; *p; p += n) {
			n = utf8_decode(p, &c);
			assert_true(n > 0 && c >= 0x20 && !(c >= 0x7f && c < 0xa0));
			assert_true(c < 0x202a || c > 0x202e);
		}
		for (const char *p = t.data; *p; p += n) {
			n = utf8_decode(p, &c);
			assert_true(n > 0 && c >= 0x20 && !(c >= 0x7f && c < 0xa0));
			assert_true(c < 0x202a || c > 0x202e);
		}
		text_free(&t);
	}
}

/* A number is taken if, and only if, printing it again gives the same digits. */
static void random_numbers_are_judged(void **state)
{
	static const char letters[] = "0123456789012345678901234567890123456789-+x. \ne";
	uint64_t seed = 7;
	char in[28], back[32];

	(void)state;
	for (int round = 0; round < 50000; round++) {
		uint64_t u;
		int64_t i;
		double d;
		char *digits = in;

		random_text(&seed, letters, sizeof(letters) - 1, in, sizeof(in));
		if (!parse_u64(in, &u)) {
			digits += strspn(in, "0");
			snprintf(back, sizeof(back), "%llu", (unsigned long long)u);
			assert_memory_equal(u ? back : "", digits, u ? strlen(back) : 0);
			assert_int_equal(parse_f64(in, &d), 0);
		}
		if (!parse_i64(in, &i) && i < 0)
			assert_int_equal(in[0], '-');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builder_grows),
		cmocka_unit_test(too_much_fails_for_good),
		cmocka_unit_test(untrusted_text_is_escaped),
		cmocka_unit_test(shell_words_are_quoted),
		cmocka_unit_test(a_shell_gets_the_words_back),
		cmocka_unit_test(unsigned_numbers_are_strict),
		cmocka_unit_test(signed_numbers_are_strict),
		cmocka_unit_test(hex_numbers_are_strict),
		cmocka_unit_test(every_byte_is_a_hex_digit_or_none),
		cmocka_unit_test(decimal_fractions_are_strict),
		cmocka_unit_test(lines_and_words_are_cut),
		cmocka_unit_test(trimming_takes_all_space),
		cmocka_unit_test(errors_are_one_printable_line),
		cmocka_unit_test(random_bytes_become_safe),
		cmocka_unit_test(random_numbers_are_judged),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}

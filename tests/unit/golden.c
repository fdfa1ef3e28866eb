/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/report_fixture.h"

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s;
	size_t n;

	if (!f)
		fail_msg("%s: %s (NETDOCTOR_BLESS=1 writes it)", path, strerror(errno));
	s = calloc(1, 1024 * 1024);
	assert_non_null(s);
	n = fread(s, 1, 1024 * 1024 - 1, f);
	s[n] = '\0';
	fclose(f);
	return s;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

static void compare(const char *path, char *want, const char *text)
{
	unsigned int number = 1;

	while (*want && strcmp(want, text) != 0) {
		size_t a = strcspn(want, "\n"), b = strcspn(text, "\n");

		if (a != b || strncmp(want, text, a) != 0)
			fail_msg("%s:%u\n wanted: %.*s\n    got: %.*s\n"
				 "(NETDOCTOR_BLESS=1 takes it)",
				 path, number, (int)a, want, (int)b, text);
		want += a + (want[a] == '\n');
		text += b + (text[b] == '\n');
		number++;
	}
	if (!*want && *text)
		fail_msg("%s:%u: more text than wanted: %s", path, number, text);
}

void golden_check(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "tests/unit/golden/%s", name);
	golden_check_file(path, text);
}

void golden_check_file(const char *path, const char *text)
{
	char *want;

	if (getenv("NETDOCTOR_BLESS")) {
		write_file(path, text);
		return;
	}
	want = read_file(path);
	compare(path, want, text);
	free(want);
}

/* Length of one of our own colour sequences, 0: something else. */
static size_t colour_length(const char *s)
{
	size_t n;

	if (strncmp(s, "\033[", 2) != 0)
		return 0;
	n = 2 + strspn(s + 2, "0123456789;");
	return s[n] == 'm' ? n + 1 : 0;
}

void assert_terminal_safe(const char *text)
{
	while (*text) {
		size_t colour = colour_length(text), n;
		uint32_t c;

		if (colour) {
			text += colour;
			continue;
		}
		n = utf8_decode(text, &c);
		if (!n || (c < 0x20 && c != '\n') || (c >= 0x7f && c <= 0x9f) ||
		    (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
			fail_msg("unsafe for a terminal: \"%.40s\"", text);
		text += n;
	}
}

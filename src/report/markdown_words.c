/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/markdown_words.h"

#include <ctype.h>
#include <string.h>

#include "src/report/sheet.h"

static bool is_alnum(char c)
{
	return isalnum((unsigned char)c) && (unsigned char)c < 0x80;
}

/* Blocks begin with these: "- x", "1. x", "> x"; GitLab acts on "/close". */
static bool begins_block(const char *s)
{
	size_t digits = strspn(s, "0123456789");

	return strchr(">/", *s) || !s[strspn(s, "-+=:*")] ||
	       (digits && (s[digits] == '.' || s[digits] == ')') && !s[digits + 1]);
}

static bool is_markup(const char *s)
{
	unsigned int colons = 0;

	/* Between spaces these open nothing: "a * b", "< 1024". */
	if (!strcmp(s, "*") || !strcmp(s, "<"))
		return false;
	if (strcasestr(s, "www.") || strstr(s, "://"))
		return true;
	for (; *s; s++) {
		colons += *s == ':';
		/* @name, #1, $x$, ^1 and the milestone %1, the merge request !1, &amp; and epic. */
		if (strchr("\\`*_[]<|~@#$^", *s) || colons > 1 ||
		    (strchr("&%!", *s) && (is_alnum(s[1]) || s[1] == '#' || s[1] == '"')))
			return true;
	}
	return false;
}

static unsigned int longest_run(const char *s, char c)
{
	unsigned int longest = 0, run = 0;

	for (; *s; s++) {
		run = *s == c ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

/* A pipe ends a cell even in a code span, and a backslash before it is seen outside of cells. */
static void add_entities(struct text *out, const char *s, size_t len)
{
	text_add(out, "<code>");
	for (size_t i = 0; i < len; i++) {
		if (is_alnum(s[i]) || (unsigned char)s[i] >= 0x80)
			text_addn(out, &s[i], 1);
		else
			text_printf(out, "&#%d;", s[i]);
	}
	text_add(out, "</code>");
}

static void add_code(struct text *out, const char *s, size_t len)
{
	unsigned int fence = longest_run(s, '`') + 1;

	/* A space each is taken off again where both are there. */
	const char *pad = s[0] == '`' || s[len - 1] == '`' ? " " : "";

	text_repeat(out, "`", fence);
	text_add(out, pad);
	text_addn(out, s, len);
	text_add(out, pad);
	text_repeat(out, "`", fence);
}

static void add_guarded(struct text *out, const char *word, bool begins_line)
{
	struct text escaped = TEXT_INIT;
	const char *s;
	size_t len, front;

	text_add_escaped(&escaped, word);
	if (escaped.failed) {
		out->failed = true;
		return;
	}
	s = escaped.data ? escaped.data : "";
	/* Punctuation around a word is not part of it. */
	front = strspn(s, "(\"'");
	len = strlen(s + front);
	while (len && strchr(",;:.)\"'", s[front + len - 1]))
		len--;
	if (!len || !(is_markup(s) || (begins_line && begins_block(s)))) {
		text_add(out, s);
	} else {
		text_addn(out, s, front);
		(memchr(s + front, '|', len) ? add_entities : add_code)(out, s + front, len);
		text_add(out, s + front + len);
	}
	text_free(&escaped);
}

static void add_word(struct text *out, const char *word, bool first)
{
	(void)first;
	add_guarded(out, word, false);
}

void markdown_words(struct text *out, const char *s)
{
	sheet_add_words(out, s, add_word);
}

void markdown_line(struct text *out, const char *s)
{
	sheet_add_words(out, s, add_guarded);
}

unsigned int markdown_fence(const char *const *lines, size_t n)
{
	unsigned int fence = 3;

	for (size_t i = 0; i < n; i++)
		if (longest_run(lines[i], '`') >= fence)
			fence = longest_run(lines[i], '`') + 1;
	return fence;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/markup_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_DEPTH = 32, NAME_CAP = 16 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* ---- HTML ---- */

static bool is_one_of(const char *name, const char *const *set)
{
	for (; *set; set++)
		if (!strcmp(name, *set))
			return true;
	return false;
}

static const char *entity(const char *s)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;", NULL };

	for (size_t i = 0; known[i]; i++)
		if (!strncmp(s, known[i], strlen(known[i])))
			return s + strlen(known[i]);
	fail_msg("no entity of ours: %.20s", s);
	return s;
}

/* ' name="value"' ...; returns what follows. */
static const char *attributes(const char *s)
{
	static const char *const allowed[] = {
		"lang", "charset", "http-equiv", "content", "name", "class", "scope", "viewBox",
		"preserveAspectRatio", "aria-hidden", "aria-label", "role", "width", "height", "x",
		"y", "x1", "x2", "y1", "y2", "points", "fill-opacity", NULL,
	};

	while (*s == ' ') {
		char name[32] = "";
		size_t n = strcspn(++s, "=");

		assert_true(n < sizeof(name));
		memcpy(name, s, n);
		if (!is_one_of(name, allowed))
			fail_msg("attribute %s", name);
		s += n;
		assert_int_equal(strncmp(s, "=\"", 2), 0);
		for (s += 2; *s != '"'; s = *s == '&' ? entity(s) : s + 1)
			if (!*s || *s == '<' || *s == '>')
				fail_msg("in an attribute: %.20s", s);
		s++;
	}
	return s;
}

struct open_tags { char names[MAX_DEPTH][NAME_CAP]; size_t depth; };

static const char *tag(const char *s, struct open_tags *open)
{
	static const char *const allowed[] = {
		"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p",
		"strong", "span", "dl", "dt", "dd", "ul", "ol", "li", "br", "table", "thead",
		"tbody", "tr", "th", "td", "svg", "rect", "line", "polyline", "text", "figure",
		"figcaption", "pre", "code", "footer", NULL,
	};
	static const char *const empty[] = { "meta", "br", NULL };
	bool closes = s[1] == '/';
	char name[NAME_CAP] = "";
	size_t n = strspn(s += 1 + closes, letters);

	assert_true(n < sizeof(name));
	memcpy(name, s, n);
	if (!is_one_of(name, allowed))
		fail_msg("tag %.20s", s);
	s += n;
	if (closes) {
		if (!open->depth || strcmp(open->names[--open->depth], name) != 0)
			fail_msg("</%s> closes something else", name);
	} else {
		s = attributes(s);
		if (*s == '/')
			s++;
		else if (!is_one_of(name, empty)) {
			assert_true(open->depth < MAX_DEPTH);
			memcpy(open->names[open->depth++], name, sizeof(name));
		}
	}
	if (*s != '>')
		fail_msg("<%s is not closed: %.20s", name, s);
	return s + 1;
}

void html_markup(const char *html, struct text *tags)
{
	static const char doctype[] = "<!DOCTYPE html>\n";
	struct open_tags open = { .depth = 0 };
	const char *s = html + strlen(doctype);

	assert_int_equal(strncmp(html, doctype, strlen(doctype)), 0);
	while (*s) {
		const char *begin = s;

		if (*s == '<') {
			s = tag(s, &open);
			text_addn(tags, begin, (size_t)(s - begin));
			text_add(tags, "\n");
			if (!strcmp(open.depth ? open.names[open.depth - 1] : "", "style"))
				s = strchr(s, '<');
		} else if (*s == '&') {
			s = entity(s);
		} else {
			if (*s == '>')
				fail_msg("a bare >: %.20s", s);
			s++;
		}
		assert_non_null(s);
	}
	assert_int_equal(open.depth, 0);
}

/* ---- Markdown ---- */

static size_t run_of(const char *s, char c)
{
	size_t n = 0;

	while (s[n] == c)
		n++;
	return n;
}

/* The end of the code span or element at s within its line, or NULL: there is none. */
static const char *code_end(const char *s)
{
	static const char open[] = "<code>", close[] = "</code>";

	if (!strncmp(s, open, strlen(open))) {
		for (s += strlen(open); *s != '<'; s++)
			assert_true((unsigned char)*s >= 0x80 || *s == '&' || *s == '#' ||
				    *s == ';' || strchr(letters, *s | 0x20));
		assert_int_equal(strncmp(s, close, strlen(close)), 0);
		return s + strlen(close);
	}
	size_t n = run_of(s, '`');
	if (!n)
		return NULL;
	for (const char *end = s + n; *end;) {
		size_t more = run_of(end, '`');
		if (more == n)
			return end + n;
		end += more ? more : 1;
	}
	return NULL;
}

/* Of one marker of a block at s, with what is before it: "  - ", "1. ", "### ", "> ". */
static size_t block_marker(const char *s)
{
	size_t at = strspn(s, " "), n = strspn(s + at, "0123456789");

	if (s[at] == '>' || s[at] == '|')
		return at + 1;
	if (n && (s[at + n] == '.' || s[at + n] == ')'))
		n++;
	else
		n = s[at] == '#' ? run_of(s + at, '#') : strspn(s + at, "-+*=_/");
	return n && (s[at] == '/' || !s[at + n] || s[at + n] == ' ') ? at + n : 0;
}

static void line_marks(const char *line, struct text *marks)
{
	bool row = line[strspn(line, " ")] == '|';
	const char *all = line;

	for (size_t n; !row && (n = block_marker(line)); line += n)
		text_addn(marks, line, n);
	text_add(marks, "\t");
	while (*line) {
		const char *end = code_end(line);
		bool alone = line > all && line[-1] == ' ' && (line[1] == ' ' || !line[1]);

		if (end) {
			/* Cells are parted before code spans are found. */
			for (; row && line < end; line++)
				assert_true(*line != '|');
			line = end;
			continue;
		}
		/* "a * b" and "a < b" are no markup. */
		if (alone && strchr("*<", *line)) {
			line++;
			continue;
		}
		if (strchr("`\\*_[]<|~@$^", *line) || !strncmp(line, "://", 3) ||
		    !strncmp(line, "www.", 4) ||
		    (strchr("&#!%", *line) && strchr(letters, line[1] | 0x20)))
			text_addn(marks, line, 1);
		line++;
	}
	text_add(marks, "\n");
}

void markdown_markup(const char *markdown, struct text *marks)
{
	char *copy = strdup(markdown), *rest = copy, *line;
	size_t fence = 0;

	assert_non_null(copy);
	while ((line = strsep(&rest, "\n"))) {
		const char *s = line + strspn(line, " ");
		size_t n = run_of(s, '`');

		if (fence) {
			if (n >= fence && !s[n + strspn(s + n, " ")])
				fence = 0;
			else
				assert_true(s - line >= 2);
			text_add(marks, fence ? "command\n" : "end\n");
		} else if (n >= 3 && !strcmp(s + n, "sh")) {
			fence = n;
			text_add(marks, "fence\n");
		} else {
			line_marks(line, marks);
		}
	}
	assert_int_equal(fence, 0);
	free(copy);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(struct text *t)
{
	free(t->data);
	memset(t, 0, sizeof(*t));
}

/* Makes room for `more` bytes and a NUL; false, and failed for good, when there is none. */
static bool reserve(struct text *t, size_t more)
{
	size_t cap = t->cap ? t->cap : 64;
	char *data;

	if (t->failed)
		return false;
	if (more >= SIZE_MAX / 2 - t->len) {
		t->failed = true;
		return false;
	}
	if (t->data && t->len + more < t->cap)
		return true;
	while (cap <= t->len + more)
		cap *= 2;
	data = realloc(t->data, cap);
	if (!data) {
		t->failed = true;
		return false;
	}
	t->data = data;
	t->cap = cap;
	return true;
}

void text_addn(struct text *t, const char *s, size_t len)
{
	if (!reserve(t, len))
		return;
	if (len)
		memcpy(t->data + t->len, s, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!reserve(t, 0))
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->data + t->len, t->cap - t->len, fmt, ap);
	va_end(ap);
	if (n < 0 || !reserve(t, (size_t)n)) {
		t->failed = true;
		if (t->data)
			t->data[t->len] = '\0';
		return;
	}
	va_start(ap, fmt);
	vsnprintf(t->data + t->len, t->cap - t->len, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void text_repeat(struct text *t, const char *s, unsigned int times)
{
	while (times-- && !t->failed)
		text_add(t, s);
}

size_t utf8_decode(const char *s, uint32_t *code_point)
{
	const unsigned char *u = (const unsigned char *)s;
	uint32_t c, least;
	size_t n;

	if (u[0] < 0x80) {
		*code_point = u[0];
		return u[0] ? 1 : 0;
	}
	if (u[0] >= 0xc2 && u[0] <= 0xdf) {
		n = 2, c = u[0] & 0x1fu, least = 0x80;
	} else if (u[0] >= 0xe0 && u[0] <= 0xef) {
		n = 3, c = u[0] & 0xfu, least = 0x800;
	} else if (u[0] >= 0xf0 && u[0] <= 0xf4) {
		n = 4, c = u[0] & 0x7u, least = 0x10000;
	} else {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		/* Stops at the NUL too, so nothing past the string is read. */
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3fu);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code_point = c;
	return n;
}

bool code_point_is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Bytes of the safe character at s, 0 when there is none; *skip: bytes to pass over then. */
static size_t safe_length(const char *s, size_t *skip)
{
	uint32_t c;
	size_t n = utf8_decode(s, &c);

	*skip = n ? n : 1;
	return n && !code_point_is_unsafe(c) ? n : 0;
}

static void add_hex_bytes(struct text *t, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_printf(t, "\\x%02x", (unsigned char)s[i]);
}

void text_add_escaped(struct text *t, const char *s)
{
	while (*s) {
		size_t skip, n = safe_length(s, &skip);

		if (n)
			text_addn(t, s, n);
		else
			add_hex_bytes(t, s, skip);
		s += skip;
	}
}

void text_make_printable(char *s)
{
	char *to = s;

	while (*s) {
		size_t skip, n = safe_length(s, &skip);

		if (n) {
			memmove(to, s, n);
			to += n;
		} else {
			*to++ = '?';
		}
		s += skip;
	}
	*to = '\0';
}

static bool is_shell_safe(const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_@%+=:,./-";

	return *s && !s[strspn(s, safe)];
}

void text_add_shell_word(struct text *t, const char *s)
{
	bool unsafe = false;

	if (is_shell_safe(s)) {
		text_add(t, s);
		return;
	}
	for (const char *p = s; *p;) {
		size_t skip;

		if (!safe_length(p, &skip))
			unsafe = true;
		p += skip;
	}
	/* $'...' spells control bytes out: pasted as they are, the terminal would act on them. */
	text_add(t, unsafe ? "$'" : "'");
	while (*s) {
		size_t skip, n = safe_length(s, &skip);

		if (!n)
			/* Three octal digits end by themselves; \x would swallow what follows. */
			for (size_t i = 0; i < skip; i++)
				text_printf(t, "\\%03o", (unsigned char)s[i]);
		else if (*s == '\'')
			text_add(t, unsafe ? "\\'" : "'\\''");
		else if (*s == '\\' && unsafe)
			text_add(t, "\\\\");
		else
			text_addn(t, s, n);
		s += skip;
	}
	text_add(t, "'");
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

char *next_line(char **cursor)
{
	char *line = *cursor, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end++ = '\0';
	else
		end = line + strlen(line);
	*cursor = end;
	return line;
}

char *next_word(char **cursor)
{
	char *word = *cursor, *end;

	if (!word)
		return NULL;
	while (is_space(*word))
		word++;
	if (!*word) {
		*cursor = word;
		return NULL;
	}
	for (end = word; *end && !is_space(*end);)
		end++;
	if (*end)
		*end++ = '\0';
	*cursor = end;
	return word;
}

char *trim(char *s)
{
	size_t n;

	while (is_space(*s))
		s++;
	n = strlen(s);
	while (n && is_space(s[n - 1]))
		s[--n] = '\0';
	return s;
}

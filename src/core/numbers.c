/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strict numbers for text.h: strtoul() takes signs and blanks, and wraps around. */
#include "src/core/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool only_space(const char *s)
{
	while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
		s++;
	return !*s;
}

/* Digits of s in `base` up to the first other character, which *end gets. */
static int take_digits(const char *s, int base, uint64_t *out, const char **end)
{
	const char *start = s;
	bool overflow = false;
	uint64_t v = 0;

	for (;; s++) {
		int d = hex_digit(*s);

		if (d < 0 || d >= base)
			break;
		overflow |= __builtin_mul_overflow(v, (uint64_t)base, &v);
		overflow |= __builtin_add_overflow(v, (uint64_t)d, &v);
	}
	*end = s;
	if (s == start)
		return -EINVAL;
	if (overflow)
		return -ERANGE;
	*out = v;
	return 0;
}

static int parse_unsigned(const char *s, int base, uint64_t *out)
{
	const char *end;
	uint64_t v = 0;
	int rc = take_digits(s, base, &v, &end);

	/* Not a number at all comes before a number too large. */
	if (!only_space(end))
		return -EINVAL;
	if (!rc)
		*out = v;
	return rc;
}

int parse_u64(const char *s, uint64_t *out)
{
	return s ? parse_unsigned(s, 10, out) : -EINVAL;
}

int parse_hex_u64(const char *s, uint64_t *out)
{
	if (!s)
		return -EINVAL;
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	return parse_unsigned(s, 16, out);
}

int parse_i64(const char *s, int64_t *out)
{
	bool negative;
	uint64_t v;
	int rc;

	if (!s)
		return -EINVAL;
	negative = *s == '-';
	rc = parse_unsigned(s + negative, 10, &v);
	if (rc)
		return rc;
	if (v > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	/* -v of INT64_MIN does not fit: negate one less. */
	*out = negative && v ? -(int64_t)(v - 1) - 1 : (int64_t)v;
	return 0;
}

/* [-]digits[.digits][e[+-]digits]: strtod() would also take "inf", "nan" and hex. */
static bool is_decimal(const char *s)
{
	s += *s == '-';
	if (!is_digit(*s))
		return false;
	while (is_digit(*s))
		s++;
	if (*s == '.') {
		if (!is_digit(*++s))
			return false;
		while (is_digit(*s))
			s++;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		if (!is_digit(*s))
			return false;
		while (is_digit(*s))
			s++;
	}
	return only_space(s);
}

int parse_f64(const char *s, double *out)
{
	locale_t c;
	double v;

	if (!s || !is_decimal(s))
		return -EINVAL;
	/* The user's locale may want a decimal comma; files and options use a point. */
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c)
		return -ENOMEM;
	v = strtod_l(s, NULL, c);
	freelocale(c);
	if (!isfinite(v))
		return -ERANGE;
	*out = v;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/text.h"
#include "src/core/value.h"

static const char *const unit_words[UNIT_COUNT_OF_UNITS] = {
	[UNIT_NONE] = "",
	[UNIT_COUNT] = "count",
	[UNIT_PACKETS] = "packets",
	[UNIT_BYTES] = "bytes",
	[UNIT_BITS_PER_SECOND] = "bit/s",
	[UNIT_MBIT_PER_SECOND] = "Mbit/s",
	[UNIT_MEGATRANSFERS] = "MT/s",
	[UNIT_MICROSECONDS] = "us",
	[UNIT_NANOSECONDS] = "ns",
	[UNIT_MILLISECONDS] = "ms",
	[UNIT_KILOHERTZ] = "kHz",
	[UNIT_SHARE] = "share",
	[UNIT_SECONDS] = "s",
	[UNIT_PER_SECOND] = "/s",
};

const char *unit_word(enum unit u)
{
	if ((unsigned int)u >= UNIT_COUNT_OF_UNITS)
		return "";
	return unit_words[u];
}

/* Decimals that make three significant digits of 0 <= v < 1000. */
static int decimals(double v)
{
	if (v >= 99.95)
		return 0;
	return v >= 9.995 ? 1 : 2;
}

/* Decimal prefixes, three significant digits; whole numbers below 1000 stay whole. */
static void format_prefixed(double v, const char *unit, char *buf, size_t cap)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	const char *sign = v < 0 ? "-" : "";
	size_t p = 0;

	if (!isfinite(v)) {
		snprintf(buf, cap, "? %s", unit);
		return;
	}
	v = fabs(v);
	/* 999.5 rounds to 1000: already the next prefix. */
	while (v >= 999.5 && p + 1 < ARRAY_SIZE(prefixes)) {
		v /= 1000;
		p++;
	}
	snprintf(buf, cap, "%s%.*f %s%s", sign, !p && v == floor(v) ? 0 : decimals(v), v,
		 prefixes[p], unit);
}

void format_rate(double bits_per_second, char *buf, size_t cap)
{
	format_prefixed(bits_per_second, "bit/s", buf, cap);
}

void format_bytes(double bytes, char *buf, size_t cap)
{
	format_prefixed(bytes, "B", buf, cap);
}

static void format_time(double seconds, char *buf, size_t cap)
{
	static const struct { double scale; const char *unit; } steps[] = {
		{ 1, "s" }, { 1e3, "ms" }, { 1e6, "us" }, { 1e9, "ns" },
	};
	double size = fabs(seconds);
	size_t i = 0;

	if (size == 0 || !isfinite(seconds)) {
		snprintf(buf, cap, "%s s", size == 0 ? "0" : "?");
		return;
	}
	while (i + 1 < ARRAY_SIZE(steps) && size * steps[i].scale < 0.9995)
		i++;
	seconds *= steps[i].scale;
	size *= steps[i].scale;
	snprintf(buf, cap, "%.*f %s", fabs(size - round(size)) < 1e-9 ? 0 : decimals(size), seconds,
		 steps[i].unit);
}

static void format_share(double v, char *buf, size_t cap)
{
	double percent = v * 100;

	if (!isfinite(v))
		snprintf(buf, cap, "? %%");
	else if (fabs(percent) >= 9.95 || percent == 0)
		snprintf(buf, cap, "%.0f %%", percent);
	else if (fabs(percent) >= 0.095)
		snprintf(buf, cap, "%.1f %%", percent);
	else
		/* Loss matters far below a percent: never round it to nothing. */
		snprintf(buf, cap, "%.2g %%", percent);
}

static void format_plain(double v, const char *unit, char *buf, size_t cap)
{
	const char *gap = *unit ? " " : "";

	if (!isfinite(v))
		snprintf(buf, cap, "?%s%s", gap, unit);
	else if (v == floor(v))
		snprintf(buf, cap, "%.0f%s%s", v, gap, unit);
	else
		snprintf(buf, cap, "%.*f%s%s", fabs(v) < 1000 ? decimals(fabs(v)) : 0, v, gap,
			 unit);
}

void format_quantity(double value, enum unit u, char *buf, size_t cap)
{
	switch (u) {
	case UNIT_BITS_PER_SECOND:
		format_rate(value, buf, cap);
		break;
	case UNIT_MBIT_PER_SECOND:
		format_rate(value * 1e6, buf, cap);
		break;
	case UNIT_BYTES:
		format_bytes(value, buf, cap);
		break;
	case UNIT_KILOHERTZ:
		format_prefixed(value * 1e3, "Hz", buf, cap);
		break;
	case UNIT_MEGATRANSFERS:
		/* Spoken of as 2.5, 8, 16 GT/s: %g keeps it short. */
		if (isfinite(value))
			snprintf(buf, cap, "%.4g GT/s", value / 1000);
		else
			snprintf(buf, cap, "? GT/s");
		break;
	case UNIT_NANOSECONDS:
		format_time(value / 1e9, buf, cap);
		break;
	case UNIT_MICROSECONDS:
		format_time(value / 1e6, buf, cap);
		break;
	case UNIT_MILLISECONDS:
		format_time(value / 1e3, buf, cap);
		break;
	case UNIT_SECONDS:
		format_time(value, buf, cap);
		break;
	case UNIT_PER_SECOND:
		format_prefixed(value, "/s", buf, cap);
		break;
	case UNIT_SHARE:
		format_share(value, buf, cap);
		break;
	case UNIT_PACKETS:
		format_plain(value, "packets", buf, cap);
		break;
	default:
		format_plain(value, "", buf, cap);
		break;
	}
}

/* Splits "9.4G" into a number and the letters behind it. */
static int split_number(const char *s, double *number, const char **suffix)
{
	char digits[64];
	size_t n = s ? strspn(s, "0123456789.") : 0;

	/* "1e9": an exponent belongs to the number, "1E" (exa) does not. */
	if (n && s && (s[n] == 'e' || s[n] == 'E') && s[n + 1] >= '0' && s[n + 1] <= '9')
		n += 1 + strspn(s + n + 1, "0123456789");
	if (!n || n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, s, n);
	digits[n] = '\0';
	*suffix = s + n;
	return parse_f64(digits, number);
}

/* Power of the prefix at *s ("k" 1, "M" 2 ...), which is passed over; 0 without one. */
static unsigned int take_prefix(const char **s)
{
	static const char letters[] = "kmgtKMGT";
	const char *found = **s ? strchr(letters, **s) : NULL;

	if (!found)
		return 0;
	(*s)++;
	return (unsigned int)(found - letters) % 4 + 1;
}

static int scale(double number, double base, unsigned int power, uint64_t *out)
{
	while (power--)
		number *= base;
	number = round(number);
	/* 2^64 as a double; the cast of anything from there on is undefined. */
	if (!(number >= 0) || number >= 18446744073709551616.0)
		return -ERANGE;
	*out = (uint64_t)number;
	return 0;
}

static bool is_one_of(const char *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s, words[i]))
			return true;
	return false;
}

/* A number, a prefix and one of the endings. */
static int parse_scaled(const char *s, double base, const char *const *endings, size_t nendings,
			uint64_t *out)
{
	const char *suffix;
	unsigned int power;
	double number;
	int rc = split_number(s, &number, &suffix);

	if (rc)
		return rc;
	power = take_prefix(&suffix);
	if (!is_one_of(suffix, endings, nendings))
		return -EINVAL;
	/* Without prefix and ending doubles would round what u64 holds exactly. */
	if (!power && !parse_u64(s, out))
		return 0;
	return scale(number, base, power, out);
}

int parse_rate(const char *s, uint64_t *bits_per_second)
{
	static const char *const endings[] = { "", "bit", "bit/s", "bps", "b/s" };

	return parse_scaled(s, 1000, endings, ARRAY_SIZE(endings), bits_per_second);
}

int parse_size(const char *s, uint64_t *bytes)
{
	static const char *const endings[] = { "", "B", "iB" };

	return parse_scaled(s, 1024, endings, ARRAY_SIZE(endings), bytes);
}

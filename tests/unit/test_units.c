/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/value.h"
#include "tests/unit/core_test.h"

static void every_unit_has_a_word(void **state)
{
	(void)state;
	assert_string_equal(unit_word(UNIT_NONE), "");
	for (int u = UNIT_NONE + 1; u < UNIT_COUNT_OF_UNITS; u++)
		assert_true(strlen(unit_word((enum unit)u)) > 0);
	assert_string_equal(unit_word(UNIT_BITS_PER_SECOND), "bit/s");
	assert_string_equal(unit_word((enum unit)999), "");
}

static void rates_have_three_digits(void **state)
{
	static const struct { double v; const char *text; } cases[] = {
		{ 0, "0 bit/s" },		{ 1, "1 bit/s" },
		{ 512, "512 bit/s" },		{ 999, "999 bit/s" },
		{ 999.6, "1.00 kbit/s" },	{ 1000, "1.00 kbit/s" },
		{ 9.41e9, "9.41 Gbit/s" },	{ 9.9949e9, "9.99 Gbit/s" },
		{ 9.996e9, "10.0 Gbit/s" },	{ 99.96e9, "100 Gbit/s" },
		{ 940e6, "940 Mbit/s" },	{ 999.6e6, "1.00 Gbit/s" },
		{ 25e9, "25.0 Gbit/s" },	{ 400e9, "400 Gbit/s" },
		{ 1.6e12, "1.60 Tbit/s" },	{ -25e9, "-25.0 Gbit/s" },
		{ 1e22, "10000 Ebit/s" },	{ 0.5, "0.50 bit/s" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		format_rate(cases[i].v, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].text);
	}
	format_rate(NAN, buf, sizeof(buf));
	assert_string_equal(buf, "? bit/s");
	format_rate(INFINITY, buf, sizeof(buf));
	assert_string_equal(buf, "? bit/s");
}

static void bytes_are_decimal(void **state)
{
	char buf[32];

	(void)state;
	format_bytes(4194304, buf, sizeof(buf));
	assert_string_equal(buf, "4.19 MB");
	format_bytes(16384, buf, sizeof(buf));
	assert_string_equal(buf, "16.4 kB");
	format_bytes(512, buf, sizeof(buf));
	assert_string_equal(buf, "512 B");
	format_bytes(512, buf, 3);
	assert_string_equal(buf, "51");
}

static void quantities_read_well(void **state)
{
	static const struct { double v; enum unit u; const char *text; } cases[] = {
		{ 0.97, UNIT_SHARE, "97 %" },		{ 1, UNIT_SHARE, "100 %" },
		{ 0.034, UNIT_SHARE, "3.4 %" },		{ 0, UNIT_SHARE, "0 %" },
		{ 0.00012, UNIT_SHARE, "0.012 %" },	{ 1e-6, UNIT_SHARE, "0.0001 %" },
		{ 25000, UNIT_MBIT_PER_SECOND, "25.0 Gbit/s" },
		{ 8000, UNIT_MEGATRANSFERS, "8 GT/s" },	{ 2500, UNIT_MEGATRANSFERS, "2.5 GT/s" },
		{ 3400000, UNIT_KILOHERTZ, "3.40 GHz" },
		{ 250, UNIT_MICROSECONDS, "250 us" },	{ 1500, UNIT_MICROSECONDS, "1.50 ms" },
		{ 999.7, UNIT_MICROSECONDS, "1.00 ms" },	{ 0, UNIT_MICROSECONDS, "0 s" },
		{ 12345, UNIT_NANOSECONDS, "12.3 us" },	{ 2000, UNIT_MILLISECONDS, "2 s" },
		{ 7, UNIT_COUNT, "7" },			{ 1234567, UNIT_COUNT, "1234567" },
		{ 2.5, UNIT_COUNT, "2.50" },		{ 1000, UNIT_PACKETS, "1000 packets" },
		{ 81300, UNIT_PER_SECOND, "81.3 k/s" },	{ 1448, UNIT_BYTES, "1.45 kB" },
	};
	char buf[40];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		format_quantity(cases[i].v, cases[i].u, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].text);
	}
	for (int u = 0; u < UNIT_COUNT_OF_UNITS; u++) {
		format_quantity(NAN, (enum unit)u, buf, sizeof(buf));
		assert_null(strstr(buf, "nan"));
		/* The longest double there is must not write past a small buffer. */
		format_quantity(-1.7e308, (enum unit)u, buf, sizeof(buf));
		assert_true(strlen(buf) < sizeof(buf));
	}
}

static void rates_parse(void **state)
{
	static const struct { const char *text; uint64_t v; } cases[] = {
		{ "25G", 25000000000 },		{ "9.4G", 9400000000 },
		{ "940M", 940000000 },		{ "100000k", 100000000 },
		{ "1e9", 1000000000 },		{ "10Gbit/s", 10000000000 },
		{ "10Gbit", 10000000000 },	{ "1Tbps", 1000000000000 },
		{ "0", 0 },			{ "1.5", 2 },
		{ "1.6T", 1600000000000 },	{ "2.5e3M", 2500000000 },
	};
	static const char *const bad[] = {
		"", "G", "-1G", "+1G", "1GG", "1 G", "1G ", "1.2.3G", "1E", "1B", "nan", "inf",
		"0x10", "1e", "1,5G", "1Gbyte",
	};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		v = 99;
		assert_int_equal(parse_rate(cases[i].text, &v), 0);
		assert_true(v == cases[i].v);
	}
	v = 99;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_rate(bad[i], &v), -EINVAL);
	assert_int_equal(parse_rate(NULL, &v), -EINVAL);
	assert_int_equal(parse_rate("1e20", &v), -ERANGE);
	assert_int_equal(parse_rate("18446744073709551616", &v), -ERANGE);
	assert_int_equal(parse_rate("1e999", &v), -ERANGE);
	assert_int_equal(v, 99);
}

static void sizes_parse(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(parse_size("128K", &v), 0);
	assert_int_equal(v, 131072);
	assert_int_equal(parse_size("4M", &v), 0);
	assert_int_equal(v, 4194304);
	assert_int_equal(parse_size("1.5k", &v), 0);
	assert_int_equal(v, 1536);
	assert_int_equal(parse_size("2GiB", &v), 0);
	assert_true(v == UINT64_C(2) << 30);
	assert_int_equal(parse_size("1448", &v), 0);
	assert_int_equal(v, 1448);
	/* Beyond a double's 53 bits, still exact. */
	assert_int_equal(parse_size("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(parse_size("18446744073709551616", &v), -ERANGE);
	assert_int_equal(parse_size("99999999T", &v), -ERANGE);
	assert_int_equal(parse_size("1bit", &v), -EINVAL);
	assert_int_equal(parse_size("-1", &v), -EINVAL);
	assert_int_equal(parse_size("", &v), -EINVAL);
	assert_int_equal(parse_size(NULL, &v), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_unit_has_a_word),
		cmocka_unit_test(rates_have_three_digits),
		cmocka_unit_test(bytes_are_decimal),
		cmocka_unit_test(quantities_read_well),
		cmocka_unit_test(rates_parse),
		cmocka_unit_test(sizes_parse),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}

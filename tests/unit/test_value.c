/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/core_test.h"

static void words_go_both_ways(void **state)
{
	enum nd_known k;

	(void)state;
	for (unsigned int i = 0; i < ND_KNOWN_STATES; i++) {
		k = ND_KNOWN_STATES;
		assert_int_equal(nd_known_from_word(nd_known_word((enum nd_known)i), &k), 0);
		assert_int_equal(k, i);
	}
	assert_string_equal(nd_known_word(ND_NOT_PERMITTED), "not-permitted");
	assert_string_equal(nd_known_word((enum nd_known)77), "invalid");
	assert_int_equal(nd_known_from_word("", &k), -EINVAL);
	assert_int_equal(nd_known_from_word("Known", &k), -EINVAL);
	assert_int_equal(nd_known_from_word("known ", &k), -EINVAL);
	assert_int_equal(nd_known_from_word(NULL, &k), -EINVAL);
}

static void zeroed_means_unread(void **state)
{
	struct nd_u64 u = { 0 };
	struct nd_str s = { 0 };
	struct nd_bool b = { 0 };

	(void)state;
	assert_int_equal(u.k, ND_UNREAD);
	assert_false(nd_u64_is(u, 0));
	assert_false(nd_str_is(s, ""));
	assert_false(nd_is_true(b));
	assert_false(nd_is_false(b));
}

static void errnos_are_sorted(void **state)
{
	static const struct { int err; enum nd_known k; } cases[] = {
		{ EPERM, ND_NOT_PERMITTED },	{ EACCES, ND_NOT_PERMITTED },
		{ ENOENT, ND_ABSENT },		{ ENODEV, ND_ABSENT },
		{ EOPNOTSUPP, ND_NOT_SUPPORTED }, { ENOSYS, ND_NOT_SUPPORTED },
		{ EINVAL, ND_INVALID },		{ EFBIG, ND_INVALID },
		{ EIO, ND_FAILED },		{ ETIMEDOUT, ND_FAILED },
		{ 0, ND_FAILED },		{ 12345, ND_FAILED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(nd_known_from_errno(cases[i].err), cases[i].k);
}

static void unknown_equals_nothing(void **state)
{
	(void)state;
	assert_true(nd_u64_is(nd_u64(5), 5));
	assert_false(nd_u64_is(nd_u64(5), 6));
	assert_false(nd_u64_is(nd_u64_unknown(ND_ABSENT), 0));
	assert_true(nd_str_is(nd_str("veth"), "veth"));
	assert_false(nd_str_is(nd_str("veth"), "vet"));
	assert_false(nd_str_is(nd_str_unknown(ND_ABSENT), ""));
	assert_false(nd_str_is(nd_str("x"), NULL));
	assert_false(nd_str_is(nd_str(NULL), "x"));
	assert_true(nd_is_true(nd_bool(true)));
	assert_false(nd_is_true(nd_bool(false)));
	assert_true(nd_is_false(nd_bool(false)));
	assert_false(nd_is_false(nd_bool_unknown(ND_FAILED)));
}

static void lists_parse(void **state)
{
	struct nd_cpus m;

	(void)state;
	assert_int_equal(nd_cpus_parse_list("0-3,8\n", &m), 0);
	assert_int_equal(m.k, ND_KNOWN);
	assert_int_equal(nd_cpus_count(&m), 5);
	assert_true(nd_cpus_has(&m, 3));
	assert_false(nd_cpus_has(&m, 4));
	assert_true(nd_cpus_has(&m, 8));
	assert_false(nd_cpus_has(&m, ND_MAX_CPUS));
	assert_int_equal(nd_cpus_parse_list("1023", &m), 0);
	assert_true(nd_cpus_has(&m, 1023));
	/* A CPU-less memory node has an empty list: that is known. */
	assert_int_equal(nd_cpus_parse_list("\n", &m), 0);
	assert_int_equal(m.k, ND_KNOWN);
	assert_int_equal(nd_cpus_count(&m), 0);
}

static void bad_lists_are_invalid(void **state)
{
	static const struct { const char *text; int rc; } cases[] = {
		{ "a", -EINVAL }, { "-1", -EINVAL }, { "1-", -EINVAL }, { "3-1", -EINVAL },
		{ "1,", -EINVAL }, { ",1", -EINVAL }, { "1,,2", -EINVAL }, { "1 2", -EINVAL },
		{ " 1", -EINVAL }, { "0-31:2/8", -EINVAL }, { "1024", -ERANGE },
		{ "0-1024", -ERANGE }, { "0-4294967296", -ERANGE }, { "4294967296", -ERANGE },
		{ "99999999999999999999999", -ERANGE }, { NULL, -EINVAL },
	};
	struct nd_cpus m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(&m, 0xff, sizeof(m));
		assert_int_equal(nd_cpus_parse_list(cases[i].text, &m), cases[i].rc);
		assert_int_equal(m.k, ND_INVALID);
		assert_int_equal(nd_cpus_count(&m), 0);
		assert_false(nd_cpus_has(&m, 0));
	}
}

static void masks_parse(void **state)
{
	struct nd_cpus m;

	(void)state;
	assert_int_equal(nd_cpus_parse_mask("ff,00000000\n", &m), 0);
	assert_int_equal(nd_cpus_count(&m), 8);
	assert_false(nd_cpus_has(&m, 31));
	assert_true(nd_cpus_has(&m, 32));
	assert_true(nd_cpus_has(&m, 39));
	assert_int_equal(nd_cpus_parse_mask("0", &m), 0);
	assert_int_equal(m.k, ND_KNOWN);
	assert_int_equal(nd_cpus_count(&m), 0);
	assert_int_equal(nd_cpus_parse_mask("80000000,00000001", &m), 0);
	assert_true(nd_cpus_has(&m, 63));
	assert_true(nd_cpus_has(&m, 0));
	assert_int_equal(nd_cpus_count(&m), 2);
	assert_int_equal(nd_cpus_parse_mask("aB", &m), 0);
	assert_int_equal(nd_cpus_count(&m), 5);
}

static void wide_masks_parse(void **state)
{
	char text[33 * 9 + 2] = "";
	struct nd_cpus m;

	(void)state;
	/* CPU 1023 is the top bit of 32 groups; a 33rd may be there but must be empty. */
	strcat(text, "80000000");
	for (unsigned int i = 1; i < 32; i++)
		strcat(text, ",00000000");
	assert_int_equal(nd_cpus_parse_mask(text, &m), 0);
	assert_true(nd_cpus_has(&m, 1023));
	assert_int_equal(nd_cpus_count(&m), 1);
	memmove(text + 9, text, strlen(text) + 1);
	memcpy(text, "00000000,", 9);
	assert_int_equal(nd_cpus_parse_mask(text, &m), 0);
	assert_true(nd_cpus_has(&m, 1023));
	text[7] = '1';
	assert_int_equal(nd_cpus_parse_mask(text, &m), -ERANGE);
	assert_int_equal(m.k, ND_INVALID);
}

static void bad_masks_are_invalid(void **state)
{
	static const char *const cases[] = {
		"", "\n", ",", "1,", ",1", "g", "0x1", "1,,1", "123456789", "-1", "1 1", NULL,
	};
	struct nd_cpus m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(nd_cpus_parse_mask(cases[i], &m), -EINVAL);
		assert_int_equal(m.k, ND_INVALID);
		assert_int_equal(nd_cpus_count(&m), 0);
	}
}

static void lists_are_written(void **state)
{
	struct nd_cpus m;
	char buf[64];

	(void)state;
	nd_cpus_parse_list("0,1,2,3,8,10-11,1022,1023", &m);
	nd_cpus_format_list(&m, buf, sizeof(buf));
	assert_string_equal(buf, "0-3,8,10-11,1022-1023");
	/* Never half a number. */
	nd_cpus_format_list(&m, buf, 9);
	assert_string_equal(buf, "0-3,8");
	nd_cpus_format_list(&m, buf, 1);
	assert_string_equal(buf, "");
	buf[0] = 'x';
	nd_cpus_format_list(&m, buf, 0);
	assert_int_equal(buf[0], 'x');
	m.k = ND_ABSENT;
	nd_cpus_format_list(&m, buf, sizeof(buf));
	assert_string_equal(buf, "");
}

static void setting_too_high_voids_the_mask(void **state)
{
	struct nd_cpus m = { .k = ND_UNREAD };

	(void)state;
	nd_cpus_set(&m, 7);
	assert_int_equal(m.k, ND_KNOWN);
	nd_cpus_set(&m, ND_MAX_CPUS);
	assert_int_equal(m.k, ND_INVALID);
	nd_cpus_set(&m, 8);
	assert_int_equal(m.k, ND_INVALID);
	assert_false(nd_cpus_has(&m, 7));
}

static void random_masks_survive(void **state)
{
	uint64_t seed = 1;
	struct nd_cpus m, back;
	char list[6144], mask[32 * 9 + 1];

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t len = 0;

		memset(&m, 0, sizeof(m));
		m.k = ND_KNOWN;
		for (size_t i = 0; i < ARRAY_SIZE(m.bits); i++)
			m.bits[i] = next_random(&seed) & next_random(&seed);
		nd_cpus_format_list(&m, list, sizeof(list));
		assert_int_equal(nd_cpus_parse_list(list, &back), 0);
		assert_memory_equal(&m, &back, sizeof(m.bits));
		for (int group = 31; group >= 0; group--)
			len += (size_t)snprintf(mask + len, sizeof(mask) - len, "%s%08x",
						group == 31 ? "" : ",",
						(uint32_t)(m.bits[group / 2] >> group % 2 * 32));
		assert_int_equal(nd_cpus_parse_mask(mask, &back), 0);
		assert_memory_equal(&m, &back, sizeof(m.bits));
	}
}

static void random_text_is_judged(void **state)
{
	static const char list_letters[] = "0123456789,,--\n";
	static const char mask_letters[] = "0123456789abcdefF,,\n";
	uint64_t seed = 2;
	struct nd_cpus m;
	char text[64];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		int rc;

		random_text(&seed, list_letters, sizeof(list_letters) - 1, text, sizeof(text));
		rc = nd_cpus_parse_list(text, &m);
		assert_int_equal(m.k, rc ? ND_INVALID : ND_KNOWN);
		random_text(&seed, mask_letters, sizeof(mask_letters) - 1, text, sizeof(text));
		rc = nd_cpus_parse_mask(text, &m);
		assert_int_equal(m.k, rc ? ND_INVALID : ND_KNOWN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_go_both_ways),
		cmocka_unit_test(zeroed_means_unread),
		cmocka_unit_test(errnos_are_sorted),
		cmocka_unit_test(unknown_equals_nothing),
		cmocka_unit_test(lists_parse),
		cmocka_unit_test(bad_lists_are_invalid),
		cmocka_unit_test(masks_parse),
		cmocka_unit_test(wide_masks_parse),
		cmocka_unit_test(bad_masks_are_invalid),
		cmocka_unit_test(lists_are_written),
		cmocka_unit_test(setting_too_high_voids_the_mask),
		cmocka_unit_test(random_masks_survive),
		cmocka_unit_test(random_text_is_judged),
	};

	return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}

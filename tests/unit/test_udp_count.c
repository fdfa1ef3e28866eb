/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a datagram, and what a receiver counts, over traces that tests write down. */
#include "src/load/udp_count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/load/udp_header.h"

enum { BYTES = 100 };

static void take_at(struct udp_count *c, uint64_t number, uint64_t sent_us, uint64_t now_us)
{
	unsigned char datagram[BYTES] = { 0 };
	struct udp_header h = { (uint32_t)(sent_us / 1000000), (uint32_t)(sent_us % 1000000),
				number };

	udp_header_put(datagram, &h, c->wide);
	udp_count_add(c, datagram, sizeof(datagram), now_us);
}

static void take(struct udp_count *c, uint64_t number)
{
	take_at(c, number, 0, 0);
}

static void take_range(struct udp_count *c, uint64_t from, uint64_t to)
{
	for (uint64_t n = from; n <= to; n++)
		take(c, n);
}

static void assert_counts(const struct udp_count *c, uint64_t packets, uint64_t lost,
			  uint64_t out_of_order, uint64_t duplicates)
{
	assert_int_equal(c->packets, packets);
	assert_int_equal(c->bytes, packets * BYTES);
	assert_int_equal(udp_count_lost(c), lost);
	assert_int_equal(c->out_of_order, out_of_order);
	assert_int_equal(c->duplicates, duplicates);
}

static void test_header_is_big_endian(void **state)
{
	static const unsigned char wire[UDP_HEADER64_BYTES] = {
		0x01, 0x02, 0x03, 0x04, 0x00, 0x0f, 0x42, 0x3f,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88
	};
	struct udp_header h = { 0x01020304, 999999, UINT64_C(0x1122334455667788) }, back;
	unsigned char buf[UDP_HEADER64_BYTES + 1] = { 0 };

	(void)state;
	udp_header_put(buf + 1, &h, true);
	assert_memory_equal(buf + 1, wire, sizeof(wire));
	assert_true(udp_header_get(wire, sizeof(wire), true, &back));
	assert_memory_equal(&back, &h, sizeof(h));
	assert_false(udp_header_get(wire, 15, true, &back));
	memset(buf, 0, sizeof(buf));
	udp_header_put(buf, &h, false);
	assert_memory_equal(buf, wire, 8);
	assert_memory_equal(buf + 8, wire + 12, 4);	/* the low half */
	assert_int_equal(buf[12], 0);
	assert_true(udp_header_get(wire, 12, false, &back));
	assert_int_equal(back.number, 0x11223344);
	assert_false(udp_header_get(wire, 11, false, &back));
}

static void test_in_order(void **state)
{
	struct udp_count c;

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		udp_count_init(&c, wide);
		take_range(&c, 1, 3 * UDP_WINDOW_NUMBERS);
		assert_counts(&c, 3 * UDP_WINDOW_NUMBERS, 0, 0, 0);
	}
}

static void test_loss(void **state)
{
	struct udp_count c;

	(void)state;
	udp_count_init(&c, true);
	take_range(&c, 4, 10);		/* the first three never came */
	assert_counts(&c, 7, 3, 0, 0);
	take(&c, 12);
	take(&c, 15);
	assert_counts(&c, 9, 6, 0, 0);
	/* Longer than the window, twice. */
	take(&c, 15 + 5 * UDP_WINDOW_NUMBERS);
	take(&c, 15 + 6 * UDP_WINDOW_NUMBERS);
	assert_counts(&c, 11, 6 + 6 * UDP_WINDOW_NUMBERS - 2, 0, 0);
	/* Every seventh, over many turns of the window. */
	udp_count_init(&c, true);
	for (uint64_t n = 1; n <= 70000; n++)
		if (n % 7 != 3)
			take(&c, n);
	assert_counts(&c, 60000, 10000, 0, 0);
}

static void test_late_cancels_a_loss_once(void **state)
{
	struct udp_count c;

	(void)state;
	udp_count_init(&c, true);
	take(&c, 1);
	take_range(&c, 4, 6);
	assert_counts(&c, 4, 2, 0, 0);
	take(&c, 3);
	assert_counts(&c, 5, 1, 1, 0);
	take(&c, 3);
	assert_counts(&c, 5, 1, 1, 1);
	take(&c, 2);
	assert_counts(&c, 6, 0, 2, 1);
}

static void test_duplicate_is_no_late_one(void **state)
{
	struct udp_count c;

	(void)state;
	udp_count_init(&c, true);
	take_range(&c, 1, 10);
	take(&c, 10);
	take(&c, 1);
	take(&c, 7);
	assert_counts(&c, 10, 0, 0, 3);
	take(&c, 13);
	take(&c, 13);
	assert_counts(&c, 11, 2, 0, 4);
}

static void test_window_ends(void **state)
{
	const uint64_t top = 2 * UDP_WINDOW_NUMBERS + 5;
	struct udp_count c;

	(void)state;
	/* Nothing in between: the oldest that can still be told is late, the next older is not. */
	udp_count_init(&c, true);
	take(&c, 1);
	take(&c, top);
	take(&c, top - UDP_WINDOW_NUMBERS + 1);
	assert_counts(&c, 3, top - 3, 1, 0);
	take(&c, top - UDP_WINDOW_NUMBERS);
	assert_counts(&c, 3, top - 3, 1, 1);
	/* A bit of the turn before must not pass for this one's. */
	udp_count_init(&c, true);
	take_range(&c, 1, UDP_WINDOW_NUMBERS);
	take(&c, UDP_WINDOW_NUMBERS + 70);
	take(&c, UDP_WINDOW_NUMBERS + 1);
	take(&c, UDP_WINDOW_NUMBERS + 69);
	assert_counts(&c, UDP_WINDOW_NUMBERS + 3, 67, 2, 0);
}

/* Against the plain definition, for orders nobody thought of. */
static void test_any_order(void **state)
{
	enum { NUMBERS = 3000 };
	unsigned char times[NUMBERS + 1] = { 0 };
	uint64_t highest = 0, late = 0, twice = 0, distinct = 0;
	struct udp_count c;

	(void)state;
	srand(1);
	udp_count_init(&c, false);
	for (int i = 1; i <= NUMBERS; i++) {
		int n = i + rand() % 200 - 100;

		if (n < 1 || n > NUMBERS)
			continue;
		take(&c, (uint64_t)n);
		twice += times[n] > 0;
		late += times[n] == 0 && (uint64_t)n < highest;
		distinct += times[n]++ == 0;
		if ((uint64_t)n > highest)
			highest = (uint64_t)n;
	}
	assert_true(late > 100 && twice > 100);
	assert_counts(&c, distinct, highest - distinct, late, twice);
}

static void test_32_bit_numbers_wrap(void **state)
{
	struct udp_count c;

	(void)state;
	udp_count_init(&c, false);
	c.highest = UINT32_MAX - 3;	/* as after 2^32 datagrams */
	take(&c, UINT32_MAX - 2);
	take(&c, UINT32_MAX);		/* skips one */
	take(&c, 0);
	take(&c, 2);			/* skips one */
	assert_counts(&c, 4, 2, 0, 0);
	assert_int_equal(c.highest, (UINT64_C(1) << 32) + 2);
	take(&c, UINT32_MAX - 1);
	take(&c, 1);
	assert_counts(&c, 6, 0, 2, 0);
	take(&c, UINT32_MAX);
	assert_counts(&c, 6, 0, 2, 1);
}

static void test_hostile_numbers(void **state)
{
	static const uint64_t hostile[] = {
		0, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 5,
		UINT64_C(1) << 32, (UINT64_C(1) << 31) + 5, UINT64_C(0x6162636465666768)
	};
	unsigned char bytes[UDP_HEADER64_BYTES] = { 0 };
	struct udp_count c;
	size_t n = sizeof(hostile) / sizeof(hostile[0]);

	(void)state;
	udp_count_init(&c, true);
	/* As the very first datagrams, and in the middle. */
	for (size_t i = 0; i < n; i++)
		take(&c, hostile[i]);
	assert_counts(&c, 0, 0, 0, 0);
	assert_int_equal(c.foreign, n);
	take_range(&c, 1, 5);
	for (size_t i = 0; i < n; i++)
		take(&c, hostile[i]);
	take_range(&c, 6, 9);
	assert_counts(&c, 9, 0, 0, 0);
	assert_int_equal(c.foreign, 2 * n);
	for (size_t len = 0; len < sizeof(bytes); len++)
		udp_count_add(&c, bytes, len, 0);
	assert_int_equal(c.foreign, 2 * n + sizeof(bytes));
	assert_counts(&c, 9, 0, 0, 0);
}

/* A window: nothing that came before it counts, and what was lost before it may come in it. */
static void test_differences(void **state)
{
	struct udp_count c, before;

	(void)state;
	udp_count_init(&c, true);
	take_range(&c, 11, 1000);
	before = c;
	take_range(&c, 1003, 2000);
	assert_int_equal(c.packets - before.packets, 998);
	assert_int_equal(udp_count_lost(&c) - udp_count_lost(&before), 2);
	before = c;
	take(&c, 1001);
	assert_int_equal(c.skipped, before.skipped);
	assert_int_equal(c.out_of_order - before.out_of_order, 1);
}

static void test_jitter(void **state)
{
	struct udp_count c;
	uint64_t expected = 0;

	(void)state;
	/* An even stream has none, whatever the clocks' offset and the rate. */
	udp_count_init(&c, true);
	for (uint64_t n = 1; n <= 100; n++)
		take_at(&c, n, UINT64_C(4000000000000000) + n * 250, 777 + n * 250);
	assert_int_equal(c.packets, 100);
	assert_int_equal(udp_count_jitter_us(&c), 0);
	/* One datagram 1600 us late: up by 1/16 of the change, twice (going and coming back). */
	take_at(&c, 101, UINT64_C(4000000000000000) + 101 * 250, 777 + 101 * 250 + 1600);
	assert_int_equal(udp_count_jitter_us(&c), 100);
	take_at(&c, 102, UINT64_C(4000000000000000) + 102 * 250, 777 + 102 * 250);
	assert_int_equal(udp_count_jitter_us(&c), 193);	/* 100 + (1600 - 100) / 16 */
	/* Always 800 us of change: comes close to it, from the formula in the RFC. */
	udp_count_init(&c, true);
	for (uint64_t n = 1; n <= 200; n++) {
		take_at(&c, n, n * 1000, 5000000 + n * 1000 + (n & 1 ? 800 : 0));
		if (n > 1)
			expected += 800 - ((expected + 8) >> 4);
	}
	assert_int_equal(c.jitter_16us, expected);
	assert_in_range(udp_count_jitter_us(&c), 795, 805);
}

static void test_hostile_times(void **state)
{
	struct udp_count c;

	(void)state;
	udp_count_init(&c, true);
	for (uint64_t n = 1; n <= 1000; n++) {
		unsigned char datagram[UDP_HEADER64_BYTES];
		struct udp_header h = { n & 1 ? UINT32_MAX : 0, n & 2 ? UINT32_MAX : 0, n };

		udp_header_put(datagram, &h, true);
		udp_count_add(&c, datagram, sizeof(datagram), n & 4 ? UINT64_MAX / 4 : 0);
	}
	/* No sense, but no overflow either. */
	assert_true(c.jitter_16us < UINT64_MAX / 2);
	assert_int_equal(c.packets, 1000);
}

static void test_marks_bound_the_window(void **state)
{
	struct udp_count c;
	struct load_marked t;

	(void)state;
	udp_count_init(&c, true);
	udp_count_expect_marks(&c);
	take_range(&c, 1, 50);
	assert_false(udp_count_marked(&c, &t));
	/* 1 and 2 of the window are lost, one of before it is overtaken, 7 to 9 are lost. */
	take(&c, 3 | UDP_MARK_WINDOW);
	take(&c, 52);
	for (uint64_t n = 4; n <= 6; n++)
		take(&c, n | UDP_MARK_WINDOW);
	assert_true(udp_count_marked(&c, &t));
	assert_int_equal(t.packets, 4);
	assert_int_equal(t.skipped - t.out_of_order, 2);
	/* That the last are missing shows when what follows them comes; it is not counted. */
	take(&c, 9 | UDP_MARK_AFTER);
	take(&c, 9 | UDP_MARK_AFTER);
	take(&c, 8 | UDP_MARK_WINDOW);
	take(&c, 8 | UDP_MARK_WINDOW);
	assert_true(udp_count_marked(&c, &t));
	assert_int_equal(t.packets, 5);
	assert_int_equal(t.bytes, 5 * BYTES);
	assert_int_equal(t.skipped - t.out_of_order, 4);
	assert_int_equal(t.packets + t.skipped - t.out_of_order, 9);
	assert_int_equal(t.out_of_order, 1);
	assert_int_equal(t.duplicates, 1);
	/* Those of before stay counted, so that a window by the clock goes on as it was. */
	assert_int_equal(c.packets, 55);
}

static void test_marks_of_a_window_that_was_lost(void **state)
{
	struct udp_count c;
	struct load_marked t;

	(void)state;
	udp_count_init(&c, true);
	udp_count_expect_marks(&c);
	take(&c, 100 | UDP_MARK_AFTER);
	assert_true(udp_count_marked(&c, &t));
	assert_int_equal(t.packets, 0);
	assert_int_equal(t.skipped, 100);
	/* Hostile: both marks, or a last one that no window reaches. */
	take(&c, 5 | UDP_MARK_WINDOW | UDP_MARK_AFTER);
	take(&c, (UINT64_C(1) << 40) | UDP_MARK_AFTER);
	assert_true(udp_count_marked(&c, &t));
	assert_int_equal(t.packets, 0);
	assert_int_equal(t.skipped, 100);
	/* Nobody who did not agree to marks heeds them. */
	udp_count_init(&c, true);
	take(&c, 1 | UDP_MARK_WINDOW);
	assert_int_equal(c.foreign, 1);
	assert_false(udp_count_marked(&c, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_is_big_endian),
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_late_cancels_a_loss_once),
		cmocka_unit_test(test_duplicate_is_no_late_one),
		cmocka_unit_test(test_window_ends),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_32_bit_numbers_wrap),
		cmocka_unit_test(test_hostile_numbers),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_hostile_times),
		cmocka_unit_test(test_marks_bound_the_window),
		cmocka_unit_test(test_marks_of_a_window_that_was_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

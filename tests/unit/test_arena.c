/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/arena.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/core_test.h"

static void memory_is_zeroed_and_aligned(void **state)
{
	struct arena *a = arena_new(0);
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		size_t n = next_random(&seed) % 300;
		unsigned char *p = arena_alloc(a, n);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < n; j++)
			assert_int_equal(p[j], 0);
		memset(p, 0xa5, n);
	}
	arena_free(a);
}

static void allocations_do_not_overlap(void **state)
{
	enum { N = 500 };
	struct arena *a = arena_new(0);
	unsigned char *p[N];
	size_t size[N];
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < N; i++) {
		/* Some larger than any block, so that both kinds of block mix. */
		size[i] = next_random(&seed) % (i % 50 ? 700 : 70000);
		p[i] = arena_alloc(a, size[i]);
		assert_non_null(p[i]);
		memset(p[i], i % 251, size[i]);
	}
	for (int i = 0; i < N; i++)
		for (size_t j = 0; j < size[i]; j++)
			assert_int_equal(p[i][j], i % 251);
	arena_free(a);
}

static void limit_holds(void **state)
{
	struct arena *a = arena_new(1000);

	(void)state;
	assert_null(arena_alloc(a, 1001));
	assert_non_null(arena_alloc(a, 900));
	assert_null(arena_alloc(a, 200));
	/* Failing takes nothing. */
	assert_non_null(arena_alloc(a, 16));
	assert_true(arena_used(a) <= 1000);
	assert_null(arena_strdup(a, "a string of well more than the eighty bytes that are left "
				    "over in this arena, which has a limit of a thousand"));
	arena_free(a);
	arena_free(NULL);
}

static void absurd_sizes_fail(void **state)
{
	struct arena *a = arena_new(0);
	void *rows = NULL;
	size_t count = 0;

	(void)state;
	assert_null(arena_alloc(a, SIZE_MAX));
	assert_null(arena_alloc(a, SIZE_MAX - 8));
	assert_null(arena_alloc_array(a, SIZE_MAX / 2, 3));
	assert_null(arena_alloc_array(a, 3, SIZE_MAX / 2));
	assert_null(arena_append_row(a, &rows, &count, SIZE_MAX));
	assert_null(arena_append_row(a, &rows, &count, 0));
	assert_int_equal(count, 0);
	assert_null(rows);
	/* A count without rows: there is nothing to move. */
	count = 3;
	assert_null(arena_append_row(a, &rows, &count, sizeof(int)));
	assert_int_equal(count, 3);
	assert_null(rows);
	assert_int_equal(arena_used(a), 0);
	arena_free(a);
}

static void strings_are_copied(void **state)
{
	struct arena *a = arena_new(0);
	char text[] = "enp59s0f0";
	char unterminated[3] = { 'a', 'b', 'c' };
	char *s;

	(void)state;
	s = arena_strdup(a, text);
	text[0] = 'X';
	assert_string_equal(s, "enp59s0f0");
	assert_string_equal(arena_strndup(a, unterminated, 3), "abc");
	assert_string_equal(arena_strndup(a, "abcdef", 2), "ab");
	assert_string_equal(arena_strndup(a, "ab\0cd", 5), "ab");
	assert_string_equal(arena_strdup(a, ""), "");
	assert_string_equal(arena_printf(a, "%s[%d]", "rx", 7), "rx[7]");
	s = arena_printf(a, "%5000d", 1);
	assert_int_equal(strlen(s), 5000);
	arena_free(a);
}

struct row { uint64_t id; char pad[40]; };

static void rows_are_appended(void **state)
{
	struct arena *a = arena_new(0);
	struct row *rows = NULL, *other = NULL;
	size_t n = 0, nother = 0;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		struct row *r = arena_append_row(a, (void **)&rows, &n, sizeof(*r));

		assert_non_null(r);
		assert_ptr_equal(r, &rows[i]);
		assert_int_equal(r->id, 0);
		r->id = i;
		if (i % 3 == 0) {
			r = arena_append_row(a, (void **)&other, &nother, sizeof(*r));
			assert_non_null(r);
			r->id = ~i;
		}
	}
	assert_int_equal(n, 10000);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(rows[i].id, i);
	for (uint64_t i = 0; i < nother; i++)
		assert_int_equal(other[i].id, ~(i * 3));
	/* Doubling: all arrays that ever were take at most twice the last. */
	assert_true(arena_used(a) < 4 * (10000 + 3334) * sizeof(struct row));
	arena_free(a);
}

/* An array made with exactly enough room must be moved, not written past. */
static void foreign_arrays_grow_too(void **state)
{
	struct arena *a = arena_new(0);
	struct row *rows = arena_alloc_array(a, 5, sizeof(*rows)), *r;
	uint64_t *neighbour = arena_alloc(a, 1024);
	size_t n = 5;

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		rows[i].id = i;
	for (uint64_t i = 5; i < 20; i++) {
		r = arena_append_row(a, (void **)&rows, &n, sizeof(*rows));
		assert_non_null(r);
		memset(r, 0xff, sizeof(*r));
		r->id = i;
	}
	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(rows[i].id, i);
	for (size_t i = 0; i < 1024 / sizeof(*neighbour); i++)
		assert_int_equal(neighbour[i], 0);
	/* Taking the last row back and appending again gives a zeroed one. */
	n--;
	r = arena_append_row(a, (void **)&rows, &n, sizeof(*rows));
	assert_int_equal(r->id, 0);
	assert_int_equal(r->pad[39], 0);
	arena_free(a);
}

static void append_stops_at_the_limit(void **state)
{
	struct arena *a = arena_new(10 * sizeof(struct row));
	struct row *rows = NULL;
	size_t n = 0;

	(void)state;
	while (arena_append_row(a, (void **)&rows, &n, sizeof(*rows)))
		rows[n - 1].id = n;
	assert_true(n >= 4 && n < 10);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(rows[i].id, i + 1);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_aligned),
		cmocka_unit_test(allocations_do_not_overlap),
		cmocka_unit_test(limit_holds),
		cmocka_unit_test(absurd_sizes_fail),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(rows_are_appended),
		cmocka_unit_test(foreign_arrays_grow_too),
		cmocka_unit_test(append_stops_at_the_limit),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of src/core share: cmocka's includes and a generator with a fixed seed. */
#ifndef ND_TESTS_CORE_TEST_H
#define ND_TESTS_CORE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* splitmix64: the same numbers on every machine, so a failure can be repeated. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Fills text with up to cap - 1 characters: from `alphabet`, or any byte now and then. */
static inline size_t random_text(uint64_t *state, const char *alphabet, size_t letters, char *text,
				 size_t cap)
{
	size_t n = next_random(state) % cap;

	for (size_t i = 0; i < n; i++) {
		uint64_t r = next_random(state);

		text[i] = r % 16 ? alphabet[(r >> 8) % letters] : (char)(r >> 8 | 1);
		if (!text[i])
			text[i] = 1;
	}
	text[n] = '\0';
	return n;
}

#endif

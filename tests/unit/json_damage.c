/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/json_damage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/value.h"

static uint64_t next_random(uint64_t *seed)
{
	/* xorshift64: the same damage in every run */
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static cJSON *strange_value(uint64_t *seed)
{
	static const char *const values[] = {
		"null", "true", "[]", "{}", "-1", "0", "1e308", "18446744073709551615", "0.5",
		"\"\"", "\"18446744073709551616\"", "\"-0\"", "\"\\u0000x\"", "[[[]]]", "[null]",
		"{\"unknown\":\"known\"}", "{\"unknown\":\"reset\"}", "{\"unknown\":7}", "1023",
		"\"0-1023\"", "\"1024\"", "\"local\"",
	};

	return cJSON_Parse(values[next_random(seed) % ARRAY_SIZE(values)]);
}

/* Walks to the n-th node below obj and replaces it; counts down n. */
static bool replace_nth(cJSON *obj, uint64_t *n, uint64_t *seed)
{
	cJSON *item, *next;

	for (item = obj->child; item; item = next) {
		next = item->next;
		if ((*n)-- == 0) {
			/* A copy of the key: the old one goes with the old item. */
			char *key = item->string ? strdup(item->string) : NULL;

			if (key)
				cJSON_ReplaceItemInObjectCaseSensitive(obj, key,
								       strange_value(seed));
			else
				cJSON_ReplaceItemViaPointer(obj, item, strange_value(seed));
			free(key);
			return true;
		}
		if (replace_nth(item, n, seed))
			return true;
	}
	return false;
}

static uint64_t count_nodes(const cJSON *obj)
{
	uint64_t n = 0;

	for (const cJSON *item = obj->child; item; item = item->next)
		n += 1 + count_nodes(item);
	return n;
}

void json_damage(cJSON *obj, uint64_t *seed)
{
	uint64_t n = next_random(seed) % count_nodes(obj);

	assert_true(replace_nth(obj, &n, seed));
}

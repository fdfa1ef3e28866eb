/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_BLOCK_BYTES = 4096,
	LARGEST_BLOCK_BYTES = 1 << 20,
	FIRST_ROWS = 4
};

/*
 * Under AddressSanitizer every allocation is a block of its own, so that a write
 * past its end is seen; a shared block would hide it.
 */
#if defined(__SANITIZE_ADDRESS__)
#define ONE_BLOCK_EACH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONE_BLOCK_EACH 1
#endif
#endif
#ifndef ONE_BLOCK_EACH
#define ONE_BLOCK_EACH 0
#endif

struct block {
	struct block *next;
	size_t size, used;
	max_align_t data[];
};

/* Room of one array that arena_append_row() made: its owner only knows the count. */
struct growing {
	struct growing *next;
	void *rows;
	size_t bytes;
};

struct arena {
	struct block *blocks;	/* the newest first; only it has room worth using */
	struct growing *growing;
	size_t limit, used, next_block;
};

struct arena *arena_new(size_t limit_bytes)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->limit = limit_bytes;
	a->next_block = FIRST_BLOCK_BYTES;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->blocks) {
		struct block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	free(a);
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}

static struct block *new_block(struct arena *a, size_t need)
{
	size_t size = need;
	struct block *b;

	if (!ONE_BLOCK_EACH && need < a->next_block) {
		size = a->next_block - sizeof(struct block);
		if (size < need)
			size = need;
	}
	b = calloc(1, sizeof(*b) + size);
	if (!b)
		return NULL;
	b->size = size;
	if (a->next_block < LARGEST_BLOCK_BYTES)
		a->next_block *= 2;
	/* A block made for one big allocation is full: keep filling the current one. */
	if (a->blocks && size == need) {
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		b->next = a->blocks;
		a->blocks = b;
	}
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	const size_t align = _Alignof(max_align_t);
	struct block *b = a->blocks;
	size_t need;
	void *p;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	need = bytes ? (bytes + align - 1) / align * align : align;
	if (a->limit && (need > a->limit || a->used > a->limit - need))
		return NULL;
	if (!b || b->size - b->used < need) {
		b = new_block(a, need);
		if (!b)
			return NULL;
	}
	p = (char *)b->data + b->used;
	b->used += need;
	a->used += need;
	return p;
}

void *arena_alloc_array(struct arena *a, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	size_t n = strnlen(s, len);
	char *p = arena_alloc(a, n + 1);

	if (p)
		memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

static struct growing *find_growing(const struct arena *a, const void *rows)
{
	struct growing *g;

	for (g = a->growing; g; g = g->next)
		if (g->rows == rows)
			return g;
	return NULL;
}

/* Moves the array to twice the room; g is NULL for one that somebody else allocated. */
static struct growing *grow(struct arena *a, struct growing *g, const void *rows, size_t count,
			    size_t row_size)
{
	size_t capacity = count < FIRST_ROWS ? FIRST_ROWS : count;
	size_t bytes;
	void *moved;

	if (count >= FIRST_ROWS && __builtin_mul_overflow(capacity, 2, &capacity))
		return NULL;
	if (__builtin_mul_overflow(capacity, row_size, &bytes))
		return NULL;
	moved = arena_alloc(a, bytes);
	if (!moved)
		return NULL;
	if (count)
		memcpy(moved, rows, count * row_size);
	if (!g) {
		g = arena_alloc(a, sizeof(*g));
		if (!g)
			return NULL;
		g->next = a->growing;
		a->growing = g;
	}
	g->rows = moved;
	g->bytes = bytes;
	return g;
}

void *arena_append_row(struct arena *a, void **rows, size_t *count, size_t row_size)
{
	struct growing *g = *rows ? find_growing(a, *rows) : NULL;
	size_t end;
	void *row;

	if (!row_size || (*count && !*rows) || __builtin_mul_overflow(*count, row_size, &end) ||
	    end > SIZE_MAX - row_size)
		return NULL;
	if (!g || g->bytes < end + row_size) {
		g = grow(a, g, *rows, *count, row_size);
		if (!g)
			return NULL;
		*rows = g->rows;
	}
	row = (char *)*rows + end;
	/* The owner may have lowered the count: what lies there need not be zero. */
	memset(row, 0, row_size);
	(*count)++;
	return row;
}

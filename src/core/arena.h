/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arena: many allocations, one free.
 *
 * Facts, runs and diagnoses each live in one arena and are freed with it.
 * Memory is zeroed.  An arena belongs to one thread at a time.  Allocation
 * failure returns NULL; an arena may carry a byte limit so that a peer's data
 * cannot grow without bound.
 */
#ifndef ND_CORE_ARENA_H
#define ND_CORE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(size_t limit_bytes);	/* 0: no limit.  NULL when out of memory. */
void arena_free(struct arena *a);		/* NULL is fine */
size_t arena_used(const struct arena *a);

void *arena_alloc(struct arena *a, size_t bytes);	/* zeroed, max_align_t aligned */
void *arena_alloc_array(struct arena *a, size_t count, size_t size);	/* overflow checked */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Appends one zeroed row to an arena-owned array that doubles as it grows.
 * *rows may start NULL with *count 0.  The old array stays behind in the arena;
 * pointers into it go stale, so cross-reference rows by key.  NULL: no memory.
 */
void *arena_append_row(struct arena *a, void **rows, size_t *count, size_t row_size);

#endif

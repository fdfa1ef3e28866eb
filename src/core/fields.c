/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct section *schema_section(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->nsections; i++)
		if (!strcmp(s->sections[i].name, name))
			return &s->sections[i];
	return NULL;
}

const struct field *section_field(const struct section *s, const char *name)
{
	for (size_t i = 0; i < s->nfields; i++)
		if (!strcmp(s->fields[i].name, name))
			return &s->fields[i];
	return NULL;
}

size_t section_count(const struct section *s, const void *rec)
{
	size_t n;

	if (s->single)
		return 1;
	memcpy(&n, (const char *)rec + s->count_offset, sizeof(n));
	return n;
}

/* First row of the section, NULL when it has none. */
static void *section_rows(const struct section *s, const void *rec)
{
	void *rows;

	if (s->single)
		return (char *)rec + s->offset;
	memcpy(&rows, (const char *)rec + s->offset, sizeof(rows));
	return rows;
}

/* How many rows there are to read: a count without rows says nothing. */
static size_t rows_there(const struct section *s, const void *rec)
{
	return s->single || section_rows(s, rec) ? section_count(s, rec) : 0;
}

/* Rows are typed pointers in the record: all object pointers look alike on Linux. */
static void set_section_rows(const struct section *s, void *rec, void *rows, size_t n)
{
	memcpy((char *)rec + s->offset, &rows, sizeof(rows));
	memcpy((char *)rec + s->count_offset, &n, sizeof(n));
}

const void *section_row(const struct section *s, const void *rec, size_t i)
{
	const char *rows = section_rows(s, rec);

	return rows && i < section_count(s, rec) ? rows + i * s->row_size : NULL;
}

#define MEMBER(row_, field_, type_) ((type_ *)((char *)(row_) + (field_)->offset))
#define CONST_MEMBER(row_, field_, type_) \
	((const type_ *)((const char *)(row_) + (field_)->offset))
#define THREE_WAY(a_, b_) (((a_) > (b_)) - ((a_) < (b_)))

static int compare_strings(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return strcmp(a ? a : "", b ? b : "");
}

/* A total order of one member: by state first, then by value when known. */
static int compare_member(const struct field *f, const void *a, const void *b)
{
#define COMPARE(type_) do { \
		const type_ *x = CONST_MEMBER(a, f, type_), *y = CONST_MEMBER(b, f, type_); \
		if (x->k != y->k || x->k != ND_KNOWN) \
			return THREE_WAY(x->k, y->k); \
		return THREE_WAY(x->v, y->v); \
	} while (0)
	switch (f->kind) {
	case FIELD_U64:
		COMPARE(struct nd_u64);
	case FIELD_I64:
		COMPARE(struct nd_i64);
	case FIELD_F64:
		COMPARE(struct nd_f64);
	case FIELD_BOOL:
		COMPARE(struct nd_bool);
	case FIELD_STR: {
		const struct nd_str *x = CONST_MEMBER(a, f, struct nd_str);
		const struct nd_str *y = CONST_MEMBER(b, f, struct nd_str);

		if (x->k != y->k || x->k != ND_KNOWN)
			return THREE_WAY(x->k, y->k);
		return compare_strings(x->v, y->v);
	}
	case FIELD_CPUS: {
		const struct nd_cpus *x = CONST_MEMBER(a, f, struct nd_cpus);
		const struct nd_cpus *y = CONST_MEMBER(b, f, struct nd_cpus);

		if (x->k != y->k || x->k != ND_KNOWN)
			return THREE_WAY(x->k, y->k);
		return memcmp(x->bits, y->bits, sizeof(x->bits));
	}
	}
#undef COMPARE
	return 0;
}

static int compare_keys(const struct section *s, const void *a, const void *b)
{
	for (size_t i = 0; i < s->nfields; i++) {
		int order;

		if (!(s->fields[i].flags & FIELD_KEY))
			continue;
		order = compare_member(&s->fields[i], a, b);
		if (order)
			return order;
	}
	return 0;
}

const void *section_find(const struct section *s, const void *rec, const void *like)
{
	const char *rows = section_rows(s, rec);
	size_t n = rows_there(s, rec);

	for (size_t i = 0; i < n; i++)
		if (!compare_keys(s, rows + i * s->row_size, like))
			return rows + i * s->row_size;
	return NULL;
}

/*
 * Finds the rows of one section in the order of another's.  Two samples of one
 * host nearly always agree in order, so the place after the last hit is tried
 * first.  A sorted index is made at the first miss: unlike a hash, a peer cannot
 * choose keys that make it slow.
 */
struct finder {
	const struct section *s;
	const char *rows;
	size_t n, next;
	size_t *order;
};

static int compare_indexed(const void *a, const void *b, void *arg)
{
	const struct finder *f = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = compare_keys(f->s, f->rows + i * f->s->row_size, f->rows + j * f->s->row_size);

	/* Of equal keys the first row must win, as in section_find(). */
	return order ? order : THREE_WAY(i, j);
}

static int make_index(struct finder *f)
{
	f->order = malloc(f->n * sizeof(*f->order));
	if (!f->order)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		f->order[i] = i;
	qsort_r(f->order, f->n, sizeof(*f->order), compare_indexed, f);
	return 0;
}

/* *index: of the first row with the keys of `like`, or SIZE_MAX.  0 or -ENOMEM. */
static int find_next(struct finder *f, const void *like, size_t *index)
{
	size_t low = 0, high = f->n;

	*index = SIZE_MAX;
	if (f->next < f->n && !compare_keys(f->s, f->rows + f->next * f->s->row_size, like)) {
		*index = f->next++;
		return 0;
	}
	if (!f->n)
		return 0;
	if (!f->order && make_index(f))
		return -ENOMEM;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(f->s, f->rows + f->order[middle] * f->s->row_size, like) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < f->n && !compare_keys(f->s, f->rows + f->order[low] * f->s->row_size, like)) {
		*index = f->order[low];
		f->next = *index + 1;
	}
	return 0;
}

static void finder_init(struct finder *f, const struct section *s, const void *rec)
{
	*f = (struct finder){ .s = s, .rows = section_rows(s, rec) };
	f->n = rows_there(s, rec);
}

static void subtract(const struct field *f, const void *a, void *out)
{
#define SUBTRACT(type_, difference_) do { \
		const type_ *x = CONST_MEMBER(a, f, type_); \
		type_ *y = MEMBER(out, f, type_); \
		if (y->k != ND_KNOWN) \
			break; \
		if (x->k != ND_KNOWN) \
			*y = (type_){ 0, x->k }; \
		else if (y->v < x->v) \
			*y = (type_){ 0, ND_RESET }; \
		else \
			y->v = (difference_); \
	} while (0)
	switch (f->kind) {
	case FIELD_U64:
		SUBTRACT(struct nd_u64, y->v - x->v);
		break;
	case FIELD_I64:
		/* Unsigned: the distance of two int64 may not fit, and must not trap. */
		SUBTRACT(struct nd_i64, (int64_t)((uint64_t)y->v - (uint64_t)x->v));
		break;
	case FIELD_F64:
		SUBTRACT(struct nd_f64, y->v - x->v);
		break;
	default:
		break;
	}
#undef SUBTRACT
}

/* Puts the larger of both into out; the known one when only one is. */
static void take_larger(const struct field *f, const void *a, void *out)
{
#define LARGER(type_) do { \
		const type_ *x = CONST_MEMBER(a, f, type_); \
		type_ *y = MEMBER(out, f, type_); \
		if (x->k == ND_KNOWN && (y->k != ND_KNOWN || x->v > y->v)) \
			*y = *x; \
	} while (0)
	switch (f->kind) {
	case FIELD_U64:
		LARGER(struct nd_u64);
		break;
	case FIELD_I64:
		LARGER(struct nd_i64);
		break;
	case FIELD_F64:
		LARGER(struct nd_f64);
		break;
	default:
		break;
	}
#undef LARGER
}

void field_set_unknown(const struct field *f, void *row, enum nd_known k)
{
	switch (f->kind) {
	case FIELD_U64:
		*MEMBER(row, f, struct nd_u64) = nd_u64_unknown(k);
		break;
	case FIELD_I64:
		*MEMBER(row, f, struct nd_i64) = nd_i64_unknown(k);
		break;
	case FIELD_F64:
		*MEMBER(row, f, struct nd_f64) = nd_f64_unknown(k);
		break;
	case FIELD_BOOL:
		*MEMBER(row, f, struct nd_bool) = nd_bool_unknown(k);
		break;
	case FIELD_STR:
		*MEMBER(row, f, struct nd_str) = nd_str_unknown(k);
		break;
	case FIELD_CPUS:
		*MEMBER(row, f, struct nd_cpus) = (struct nd_cpus){ .k = k };
		break;
	}
}

/* out holds b's row; a is NULL when the row is new. */
static void difference_row(const struct section *s, const void *a, void *out)
{
	for (size_t i = 0; i < s->nfields; i++) {
		const struct field *f = &s->fields[i];

		if (f->flags & FIELD_COUNTER) {
			if (a)
				subtract(f, a, out);
			else
				field_set_unknown(f, out, ND_UNREAD);
		} else if (f->flags & FIELD_MAX && a) {
			take_larger(f, a, out);
		}
	}
}

static int difference_section(const struct section *s, const void *a, const void *b,
			      struct arena *mem, void *out)
{
	const char *from = section_rows(s, b);
	size_t n = rows_there(s, b);
	struct finder find;
	char *rows;
	int rc = 0;

	if (s->single) {
		memcpy((char *)out + s->offset, from, s->row_size);
		difference_row(s, section_rows(s, a), (char *)out + s->offset);
		return 0;
	}
	if (!n) {
		set_section_rows(s, out, NULL, 0);
		return 0;
	}
	rows = arena_alloc_array(mem, n, s->row_size);
	if (!rows)
		return -ENOMEM;
	memcpy(rows, from, n * s->row_size);
	finder_init(&find, s, a);
	for (size_t i = 0; i < n && !rc; i++) {
		size_t index;

		rc = find_next(&find, from + i * s->row_size, &index);
		if (rc)
			break;
		difference_row(s, index == SIZE_MAX ? NULL : find.rows + index * s->row_size,
			       rows + i * s->row_size);
	}
	free(find.order);
	if (!rc)
		set_section_rows(s, out, rows, n);
	return rc;
}

int record_difference(const struct schema *s, const void *a, const void *b,
		      struct arena *mem, void *out)
{
	int rc = 0;

	for (size_t i = 0; i < s->nsections && !rc; i++)
		rc = difference_section(&s->sections[i], a, b, mem, out);
	return rc;
}

static int copy_row_strings(const struct section *s, void *row, struct arena *mem)
{
	for (size_t i = 0; i < s->nfields; i++) {
		struct nd_str *v;

		if (s->fields[i].kind != FIELD_STR)
			continue;
		v = MEMBER(row, &s->fields[i], struct nd_str);
		if (!v->v)
			continue;
		v->v = arena_strdup(mem, v->v);
		if (!v->v) {
			/* No string in the row may be left pointing into the other arena. */
			*v = nd_str_unknown(ND_FAILED);
			return -ENOMEM;
		}
	}
	return 0;
}

int record_copy_strings(const struct schema *s, void *rec, struct arena *mem)
{
	for (size_t i = 0; i < s->nsections; i++) {
		const struct section *section = &s->sections[i];
		char *rows = section_rows(section, rec);
		size_t n = rows_there(section, rec);

		for (size_t j = 0; j < n; j++)
			if (copy_row_strings(section, rows + j * section->row_size, mem))
				return -ENOMEM;
	}
	return 0;
}

static void raise_row(const struct section *s, void *acc, const void *sample)
{
	for (size_t i = 0; i < s->nfields; i++)
		if (s->fields[i].flags & FIELD_MAX)
			take_larger(&s->fields[i], sample, acc);
}

static int append_copy(const struct section *s, void *acc, const void *row, struct arena *mem)
{
	size_t n = section_count(s, acc);
	void *rows = section_rows(s, acc);
	void *added = arena_append_row(mem, &rows, &n, s->row_size);

	if (!added)
		return -ENOMEM;
	memcpy(added, row, s->row_size);
	if (copy_row_strings(s, added, mem)) {
		/* Leave the half-copied row out. */
		set_section_rows(s, acc, rows, n - 1);
		return -ENOMEM;
	}
	set_section_rows(s, acc, rows, n);
	return 0;
}

static int keep_max_section(const struct section *s, void *acc, const void *sample,
			    struct arena *mem)
{
	const char *from = section_rows(s, sample);
	size_t n = rows_there(s, sample);
	struct finder find;
	int rc = 0;

	if (s->single) {
		raise_row(s, section_rows(s, acc), from);
		return 0;
	}
	/* Looks in the rows from before: those stay readable when the array moves. */
	finder_init(&find, s, acc);
	for (size_t i = 0; i < n && !rc; i++) {
		const void *row = from + i * s->row_size;
		size_t index;

		rc = find_next(&find, row, &index);
		if (rc)
			break;
		if (index == SIZE_MAX)
			rc = append_copy(s, acc, row, mem);
		else
			raise_row(s, (char *)section_rows(s, acc) + index * s->row_size, row);
	}
	free(find.order);
	return rc;
}

int record_keep_max(const struct schema *s, void *acc, const void *sample, struct arena *mem)
{
	int rc = 0;

	for (size_t i = 0; i < s->nsections && !rc; i++)
		rc = keep_max_section(&s->sections[i], acc, sample, mem);
	return rc;
}

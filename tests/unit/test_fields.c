/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/core_test.h"

/* A little schema of our own, with every kind of member. */
struct clock_row { struct nd_u64 now; };
struct port_row {
	struct nd_u64 index;
	struct nd_str name;
	struct nd_bool inner;
	struct nd_u64 bytes, speed, queue;
	struct nd_i64 offset, highest;
	struct nd_f64 work, peak;
	struct nd_cpus cpus;
	struct nd_str label;
};
struct record {
	struct arena *mem;
	struct clock_row clock;
	struct port_row *ports;
	size_t nports;
};

#define PORT(m_, k_, f_) FIELD(struct port_row, m_, k_, NONE, f_, "A member.")
static const struct field clock_fields[] = {
	FIELD(struct clock_row, now, U64, NANOSECONDS, FIELD_COUNTER, "The clock."),
};
static const struct field port_fields[] = {
	PORT(index, U64, FIELD_KEY),	PORT(name, STR, FIELD_KEY),
	PORT(inner, BOOL, FIELD_KEY),	PORT(bytes, U64, FIELD_COUNTER),
	PORT(speed, U64, FIELD_MAX),	PORT(queue, U64, 0),
	PORT(offset, I64, FIELD_COUNTER), PORT(highest, I64, FIELD_MAX),
	PORT(work, F64, FIELD_COUNTER),	PORT(peak, F64, FIELD_MAX),
	PORT(cpus, CPUS, 0),		PORT(label, STR, 0),
};
static const struct section sections[] = {
	SECTION_ONE(struct record, clock, clock_fields, "Time."),
	SECTION_ROWS(struct record, ports, nports, struct port_row, port_fields, "Ports."),
};
static const struct schema schema = {
	"record", sections, ARRAY_SIZE(sections), sizeof(struct record)
};

static struct port_row *add_port(struct record *r, uint64_t index, const char *name, uint64_t bytes)
{
	struct port_row *p = arena_append_row(r->mem, (void **)&r->ports, &r->nports, sizeof(*p));

	assert_non_null(p);
	p->index = nd_u64(index);
	p->name = nd_str(name);
	p->inner = nd_bool(false);
	p->bytes = nd_u64(bytes);
	return p;
}

static void make_record(struct record *r, uint64_t now)
{
	memset(r, 0, sizeof(*r));
	r->mem = arena_new(0);
	assert_non_null(r->mem);
	r->clock.now = nd_u64(now);
}

static void difference(struct record *a, struct record *b, struct record *out)
{
	memset(out, 0, sizeof(*out));
	out->mem = arena_new(0);
	assert_int_equal(record_difference(&schema, a, b, out->mem, out), 0);
}

static void free_records(struct record *a, struct record *b, struct record *out)
{
	arena_free(a->mem);
	arena_free(b->mem);
	if (out)
		arena_free(out->mem);
}

static void schema_is_navigable(void **state)
{
	const struct section *ports = schema_section(&schema, "ports");
	struct record r;

	(void)state;
	make_record(&r, 1);
	assert_non_null(ports);
	assert_null(schema_section(&schema, "port"));
	assert_non_null(section_field(ports, "bytes"));
	assert_null(section_field(ports, "byte"));
	assert_int_equal(section_count(&sections[0], &r), 1);
	assert_ptr_equal(section_row(&sections[0], &r, 0), &r.clock);
	assert_null(section_row(&sections[0], &r, 1));
	assert_int_equal(section_count(ports, &r), 0);
	assert_null(section_row(ports, &r, 0));
	add_port(&r, 1, "a", 1);
	add_port(&r, 2, "b", 1);
	assert_int_equal(section_count(ports, &r), 2);
	assert_ptr_equal(section_row(ports, &r, 1), &r.ports[1]);
	assert_null(section_row(ports, &r, 2));
	arena_free(r.mem);
}

static void rows_are_found_by_all_keys(void **state)
{
	const struct section *ports = &sections[1];
	struct port_row like = { .index = nd_u64(2), .name = nd_str("b"), .inner = nd_bool(false) };
	struct record r;

	(void)state;
	make_record(&r, 1);
	assert_null(section_find(ports, &r, &like));
	add_port(&r, 2, "a", 1);
	add_port(&r, 2, "b", 2)->inner = nd_bool(true);
	add_port(&r, 2, "b", 3);
	add_port(&r, 2, "b", 4);
	assert_ptr_equal(section_find(ports, &r, &like), &r.ports[2]);
	like.inner = nd_bool(true);
	assert_ptr_equal(section_find(ports, &r, &like), &r.ports[1]);
	like.inner = nd_bool_unknown(ND_ABSENT);
	assert_null(section_find(ports, &r, &like));
	like.inner = nd_bool(true);
	like.name = nd_str("c");
	assert_null(section_find(ports, &r, &like));
	arena_free(r.mem);
}

static void counters_are_subtracted(void **state)
{
	struct record a, b, d;
	struct port_row *p;

	(void)state;
	make_record(&a, 1000);
	make_record(&b, 3500);
	p = add_port(&a, 1, "a", 100);
	p->queue = nd_u64(9);
	p->offset = nd_i64(-5);
	p->work = nd_f64(1.5);
	p = add_port(&b, 1, "a", 350);
	p->queue = nd_u64(4);
	p->offset = nd_i64(5);
	p->work = nd_f64(4);
	p->label = nd_str("later");
	nd_cpus_set(&p->cpus, 3);
	difference(&a, &b, &d);
	assert_true(nd_u64_is(d.clock.now, 2500));
	assert_int_equal(d.nports, 1);
	p = d.ports;
	assert_true(nd_u64_is(p->index, 1));
	assert_true(nd_u64_is(p->bytes, 250));
	assert_true(nd_u64_is(p->queue, 4));
	assert_int_equal(p->offset.k, ND_KNOWN);
	assert_int_equal(p->offset.v, 10);
	assert_true(p->work.k == ND_KNOWN && p->work.v == 2.5);
	assert_true(nd_str_is(p->label, "later"));
	assert_true(nd_cpus_has(&p->cpus, 3));
	/* The inputs are as they were. */
	assert_true(nd_u64_is(b.ports[0].bytes, 350));
	free_records(&a, &b, &d);
}

static void backwards_is_reset(void **state)
{
	struct record a, b, d;

	(void)state;
	make_record(&a, 1000);
	make_record(&b, 999);
	add_port(&a, 1, "a", UINT64_MAX)->offset = nd_i64(1);
	add_port(&b, 1, "a", 0)->offset = nd_i64(0);
	add_port(&a, 2, "b", 0)->offset = nd_i64(INT64_MIN);
	add_port(&b, 2, "b", UINT64_MAX)->offset = nd_i64(INT64_MAX);
	difference(&a, &b, &d);
	assert_int_equal(d.clock.now.k, ND_RESET);
	assert_int_equal(d.ports[0].bytes.k, ND_RESET);
	assert_int_equal(d.ports[0].bytes.v, 0);
	assert_int_equal(d.ports[0].offset.k, ND_RESET);
	assert_true(nd_u64_is(d.ports[1].bytes, UINT64_MAX));
	free_records(&a, &b, &d);
}

static void unknown_stays_unknown(void **state)
{
	struct record a, b, d;

	(void)state;
	make_record(&a, 1);
	make_record(&b, 2);
	add_port(&a, 1, "a", 1)->bytes = nd_u64_unknown(ND_NOT_PERMITTED);
	add_port(&b, 1, "a", 5);
	add_port(&a, 2, "a", 1);
	add_port(&b, 2, "a", 5)->bytes = nd_u64_unknown(ND_FAILED);
	add_port(&a, 3, "a", 1)->bytes = nd_u64_unknown(ND_NOT_PERMITTED);
	add_port(&b, 3, "a", 5)->bytes = nd_u64_unknown(ND_FAILED);
	difference(&a, &b, &d);
	assert_int_equal(d.ports[0].bytes.k, ND_NOT_PERMITTED);
	assert_int_equal(d.ports[1].bytes.k, ND_FAILED);
	assert_int_equal(d.ports[2].bytes.k, ND_FAILED);
	for (size_t i = 0; i < d.nports; i++)
		assert_int_equal(d.ports[i].bytes.v, 0);
	free_records(&a, &b, &d);
}

static void new_and_gone_rows(void **state)
{
	struct record a, b, d;

	(void)state;
	make_record(&a, 1);
	make_record(&b, 2);
	add_port(&a, 1, "gone", 1);
	add_port(&a, 2, "stays", 10);
	add_port(&b, 3, "new", 1000)->speed = nd_u64(8000);
	add_port(&b, 2, "stays", 30);
	difference(&a, &b, &d);
	assert_int_equal(d.nports, 2);
	/* Where it started nobody saw: a lifetime value is no difference. */
	assert_true(nd_str_is(d.ports[0].name, "new"));
	assert_int_equal(d.ports[0].bytes.k, ND_UNREAD);
	assert_int_equal(d.ports[0].bytes.v, 0);
	assert_true(nd_u64_is(d.ports[0].speed, 8000));
	assert_true(nd_u64_is(d.ports[1].bytes, 20));
	free_records(&a, &b, &d);
}

static void largest_is_kept(void **state)
{
	struct record a, b, d;
	struct port_row *p;

	(void)state;
	make_record(&a, 1);
	make_record(&b, 2);
	p = add_port(&a, 1, "a", 1);
	p->speed = nd_u64(16000);
	p->highest = nd_i64(-3);
	p->peak = nd_f64(0.25);
	p = add_port(&b, 1, "a", 1);
	p->speed = nd_u64(2500);
	p->highest = nd_i64(-7);
	p->peak = nd_f64(0.5);
	add_port(&a, 2, "a", 1)->speed = nd_u64(5000);
	add_port(&b, 2, "a", 1)->speed = nd_u64_unknown(ND_FAILED);
	add_port(&a, 3, "a", 1)->speed = nd_u64_unknown(ND_ABSENT);
	add_port(&b, 3, "a", 1)->speed = nd_u64(0);
	difference(&a, &b, &d);
	assert_true(nd_u64_is(d.ports[0].speed, 16000));
	assert_int_equal(d.ports[0].highest.v, -3);
	assert_true(d.ports[0].peak.v == 0.5);
	assert_true(nd_u64_is(d.ports[1].speed, 5000));
	assert_true(nd_u64_is(d.ports[2].speed, 0));
	free_records(&a, &b, &d);
}

static void empty_sides_work(void **state)
{
	struct record a, b, d;

	(void)state;
	make_record(&a, 1);
	make_record(&b, 2);
	add_port(&a, 1, "a", 1);
	difference(&a, &b, &d);
	assert_int_equal(d.nports, 0);
	arena_free(d.mem);
	difference(&b, &a, &d);
	assert_int_equal(d.nports, 1);
	assert_int_equal(d.ports[0].bytes.k, ND_UNREAD);
	free_records(&a, &b, &d);
}

static void memory_limit_is_reported(void **state)
{
	struct record a, b, d = { 0 };

	(void)state;
	make_record(&a, 1);
	make_record(&b, 2);
	for (uint64_t i = 0; i < 10; i++)
		add_port(&b, i, "a", 1);
	d.mem = arena_new(5 * sizeof(struct port_row));
	assert_int_equal(record_difference(&schema, &a, &b, d.mem, &d), -ENOMEM);
	assert_int_equal(d.nports, 0);
	assert_int_equal(record_keep_max(&schema, &d, &b, d.mem), -ENOMEM);
	assert_true(d.nports < 10);
	for (size_t i = 0; i < d.nports; i++)
		assert_true(nd_str_is(d.ports[i].name, "a"));
	free_records(&a, &b, &d);
	/* Whatever the limit, what was appended is whole and its own. */
	for (size_t limit = 16; limit < 8000; limit += 112) {
		memset(&a, 0, sizeof(a));
		make_record(&b, 2);
		for (uint64_t i = 0; i < 10; i++)
			add_port(&b, i, "a name of some length", 1);
		a.mem = arena_new(limit);
		record_keep_max(&schema, &a, &b, a.mem);
		arena_free(b.mem);
		for (size_t i = 0; i < a.nports; i++)
			assert_true(nd_str_is(a.ports[i].name, "a name of some length"));
		arena_free(a.mem);
	}
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Order is the later record's, whatever the earlier one's was; and 10000 rows are quick. */
static void many_rows_in_any_order(void **state)
{
	enum { N = 10000 };
	struct record a, b, d;
	double start;

	(void)state;
	make_record(&a, 1);
	make_record(&b, 2);
	for (uint64_t i = 0; i < N; i++) {
		add_port(&a, i, "x", i);
		add_port(&b, i * 7919 % N, "x", 2 * (i * 7919 % N));
	}
	start = seconds_now();
	difference(&a, &b, &d);
	/* Quadratic would be 10^8 comparisons; a sanitizer on a slow machine needs some room. */
	assert_true(seconds_now() - start < 1.0);
	assert_int_equal(d.nports, N);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t index = i * 7919 % N;

		assert_true(nd_u64_is(d.ports[i].index, index));
		assert_true(nd_u64_is(d.ports[i].bytes, index));
	}
	free_records(&a, &b, &d);
}

/* Of rows with the same keys, the first is the one that counts, in order or not. */
static void first_of_equal_rows_wins(void **state)
{
	struct record a, b, d;

	(void)state;
	make_record(&a, 1);
	make_record(&b, 2);
	add_port(&a, 9, "x", 1);
	add_port(&a, 1, "x", 10);
	add_port(&a, 1, "x", 20);
	add_port(&b, 1, "x", 100);
	difference(&a, &b, &d);
	assert_true(nd_u64_is(d.ports[0].bytes, 90));
	free_records(&a, &b, &d);
}

static void maxima_accumulate(void **state)
{
	struct record acc, sample;
	char name[8] = "new";

	(void)state;
	make_record(&acc, 5);
	make_record(&sample, 6);
	add_port(&acc, 1, "a", 11)->speed = nd_u64(2500);
	add_port(&acc, 2, "b", 12)->speed = nd_u64(8000);
	add_port(&sample, 2, "b", 99)->speed = nd_u64(5000);
	for (uint64_t i = 10; i < 40; i++)
		add_port(&sample, i, name, 1)->label = nd_str(name);
	add_port(&sample, 1, "a", 99)->speed = nd_u64(16000);
	assert_int_equal(record_keep_max(&schema, &acc, &sample, acc.mem), 0);
	assert_int_equal(acc.nports, 32);
	assert_true(nd_u64_is(acc.ports[0].speed, 16000));
	assert_true(nd_u64_is(acc.ports[1].speed, 8000));
	/* Only MAX members are touched. */
	assert_true(nd_u64_is(acc.ports[0].bytes, 11));
	assert_true(nd_u64_is(acc.clock.now, 5));
	/* The strings are its own: the sample may go. */
	arena_free(sample.mem);
	memset(name, 'z', sizeof(name) - 1);
	assert_true(nd_str_is(acc.ports[2].name, "new"));
	assert_true(nd_str_is(acc.ports[31].label, "new"));
	/* Once more adds nothing. */
	make_record(&sample, 7);
	add_port(&sample, 10, "new", 1)->speed = nd_u64(1);
	assert_int_equal(record_keep_max(&schema, &acc, &sample, acc.mem), 0);
	assert_int_equal(acc.nports, 32);
	assert_true(nd_u64_is(acc.ports[2].speed, 1));
	free_records(&acc, &sample, NULL);
}

/* Keys of the other kinds, and unknown ones: alike when unknown for the same reason. */
static void any_kind_can_be_a_key(void **state)
{
	struct odd_row { struct nd_i64 i; struct nd_f64 f; struct nd_cpus c; struct nd_u64 n; };
	struct odd { struct odd_row *rows; size_t nrows; };
	static const struct field odd_fields[] = {
		FIELD(struct odd_row, i, I64, NONE, FIELD_KEY, "A key."),
		FIELD(struct odd_row, f, F64, NONE, FIELD_KEY, "A key."),
		FIELD(struct odd_row, c, CPUS, NONE, FIELD_KEY, "A key."),
		FIELD(struct odd_row, n, U64, NONE, FIELD_COUNTER, "A counter."),
	};
	static const struct section odd_section =
		SECTION_ROWS(struct odd, rows, nrows, struct odd_row, odd_fields, "Odd.");
	static const struct schema odd_schema = { "odd", &odd_section, 1, sizeof(struct odd) };
	struct odd_row earlier[4], later[4];
	struct odd a = { earlier, 4 }, b = { later, 4 }, d = { NULL, 0 };
	struct arena *mem = arena_new(0);

	(void)state;
	memset(earlier, 0, sizeof(earlier));
	for (unsigned int i = 0; i < 4; i++) {
		earlier[i].i = nd_i64(i < 2 ? -1 : 1);
		earlier[i].f = nd_f64(0.5);
		nd_cpus_set(&earlier[i].c, i % 2);
		earlier[i].n = nd_u64(i);
	}
	earlier[3].c = (struct nd_cpus){ .k = ND_ABSENT };
	earlier[3].f = nd_f64_unknown(ND_FAILED);
	for (unsigned int i = 0; i < 4; i++) {
		later[i] = earlier[3 - i];
		later[i].n = nd_u64(100 + 2 * (3 - i));
	}
	later[1].f = nd_f64(0.25);
	assert_int_equal(record_difference(&odd_schema, &a, &b, mem, &d), 0);
	assert_int_equal(d.nrows, 4);
	assert_true(nd_u64_is(d.rows[0].n, 103));
	assert_int_equal(d.rows[1].n.k, ND_UNREAD);
	assert_true(nd_u64_is(d.rows[2].n, 101));
	assert_true(nd_u64_is(d.rows[3].n, 100));
	later[0].c.k = ND_FAILED;
	assert_int_equal(record_difference(&odd_schema, &a, &b, mem, &d), 0);
	assert_int_equal(d.rows[0].n.k, ND_UNREAD);
	arena_free(mem);
}

static void strings_can_be_owned(void **state)
{
	char text[] = "borrowed";
	struct record r;

	(void)state;
	make_record(&r, 1);
	add_port(&r, 1, text, 1);
	assert_int_equal(record_copy_strings(&schema, &r, r.mem), 0);
	text[0] = 'X';
	assert_true(nd_str_is(r.ports[0].name, "borrowed"));
	assert_null(r.ports[0].label.v);
	arena_free(r.mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schema_is_navigable),
		cmocka_unit_test(rows_are_found_by_all_keys),
		cmocka_unit_test(counters_are_subtracted),
		cmocka_unit_test(backwards_is_reset),
		cmocka_unit_test(unknown_stays_unknown),
		cmocka_unit_test(new_and_gone_rows),
		cmocka_unit_test(largest_is_kept),
		cmocka_unit_test(empty_sides_work),
		cmocka_unit_test(memory_limit_is_reported),
		cmocka_unit_test(many_rows_in_any_order),
		cmocka_unit_test(first_of_equal_rows_wins),
		cmocka_unit_test(maxima_accumulate),
		cmocka_unit_test(any_kind_can_be_a_key),
		cmocka_unit_test(strings_can_be_owned),
	};

	return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Field tables: one row per member says its name, type, unit and meaning.
 *
 * A schema describes a struct as a list of sections; a section is either one
 * embedded struct or an arena-owned array of rows.  The tables drive JSON in
 * both directions, differences between two points in time, and documentation.
 * To add a member, add it to its struct and to its table: nothing else.
 */
#ifndef ND_CORE_FIELDS_H
#define ND_CORE_FIELDS_H

#include <stddef.h>

#include "src/core/arena.h"
#include "src/core/units.h"
#include "src/core/value.h"

enum field_kind { FIELD_U64, FIELD_I64, FIELD_F64, FIELD_BOOL, FIELD_STR, FIELD_CPUS };

enum field_flag {
	FIELD_KEY = 1 << 0,	/* identifies a row: rows are matched by all their key fields */
	FIELD_COUNTER = 1 << 1,	/* only grows; a difference is meaningful; JSON decimal string */
	FIELD_MAX = 1 << 2,	/* a gauge whose largest value over time is kept (PCIe speed) */
	FIELD_PRIVATE = 1 << 3,	/* identifies a person or machine: scrubbed from recordings */
};

struct field {
	const char *name;	/* snake_case, as in JSON */
	const char *help;	/* one sentence: meaning and where the kernel has it */
	size_t offset;
	enum field_kind kind;
	enum unit unit;
	unsigned int flags;
};

/* Row of a field table.  kind_ is U64, STR ... */
#define FIELD(type_, member_, kind_, unit_, flags_, help_) \
	{ .name = #member_, .help = (help_), .offset = offsetof(type_, member_), \
	  .kind = FIELD_##kind_, .unit = UNIT_##unit_, .flags = (flags_) }

struct section {
	const char *name;
	const char *help;
	const struct field *fields;
	size_t nfields;
	size_t row_size;
	size_t offset;		/* of the embedded struct, or of the row pointer */
	size_t count_offset;	/* of the row count (size_t); unused when single */
	bool single;
};

#define SECTION_ROWS(type_, member_, count_, row_type_, table_, help_) \
	{ .name = #member_, .help = (help_), .fields = (table_), .nfields = ARRAY_SIZE(table_), \
	  .row_size = sizeof(row_type_), .offset = offsetof(type_, member_), \
	  .count_offset = offsetof(type_, count_) }
#define SECTION_ONE(type_, member_, table_, help_) \
	{ .name = #member_, .help = (help_), .fields = (table_), .nfields = ARRAY_SIZE(table_), \
	  .row_size = sizeof(((type_ *)0)->member_), .offset = offsetof(type_, member_), \
	  .single = true }

struct schema {
	const char *name;
	const struct section *sections;
	size_t nsections;
	size_t size;		/* of the described struct */
};

/* Section by name, NULL when there is none. */
const struct section *schema_section(const struct schema *s, const char *name);
const struct field *section_field(const struct section *s, const char *name);
/* Makes this member of a row unknown, for the reason k. */
void field_set_unknown(const struct field *f, void *row, enum nd_known k);
/* Row access for one section of rec. */
size_t section_count(const struct section *s, const void *rec);
const void *section_row(const struct section *s, const void *rec, size_t i);
/*
 * The first row of `rec` whose key fields equal those of `like` (a row of the same
 * section), or NULL.  One linear pass.
 */
const void *section_find(const struct section *s, const void *rec, const void *like);

/*
 * out = b - a, in out's arena: COUNTER fields are subtracted (backwards: ND_RESET),
 * MAX fields take the larger, all others are b's.  Rows only in b are kept, but
 * nobody saw where their counters started: those are ND_UNREAD.  Rows only in a are
 * dropped.  A counter unknown in b keeps b's reason, else a's.  Row order is b's.
 * out is zeroed by the caller.  0 or -ENOMEM.  Strings are shared with b, which must
 * outlive out (or see record_copy_strings).
 */
int record_difference(const struct schema *s, const void *a, const void *b,
		      struct arena *mem, void *out);
/*
 * Raises MAX fields in `acc` to those of `sample` where rows match; appends rows acc
 * lacks, with copies of their strings, so that sample may be freed.  mem is acc's arena.
 * 0 or -ENOMEM (acc is then usable but incomplete).
 */
int record_keep_max(const struct schema *s, void *acc, const void *sample, struct arena *mem);
/* Replaces every string in rec by a copy in mem.  0 or -ENOMEM. */
int record_copy_strings(const struct schema *s, void *rec, struct arena *mem);

#endif

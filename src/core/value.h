/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values that may be unknown, and why.
 *
 * Every number or text read from a machine is one of these structs.  Zero is a
 * value; "we could not tell" is never written as zero.  The zero-initialised
 * state is ND_UNREAD, so a struct nobody filled in says so by itself.
 */
#ifndef ND_CORE_VALUE_H
#define ND_CORE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nd_known {
	ND_UNREAD = 0,		/* nobody has looked */
	ND_KNOWN,		/* .v holds the value */
	ND_ABSENT,		/* looked: this machine has no such file, attribute or device */
	ND_NOT_PERMITTED,	/* it is there, but not for this user (EPERM, EACCES) */
	ND_NOT_SUPPORTED,	/* the kernel or driver cannot tell (EOPNOTSUPP, "unknown") */
	ND_NOT_APPLICABLE,	/* the question has no meaning here (a veth has no line rate) */
	ND_INVALID,		/* read, but not a usable value: does not parse, out of range */
	ND_RESET,		/* a counter went backwards: the difference is void */
	ND_FAILED,		/* the read itself failed (EIO, timeout) */
	ND_KNOWN_STATES
};

struct nd_u64 { uint64_t v; enum nd_known k; };
struct nd_i64 { int64_t v; enum nd_known k; };
struct nd_f64 { double v; enum nd_known k; };
struct nd_bool { bool v; enum nd_known k; };
struct nd_str { const char *v; enum nd_known k; };	/* v is owned by an arena or static */

/* CPU ids from ND_MAX_CPUS upwards cannot be held; a mask naming one is ND_INVALID. */
#define ND_MAX_CPUS 1024
struct nd_cpus { uint64_t bits[ND_MAX_CPUS / 64]; enum nd_known k; };

static inline struct nd_u64 nd_u64(uint64_t v) { return (struct nd_u64){ v, ND_KNOWN }; }
static inline struct nd_i64 nd_i64(int64_t v) { return (struct nd_i64){ v, ND_KNOWN }; }
static inline struct nd_f64 nd_f64(double v) { return (struct nd_f64){ v, ND_KNOWN }; }
static inline struct nd_bool nd_bool(bool v) { return (struct nd_bool){ v, ND_KNOWN }; }
static inline struct nd_str nd_str(const char *v) { return (struct nd_str){ v, ND_KNOWN }; }

static inline struct nd_u64 nd_u64_unknown(enum nd_known k) { return (struct nd_u64){ 0, k }; }
static inline struct nd_i64 nd_i64_unknown(enum nd_known k) { return (struct nd_i64){ 0, k }; }
static inline struct nd_f64 nd_f64_unknown(enum nd_known k) { return (struct nd_f64){ 0, k }; }
static inline struct nd_bool nd_bool_unknown(enum nd_known k) { return (struct nd_bool){ 0, k }; }
static inline struct nd_str nd_str_unknown(enum nd_known k) { return (struct nd_str){ NULL, k }; }

/* The word used in JSON and on screen, e.g. "not-permitted"; "known" for ND_KNOWN. */
const char *nd_known_word(enum nd_known k);
/* The inverse; -EINVAL when the word is none of ours. */
int nd_known_from_word(const char *word, enum nd_known *out);
/* Sorts a (positive) errno into a reason: EACCES -> ND_NOT_PERMITTED, ENOENT -> ND_ABSENT ... */
enum nd_known nd_known_from_errno(int err);

/* Equality of known values; false when either is unknown. */
bool nd_u64_is(struct nd_u64 a, uint64_t v);
bool nd_str_is(struct nd_str a, const char *v);
bool nd_is_true(struct nd_bool a);	/* known and true */
bool nd_is_false(struct nd_bool a);	/* known and false */

void nd_cpus_set(struct nd_cpus *m, unsigned int cpu);	/* marks the mask known */
bool nd_cpus_has(const struct nd_cpus *m, unsigned int cpu);
unsigned int nd_cpus_count(const struct nd_cpus *m);
bool nd_cpus_only(const struct nd_cpus *m, unsigned int *cpu);	/* a known mask of one CPU: that */
/* Parses "0-3,8" (the kernel's list format); "" is the known empty set. */
int nd_cpus_parse_list(const char *text, struct nd_cpus *out);
/* Parses "ff,00000000" (the kernel's mask format, as in rps_cpus). */
int nd_cpus_parse_mask(const char *text, struct nd_cpus *out);
/* Writes the list format; truncates at cap, always terminates. */
void nd_cpus_format_list(const struct nd_cpus *m, char *buf, size_t cap);

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif

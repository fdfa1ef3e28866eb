/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options: one table row each.  A command lists its rows; parsing, range
 * checks, `--help`, and the lint that compares man page and completion all come
 * from the tables.
 */
#ifndef ND_CLI_OPTIONS_H
#define ND_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/cli/foreign.h"
#include "src/core/error.h"

enum option_kind {
	OPTION_FLAG,		/* bool */
	OPTION_TEXT,		/* const char *, points into argv */
	OPTION_NUMBER,		/* uint64_t in [min, max], hexadecimal behind 0x */
	OPTION_SECONDS,		/* uint64_t milliseconds from "4", "0.5", in [min, max] ms */
	OPTION_RATE,		/* uint64_t bit/s from "25G", in [min, max] */
	OPTION_SIZE,		/* uint64_t bytes from "128K", in [min, max] */
	OPTION_CHOICE,		/* unsigned int: index into choices */
};

/* Rows by position are refused where the compiler knows how (gcc). */
#if __has_attribute(designated_init)
#define OPTION_BY_NAME __attribute__((designated_init))
#else
#define OPTION_BY_NAME
#endif

struct OPTION_BY_NAME option_row {
	char letter;			/* 0: none */
	const char *name;		/* long name without dashes */
	enum option_kind kind;
	size_t offset;			/* in the command's settings struct */
	const char *argument;		/* "HOST"; NULL for flags */
	const char *help;
	uint64_t min, max;		/* of the kinds that have a range */
	const char *want;		/* what a range alone does not say; NULL: the range */
	const char *const *choices;	/* NULL-terminated */
};

/* Exit codes: 0..3 as diagnosis_exit_code() says; a wrong command line is sysexits' EX_USAGE. */
enum { EXIT_COULD_NOT_TELL = 3, EXIT_USAGE = 64 };

struct command {
	const char *name, *arguments, *summary, *description;
	const struct option_row *options;
	size_t noptions;
	const struct foreign_option *foreign;	/* see foreign.h; NULL: none */
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command *const commands_table[];
extern const size_t commands_count;

/* Says why on stderr in one line ("netdoctor: ...") and returns `code`. */
int complain(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Parses argv[1..] into settings.  Operands are counted and moved to operands[] (at most
 * max_operands).  Returns 0; 1 after --help was printed; or -1 after a complaint.
 */
int options_parse(const struct command *c, int argc, char **argv, void *settings,
		  const char **operands, size_t max_operands, size_t *noperands);
void command_help(const struct command *c);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/interrupts, a row at a time.
 *
 * Rows are as long as the machine has CPUs, and most belong to somebody else: the
 * counts are only split for rows that the caller asks for.  Pure; the text is
 * modified on the way.
 */
#ifndef ND_PROBES_INTERRUPTS_H
#define ND_PROBES_INTERRUPTS_H

#include "src/core/value.h"

/* 512 CPUs and 1500 vectors are 8 MB. */
#define INTERRUPTS_MAX (64u << 20)

struct interrupts {
	char *cursor;
	size_t ncpus;			/* columns */
	uint16_t cpus[ND_MAX_CPUS];	/* CPU id of each column: offline ones are left out */
};

struct interrupt_row {
	uint64_t irq;
	char *rest;	/* from behind the colon: unsplit */
};

/* Reads the heading.  0, or -EBADMSG when it is none, -E2BIG beyond ND_MAX_CPUS. */
int interrupts_begin(char *text, struct interrupts *out);
/* The next numbered row; false at the end.  NMI, LOC and the like are skipped. */
bool interrupts_next(struct interrupts *t, struct interrupt_row *row);
/*
 * Splits a row: counts[ncpus], and the names of its handlers ("" for none), which
 * points into the text.  0, or -EBADMSG for a row cut short.
 */
int interrupt_row_split(const struct interrupts *t, struct interrupt_row *row,
			uint64_t *counts, const char **name);

#endif

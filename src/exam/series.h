/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Series: the intervals that a report keeps of one end of a run.
 *
 * When they are many, neighbours are merged in pairs: a run of a day takes no more
 * memory than one of minutes, and its intervals are longer.  Used by one thread.
 */
#ifndef ND_EXAM_SERIES_H
#define ND_EXAM_SERIES_H

#include "src/exam/exam.h"

/* Two minutes of tenths of a second, and not more rows of cores than a report may have. */
enum { SERIES_MAX_INTERVALS = 1200 };

struct interval_series;
struct interval_series *series_new(size_t max_intervals);	/* NULL: no memory */
void series_free(struct interval_series *s);
/* Adds a copy of iv, which follows the last one.  0 or -ENOMEM. */
int series_add(struct interval_series *s, const struct end_interval *iv);
/* Forgets what begins at start_s or later. */
void series_cut(struct interval_series *s, double start_s);
/* Copies in mem.  0 or -ENOMEM. */
int series_copy(const struct interval_series *s, struct arena *mem, struct end_interval **rows,
		size_t *nrows);

#endif

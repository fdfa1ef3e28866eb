/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flow summaries: many samples of each flow folded into one row.  Counters
 * become differences between the first and the last sample, gauges the mean of
 * all samples, so that one unlucky instant does not speak for the run.
 */
#ifndef ND_EXAM_FLOW_SUMMARY_H
#define ND_EXAM_FLOW_SUMMARY_H

#include "src/exam/exam.h"

/*
 * Datagrams lost between two samples, from their difference.  What was skipped before and came
 * now makes it fewer, but never less than none.
 */
struct nd_u64 flow_lost(struct nd_u64 skipped, struct nd_u64 out_of_order);

struct load_marked;
/* Counts of datagrams by their mark, instead of those by the clock; window_us: for the rate. */
void flow_summary_mark(const struct load_marked *m, uint64_t window_us, struct flow_summary *out);

struct flow_folder;	/* used by one thread */

struct flow_folder *flow_folder_new(void);	/* NULL: no memory */
void flow_folder_free(struct flow_folder *f);
struct flow_folder *flow_folder_copy(const struct flow_folder *f);	/* NULL: no memory */
/* Adds one sample of all flows.  0 or -ENOMEM. */
int flow_folder_add(struct flow_folder *f, const struct counters *sample);
/*
 * Rows in mem, ordered by flow; window_us is the time between the first and the
 * last sample.  0 or -ENOMEM.
 */
int flow_folder_finish(const struct flow_folder *f, uint64_t window_us, struct arena *mem,
		       struct flow_summary **rows, size_t *nrows);

#endif

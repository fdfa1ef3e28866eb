/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From counters to what a run_end tells: per-core shares, one step of the time
 * series, and the whole window.  Pure.
 */
#ifndef ND_EXAM_INTERVAL_H
#define ND_EXAM_INTERVAL_H

#include "src/exam/end.h"
#include "src/exam/flow_summary.h"
#include "src/exam/series.h"

/* Shares of each core's time from a difference of counters; rows in mem.  0 or -ENOMEM. */
int core_loads(const struct counters *difference, struct arena *mem, struct core_load **rows,
	       size_t *nrows);

/* One interval from the difference between two samples; start in seconds from the window's start.
 */
int interval_fill(const struct counters *difference, double start_s, uint64_t egress_ifindex,
		  struct arena *mem, struct end_interval *out);
void interval_live(const struct end_interval *iv, struct end_live *out);

/*
 * The whole window: everything in out but present, problem and broken_flows.
 * Intervals are copied into mem; MAX fields come from peaks.  0 or -ENOMEM.
 */
int interval_window(const struct counters *first, const struct counters *last,
		    const struct counters *peaks, const struct flow_folder *flows,
		    const struct interval_series *series, struct arena *mem, struct run_end *out);

#endif

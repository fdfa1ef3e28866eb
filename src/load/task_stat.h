/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel tells about one traffic thread.  Internal to src/load.
 */
#ifndef ND_LOAD_TASK_STAT_H
#define ND_LOAD_TASK_STAT_H

#include <sys/types.h>
#include <time.h>

#include "src/core/counters.h"
#include "src/core/source.h"

/* Pure parsers of /proc/PID/task/TID files; text is modified.  What is not there is unknown. */
void parse_task_stat(char *text, uint64_t ticks_per_second, struct worker_sample *out);
void parse_task_schedstat(char *text, struct worker_sample *out);
void parse_task_status(char *text, struct worker_sample *out);

/* Fills all but worker and flows for a living thread of this process.  Any thread. */
void read_task(struct source *src, pid_t tid, clockid_t cpu_clock, struct worker_sample *out);
/* The same for a thread that has not started. */
void task_unknown(enum nd_known why, struct worker_sample *out);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of one host's cores as a list: every core, or, when there are many, NUMA nodes that
 * unfold.  Pure.
 */
#ifndef ND_UI_CORE_ROWS_H
#define ND_UI_CORE_ROWS_H

#include "ui/shown_run.h"

enum core_rows_limits {
	CORES_FOLD = 64,	/* more cores than this are folded into their nodes */
	CORE_GROUPS = 32,	/* per host, bits of view_state.unfolded; the last: the rest */
	CORE_ROWS_MAX = ND_MAX_CPUS + CORE_GROUPS
};
enum core_sort { CORE_SORT_CPU, CORE_SORT_BUSY };

struct core_row {
	bool is_node, open;
	int64_t node;			/* -1: not known */
	unsigned int group;
	unsigned int ncores;		/* of a node */
	struct history_core load;	/* a node's: the mean of its cores */
	struct history_core hot;	/* a node's busiest core */
};

struct core_rows {
	struct core_row *rows;		size_t n;
	size_t ncores;
	bool folded;			/* into nodes */
	struct history_core hot;	/* the busiest core; busy unknown: none is known */
};

/* 0 or -ENOMEM (then empty).  core_rows_free() in any case. */
int core_rows_make(const struct scene *s, const struct view_state *v, const struct shown_run *r,
		   enum side side, struct core_rows *out);
void core_rows_free(struct core_rows *rows);
/* Bit of view_state.unfolded of a group. */
uint64_t core_group_bit(enum side side, unsigned int group);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Progress: one line for a terminal while an examination goes on.  Pure; the
 * caller redraws it in place.
 */
#ifndef ND_REPORT_PROGRESS_H
#define ND_REPORT_PROGRESS_H

#include "src/exam/exam.h"
#include "src/report/report.h"

enum progress_phase {
	PROGRESS_CONNECT,
	PROGRESS_FACTS,		/* probes on both ends */
	PROGRESS_WARMUP,	/* traffic flows, not yet counted */
	PROGRESS_RUN,
	PROGRESS_DIAGNOSE
};

struct progress {
	enum progress_phase phase;
	const char *peer;	/* as the user wrote it; NULL: none */
	unsigned int run, runs;	/* run k of n; n 0: not known yet */
	enum run_direction direction;
	enum run_purpose purpose;
	uint64_t streams;
	double elapsed_s, total_s;	/* of this phase; total 0: not known */
	struct nd_f64 rate_bps;
	bool bidirectional;
	struct nd_f64 other_bps;	/* of the other direction, at the same time */
	struct core_load hot[EXAM_ENDS];	/* busiest core now; busy unknown: not shown */
};

/* At most o->width columns, no newline: what has no room is left out, least important first. */
int progress_line(const struct progress *p, const struct report_options *o, struct text *out);
/* "all streams", "one stream", "receiving without copying" ... */
const char *run_purpose_text(enum run_purpose p);

#endif

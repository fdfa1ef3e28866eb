/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Timeline: both ends' intervals of a run as one series, for reports and screens.
 *
 * The receiver's clock beats the time (what it took in is the rate); what the
 * sender saw is placed beside it.  Pure.
 */
#ifndef ND_EXAM_TIMELINE_H
#define ND_EXAM_TIMELINE_H

#include "src/exam/exam.h"

struct run_moment {
	struct nd_f64 start_s, seconds;
	struct nd_u64 goodput_bps;	/* receiver; unknown when only the sender was seen */
	struct nd_u64 other_goodput_bps;	/* bidirectional: that end's flows the other way */
	struct nd_u64 retransmits;	/* sender: those of its intervals centred in this moment */
	const struct core_load *hot[EXAM_ENDS];	/* busiest core, NULL unknown */
};
extern const struct field run_moment_fields[];
extern const size_t run_moment_nfields;

size_t run_moment_count(const struct run *r);
void run_moment_at(const struct run *r, size_t i, struct run_moment *out);

/* The core with the largest known busy share; NULL when none is known. */
const struct core_load *busiest_core(const struct core_load *cores, size_t n);

#endif

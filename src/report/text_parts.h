/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a text report, top down; report_text() puts them together. */
#ifndef ND_REPORT_TEXT_PARTS_H
#define ND_REPORT_TEXT_PARTS_H

#include "src/report/pen.h"

/* Adds "local (alpha)": the side and its host's name where it is known.  Not escaped. */
void side_name(const struct exam *e, enum side s, struct text *out);

/* The one sentence, behind the verdict as a word. */
void text_verdict(const struct pen *p, const struct diagnosis *d);
/* Who was examined: names, addresses, links. */
void text_hosts(const struct pen *p, const struct exam *e);
/* Each direction: what was measured, the ladder with it, the hot cores. */
void text_directions(const struct pen *p, const struct exam *e, const struct diagnosis *d,
		     bool verbose);
/* "0.05 ms idle, 4.1 ms (p99 9 ms) under load"; false: nothing was measured. */
bool text_round_trips(const struct run *r, struct text *out);
/* Of each main run: round trips; verbose: where its workers and its flows' packets were. */
void text_runs(const struct pen *p, const struct exam *e, bool verbose);
void text_findings(const struct pen *p, const struct exam *e, const struct diagnosis *d,
		   bool verbose);
void text_plan(const struct pen *p, const struct diagnosis *d);
void text_ruled_out(const struct pen *p, const struct diagnosis *d, bool verbose);
/* fold_peer: one entry for all that a peer that tells nothing did not tell. */
void text_unseen(const struct pen *p, const struct diagnosis *d, bool fold_peer);
/* Tool, time, and whether names were removed. */
void text_footer(const struct pen *p, const struct report_options *o);

#endif

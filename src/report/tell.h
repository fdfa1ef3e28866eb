/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a report, told to a sheet of any kind, top down; report.c puts them together. */
#ifndef ND_REPORT_TELL_H
#define ND_REPORT_TELL_H

#include "src/report/sheet.h"

/* Adds "local (alpha)": the side and its host's name where it is known.  Not escaped. */
void side_name(const struct exam *e, enum side s, struct text *out);

/* The one sentence, behind the verdict as a word. */
void tell_verdict(struct sheet *p, const struct diagnosis *d);
/* Who was examined: names, addresses, links. */
void tell_hosts(struct sheet *p, const struct exam *e);
/* Each direction: what was measured, the ladder with it, the hot cores. */
void tell_directions(struct sheet *p, const struct exam *e, const struct diagnosis *d,
		     bool verbose);
/* "50 us (p99 70 us) idle, 4.1 ms (p99 9 ms) under load: 82 times"; false: not measured. */
bool add_round_trips(const struct exam *e, const struct run *r, struct text *out);
/* Both directions at once, beside each alone; nothing when that was not measured. */
void tell_both(struct sheet *p, const struct exam *e, const struct diagnosis *d);
/* "cpu 3 98 % busy, user 1 % ...; mean of 8: 20 %", or why that is not known. */
void add_hot_core(struct text *out, const struct run_end *e);
/* Of each main run: round trips; verbose: where its workers and its flows' packets were. */
void tell_runs(struct sheet *p, const struct exam *e, bool verbose);
void tell_findings(struct sheet *p, const struct exam *e, const struct diagnosis *d, bool verbose);
void tell_plan(struct sheet *p, const struct diagnosis *d);
void tell_ruled_out(struct sheet *p, const struct diagnosis *d, bool verbose);
/* fold_peer: one entry for all that a peer that tells nothing did not tell. */
void tell_unseen(struct sheet *p, const struct diagnosis *d, bool fold_peer);
/* Tool, time, and whether names were removed. */
void tell_end(struct sheet *p, const struct report_options *o);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of an exam, from opening its connections to its row in the exam. */
#ifndef ND_EXAM_CONDUCT_RUN_H
#define ND_EXAM_CONDUCT_RUN_H

#include "src/exam/conduct.h"

/*
 * Appends a run to e, whatever happens: complete, incomplete or failed with the
 * reason.  offset_ns: the peer's CLOCK_MONOTONIC minus ours.  0, or -errno when it
 * is not complete.
 */
int conduct_run(struct peer *peer, const struct conduct_options *o,
		const struct planned_run *planned, int64_t offset_ns, struct exam *e,
		struct error *err);

#endif

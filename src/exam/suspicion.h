/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suspicion: cheap questions to a finished run that decide which experiment is
 * worth its seconds.  They accuse nobody; only rules conclude.  Pure.
 */
#ifndef ND_EXAM_SUSPICION_H
#define ND_EXAM_SUSPICION_H

#include "src/exam/exam.h"

/* MSS for the question "do only large packets vanish?": below every common tunnel's. */
#define PLAN_SMALL_MSS 1200

/* Almost nothing arrived although segments may be larger than PLAN_SMALL_MSS. */
bool suspect_large_packets(const struct run *r);
/* A congestion control worth comparing with ("cubic", "reno"), NULL: none. */
const char *suspect_congestion_control(const struct exam *e, const struct run *r,
				       const struct run_end *sender);
/* CPU-bound with packets cut small in software or hardware help off. */
bool suspect_packet_cost(const struct exam *e, const struct run *r);
/* A receiver thread saturates its core. */
bool suspect_receive_copy(const struct run *r);

#endif

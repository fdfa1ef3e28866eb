/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Round trips as an exam has them.  Pure. */
#ifndef ND_EXAM_LATENCY_H
#define ND_EXAM_LATENCY_H

#include "src/core/histogram.h"
#include "src/exam/exam.h"

/* Percentiles in microseconds; absent when nothing was answered. */
void latency_of(const struct histogram *h, uint64_t unanswered, struct latency *out);

#endif

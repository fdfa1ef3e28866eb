/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the two ends of a run to what it says as a whole.  Pure. */
#ifndef ND_EXAM_CONCLUDE_H
#define ND_EXAM_CONCLUDE_H

#include "src/exam/exam.h"

/*
 * Fills status, problem, rate, retransmits and loss of r from its ends; rc and text (NULL: none):
 * why it was not carried out to its end.  Goodput is what the receiver took in; a lost peer leaves
 * only the sender's count, which says nothing about datagrams.  Of a bidirectional run it is that
 * of the run's direction alone; the other's stands beside it.
 */
void run_conclude(struct run *r, int rc, const char *text, struct arena *mem);

#endif

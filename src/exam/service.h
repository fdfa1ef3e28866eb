/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Service: what `netdoctor serve` does for its clients.  Gives src/peer the
 * facts of this host and carries out this end of their runs.
 */
#ifndef ND_EXAM_SERVICE_H
#define ND_EXAM_SERVICE_H

#include "src/exam/exam.h"
#include "src/peer/peer.h"

struct exam_service;

struct exam_service *exam_service_new(void);	/* NULL: no memory */
void exam_service_free(struct exam_service *s);
/*
 * Has each test of a plain iperf3 client told, one at a time, from the threads of the server; the
 * exam ends with the call.  Before exam_service_callbacks().
 */
void exam_service_on_test(struct exam_service *s,
			  void (*on_test)(void *state, const struct exam *exam), void *state);
/* The callbacks over s, which must outlive the server. */
struct peer_service exam_service_callbacks(struct exam_service *s);

#endif

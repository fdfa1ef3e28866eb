/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Host watch: this host's cores, queues and link while no run samples them.  Used by one thread.
 */
#ifndef ND_EXAM_HOST_WATCH_H
#define ND_EXAM_HOST_WATCH_H

#include "src/exam/end.h"

struct host_watch;

/* facts tell what to sample and must outlive the watch.  0 or -errno. */
int host_watch_new(const struct facts *facts, struct host_watch **out);
void host_watch_free(struct host_watch *w);	/* NULL is fine */
/*
 * What happened since the last call, or since there is the watch; start_s counts from there.
 * 0 or -errno.
 */
int host_watch_next(struct host_watch *w, struct end_live *live);

#endif

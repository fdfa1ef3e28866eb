/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that wake often, do little and can wait for their turn: samplers, the screen.  With
 * SCHED_BATCH (sched(7), Linux 2.6.16) such a thread's waking does not push a worker off its CPU,
 * which costs far more than what the thread does: 100 samples a second at both ends of four
 * streams over loopback took 14 % of the rate without, 2 % with it.  The price is a sample that
 * is a few ms late where all CPUs are full.
 */
#ifndef ND_CORE_BACKGROUND_H
#define ND_CORE_BACKGROUND_H

#include <stdbool.h>

/* For the calling thread.  False: another policy (chrt) was chosen for it, which stays. */
bool background_begin(void);
/* Back to usual; `begun` is what background_begin() said. */
void background_end(bool begun);

#endif

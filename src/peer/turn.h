/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns: one run at a time, first come first served.  Internal to src/peer.
 *
 * Two runs at once would measure each other.  The head of the queue has the
 * turn; whoever becomes the head is woken through its eventfd.
 */
#ifndef ND_PEER_TURN_H
#define ND_PEER_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct turn { struct turn *next; int wake_fd; };
struct turn_queue { pthread_mutex_t lock; struct turn *head; };

void turn_queue_init(struct turn_queue *q);
void turn_queue_destroy(struct turn_queue *q);
void turn_join(struct turn_queue *q, struct turn *t);	/* at the end */
size_t turn_ahead(struct turn_queue *q, const struct turn *t);	/* 0: it is t's turn */
bool turn_is_awaited(struct turn_queue *q, const struct turn *t);	/* somebody is behind it */
void turn_leave(struct turn_queue *q, struct turn *t);	/* having had the turn or not */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/turn.h"

#include <sys/eventfd.h>

void turn_queue_init(struct turn_queue *q)
{
	pthread_mutex_init(&q->lock, NULL);
	q->head = NULL;
}

void turn_queue_destroy(struct turn_queue *q)
{
	pthread_mutex_destroy(&q->lock);
}

void turn_join(struct turn_queue *q, struct turn *t)
{
	struct turn **p = &q->head;

	pthread_mutex_lock(&q->lock);
	while (*p)
		p = &(*p)->next;
	t->next = NULL;
	*p = t;
	pthread_mutex_unlock(&q->lock);
}

size_t turn_ahead(struct turn_queue *q, const struct turn *t)
{
	size_t n = 0;

	pthread_mutex_lock(&q->lock);
	for (const struct turn *i = q->head; i && i != t; i = i->next)
		n++;
	pthread_mutex_unlock(&q->lock);
	return n;
}

bool turn_is_awaited(struct turn_queue *q, const struct turn *t)
{
	pthread_mutex_lock(&q->lock);
	bool awaited = t->next != NULL;
	pthread_mutex_unlock(&q->lock);
	return awaited;
}

void turn_leave(struct turn_queue *q, struct turn *t)
{
	struct turn **p = &q->head;

	pthread_mutex_lock(&q->lock);
	while (*p && *p != t)
		p = &(*p)->next;
	if (*p)
		*p = t->next;
	/* Under the lock: the new head cannot leave and close its eventfd before that. */
	if (p == &q->head && q->head)
		eventfd_write(q->head->wake_fd, 1);
	pthread_mutex_unlock(&q->lock);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stage: between the thread that examines and the one that draws.  Owns what a
 * scene points to; everything is done under its lock, which is held for the millisecond a
 * frame takes.  All calls from any thread.
 */
#ifndef ND_UI_STAGE_H
#define ND_UI_STAGE_H

#include "ui/scene.h"

struct stage;

struct stage *stage_new(void);			/* NULL: no memory */
void stage_free(struct stage *s);		/* NULL is fine; no thread may use it any more */
/* An eventfd: something is new. */
int stage_news_fd(const struct stage *s);

void stage_progress(struct stage *s, const struct scene_progress *p);
void stage_remark(struct stage *s, const char *text);
/* The exam is over; problem NULL: it went well. */
void stage_over(struct stage *s, const char *problem);
/*
 * A copy of what is known by now, and its diagnosis, to be owned by the stage.  What it had is
 * freed.  Either may be NULL.
 */
void stage_exam(struct stage *s, struct exam *e, struct diagnosis *d);
/* Appends to an end's history; out of memory: the sample is lost. */
void stage_sample(struct stage *s, enum side side, const struct history_sample *sample);
/* Run `number` of the stage's exam has ended: its history is told anew from its intervals. */
void stage_run_ended(struct stage *s, unsigned int number, double window_at_s);
/* The exam begins again: what was known is kept as the one before, histories are emptied. */
void stage_again(struct stage *s);
void stage_clients(struct stage *s, const struct scene_client *clients, size_t n);

/* Locks and fills in *scene but for its mode, names and clock; until stage_release(). */
void stage_hold(struct stage *s, struct scene *scene);
void stage_release(struct stage *s);

#endif

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
 * What is known by now: the members of *e are noted, so that it may grow, but not change or be
 * freed before stage_again() has been called twice, stage_forget(), or stage_free().  The
 * diagnosis (NULL: none) is the stage's to free.
 */
void stage_exam(struct stage *s, const struct exam *e, struct diagnosis *d);
/* e will be freed: it is shown no more, nor compared with. */
void stage_forget(struct stage *s, const struct exam *e);
/* Appends to an end's history; out of memory: the sample is lost. */
void stage_sample(struct stage *s, enum side side, const struct history_sample *sample);
/* Run `number` of the stage's exam has ended: its history is told anew from its intervals. */
void stage_run_ended(struct stage *s, unsigned int number, double window_at_s);
/* The exam begins again: what was known is kept as the one before, histories are emptied. */
void stage_again(struct stage *s);
/* left: who left last, NULL: nobody did. */
void stage_clients(struct stage *s, const struct scene_client *clients, size_t n,
		   const struct scene_client *left);

/* Locks and fills in *scene but for its mode, names and clock; until stage_release(). */
void stage_hold(struct stage *s, struct scene *scene);
void stage_release(struct stage *s);

#endif

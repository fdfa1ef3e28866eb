/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replay: a recorded exam on the screen, its runs one after the other in time.  Pure. */
#ifndef ND_UI_REPLAY_H
#define ND_UI_REPLAY_H

#include "ui/scene.h"

/*
 * Fills the histories (one for each end) with the exam's runs and the scene with all of it; the
 * cursor is at the end.  exam, diagnosis and histories must outlive the scene.  0 or -ENOMEM.
 */
int replay_exam(struct scene *s, const struct exam *e, const struct diagnosis *d,
		struct history *const histories[EXAM_ENDS]);

#endif

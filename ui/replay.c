/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/replay.h"

#include <math.h>

/* Recorded runs have no times of day: this much is put between them. */
#define GAP_S 1.0

int replay_exam(struct scene *s, const struct exam *e, const struct diagnosis *d,
		struct history *const histories[EXAM_ENDS])
{
	double at = 0;

	for (size_t i = 0; i < e->nruns; i++) {
		double end = at;
		for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
			int rc = history_add_run(histories[side], &e->runs[i],
						 (unsigned int)i + 1, side, at);
			if (rc)
				return rc;
			end = fmax(end, history_end(histories[side]));
		}
		at = end + GAP_S;
	}
	s->exam = e;
	s->diagnosis = d;
	for (int side = 0; side < EXAM_ENDS; side++)
		s->history[side] = histories[side];
	s->problem = e->problem.k == ND_KNOWN ? e->problem.v : NULL;
	s->progress = (struct scene_progress){ .phase = SCENE_OVER };
	s->now_s = s->cursor_s = at;
	s->paused = true;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time scale: which moment each column of a graph shows, ending at the cursor.  Pure. */
#ifndef ND_UI_TIMESCALE_H
#define ND_UI_TIMESCALE_H

#include "ui/canvas.h"
#include "ui/scene.h"

/* The last minute, or less when there is less. */
#define TIMESCALE_SECONDS 60.0

struct timescale { double from_s, to_s; unsigned int columns; };

/* For a graph of so many columns (bounded by CANVAS_MAX_COLUMNS). */
struct timescale timescale_for(const struct scene *s, unsigned int columns);
/* The sample of an end in a column; NULL: none then. */
const struct history_sample *timescale_sample(const struct timescale *t, const struct history *h,
					      unsigned int column);
/* Received rate of a direction in a column; NAN: no such run then. */
double timescale_rate(const struct timescale *t, const struct scene *s, enum run_direction d,
		      unsigned int column);

#endif

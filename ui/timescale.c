/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/timescale.h"

#include <math.h>

struct timescale timescale_for(const struct scene *s, unsigned int columns)
{
	double to = s->cursor_s, span = TIMESCALE_SECONDS;

	if (columns > CANVAS_MAX_COLUMNS)
		columns = CANVAS_MAX_COLUMNS;
	if (to < span)
		span = to;
	return (struct timescale){ to - span, to, columns };
}

const struct history_sample *timescale_sample(const struct timescale *t, const struct history *h,
					      unsigned int column)
{
	double step = t->columns ? (t->to_s - t->from_s) / t->columns : 0;
	double from = t->from_s + step * column;
	/* The newest that is in the column, and be it at its edge. */
	const struct history_sample *s = history_at(h, from + step);

	/* Between runs nothing is sampled: a gap, not the last value for ever. */
	return s && s->at_s + fmax(s->seconds, 0.2) > from ? s : NULL;
}

double timescale_rate(const struct timescale *t, const struct scene *s, enum run_direction d,
		      unsigned int column)
{
	enum side side = scene_counting_side(s, d);
	const struct history *h = s->history[side];
	double step = t->columns ? (t->to_s - t->from_s) / t->columns : 0;
	double from = t->from_s + step * column, most = NAN;

	/* Of several in a column the largest: a short run must not fall between two columns. */
	for (size_t i = history_index(h, from); i < history_count(h); i++) {
		const struct history_sample *sample = history_get(h, i);
		struct nd_f64 rate = scene_sample_rate(sample, side, d);
		if (sample->at_s >= from + step)
			break;
		if (sample->at_s + fmax(sample->seconds, 0.2) > from && rate.k == ND_KNOWN)
			most = isnan(most) || rate.v > most ? rate.v : most;
	}
	return most;
}

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
	double at = t->from_s + step * (column + 0.5);
	const struct history_sample *s = history_at(h, at);

	/* Between runs nothing is sampled: a gap, not the last value for ever. */
	return s && at <= s->at_s + fmax(s->seconds, 0.2) ? s : NULL;
}

double timescale_rate(const struct timescale *t, const struct scene *s, enum run_direction d,
		      unsigned int column)
{
	const struct history *h = s->history[run_receiver(d)];
	double step = t->columns ? (t->to_s - t->from_s) / t->columns : 0;
	double from = t->from_s + step * column, most = NAN;

	/* Of several in a column the largest: a short run must not fall between two columns. */
	for (size_t i = history_index(h, from); i < history_count(h); i++) {
		const struct history_sample *rx = history_get(h, i);
		if (rx->at_s >= from + step)
			break;
		if (rx->at_s + fmax(rx->seconds, 0.2) <= from || !rx->run || rx->direction != d ||
		    rx->received_bps.k != ND_KNOWN)
			continue;
		most = isnan(most) || rx->received_bps.v > most ? rx->received_bps.v : most;
	}
	return most;
}

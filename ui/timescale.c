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
	const struct history_sample *rx =
		timescale_sample(t, s->history[run_receiver(d)], column);

	if (!rx || !rx->run || rx->direction != d || rx->received_bps.k != ND_KNOWN)
		return NAN;
	return rx->received_bps.v;
}

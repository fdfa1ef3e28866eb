/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/progress_line.h"

#include <stdio.h>

#include "src/core/units.h"

void progress_line_show(struct progress_line *line, const struct exam_progress *p)
{
	char rate[32] = "";

	if (!line->shown || p->phase != EXAM_RUN_GOES_ON)
		return;
	const struct end_live *live = p->live[run_receiver(p->planned->spec.direction)];
	if (live)
		format_rate(live->rate_bps, rate, sizeof(rate));
	fprintf(stderr, "\r\033[Krun %u, %s, %s: %.1f of %.1f s %s", p->run_number,
		run_direction_word(p->planned->spec.direction),
		run_purpose_word(p->planned->purpose), p->elapsed_s, p->length_s, rate);
	fflush(stderr);
	line->open = true;
}

void progress_line_end(struct progress_line *line)
{
	if (line->open)
		fprintf(stderr, "\r\033[K");
	line->open = false;
}

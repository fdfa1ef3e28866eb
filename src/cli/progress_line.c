/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/progress_line.h"

#include <stdio.h>

#include "src/report/progress.h"

/* ECMA-48: back to the margin, erase to the end of the line. */
#define REWRITE "\r\033[K"

static void fill_run(const struct exam_progress *from, struct progress *to)
{
	const struct run_spec *spec = &from->planned->spec;
	const struct end_live *rx = from->live[run_receiver(spec->direction)];
	const struct end_live *tx = from->live[run_sender(spec->direction)];
	bool warm = from->elapsed_s * 1000 < (double)spec->warmup_ms;

	to->phase = warm ? PROGRESS_WARMUP : PROGRESS_RUN;
	to->run = from->run_number;
	to->runs = from->run_number <= from->certain_runs ? from->certain_runs : 0;
	to->direction = spec->direction;
	to->purpose = from->planned->purpose;
	to->streams = spec->streams;
	to->elapsed_s = from->elapsed_s;
	to->total_s = from->length_s;
	if (rx)
		to->rate_bps = spec->bidirectional ? rx->received_bps : nd_f64(rx->rate_bps);
	to->bidirectional = spec->bidirectional;
	if (tx && spec->bidirectional)
		to->other_bps = tx->received_bps;
	for (int side = 0; side < EXAM_ENDS; side++) {
		const struct end_live *live = from->live[side];
		if (!live || !live->hot_known)
			continue;
		to->hot[side].cpu = nd_u64(live->hot_cpu);
		to->hot[side].busy = nd_f64(live->hot_busy);
	}
}

void progress_line_show(const struct progress_line *line, const struct exam_progress *p)
{
	struct progress out = { .phase = PROGRESS_FACTS, .peer = line->peer };
	struct text t = TEXT_INIT;

	if (!line->shown)
		return;
	if (p->phase == EXAM_RUN_GOES_ON)
		fill_run(p, &out);
	else if (p->phase == EXAM_RUN_ENDED)
		out.phase = PROGRESS_DIAGNOSE;
	else if (p->phase != EXAM_CONNECTED)
		return;
	if (!progress_line(&out, &line->options, &t) && !t.failed)
		fprintf(stderr, REWRITE "%s", t.data ? t.data : "");
	fflush(stderr);
	text_free(&t);
}

void progress_line_end(const struct progress_line *line)
{
	if (line->shown)
		fprintf(stderr, REWRITE);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/progress.h"

#include <errno.h>

#include "src/core/units.h"
#include "src/report/pen.h"

enum { BAR_CELLS = 10, VALUE_CAP = 48, PARTS = 5 };

static const char *const purpose_texts[] = {
	[RUN_ALL_STREAMS] = "all streams",
	[RUN_ONE_STREAM] = "one stream",
	[RUN_OTHER_CONGESTION_CONTROL] = "other congestion control",
	[RUN_SMALL_SEGMENTS] = "small segments",
	[RUN_HALF_SEGMENTS] = "segments of half the size",
	[RUN_DISCARD_RECEIVE] = "receiving without copying",
	[RUN_BOTH_DIRECTIONS] = "all streams",
};
_Static_assert(ARRAY_SIZE(purpose_texts) == RUN_PURPOSES, "a text for each purpose");

const char *run_purpose_text(enum run_purpose p)
{
	return (unsigned int)p < RUN_PURPOSES ? purpose_texts[p] : "?";
}

static void add_what(const struct progress *p, struct text *out)
{
	switch (p->phase) {
	case PROGRESS_CONNECT:
		text_printf(out, "connecting to %s", p->peer ? p->peer : "the peer");
		return;
	case PROGRESS_FACTS:
		text_add(out, p->peer ? "reading both hosts" : "reading this host");
		return;
	case PROGRESS_DIAGNOSE:
		text_add(out, "diagnosing");
		return;
	case PROGRESS_WARMUP:
	case PROGRESS_RUN:
		break;
	}
	if (p->runs)
		text_printf(out, "run %u of %u: ", p->run, p->runs);
	else
		text_printf(out, "run %u: ", p->run);
	text_printf(out, "%s, ", p->bidirectional ? "both at once"
						  : run_direction_word(p->direction));
	if (p->purpose == RUN_ALL_STREAMS || p->purpose == RUN_BOTH_DIRECTIONS)
		text_printf(out, "%llu stream%s%s", (unsigned long long)p->streams,
			    p->streams == 1 ? "" : "s", p->bidirectional ? " each way" : "");
	else
		text_add(out, run_purpose_text(p->purpose));
}

static void add_bar(const struct pen *pen, const struct progress *p, struct text *out)
{
	double done = p->total_s > 0 ? p->elapsed_s / p->total_s : 0;
	struct pen bar = *pen;

	if (p->total_s <= 0)
		return;
	bar.out = out;
	text_add(out, "[");
	pen_bar(&bar, BAR_CELLS, 1, done < 1 ? done : 1, done < 1 ? done : 1, -1);
	text_add(out, "]");
}

static void add_rate(const struct progress *p, struct text *out)
{
	char value[VALUE_CAP];

	if (p->phase == PROGRESS_WARMUP)
		text_add(out, "warming up");
	if (p->rate_bps.k != ND_KNOWN)
		return;
	format_rate(p->rate_bps.v, value, sizeof(value));
	text_printf(out, "%s%s", out->len ? ", " : "", value);
	if (!p->bidirectional || p->other_bps.k != ND_KNOWN)
		return;
	format_rate(p->other_bps.v, value, sizeof(value));
	text_printf(out, " %s, %s %s", run_direction_word(p->direction), value,
		    run_direction_word(run_other_direction(p->direction)));
}

static void add_hot(const struct core_load *c, enum side s, struct text *out)
{
	char value[VALUE_CAP];

	if (c->busy.k != ND_KNOWN)
		return;
	format_quantity(c->busy.v, UNIT_SHARE, value, sizeof(value));
	if (c->cpu.k == ND_KNOWN)
		text_printf(out, "%s cpu %llu %s", side_word(s), (unsigned long long)c->cpu.v,
			    value);
	else
		text_printf(out, "%s %s", side_word(s), value);
}

/* Joins the parts that have room, in their order; the first is cut if it must be. */
static void join(const struct pen *pen, struct text *parts, size_t n)
{
	unsigned int used = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int columns;

		if (parts[i].failed)
			pen->out->failed = true;
		if (!parts[i].len)
			continue;
		columns = text_columns(parts[i].data);
		if (used && used + 2 + columns > pen->width)
			continue;
		if (used)
			text_add(pen->out, "  ");
		if (columns > pen->width)
			columns = pen->width;
		pen_field(pen, parts[i].data, columns);
		used += columns + (used ? 2 : 0);
	}
}

int progress_line(const struct progress *p, const struct report_options *o, struct text *out)
{
	struct pen pen = pen_for(o, out);
	struct text parts[PARTS] = { TEXT_INIT };
	struct text what = TEXT_INIT;
	bool running = p->phase == PROGRESS_WARMUP || p->phase == PROGRESS_RUN;

	/* Also when narrower than a report may be: a wrapped line could not be redrawn. */
	if (o->width)
		pen.width = o->width;
	add_what(p, &what);
	text_add_escaped(&parts[0], what.data ? what.data : "");
	text_free(&what);
	add_bar(&pen, p, &parts[1]);
	if (running) {
		add_rate(p, &parts[2]);
		for (enum side s = SIDE_LOCAL; s < EXAM_ENDS; s++)
			add_hot(&p->hot[s], s, &parts[3 + s]);
	}
	join(&pen, parts, PARTS);
	for (size_t i = 0; i < PARTS; i++)
		text_free(&parts[i]);
	return out->failed ? -ENOMEM : 0;
}

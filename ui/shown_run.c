/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/shown_run.h"

#include <stdio.h>
#include <string.h>

#include "src/report/progress.h"
#include "ui/draw.h"

static const struct run *run_by_number(const struct exam *e, unsigned int number)
{
	return e && number && number <= e->nruns ? &e->runs[number - 1] : NULL;
}

/* The run that the first finding is about, else the first that measured something. */
static const struct run *telling_run(const struct scene *s)
{
	const struct diagnosis *d = s->diagnosis;
	const struct run *r = NULL;

	for (size_t i = 0; d && i < d->nfindings && !r; i++)
		if (d->findings[i].has_direction)
			r = exam_main_run(s->exam, d->findings[i].direction);
	for (enum run_direction k = RUN_FORWARD; !r && k <= RUN_REVERSE; k++)
		r = exam_main_run(s->exam, k);
	return r ? r : s->exam->nruns ? &s->exam->runs[s->exam->nruns - 1] : NULL;
}

static void find_whole(struct shown_run *out, const struct exam *e, const struct run *r)
{
	if (!r)
		return;
	out->whole = true;
	out->run = r;
	out->number = (unsigned int)(r - e->runs) + 1;
}

/* True: out is the run that was chosen, or that the answer is about. */
static bool find_chosen(const struct scene *s, const struct view_state *v, struct shown_run *out)
{
	bool end = s->progress.phase == SCENE_OVER && s->cursor_s >= s->now_s;

	if (!s->exam || (!v->run && !end))
		return false;
	const struct run *chosen = run_by_number(s->exam, v->run);
	find_whole(out, s->exam, chosen ? chosen : telling_run(s));
	return out->whole;
}

/* No run goes on at the cursor: the means of the last one, or what was seen of it last. */
static void find_last(const struct scene *s, struct shown_run *out)
{
	const struct history_sample *newest = NULL;

	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		const struct history_sample *last = scene_last_of_run(s, side);
		if (last && (!newest || last->at_s > newest->at_s))
			newest = last;
	}
	if (!newest)
		return;
	out->number = newest->run;
	out->ended_s = nd_f64(newest->at_s + newest->seconds);
	out->run = run_by_number(s->exam, out->number);
	out->whole = out->run;
	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		const struct history_sample *last = scene_last_of_run(s, side);
		out->sample[side] = !out->whole && last && last->run == out->number ? last : NULL;
	}
}

static void find(const struct scene *s, const struct view_state *v, bool hosts,
		 struct shown_run *out)
{
	bool fresh = false;

	memset(out, 0, sizeof(*out));
	if (find_chosen(s, v, out))
		return;
	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++) {
		const struct history_sample *sample = scene_sample(s, side);
		out->sample[side] = sample;
		if (!scene_is_fresh(s, sample))
			continue;
		fresh = true;
		if (sample->run)
			out->number = sample->run;
	}
	out->run = run_by_number(s->exam, out->number);
	if (out->number)
		return;
	struct shown_run last = *out;
	find_last(s, &last);
	if (hosts && fresh)
		out->ended_s = last.ended_s;
	else
		*out = last;
}

void shown_run_find(const struct scene *s, const struct view_state *v, struct shown_run *out)
{
	find(s, v, false, out);
}

void shown_run_find_hosts(const struct scene *s, const struct view_state *v,
			  struct shown_run *out)
{
	find(s, v, true, out);
}

void shown_run_when(const struct scene *s, const struct shown_run *r, char *out, size_t cap)
{
	if (r->ended_s.k == ND_KNOWN)
		snprintf(out, cap, "as seen last");
	else if (scene_is_now(s))
		snprintf(out, cap, "now");
	else
		snprintf(out, cap, "at %.1f s", s->cursor_s);
}

const struct run_end *shown_run_end(const struct shown_run *r, enum side side)
{
	return r->run && r->run->ends[side].present ? &r->run->ends[side] : NULL;
}

/* "ended 12 s ago", or in a run that is the past anyway nothing. */
static void add_ended(const struct scene *s, const struct shown_run *r, const char *before,
		      struct text *out)
{
	char ago[SHOWN_CAP];

	if (r->ended_s.k != ND_KNOWN)
		return;
	show_ago(s->cursor_s - r->ended_s.v, ago);
	text_printf(out, "%sended %s", before, ago);
}

static void add_nature(const struct scene *s, const struct shown_run *r, struct text *out)
{
	const struct run *run = r->run;

	if (run)
		text_printf(out, ": %s %s", run_purpose_text(run->purpose),
			    scene_direction_word(run->spec.direction, run->spec.bidirectional));
	if (r->whole && run && run->seconds.k == ND_KNOWN)
		text_printf(out, ", mean of %.1f s", run->seconds.v);
	else if (r->whole)
		text_add(out, ", mean of the run");
	else if (r->ended_s.k != ND_KNOWN)
		text_printf(out, ", at %.1f s", s->cursor_s);
}

void shown_run_text(const struct scene *s, const struct shown_run *r, struct text *out)
{
	if (!r->number) {
		text_add(out, r->ended_s.k == ND_KNOWN ? "no run" : "no run yet");
		add_ended(s, r, ": the last ", out);
		return;
	}
	text_printf(out, "run %u", r->number);
	if (s->exam && s->exam->nruns >= r->number)
		text_printf(out, " of %zu", s->exam->nruns);
	add_nature(s, r, out);
	add_ended(s, r, ", ", out);
}

void shown_run_draw(const struct scene *s, const struct shown_run *r, struct canvas *c,
		    struct area row)
{
	struct text t = TEXT_INIT;

	shown_run_text(s, r, &t);
	if (t.data && !t.failed)
		canvas_text(c, row, 0, 0, INK_TITLE, t.data);
	text_free(&t);
}

void shown_run_draw_hosts(const struct scene *s, const struct view_state *v,
			  const struct shown_run *r, bool both, host_drawer draw,
			  struct canvas *c, struct area a)
{
	if (!both) {
		draw(s, v, r, v->side, c, a);
		return;
	}
	struct area left = area_take_left(&a, a.columns / 2);
	draw(s, v, r, SIDE_LOCAL, c, left);
	draw(s, v, r, SIDE_PEER, c, a);
}

size_t shown_run_cores(const struct shown_run *r, enum side side, struct history_core *to)
{
	const struct history_sample *sample = r->sample[side];
	const struct run_end *end = shown_run_end(r, side);

	if (sample && sample->ncores) {
		size_t n = sample->ncores < HISTORY_MAX_CORES ? sample->ncores : HISTORY_MAX_CORES;
		memcpy(to, sample->cores, n * sizeof(*to));
		return n;
	}
	return end ? history_cores_from(end->cores, end->ncores, to) : 0;
}

bool shown_run_key(const struct scene *s, struct view_state *v, uint32_t key)
{
	size_t n = s->exam ? s->exam->nruns : 0;

	switch (key) {
	case 'o':
		v->side = v->side == SIDE_LOCAL ? SIDE_PEER : SIDE_LOCAL;
		v->selected = 0;
		return true;
	case ']':
		v->run = v->run < n ? v->run + 1 : 0;
		return true;
	case '[':
		v->run = v->run ? v->run - 1 : (unsigned int)n;
		return true;
	default:
		return false;
	}
}

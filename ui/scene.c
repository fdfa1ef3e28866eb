/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/scene.h"

#include <inttypes.h>
#include <math.h>

#include "src/report/progress.h"

const struct history_sample *scene_sample(const struct scene *s, enum side side)
{
	return history_at(s->history[side], s->cursor_s);
}

/* Samples come a moment late, and those of an idle host once a second. */
#define LATE_LEAST_S 0.6
#define LATE_MOST_S 1.6

bool scene_is_fresh(const struct scene *s, const struct history_sample *h)
{
	double late = h ? fmin(fmax(h->seconds, LATE_LEAST_S), LATE_MOST_S) : 0;

	return h && s->cursor_s <= h->at_s + h->seconds + late;
}

const struct history_sample *scene_last_of_run(const struct scene *s, enum side side)
{
	const struct history *h = s->history[side];

	for (size_t i = scene_sample(s, side) ? history_index(h, s->cursor_s) + 1 : 0; i > 0; i--)
		if (history_get(h, i - 1)->run)
			return history_get(h, i - 1);
	return NULL;
}

bool scene_is_now(const struct scene *s)
{
	return !s->paused && s->progress.phase != SCENE_OVER;
}

struct nd_f64 scene_ended_s(const struct scene *s, enum run_direction d)
{
	enum side side = scene_counting_side(s, d);
	const struct history *h = s->history[side];

	if (scene_rate(s, d).k == ND_KNOWN)
		return nd_f64_unknown(ND_NOT_APPLICABLE);
	for (size_t i = scene_sample(s, side) ? history_index(h, s->cursor_s) + 1 : 0; i > 0; i--) {
		const struct history_sample *sample = history_get(h, i - 1);
		if (sample->run && (sample->direction == d || sample->bidirectional))
			return nd_f64(sample->at_s + sample->seconds);
	}
	return nd_f64_unknown(ND_ABSENT);
}

const char *scene_host(const struct scene *s, enum side side)
{
	static const char *const unknown[EXAM_ENDS] = { "local host", "peer host" };
	const struct facts *f = s->exam ? s->exam->facts[side] : NULL;

	if (f && f->host.hostname.k == ND_KNOWN && *f->host.hostname.v)
		return f->host.hostname.v;
	if (side == SIDE_PEER && s->peer)
		return s->peer;
	return unknown[side];
}

enum side scene_counting_side(const struct scene *s, enum run_direction d)
{
	enum side rx = run_receiver(d);

	return history_count(s->history[rx]) ? rx : side_other(rx);
}

struct nd_f64 scene_sample_rate(const struct history_sample *h, enum side side,
				enum run_direction d)
{
	if (!h || !h->run || (h->direction != d && !h->bidirectional))
		return nd_f64_unknown(ND_UNREAD);
	return side == run_receiver(d) ? h->received_bps : h->sent_bps;
}

struct nd_f64 scene_rate(const struct scene *s, enum run_direction d)
{
	enum side side = scene_counting_side(s, d);
	const struct history_sample *h = scene_sample(s, side);

	/* Between runs and after them there is none. */
	if (s->progress.phase == SCENE_OVER && s->cursor_s >= s->now_s)
		return nd_f64_unknown(ND_UNREAD);
	if (!scene_is_fresh(s, h))
		return nd_f64_unknown(ND_UNREAD);
	return scene_sample_rate(h, side, d);
}

const char *scene_direction_word(enum run_direction d, bool bidirectional)
{
	return bidirectional ? "in both directions" : run_direction_word(d);
}

const struct direction_result *scene_result(const struct scene *s, enum run_direction d)
{
	for (size_t i = 0; s->diagnosis && i < s->diagnosis->ndirections; i++)
		if (s->diagnosis->directions[i].direction == d)
			return &s->diagnosis->directions[i];
	return NULL;
}

/* What a run is for, after its name. */
static const char *const purposes[RUN_PURPOSES] = {
	[RUN_ALL_STREAMS] = "to measure the rate",
	[RUN_ONE_STREAM] = "to split per-core from per-link limits",
	[RUN_OTHER_CONGESTION_CONTROL] = "to see whether congestion control limits",
	[RUN_SMALL_SEGMENTS] = "to see whether only large packets vanish",
	[RUN_HALF_SEGMENTS] = "to split cost per packet from cost per byte",
	[RUN_DISCARD_RECEIVE] = "to see what the receiver's copy costs",
	[RUN_BOTH_DIRECTIONS] = "to compare with each alone",
};

static void doing_run(const struct scene_progress *p, struct text *out)
{
	text_printf(out, "run %u", p->run);
	if (p->runs && p->run <= p->runs)
		text_printf(out, " of %u", p->runs);
	bool all = p->purpose == RUN_ALL_STREAMS || p->purpose == RUN_BOTH_DIRECTIONS;
	if (all && p->streams > 1)
		text_printf(out, ": all %" PRIu64 " streams", p->streams);
	else
		text_printf(out, ": %s", run_purpose_text(p->purpose));
	text_printf(out, " %s", scene_direction_word(p->direction, p->bidirectional));
	if (!all && p->streams > 1)
		text_printf(out, " (%" PRIu64 " streams)", p->streams);
	if (p->purpose < RUN_PURPOSES)
		text_printf(out, ", %s", purposes[p->purpose]);
}

static void doing_serve(const struct scene *s, struct text *out)
{
	const struct scene_client *c = NULL;

	for (size_t i = 0; i < s->nclients && !c; i++)
		c = s->clients[i].running ? &s->clients[i] : NULL;
	if (c)
		text_printf(out, "run %u: %s%s, %" PRIu64 " stream%s", s->progress.run,
			    c->direction == RUN_FORWARD ? "this host sends to " : "from ",
			    c->address, c->streams, c->streams == 1 ? "" : "s");
	else if (s->nclients)
		text_printf(out, "%zu client%s, no run", s->nclients,
			    s->nclients == 1 ? "" : "s");
	else
		text_add(out, "waiting for clients");
}

void scene_doing(const struct scene *s, struct text *out)
{
	const struct scene_progress *p = &s->progress;

	if (s->mode == SCENE_SERVE && p->phase != SCENE_OVER) {
		doing_serve(s, out);
		return;
	}
	switch (p->phase) {
	case SCENE_CONNECTING:
		text_add(out, "connecting");
		if (s->peer)
			text_printf(out, " to %s", s->peer);
		break;
	case SCENE_READING:
		text_add(out, "reading both hosts");
		break;
	case SCENE_WARMUP:
	case SCENE_RUNNING:
		doing_run(p, out);
		if (p->phase == SCENE_WARMUP)
			text_add(out, " (warming up)");
		break;
	case SCENE_BETWEEN:
		text_add(out, "choosing what to run next");
		break;
	case SCENE_OVER:
		text_add(out, s->mode == SCENE_SHOW ? "recorded" : "done");
		break;
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/screen_feed.h"

#include <math.h>

#include "ui/loop.h"

static double now_s(const struct screen_feed *f)
{
	return loop_seconds_now() - f->begun_s;
}

/* The exam is the conductor's and goes on growing: the screen gets a copy. */
static void give_copy(struct screen_feed *f, const struct exam *e)
{
	struct diagnosis *d = NULL;
	struct exam *copy = NULL;
	cJSON *obj = exam_to_json(e);

	/* Without memory the screen keeps showing what it has. */
	if (!obj || exam_from_json(obj, &copy, NULL))
		copy = NULL;
	cJSON_Delete(obj);
	if (!copy)
		return;
	if (diagnose(copy, &d))
		d = NULL;
	stage_exam(f->stage, copy, d);
}

static struct scene_progress progress_of(const struct exam_progress *p, enum scene_phase phase)
{
	const struct run_spec *spec = &p->planned->spec;

	return (struct scene_progress){
		.phase = phase,
		.run = p->run_number,
		.runs = p->run_number <= p->certain_runs ? p->certain_runs : 0,
		.direction = spec->direction,
		.purpose = p->planned->purpose,
		.streams = spec->streams,
		.elapsed_s = p->elapsed_s,
		.total_s = p->length_s,
	};
}

static uint8_t to_share(double share)
{
	return (uint8_t)(fmin(fmax(share, 0), 1) * HISTORY_WHOLE + 0.5);
}

_Static_assert((int)LIVE_WHOLE == HISTORY_WHOLE && (int)LIVE_UNKNOWN == HISTORY_UNKNOWN,
	       "shares are copied as they are");

/* Older peers tell of their hottest core only. */
static size_t live_cores(const struct end_live *live, struct history_core to[LIVE_MAX_CORES])
{
	for (size_t i = 0; i < live->ncores; i++) {
		const struct live_core *c = &live->cores[i];
		to[i] = (struct history_core){ c->cpu, c->busy, c->user, c->system, c->softirq,
					       c->irq, c->steal };
	}
	if (live->ncores || !live->hot_known)
		return live->ncores;
	to[0] = (struct history_core){
		.cpu = (uint16_t)live->hot_cpu, .busy = to_share(live->hot_busy),
		.user = HISTORY_UNKNOWN, .system = HISTORY_UNKNOWN, .softirq = HISTORY_UNKNOWN,
		.irq = HISTORY_UNKNOWN, .steal = HISTORY_UNKNOWN,
	};
	return 1;
}

static void give_live(struct screen_feed *f, const struct exam_progress *p, enum side side)
{
	const struct end_live *live = p->live[side];
	enum run_direction d = p->planned->spec.direction;

	/* An interval is told again until there is a newer one. */
	if (!live || live->start_s == f->last_start_s[side])
		return;
	f->last_start_s[side] = live->start_s;
	struct history_core cores[LIVE_MAX_CORES];
	struct history_sample s = {
		.at_s = fmax(now_s(f) - live->seconds, 0),
		.seconds = live->seconds,
		.run = p->run_number,
		.warm = live->start_s < 0,
		.direction = d,
		.retransmits_ps = live->retransmits_ps,
		.link_rx_bps = live->link_rx_bps,
		.link_tx_bps = live->link_tx_bps,
		.cores = cores,
		.ncores = live_cores(live, cores),
	};
	*(side == run_sender(d) ? &s.sent_bps : &s.received_bps) = nd_f64(live->rate_bps);
	stage_sample(f->stage, side, &s);
}

static void run_goes_on(struct screen_feed *f, const struct exam_progress *p)
{
	double warmup_s = (double)p->planned->spec.warmup_ms / 1e3;
	struct scene_progress now = progress_of(p, p->elapsed_s < warmup_s ? SCENE_WARMUP
									   : SCENE_RUNNING);

	atomic_store(&f->runs_begun, true);
	if (f->window_at_s < 0)
		f->window_at_s = now_s(f) - p->elapsed_s + warmup_s;
	stage_progress(f->stage, &now);
	for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++)
		give_live(f, p, side);
}

static void progress(void *state, const struct exam_progress *p)
{
	struct screen_feed *f = state;
	struct scene_progress now = { .phase = SCENE_READING };

	switch (p->phase) {
	case EXAM_CONNECTED:
		stage_progress(f->stage, &now);
		break;
	case EXAM_FACTS_READ:
		give_copy(f, p->exam);
		now.phase = SCENE_BETWEEN;
		stage_progress(f->stage, &now);
		break;
	case EXAM_RUN_BEGINS:
		f->window_at_s = -1;
		f->last_start_s[SIDE_LOCAL] = f->last_start_s[SIDE_PEER] = NAN;
		now = progress_of(p, SCENE_WARMUP);
		stage_progress(f->stage, &now);
		break;
	case EXAM_RUN_GOES_ON:
		run_goes_on(f, p);
		break;
	case EXAM_RUN_ENDED:
		now = progress_of(p, SCENE_BETWEEN);
		stage_progress(f->stage, &now);
		give_copy(f, p->exam);
		if (f->window_at_s >= 0)
			stage_run_ended(f->stage, p->run_number, f->window_at_s);
		break;
	case EXAM_RUN_CONNECTED:
	case EXAM_BEAT:
		break;	/* for those who print lines */
	}
}

static void remark(void *state, const char *text)
{
	const struct screen_feed *f = state;

	stage_remark(f->stage, text);
}

void screen_feed_connect(struct screen_feed *f, struct conduct_options *o)
{
	f->window_at_s = -1;
	o->state = f;
	o->progress = progress;
	o->remark = remark;
}

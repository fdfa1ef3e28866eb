/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/screen_feed.h"

#include <math.h>

#include "ui/loop.h"

static double now_s(const struct screen_feed *f)
{
	return loop_seconds_now() - f->begun_s;
}

/*
 * The conductor goes on filling the exam: what is there by now does not change any more, and
 * stays as long as the exam does.
 */
void screen_feed_exam(struct screen_feed *f, const struct exam *e)
{
	struct diagnosis *d = NULL;

	/* Without memory the screen shows the exam alone. */
	if (diagnose(e, &d))
		d = NULL;
	stage_exam(f->stage, e, d);
}

static struct scene_progress progress_of(const struct exam_progress *p, enum scene_phase phase)
{
	const struct run_spec *spec = &p->planned->spec;

	return (struct scene_progress){
		.phase = phase,
		.run = p->run_number,
		.runs = p->run_number <= p->certain_runs ? p->certain_runs : 0,
		.direction = spec->direction,
		.bidirectional = spec->bidirectional,
		.purpose = p->planned->purpose,
		.streams = spec->streams,
		.elapsed_s = p->elapsed_s,
		/* Of a run by bytes it is only a bound. */
		.total_s = spec->total_bytes || spec->total_blocks ? 0 : p->length_s,
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

_Static_assert(LIVE_NO_IRQ == HISTORY_NO_IRQ && (int)LIVE_NO_CPU == HISTORY_NO_CPU,
	       "interrupts and CPUs are copied as they are");

static size_t live_queues(const struct end_live *live, struct history_queue to[LIVE_MAX_QUEUES])
{
	for (size_t i = 0; i < live->nqueues; i++)
		to[i] = (struct history_queue){ live->queues[i].irq, live->queues[i].cpu,
						(float)live->queues[i].per_s };
	return live->nqueues;
}

static float gauge(struct nd_u64 v)
{
	return v.k == ND_KNOWN ? (float)v.v : NAN;
}

static float per_second(struct nd_u64 v, double factor, double seconds)
{
	return v.k == ND_KNOWN && seconds > 0 ? (float)((double)v.v * factor / seconds) : NAN;
}

static float share_of(struct nd_u64 us, double seconds)
{
	float share = per_second(us, 1e-6, seconds);

	/* fminf() would make 1 of an unknown share. */
	return share > 1 ? 1 : share;
}

void screen_feed_flows(struct screen_feed *f, enum side side, const struct beat *b)
{
	size_t n = 0;

	for (size_t i = 0; b && i < b->nflows && n < HISTORY_MAX_FLOWS; i++) {
		const struct beat_flow *from = &b->flows[i];
		if (from->flow.k != ND_KNOWN || from->flow.v >= UINT32_MAX)
			continue;
		f->flows[side][n++] = (struct history_flow){
			.flow = (uint32_t)from->flow.v,
			.sends = nd_str_is(from->direction, "send"),
			.rate_bps = per_second(from->bytes, 8, b->seconds),
			.retransmits_ps = per_second(from->retransmits, 1, b->seconds),
			.cwnd_bytes = gauge(from->cwnd_bytes),
			.snd_wnd_bytes = gauge(from->snd_wnd_bytes),
			.rtt_us = gauge(from->rtt_us),
			.busy = share_of(from->busy_us, b->seconds),
			.rwnd_limited = share_of(from->rwnd_limited_us, b->seconds),
			.sndbuf_limited = share_of(from->sndbuf_limited_us, b->seconds),
			.cpu = from->incoming_cpu.k == ND_KNOWN && from->incoming_cpu.v < INT32_MAX
				? (int32_t)from->incoming_cpu.v : -1,
		};
	}
	/* A peer's beat that is late leaves what it told last. */
	if (b)
		f->nflows[side] = n;
}

void screen_feed_live(struct screen_feed *f, enum side side, const struct end_live *live,
		      const struct scene_progress *p)
{
	/* An interval is told again until there is a newer one. */
	if (live->start_s == f->last_start_s[side])
		return;
	f->last_start_s[side] = live->start_s;
	struct history_core cores[LIVE_MAX_CORES];
	struct history_queue queues[LIVE_MAX_QUEUES];
	struct history_sample s = {
		.at_s = fmax(now_s(f) - live->seconds, 0),
		.seconds = live->seconds,
		.run = p->run,
		.warm = live->start_s < 0,
		.direction = p->direction,
		.bidirectional = p->bidirectional,
		.retransmits_ps = live->retransmits_ps,
		.link_rx_bps = live->link_rx_bps,
		.link_tx_bps = live->link_tx_bps,
		.link_rx_pps = live->link_rx_pps,
		.link_tx_pps = live->link_tx_pps,
		.link_dropped_ps = live->link_dropped_ps,
		.cores = cores,
		.ncores = live_cores(live, cores),
		.queues = queues,
		.nqueues = live_queues(live, queues),
		.flows = f->flows[side],
		.nflows = f->nflows[side],
		.workers = live->workers,
		.nworkers = live->nworkers,
	};
	if (s.run)
		history_set_rates(&s, side, nd_f64(live->rate_bps), live->received_bps);
	stage_sample(f->stage, side, &s);
}

void screen_feed_run_begins(struct screen_feed *f)
{
	f->window_at_s = -1;
	f->last_start_s[SIDE_LOCAL] = f->last_start_s[SIDE_PEER] = NAN;
	f->nflows[SIDE_LOCAL] = f->nflows[SIDE_PEER] = 0;
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
		if (p->live[side])
			screen_feed_live(f, side, p->live[side], &now);
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
		screen_feed_exam(f, p->exam);
		now.phase = SCENE_BETWEEN;
		stage_progress(f->stage, &now);
		break;
	case EXAM_RUN_BEGINS:
		screen_feed_run_begins(f);
		now = progress_of(p, SCENE_WARMUP);
		stage_progress(f->stage, &now);
		break;
	case EXAM_RUN_GOES_ON:
		run_goes_on(f, p);
		break;
	case EXAM_RUN_ENDED:
		now = progress_of(p, SCENE_BETWEEN);
		stage_progress(f->stage, &now);
		screen_feed_exam(f, p->exam);
		if (f->window_at_s >= 0)
			stage_run_ended(f->stage, p->run_number, f->window_at_s);
		break;
	case EXAM_RUN_CONNECTED:
		break;
	case EXAM_BEAT:
		for (enum side side = SIDE_LOCAL; side < EXAM_ENDS; side++)
			screen_feed_flows(f, side, p->beats[side]);
		break;
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
	if (!o->plan.base.report_ms)
		o->plan.base.report_ms = SCREEN_FLOWS_MS;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/plan.h"

#include <string.h>

#include "src/exam/suspicion.h"

static bool tried(const struct exam *e, enum run_direction d, enum run_purpose p)
{
	for (size_t i = 0; i < e->nruns; i++)
		if (e->runs[i].purpose == p && e->runs[i].spec.direction == d)
			return true;
	return false;
}

static bool affordable(const struct plan_wishes *w, uint64_t spent_ms, const struct run_spec *s)
{
	return !w->budget_ms || spent_ms + s->warmup_ms + s->window_ms <= w->budget_ms;
}

/* A machine stood still in the one main run that there was: once more, it will hardly again. */
static bool worth_repeating(const struct exam *e, enum run_direction d)
{
	size_t all = 0, spoilt = 0;

	for (size_t i = 0; i < e->nruns; i++) {
		const struct run *r = &e->runs[i];

		if (r->purpose != RUN_ALL_STREAMS || r->spec.direction != d)
			continue;
		all++;
		spoilt += run_stood_still(r);
	}
	return all == 1 && spoilt == 1;
}

static bool wanted(const struct plan_wishes *w, enum run_direction d)
{
	return d == RUN_FORWARD ? w->forward : w->reverse;
}

/* The direction with the lower rate; of one that has none the other, forward when equal. */
static enum run_direction slower(const struct exam *e, const struct plan_wishes *w)
{
	const struct run *f = exam_main_run(e, RUN_FORWARD), *r = exam_main_run(e, RUN_REVERSE);

	if (!w->forward || (w->reverse && !f && r))
		return RUN_REVERSE;
	if (!w->reverse || !r)
		return RUN_FORWARD;
	return r->goodput_bps.v < f->goodput_bps.v ? RUN_REVERSE : RUN_FORWARD;
}

static bool other_congestion_control(const struct exam *e, const struct run *main,
				     struct run_spec *spec)
{
	const struct run_end *sender = &main->ends[run_sender(main->spec.direction)];
	const char *other = suspect_congestion_control(e, main, sender);

	if (!other || spec->congestion_control[0])
		return false;	/* the user chose one: that choice is not ours to question */
	return !run_spec_set_congestion(spec, other);
}

static bool small_segments(const struct exam *e, const struct run *main, struct run_spec *spec)
{
	(void)e;
	if (!suspect_large_packets(main))
		return false;
	spec->mss_bytes = PLAN_SMALL_MSS;
	if (spec->warmup_ms > 300)
		spec->warmup_ms = 300;
	return true;
}

static bool half_segments(const struct exam *e, const struct run *main, struct run_spec *spec)
{
	(void)e;
	struct nd_u64 mss = END_FLOW_MIN(&main->ends[run_sender(main->spec.direction)], snd_mss);

	if (!suspect_packet_cost(e, main) || mss.k != ND_KNOWN || mss.v < 1000 || spec->mss_bytes)
		return false;
	spec->mss_bytes = mss.v / 2;
	return true;
}

static bool discard_receive(const struct exam *e, const struct run *main, struct run_spec *spec)
{
	(void)e;
	if (!suspect_receive_copy(main) || spec->discard_receive)
		return false;
	spec->discard_receive = true;
	return true;
}

/* In order of how much an answer is worth. */
static const struct experiment {
	enum run_purpose purpose;
	bool (*fits)(const struct exam *e, const struct run *main, struct run_spec *spec);
} experiments[] = {
	{ RUN_SMALL_SEGMENTS, small_segments },
	{ RUN_OTHER_CONGESTION_CONTROL, other_congestion_control },
	{ RUN_HALF_SEGMENTS, half_segments },
	{ RUN_DISCARD_RECEIVE, discard_receive },
};

static bool plan_experiment(const struct exam *e, const struct plan_wishes *w, uint64_t spent_ms,
			    struct planned_run *out)
{
	size_t done = 0;
	enum run_direction order[2] = { slower(e, w), RUN_FORWARD };

	order[1] = run_other_direction(order[0]);
	for (size_t i = 0; i < e->nruns; i++)
		done += e->runs[i].purpose != RUN_ALL_STREAMS &&
			e->runs[i].purpose != RUN_ONE_STREAM &&
			e->runs[i].purpose != RUN_BOTH_DIRECTIONS;
	if (done >= PLAN_MAX_EXPERIMENTS)
		return false;
	for (size_t x = 0; x < ARRAY_SIZE(experiments); x++) {
		for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
			const struct run *main = exam_main_run(e, order[i]);
			/* All of them change what only TCP has. */
			if (!main || main->spec.protocol != RUN_TCP || !wanted(w, order[i]) ||
			    tried(e, order[i], experiments[x].purpose))
				continue;
			out->spec = main->spec;
			/* It was measured in the run that this one is compared with. */
			out->spec.latency = false;
			out->purpose = experiments[x].purpose;
			/* An experiment is compared with a measured run, not shown as a result:
			 * shorter. */
			if (out->spec.window_ms > 2500)
				out->spec.window_ms = 2500;
			if (experiments[x].fits(e, main, &out->spec) &&
			    affordable(w, spent_ms, &out->spec))
				return true;
		}
	}
	return false;
}

/* What is measured in less says little. */
#define SHORTEST_WINDOW_MS 500

bool plan_fit(struct plan_wishes *w, uint64_t max_seconds)
{
	uint64_t allowed_ms = max_seconds * 1000, warmup_ms = w->base.warmup_ms;

	if (warmup_ms + w->base.window_ms <= allowed_ms)
		return false;
	if (w->window_chosen) {
		if (w->warmup_chosen || w->base.window_ms > allowed_ms)
			return false;
		w->base.warmup_ms = allowed_ms - w->base.window_ms;
		return true;
	}
	/* Of a short run the window needs most: its first fifth is warm-up, as of the usual one. */
	if (!w->warmup_chosen && warmup_ms > allowed_ms / 5)
		warmup_ms = allowed_ms / 5;
	if (warmup_ms + SHORTEST_WINDOW_MS > allowed_ms)
		return false;
	w->base.warmup_ms = warmup_ms;
	if (w->base.window_ms > allowed_ms - warmup_ms)
		w->base.window_ms = allowed_ms - warmup_ms;
	return true;
}

bool plan_next(const struct exam *e, const struct plan_wishes *w, uint64_t spent_ms,
	       struct planned_run *out)
{
	static const enum run_direction both[] = { RUN_FORWARD, RUN_REVERSE };

	memset(out, 0, sizeof(*out));
	out->spec = w->base;
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		bool again = worth_repeating(e, both[i]);

		if (!wanted(w, both[i]) || (tried(e, both[i], RUN_ALL_STREAMS) && !again))
			continue;
		/* The user's own test is one run, whatever comes of it. */
		if (again && (!w->repeat || !affordable(w, spent_ms, &w->base)))
			continue;
		out->spec.direction = both[i];
		out->purpose = RUN_ALL_STREAMS;
		return true;
	}
	if (w->both && !tried(e, RUN_FORWARD, RUN_BOTH_DIRECTIONS)) {
		out->spec.direction = RUN_FORWARD;
		out->spec.bidirectional = true;
		out->purpose = RUN_BOTH_DIRECTIONS;
		return true;
	}
	enum run_direction d = slower(e, w);
	const struct run *main = exam_main_run(e, d);
	if (w->one_stream && main && main->spec.streams > 1 && !tried(e, d, RUN_ONE_STREAM) &&
	    !suspect_large_packets(main)) {
		out->spec.direction = d;
		out->spec.streams = 1;
		out->spec.latency = false;
		out->purpose = RUN_ONE_STREAM;
		if (affordable(w, spent_ms, &out->spec))
			return true;
	}
	return w->experiments && plan_experiment(e, w, spent_ms, out);
}

unsigned int plan_certain_runs(const struct plan_wishes *w)
{
	return (unsigned int)w->forward + (unsigned int)w->reverse + (unsigned int)w->both +
	       (unsigned int)(w->one_stream && w->base.streams > 1);
}

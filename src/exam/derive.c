/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/exam.h"

#include <math.h>
#include <string.h>

/* Shorter windows say more about the ramp than about the path. */
#define USABLE_WINDOW_SECONDS 0.5
/* Less of a core than this in softirqs is somebody's timers. */
#define OUR_SOFTIRQ_SHARE 0.05

bool run_stood_still(const struct run *r)
{
	return r->stood_still_us.k == ND_KNOWN && r->stood_still_us.v > 0;
}

bool run_usable(const struct run *r)
{
	if (r->status == RUN_FAILED || r->goodput_bps.k != ND_KNOWN || run_stood_still(r))
		return false;
	if (r->status == RUN_COMPLETE)
		return true;
	return r->seconds.k == ND_KNOWN && r->seconds.v >= USABLE_WINDOW_SECONDS;
}

const struct run *exam_run_for(const struct exam *e, enum run_direction d, enum run_purpose p)
{
	size_t i;

	for (i = e->nruns; i > 0; i--) {
		const struct run *r = &e->runs[i - 1];

		if (r->spec.direction == d && r->purpose == p && run_usable(r))
			return r;
	}
	return NULL;
}

const struct run *exam_main_run(const struct exam *e, enum run_direction d)
{
	return exam_run_for(e, d, RUN_ALL_STREAMS);
}

const struct run *exam_driving_run(const struct exam *e, enum run_direction d)
{
	const struct run *own = exam_main_run(e, d), *other;

	if (own)
		return own;
	other = exam_main_run(e, run_other_direction(d));
	return other && other->spec.bidirectional ? other : NULL;
}

const struct run *exam_both_run(const struct exam *e)
{
	for (size_t i = e->nruns; i > 0; i--) {
		const struct run *r = &e->runs[i - 1];

		/* Cut short, the one direction may have gone on without the other. */
		if (r->purpose == RUN_BOTH_DIRECTIONS && r->spec.bidirectional &&
		    r->status == RUN_COMPLETE && run_usable(r) &&
		    r->other_goodput_bps.k == ND_KNOWN)
			return r;
	}
	return NULL;
}

struct nd_u64 run_rate(const struct run *r, enum run_direction d)
{
	if (d == r->spec.direction)
		return r->goodput_bps;
	return r->spec.bidirectional ? r->other_goodput_bps : nd_u64_unknown(ND_NOT_APPLICABLE);
}

struct nd_u64 run_moved_ns(const struct run *r, enum side counted, enum side sender)
{
	const struct run_end *e = &r->ends[counted], *tx = &r->ends[sender];

	if (e->marked_ns.k != ND_KNOWN || !tx->present)
		return e->window_ns;
	/* An end that was cut short, or an older one, does not tell. */
	return tx->marked_ns.k == ND_KNOWN && tx->marked_ns.v ? tx->marked_ns : tx->window_ns;
}

static double share_or_0(struct nd_f64 share)
{
	return share.k == ND_KNOWN ? share.v : 0;
}

/* A core full of somebody else's work limits nothing: packets or a thread of ours were on it. */
static bool works_for_us(const struct run_end *e, const struct core_load *c)
{
	size_t i;

	if (share_or_0(c->softirq) + share_or_0(c->irq) >= OUR_SOFTIRQ_SHARE)
		return true;
	for (i = 0; e->window && i < e->window->nworkers; i++)
		if (c->cpu.k == ND_KNOWN && nd_u64_is(e->window->workers[i].cpu, c->cpu.v))
			return true;
	return false;
}

const struct core_load *end_hot_core(const struct run_end *e)
{
	const struct core_load *hot = NULL, *any = NULL;
	size_t i;

	if (!e->present)
		return NULL;
	for (i = 0; i < e->ncores; i++) {
		const struct core_load *c = &e->cores[i];

		if (c->busy.k != ND_KNOWN)
			continue;
		if (!any || c->busy.v > any->busy.v)
			any = c;
		if (works_for_us(e, c) && (!hot || c->busy.v > hot->busy.v))
			hot = c;
	}
	return hot ? hot : any;
}

struct nd_f64 end_mean_busy(const struct run_end *e)
{
	double sum = 0;
	size_t i, n = 0;

	for (i = 0; e->present && i < e->ncores; i++) {
		if (e->cores[i].busy.k != ND_KNOWN)
			continue;
		sum += e->cores[i].busy.v;
		n++;
	}
	return n ? nd_f64(sum / (double)n) : nd_f64_unknown(ND_UNREAD);
}

/* Microseconds of the window; 0 when not known. */
static double window_us(const struct run_end *e)
{
	if (!e->present || !e->window || e->window_ns.k != ND_KNOWN)
		return 0;
	return (double)e->window_ns.v / 1000;
}

/* The exact clock where there is one, else what the tick accounted. */
static struct nd_f64 worker_cpu_us(const struct worker_sample *w)
{
	if (w->cpu_us.k == ND_KNOWN)
		return nd_f64((double)w->cpu_us.v);
	if (w->user_us.k == ND_KNOWN && w->system_us.k == ND_KNOWN)
		return nd_f64((double)w->user_us.v + (double)w->system_us.v);
	return nd_f64_unknown(w->cpu_us.k);
}

static struct nd_f64 worker_wait_us(const struct worker_sample *w)
{
	if (w->run_delay_us.k == ND_KNOWN)
		return nd_f64((double)w->run_delay_us.v);
	return nd_f64_unknown(w->run_delay_us.k);
}

struct over_workers { struct nd_f64 max, sum; };

/* Largest and sum of a time over the workers, in shares of the window. */
static struct over_workers over_workers(const struct run_end *e,
					struct nd_f64 (*time_us)(const struct worker_sample *))
{
	struct over_workers out = { nd_f64_unknown(ND_UNREAD), nd_f64_unknown(ND_UNREAD) };
	double us = window_us(e);
	size_t i;

	if (!(us > 0))
		return out;
	for (i = 0; i < e->window->nworkers; i++) {
		struct nd_f64 t = time_us(&e->window->workers[i]);

		if (t.k != ND_KNOWN) {
			if (out.max.k != ND_KNOWN)
				out.max.k = out.sum.k = t.k;
			continue;
		}
		if (out.max.k != ND_KNOWN) {
			out.max = out.sum = nd_f64(t.v / us);
			continue;
		}
		out.max.v = fmax(out.max.v, t.v / us);
		out.sum.v += t.v / us;
	}
	return out;
}

struct nd_f64 end_busiest_worker(const struct run_end *e)
{
	return over_workers(e, worker_cpu_us).max;
}

struct nd_f64 end_worker_cores(const struct run_end *e)
{
	return over_workers(e, worker_cpu_us).sum;
}

struct nd_f64 end_worker_wait(const struct run_end *e)
{
	return over_workers(e, worker_wait_us).max;
}

bool end_sampling_of(const struct run *r, enum side s, struct end_sampling *out)
{
	const struct run_end *e = &r->ends[s];
	double missing;

	*out = (struct end_sampling){ .asked_s = (double)r->spec.window_ms / 1000 };
	if (!e->present || e->window_ns.k != ND_KNOWN || !(out->asked_s > 0))
		return false;
	out->window_s = (double)e->window_ns.v / 1e9;
	out->expected = round(out->asked_s * EXAM_SAMPLES_PER_SECOND);
	out->samples = e->nintervals;
	out->error = fabs(out->window_s / out->asked_s - 1);
	missing = out->expected > 0 ? 1 - (double)out->samples / out->expected : 0;
	if (out->samples)
		out->error = fmax(out->error, missing);
	return true;
}

static const void *member_of(const struct flow_summary *f, size_t offset)
{
	return (const char *)f + offset;
}

struct nd_f64 end_flow_mean(const struct run_end *e, size_t member_offset)
{
	enum nd_known why = ND_UNREAD;
	double sum = 0;
	size_t i, n = 0;

	for (i = 0; e->present && i < e->nflows; i++) {
		const struct nd_f64 *v = member_of(&e->flows[i], member_offset);

		if (v->k == ND_KNOWN) {
			sum += v->v;
			n++;
		} else {
			why = v->k;
		}
	}
	return n ? nd_f64(sum / (double)n) : nd_f64_unknown(why);
}

struct nd_u64 end_flow_sum(const struct run_end *e, size_t member_offset)
{
	struct nd_u64 sum = nd_u64_unknown(ND_UNREAD);
	size_t i;

	for (i = 0; e->present && i < e->nflows; i++) {
		const struct nd_u64 *v = member_of(&e->flows[i], member_offset);

		if (v->k != ND_KNOWN) {
			if (sum.k != ND_KNOWN)
				sum.k = v->k;
		} else if (sum.k != ND_KNOWN) {
			sum = *v;
		} else if (__builtin_add_overflow(sum.v, v->v, &sum.v)) {
			/* Only a hostile peer counts this far. */
			return nd_u64_unknown(ND_INVALID);
		}
	}
	return sum;
}

struct nd_u64 end_flow_min(const struct run_end *e, size_t member_offset)
{
	struct nd_u64 min = nd_u64_unknown(ND_UNREAD);
	size_t i;

	for (i = 0; e->present && i < e->nflows; i++) {
		const struct nd_u64 *v = member_of(&e->flows[i], member_offset);

		if (v->k != ND_KNOWN) {
			if (min.k != ND_KNOWN)
				min.k = v->k;
		} else if (min.k != ND_KNOWN || v->v < min.v) {
			min = *v;
		}
	}
	return min;
}

struct nd_u64 end_bytes_of(const struct run_end *e, const char *direction)
{
	struct nd_u64 sum = nd_u64_unknown(ND_UNREAD);
	size_t i;

	for (i = 0; e->present && i < e->nflows; i++) {
		const struct flow_summary *f = &e->flows[i];

		if (!nd_str_is(f->direction, direction))
			continue;
		if (f->bytes.k != ND_KNOWN)
			return nd_u64_unknown(f->bytes.k);
		if (sum.k != ND_KNOWN)
			sum = f->bytes;
		else if (__builtin_add_overflow(sum.v, f->bytes.v, &sum.v))
			return nd_u64_unknown(ND_INVALID);
	}
	return sum;
}

const struct latency *exam_idle(const struct exam *e)
{
	for (size_t i = 0; i < e->nruns; i++)
		if (e->runs[i].idle.p50_us.k == ND_KNOWN)
			return &e->runs[i].idle;
	return NULL;
}

struct nd_f64 run_latency_growth(const struct exam *e, const struct run *r)
{
	const struct latency *idle = exam_idle(e);

	if (!idle)
		return nd_f64_unknown(ND_UNREAD);
	if (r->loaded.p50_us.k != ND_KNOWN)
		return nd_f64_unknown(r->loaded.p50_us.k);
	if (!(idle->p50_us.v > 0))
		return nd_f64_unknown(ND_INVALID);
	return nd_f64(r->loaded.p50_us.v / idle->p50_us.v);
}

const char *end_congestion_control(const struct run_end *e)
{
	size_t i;

	for (i = 0; e->present && i < e->nflows; i++)
		if (e->flows[i].congestion_control.k == ND_KNOWN)
			return e->flows[i].congestion_control.v;
	return NULL;
}

static const struct facts *facts_of(const struct exam *e, enum side s)
{
	return s == SIDE_LOCAL || s == SIDE_PEER ? e->facts[s] : NULL;
}

const struct link_facts *exam_egress(const struct exam *e, enum side s)
{
	return facts_egress(facts_of(e, s));
}

const struct link_facts *exam_port(const struct exam *e, enum side s)
{
	const struct link_facts *egress = exam_egress(e, s);

	if (!egress || egress->ifindex.k != ND_KNOWN)
		return egress;
	return facts_bottom_link(facts_of(e, s), egress->ifindex.v);
}

static bool is_bundle(const struct link_facts *l)
{
	return nd_str_is(l->kind, "bond") || nd_str_is(l->kind, "team");
}

/* The bond between egress and port, whose speed is that of all its members. */
static const struct link_facts *bundle_below(const struct facts *f, const struct link_facts *egress)
{
	const struct link_facts *l = egress;
	int depth;

	/* A stack of a few links; the bound is for a report whose links form a ring. */
	for (depth = 0; l && depth < 16; depth++) {
		if (is_bundle(l))
			return l;
		if (l->lower_ifindex.k != ND_KNOWN)
			return NULL;
		l = facts_link(f, l->lower_ifindex.v);
	}
	return NULL;
}

static struct nd_f64 speed_of(const struct link_facts *l)
{
	if (l->speed_mbps.k != ND_KNOWN)
		return nd_f64_unknown(l->speed_mbps.k);
	/* 0 and 2^32-1 are how drivers say unknown. */
	if (l->speed_mbps.v == 0 || l->speed_mbps.v >= UINT32_MAX)
		return nd_f64_unknown(ND_INVALID);
	return nd_f64((double)l->speed_mbps.v * 1e6);
}

struct nd_f64 exam_line_rate(const struct exam *e, enum side s)
{
	const struct link_facts *port = exam_port(e, s), *egress = exam_egress(e, s), *bundle;
	struct nd_f64 rate;

	if (e->wishes.link_speed_bps.k == ND_KNOWN && e->wishes.link_speed_bps.v > 0)
		return nd_f64((double)e->wishes.link_speed_bps.v);
	if (!port)
		return nd_f64_unknown(ND_UNREAD);
	bundle = bundle_below(facts_of(e, s), egress);
	if (bundle) {
		rate = speed_of(bundle);
		if (rate.k == ND_KNOWN)
			return rate;
	}
	return speed_of(port);
}

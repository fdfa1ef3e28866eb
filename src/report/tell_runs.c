/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the main runs tell besides their rate: round trips, and where workers and packets were. */
#include "src/report/tell.h"

#include <inttypes.h>
#include <stdio.h>

enum { VALUE_CAP = 48 };

static void add_time(struct nd_f64 us, struct text *out)
{
	char value[VALUE_CAP];

	if (us.k != ND_KNOWN) {
		text_add(out, "not known");
		return;
	}
	format_quantity(us.v, UNIT_MICROSECONDS, value, sizeof(value));
	text_add(out, value);
}

/* "50 us (p99 70 us)" */
static void add_times(const struct latency *l, struct text *out)
{
	add_time(l->p50_us, out);
	text_add(out, " (p99 ");
	add_time(l->p99_us, out);
	text_add(out, ")");
}

bool add_round_trips(const struct exam *e, const struct run *r, struct text *out)
{
	const struct latency *idle = exam_idle(e);
	struct nd_f64 growth = run_latency_growth(e, r);

	if (r->loaded.p50_us.k != ND_KNOWN && r->idle.p50_us.k != ND_KNOWN)
		return false;
	add_times(idle ? idle : &r->idle, out);
	text_add(out, " idle, ");
	add_times(&r->loaded, out);
	text_add(out, " under load");
	if (growth.k == ND_KNOWN)
		text_printf(out, growth.v < 9.95 ? ": %.1f times" : ": %.0f times", growth.v);
	return true;
}

static void round_trips(struct sheet *p, const struct exam *e, const struct run *r)
{
	struct text line = TEXT_INIT;

	if (add_round_trips(e, r, &line))
		p->kind->field(p, "round trip", line.data);
	text_free(&line);
}

/* "0 on CPU 4 (own-core), 1 on CPU 5 (own-core)" */
static void workers(struct sheet *p, const struct run *r, enum side s)
{
	const struct run_end *e = &r->ends[s];
	struct text line = TEXT_INIT;

	if (!e->present || e->placement.k != ND_KNOWN)
		return;
	text_printf(&line, "%s: %s", side_word(s), e->placement.v);
	for (size_t i = 0; i < e->nplaced; i++) {
		const struct placed_worker *w = &e->placed[i];
		if (w->worker.k != ND_KNOWN || w->cpu.k != ND_KNOWN)
			continue;
		text_printf(&line, "%s%" PRIu64 " on CPU %" PRIu64 " (%s)", i ? ", " : "; ",
			    w->worker.v, w->cpu.v, w->reason.k == ND_KNOWN ? w->reason.v : "?");
	}
	p->kind->field(p, "workers", line.data);
	text_free(&line);
}

/* More than this would be pages; JSON has them all. */
#define MAX_FLOWS 16

static void flow_paths(struct sheet *p, const struct run *r, enum side s)
{
	const struct run_end *e = &r->ends[s];
	size_t shown = 0;

	for (size_t i = 0; e->present && i < e->nflows && shown < MAX_FLOWS; i++) {
		const struct flow_summary *f = &e->flows[i];
		char line[160];

		if (f->flow.k != ND_KNOWN || f->rx_queue.k != ND_KNOWN)
			continue;
		int n = snprintf(line, sizeof(line), "%s: flow %" PRIu64 " comes in on queue %"
				 PRIu64, side_word(s), f->flow.v, f->rx_queue.v);
		if (f->irq.k == ND_KNOWN)
			n += snprintf(line + n, sizeof(line) - (size_t)n, ", IRQ %" PRIu64,
				      f->irq.v);
		if (f->irq_cpu.k == ND_KNOWN)
			n += snprintf(line + n, sizeof(line) - (size_t)n, " on CPU %" PRIu64,
				      f->irq_cpu.v);
		if (f->incoming_cpu.k == ND_KNOWN)
			snprintf(line + n, sizeof(line) - (size_t)n, "; last taken in by CPU %"
				 PRIu64, f->incoming_cpu.v);
		p->kind->field(p, shown++ ? "" : "flows", line);
	}
}

static bool has_more(const struct run *r, bool verbose)
{
	if (r->idle.p50_us.k == ND_KNOWN || r->loaded.p50_us.k == ND_KNOWN)
		return true;
	for (enum side s = SIDE_LOCAL; verbose && s < EXAM_ENDS; s++)
		if (r->ends[s].present && r->ends[s].placement.k == ND_KNOWN)
			return true;
	return false;
}

void tell_runs(struct sheet *p, const struct exam *e, bool verbose)
{
	static const enum run_direction both[] = { RUN_FORWARD, RUN_REVERSE };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		const struct run *r = exam_main_run(e, both[i]);
		char heading[64];

		if (!r || !has_more(r, verbose))
			continue;
		snprintf(heading, sizeof(heading), "Run %s", run_direction_word(both[i]));
		p->kind->heading(p, heading);
		p->kind->open(p, BLOCK_RUN);
		round_trips(p, e, r);
		for (enum side s = SIDE_LOCAL; verbose && s < EXAM_ENDS; s++) {
			workers(p, r, s);
			flow_paths(p, r, s);
		}
		p->kind->close(p);
	}
}

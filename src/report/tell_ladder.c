/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/tell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/units.h"

enum { QUANTITY_CAP = 48 };

static struct rung *add_rung(struct rungs *r, enum rung_kind kind, const char *what,
			     const char *side)
{
	struct rung *row = &r->rows[r->n++];

	*row = (struct rung){ .kind = kind, .what = what, .side = side };
	return row;
}

static void add_measured(struct rungs *r)
{
	struct rung *row = add_rung(r, RUNG_MEASURED, "measured", "");

	row->low_bps = row->high_bps = r->measured;
}

static void add_inputs(struct text *words, const struct ceiling *c)
{
	char value[QUANTITY_CAP];

	text_printf(words, "%s", ceiling_basis_word(c->basis));
	if (c->formula)
		text_printf(words, ": %s", c->formula);
	for (size_t i = 0; i < c->ninputs; i++) {
		format_quantity(c->inputs[i].value, c->inputs[i].unit, value, sizeof(value));
		text_printf(words, "%s %s = %s", i ? "," : ";", c->inputs[i].name, value);
	}
}

static void add_ceiling(struct rungs *r, const struct ceiling *c, bool lowest, bool verbose)
{
	struct rung *row = add_rung(r, RUNG_CEILING, ceiling_word(c->kind), side_word(c->side));

	row->lowest = lowest;
	row->subject = c->subject;
	row->low_bps = c->low_bps;
	row->high_bps = c->high_bps;
	if (verbose)
		add_inputs(&row->words, c);
}

static void add_unknown(struct rungs *r, const struct diagnosis *d, enum run_direction dir)
{
	for (size_t i = 0; i < d->ladder.n; i++) {
		const struct ceiling *c = &d->ladder.ceilings[i];

		if (c->direction != dir || c->known)
			continue;
		text_printf(&add_rung(r, RUNG_UNKNOWN, ceiling_word(c->kind),
				      side_word(c->side))->words,
			    "not known: %s", c->why_unknown ? c->why_unknown : "no reason given");
	}
}

static void add_share(struct text *line, const char *what, struct nd_f64 share)
{
	char value[QUANTITY_CAP];

	if (share.k != ND_KNOWN || share.v < 0.005)
		return;
	format_quantity(share.v, UNIT_SHARE, value, sizeof(value));
	text_printf(line, ", %s %s", what, value);
}

void add_hot_core(struct text *out, const struct run_end *e)
{
	const struct core_load *hot = end_hot_core(e);
	struct nd_f64 mean = end_mean_busy(e);
	char value[QUANTITY_CAP];

	if (!hot) {
		text_printf(out, "not known: %s",
			    e->problem.k == ND_KNOWN ? e->problem.v
			    : e->present	     ? "its CPU time was not read"
						     : "this end was not seen");
		return;
	}
	format_quantity(hot->busy.v, UNIT_SHARE, value, sizeof(value));
	if (hot->cpu.k == ND_KNOWN)
		text_printf(out, "cpu %llu", (unsigned long long)hot->cpu.v);
	else
		text_add(out, "one cpu");
	text_printf(out, " %s busy", value);
	add_share(out, "user", hot->user);
	add_share(out, "system", hot->system);
	add_share(out, "softirq", hot->softirq);
	add_share(out, "irq", hot->irq);
	add_share(out, "steal", hot->steal);
	if (mean.k == ND_KNOWN && e->ncores > 1) {
		format_quantity(mean.v, UNIT_SHARE, value, sizeof(value));
		text_printf(out, "; mean of %zu: %s", e->ncores, value);
	}
}

/* The window's end came late, as on a machine without CPU time to spare (tool-sampling-uneven). */
static bool off_by_much(const struct run *r)
{
	double asked = (double)r->spec.window_ms / 1000;

	return r->status == RUN_COMPLETE && r->seconds.k == ND_KNOWN && asked > 0 &&
	       fabs(r->seconds.v / asked - 1) > 0.1;
}

/* "8 streams, 4.00 s, 12 retransmits, loss 0.01 %" and what went wrong. */
static void run_line(struct sheet *p, const struct run *r)
{
	struct text line = TEXT_INIT;
	char value[QUANTITY_CAP];

	text_printf(&line, "%llu %sstream%s", (unsigned long long)r->spec.streams,
		    r->spec.protocol == RUN_UDP ? "UDP " : "", r->spec.streams == 1 ? "" : "s");
	if (r->spec.protocol == RUN_UDP)
		text_printf(&line, " of %llu-byte datagrams",
			    (unsigned long long)r->spec.block_bytes);
	if (r->seconds.k == ND_KNOWN)
		text_printf(&line, ", %.1f s", r->seconds.v);
	if (off_by_much(r))
		text_printf(&line, " instead of %.1f s", (double)r->spec.window_ms / 1000);
	if (r->retransmits.k == ND_KNOWN)
		text_printf(&line, ", %llu retransmit%s", (unsigned long long)r->retransmits.v,
			    r->retransmits.v == 1 ? "" : "s");
	if (r->loss.k == ND_KNOWN && r->loss.v > 0) {
		format_quantity(r->loss.v, UNIT_SHARE, value, sizeof(value));
		text_printf(&line, ", loss %s", value);
	}
	if (r->status != RUN_COMPLETE)
		text_printf(&line, "; %s: %s", run_status_word(r->status),
			    r->problem.k == ND_KNOWN ? r->problem.v : "no reason given");
	p->kind->paragraph(p, line.data);
	text_free(&line);
}

static void direction_heading(struct sheet *p, const struct direction_result *r)
{
	bool forward = r->direction == RUN_FORWARD;
	struct text line = TEXT_INIT;
	char rate[QUANTITY_CAP], share[QUANTITY_CAP];

	text_printf(&line, "%s (%s %s %s): ", forward ? "Forward" : "Reverse",
		    side_word(run_sender(r->direction)), pen_glyph(&p->pen, GLYPH_ARROW),
		    side_word(run_receiver(r->direction)));
	if (r->measured) {
		format_rate(r->measured_bps, rate, sizeof(rate));
		text_printf(&line, "%s measured", rate);
	} else {
		text_add(&line, "not measured");
	}
	if (r->measured && r->explained.k == ND_KNOWN) {
		format_quantity(r->explained.v, UNIT_SHARE, share, sizeof(share));
		text_printf(&line, ", %s of the lowest ceiling", share);
	}
	if (r->target_bps.k == ND_KNOWN) {
		format_rate(r->target_bps.v, rate, sizeof(rate));
		text_printf(&line, ", target %s", rate);
	}
	p->kind->heading(p, line.data ? line.data : "");
	text_free(&line);
}

static void tell_rungs(struct sheet *p, const struct run *run, const struct diagnosis *d,
		       const struct direction_result *dir, bool verbose)
{
	const struct ceiling **known = calloc(d->ladder.n + 1, sizeof(struct ceiling *));
	struct rungs r = { .measured = dir->measured ? dir->measured_bps : -1 };
	size_t n;

	/* Beside the ceilings: what was measured, and a core of each end. */
	r.rows = calloc(d->ladder.n + 1 + EXAM_ENDS, sizeof(*r.rows));
	if (!known || !r.rows) {
		p->out->failed = true;
		goto out;
	}
	n = ladder_known(&d->ladder, dir->direction, known, d->ladder.n);
	r.scale = ladder_scale(known, n, dir->bottleneck, fmax(r.measured, 0));
	if (dir->measured)
		add_measured(&r);
	for (size_t i = 0; i < n; i++)
		add_ceiling(&r, known[i], known[i] == dir->bottleneck, verbose);
	add_unknown(&r, d, dir->direction);
	for (enum side s = SIDE_LOCAL; run && s < EXAM_ENDS; s++)
		add_hot_core(&add_rung(&r, RUNG_CORE, "hot core", side_word(s))->words,
			     &run->ends[s]);
	p->kind->rungs(p, &r);
out:
	for (size_t i = 0; i < r.n; i++)
		text_free(&r.rows[i].words);
	free(r.rows);
	free(known);
}

void tell_directions(struct sheet *p, const struct exam *e, const struct diagnosis *d, bool verbose)
{
	for (size_t i = 0; i < d->ndirections; i++) {
		const struct direction_result *dir = &d->directions[i];
		const struct run *run = exam_main_run(e, dir->direction);

		direction_heading(p, dir);
		if (run)
			run_line(p, run);
		tell_rungs(p, run, d, dir, verbose);
		if (run && p->kind->history)
			p->kind->history(p, run);
	}
}

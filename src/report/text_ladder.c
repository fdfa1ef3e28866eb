/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/text_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/units.h"

enum { LABEL_COLUMNS = 20, RATE_COLUMNS = 20, SUBJECT_COLUMNS = 13, MIN_BAR = 10, MAX_BAR = 60 };
enum { QUANTITY_CAP = 48 };

/* The ladder of one direction, lowest ceiling first, and what its bars are drawn against. */
struct rungs {
	const struct ceiling **known;
	size_t n;
	const struct ceiling *lowest;
	double scale;		/* bit/s at the right end of a bar */
	double measured;	/* < 0: not measured */
	unsigned int bar;	/* columns */
};

static int rungs_make(const struct pen *p, const struct diagnosis *d,
		      const struct direction_result *dir, struct rungs *r)
{
	unsigned int rest = 4 + LABEL_COLUMNS + 1 + 2 + RATE_COLUMNS + SUBJECT_COLUMNS;

	*r = (struct rungs){ .measured = dir->measured ? dir->measured_bps : -1 };
	r->known = calloc(d->ladder.n + 1, sizeof(struct ceiling *));
	if (!r->known)
		return -1;
	r->n = ladder_known(&d->ladder, dir->direction, r->known, d->ladder.n);
	r->lowest = dir->bottleneck;
	r->scale = ladder_scale(r->known, r->n, r->lowest, fmax(r->measured, 0));
	r->bar = p->width > rest + MIN_BAR ? p->width - rest : MIN_BAR;
	if (r->bar > MAX_BAR)
		r->bar = MAX_BAR;
	return 0;
}

static void add_range(const struct pen *p, double low, double high, unsigned int columns)
{
	struct text range = TEXT_INIT;

	pen_rate_range(p, &range, low, high);
	if (range.failed)
		p->out->failed = true;
	else
		pen_field(p, range.data, columns);
	text_free(&range);
}

static void rung_label(const struct pen *p, const char *mark, const char *what, const char *side)
{
	struct text label = TEXT_INIT;

	text_printf(&label, "%-14s %s", what, side);
	text_printf(p->out, "  %s ", mark);
	pen_field(p, label.data, LABEL_COLUMNS);
	text_add(p->out, " ");
	text_free(&label);
}

static void rung_measured(const struct pen *p, const struct rungs *r)
{
	rung_label(p, " ", "measured", "");
	pen_style(p, STYLE_GREEN);
	pen_bar(p, r->bar, r->scale, r->measured, r->measured, r->measured);
	pen_end_style(p);
	text_add(p->out, "  ");
	pen_rate_range(p, p->out, r->measured, r->measured);
	text_add(p->out, "\n");
}

static void rung_inputs(const struct pen *p, const struct ceiling *c)
{
	struct text line = TEXT_INIT;
	char value[QUANTITY_CAP];

	text_printf(&line, "%s", ceiling_basis_word(c->basis));
	if (c->formula)
		text_printf(&line, ": %s", c->formula);
	for (size_t i = 0; i < c->ninputs; i++) {
		format_quantity(c->inputs[i].value, c->inputs[i].unit, value, sizeof(value));
		text_printf(&line, "%s %s = %s", i ? "," : ";", c->inputs[i].name, value);
	}
	text_repeat(p->out, " ", 6);
	pen_wrap(p, 6, 6, line.data);
	text_free(&line);
}

/* In what room there is; "lowest" may go, since the mark in front says it too. */
static void rung_subject(const struct pen *p, const struct rungs *r, const struct ceiling *c,
			 bool lowest)
{
	static const char word[] = "lowest";
	unsigned int used = 4 + LABEL_COLUMNS + 1 + r->bar + 2 + RATE_COLUMNS, columns;
	unsigned int room = p->width > used + SUBJECT_COLUMNS ? p->width - used : SUBJECT_COLUMNS;
	struct text t = TEXT_INIT;

	text_add(&t, c->subject ? c->subject : "");
	if (lowest && !c->subject)
		text_add(&t, word);
	else if (lowest && text_columns(c->subject) + strlen(word) + 2 <= room)
		text_printf(&t, ", %s", word);
	columns = t.data ? text_columns(t.data) : 0;
	if (t.failed)
		p->out->failed = true;
	else
		pen_field(p, t.data, columns < room ? columns : room);
	text_free(&t);
}

static void rung(const struct pen *p, const struct rungs *r, const struct ceiling *c, bool verbose)
{
	bool lowest = c == r->lowest;

	rung_label(p, lowest ? ">" : " ", ceiling_word(c->kind), side_word(c->side));
	pen_style(p, lowest ? STYLE_YELLOW : STYLE_PLAIN);
	pen_bar(p, r->bar, r->scale, c->low_bps, c->high_bps, r->measured);
	pen_end_style(p);
	text_add(p->out, "  ");
	if (c->subject || lowest) {
		add_range(p, c->low_bps, c->high_bps, RATE_COLUMNS - 1);
		text_add(p->out, " ");
		rung_subject(p, r, c, lowest);
	} else {
		pen_rate_range(p, p->out, c->low_bps, c->high_bps);
	}
	text_add(p->out, "\n");
	if (verbose)
		rung_inputs(p, c);
}

static void rungs_unknown(const struct pen *p, const struct diagnosis *d, enum run_direction dir)
{
	for (size_t i = 0; i < d->ladder.n; i++) {
		const struct ceiling *c = &d->ladder.ceilings[i];
		struct text line = TEXT_INIT;

		if (c->direction != dir || c->known)
			continue;
		rung_label(p, "?", ceiling_word(c->kind), side_word(c->side));
		text_printf(&line, "not known: %s",
			    c->why_unknown ? c->why_unknown : "no reason given");
		pen_wrap(p, 4 + LABEL_COLUMNS + 1, 4 + LABEL_COLUMNS + 1, line.data);
		text_free(&line);
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

static void hot_core(const struct pen *p, const struct run *run, enum side s)
{
	const struct run_end *e = &run->ends[s];
	const struct core_load *hot = end_hot_core(e);
	struct nd_f64 mean = end_mean_busy(e);
	struct text line = TEXT_INIT;
	char value[QUANTITY_CAP];

	rung_label(p, " ", "hot core", side_word(s));
	if (!hot) {
		text_printf(&line, "not known: %s",
			    e->problem.k == ND_KNOWN ? e->problem.v
			    : e->present	     ? "its CPU time was not read"
						     : "this end was not seen");
	} else {
		format_quantity(hot->busy.v, UNIT_SHARE, value, sizeof(value));
		if (hot->cpu.k == ND_KNOWN)
			text_printf(&line, "cpu %llu", (unsigned long long)hot->cpu.v);
		else
			text_add(&line, "one cpu");
		text_printf(&line, " %s busy", value);
		add_share(&line, "user", hot->user);
		add_share(&line, "system", hot->system);
		add_share(&line, "softirq", hot->softirq);
		add_share(&line, "irq", hot->irq);
		add_share(&line, "steal", hot->steal);
		if (mean.k == ND_KNOWN && e->ncores > 1) {
			format_quantity(mean.v, UNIT_SHARE, value, sizeof(value));
			text_printf(&line, "; mean of %zu: %s", e->ncores, value);
		}
	}
	pen_wrap(p, 4 + LABEL_COLUMNS + 1, 4 + LABEL_COLUMNS + 1, line.data);
	text_free(&line);
}

/* The window's end came late, as on a machine without CPU time to spare (tool-sampling-uneven). */
static bool off_by_much(const struct run *r)
{
	double asked = (double)r->spec.window_ms / 1000;

	return r->status == RUN_COMPLETE && r->seconds.k == ND_KNOWN && asked > 0 &&
	       fabs(r->seconds.v / asked - 1) > 0.1;
}

/* "8 streams, 4.00 s, 12 retransmits, loss 0.01 %" and what went wrong. */
static void run_line(const struct pen *p, const struct run *r)
{
	struct text line = TEXT_INIT;
	char value[QUANTITY_CAP];

	text_printf(&line, "%llu stream%s", (unsigned long long)r->spec.streams,
		    r->spec.streams == 1 ? "" : "s");
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
	text_add(p->out, "  ");
	pen_wrap(p, 2, 2, line.data);
	text_free(&line);
}

static void direction_heading(const struct pen *p, const struct direction_result *r)
{
	bool forward = r->direction == RUN_FORWARD;
	struct text line = TEXT_INIT;
	char rate[QUANTITY_CAP], share[QUANTITY_CAP];

	text_printf(&line, "%s (%s %s %s): ", forward ? "Forward" : "Reverse",
		    side_word(run_sender(r->direction)), pen_glyph(p, GLYPH_ARROW),
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
	pen_heading(p, line.data ? line.data : "");
	text_free(&line);
}

void text_directions(const struct pen *p, const struct exam *e, const struct diagnosis *d,
		     bool verbose)
{
	for (size_t i = 0; i < d->ndirections; i++) {
		const struct direction_result *dir = &d->directions[i];
		const struct run *run = exam_main_run(e, dir->direction);
		struct rungs r;

		if (rungs_make(p, d, dir, &r)) {
			p->out->failed = true;
			return;
		}
		direction_heading(p, dir);
		if (run)
			run_line(p, run);
		text_add(p->out, "\n");
		if (dir->measured)
			rung_measured(p, &r);
		for (size_t k = 0; k < r.n; k++)
			rung(p, &r, r.known[k], verbose);
		rungs_unknown(p, d, dir->direction);
		for (enum side s = SIDE_LOCAL; run && s < EXAM_ENDS; s++)
			hot_core(p, run, s);
		free(r.known);
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sheet as text for a terminal or a mail, drawn with the pen. */
#include "src/report/sheet.h"

#include <math.h>
#include <string.h>

enum { LABEL_COLUMNS = 20, RATE_COLUMNS = 20, SUBJECT_COLUMNS = 13, MIN_BAR = 10, MAX_BAR = 60 };
enum { MARK_COLUMNS = 9, RULE_COLUMNS = 28 };

/* Of labelled fields: where the label begins, and how wide it is. */
static const struct { unsigned int left, label; } columns[BLOCKS] = {
	[BLOCK_HOSTS] = { 2, 8 },
	[BLOCK_RUN] = { 2, 14 },
	[BLOCK_LINK] = { 2, 10 },
	[BLOCK_FINDING] = { 3, 10 },
};

static void begin(struct sheet *p, const struct diagnosis *d)
{
	(void)p, (void)d;
}

static void verdict(struct sheet *p, enum style s, const char *mark, const char *summary)
{
	const struct pen *pen = &p->pen;
	unsigned int at = 0;

	pen_style(pen, s);
	if (mark) {
		at = (unsigned int)strlen(mark) + 2;
		text_add(p->out, mark);
		pen_end_style(pen);
		text_add(p->out, "  ");
		pen_style(pen, STYLE_BOLD);
	}
	pen_wrap(pen, at, 2, summary);
	pen_end_style(pen);
	p->gap = true;
}

static void heading(struct sheet *p, const char *s)
{
	pen_heading(&p->pen, s);
}

static void paragraph(struct sheet *p, const char *s)
{
	text_add(p->out, "  ");
	pen_wrap(&p->pen, 2, 2, s);
}

static void note(struct sheet *p, const char *label, const char *s)
{
	unsigned int at = (unsigned int)strlen(label) + 2;

	text_printf(p->out, "\n%s: ", label);
	pen_wrap(&p->pen, at, at, s);
}

static void open_block(struct sheet *p, enum block b)
{
	/* All other blocks follow a heading. */
	if (b == BLOCK_HOSTS && p->gap)
		text_add(p->out, "\n");
	p->block = b;
	p->items = 0;
}

static void close_block(struct sheet *p)
{
	(void)p;
}

static void field(struct sheet *p, const char *label, const char *s)
{
	pen_labelled(&p->pen, columns[p->block].left, columns[p->block].label, label, s);
}

static void item(struct sheet *p, const char *s, const char *detail)
{
	unsigned int at = p->block == BLOCK_STEPS ? 5 : 2;

	text_add(p->out, "  ");
	if (p->block == BLOCK_STEPS)
		text_printf(p->out, "%u. ", ++p->items);
	pen_wrap(&p->pen, at, p->block == BLOCK_STEPS ? at : 4, s);
	if (detail) {
		text_add(p->out, "    ");
		pen_wrap(&p->pen, 4, 4, detail);
	}
}

static void rung_label(const struct pen *p, const char *mark, const struct rung *r)
{
	struct text label = TEXT_INIT;

	text_printf(&label, "%-14s %s", r->what, r->side);
	text_printf(p->out, "  %s ", mark);
	pen_field(p, label.data, LABEL_COLUMNS);
	text_add(p->out, " ");
	text_free(&label);
}

static void add_range(const struct pen *p, double low, double high, unsigned int width)
{
	struct text range = TEXT_INIT;

	pen_rate_range(p, &range, low, high);
	if (range.failed)
		p->out->failed = true;
	else
		pen_field(p, range.data, width);
	text_free(&range);
}

/* In what room there is; "lowest" may go, since the mark in front says it too. */
static void rung_subject(const struct pen *p, const struct rung *r, unsigned int bar)
{
	static const char word[] = "lowest";
	const char *subject = r->subject;
	unsigned int used = 4 + LABEL_COLUMNS + 1 + bar + 2 + RATE_COLUMNS, width;
	unsigned int room = p->width > used + SUBJECT_COLUMNS ? p->width - used : SUBJECT_COLUMNS;
	struct text t = TEXT_INIT;

	text_add(&t, subject ? subject : "");
	if (r->lowest && !subject)
		text_add(&t, word);
	else if (r->lowest && text_columns(subject) + strlen(word) + 2 <= room)
		text_printf(&t, ", %s", word);
	width = t.data ? text_columns(t.data) : 0;
	if (t.failed)
		p->out->failed = true;
	else
		pen_field(p, t.data, width < room ? width : room);
	text_free(&t);
}

static void rung_bar(const struct pen *p, const struct rungs *r, const struct rung *row,
		     unsigned int bar)
{
	rung_label(p, row->lowest ? ">" : " ", row);
	pen_style(p, row->kind == RUNG_MEASURED ? STYLE_GREEN
		     : row->lowest		? STYLE_YELLOW
						: STYLE_PLAIN);
	pen_bar(p, bar, r->scale, row->low_bps, row->high_bps, r->measured);
	pen_end_style(p);
	text_add(p->out, "  ");
	if (row->subject || row->lowest) {
		add_range(p, row->low_bps, row->high_bps, RATE_COLUMNS - 1);
		text_add(p->out, " ");
		rung_subject(p, row, bar);
	} else {
		pen_rate_range(p, p->out, row->low_bps, row->high_bps);
	}
	text_add(p->out, "\n");
	if (row->words.len) {
		text_repeat(p->out, " ", 6);
		pen_wrap(p, 6, 6, row->words.data);
	}
}

static void rungs(struct sheet *p, const struct rungs *r)
{
	const unsigned int rest = 4 + LABEL_COLUMNS + 1 + 2 + RATE_COLUMNS + SUBJECT_COLUMNS;
	const struct pen *pen = &p->pen;
	unsigned int bar = pen->width > rest + MIN_BAR ? pen->width - rest : MIN_BAR;

	if (bar > MAX_BAR)
		bar = MAX_BAR;
	text_add(p->out, "\n");
	for (size_t i = 0; i < r->n; i++) {
		const struct rung *row = &r->rows[i];

		if (row->kind == RUNG_MEASURED || row->kind == RUNG_CEILING) {
			rung_bar(pen, r, row, bar);
		} else {
			rung_label(pen, row->kind == RUNG_UNKNOWN ? "?" : " ", row);
			pen_wrap(pen, 4 + LABEL_COLUMNS + 1, 4 + LABEL_COLUMNS + 1,
				 row->words.data);
		}
	}
}

static void check_line(const struct pen *p, const struct check_row *r)
{
	unsigned int left = 2 + MARK_COLUMNS;

	text_add(p->out, "  ");
	pen_style(p, check_marks[r->mark].style);
	pen_field(p, check_marks[r->mark].word, MARK_COLUMNS);
	pen_end_style(p);
	/* In two lines where the column of ids would leave no room for the words. */
	if (p->width < left + RULE_COLUMNS + 30 || strlen(r->rule) + 1 > RULE_COLUMNS) {
		text_printf(p->out, "%s\n", r->rule);
		text_repeat(p->out, " ", left + 2);
		pen_wrap(p, left + 2, left + 2, r->words);
		return;
	}
	pen_field(p, r->rule, RULE_COLUMNS);
	pen_wrap(p, left + RULE_COLUMNS, left + RULE_COLUMNS, r->words);
}

static void checks(struct sheet *p, const struct check_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_line(&p->pen, &rows[i]);
}

static void finding(struct sheet *p, const struct finding *f, const char *title)
{
	const struct pen *pen = &p->pen;
	struct text head = TEXT_INIT;
	unsigned int at;

	text_printf(&head, "%u. ", f->rank);
	at = head.data ? text_columns(head.data) : 0;
	text_add(p->out, "\n");
	text_add(p->out, head.data ? head.data : "");
	pen_style(pen, severity_style(f->severity));
	text_printf(p->out, "[%s]", severity_word(f->severity));
	pen_end_style(pen);
	text_add(p->out, " ");
	at += (unsigned int)strlen(severity_word(f->severity)) + 3;
	pen_style(pen, STYLE_BOLD);
	pen_wrap(pen, at, columns[BLOCK_FINDING].left, title);
	pen_end_style(pen);
	text_free(&head);
}

static void evidence(struct sheet *p, const struct evidence *v, size_t n)
{
	for (size_t i = 0; i < n; i++, v++) {
		struct text line = TEXT_INIT;
		char value[EVIDENCE_CAP];

		text_printf(&line, "%s = %s", v->fact ? v->fact : "?", evidence_value(v, value));
		if (v->threshold)
			text_printf(&line, " (threshold %s)", v->threshold);
		if (v->source)
			text_printf(&line, " [%s]", v->source);
		field(p, i ? "" : "evidence", line.data);
		text_free(&line);
	}
}

/* Commands stay on one line each, whatever the width: they are there to be copied. */
static void commands(struct sheet *p, const char *label, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text_repeat(p->out, " ", columns[p->block].left);
		pen_field(&p->pen, i ? "" : label, columns[p->block].label);
		pen_style(&p->pen, STYLE_BOLD);
		text_add_escaped(p->out, v[i]);
		pen_end_style(&p->pen);
		text_add(p->out, "\n");
	}
}

static void end(struct sheet *p, const char *footer)
{
	text_add(p->out, "\n");
	pen_style(&p->pen, STYLE_DIM);
	text_add_escaped(p->out, footer);
	pen_end_style(&p->pen);
	text_add(p->out, "\n");
}

const struct sheet_kind sheet_text = {
	.begin = begin,
	.verdict = verdict,
	.heading = heading,
	.paragraph = paragraph,
	.note = note,
	.open = open_block,
	.close = close_block,
	.field = field,
	.item = item,
	.rungs = rungs,
	.checks = checks,
	.finding = finding,
	.evidence = evidence,
	.commands = commands,
	.end = end,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sheet as Markdown, to be pasted into a ticket of GitHub or GitLab. */
#include "src/report/markdown_words.h"
#include "src/report/sheet.h"

/* An empty line between blocks, none at the top. */
static void gap(struct sheet *p, bool next)
{
	if (p->gap)
		text_add(p->out, "\n");
	p->gap = next;
}

static void begin(struct sheet *p, const struct diagnosis *d)
{
	(void)p, (void)d;
}

static void verdict(struct sheet *p, enum style s, const char *mark, const char *summary)
{
	(void)s;
	gap(p, true);
	text_printf(p->out, "## %s%s", mark ? mark : "", mark ? ": " : "");
	markdown_words(p->out, summary);
	text_add(p->out, "\n");
}

static void heading(struct sheet *p, const char *s)
{
	gap(p, true);
	text_add(p->out, "### ");
	markdown_words(p->out, s);
	text_add(p->out, "\n");
}

static void paragraph(struct sheet *p, const char *s)
{
	gap(p, true);
	markdown_line(p->out, s);
	text_add(p->out, "\n");
}

static void note(struct sheet *p, const char *label, const char *s)
{
	gap(p, true);
	text_printf(p->out, "**%s**: ", label);
	markdown_words(p->out, s);
	text_add(p->out, "\n");
}

static void open_block(struct sheet *p, enum block b)
{
	p->block = b;
	p->items = 0;
}

static void close_block(struct sheet *p)
{
	p->gap = true;
}

static void field(struct sheet *p, const char *label, const char *s)
{
	gap(p, false);
	if (*label)
		text_printf(p->out, "- **%s**: ", label);
	else
		text_add(p->out, "  - ");
	markdown_line(p->out, s);
	text_add(p->out, "\n");
}

static void item(struct sheet *p, const char *s, const char *detail)
{
	gap(p, false);
	if (p->block == BLOCK_STEPS)
		text_printf(p->out, "%u. ", ++p->items);
	else
		text_add(p->out, "- ");
	markdown_line(p->out, s);
	text_add(p->out, "\n");
	if (detail) {
		text_add(p->out, "  - ");
		markdown_line(p->out, detail);
		text_add(p->out, "\n");
	}
}

static void cell(struct sheet *p, const char *s)
{
	text_add(p->out, " ");
	markdown_words(p->out, s ? s : "");
	text_add(p->out, " |");
}

static void rung_row(struct sheet *p, const struct rung *r)
{
	const char *strong = r->lowest || r->kind == RUNG_MEASURED ? "**" : "";

	text_printf(p->out, "| %s%s%s | %s | ", strong, r->what, strong, r->side);
	if (r->kind == RUNG_UNKNOWN) {
		text_add(p->out, "?");
	} else {
		text_add(p->out, strong);
		pen_rate_range(&p->pen, p->out, r->low_bps, r->high_bps);
		text_add(p->out, strong);
	}
	text_add(p->out, " |");
	cell(p, r->subject);
	text_printf(p->out, " %s%s", r->lowest ? "lowest" : "",
		    r->lowest && r->words.len ? "; " : "");
	markdown_words(p->out, r->words.data);
	text_add(p->out, " |\n");
}

static void rungs(struct sheet *p, const struct rungs *r)
{
	gap(p, true);
	text_add(p->out, "| ceiling | side | rate | set by | note |\n|---|---|--:|---|---|\n");
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].kind != RUNG_CORE)
			rung_row(p, &r->rows[i]);
	for (size_t i = 0; i < r->n; i++) {
		struct text label = TEXT_INIT;

		if (r->rows[i].kind != RUNG_CORE)
			continue;
		text_printf(&label, "%s, %s", r->rows[i].what, r->rows[i].side);
		field(p, label.data ? label.data : "", r->rows[i].words.data);
		text_free(&label);
	}
	p->gap = true;
}

static void checks(struct sheet *p, const struct check_row *rows, size_t n)
{
	gap(p, true);
	text_add(p->out, "| result | rule | what |\n|---|---|---|\n");
	for (size_t i = 0; i < n; i++) {
		text_printf(p->out, "| %s |", check_marks[rows[i].mark].word);
		cell(p, rows[i].rule);
		cell(p, rows[i].words);
		text_add(p->out, "\n");
	}
}

static void finding(struct sheet *p, const struct finding *f, const char *title)
{
	gap(p, true);
	text_printf(p->out, "#### %u. [%s] ", f->rank, severity_word(f->severity));
	markdown_words(p->out, title);
	text_add(p->out, "\n");
}

/* Two columns in, so that it is part of the list of fields. */
static void evidence(struct sheet *p, const struct evidence *v, size_t n)
{
	char value[EVIDENCE_CAP];

	if (!n)
		return;
	gap(p, true);
	text_add(p->out, "- **evidence**:\n\n"
			 "  | fact | value | threshold | source |\n  |---|--:|---|---|\n");
	for (size_t i = 0; i < n; i++, v++) {
		text_add(p->out, "  |");
		cell(p, v->fact ? v->fact : "?");
		cell(p, evidence_value(v, value));
		cell(p, v->threshold);
		cell(p, v->source);
		text_add(p->out, "\n");
	}
}

static void commands(struct sheet *p, const char *label, const char *const *v, size_t n)
{
	unsigned int fence = markdown_fence(v, n);

	if (!n)
		return;
	gap(p, true);
	text_printf(p->out, "- **%s**:\n\n  ", label);
	text_repeat(p->out, "`", fence);
	text_add(p->out, "sh\n");
	for (size_t i = 0; i < n; i++) {
		text_add(p->out, "  ");
		text_add_escaped(p->out, v[i]);
		text_add(p->out, "\n");
	}
	text_add(p->out, "  ");
	text_repeat(p->out, "`", fence);
	text_add(p->out, "\n");
}

static void end(struct sheet *p, const char *footer)
{
	gap(p, false);
	text_add(p->out, "---\n\n");
	markdown_line(p->out, footer);
	text_add(p->out, "\n");
}

const struct sheet_kind sheet_markdown = {
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sheet as one HTML file that needs nothing else: no script, nothing fetched, to be
 * mailed, attached, printed.  Should an escape ever be missed, its policy still forbids
 * scripts, forms and anything from elsewhere.
 */
#include <math.h>

#include "src/report/html_parts.h"

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<title>";

static const char style[] =
	"</title>\n"
	"<style>\n"
	":root{--back:#fff;--text:#1b1f24;--dim:#59636e;--line:#d1d9e0;--code:#f2f4f7;"
	"--red:#b3261e;--yellow:#8a5a00;--green:#1a6e35;--cyan:#0b6680;--bar:#4a76b8}\n"
	"@media (prefers-color-scheme:dark){:root{--back:#14181d;--text:#e6e9ed;--dim:#9aa5b1;"
	"--line:#39424d;--code:#20262e;--red:#ff8b80;--yellow:#e8b44c;--green:#6fce8a;"
	"--cyan:#6cc7e0;--bar:#6f9ee0}}\n"
	"body{margin:0;background:var(--back);color:var(--text);"
	"font:16px/1.5 system-ui,sans-serif}\n"
	"main{max-width:62rem;margin:0 auto;padding:1rem;overflow-wrap:break-word}\n"
	"h1{font-size:1.4rem}h2{font-size:1.2rem;margin-top:2rem;"
	"border-bottom:1px solid var(--line)}h3{font-size:1rem;margin-top:1.5rem}\n"
	"table{border-collapse:collapse;width:100%;font-size:.9rem}\n"
	"th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;"
	"border-bottom:1px solid var(--line)}th{font-weight:600}td,dd{overflow-wrap:anywhere}\n"
	"th,.side{white-space:nowrap}\n"
	".number{text-align:right;white-space:nowrap}.lowest{color:var(--yellow)}\n"
	"dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1rem}\n"
	"dt{color:var(--dim)}dd{margin:0;grid-column:2}\n"
	"pre{background:var(--code);padding:.5rem;margin:0;overflow-x:auto}\n"
	".red{color:var(--red)}.yellow{color:var(--yellow)}.green{color:var(--green)}"
	".cyan{color:var(--cyan)}.dim{color:var(--dim)}\n"
	"svg{display:block;width:100%}.bar{width:30%}.bar svg{height:1.1rem}\n"
	".sure,.busy{fill:var(--bar)}.maybe{fill:var(--bar);opacity:.45}"
	".reached{fill:var(--green)}.at{stroke:var(--text);stroke-width:2}\n"
	".rate{fill:none;stroke:var(--bar);stroke-width:1.5}.floor{stroke:var(--line)}"
	".unread{fill:var(--dim);opacity:.25}svg text{fill:var(--text);font:12px sans-serif}\n"
	"figure{margin:1rem 0}figcaption,footer{color:var(--dim);font-size:.9rem}\n"
	"footer{margin-top:2rem}\n"
	"@media print{body{font-size:11px}pre{white-space:pre-wrap}"
	"h2,h3{break-after:avoid}tr,figure,svg{break-inside:avoid}}\n"
	"</style>\n"
	"</head>\n"
	"<body>\n"
	"<main>\n";

static const char *const style_classes[] = {
	[STYLE_PLAIN] = "", [STYLE_BOLD] = "", [STYLE_DIM] = "dim", [STYLE_RED] = "red",
	[STYLE_YELLOW] = "yellow", [STYLE_GREEN] = "green", [STYLE_CYAN] = "cyan",
};

static const char *const block_tags[BLOCKS] = {
	[BLOCK_HOSTS] = "dl", [BLOCK_RUN] = "dl", [BLOCK_LINK] = "dl", [BLOCK_FINDING] = "dl",
	[BLOCK_ITEMS] = "ul", [BLOCK_STEPS] = "ol",
};

/* <tag>words</tag> */
static void element(struct sheet *p, const char *tag, const char *s)
{
	text_printf(p->out, "<%s>", tag);
	html_words(p->out, s);
	text_printf(p->out, "</%s>\n", tag);
}

static void begin(struct sheet *p, const struct diagnosis *d)
{
	text_add(p->out, head);
	text_add(p->out, "netdoctor: ");
	html_words(p->out, d->summary && *d->summary ? d->summary : verdict_word(d->verdict));
	text_add(p->out, style);
}

static void verdict(struct sheet *p, enum style s, const char *mark, const char *summary)
{
	text_add(p->out, "<h1>");
	if (mark)
		text_printf(p->out, "<span class=\"%s\">%s</span> ", style_classes[s], mark);
	html_words(p->out, summary);
	text_add(p->out, "</h1>\n");
}

static void heading(struct sheet *p, const char *s)
{
	element(p, "h2", s);
}

static void paragraph(struct sheet *p, const char *s)
{
	element(p, "p", s);
}

static void note(struct sheet *p, const char *label, const char *s)
{
	text_printf(p->out, "<p><strong>%s:</strong> ", label);
	html_words(p->out, s);
	text_add(p->out, "</p>\n");
}

static void open_block(struct sheet *p, enum block b)
{
	p->block = b;
	text_printf(p->out, "<%s>\n", block_tags[b]);
}

static void close_block(struct sheet *p)
{
	text_printf(p->out, "</%s>\n", block_tags[p->block]);
}

static void field(struct sheet *p, const char *label, const char *s)
{
	if (*label)
		element(p, "dt", label);
	element(p, "dd", s);
}

static void item(struct sheet *p, const char *s, const char *detail)
{
	text_add(p->out, "<li>");
	html_words(p->out, s);
	if (detail) {
		text_add(p->out, "<br><span class=\"dim\">");
		html_words(p->out, detail);
		text_add(p->out, "</span>");
	}
	text_add(p->out, "</li>\n");
}

double html_share(double x, double scale)
{
	double share = scale > 0 ? x / scale : 0;

	return isnan(share) ? 0 : fmin(fmax(share, 0), 1);
}

enum { BAR_WIDTH = 200, BAR_HEIGHT = 12 };

/* The figures stand beside it as text. */
static void bar(struct sheet *p, const struct rungs *r, const struct rung *row)
{
	double low = BAR_WIDTH * html_share(row->low_bps, r->scale);
	double high = BAR_WIDTH * html_share(row->high_bps, r->scale);
	double mark = BAR_WIDTH * html_share(r->measured, r->scale);

	text_printf(p->out, "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		    "aria-hidden=\"true\"><rect class=\"%s\" width=\"%.1f\" height=\"%d\"/>",
		    BAR_WIDTH, BAR_HEIGHT, row->kind == RUNG_MEASURED ? "reached" : "sure", low,
		    BAR_HEIGHT);
	if (high > low)
		text_printf(p->out, "<rect class=\"maybe\" x=\"%.1f\" width=\"%.1f\" "
			    "height=\"%d\"/>", low, high - low, BAR_HEIGHT);
	if (r->measured >= 0)
		text_printf(p->out, "<line class=\"at\" x1=\"%.1f\" x2=\"%.1f\" y2=\"%d\"/>", mark,
			    mark, BAR_HEIGHT);
	text_add(p->out, "</svg>");
}

static void rung_row(struct sheet *p, const struct rungs *r, const struct rung *row)
{
	text_printf(p->out, "<tr%s><th scope=\"row\">%s</th><td class=\"side\">%s</td>"
		    "<td class=\"bar\">", row->lowest ? " class=\"lowest\"" : "", row->what,
		    row->side);
	if (row->kind == RUNG_UNKNOWN) {
		text_add(p->out, "</td><td class=\"number\">?");
	} else {
		bar(p, r, row);
		text_add(p->out, "</td><td class=\"number\">");
		pen_rate_range(&p->pen, p->out, row->low_bps, row->high_bps);
	}
	text_add(p->out, "</td><td>");
	html_words(p->out, row->subject);
	text_printf(p->out, "</td><td>%s%s", row->lowest ? "lowest" : "",
		    row->lowest && row->words.len ? "; " : "");
	html_words(p->out, row->words.data);
	text_add(p->out, "</td></tr>\n");
}

static void rungs(struct sheet *p, const struct rungs *r)
{
	text_add(p->out, "<table>\n<thead><tr><th scope=\"col\">ceiling</th>"
			 "<th scope=\"col\">side</th><td></td>"
			 "<th scope=\"col\" class=\"number\">rate</th>"
			 "<th scope=\"col\">set by</th><th scope=\"col\">note</th></tr></thead>\n"
			 "<tbody>\n");
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].kind != RUNG_CORE)
			rung_row(p, r, &r->rows[i]);
	text_add(p->out, "</tbody>\n</table>\n<dl>\n");
	for (size_t i = 0; i < r->n; i++) {
		if (r->rows[i].kind != RUNG_CORE)
			continue;
		text_printf(p->out, "<dt>%s, %s</dt>\n", r->rows[i].what, r->rows[i].side);
		element(p, "dd", r->rows[i].words.data);
	}
	text_add(p->out, "</dl>\n");
}

static void cell(struct sheet *p, const char *s)
{
	text_add(p->out, "<td>");
	html_words(p->out, s);
	text_add(p->out, "</td>");
}

static void checks(struct sheet *p, const struct check_row *rows, size_t n)
{
	text_add(p->out, "<table>\n<thead><tr><th scope=\"col\">result</th><th scope=\"col\">rule"
			 "</th><th scope=\"col\">what</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < n; i++) {
		text_printf(p->out, "<tr><td class=\"%s\">%s</td>",
			    style_classes[check_marks[rows[i].mark].style],
			    check_marks[rows[i].mark].word);
		cell(p, rows[i].rule);
		cell(p, rows[i].words);
		text_add(p->out, "</tr>\n");
	}
	text_add(p->out, "</tbody>\n</table>\n");
}

static void finding(struct sheet *p, const struct finding *f, const char *title)
{
	text_printf(p->out, "<h3>%u. <span class=\"%s\">[%s]</span> ", f->rank,
		    style_classes[severity_style(f->severity)], severity_word(f->severity));
	html_words(p->out, title);
	text_add(p->out, "</h3>\n");
}

static void evidence(struct sheet *p, const struct evidence *v, size_t n)
{
	char value[EVIDENCE_CAP];

	if (!n)
		return;
	text_add(p->out, "<dt>evidence</dt>\n<dd><table>\n<thead><tr><th scope=\"col\">fact</th>"
			 "<th scope=\"col\">value</th><th scope=\"col\">threshold</th>"
			 "<th scope=\"col\">source</th></tr>"
			 "</thead>\n<tbody>\n");
	for (size_t i = 0; i < n; i++, v++) {
		text_add(p->out, "<tr>");
		cell(p, v->fact ? v->fact : "?");
		cell(p, evidence_value(v, value));
		cell(p, v->threshold);
		cell(p, v->source);
		text_add(p->out, "</tr>\n");
	}
	text_add(p->out, "</tbody>\n</table></dd>\n");
}

static void commands(struct sheet *p, const char *label, const char *const *v, size_t n)
{
	if (!n)
		return;
	element(p, "dt", label);
	text_add(p->out, "<dd><pre><code>");
	for (size_t i = 0; i < n; i++) {
		html_verbatim(p->out, v[i]);
		text_add(p->out, i + 1 < n ? "\n" : "");
	}
	text_add(p->out, "</code></pre></dd>\n");
}

static void end(struct sheet *p, const char *footer)
{
	element(p, "footer", footer);
	text_add(p->out, "</main>\n</body>\n</html>\n");
}

const struct sheet_kind sheet_html = {
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
	.history = html_history,
	.checks = checks,
	.finding = finding,
	.evidence = evidence,
	.commands = commands,
	.end = end,
};

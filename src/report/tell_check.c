/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "src/diagnose/rule.h"
#include "src/report/report.h"
#include "src/report/tell.h"
#include "src/report/tell_link.h"

static void add_row(struct check_row **row, enum check_mark mark, const struct rule *r,
		    const char *words)
{
	*(*row)++ = (struct check_row){ mark, r->id, words && *words ? words : r->title };
}

static void tell_checks(struct sheet *p, const struct diagnosis *d)
{
	size_t n = d->nfindings + d->nunseen + d->nruled_out;
	struct check_row *rows = calloc(n + 1, sizeof(*rows)), *row = rows;
	struct text heading = TEXT_INIT;

	if (!rows) {
		p->out->failed = true;
		return;
	}
	text_printf(&heading, "Checks: %zu found something, %zu could not be made, %zu passed",
		    d->nfindings, d->nunseen, d->nruled_out);
	p->kind->heading(p, heading.data);
	text_free(&heading);
	for (size_t i = 0; i < d->nfindings; i++)
		add_row(&row, CHECK_FINDING, d->findings[i].rule, d->findings[i].title);
	for (size_t i = 0; i < d->nunseen; i++)
		add_row(&row, CHECK_UNSEEN, d->unseen[i].rule, d->unseen[i].missing);
	for (size_t i = 0; i < d->nruled_out; i++)
		add_row(&row, CHECK_OK, d->ruled_out[i].rule, d->ruled_out[i].because);
	if (n)
		p->kind->checks(p, rows, n);
	else
		p->kind->paragraph(p, "no rule applies to this host");
	free(rows);
}

static int check(const struct sheet_kind *kind, const struct exam *e, const struct diagnosis *d,
		 const struct report_options *o, struct text *out)
{
	struct sheet p = sheet_for(kind, o, out);
	const struct facts *f = e->facts[SIDE_LOCAL];

	kind->begin(&p, d);
	tell_verdict(&p, d);
	for (size_t i = 0; f && i < f->nlinks; i++)
		if (link_matters(&f->links[i]) && link_examined(&f->links[i]))
			tell_link(&p, f, &f->links[i]);
	if (f)
		tell_host(&p, f);
	tell_checks(&p, d);
	if (d->nfindings)
		tell_findings(&p, e, d, o->verbose);
	tell_unseen(&p, d, false);
	tell_end(&p, o);
	return out->failed ? -ENOMEM : 0;
}

int report_check_text(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o, struct text *out)
{
	return check(&sheet_text, e, d, o, out);
}

int report_check_markdown(const struct exam *e, const struct diagnosis *d,
			  const struct report_options *o, struct text *out)
{
	return check(&sheet_markdown, e, d, o, out);
}

int report_check_html(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o, struct text *out)
{
	return check(&sheet_html, e, d, o, out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/diagnose/rule.h"
#include "src/report/report.h"
#include "src/report/text_link.h"
#include "src/report/text_parts.h"

enum mark { MARK_OK, MARK_FINDING, MARK_UNSEEN };

enum { MARK_COLUMNS = 9, RULE_COLUMNS = 28 };

static const struct { const char *word; enum style style; } marks[] = {
	[MARK_OK] = { "ok", STYLE_GREEN },
	[MARK_FINDING] = { "finding", STYLE_RED },
	[MARK_UNSEEN] = { "not seen", STYLE_YELLOW },
};

static void check_line(const struct pen *p, enum mark m, const struct rule *r, const char *s)
{
	unsigned int left = 2 + MARK_COLUMNS;

	text_add(p->out, "  ");
	pen_style(p, marks[m].style);
	pen_field(p, marks[m].word, MARK_COLUMNS);
	pen_end_style(p);
	/* In two lines where the column of ids would leave no room for the words. */
	if (p->width < left + RULE_COLUMNS + 30 || strlen(r->id) + 1 > RULE_COLUMNS) {
		text_printf(p->out, "%s\n", r->id);
		text_repeat(p->out, " ", left + 2);
		pen_wrap(p, left + 2, left + 2, s && *s ? s : r->title);
		return;
	}
	pen_field(p, r->id, RULE_COLUMNS);
	pen_wrap(p, left + RULE_COLUMNS, left + RULE_COLUMNS, s && *s ? s : r->title);
}

static void check_list(const struct pen *p, const struct diagnosis *d)
{
	struct text heading = TEXT_INIT;

	text_printf(&heading, "Checks: %zu found something, %zu could not be made, %zu passed",
		    d->nfindings, d->nunseen, d->nruled_out);
	pen_heading(p, heading.data);
	text_free(&heading);
	for (size_t i = 0; i < d->nfindings; i++)
		check_line(p, MARK_FINDING, d->findings[i].rule, d->findings[i].title);
	for (size_t i = 0; i < d->nunseen; i++)
		check_line(p, MARK_UNSEEN, d->unseen[i].rule, d->unseen[i].missing);
	for (size_t i = 0; i < d->nruled_out; i++)
		check_line(p, MARK_OK, d->ruled_out[i].rule, d->ruled_out[i].because);
	if (d->nfindings + d->nunseen + d->nruled_out == 0)
		text_add(p->out, "  no rule applies to this host\n");
}

int report_check_text(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o, struct text *out)
{
	struct pen p = pen_for(o, out);
	const struct facts *f = e->facts[SIDE_LOCAL];

	text_verdict(&p, d);
	for (size_t i = 0; f && i < f->nlinks; i++)
		if (text_link_matters(&f->links[i]) && link_examined(&f->links[i]))
			text_link(&p, f, &f->links[i]);
	if (f)
		text_host(&p, f);
	check_list(&p, d);
	if (d->nfindings)
		text_findings(&p, e, d, o->verbose);
	text_unseen(&p, d, false);
	text_footer(&p, o);
	return out->failed ? -ENOMEM : 0;
}

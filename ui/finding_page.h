/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the findings list holds, and the page of each entry: a finding, the plan, what could not
 * be evaluated, what was ruled out, and the difference to the run before.  Pure.
 */
#ifndef ND_UI_FINDING_PAGE_H
#define ND_UI_FINDING_PAGE_H

#include "ui/page.h"

enum entry_kind { ENTRY_FINDING, ENTRY_PLAN, ENTRY_UNSEEN, ENTRY_RULED_OUT, ENTRY_BEFORE };
struct entry {
	enum entry_kind kind;
	const struct scene *s;
	const struct finding *finding;	/* of ENTRY_FINDING */
};

size_t entry_count(const struct scene *s);
/* False: there is no such entry. */
bool entry_at(const struct scene *s, size_t i, struct entry *out);
/* One line for the list, and for a search. */
void entry_title(const struct entry *e, struct text *out);
/* A page_writer; about is a struct entry. */
void entry_write(struct page *p, const void *about);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "src/diagnose/rule.h"
#include "src/report/tell.h"

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Several scopes (hosts, directions) of a rule are ruled out one by one; its id is said once. */
static bool rule_seen_before(const struct diagnosis *d, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (d->ruled_out[k].rule == d->ruled_out[i].rule)
			return true;
	return false;
}

void tell_ruled_out(struct sheet *p, const struct diagnosis *d, bool verbose)
{
	struct text ids = TEXT_INIT;
	bool first = true;

	if (!d->nruled_out)
		return;
	p->kind->heading(p, verbose ? "Ruled out" : "Ruled out (-v says why)");
	if (verbose)
		p->kind->open(p, BLOCK_ITEMS);
	for (size_t i = 0; i < d->nruled_out; i++) {
		const struct ruled_out *r = &d->ruled_out[i];

		if (verbose) {
			text_free(&ids);
			text_printf(&ids, "%s: %s", r->rule->id, r->because ? r->because : "");
			p->kind->item(p, ids.data, NULL);
		} else if (!rule_seen_before(d, i)) {
			text_printf(&ids, "%s%s", first ? "" : ", ", r->rule->id);
			first = false;
		}
	}
	if (verbose)
		p->kind->close(p);
	else
		p->kind->paragraph(p, ids.data);
	text_free(&ids);
}

/* Is row k the first of those that row i stands for? */
static bool same_remedy(const struct unseen *a, const struct unseen *b)
{
	return same_text(a->missing, b->missing) && same_text(a->how, b->how);
}

static bool remedy_seen_before(const struct diagnosis *d, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_remedy(&d->unseen[k], &d->unseen[i]))
			return true;
	return false;
}

/* Of the peer's host, or what it saw in a run. */
static bool of_peer(const struct unseen *u)
{
	return u->missing && (strncmp(u->missing, "peer.", 5) == 0 ||
			      strncmp(u->missing, "peer:", 5) == 0 ||
			      strstr(u->missing, "].peer."));
}

/* A peer that tells nothing would fill a page, always with the same advice. */
static void unseen_peer(struct sheet *p, const struct diagnosis *d)
{
	struct text line = TEXT_INIT;

	text_add(&line, "for ");
	for (size_t i = 0; i < d->nunseen; i++) {
		bool told = false;

		for (size_t k = 0; k < i; k++)
			told = told || (of_peer(&d->unseen[k]) &&
					d->unseen[k].rule == d->unseen[i].rule);
		if (of_peer(&d->unseen[i]) && !told)
			text_printf(&line, "%s%s", line.len > 4 ? ", " : "",
				    d->unseen[i].rule->id);
	}
	p->kind->item(p, "the peer's host, and what it saw of the traffic but its byte counts",
		      line.data);
	text_free(&line);
}

/* One entry for each missing fact, with the rules that wait for it. */
void tell_unseen(struct sheet *p, const struct diagnosis *d, bool fold_peer)
{
	bool folded = false;

	if (!d->nunseen)
		return;
	p->kind->heading(p, "Could not be seen");
	p->kind->open(p, BLOCK_ITEMS);
	for (size_t i = 0; i < d->nunseen; i++) {
		const struct unseen *u = &d->unseen[i];
		const struct rule *last = NULL;
		struct text line = TEXT_INIT, ids = TEXT_INIT;

		if (fold_peer && of_peer(u)) {
			if (!folded)
				unseen_peer(p, d);
			folded = true;
			continue;
		}
		if (remedy_seen_before(d, i))
			continue;
		text_printf(&line, "%s", u->missing ? u->missing : "?");
		if (u->how)
			text_printf(&line, ". To see it: %s", u->how);
		text_add(&ids, "for ");
		for (size_t k = i; k < d->nunseen; k++) {
			if (!same_remedy(&d->unseen[k], u) || d->unseen[k].rule == last)
				continue;
			text_printf(&ids, "%s%s", last ? ", " : "", d->unseen[k].rule->id);
			last = d->unseen[k].rule;
		}
		p->kind->item(p, line.data, ids.data);
		text_free(&line);
		text_free(&ids);
	}
	p->kind->close(p);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on one host without traffic: what is set up, and what of it could be checked. */
#include "src/diagnose/engine.h"

#include <errno.h>

/* More names than this would bury the sentence. */
#define MAX_NAMED 3

static bool counts(const struct link_facts *l, bool physical)
{
	return link_examined(l) && nd_str_is(l->kind, "physical") == physical;
}

/* "eth0 and eth1", "the software link lo", "12 software links"; "": none.  NULL: no memory. */
static const char *links_of_kind(struct arena *mem, const struct facts *f, bool physical)
{
	const char *text = "";
	size_t i, n = 0, named = 0;

	for (i = 0; i < f->nlinks; i++)
		n += counts(&f->links[i], physical);
	if (n > MAX_NAMED)
		return arena_printf(mem, "%zu %s links", n, physical ? "physical" : "software");
	if (n && !physical)
		text = n == 1 ? "the software link " : "the software links ";
	for (i = 0; text && i < f->nlinks; i++) {
		const struct link_facts *l = &f->links[i];

		if (!counts(l, physical))
			continue;
		text = arena_printf(mem, "%s%s%s", text,
				    !named ? "" : named + 1 == n ? " and " : ", ",
				    l->name.k == ND_KNOWN ? l->name.v : "one without a name");
		named++;
	}
	return text;
}

/* What the checks were made on.  NULL: no memory. */
static const char *examined_text(struct arena *mem, const struct facts *f)
{
	const char *physical = links_of_kind(mem, f, true);
	const char *software = links_of_kind(mem, f, false);

	if (!physical || !software)
		return NULL;
	if (!*physical && !*software)
		return "this host (no link was examined)";
	if (!*physical)
		return arena_printf(mem, "%s (no network card was examined)", software);
	return *software ? arena_printf(mem, "%s and %s", physical, software) : physical;
}

static const char *many(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Nothing was found, and nothing was found to be right either. */
static const char *nothing_checked(struct diagnosis *d, const char *what)
{
	if (d->nunseen)
		return arena_printf(d->mem, "Inconclusive: no check of %s could be made; the first "
				    "lacks %s.", what, d->unseen[0].missing);
	return arena_printf(d->mem, "Inconclusive: no check applies to %s.", what);
}

/* Nothing wrong in the few checks that could be made is no word on the host. */
static const char *too_few_checked(struct diagnosis *d, const char *what)
{
	size_t made = d->nruled_out + d->nfindings;

	return arena_printf(d->mem, "Inconclusive: nothing wrong is seen in %zu check%s of %s, but "
			    "%zu could not be made; the first lacks %s.", made, many(made), what,
			    d->nunseen, d->unseen[0].missing);
}

static const char *nothing_wrong(struct diagnosis *d, const char *what)
{
	size_t made = d->nruled_out + d->nfindings;
	const char *unseen = "";

	if (d->nunseen)
		unseen = arena_printf(d->mem, ", but %zu could not be made", d->nunseen);
	if (!unseen)
		return NULL;
	return arena_printf(d->mem, "Nothing wrong is seen in %zu check%s of %s%s; no traffic was "
			    "driven.", made, many(made), what, unseen);
}

int verdict_decide_static(const struct exam *exam, struct diagnosis *d)
{
	const struct facts *f = exam->facts[SIDE_LOCAL];
	const char *what;
	size_t i, n = 0;

	if (!f) {
		d->verdict = VERDICT_INCONCLUSIVE;
		d->summary = "Inconclusive: this host was not examined.";
		return 0;
	}
	what = examined_text(d->mem, f);
	if (!what)
		return -ENOMEM;
	for (i = 0; i < d->nfindings; i++)
		if (d->findings[i].severity >= SEVERITY_MEDIUM)
			n++;
	if (n) {
		d->verdict = VERDICT_LIMITED;
		d->summary = n == 1 ? arena_printf(d->mem, "%s.", d->findings[0].title) :
			     arena_printf(d->mem, "%zu things on this host limit it; first: %s.",
					  n, d->findings[0].title);
	} else if (!d->nfindings && !d->nruled_out) {
		d->verdict = VERDICT_INCONCLUSIVE;
		d->summary = nothing_checked(d, what);
	} else if (d->nunseen > d->nruled_out + d->nfindings) {
		d->verdict = VERDICT_INCONCLUSIVE;
		d->summary = too_few_checked(d, what);
	} else {
		d->verdict = VERDICT_HEALTHY;
		d->summary = nothing_wrong(d, what);
	}
	return d->summary ? 0 : -ENOMEM;
}

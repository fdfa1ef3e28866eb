/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reports and screens share in showing a ladder: the order of its rows, the scale of bars. */
#include "src/diagnose/diagnosis.h"

#include <math.h>
#include <stdlib.h>

/* A total order: what is shown must not depend on the sort. */
static int by_high_end(const void *a, const void *b)
{
	const struct ceiling *x = *(const struct ceiling *const *)a;
	const struct ceiling *y = *(const struct ceiling *const *)b;

	if (x->high_bps != y->high_bps)
		return x->high_bps < y->high_bps ? -1 : 1;
	if (x->low_bps != y->low_bps)
		return x->low_bps < y->low_bps ? -1 : 1;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : (int)x->side - (int)y->side;
}

size_t ladder_known(const struct ladder *l, enum run_direction d, const struct ceiling **to,
		    size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n && n < cap; i++)
		if (l->ceilings[i].direction == d && l->ceilings[i].known)
			to[n++] = &l->ceilings[i];
	if (n)
		qsort(to, n, sizeof(to[0]), by_high_end);
	return n;
}

/*
 * A loss or window ceiling can be a hundred times the line rate; drawn to scale
 * everything of interest would be one cell.  Bars beyond the scale say so.
 */
double ladder_scale(const struct ceiling *const *known, size_t n, const struct ceiling *lowest,
		    double seen_bps)
{
	double highest = seen_bps, interesting = seen_bps;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(known[i]->high_bps))
			continue;
		highest = fmax(highest, known[i]->high_bps);
		if (known[i]->kind == CEILING_WIRE)
			interesting = fmax(interesting, known[i]->high_bps);
	}
	if (lowest && isfinite(lowest->high_bps))
		interesting = fmax(interesting, 1.5 * lowest->high_bps);
	return fmin(highest, 1.25 * interesting);
}

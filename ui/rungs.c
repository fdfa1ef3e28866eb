/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/rungs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/units.h"

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

/* A window or loss ceiling can be a hundred times the line rate: bars beyond the scale say so. */
static double scale_of(const struct rungs *r)
{
	double seen = fmax(r->now_bps.k == ND_KNOWN ? r->now_bps.v : 0,
			   r->measured_bps.k == ND_KNOWN ? r->measured_bps.v : 0);
	double highest = seen, interesting = seen;

	for (size_t i = 0; i < r->nknown; i++) {
		const struct ceiling *c = r->known[i];
		if (!isfinite(c->high_bps))
			continue;
		highest = fmax(highest, c->high_bps);
		if (c->kind == CEILING_WIRE)
			interesting = fmax(interesting, c->high_bps);
	}
	if (r->lowest && isfinite(r->lowest->high_bps))
		interesting = fmax(interesting, 1.5 * r->lowest->high_bps);
	return fmin(highest, 1.25 * interesting);
}

void rungs_make(const struct scene *s, enum run_direction d, struct rungs *r)
{
	const struct direction_result *result = scene_result(s, d);

	memset(r, 0, sizeof(*r));
	r->now_bps = scene_rate(s, d);
	if (result && result->measured)
		r->measured_bps = nd_f64(result->measured_bps);
	for (size_t i = 0; s->diagnosis && i < s->diagnosis->ladder.n; i++) {
		const struct ceiling *c = &s->diagnosis->ladder.ceilings[i];
		if (c->direction != d)
			continue;
		if (c->known && r->nknown < RUNGS_MAX)
			r->known[r->nknown++] = c;
		else if (!c->known && r->nunknown < RUNGS_MAX)
			r->unknown[r->nunknown++] = c;
	}
	qsort(r->known, r->nknown, sizeof(r->known[0]), by_high_end);
	r->lowest = result && result->bottleneck ? result->bottleneck
						 : r->nknown ? r->known[0] : NULL;
	r->scale = scale_of(r);
}

void rung_label(const struct ceiling *c, char *out, size_t cap)
{
	snprintf(out, cap, "%s %s", ceiling_word(c->kind), side_word(c->side));
}

void rung_range(const struct ceiling *c, char *out, size_t cap)
{
	char low[32], high[32];

	format_rate(c->low_bps, low, sizeof(low));
	if (!isfinite(c->high_bps)) {
		snprintf(out, cap, ">= %s", low);
		return;
	}
	format_rate(c->high_bps, high, sizeof(high));
	const char *unit = strchr(low, ' '), *other = strchr(high, ' ');
	if (!strcmp(low, high))
		snprintf(out, cap, "%s", low);
	else if (unit && other && !strcmp(unit, other))
		snprintf(out, cap, "%.*s-%s", (int)(unit - low), low, high);
	else
		snprintf(out, cap, "%s - %s", low, high);
}

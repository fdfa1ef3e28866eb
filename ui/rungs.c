/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/rungs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/core/units.h"

static double or_zero(struct nd_f64 v)
{
	return v.k == ND_KNOWN ? v.v : 0;
}

void rungs_make(const struct scene *s, enum run_direction d, struct rungs *r)
{
	const struct direction_result *result = scene_result(s, d);

	memset(r, 0, sizeof(*r));
	r->now_bps = scene_rate(s, d);
	if (result && result->measured)
		r->measured_bps = nd_f64(result->measured_bps);
	if (s->diagnosis)
		r->nknown = ladder_known(&s->diagnosis->ladder, d, r->known, RUNGS_MAX);
	for (size_t i = 0; s->diagnosis && i < s->diagnosis->ladder.n; i++) {
		const struct ceiling *c = &s->diagnosis->ladder.ceilings[i];
		if (c->direction == d && !c->known && r->nunknown < RUNGS_MAX)
			r->unknown[r->nunknown++] = c;
	}
	r->lowest = result && result->bottleneck ? result->bottleneck
						 : r->nknown ? r->known[0] : NULL;
	r->scale = ladder_scale(r->known, r->nknown, r->lowest,
				fmax(or_zero(r->now_bps), or_zero(r->measured_bps)));
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/round_trips.h"

void finding_round_trips(const struct rule_input *in, struct rule_output *out, struct finding *f)
{
	static const char source[] = "requests on a connection of their own";
	const struct latency *idle = exam_idle(in->exam);
	const char *id = in->run->id.k == ND_KNOWN ? in->run->id.v : "?";

	if (!idle || in->run->loaded.p50_us.k != ND_KNOWN)
		return;
	finding_number(out, f, rule_text(out, "runs[%s].latency.loaded.p50_us", id),
		       in->run->loaded.p50_us.v, UNIT_MICROSECONDS, NULL, source);
	finding_number(out, f, "the same of the idle path", idle->p50_us.v, UNIT_MICROSECONDS,
		       NULL, source);
}

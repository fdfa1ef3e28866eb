/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/live.h"

#include <string.h>

cJSON *live_to_json(const struct end_live *live)
{
	cJSON *o = cJSON_CreateObject();

	if (!o)
		return NULL;
	cJSON_AddNumberToObject(o, "start_s", live->start_s);
	cJSON_AddNumberToObject(o, "seconds", live->seconds);
	cJSON_AddNumberToObject(o, "rate_bps", live->rate_bps);
	if (live->hot_known) {
		json_add_u64(o, "hot_cpu", live->hot_cpu);
		cJSON_AddNumberToObject(o, "hot_busy", live->hot_busy);
	}
	return o;
}

bool live_from_json(const cJSON *obj, struct end_live *out)
{
	struct end_live l;

	memset(&l, 0, sizeof(l));
	if (!json_get_f64(obj, "start_s", &l.start_s) ||
	    !json_get_f64(obj, "seconds", &l.seconds) ||
	    !json_get_f64(obj, "rate_bps", &l.rate_bps) || l.rate_bps < 0 || l.rate_bps > 1e14)
		return false;
	l.hot_known = json_get_u64(obj, "hot_cpu", 0, ND_MAX_CPUS - 1, &l.hot_cpu) &&
		      json_get_f64(obj, "hot_busy", &l.hot_busy) && l.hot_busy >= 0 &&
		      l.hot_busy <= 1;
	*out = l;
	return true;
}

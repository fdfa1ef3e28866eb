/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/stamp.h"

#include <time.h>

void stamp_rfc3339(uint64_t wall_ns, char out[STAMP_CAP])
{
	/* 2^64 ns is the year 2554: it always fits. */
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm = { 0 };

	gmtime_r(&t, &tm);
	if (!strftime(out, STAMP_CAP, "%Y-%m-%dT%H:%M:%SZ", &tm))
		out[0] = '\0';
}

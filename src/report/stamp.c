/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/stamp.h"

#include <stdbool.h>
#include <stdio.h>

static bool is_leap(unsigned int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned int days_in_month(unsigned int year, unsigned int month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month] + (month == 1 && is_leap(year));
}

/* By hand: gmtime_r() would drag the header of clocks into a folder that may not read one. */
void stamp_rfc3339(uint64_t wall_ns, char out[STAMP_CAP])
{
	/* 2^64 ns end in the year 2554: the counts are small. */
	uint64_t seconds = wall_ns / 1000000000, days = seconds / 86400;
	unsigned int of_day = (unsigned int)(seconds % 86400), year = 1970, month = 0;

	for (; days >= 365u + is_leap(year); year++)
		days -= 365u + is_leap(year);
	for (; days >= days_in_month(year, month); month++)
		days -= days_in_month(year, month);
	snprintf(out, STAMP_CAP, "%04u-%02u-%02uT%02u:%02u:%02uZ", year, month + 1,
		 (unsigned int)days + 1, of_day / 3600, of_day / 60 % 60, of_day % 60);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/report/stamp.h"

#include <errno.h>
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

/* The digits of a part, which are followed by `end`; moves *s behind that. */
static bool read_part(const char **s, size_t digits, char end, unsigned int *out)
{
	*out = 0;
	for (size_t i = 0; i < digits; i++, (*s)++) {
		if (**s < '0' || **s > '9')
			return false;
		*out = *out * 10 + (unsigned int)(**s - '0');
	}
	return *(*s)++ == end;
}

int stamp_read(const char *stamp, uint64_t *wall_ns)
{
	unsigned int year, month, day, hour, minute, second;
	uint64_t days = 0;

	if (!read_part(&stamp, 4, '-', &year) || !read_part(&stamp, 2, '-', &month) ||
	    !read_part(&stamp, 2, 'T', &day) || !read_part(&stamp, 2, ':', &hour) ||
	    !read_part(&stamp, 2, ':', &minute) || !read_part(&stamp, 2, 'Z', &second) || *stamp)
		return -EINVAL;
	/* 2^64 ns end in 2554. */
	if (year < 1970 || year > 2553 || month < 1 || month > 12 || day < 1 ||
	    day > days_in_month(year, month - 1) || hour > 23 || minute > 59 || second > 59)
		return -EINVAL;
	for (unsigned int y = 1970; y < year; y++)
		days += 365u + is_leap(y);
	for (unsigned int m = 0; m + 1 < month; m++)
		days += days_in_month(year, m);
	days += day - 1;
	*wall_ns = (((days * 24 + hour) * 60 + minute) * 60 + second) * UINT64_C(1000000000);
	return 0;
}

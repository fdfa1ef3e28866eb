/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time stamps of reports: RFC 3339 in UTC, whole seconds. */
#ifndef ND_REPORT_STAMP_H
#define ND_REPORT_STAMP_H

#include <stdint.h>

enum { STAMP_CAP = 32 };

/* wall_ns since the epoch; "1970-01-01T00:00:00Z" for 0. */
void stamp_rfc3339(uint64_t wall_ns, char out[STAMP_CAP]);
/* One that stamp_rfc3339() wrote.  0 or -EINVAL. */
int stamp_read(const char *stamp, uint64_t *wall_ns);

#endif

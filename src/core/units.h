/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Units: the names used in field tables and reports, and human forms.
 * Network rates are decimal (1 Gbit/s = 1e9 bit/s); buffers are bytes.
 */
#ifndef ND_CORE_UNITS_H
#define ND_CORE_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum unit {
	UNIT_NONE = 0,
	UNIT_COUNT,
	UNIT_PACKETS,
	UNIT_BYTES,
	UNIT_BITS_PER_SECOND,
	UNIT_MBIT_PER_SECOND,
	UNIT_MEGATRANSFERS,	/* PCIe: 8000 = 8 GT/s */
	UNIT_MICROSECONDS,
	UNIT_NANOSECONDS,
	UNIT_MILLISECONDS,
	UNIT_KILOHERTZ,
	UNIT_SHARE,		/* 0..1 */
	UNIT_SECONDS,
	UNIT_PER_SECOND,
	UNIT_COUNT_OF_UNITS
};

const char *unit_word(enum unit u);	/* as in JSON: "bit/s", "bytes", "us" ...; "" for none */

/* "9.41 Gbit/s", "940 Mbit/s", "0 bit/s": three significant digits. */
void format_rate(double bits_per_second, char *buf, size_t cap);
/* "4.19 MB", "16.4 kB" (decimal), "512 B". */
void format_bytes(double bytes, char *buf, size_t cap);
/* A value in its unit, in human form, e.g. (0.97, UNIT_SHARE) -> "97 %". */
void format_quantity(double value, enum unit u, char *buf, size_t cap);

/* "25G", "9.4G", "940M", "100000k", "1e9": bit/s.  -EINVAL, -ERANGE. */
int parse_rate(const char *s, uint64_t *bits_per_second);
/* "128K", "4M", "1G": bytes, binary multiples as iperf3's -l and -w.  -EINVAL, -ERANGE. */
int parse_size(const char *s, uint64_t *bytes);

#endif

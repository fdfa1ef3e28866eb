/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of `netdoctor test`: lines as iperf3's users know them, and what they
 * have no lines for: the busiest core of both ends.  Pure; all functions append to out.
 */
#ifndef ND_REPORT_TEST_TEXT_H
#define ND_REPORT_TEST_TEXT_H

#include "src/core/text.h"
#include "src/exam/beat.h"
#include "src/exam/exam.h"

/* The number iperf3 would show for flow i: it shows file descriptors, and counts in twos. */
static inline unsigned int test_flow_id(size_t i)
{
	return 5 + 2 * (unsigned int)i;
}

/* "164 MBytes", "1.37 Gbits": four places, then the unit; bytes by 1024, bits by 1000. */
void test_format_bytes(double bytes, char *buf, size_t cap);
void test_format_bits(double bits, char *buf, size_t cap);

/* "[  5] local A port N connected to B port M", a line a flow; then the columns' names. */
void test_text_begin(const struct exam *e, const struct run_spec *spec,
		     const struct flow_begin *flows, struct text *out);
/* One report interval; peer NULL: its part has not come. */
void test_text_beat(const struct exam *e, const struct run_spec *spec, const struct beat *ours,
		    const struct beat *peer, struct text *out);
/* The whole run: sender and receiver of each flow, CPU of both ends, what held TCP up. */
void test_text_end(const struct exam *e, const struct run *r, struct text *out);

#endif

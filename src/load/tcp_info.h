/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel tells about one connection.  Internal to src/load.
 */
#ifndef ND_LOAD_TCP_INFO_H
#define ND_LOAD_TCP_INFO_H

#include "src/core/counters.h"

/* More than any kernel returns today (248 bytes in 6.7). */
enum { TCP_INFO_BYTES = 512 };

/*
 * Pure: fills the TCP_INFO members of out from the len bytes that getsockopt() returned.
 * Members beyond len are ND_NOT_SUPPORTED: distributions backport members, so the length
 * tells and the kernel version does not.
 */
void parse_tcp_info(const void *buf, size_t len, struct flow_sample *out);

/* Pure: all that parse_tcp_info() fills is unknown, and why. */
void tcp_info_unknown(enum nd_known why, struct flow_sample *out);

/* The kernel keeps these in 32 (timeouts: 16) bits, which wrap within minutes at 100 Gbit/s. */
enum { TCP_INFO_WRAPPING = 9 };
struct tcp_info_history { uint64_t total[TCP_INFO_WRAPPING]; };

/* Extends the wrapping members of s to 64 bits; call with every sample, in order. */
void tcp_info_unwrap(struct tcp_info_history *h, struct flow_sample *s);

/* Pure: SO_MEMINFO as returned. */
void parse_meminfo(const void *buf, size_t len, struct flow_sample *out);

/* Reads it.  Any thread. */
void read_meminfo(int fd, struct flow_sample *out);

/* Reads TCP_INFO, SO_MEMINFO, queues and the CPU that the packets come in on.  Any thread. */
void read_flow_socket(int fd, struct tcp_info_history *h, struct flow_sample *out);

#endif

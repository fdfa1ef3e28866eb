/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parsers of files in /proc, /sys and /etc: pure, over NUL-terminated text that
 * they cut up in place.  Lines that do not parse are left out or give
 * ND_INVALID members; what was understood stays.  They return 0 or -ENOMEM,
 * and -EBADMSG when the text has not the shape it should have.
 */
#ifndef ND_PROBES_PROC_H
#define ND_PROBES_PROC_H

#include "src/core/counters.h"
#include "src/core/facts.h"

/* Whole /proc files that grow with the number of CPUs and interrupts. */
#define PROC_FILE_MAX (4u << 20)

/* "4096 131072 33554432": exactly `count` numbers are wanted; missing ones are ND_INVALID. */
void parse_sysctl_numbers(char *text, size_t count, struct nd_u64 *out);

/* /proc/stat: one row per cpuN line.  user_hz: ticks per second. */
int parse_proc_stat(char *text, struct nd_u64 user_hz, struct counters *c);
/* /proc/softirqs; CPUs not in `online` (when known) are left out. */
int parse_softirqs(char *text, const struct nd_cpus *online, struct counters *c);
/* /proc/net/softnet_stat; `online` maps rows to CPUs on kernels whose rows do not say. */
int parse_softnet(char *text, const struct nd_cpus *online, struct counters *c);
/* /proc/net/snmp and netstat: pairs of a line of names and a line of values. */
int parse_mib_pairs(char *text, struct counters *c);
/* /proc/net/snmp6: a name and a value a line. */
int parse_mib_lines(char *text, struct counters *c);
/* Names of the MIB counters that are kept, sorted. */
extern const char *const mib_names[];
extern const size_t mib_names_count;

#endif

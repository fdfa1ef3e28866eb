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
#include "src/core/source.h"

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

/* Where a controller of our own cgroup lives; pointers into the parsed text. */
struct cgroup_place {
	unsigned int version;	/* 1, 2; 0: nowhere */
	const char *path;	/* as /proc/self/cgroup has it */
};

/* /proc/self/cgroup: cpu and cpuset may sit in hierarchies of their own (v1, hybrid). */
void parse_self_cgroup(char *text, struct cgroup_place *cpu, struct cgroup_place *cpuset);
/*
 * /proc/self/mountinfo: where the hierarchy of `controller` (v1; NULL: v2) is mounted
 * such that `path` lies below the mounted root.  *mount_point and *below ("/" at the
 * mount itself) go to mem.  0, -ENOENT: not mounted here or not visible, -ENOMEM.
 */
int find_cgroup_mount(char *mountinfo, const struct cgroup_place *place, const char *controller,
		      struct arena *mem, const char **mount_point, const char **below);
/* cpu.max: "max 100000" has no limit (n/a). */
void parse_cpu_max(char *text, struct nd_u64 *quota_us, struct nd_u64 *period_us);
/* cpu.stat of either version. */
void parse_cpu_stat(char *text, struct cgroup_sample *row);

/* /proc/cpuinfo: the first CPU's model, and whether its flags name a hypervisor (x86 only). */
void parse_cpuinfo(char *text, struct arena *mem, struct nd_str *model,
		   struct nd_bool *hypervisor);
/* /etc/os-release: PRETTY_NAME without its quotes. */
struct nd_str parse_os_release(char *text, struct arena *mem);
/* /proc/meminfo: MemTotal. */
struct nd_u64 parse_memory_total(char *text);
/* A kernel's config: whether interrupts are timed exactly. */
struct nd_bool parse_irq_accounting(char *config);
/* /proc/stat: false when many interrupts took no time at all, else unknown. */
struct nd_bool parse_irq_accounting_evidence(char *stat);
/* The word for a machine that names its hypervisor in DMI, "none" for EC2 metal, or NULL. */
const char *virtualization_from_dmi(const char *vendor, const char *product);
/* "docker", "kubernetes" ... from the text of /proc/self/cgroup or mountinfo; NULL: no sign. */
const char *container_from_cgroup(const char *text);
/* The value of "container=" in a NUL-separated environment of len bytes; NULL: none. */
const char *container_from_environment(const char *text, size_t len);
/* virtualization.c: fills both words of host. */
void read_virtualization(struct source *src, struct nd_bool hypervisor_flag,
			 struct host_facts *host);

#endif

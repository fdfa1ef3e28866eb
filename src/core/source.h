/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source: the only door to the machine.
 *
 * Probes read files, directories, links, netlink bytes, ethtool ioctls and
 * clocks through a source, so that a recording can stand in for the machine.
 * A source belongs to one thread at a time; threads that read at the same time
 * open one each.  Reading never changes the machine.
 */
#ifndef ND_CORE_SOURCE_H
#define ND_CORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/core/value.h"

struct source;

/* A growable byte buffer that the caller frees with bytes_free(). */
struct bytes { unsigned char *data; size_t len, cap; };
void bytes_free(struct bytes *b);
int bytes_append(struct bytes *b, const void *data, size_t len);	/* 0 or -ENOMEM */

/* Names in a directory; free with names_free(). */
struct names { char **v; size_t n; };
void names_free(struct names *l);

/* Facts that are not files: uname(2), sysconf(3), credentials, affinity. */
struct sysinfo_record {
	char sysname[65], release[65], machine[65], nodename[65];
	uint64_t clock_ticks_per_second;	/* USER_HZ: unit of /proc/stat */
	uint64_t page_bytes;
	uint64_t effective_uid;
	bool net_admin;				/* CAP_NET_ADMIN effective */
	bool sys_admin;				/* CAP_SYS_ADMIN effective: PCI config space
						   beyond 64 bytes */
	struct nd_cpus allowed;			/* sched_getaffinity */
};

/*
 * What an implementation provides; same contracts as the source_ functions below,
 * which check arguments first.  A NULL operation answers -EOPNOTSUPP (clocks: 0).
 * read and readlink fill at most cap bytes, without a NUL, and return how many: a
 * full buffer means that it did not fit.  list need not sort.
 */
struct source_ops {
	ssize_t (*read)(void *state, const char *path, char *buf, size_t cap);
	int (*list)(void *state, const char *dir, struct names *out);
	ssize_t (*readlink)(void *state, const char *path, char *buf, size_t cap);
	int (*netlink)(void *state, int protocol, const void *req, size_t len,
		       struct bytes *replies);
	int (*ethtool)(void *state, const char *ifname, void *cmd, size_t len);
	int (*sysinfo)(void *state, struct sysinfo_record *out);
	uint64_t (*monotonic_ns)(void *state);
	uint64_t (*wall_ns)(void *state);
	void (*close)(void *state);
};

int source_open_live(struct source **out);	/* 0 or -errno */
/* For record, replay and tests: takes over `state`, which ops->close frees. */
int source_open(const struct source_ops *ops, void *state, const char *root, bool live,
		struct source **out);
void source_close(struct source *s);

/*
 * Whole-file read of an absolute path: at most cap - 1 bytes, NUL-terminated.
 * Returns the length, or -errno (-EFBIG when the file does not fit).
 */
ssize_t source_read(struct source *s, const char *path, char *buf, size_t cap);
/* As above for any length up to `max` bytes; *text is malloc'ed, NUL-terminated. */
ssize_t source_read_all(struct source *s, const char *path, size_t max, char **text);
/*
 * printf-path readers; the value is trimmed.  A failure becomes the unknown's reason;
 * text that does not parse is ND_INVALID, EINVAL from the file (sysfs "speed" of a
 * link that is down) ND_NOT_SUPPORTED.
 */
struct nd_u64 source_read_u64(struct source *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct nd_i64 source_read_i64(struct source *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The first line, trimmed, into buf; returns 0 or -errno (-EFBIG: longer than cap - 1). */
int source_read_line(struct source *s, char *buf, size_t cap, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct nd_cpus source_read_cpu_list(struct source *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

int source_list(struct source *s, const char *dir, struct names *out);	/* sorted; no "." ".." */
/* Link target, NUL-terminated; returns the length or -errno. */
ssize_t source_readlink(struct source *s, const char *path, char *buf, size_t cap);

/*
 * Sends one netlink request (a complete nlmsghdr, alone; the source sets seq, pid
 * and NLM_F_ACK) and appends every reply message up to NLMSG_DONE or the ACK.
 * protocol: NETLINK_ROUTE (RTM_GET* only: -EPERM), NETLINK_GENERIC, NETLINK_SOCK_DIAG.
 *
 * replies get the kernel's messages, each padded to NLMSG_ALIGN, without the DONE
 * and the ACK; their seq and pid are 0 and NLM_F_DUMP_INTR is cleared (such a dump
 * is repeated twice, then taken as it is), so that libmnl and libnl parse them as
 * they are and the same machine gives the same bytes.
 *
 * 0, or -errno (also the errno of an NLMSG_ERROR reply); then replies is unchanged.
 * 2 s deadline (-ETIMEDOUT), 16 MiB cap (-EFBIG).  Sockets stay open and belong to
 * the network namespace of the first call.
 */
int source_netlink(struct source *s, int protocol, const void *req, size_t len,
		   struct bytes *replies);
/*
 * SIOCETHTOOL: cmd is the ethtool command struct of len bytes, filled in place.
 * 0 or -errno; -EPERM for a command that is not known to only read.
 */
int source_ethtool(struct source *s, const char *ifname, void *cmd, size_t len);
int source_sysinfo(struct source *s, struct sysinfo_record *out);
uint64_t source_monotonic_ns(struct source *s);
uint64_t source_wall_ns(struct source *s);

/* Directory that stands for "/": "" when live.  For libpci's sysfs.path alone. */
const char *source_root(const struct source *s);
bool source_is_live(const struct source *s);

#endif

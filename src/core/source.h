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
	bool sys_admin;				/* CAP_SYS_ADMIN effective: PCI config space beyond 64 bytes */
	struct nd_cpus allowed;			/* sched_getaffinity */
};

struct source_ops {
	ssize_t (*read)(void *state, const char *path, char *buf, size_t cap);
	int (*list)(void *state, const char *dir, struct names *out);
	ssize_t (*readlink)(void *state, const char *path, char *buf, size_t cap);
	int (*netlink)(void *state, int protocol, const void *req, size_t len, struct bytes *replies);
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
/* printf-path readers; the value is trimmed.  A failure becomes the unknown's reason. */
struct nd_u64 source_read_u64(struct source *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct nd_i64 source_read_i64(struct source *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* One line into buf; returns 0 or -errno. */
int source_read_line(struct source *s, char *buf, size_t cap, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct nd_cpus source_read_cpu_list(struct source *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

int source_list(struct source *s, const char *dir, struct names *out);	/* sorted; no "." ".." */
/* Link target, NUL-terminated; returns the length or -errno. */
ssize_t source_readlink(struct source *s, const char *path, char *buf, size_t cap);

/*
 * Sends one netlink request (a complete nlmsghdr; the source sets seq and pid)
 * and appends every reply datagram up to NLMSG_DONE, the ACK or the single
 * answer.  protocol: NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_SOCK_DIAG.
 * 0, or -errno (also the errno of an NLMSG_ERROR reply); 2 s deadline; 16 MiB cap.
 */
int source_netlink(struct source *s, int protocol, const void *req, size_t len,
		   struct bytes *replies);
/* SIOCETHTOOL: cmd is the ethtool command struct of len bytes, filled in place.  0 or -errno. */
int source_ethtool(struct source *s, const char *ifname, void *cmd, size_t len);
int source_sysinfo(struct source *s, struct sysinfo_record *out);
uint64_t source_monotonic_ns(struct source *s);
uint64_t source_wall_ns(struct source *s);

/* Directory that stands for "/": "" when live.  For libpci's sysfs.path alone. */
const char *source_root(const struct source *s);
bool source_is_live(const struct source *s);

#endif

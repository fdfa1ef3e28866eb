/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live source: this machine's files, clocks and credentials. */
#include "src/core/source_live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* A directory of more names than this is none that a probe reads. */
#define MAX_NAMES 65536

struct live {
	struct live_netlink netlink;
	int ioctl_fd;
};

static ssize_t read_fd(int fd, char *buf, size_t cap)
{
	size_t len = 0;

	/* procfs hands out a page at a time, whatever stat() says: read until the end. */
	while (len < cap) {
		ssize_t n = read(fd, buf + len, cap - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static ssize_t live_read(void *state, const char *path, char *buf, size_t cap)
{
	/* O_NONBLOCK: a FIFO put in the way must not stop us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	(void)state;
	if (fd < 0)
		return -errno;
	n = read_fd(fd, buf, cap);
	close(fd);
	return n;
}

static int add_name(struct names *l, size_t *cap, const char *name)
{
	if (l->n == MAX_NAMES)
		return -EFBIG;
	if (l->n == *cap) {
		size_t more = *cap ? *cap * 2 : 32;
		char **v = realloc(l->v, more * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		*cap = more;
	}
	l->v[l->n] = strdup(name);
	if (!l->v[l->n])
		return -ENOMEM;
	l->n++;
	return 0;
}

static int live_list(void *state, const char *dir, struct names *out)
{
	DIR *d = opendir(dir);
	size_t cap = 0;
	int rc = 0;

	(void)state;
	if (!d)
		return -errno;
	while (!rc) {
		const struct dirent *e;

		errno = 0;
		e = readdir(d);
		if (!e) {
			rc = -errno;
			break;
		}
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			rc = add_name(out, &cap, e->d_name);
	}
	closedir(d);
	return rc;
}

static ssize_t live_readlink(void *state, const char *path, char *buf, size_t cap)
{
	ssize_t n = readlink(path, buf, cap);

	(void)state;
	return n < 0 ? -errno : n;
}

static int live_netlink(void *state, int protocol, const void *req, size_t len,
			struct bytes *replies)
{
	struct live *l = state;

	return live_netlink_request(&l->netlink, protocol, req, len, replies);
}

static int live_ioctl(void *state, const char *ifname, void *cmd, size_t len)
{
	struct live *l = state;

	return live_ethtool(&l->ioctl_fd, ifname, cmd, len);
}

/* Effective capabilities of this thread, bit n = CAP n; none when the kernel will not say. */
static uint64_t effective_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* The kernel wants room for all possible CPUs, which may be more than we can hold. */
static void read_affinity(struct nd_cpus *out)
{
	enum { MOST_CPUS = 16384 };
	size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS);
	cpu_set_t *set = CPU_ALLOC(MOST_CPUS);

	memset(out, 0, sizeof(*out));
	out->k = ND_FAILED;
	if (!set)
		return;
	if (sched_getaffinity(0, bytes, set)) {
		out->k = nd_known_from_errno(errno);
	} else {
		out->k = ND_KNOWN;
		for (unsigned int cpu = 0; cpu < MOST_CPUS; cpu++)
			if (CPU_ISSET_S(cpu, bytes, set))
				nd_cpus_set(out, cpu);
	}
	CPU_FREE(set);
}

static uint64_t sysconf_or(int name, uint64_t fallback)
{
	long v = sysconf(name);

	return v > 0 ? (uint64_t)v : fallback;
}

static int live_sysinfo(void *state, struct sysinfo_record *out)
{
	uint64_t caps = effective_capabilities();
	struct utsname u;

	(void)state;
	if (uname(&u))
		return -errno;
	snprintf(out->sysname, sizeof(out->sysname), "%s", u.sysname);
	snprintf(out->release, sizeof(out->release), "%s", u.release);
	snprintf(out->machine, sizeof(out->machine), "%s", u.machine);
	snprintf(out->nodename, sizeof(out->nodename), "%s", u.nodename);
	/* Both are fixed by the ABI of nearly every architecture; sysconf() cannot really fail. */
	out->clock_ticks_per_second = sysconf_or(_SC_CLK_TCK, 100);
	out->page_bytes = sysconf_or(_SC_PAGESIZE, 4096);
	out->effective_uid = geteuid();
	out->net_admin = caps >> CAP_NET_ADMIN & 1;
	out->sys_admin = caps >> CAP_SYS_ADMIN & 1;
	read_affinity(&out->allowed);
	return 0;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		return 0;
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t live_monotonic_ns(void *state)
{
	(void)state;
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t live_wall_ns(void *state)
{
	(void)state;
	return clock_ns(CLOCK_REALTIME);
}

static void live_close(void *state)
{
	struct live *l = state;

	live_netlink_close(&l->netlink);
	if (l->ioctl_fd >= 0)
		close(l->ioctl_fd);
	free(l);
}

static const struct source_ops live_ops = {
	.read = live_read,
	.list = live_list,
	.readlink = live_readlink,
	.netlink = live_netlink,
	.ethtool = live_ioctl,
	.sysinfo = live_sysinfo,
	.monotonic_ns = live_monotonic_ns,
	.wall_ns = live_wall_ns,
	.close = live_close,
};

int source_open_live(struct source **out)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	live_netlink_init(&l->netlink);
	l->ioctl_fd = -1;
	return source_open(&live_ops, l, "", true, out);
}

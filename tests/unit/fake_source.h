/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A source for tests: files below a temporary directory, netlink and ioctl
 * answers from functions of the test, a clock that the test sets.
 *
 * Header only, so that every test links by the Makefile's wildcard alone.
 */
#ifndef ND_TESTS_FAKE_SOURCE_H
#define ND_TESTS_FAKE_SOURCE_H

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/core/source.h"

struct fake {
	char root[64];
	struct source *src;
	int (*netlink)(void *user, int protocol, const void *req, size_t len,
		       struct bytes *replies);
	int (*ethtool)(void *user, const char *ifname, void *cmd, size_t len);
	void *user;
	uint64_t now_ns;
	uint64_t step_ns;	/* the clock moves by this much at each look */
	struct sysinfo_record sysinfo;
	unsigned int reads;
};

static inline void fake_path(const struct fake *f, const char *path, char out[PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s%s", f->root, path);

	assert(n > 0 && n < PATH_MAX);
	(void)n;
}

static inline ssize_t fake_op_read(void *state, const char *path, char *buf, size_t cap)
{
	struct fake *f = state;
	char full[PATH_MAX];
	size_t got = 0;
	ssize_t n = 0;
	int fd;

	f->reads++;
	fake_path(f, path, full);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (got < cap) {
		n = read(fd, buf + got, cap - got);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	n = n < 0 ? -errno : (ssize_t)got;
	close(fd);
	return n;
}

static inline int fake_op_list(void *state, const char *dir, struct names *out)
{
	char full[PATH_MAX];
	struct dirent *e;
	DIR *d;

	fake_path(state, dir, full);
	d = opendir(full);
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		char **v = realloc(out->v, (out->n + 1) * sizeof(*v));

		assert(v);
		out->v = v;
		out->v[out->n] = strdup(e->d_name);
		assert(out->v[out->n]);
		out->n++;
	}
	closedir(d);
	return 0;
}

static inline ssize_t fake_op_readlink(void *state, const char *path, char *buf, size_t cap)
{
	char full[PATH_MAX];
	ssize_t n;

	fake_path(state, path, full);
	n = readlink(full, buf, cap);
	return n < 0 ? -errno : n;
}

static inline int fake_op_netlink(void *state, int protocol, const void *req, size_t len,
				  struct bytes *replies)
{
	struct fake *f = state;

	return f->netlink ? f->netlink(f->user, protocol, req, len, replies) : -EOPNOTSUPP;
}

static inline int fake_op_ethtool(void *state, const char *ifname, void *cmd, size_t len)
{
	struct fake *f = state;

	return f->ethtool ? f->ethtool(f->user, ifname, cmd, len) : -EOPNOTSUPP;
}

static inline int fake_op_sysinfo(void *state, struct sysinfo_record *out)
{
	*out = ((struct fake *)state)->sysinfo;
	return 0;
}

static inline uint64_t fake_op_now(void *state)
{
	struct fake *f = state;

	f->now_ns += f->step_ns;
	return f->now_ns;
}

static inline void fake_op_close(void *state)
{
	(void)state;
}

/* f must stay where it is until fake_close().  Other members may be set afterwards. */
static inline void fake_open(struct fake *f)
{
	static const struct source_ops ops = {
		.read = fake_op_read,
		.list = fake_op_list,
		.readlink = fake_op_readlink,
		.netlink = fake_op_netlink,
		.ethtool = fake_op_ethtool,
		.sysinfo = fake_op_sysinfo,
		.monotonic_ns = fake_op_now,
		.wall_ns = fake_op_now,
		.close = fake_op_close,
	};
	int rc;

	memset(f, 0, sizeof(*f));
	strcpy(f->root, "/tmp/nd-fake-XXXXXX");
	if (!mkdtemp(f->root))
		abort();
	rc = source_open(&ops, f, f->root, false, &f->src);
	if (rc)
		abort();
}

static inline int fake_unlink_one(const char *path, const struct stat *st, int flag,
				  struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void fake_close(struct fake *f)
{
	source_close(f->src);
	nftw(f->root, fake_unlink_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes every directory above path. */
static inline void fake_parents(const struct fake *f, const char *path)
{
	char full[PATH_MAX];

	fake_path(f, path, full);
	for (char *p = full + strlen(f->root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(full, 0755) && errno != EEXIST)
			abort();
		*p = '/';
	}
}

static inline void fake_file_bytes(const struct fake *f, const char *path, const void *data,
				   size_t len)
{
	char full[PATH_MAX];
	FILE *out;

	fake_parents(f, path);
	fake_path(f, path, full);
	out = fopen(full, "w");
	if (!out || fwrite(data, 1, len, out) != len || fclose(out))
		abort();
}

static inline void fake_file(const struct fake *f, const char *path, const char *text)
{
	fake_file_bytes(f, path, text, strlen(text));
}

static inline void fake_dir(const struct fake *f, const char *path)
{
	char with_slash[PATH_MAX];

	snprintf(with_slash, sizeof(with_slash), "%s/", path);
	fake_parents(f, with_slash);
}

static inline void fake_symlink(const struct fake *f, const char *path, const char *target)
{
	char full[PATH_MAX];

	fake_parents(f, path);
	fake_path(f, path, full);
	if (symlink(target, full))
		abort();
}

static inline void fake_remove(const struct fake *f, const char *path)
{
	char full[PATH_MAX];

	fake_path(f, path, full);
	if (remove(full))
		abort();
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/core/source.h"

#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"

enum {
	PATH_BYTES = 4096,
	LINE_BYTES = 4096,
	NUMBER_BYTES = 64,
	FIRST_READ_BYTES = 16384
};

struct source {
	const struct source_ops *ops;
	void *state;
	char *root;
	bool live;
};

void bytes_free(struct bytes *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

int bytes_append(struct bytes *b, const void *data, size_t len)
{
	size_t cap = b->cap ? b->cap : 256;
	unsigned char *grown;

	if (len > SIZE_MAX / 2 - b->len)
		return -ENOMEM;
	while (cap < b->len + len)
		cap *= 2;
	if (cap != b->cap) {
		grown = realloc(b->data, cap);
		if (!grown)
			return -ENOMEM;
		b->data = grown;
		b->cap = cap;
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

void names_free(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

int source_open(const struct source_ops *ops, void *state, const char *root, bool live,
		struct source **out)
{
	struct source *s = calloc(1, sizeof(*s));

	if (s)
		s->root = strdup(root ? root : "");
	if (!s || !s->root) {
		free(s);
		if (ops->close)
			ops->close(state);
		return -ENOMEM;
	}
	s->ops = ops;
	s->state = state;
	s->live = live;
	*out = s;
	return 0;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	if (s->ops->close)
		s->ops->close(s->state);
	free(s->root);
	free(s);
}

ssize_t source_read(struct source *s, const char *path, char *buf, size_t cap)
{
	ssize_t n;

	if (!cap || path[0] != '/')
		return -EINVAL;
	buf[0] = '\0';
	if (!s->ops->read)
		return -EOPNOTSUPP;
	n = s->ops->read(s->state, path, buf, cap);
	if (n > 0 && (size_t)n >= cap)
		n = -EFBIG;
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

ssize_t source_read_all(struct source *s, const char *path, size_t max, char **text)
{
	size_t cap = max < FIRST_READ_BYTES ? max : FIRST_READ_BYTES;

	*text = NULL;
	if (max > SIZE_MAX / 8)
		return -EINVAL;
	for (;;) {
		char *buf = malloc(cap + 1), *fitted;
		ssize_t n;

		if (!buf)
			return -ENOMEM;
		n = source_read(s, path, buf, cap + 1);
		if (n >= 0) {
			fitted = realloc(buf, (size_t)n + 1);
			*text = fitted ? fitted : buf;
			return n;
		}
		free(buf);
		/* Sizes in /proc and /sys lie, so grow until it fits: one read, one moment. */
		if (n != -EFBIG || cap == max)
			return n;
		cap = cap > max / 4 ? max : cap * 4;
	}
}

static int read_line(struct source *s, char *buf, size_t cap, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));

/* What all readers of one value rest on: the first line of the file, trimmed. */
static int read_line(struct source *s, char *buf, size_t cap, const char *fmt, va_list ap)
{
	char path[PATH_BYTES], *end, *start;
	ssize_t n = vsnprintf(path, sizeof(path), fmt, ap);

	if (!cap)
		return -EINVAL;
	if (n < 0 || n >= PATH_BYTES)
		n = -ENAMETOOLONG;
	else
		n = source_read(s, path, buf, cap);
	if (n < 0) {
		buf[0] = '\0';
		return (int)n;
	}
	end = strchr(buf, '\n');
	if (end)
		*end = '\0';
	start = trim(buf);
	memmove(buf, start, strlen(start) + 1);
	return 0;
}

static enum nd_known read_value(struct source *s, char *buf, size_t cap, const char *fmt,
				va_list ap) __attribute__((format(printf, 4, 0)));

/* ND_KNOWN, or why there is no value. */
static enum nd_known read_value(struct source *s, char *buf, size_t cap, const char *fmt,
				va_list ap)
{
	int rc = read_line(s, buf, cap, fmt, ap);

	/* A driver answers EINVAL for "I cannot tell now": no parse error, no missing file. */
	if (rc == -EINVAL)
		return ND_NOT_SUPPORTED;
	return rc ? nd_known_from_errno(-rc) : ND_KNOWN;
}

int source_read_line(struct source *s, char *buf, size_t cap, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = read_line(s, buf, cap, fmt, ap);
	va_end(ap);
	return rc;
}

struct nd_u64 source_read_u64(struct source *s, const char *fmt, ...)
{
	struct nd_u64 out = { 0 };
	char line[NUMBER_BYTES];
	va_list ap;

	va_start(ap, fmt);
	out.k = read_value(s, line, sizeof(line), fmt, ap);
	va_end(ap);
	if (out.k == ND_KNOWN && parse_u64(line, &out.v))
		out = nd_u64_unknown(ND_INVALID);
	return out;
}

struct nd_i64 source_read_i64(struct source *s, const char *fmt, ...)
{
	struct nd_i64 out = { 0 };
	char line[NUMBER_BYTES];
	va_list ap;

	va_start(ap, fmt);
	out.k = read_value(s, line, sizeof(line), fmt, ap);
	va_end(ap);
	if (out.k == ND_KNOWN && parse_i64(line, &out.v))
		out = nd_i64_unknown(ND_INVALID);
	return out;
}

struct nd_cpus source_read_cpu_list(struct source *s, const char *fmt, ...)
{
	struct nd_cpus out = { 0 };
	char line[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	out.k = read_value(s, line, sizeof(line), fmt, ap);
	va_end(ap);
	if (out.k == ND_KNOWN)
		nd_cpus_parse_list(line, &out);
	return out;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int source_list(struct source *s, const char *dir, struct names *out)
{
	int rc;

	memset(out, 0, sizeof(*out));
	if (dir[0] != '/')
		return -EINVAL;
	if (!s->ops->list)
		return -EOPNOTSUPP;
	rc = s->ops->list(s->state, dir, out);
	if (rc) {
		names_free(out);
		return rc;
	}
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(*out->v), compare_names);
	return 0;
}

ssize_t source_readlink(struct source *s, const char *path, char *buf, size_t cap)
{
	ssize_t n;

	if (!cap || path[0] != '/')
		return -EINVAL;
	buf[0] = '\0';
	if (!s->ops->readlink)
		return -EOPNOTSUPP;
	n = s->ops->readlink(s->state, path, buf, cap);
	/* readlink() cuts silently: a full buffer may hold half a target. */
	if (n > 0 && (size_t)n >= cap)
		n = -ENAMETOOLONG;
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

int source_netlink(struct source *s, int protocol, const void *req, size_t len,
		   struct bytes *replies)
{
	struct nlmsghdr h;
	size_t before = replies->len;
	int rc;

	if (len < sizeof(h))
		return -EINVAL;
	memcpy(&h, req, sizeof(h));
	/* One request: a second message in the same bytes would answer unasked. */
	if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > len || len > NLMSG_ALIGN(h.nlmsg_len))
		return -EINVAL;
	if (!s->ops->netlink)
		return -EOPNOTSUPP;
	rc = s->ops->netlink(s->state, protocol, req, len, replies);
	if (rc)
		replies->len = before;
	return rc;
}

int source_ethtool(struct source *s, const char *ifname, void *cmd, size_t len)
{
	size_t n = strnlen(ifname, IFNAMSIZ);

	if (!n || n >= IFNAMSIZ || len < sizeof(uint32_t))
		return -EINVAL;
	if (!s->ops->ethtool)
		return -EOPNOTSUPP;
	return s->ops->ethtool(s->state, ifname, cmd, len);
}

int source_sysinfo(struct source *s, struct sysinfo_record *out)
{
	memset(out, 0, sizeof(*out));
	if (!s->ops->sysinfo)
		return -EOPNOTSUPP;
	return s->ops->sysinfo(s->state, out);
}

uint64_t source_monotonic_ns(struct source *s)
{
	return s->ops->monotonic_ns ? s->ops->monotonic_ns(s->state) : 0;
}

uint64_t source_wall_ns(struct source *s)
{
	return s->ops->wall_ns ? s->ops->wall_ns(s->state) : 0;
}

const char *source_root(const struct source *s)
{
	return s->root;
}

bool source_is_live(const struct source *s)
{
	return s->live;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taking rtnetlink replies apart, with libnl's message and attribute checks.
 */
#include "probes/rtnetlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

/* Longest text attribute that makes sense: names are 15 bytes, aliases 255. */
enum { STRING_MAX = 256 };

void rtnl_start(struct rtnl_cursor *c, const void *buf, size_t len)
{
	/* libnl's readers take mutable pointers, but write nothing. */
	c->next = (struct nlmsghdr *)(uintptr_t)buf;
	c->left = len > INT_MAX ? INT_MAX : (int)len;
}

struct nlmsghdr *rtnl_next(struct rtnl_cursor *c, uint16_t type, size_t header_bytes)
{
	/* Alignment may step past the end: older libnl takes a negative rest for a huge one. */
	while (c->left > 0 && nlmsg_ok(c->next, c->left)) {
		struct nlmsghdr *msg = c->next;

		c->next = nlmsg_next(msg, &c->left);
		if (type != RTNL_ANY_TYPE && msg->nlmsg_type != type)
			continue;
		if ((size_t)nlmsg_datalen(msg) >= header_bytes)
			return msg;
	}
	return NULL;
}

int rtnl_end(const struct rtnl_cursor *c)
{
	return c->left > 0 ? -EBADMSG : 0;
}

void rtnl_attributes(struct nlmsghdr *msg, size_t header_bytes, struct nlattr **table, int max)
{
	memset(table, 0, sizeof(*table) * (max + 1));
	nla_parse(table, max, nlmsg_attrdata(msg, header_bytes),
		  nlmsg_attrlen(msg, header_bytes), NULL);
}

void rtnl_nested(struct nlattr *attr, struct nlattr **table, int max)
{
	memset(table, 0, sizeof(*table) * (max + 1));
	if (attr)
		nla_parse_nested(table, max, attr, NULL);
}

void rtnl_nested_behind(struct nlattr *attr, size_t skip, struct nlattr **table, int max)
{
	size_t len = attr ? (size_t)nla_len(attr) : 0;

	skip = NLA_ALIGN(skip);
	memset(table, 0, sizeof(*table) * (max + 1));
	if (len > skip)
		nla_parse(table, max, (struct nlattr *)((char *)nla_data(attr) + skip),
			  (int)(len - skip), NULL);
}

static struct nd_u64 read_number(const struct nlattr *attr, size_t size)
{
	uint64_t v64;
	uint32_t v32;

	if (!attr)
		return nd_u64_unknown(ND_ABSENT);
	if ((size_t)nla_len(attr) != size)
		return nd_u64_unknown(ND_INVALID);
	if (size == 1)
		return nd_u64(*(const uint8_t *)nla_data(attr));
	if (size == 4) {
		memcpy(&v32, nla_data(attr), 4);
		return nd_u64(v32);
	}
	memcpy(&v64, nla_data(attr), 8);
	return nd_u64(v64);
}

struct nd_u64 rtnl_u8(const struct nlattr *attr) { return read_number(attr, 1); }
struct nd_u64 rtnl_u32(const struct nlattr *attr) { return read_number(attr, 4); }
struct nd_u64 rtnl_u64(const struct nlattr *attr) { return read_number(attr, 8); }

struct nd_str rtnl_string(const struct nlattr *attr, struct arena *mem)
{
	size_t len;
	char *copy;

	if (!attr)
		return nd_str_unknown(ND_ABSENT);
	len = strnlen(nla_data(attr), nla_len(attr));
	if (!len || len > STRING_MAX)
		return nd_str_unknown(ND_INVALID);
	copy = arena_strndup(mem, nla_data(attr), len);
	return copy ? nd_str(copy) : nd_str_unknown(ND_FAILED);
}

struct nd_str rtnl_address(const struct nlattr *attr, struct arena *mem)
{
	char text[INET6_ADDRSTRLEN];
	char *copy;
	int family;

	if (!attr)
		return nd_str_unknown(ND_ABSENT);
	if (nla_len(attr) == sizeof(struct in_addr))
		family = AF_INET;
	else if (nla_len(attr) == sizeof(struct in6_addr))
		family = AF_INET6;
	else
		return nd_str_unknown(ND_INVALID);
	if (!inet_ntop(family, nla_data(attr), text, sizeof(text)))
		return nd_str_unknown(ND_INVALID);
	copy = arena_strdup(mem, text);
	return copy ? nd_str(copy) : nd_str_unknown(ND_FAILED);
}

size_t rtnl_struct(const struct nlattr *attr, void *out, size_t size)
{
	size_t len = attr ? (size_t)nla_len(attr) : 0;

	memset(out, 0, size);
	if (len > size)
		len = size;
	if (len)
		memcpy(out, nla_data(attr), len);
	return len;
}

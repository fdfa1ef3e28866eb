/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Builds netlink replies for tests, whole or damaged.
 */
#ifndef ND_TESTS_NETLINK_BUILD_H
#define ND_TESTS_NETLINK_BUILD_H

#include <linux/netlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Aligned as malloc() aligns, like what a source returns. */
struct reply {
	_Alignas(16) uint8_t data[16384];
	size_t len;
	size_t message;		/* start of the message being built */
	size_t nest[8];
	int depth;
};

static inline void reply_bytes(struct reply *r, const void *data, size_t len)
{
	size_t padded = (len + 3) & ~(size_t)3;

	if (r->len + padded > sizeof(r->data))
		abort();
	memset(r->data + r->len, 0, padded);
	if (len)
		memcpy(r->data + r->len, data, len);
	r->len += padded;
}

static inline void reply_close(struct reply *r)
{
	struct nlmsghdr h;

	memcpy(&h, r->data + r->message, sizeof(h));
	h.nlmsg_len = (uint32_t)(r->len - r->message);
	memcpy(r->data + r->message, &h, sizeof(h));
}

/* Starts a message of `type` with its family header; attributes follow. */
static inline void reply_message(struct reply *r, uint16_t type, const void *header, size_t len)
{
	struct nlmsghdr h = { .nlmsg_type = type };

	r->message = r->len;
	reply_bytes(r, &h, sizeof(h));
	reply_bytes(r, header, len);
	reply_close(r);
}

static inline void reply_attr(struct reply *r, uint16_t type, const void *data, size_t len)
{
	struct nlattr a = { .nla_len = (uint16_t)(sizeof(a) + len), .nla_type = type };

	reply_bytes(r, &a, sizeof(a));
	reply_bytes(r, data, len);
	reply_close(r);
}

static inline void reply_u8(struct reply *r, uint16_t type, uint8_t v)
{
	reply_attr(r, type, &v, sizeof(v));
}

static inline void reply_u32(struct reply *r, uint16_t type, uint32_t v)
{
	reply_attr(r, type, &v, sizeof(v));
}

static inline void reply_u64(struct reply *r, uint16_t type, uint64_t v)
{
	reply_attr(r, type, &v, sizeof(v));
}

static inline void reply_str(struct reply *r, uint16_t type, const char *s)
{
	reply_attr(r, type, s, strlen(s) + 1);
}

static inline void reply_nest(struct reply *r, uint16_t type)
{
	struct nlattr a = { .nla_type = type };

	r->nest[r->depth++] = r->len;
	reply_bytes(r, &a, sizeof(a));
	reply_close(r);
}

static inline void reply_nest_end(struct reply *r)
{
	size_t at = r->nest[--r->depth];
	struct nlattr a;

	memcpy(&a, r->data + at, sizeof(a));
	a.nla_len = (uint16_t)(r->len - at);
	memcpy(r->data + at, &a, sizeof(a));
	reply_close(r);
}

/*
 * Calls parse() with every prefix of the reply, each in an allocation of its own
 * size so that a sanitizer sees a read behind the end.
 */
static inline void reply_each_prefix(const struct reply *r,
				     void (*parse)(const void *buf, size_t len))
{
	for (size_t len = 0; len <= r->len; len++) {
		void *exact = malloc(len ? len : 1);

		if (!exact)
			abort();
		memcpy(exact, r->data, len);
		parse(exact, len);
		free(exact);
	}
}

/* Calls parse() with each byte of the reply set to a few nasty values in turn. */
static inline void reply_each_damage(const struct reply *r,
				     void (*parse)(const void *buf, size_t len))
{
	static const uint8_t nasty[] = { 0, 1, 3, 0x7f, 0xff };

	for (size_t at = 0; at < r->len; at++) {
		for (size_t k = 0; k < sizeof(nasty); k++) {
			uint8_t *exact = malloc(r->len);

			if (!exact)
				abort();
			memcpy(exact, r->data, r->len);
			exact[at] = nasty[k];
			parse(exact, r->len);
			free(exact);
		}
	}
}

#endif

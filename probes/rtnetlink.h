/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rtnetlink replies: a cursor over messages, attribute readers and the parsers.
 *
 * libnl-3 only takes the bytes apart here; the source sent the request and
 * received the replies.  Parsers are pure.  They keep every whole message and
 * return -EBADMSG when bytes were left that form none, -ENOMEM when the arena
 * is full, else 0.  `buf` must be aligned as malloc() aligns.
 */
#ifndef ND_PROBES_RTNETLINK_H
#define ND_PROBES_RTNETLINK_H

#include <linux/netlink.h>

#include "src/core/counters.h"
#include "src/core/facts.h"
#include "src/core/source.h"

struct nlattr;

struct rtnl_cursor { struct nlmsghdr *next; int left; };

enum { RTNL_ANY_TYPE = 0 };

void rtnl_start(struct rtnl_cursor *c, const void *buf, size_t len);
/* The next message of `type` with at least header_bytes of payload; NULL at the end. */
struct nlmsghdr *rtnl_next(struct rtnl_cursor *c, uint16_t type, size_t header_bytes);
/* 0, or -EBADMSG when the bytes ended in the middle of a message. */
int rtnl_end(const struct rtnl_cursor *c);

/* Attributes 1..max of a message behind its family header; missing ones are NULL. */
void rtnl_attributes(struct nlmsghdr *msg, size_t header_bytes, struct nlattr **table, int max);
/* The same for the attributes nested in attr, which may be NULL. */
void rtnl_nested(struct nlattr *attr, struct nlattr **table, int max);
/* The same for those that follow a struct of `skip` bytes at the start of attr. */
void rtnl_nested_behind(struct nlattr *attr, size_t skip, struct nlattr **table, int max);

/* A missing attribute is ND_ABSENT, one of the wrong size ND_INVALID. */
struct nd_u64 rtnl_u8(const struct nlattr *attr);
struct nd_u64 rtnl_u32(const struct nlattr *attr);
struct nd_u64 rtnl_u64(const struct nlattr *attr);
/* As the kernel sent it, odd bytes and all; copied into mem. */
struct nd_str rtnl_string(const struct nlattr *attr, struct arena *mem);
/* Numeric form of an IPv4 or IPv6 address; ND_INVALID when the size fits no family. */
struct nd_str rtnl_address(const struct nlattr *attr, struct arena *mem);
/* Copies what the attribute holds of a kernel struct that may have grown; bytes copied. */
size_t rtnl_struct(const struct nlattr *attr, void *out, size_t size);

/* RTM_NEWLINK: appends to f->links; -E2BIG when there are too many to work with. */
int parse_links(const void *buf, size_t len, struct facts *f);
/* RTM_NEWLINK: appends IFLA_STATS64 of the links that probe_link_wanted() names. */
int parse_link_stats(const void *buf, size_t len, const struct facts *f, struct counters *c);
/* RTM_NEWADDR: appends to f->addresses. */
int parse_addresses(const void *buf, size_t len, struct facts *f);
/* RTM_NEWROUTE, the answer to a look-up: fills all of route but .to; -EBADMSG without one. */
int parse_route(const void *buf, size_t len, struct arena *mem, struct route_facts *route);
/* The look-up for a numeric address, "%scope" included; the request's length or -EINVAL. */
int build_route_request(const char *to, const char *from, const struct facts *f, void *buf,
			size_t cap);
/* RTM_NEWQDISC or RTM_NEWTCLASS: appends to f->qdiscs those of the links that ctx wants. */
struct probe_context;
int parse_qdiscs(const void *buf, size_t len, const struct probe_context *ctx, struct facts *f);
/* Appends TCA_STATS2 of the qdiscs and classes that f has. */
int parse_qdisc_stats(const void *buf, size_t len, const struct facts *f, struct counters *c);

/* The qdisc's own settings; rates in bit/s whatever unit its attributes have. */
void parse_qdisc_options(const char *kind, bool is_class, struct nlattr *options,
			 struct qdisc_facts *q);
/* Whether classes of this kind carry rates or counters that the qdiscs below them lack. */
bool qdisc_kind_has_classes(const char *kind);

#endif

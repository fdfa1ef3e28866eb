/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/ethtool_genl.h"

#include <errno.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#define REQUEST_MAX 256

/* Fills buf (REQUEST_MAX bytes) with the two headers. */
static struct nlmsghdr *request_begin(void *buf, uint16_t type, uint8_t command, uint8_t version)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *genl;

	memset(buf, 0, REQUEST_MAX);
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = version;
	return nlh;
}

/* The next message of that type with room for a generic header, from *offset on; NULL: no more. */
static const struct nlmsghdr *next_message(const struct bytes *replies, size_t *offset,
					   uint16_t type)
{
	while (*offset < replies->len) {
		const struct nlmsghdr *nlh = (const void *)(replies->data + *offset);
		size_t left = replies->len - *offset;

		if (left < sizeof(*nlh) || nlh->nlmsg_len < sizeof(*nlh) || nlh->nlmsg_len > left)
			return NULL;
		*offset += NLMSG_ALIGN((size_t)nlh->nlmsg_len);
		if (nlh->nlmsg_type == type &&
		    nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(struct genlmsghdr)))
			return nlh;
	}
	return NULL;
}

static void index_payload(const void *payload, size_t len, const struct nlattr **tb, size_t n)
{
	const struct nlattr *a;

	for (size_t i = 0; i < n; i++)
		tb[i] = NULL;
	for (a = payload; mnl_attr_ok(a, (int)((const char *)payload + len - (const char *)a));
	     a = mnl_attr_next(a)) {
		uint16_t type = mnl_attr_get_type(a);

		if (type < n)
			tb[type] = a;
	}
}

static void index_message(const struct nlmsghdr *nlh, const struct nlattr **tb, size_t n)
{
	index_payload(mnl_nlmsg_get_payload_offset(nlh, sizeof(struct genlmsghdr)),
		      nlh->nlmsg_len - NLMSG_LENGTH(sizeof(struct genlmsghdr)), tb, n);
}

void attributes_index(const struct nlattr *nest, const struct nlattr **tb, size_t n)
{
	static const struct nlattr nothing = { .nla_len = NLA_HDRLEN };

	if (!nest)
		nest = &nothing;
	index_payload(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), tb, n);
}

static void add_commands(const struct nlattr *ops, struct ethtool_family *out)
{
	const struct nlattr *op;

	mnl_attr_for_each_nested(op, ops) {
		const struct nlattr *tb[CTRL_ATTR_OP_ID + 1];
		struct nd_u64 id;

		attributes_index(op, tb, ARRAY_SIZE(tb));
		id = attribute_u32(tb[CTRL_ATTR_OP_ID]);
		if (id.k == ND_KNOWN && id.v < 256)
			out->commands[id.v / 64] |= 1ull << (id.v % 64);
	}
}

int ethtool_family_parse(const struct bytes *replies, struct ethtool_family *out)
{
	const struct nlattr *tb[CTRL_ATTR_OPS + 1];
	const struct nlmsghdr *nlh;
	const struct nlattr *id;
	size_t offset = 0;

	memset(out, 0, sizeof(*out));
	nlh = next_message(replies, &offset, GENL_ID_CTRL);
	if (!nlh)
		return -EBADMSG;
	index_message(nlh, tb, ARRAY_SIZE(tb));
	id = tb[CTRL_ATTR_FAMILY_ID];
	if (!id || mnl_attr_get_payload_len(id) != sizeof(uint16_t))
		return -EBADMSG;
	out->id = mnl_attr_get_u16(id);
	/* Ids below belong to netlink's own control messages. */
	if (out->id < NLMSG_MIN_TYPE)
		return -EBADMSG;
	if (tb[CTRL_ATTR_OPS])
		add_commands(tb[CTRL_ATTR_OPS], out);
	return 0;
}

int ethtool_family_resolve(struct source *src, struct ethtool_family *out)
{
	return genl_family_resolve(src, ETHTOOL_GENL_NAME, out);
}

int genl_family_resolve(struct source *src, const char *name, struct ethtool_family *out)
{
	unsigned char buf[REQUEST_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = request_begin(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	struct bytes replies = { 0 };
	int rc;

	memset(out, 0, sizeof(*out));
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	rc = source_netlink(src, NETLINK_GENERIC, buf, nlh->nlmsg_len, &replies);
	if (!rc)
		rc = ethtool_family_parse(&replies, out);
	bytes_free(&replies);
	return rc;
}

bool ethtool_family_has(const struct ethtool_family *family, uint8_t command)
{
	return family->commands[command / 64] & 1ull << (command % 64);
}

int ethtool_get(struct source *src, const struct ethtool_family *family, uint8_t command,
		uint32_t ifindex, struct bytes *replies)
{
	unsigned char buf[REQUEST_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = request_begin(buf, family->id, command, ETHTOOL_GENL_VERSION);
	/* The request header is attribute 1 of every ethtool message. */
	struct nlattr *header = mnl_attr_nest_start(nlh, ETHTOOL_A_LINKINFO_HEADER);

	mnl_attr_put_u32(nlh, ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
	mnl_attr_nest_end(nlh, header);
	return source_netlink(src, NETLINK_GENERIC, buf, nlh->nlmsg_len, replies);
}

int genl_dump_of_link(struct source *src, const struct ethtool_family *family, uint8_t command,
		      uint16_t attribute, uint32_t ifindex, struct bytes *replies)
{
	unsigned char buf[REQUEST_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = request_begin(buf, family->id, command, 1);

	nlh->nlmsg_flags |= NLM_F_DUMP;
	mnl_attr_put_u32(nlh, attribute, ifindex);
	return source_netlink(src, NETLINK_GENERIC, buf, nlh->nlmsg_len, replies);
}

bool ethtool_next_reply(const struct bytes *replies, size_t *offset, uint16_t family,
			uint8_t command, const struct nlattr **tb, size_t n)
{
	const struct nlmsghdr *nlh;

	while ((nlh = next_message(replies, offset, family))) {
		const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);

		if (genl->cmd == command) {
			index_message(nlh, tb, n);
			return true;
		}
	}
	return false;
}

int ethtool_reply(const struct bytes *replies, uint16_t family, uint8_t command,
		  const struct nlattr **tb, size_t n)
{
	size_t offset = 0;

	return ethtool_next_reply(replies, &offset, family, command, tb, n) ? 0 : -EBADMSG;
}

struct nd_u64 attribute_u32(const struct nlattr *a)
{
	if (!a)
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	if (mnl_attr_get_payload_len(a) != sizeof(uint32_t))
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(mnl_attr_get_u32(a));
}

struct nd_u64 attribute_u8(const struct nlattr *a)
{
	if (!a)
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	if (mnl_attr_get_payload_len(a) != sizeof(uint8_t))
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(mnl_attr_get_u8(a));
}

struct nd_bool attribute_bool(const struct nlattr *a)
{
	struct nd_u64 v = attribute_u8(a);

	return v.k == ND_KNOWN ? nd_bool(v.v != 0) : nd_bool_unknown(v.k);
}

const char *attribute_text(const struct nlattr *a)
{
	if (!a || !memchr(mnl_attr_get_payload(a), 0, mnl_attr_get_payload_len(a)))
		return NULL;
	return mnl_attr_get_str(a);
}

int bitset_for_each(const struct nlattr *bitset, bitset_fn fn, void *user)
{
	const struct nlattr *tb[ETHTOOL_A_BITSET_BITS + 1];
	const struct nlattr *bit;
	bool masked;

	attributes_index(bitset, tb, ARRAY_SIZE(tb));
	if (!tb[ETHTOOL_A_BITSET_BITS])
		return -EBADMSG;
	masked = !tb[ETHTOOL_A_BITSET_NOMASK];
	mnl_attr_for_each_nested(bit, tb[ETHTOOL_A_BITSET_BITS]) {
		const struct nlattr *b[ETHTOOL_A_BITSET_BIT_VALUE + 1];
		const char *name;

		attributes_index(bit, b, ARRAY_SIZE(b));
		name = attribute_text(b[ETHTOOL_A_BITSET_BIT_NAME]);
		if (name)
			fn(user, name, !masked || b[ETHTOOL_A_BITSET_BIT_VALUE]);
	}
	return 0;
}

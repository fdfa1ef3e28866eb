/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Generic netlink replies built by hand, and a kernel that gives them: for tests
 * of the ethtool probe.
 */
#ifndef ND_TESTS_FAKE_NETLINK_H
#define ND_TESTS_FAKE_NETLINK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "src/core/source.h"

#define FAKE_FAMILY 0x1d
#define FAKE_MESSAGE_MAX 32768

/* A message under construction; free() the header when done. */
static inline struct nlmsghdr *message_begin(uint16_t type, uint8_t command)
{
	void *buf = calloc(1, FAKE_MESSAGE_MAX);
	struct nlmsghdr *nlh;
	struct genlmsghdr *genl;

	if (!buf)
		abort();
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = type;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = 1;
	return nlh;
}

static inline struct bytes message_bytes(const struct nlmsghdr *nlh)
{
	struct bytes b = { 0 };

	if (bytes_append(&b, nlh, nlh->nlmsg_len))
		abort();
	return b;
}

/* One bit of a verbose bit set under construction. */
static inline void put_bit(struct nlmsghdr *nlh, uint32_t index, const char *name, bool value)
{
	struct nlattr *bit = mnl_attr_nest_start(nlh, ETHTOOL_A_BITSET_BITS_BIT);

	mnl_attr_put_u32(nlh, ETHTOOL_A_BITSET_BIT_INDEX, index);
	mnl_attr_put_strz(nlh, ETHTOOL_A_BITSET_BIT_NAME, name);
	if (value)
		mnl_attr_put(nlh, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
	mnl_attr_nest_end(nlh, bit);
}

/*
 * A bit set from names; "+name" has its value set, "-name" is in the mask alone.
 * Without mask (as the kernel sends lists) the names come bare.
 */
static inline void put_bitset(struct nlmsghdr *nlh, uint16_t type, const char *const *names,
			      size_t n, bool mask)
{
	struct nlattr *set = mnl_attr_nest_start(nlh, type), *bits;

	if (!mask)
		mnl_attr_put(nlh, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(nlh, ETHTOOL_A_BITSET_SIZE, 64);
	bits = mnl_attr_nest_start(nlh, ETHTOOL_A_BITSET_BITS);
	for (size_t i = 0; i < n; i++) {
		if (mask)
			put_bit(nlh, (uint32_t)i, names[i] + 1, names[i][0] == '+');
		else
			put_bit(nlh, (uint32_t)i, names[i], false);
	}
	mnl_attr_nest_end(nlh, bits);
	mnl_attr_nest_end(nlh, set);
}

/* The controller's answer for the ethtool family, serving these commands. */
static inline struct bytes family_reply(const uint8_t *commands, size_t n)
{
	struct nlmsghdr *nlh = message_begin(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	struct nlattr *ops;
	struct bytes b;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, "ethtool");
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	ops = mnl_attr_nest_start(nlh, CTRL_ATTR_OPS);
	for (size_t i = 0; i < n; i++) {
		struct nlattr *op = mnl_attr_nest_start(nlh, (uint16_t)(i + 1));

		mnl_attr_put_u32(nlh, CTRL_ATTR_OP_ID, commands[i]);
		mnl_attr_put_u32(nlh, CTRL_ATTR_OP_FLAGS, 0);
		mnl_attr_nest_end(nlh, op);
	}
	mnl_attr_nest_end(nlh, ops);
	b = message_bytes(nlh);
	free(nlh);
	return b;
}

#endif

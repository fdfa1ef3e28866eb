/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ethtool generic netlink family as bytes: build a request, find the answer
 * in the replies, read attributes.  Every reader checks bounds and sizes, for the
 * bytes may come from a recording.
 */
#ifndef ND_PROBES_ETHTOOL_GENL_H
#define ND_PROBES_ETHTOOL_GENL_H

#include <linux/netlink.h>

#include "src/core/source.h"

struct ethtool_family {
	uint16_t id;
	uint64_t commands[256 / 64];	/* ETHTOOL_MSG_* that this kernel serves */
};

/* Asks the controller.  -ENOENT: the kernel has no ethtool netlink (before 5.6). */
int ethtool_family_resolve(struct source *src, struct ethtool_family *out);
/* The pure half: replies to CTRL_CMD_GETFAMILY.  0, -ENOENT or -EBADMSG. */
int ethtool_family_parse(const struct bytes *replies, struct ethtool_family *out);
bool ethtool_family_has(const struct ethtool_family *family, uint8_t command);

/* The same for any family; its commands may be none of ethtool's. */
int genl_family_resolve(struct source *src, const char *name, struct ethtool_family *out);
/* Dumps what a command tells of one link, named by an u32 attribute.  0 or -errno. */
int genl_dump_of_link(struct source *src, const struct ethtool_family *family, uint8_t command,
		      uint16_t attribute, uint32_t ifindex, struct bytes *replies);

/* Sends one GET for a link (bit sets verbose, with names).  0 or -errno. */
int ethtool_get(struct source *src, const struct ethtool_family *family, uint8_t command,
		uint32_t ifindex, struct bytes *replies);
/*
 * Finds the first message of the family with that command and indexes its
 * attributes; tb[type] for type < n, NULL where absent.  0 or -EBADMSG.
 */
int ethtool_reply(const struct bytes *replies, uint16_t family, uint8_t command,
		  const struct nlattr **tb, size_t n);

/* The next of several, from *offset (first 0) on; false: no more. */
bool ethtool_next_reply(const struct bytes *replies, size_t *offset, uint16_t family,
			uint8_t command, const struct nlattr **tb, size_t n);

/* Indexes the attributes of a nest; types from n up are newer than us and ignored. */
void attributes_index(const struct nlattr *nest, const struct nlattr **tb, size_t n);
/* NULL: ND_NOT_SUPPORTED (the kernel leaves out what the driver lacks); wrong size: ND_INVALID. */
struct nd_u64 attribute_u32(const struct nlattr *a);
struct nd_u64 attribute_u8(const struct nlattr *a);
struct nd_bool attribute_bool(const struct nlattr *a);	/* u8 */
/* NUL-terminated text within the attribute, or NULL. */
const char *attribute_text(const struct nlattr *a);

/*
 * Walks a verbose bit set.  listed: the bit is in the mask (or, without a mask,
 * in the set); set: its value.  0, or -EBADMSG for a compact or broken one.
 */
typedef void (*bitset_fn)(void *user, const char *name, bool set);
int bitset_for_each(const struct nlattr *bitset, bitset_fn fn, void *user);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ethtool(8) would show, as facts: one row of ethtool_messages[] (in
 * ethtool.c) for each netlink message, with the ioctl that says the same on
 * kernels or drivers without it.
 *
 * parse functions are pure: attributes in, facts out.  They answer -errno only
 * when the message as a whole is unusable; a missing attribute makes one fact
 * unknown.
 */
#ifndef ND_PROBES_ETHTOOL_H
#define ND_PROBES_ETHTOOL_H

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include "probes/ethtool_genl.h"
#include "src/core/counters.h"
#include "src/core/facts.h"

/* Newer than the headers of the oldest distribution we build on (6.1). */
#define ND_ETHTOOL_MSG_RSS_GET 38	/* Linux 6.2 */
#define ND_ETHTOOL_MSG_RSS_GET_REPLY 38
#define ND_ETHTOOL_A_RSS_INDIR 4

/* The most attributes any of our messages has; an index table of this size serves all. */
#define ETHTOOL_ATTRIBUTES_MAX 32

struct ethtool_message {
	const char *name;
	uint8_t request, reply;
	bool link_layer;	/* about the wire: no meaning for software links */
	int (*parse)(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
	int (*read_ioctl)(struct source *src, struct facts *f, struct link_facts *link);
	/* Sets every fact of this message to unknown. */
	int (*unknown)(enum nd_known why, struct facts *f, struct link_facts *link);
};

/* ethtool_link.c */
int linkmodes_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int linkmodes_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int linkmodes_unknown(enum nd_known why, struct facts *f, struct link_facts *link);
int linkinfo_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int linkinfo_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int linkinfo_unknown(enum nd_known why, struct facts *f, struct link_facts *link);
int linkstate_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int linkstate_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int linkstate_unknown(enum nd_known why, struct facts *f, struct link_facts *link);

/* ethtool_modes.c: speed in Mb/s of a link mode, 0 when it is none ("Autoneg", "FIBRE"). */
uint64_t link_mode_name_mbps(const char *name);
/* By bit number, for the ioctl.  0, or -ENOENT for bits newer than our table. */
int link_mode_bit_mbps(unsigned int bit, uint64_t *mbps);
struct nd_str duplex_word(uint8_t duplex);
struct nd_str port_word(uint8_t port);
struct nd_u64 link_speed_mbps(uint32_t speed);	/* 0 and SPEED_UNKNOWN: ND_NOT_SUPPORTED */

/* ethtool_rings.c */
int rings_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int rings_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int rings_unknown(enum nd_known why, struct facts *f, struct link_facts *link);
int channels_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int channels_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int channels_unknown(enum nd_known why, struct facts *f, struct link_facts *link);

/* ethtool_coalesce.c */
int coalesce_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int coalesce_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int coalesce_unknown(enum nd_known why, struct facts *f, struct link_facts *link);
int pause_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int pause_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int pause_unknown(enum nd_known why, struct facts *f, struct link_facts *link);

/* ethtool_rss.c */
int rss_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int rss_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int rss_unknown(enum nd_known why, struct facts *f, struct link_facts *link);
/* Size and distinct queues of an indirection table; n == 0: ND_NOT_SUPPORTED. */
void rss_table_facts(const uint32_t *table, size_t n, struct link_facts *link);

/* ethtool_features.c */
int features_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link);
int features_ioctl(struct source *src, struct facts *f, struct link_facts *link);
int features_unknown(enum nd_known why, struct facts *f, struct link_facts *link);

/* ethtool_driver.c: driver, firmware by ETHTOOL_GDRVINFO, which has no netlink form. */
void driver_read(struct source *src, bool software, struct facts *f, struct link_facts *link);

/* ethtool_strings.c */
struct ethtool_names {
	char (*v)[ETH_GSTRING_LEN];	/* not NUL-terminated when full; malloc'ed */
	size_t n;
};
/*
 * Names of a string set (ETH_SS_*), at most `max` of them.  Free v.  0 or -errno:
 * -EOPNOTSUPP when the driver has none.
 */
int ethtool_names_read(struct source *src, const char *ifname, uint32_t set, size_t max,
		       struct ethtool_names *out);

/* ethtool_stats.c, pure: adds a row for each name and value that belong together. */
int nic_statistics_add(const struct ethtool_names *names, const uint64_t *values, size_t nvalues,
		       struct nd_u64 ifindex, struct counters *c);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The netdev generic netlink family: parsers, for probes/netdev.c and its test. */
#ifndef ND_PROBES_NETDEV_H
#define ND_PROBES_NETDEV_H

#include "probes/ethtool_genl.h"
#include "src/core/facts.h"

/* Of linux/netdev.h, which build machines older than 6.8 do not have. */
#define NETDEV_FAMILY "netdev"
enum { NETDEV_QUEUE_GET = 10, NETDEV_NAPI_GET = 11 };
enum { NETDEV_QUEUE_ID = 1, NETDEV_QUEUE_IFINDEX, NETDEV_QUEUE_TYPE, NETDEV_QUEUE_NAPI };
enum { NETDEV_QUEUE_RX, NETDEV_QUEUE_TX };
enum { NETDEV_NAPI_IFINDEX = 1, NETDEV_NAPI_ID, NETDEV_NAPI_IRQ, NETDEV_NAPI_PID };

/*
 * Pure.  The replies to a dump of one link's queues: fills in .napi of their rows, and adds rows
 * for those that sysfs did not show.  0 or -ENOMEM; rows that make no sense are left out.
 */
int netdev_parse_queues(const struct bytes *replies, uint16_t family, uint64_t ifindex,
			struct facts *f);
/* The same for its NAPI instances, a row each. */
int netdev_parse_napis(const struct bytes *replies, uint16_t family, uint64_t ifindex,
		       struct facts *f);

#endif

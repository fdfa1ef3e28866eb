/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What drivers call the counters that rules need.  The kernel's own names do not say enough:
 * where a full receive ring counts differs from driver to driver, and pause frames have no
 * standard name at all.  Pure; names borrow from the exam.
 */
#ifndef ND_RULES_NIC_COUNTERS_H
#define ND_RULES_NIC_COUNTERS_H

#include "src/diagnose/rule.h"

enum nic_event {
	NIC_RX_EXHAUSTED,	/* packets dropped for want of a receive buffer */
	NIC_PAUSE_RECEIVED,	/* frames that ask this port to stop: XOFF, of any priority */
	NIC_PAUSE_SENT,
	NIC_PAUSE_RECEIVED_US,	/* microseconds this port was stopped, all priorities */
	NIC_EVENTS
};

struct nic_count {
	enum nd_known k;	/* ND_NOT_APPLICABLE: the device has nothing of the kind */
	double value;		/* sum, over the window */
	const char *name;	/* of the counter with the largest part; NULL: none known */
	bool standard;		/* name is the kernel's (IFLA_STATS64), not the driver's */
};

/* Of one end's window.  port: NULL is answered with ND_UNREAD. */
struct nic_count nic_count_of(const struct run_end *end, const struct link_facts *port,
			      enum nic_event event);
/* The port has no receive ring and no wire: veth, loopback, tunnels. */
bool nic_is_software(const struct link_facts *port);
/* "runs[1-forward-all-streams].peer.nics[eth0,rx_out_of_buffer]" */
const char *nic_fact(struct rule_output *out, const struct run *run, enum side s,
		     const struct link_facts *port, const struct nic_count *count,
		     const char *if_none);
/* "ethtool -S" or "IFLA_STATS64" */
const char *nic_source(const struct nic_count *count);

#endif

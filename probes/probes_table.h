/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every probe and counter source there is; probes.c lists them in the order they run.
 * To add one: declare it here, add it to the table in probes.c.
 */
#ifndef ND_PROBES_PROBES_TABLE_H
#define ND_PROBES_PROBES_TABLE_H

#include "probes/probe.h"

/* PROBE_HOST */
extern const struct probe probe_host;		/* host.c */
extern const struct probe probe_sysctl;		/* sysctl.c */
extern const struct probe probe_cgroups;	/* cgroup.c */
/* PROBE_LINKS */
extern const struct probe probe_links;		/* links.c */
extern const struct probe probe_addresses;	/* addresses.c */
extern const struct probe probe_route;		/* route.c */
/* PROBE_DEVICES */
extern const struct probe probe_qdiscs;		/* qdiscs.c */
extern const struct probe probe_cpu;		/* cpu.c */
extern const struct probe probe_ethtool;	/* ethtool.c */
extern const struct probe probe_pci;		/* pci.c */
extern const struct probe probe_irq;		/* irq.c */
extern const struct probe probe_queues;		/* queues.c */
extern const struct probe probe_netdev;		/* netdev.c */

extern const struct counter_probe counter_cpus;		/* proc_stat.c */
extern const struct counter_probe counter_softirqs;	/* softirqs.c */
extern const struct counter_probe counter_softnet;	/* softnet.c */
extern const struct counter_probe counter_mibs;		/* mibs.c */
extern const struct counter_probe counter_cgroups;	/* cgroup.c */
extern const struct counter_probe counter_links;	/* links.c */
extern const struct counter_probe counter_qdiscs;	/* qdiscs.c */
extern const struct counter_probe counter_irqs;		/* irq.c */
extern const struct counter_probe counter_freqs;	/* cpu.c */
extern const struct counter_probe counter_pci;		/* pci_sysfs.c */
extern const struct counter_probe counter_nic;		/* ethtool_stats.c */

#endif

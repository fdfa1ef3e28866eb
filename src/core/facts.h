/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts: what one host is, at one moment.  Plain data, no I/O.
 *
 * Probes fill a struct facts; once published it is const.  Rows refer to each
 * other by key (ifindex, PCI address, IRQ number), never by pointer.  Units are
 * in the field tables of facts.c, which also drive JSON.
 */
#ifndef ND_CORE_FACTS_H
#define ND_CORE_FACTS_H

#include "src/core/fields.h"

struct host_facts {
	struct nd_str hostname, kernel, machine, os, tool_version, boot_id;
	/* "none", "kvm", "qemu" (emulated), "vmware", "xen", "microsoft", "amazon" ... "other" */
	struct nd_str virtualization;
	struct nd_str container;	/* "none", "docker", "lxc", "podman", "kubernetes",
					   "other" */
	struct nd_str cpu_model;
	struct nd_bool net_admin, sys_admin, root;
	struct nd_bool irq_time_accounting;
	struct nd_u64 page_bytes, clock_ticks_per_second, memory_bytes;
	struct nd_cpus cpus_online, cpus_allowed;
	struct nd_u64 monotonic_ns, wall_ns;
};

struct cpu_facts {
	struct nd_u64 cpu;		/* key */
	struct nd_u64 node, package, core;
	struct nd_cpus siblings;	/* SMT threads of the same core, itself included */
	struct nd_str governor, driver;
	struct nd_u64 current_khz;
	struct nd_u64 limit_khz;	/* scaling_max_freq */
	struct nd_u64 hardware_khz;	/* cpuinfo_max_freq */
};

struct link_facts {
	struct nd_u64 ifindex;		/* key */
	struct nd_str name;
	struct nd_str kind;		/* rtnetlink kind: "veth", "vlan", "bond" ...;
					   "physical"; "loopback" */
	struct nd_str driver, firmware;
	struct nd_str bus;		/* "pci", "usb", "virtio", "platform"; n/a for
					   software links */
	struct nd_str pci_address;	/* of the device that moves the data; VFs: own address */
	struct nd_str mac, operstate;
	struct nd_bool up, carrier;
	struct nd_u64 mtu, tx_queue_length, tx_queues, rx_queues;
	struct nd_u64 lower_ifindex;	/* IFLA_LINK: VLAN, macvlan ...; veth: peer, n/a
					   across namespaces */
	struct nd_u64 master_ifindex;	/* bond, bridge, team it belongs to */
	struct nd_str qdisc;		/* root qdisc's kind */
	struct nd_u64 gso_max_bytes, gro_max_bytes;
	struct nd_i64 numa_node;	/* -1: the firmware did not say */
	struct nd_bool xdp, xdp_generic, napi_threaded;
	/* ethtool link modes; speeds a driver makes up are ND_NOT_APPLICABLE */
	struct nd_u64 speed_mbps, supported_max_mbps, advertised_max_mbps, partner_max_mbps;
	struct nd_str duplex;		/* "full", "half" */
	struct nd_bool autoneg;
	struct nd_str port;		/* "tp", "fibre", "da" ... */
	/* rings, channels, coalescing, pause, RSS; configured and maximum */
	struct nd_u64 rx_ring, rx_ring_max, tx_ring, tx_ring_max;
	struct nd_u64 combined_channels, combined_channels_max, rx_channels, rx_channels_max,
		      tx_channels, tx_channels_max;
	struct nd_u64 rx_usecs, rx_frames, tx_usecs, tx_frames;
	struct nd_bool adaptive_rx, adaptive_tx;
	struct nd_bool pause_autoneg, pause_rx, pause_tx;
	struct nd_u64 rss_table_size, rss_queues_used;
};

struct feature_facts {
	struct nd_u64 ifindex;		/* key */
	struct nd_str name;		/* key: the kernel's name, "tx-tcp-segmentation" */
	struct nd_bool active;
	struct nd_bool changeable;	/* in the HW set and not [fixed] */
};

struct queue_facts {
	struct nd_u64 ifindex;		/* key */
	struct nd_str direction;	/* key: "rx", "tx" */
	struct nd_u64 index;		/* key */
	struct nd_cpus steering;	/* rps_cpus or xps_cpus; empty: off */
	struct nd_u64 flow_entries;	/* rps_flow_cnt */
	struct nd_u64 napi;		/* id of the NAPI instance that serves it; Linux 6.8 */
};

/* What polls queues: one may serve several, of both directions. */
struct napi_facts {
	struct nd_u64 ifindex;
	struct nd_u64 napi;		/* key: id, as in SO_INCOMING_NAPI_ID */
	struct nd_u64 irq;		/* that wakes it */
	struct nd_u64 thread_id;	/* of threaded NAPI; n/a: softirq */
};

struct irq_facts {
	struct nd_u64 irq;		/* key */
	struct nd_u64 ifindex;		/* the NIC it belongs to */
	struct nd_str name;		/* as in /proc/interrupts: "eth0-TxRx-3" */
	struct nd_cpus affinity, effective;
	struct nd_i64 node;
};

struct pci_facts {
	struct nd_str address;		/* key: "0000:3b:00.0" */
	struct nd_str parent;		/* address of the port above; n/a on the root bus */
	struct nd_str type;		/* "endpoint", "root-port", "upstream-port",
					   "downstream-port", "integrated-endpoint", "bridge",
					   "conventional" */
	struct nd_str name, driver;
	struct nd_u64 vendor_id, device_id, class_code;
	struct nd_u64 speed_mtps, width, max_speed_mtps, max_width;	/* LnkSta, LnkCap */
	struct nd_u64 payload_bytes, payload_max_bytes;		/* DevCtl MPS, DevCap */
	struct nd_u64 read_request_bytes;			/* DevCtl MRRS */
	struct nd_bool relaxed_ordering;
	struct nd_str aspm, aspm_supported;	/* "disabled" ("none"), "L0s", "L1", "L0s L1" */
	struct nd_i64 numa_node;
	struct nd_bool removable;
	struct nd_str physical_function;			/* SR-IOV VF: address of its PF */
};

struct address_facts {
	struct nd_u64 ifindex;		/* key */
	struct nd_str address;		/* key */
	struct nd_u64 prefix_length;
};

/* The route to the peer, as the kernel resolves it now. */
struct route_facts {
	struct nd_str to, from, gateway;
	struct nd_str type;		/* "unicast", "local" ... */
	struct nd_u64 ifindex;
	struct nd_u64 mtu, advmss, window, initcwnd, congestion_window_lock;
	struct nd_str congestion_control;
};

struct qdisc_facts {
	struct nd_u64 ifindex;		/* key */
	struct nd_u64 handle, parent;	/* key: tc handles, major << 16 | minor */
	struct nd_bool is_class;	/* key */
	struct nd_str kind;		/* "tbf", "htb", "fq", "mq" ... */
	struct nd_u64 rate_bps, ceil_bps, burst_bytes, limit_bytes, limit_packets;
};

struct sysctl_facts {
	struct nd_u64 rmem_max, wmem_max, rmem_default, wmem_default;
	struct nd_u64 tcp_rmem_min, tcp_rmem_default, tcp_rmem_max;
	struct nd_u64 tcp_wmem_min, tcp_wmem_default, tcp_wmem_max;
	struct nd_u64 tcp_mem_low, tcp_mem_pressure, tcp_mem_high;	/* pages */
	struct nd_u64 netdev_max_backlog, netdev_budget, netdev_budget_usecs, optmem_max;
	struct nd_str default_qdisc, tcp_congestion_control, tcp_available_congestion_control,
		      tcp_allowed_congestion_control;
	struct nd_u64 tcp_window_scaling, tcp_timestamps, tcp_sack, tcp_mtu_probing,
		      tcp_moderate_rcvbuf, tcp_slow_start_after_idle, tcp_no_metrics_save,
		      tcp_ecn, tcp_limit_output_bytes, tcp_notsent_lowat, rps_sock_flow_entries,
		      busy_poll, ip_forward;
	struct nd_i64 tcp_adv_win_scale;
};

/* One level of our own cgroup path: any ancestor can throttle. */
struct cgroup_facts {
	struct nd_str path;		/* key: below the mount, "/" is the root */
	struct nd_str directory;	/* where it is read: "/sys/fs/cgroup/a"; absent: not
					   visible */
	struct nd_u64 version;		/* 1 or 2 */
	struct nd_u64 quota_us, period_us;	/* n/a: no limit */
	struct nd_cpus cpuset;		/* effective */
};

struct probe_result {
	struct nd_str probe;		/* key */
	struct nd_str state;		/* "ok" or a word of enum nd_known */
	struct nd_str detail;		/* what failed, for a person */
	struct nd_u64 took_us;
};

struct facts {
	struct arena *mem;		/* owns everything below */
	struct host_facts host;
	struct sysctl_facts sysctl;
	struct route_facts route;
	struct cpu_facts *cpus;		size_t ncpus;
	struct link_facts *links;	size_t nlinks;
	struct feature_facts *features;	size_t nfeatures;
	struct queue_facts *queues;	size_t nqueues;
	struct napi_facts *napis;	size_t nnapis;
	struct irq_facts *irqs;		size_t nirqs;
	struct pci_facts *pci;		size_t npci;
	struct address_facts *addresses; size_t naddresses;
	struct qdisc_facts *qdiscs;	size_t nqdiscs;
	struct cgroup_facts *cgroups;	size_t ncgroups;
	struct probe_result *probes;	size_t nprobes;
};

extern const struct schema facts_schema;

/* Empty, with an arena of its own; NULL: no memory. */
struct facts *facts_new(size_t limit_bytes);
void facts_free(struct facts *f);		/* NULL is fine */

/* Look-ups; NULL when there is no such row.  All take NULL facts and answer NULL. */
const struct link_facts *facts_link(const struct facts *f, uint64_t ifindex);
const struct link_facts *facts_link_by_name(const struct facts *f, const char *name);
const struct feature_facts *facts_feature(const struct facts *f, uint64_t ifindex,
					  const char *name);
const struct pci_facts *facts_pci(const struct facts *f, const char *address);
const struct cpu_facts *facts_cpu(const struct facts *f, uint64_t cpu);
/* False: only its name and what rtnetlink lists was read, because nobody asked for more. */
bool link_examined(const struct link_facts *l);
/* The link the route to the peer leaves by, NULL when unknown. */
const struct link_facts *facts_egress(const struct facts *f);
/*
 * The link at the bottom of the stack below `ifindex` (VLAN, macvlan, ... down
 * IFLA_LINK; a bond's or bridge's first member, hardware before guests' veth and
 * tap).  Itself when nothing is below.
 */
const struct link_facts *facts_bottom_link(const struct facts *f, uint64_t ifindex);
/* State of a feature: active, or unknown with the reason. */
struct nd_bool facts_feature_active(const struct facts *f, uint64_t ifindex, const char *name);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Field tables of facts.h: JSON, documentation and `fact` names in evidence come from here. */
#include "src/core/facts.h"

#define KEY FIELD_KEY
#define PRIVATE FIELD_PRIVATE

#define HOST(member_, kind_, unit_, flags_, help_) \
	FIELD(struct host_facts, member_, kind_, unit_, flags_, help_)
static const struct field host_fields[] = {
	HOST(hostname, STR, NONE, PRIVATE, "Node name, from uname(2)."),
	HOST(kernel, STR, NONE, 0, "Kernel release, from uname(2)."),
	HOST(machine, STR, NONE, 0, "Hardware name such as x86_64, from uname(2)."),
	HOST(os, STR, NONE, 0, "Distribution, PRETTY_NAME of /etc/os-release."),
	HOST(tool_version, STR, NONE, 0, "Version of netdoctor that read these facts."),
	HOST(boot_id, STR, NONE, PRIVATE,
	     "Random id of this boot, /proc/sys/kernel/random/boot_id; equal on both ends means "
	     "one machine."),
	HOST(virtualization, STR, NONE, 0,
	     "Hypervisor, from /sys/class/dmi/id and /sys/hypervisor/type; none on bare metal."),
	HOST(container, STR, NONE, 0,
	     "Container runtime, from /run/.containerenv, /.dockerenv and PID 1's environment and "
	     "cgroup."),
	HOST(cpu_model, STR, NONE, 0, "CPU model name, /proc/cpuinfo."),
	HOST(net_admin, BOOL, NONE, 0, "We hold CAP_NET_ADMIN, from capget(2)."),
	HOST(sys_admin, BOOL, NONE, 0,
	     "We hold CAP_SYS_ADMIN, from capget(2); PCI config space beyond 64 bytes needs it."),
	HOST(root, BOOL, NONE, 0, "Our effective user id is 0, from geteuid(2)."),
	HOST(irq_time_accounting, BOOL, NONE, 0,
	     "The kernel accounts interrupt time exactly: CONFIG_IRQ_TIME_ACCOUNTING of "
	     "/proc/config.gz or /boot/config-*."),
	HOST(page_bytes, U64, BYTES, 0, "Size of a memory page, sysconf(_SC_PAGESIZE)."),
	HOST(clock_ticks_per_second, U64, PER_SECOND, 0,
	     "USER_HZ, the unit of /proc/stat, sysconf(_SC_CLK_TCK)."),
	HOST(memory_bytes, U64, BYTES, 0, "MemTotal of /proc/meminfo."),
	HOST(cpus_online, CPUS, NONE, 0, "CPUs that are online, /sys/devices/system/cpu/online."),
	HOST(cpus_allowed, CPUS, NONE, 0, "CPUs this process may run on, sched_getaffinity(2)."),
	HOST(monotonic_ns, U64, NANOSECONDS, 0, "CLOCK_MONOTONIC when the facts were read."),
	HOST(wall_ns, U64, NANOSECONDS, 0,
	     "CLOCK_REALTIME when the facts were read, since 1970-01-01 UTC."),
};

#define CPU(member_, kind_, unit_, flags_, help_) \
	FIELD(struct cpu_facts, member_, kind_, unit_, flags_, help_)
static const struct field cpu_fields[] = {
	CPU(cpu, U64, NONE, KEY, "CPU number, N of /sys/devices/system/cpu/cpuN."),
	CPU(node, U64, NONE, 0, "NUMA node, the nodeN link in /sys/devices/system/cpu/cpuN."),
	CPU(package, U64, NONE, 0, "Socket, topology/physical_package_id of the CPU."),
	CPU(core, U64, NONE, 0, "Core within the socket, topology/core_id of the CPU."),
	CPU(siblings, CPUS, NONE, 0,
	    "SMT threads of the same core, itself included, topology/thread_siblings_list."),
	CPU(governor, STR, NONE, 0, "Frequency governor, cpufreq/scaling_governor."),
	CPU(driver, STR, NONE, 0, "Frequency driver, cpufreq/scaling_driver."),
	CPU(current_khz, U64, KILOHERTZ, 0, "Frequency now, cpufreq/scaling_cur_freq."),
	CPU(limit_khz, U64, KILOHERTZ, 0,
	    "Highest frequency the policy allows, cpufreq/scaling_max_freq."),
	CPU(hardware_khz, U64, KILOHERTZ, 0,
	    "Highest frequency the CPU can do, cpufreq/cpuinfo_max_freq."),
};

#define LINK(member_, kind_, unit_, flags_, help_) \
	FIELD(struct link_facts, member_, kind_, unit_, flags_, help_)
static const struct field link_fields[] = {
	LINK(ifindex, U64, NONE, KEY, "Interface index, ifi_index of RTM_GETLINK."),
	LINK(name, STR, NONE, 0, "Interface name, IFLA_IFNAME."),
	LINK(kind, STR, NONE, 0,
	     "Link kind, IFLA_INFO_KIND; physical for a device with a bus, loopback for lo."),
	LINK(driver, STR, NONE, 0,
	     "Kernel driver, ETHTOOL_GDRVINFO or the device/driver link in sysfs."),
	LINK(firmware, STR, NONE, 0, "Firmware version, ETHTOOL_GDRVINFO."),
	LINK(bus, STR, NONE, 0, "Bus the device sits on, the device/subsystem link in sysfs."),
	LINK(pci_address, STR, NONE, 0,
	     "PCI function that moves the data, from the device link in /sys/class/net."),
	LINK(mac, STR, NONE, PRIVATE, "Hardware address, IFLA_ADDRESS."),
	LINK(operstate, STR, NONE, 0, "RFC 2863 state, IFLA_OPERSTATE."),
	LINK(up, BOOL, NONE, 0, "IFF_UP: switched on by the administrator."),
	LINK(carrier, BOOL, NONE, 0, "The link has a carrier, IFLA_CARRIER."),
	LINK(mtu, U64, BYTES, 0, "Largest packet at the network layer, IFLA_MTU."),
	LINK(tx_queue_length, U64, PACKETS, 0, "Transmit queue length, IFLA_TXQLEN."),
	LINK(tx_queues, U64, COUNT, 0, "Transmit queues allocated, IFLA_NUM_TX_QUEUES."),
	LINK(rx_queues, U64, COUNT, 0, "Receive queues allocated, IFLA_NUM_RX_QUEUES."),
	LINK(lower_ifindex, U64, NONE, 0,
	     "Link below, IFLA_LINK; a veth's other end, not applicable across namespaces."),
	LINK(master_ifindex, U64, NONE, 0, "Bond, bridge or team it belongs to, IFLA_MASTER."),
	LINK(qdisc, STR, NONE, 0, "Kind of the root queueing discipline, IFLA_QDISC."),
	LINK(gso_max_bytes, U64, BYTES, 0,
	     "Largest packet handed to the device, IFLA_GSO_MAX_SIZE."),
	LINK(gro_max_bytes, U64, BYTES, 0, "Largest packet merged on receive, IFLA_GRO_MAX_SIZE."),
	LINK(numa_node, I64, NONE, 0,
	     "NUMA node of the device, device/numa_node in sysfs; -1 when the firmware did not "
	     "say."),
	LINK(xdp, BOOL, NONE, 0, "An XDP program is attached, IFLA_XDP_ATTACHED."),
	LINK(xdp_generic, BOOL, NONE, 0,
	     "The XDP program runs after the socket buffer is made (generic mode), "
	     "IFLA_XDP_ATTACHED."),
	LINK(napi_threaded, BOOL, NONE, 0,
	     "NAPI polls in kernel threads, /sys/class/net/NAME/threaded."),
	LINK(speed_mbps, U64, MBIT_PER_SECOND, 0,
	     "Negotiated speed, ETHTOOL_A_LINKMODES_SPEED; not applicable where the driver makes "
	     "it up."),
	LINK(supported_max_mbps, U64, MBIT_PER_SECOND, 0,
	     "Fastest link mode the port supports, mask of ETHTOOL_A_LINKMODES_OURS."),
	LINK(advertised_max_mbps, U64, MBIT_PER_SECOND, 0,
	     "Fastest link mode we advertise, value of ETHTOOL_A_LINKMODES_OURS."),
	LINK(partner_max_mbps, U64, MBIT_PER_SECOND, 0,
	     "Fastest link mode the other side advertises, ETHTOOL_A_LINKMODES_PEER."),
	LINK(duplex, STR, NONE, 0, "Negotiated duplex, ETHTOOL_A_LINKMODES_DUPLEX."),
	LINK(autoneg, BOOL, NONE, 0, "Autonegotiation is on, ETHTOOL_A_LINKMODES_AUTONEG."),
	LINK(port, STR, NONE, 0, "Connector type, ETHTOOL_A_LINKINFO_PORT."),
	LINK(rx_ring, U64, COUNT, 0, "Receive ring entries, ETHTOOL_A_RINGS_RX."),
	LINK(rx_ring_max, U64, COUNT, 0, "Most receive ring entries, ETHTOOL_A_RINGS_RX_MAX."),
	LINK(tx_ring, U64, COUNT, 0, "Transmit ring entries, ETHTOOL_A_RINGS_TX."),
	LINK(tx_ring_max, U64, COUNT, 0, "Most transmit ring entries, ETHTOOL_A_RINGS_TX_MAX."),
	LINK(combined_channels, U64, COUNT, 0,
	     "Channels that receive and transmit, ETHTOOL_A_CHANNELS_COMBINED_COUNT."),
	LINK(combined_channels_max, U64, COUNT, 0,
	     "Most combined channels, ETHTOOL_A_CHANNELS_COMBINED_MAX."),
	LINK(rx_channels, U64, COUNT, 0,
	     "Channels that only receive, ETHTOOL_A_CHANNELS_RX_COUNT."),
	LINK(rx_channels_max, U64, COUNT, 0, "Most receive channels, ETHTOOL_A_CHANNELS_RX_MAX."),
	LINK(tx_channels, U64, COUNT, 0,
	     "Channels that only transmit, ETHTOOL_A_CHANNELS_TX_COUNT."),
	LINK(tx_channels_max, U64, COUNT, 0, "Most transmit channels, ETHTOOL_A_CHANNELS_TX_MAX."),
	LINK(rx_usecs, U64, MICROSECONDS, 0,
	     "Longest delay of a receive interrupt, ETHTOOL_A_COALESCE_RX_USECS."),
	LINK(rx_frames, U64, PACKETS, 0,
	     "Frames before a receive interrupt, ETHTOOL_A_COALESCE_RX_MAX_FRAMES."),
	LINK(tx_usecs, U64, MICROSECONDS, 0,
	     "Longest delay of a transmit interrupt, ETHTOOL_A_COALESCE_TX_USECS."),
	LINK(tx_frames, U64, PACKETS, 0,
	     "Frames before a transmit interrupt, ETHTOOL_A_COALESCE_TX_MAX_FRAMES."),
	LINK(adaptive_rx, BOOL, NONE, 0,
	     "The driver adapts receive coalescing, ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX."),
	LINK(adaptive_tx, BOOL, NONE, 0,
	     "The driver adapts transmit coalescing, ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX."),
	LINK(pause_autoneg, BOOL, NONE, 0, "Pause frames are negotiated, ETHTOOL_A_PAUSE_AUTONEG."),
	LINK(pause_rx, BOOL, NONE, 0, "We stop when the other side asks, ETHTOOL_A_PAUSE_RX."),
	LINK(pause_tx, BOOL, NONE, 0, "We ask the other side to stop, ETHTOOL_A_PAUSE_TX."),
	LINK(rss_table_size, U64, COUNT, 0,
	     "Entries of the RSS indirection table, ETHTOOL_MSG_RSS_GET or ETHTOOL_GRSSH."),
	LINK(rss_queues_used, U64, COUNT, 0,
	     "Different queues in the RSS indirection table, ETHTOOL_MSG_RSS_GET or "
	     "ETHTOOL_GRSSH."),
};

#define FEATURE(member_, kind_, unit_, flags_, help_) \
	FIELD(struct feature_facts, member_, kind_, unit_, flags_, help_)
static const struct field feature_fields[] = {
	FEATURE(ifindex, U64, NONE, KEY, "Interface the feature belongs to."),
	FEATURE(name, STR, NONE, KEY, "The kernel's name, string set ETH_SS_FEATURES."),
	FEATURE(active, BOOL, NONE, 0, "Switched on and in use, ETHTOOL_A_FEATURES_ACTIVE."),
	FEATURE(changeable, BOOL, NONE, 0,
		"Can be switched: in ETHTOOL_A_FEATURES_HW and not in "
		"ETHTOOL_A_FEATURES_NOCHANGE."),
};

#define QUEUE(member_, kind_, unit_, flags_, help_) \
	FIELD(struct queue_facts, member_, kind_, unit_, flags_, help_)
static const struct field queue_fields[] = {
	QUEUE(ifindex, U64, NONE, KEY, "Interface the queue belongs to."),
	QUEUE(direction, STR, NONE, KEY, "rx or tx."),
	QUEUE(index, U64, NONE, KEY, "N of queues/rx-N or queues/tx-N in /sys/class/net/NAME."),
	QUEUE(steering, CPUS, NONE, 0,
	      "CPUs that RPS spreads to (rps_cpus) or that XPS takes from (xps_cpus); empty: off."),
	QUEUE(flow_entries, U64, COUNT, 0, "Flow table entries for RFS, rps_flow_cnt."),
	QUEUE(napi, U64, NONE, 0,
	      "NAPI instance that serves it, NETDEV_A_QUEUE_NAPI_ID of QUEUE_GET (6.8)."),
};

#define NAPI(member_, kind_, unit_, flags_, help_) \
	FIELD(struct napi_facts, member_, kind_, unit_, flags_, help_)
static const struct field napi_fields[] = {
	NAPI(ifindex, U64, NONE, 0, "Interface it belongs to."),
	NAPI(napi, U64, NONE, KEY, "NETDEV_A_NAPI_ID of NAPI_GET (6.8)."),
	NAPI(irq, U64, NONE, 0, "Interrupt that wakes it, NETDEV_A_NAPI_IRQ."),
	NAPI(thread_id, U64, NONE, 0,
	     "Kernel thread that it polls in, NETDEV_A_NAPI_PID; not applicable: softirq."),
};

#define IRQ(member_, kind_, unit_, flags_, help_) \
	FIELD(struct irq_facts, member_, kind_, unit_, flags_, help_)
static const struct field irq_fields[] = {
	IRQ(irq, U64, NONE, KEY,
	    "Interrupt number, /proc/interrupts and device/msi_irqs of the NIC."),
	IRQ(ifindex, U64, NONE, 0, "Interface the interrupt belongs to."),
	IRQ(name, STR, NONE, 0, "Action name, last column of /proc/interrupts."),
	IRQ(affinity, CPUS, NONE, 0, "CPUs it may go to, /proc/irq/N/smp_affinity_list."),
	IRQ(effective, CPUS, NONE, 0, "CPUs it does go to, /proc/irq/N/effective_affinity_list."),
	IRQ(node, I64, NONE, 0, "NUMA node, /proc/irq/N/node; -1 when unknown to the kernel."),
};

#define PCI(member_, kind_, unit_, flags_, help_) \
	FIELD(struct pci_facts, member_, kind_, unit_, flags_, help_)
static const struct field pci_fields[] = {
	PCI(address, STR, NONE, KEY, "Domain, bus, device and function, /sys/bus/pci/devices."),
	PCI(parent, STR, NONE, 0, "Address of the port above; not applicable on the root bus."),
	PCI(type, STR, NONE, 0, "Role in the tree, Device/Port Type of the PCIe capability."),
	PCI(name, STR, NONE, 0, "Vendor and device by name, pci.ids."),
	PCI(driver, STR, NONE, 0, "Kernel driver, the driver link in sysfs."),
	PCI(vendor_id, U64, NONE, 0, "Vendor id, config space 0x00."),
	PCI(device_id, U64, NONE, 0, "Device id, config space 0x02."),
	PCI(class_code, U64, NONE, 0, "Class, subclass and interface, the class file in sysfs."),
	PCI(speed_mtps, U64, MEGATRANSFERS, 0,
	    "Link speed now, LnkSta or current_link_speed in sysfs."),
	PCI(width, U64, COUNT, 0, "Lanes in use, LnkSta or current_link_width in sysfs."),
	PCI(max_speed_mtps, U64, MEGATRANSFERS, 0,
	    "Highest speed of this end, LnkCap or max_link_speed in sysfs."),
	PCI(max_width, U64, COUNT, 0, "Most lanes of this end, LnkCap or max_link_width in sysfs."),
	PCI(payload_bytes, U64, BYTES, 0, "Max Payload Size set, DevCtl."),
	PCI(payload_max_bytes, U64, BYTES, 0, "Max Payload Size supported, DevCap."),
	PCI(read_request_bytes, U64, BYTES, 0, "Max Read Request Size set, DevCtl."),
	PCI(relaxed_ordering, BOOL, NONE, 0, "Relaxed Ordering is enabled, DevCtl."),
	PCI(aspm, STR, NONE, 0, "Link power states enabled, LnkCtl or link/*_aspm in sysfs."),
	PCI(aspm_supported, STR, NONE, 0, "Link power states supported, LnkCap."),
	PCI(numa_node, I64, NONE, 0,
	    "NUMA node, numa_node in sysfs; -1 when the firmware did not say."),
	PCI(removable, BOOL, NONE, 0, "Hot-pluggable or external, removable in sysfs."),
	PCI(physical_function, STR, NONE, 0,
	    "Address of the PF of an SR-IOV virtual function, the physfn link in sysfs."),
};

#define ADDRESS(member_, kind_, unit_, flags_, help_) \
	FIELD(struct address_facts, member_, kind_, unit_, flags_, help_)
static const struct field address_fields[] = {
	ADDRESS(ifindex, U64, NONE, KEY, "Interface the address is on, ifa_index of RTM_GETADDR."),
	ADDRESS(address, STR, NONE, KEY | PRIVATE,
		"IPv4 or IPv6 address, IFA_LOCAL or IFA_ADDRESS."),
	ADDRESS(prefix_length, U64, NONE, 0, "Bits of the network part, ifa_prefixlen."),
};

#define ROUTE(member_, kind_, unit_, flags_, help_) \
	FIELD(struct route_facts, member_, kind_, unit_, flags_, help_)
static const struct field route_fields[] = {
	ROUTE(to, STR, NONE, PRIVATE, "Address of the peer the route was asked for."),
	ROUTE(from, STR, NONE, PRIVATE,
	      "Source address the kernel picks, RTA_PREFSRC of RTM_GETROUTE."),
	ROUTE(gateway, STR, NONE, PRIVATE,
	      "Next hop, RTA_GATEWAY; not applicable when the peer is on the link."),
	ROUTE(type, STR, NONE, 0, "Route type, rtm_type; local means the peer is this host."),
	ROUTE(ifindex, U64, NONE, 0, "Interface it leaves by, RTA_OIF."),
	ROUTE(mtu, U64, BYTES, 0, "Path MTU of the route, RTAX_MTU."),
	ROUTE(advmss, U64, BYTES, 0, "Segment size advertised on the route, RTAX_ADVMSS."),
	ROUTE(window, U64, BYTES, 0, "Window clamp of the route, RTAX_WINDOW."),
	ROUTE(initcwnd, U64, PACKETS, 0, "Initial congestion window of the route, RTAX_INITCWND."),
	ROUTE(congestion_window_lock, U64, PACKETS, 0,
	      "Clamp of the congestion window, RTAX_CWND when locked."),
	ROUTE(congestion_control, STR, NONE, 0, "Congestion control of the route, RTAX_CC_ALGO."),
};

#define QDISC(member_, kind_, unit_, flags_, help_) \
	FIELD(struct qdisc_facts, member_, kind_, unit_, flags_, help_)
static const struct field qdisc_fields[] = {
	QDISC(ifindex, U64, NONE, KEY,
	      "Interface it is on, tcm_ifindex of RTM_GETQDISC and RTM_GETTCLASS."),
	QDISC(handle, U64, NONE, KEY, "tc handle, major << 16 | minor, tcm_handle."),
	QDISC(parent, U64, NONE, KEY, "tc handle of the parent, tcm_parent."),
	QDISC(is_class, BOOL, NONE, KEY, "A class, not a queueing discipline."),
	QDISC(kind, STR, NONE, 0, "Kind such as tbf or htb, TCA_KIND."),
	QDISC(rate_bps, U64, BITS_PER_SECOND, 0,
	      "Configured rate, TCA_TBF_PARMS, TCA_HTB_PARMS and their like."),
	QDISC(ceil_bps, U64, BITS_PER_SECOND, 0,
	      "Most it may borrow up to, ceil of TCA_HTB_PARMS; peak rate of tbf."),
	QDISC(burst_bytes, U64, BYTES, 0, "Bucket size, from the kind's TCA_OPTIONS."),
	QDISC(limit_bytes, U64, BYTES, 0, "Queue limit in bytes, from the kind's TCA_OPTIONS."),
	QDISC(limit_packets, U64, PACKETS, 0,
	      "Queue limit in packets, from the kind's TCA_OPTIONS."),
};

#define SYSCTL(member_, kind_, unit_, help_) \
	FIELD(struct sysctl_facts, member_, kind_, unit_, 0, help_)
static const struct field sysctl_fields[] = {
	SYSCTL(rmem_max, U64, BYTES, "Largest SO_RCVBUF, /proc/sys/net/core/rmem_max."),
	SYSCTL(wmem_max, U64, BYTES, "Largest SO_SNDBUF, /proc/sys/net/core/wmem_max."),
	SYSCTL(rmem_default, U64, BYTES,
	       "Initial receive buffer, /proc/sys/net/core/rmem_default."),
	SYSCTL(wmem_default, U64, BYTES, "Initial send buffer, /proc/sys/net/core/wmem_default."),
	SYSCTL(tcp_rmem_min, U64, BYTES, "First value of /proc/sys/net/ipv4/tcp_rmem."),
	SYSCTL(tcp_rmem_default, U64, BYTES,
	       "Initial TCP receive buffer, second value of /proc/sys/net/ipv4/tcp_rmem."),
	SYSCTL(tcp_rmem_max, U64, BYTES,
	       "Limit of receive autotuning, third value of /proc/sys/net/ipv4/tcp_rmem."),
	SYSCTL(tcp_wmem_min, U64, BYTES, "First value of /proc/sys/net/ipv4/tcp_wmem."),
	SYSCTL(tcp_wmem_default, U64, BYTES,
	       "Initial TCP send buffer, second value of /proc/sys/net/ipv4/tcp_wmem."),
	SYSCTL(tcp_wmem_max, U64, BYTES,
	       "Limit of send autotuning, third value of /proc/sys/net/ipv4/tcp_wmem."),
	SYSCTL(tcp_mem_low, U64, COUNT, "Pages, first value of /proc/sys/net/ipv4/tcp_mem."),
	SYSCTL(tcp_mem_pressure, U64, COUNT,
	       "Pages from which TCP saves memory, second value of /proc/sys/net/ipv4/tcp_mem."),
	SYSCTL(tcp_mem_high, U64, COUNT,
	       "Most pages for TCP, third value of /proc/sys/net/ipv4/tcp_mem."),
	SYSCTL(netdev_max_backlog, U64, PACKETS,
	       "Per-CPU backlog queue, /proc/sys/net/core/netdev_max_backlog."),
	SYSCTL(netdev_budget, U64, PACKETS,
	       "Packets per softirq round, /proc/sys/net/core/netdev_budget."),
	SYSCTL(netdev_budget_usecs, U64, MICROSECONDS,
	       "Time per softirq round, /proc/sys/net/core/netdev_budget_usecs."),
	SYSCTL(optmem_max, U64, BYTES,
	       "Ancillary buffer of a socket, /proc/sys/net/core/optmem_max."),
	SYSCTL(default_qdisc, STR, NONE,
	       "Queueing discipline of new devices, /proc/sys/net/core/default_qdisc."),
	SYSCTL(tcp_congestion_control, STR, NONE,
	       "Default congestion control, /proc/sys/net/ipv4/tcp_congestion_control."),
	SYSCTL(tcp_available_congestion_control, STR, NONE,
	       "Loaded algorithms, /proc/sys/net/ipv4/tcp_available_congestion_control."),
	SYSCTL(tcp_allowed_congestion_control, STR, NONE,
	       "Algorithms without CAP_NET_ADMIN, "
	       "/proc/sys/net/ipv4/tcp_allowed_congestion_control."),
	SYSCTL(tcp_window_scaling, U64, NONE,
	       "RFC 7323 scaling, /proc/sys/net/ipv4/tcp_window_scaling."),
	SYSCTL(tcp_timestamps, U64, NONE,
	       "RFC 7323 timestamps, /proc/sys/net/ipv4/tcp_timestamps."),
	SYSCTL(tcp_sack, U64, NONE, "Selective ACKs, /proc/sys/net/ipv4/tcp_sack."),
	SYSCTL(tcp_mtu_probing, U64, NONE,
	       "Packetization-layer MTU discovery, /proc/sys/net/ipv4/tcp_mtu_probing."),
	SYSCTL(tcp_moderate_rcvbuf, U64, NONE,
	       "Receive buffer autotuning, /proc/sys/net/ipv4/tcp_moderate_rcvbuf."),
	SYSCTL(tcp_slow_start_after_idle, U64, NONE,
	       "Window shrinks when idle, /proc/sys/net/ipv4/tcp_slow_start_after_idle."),
	SYSCTL(tcp_no_metrics_save, U64, NONE,
	       "Metrics of old connections are forgotten, /proc/sys/net/ipv4/tcp_no_metrics_save."),
	SYSCTL(tcp_ecn, U64, NONE, "Explicit congestion notification, /proc/sys/net/ipv4/tcp_ecn."),
	SYSCTL(tcp_limit_output_bytes, U64, BYTES,
	       "Most bytes of a socket below TCP, /proc/sys/net/ipv4/tcp_limit_output_bytes."),
	SYSCTL(tcp_notsent_lowat, U64, BYTES,
	       "Unsent bytes that make a socket writable again, "
	       "/proc/sys/net/ipv4/tcp_notsent_lowat."),
	SYSCTL(rps_sock_flow_entries, U64, COUNT,
	       "Global RFS flow table, /proc/sys/net/core/rps_sock_flow_entries."),
	SYSCTL(busy_poll, U64, MICROSECONDS,
	       "Busy polling in poll(2), /proc/sys/net/core/busy_poll."),
	SYSCTL(ip_forward, U64, NONE, "IPv4 forwarding, /proc/sys/net/ipv4/ip_forward."),
	SYSCTL(tcp_adv_win_scale, I64, NONE,
	       "Share of the buffer kept from the window, /proc/sys/net/ipv4/tcp_adv_win_scale."),
};

#define CGROUP(member_, kind_, unit_, flags_, help_) \
	FIELD(struct cgroup_facts, member_, kind_, unit_, flags_, help_)
static const struct field cgroup_fields[] = {
	CGROUP(path, STR, NONE, KEY | PRIVATE,
	       "Path below the cgroup mount, from /proc/self/cgroup and its parents."),
	CGROUP(directory, STR, NONE, PRIVATE,
	       "Directory its files are read from; absent when it lies outside of what is "
	       "mounted."),
	CGROUP(version, U64, NONE, 0, "cgroup version, 1 or 2."),
	CGROUP(quota_us, U64, MICROSECONDS, 0,
	       "CPU time per period, cpu.max or cpu.cfs_quota_us; not applicable without a limit."),
	CGROUP(period_us, U64, MICROSECONDS, 0,
	       "Length of a period, cpu.max or cpu.cfs_period_us."),
	CGROUP(cpuset, CPUS, NONE, 0,
	       "CPUs the group may use, cpuset.cpus.effective or cpuset.effective_cpus."),
};

#define PROBE(member_, kind_, unit_, flags_, help_) \
	FIELD(struct probe_result, member_, kind_, unit_, flags_, help_)
static const struct field probe_fields[] = {
	PROBE(probe, STR, NONE, KEY, "Name of the probe."),
	PROBE(state, STR, NONE, 0, "ok, or why it could read nothing."),
	PROBE(detail, STR, NONE, 0, "What failed, for a person."),
	PROBE(took_us, U64, MICROSECONDS, 0, "How long it took, CLOCK_MONOTONIC."),
};

static const struct section facts_sections[] = {
	SECTION_ONE(struct facts, host, host_fields, "The host as a whole."),
	SECTION_ONE(struct facts, sysctl, sysctl_fields, "Network sysctls, /proc/sys/net."),
	SECTION_ONE(struct facts, route, route_fields,
		    "The route to the peer, as the kernel resolves it."),
	SECTION_ROWS(struct facts, cpus, ncpus, struct cpu_facts, cpu_fields, "One row a CPU."),
	SECTION_ROWS(struct facts, links, nlinks, struct link_facts, link_fields,
		     "One row a network interface."),
	SECTION_ROWS(struct facts, features, nfeatures, struct feature_facts, feature_fields,
		     "Offloads and other features of an interface."),
	SECTION_ROWS(struct facts, queues, nqueues, struct queue_facts, queue_fields,
		     "Steering of receive and transmit queues."),
	SECTION_ROWS(struct facts, napis, nnapis, struct napi_facts, napi_fields,
		     "NAPI instances, which poll the queues."),
	SECTION_ROWS(struct facts, irqs, nirqs, struct irq_facts, irq_fields,
		     "Interrupts of NICs."),
	SECTION_ROWS(struct facts, pci, npci, struct pci_facts, pci_fields,
		     "PCI functions from the NICs up to their root ports."),
	SECTION_ROWS(struct facts, addresses, naddresses, struct address_facts, address_fields,
		     "IP addresses."),
	SECTION_ROWS(struct facts, qdiscs, nqdiscs, struct qdisc_facts, qdisc_fields,
		     "Queueing disciplines and classes."),
	SECTION_ROWS(struct facts, cgroups, ncgroups, struct cgroup_facts, cgroup_fields,
		     "Our cgroup and every one above it: each can throttle."),
	SECTION_ROWS(struct facts, probes, nprobes, struct probe_result, probe_fields,
		     "What each probe could read."),
};

const struct schema facts_schema = {
	.name = "facts",
	.sections = facts_sections,
	.nsections = ARRAY_SIZE(facts_sections),
	.size = sizeof(struct facts),
};

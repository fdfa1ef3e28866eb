/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Field tables of counters.h. */
#include "src/core/counters.h"

#define KEY FIELD_KEY
#define COUNTER FIELD_COUNTER
#define MAX FIELD_MAX
#define PRIVATE FIELD_PRIVATE

static const struct field clock_fields[] = {
	FIELD(struct clock_sample, monotonic_ns, U64, NANOSECONDS, COUNTER,
	      "CLOCK_MONOTONIC of the sample; the window's length after a difference."),
};

#define CPU(member_, unit_, flags_, help_) \
	FIELD(struct cpu_sample, member_, U64, unit_, flags_, help_)
static const struct field cpu_fields[] = {
	CPU(cpu, NONE, KEY, "CPU number, cpuN of /proc/stat."),
	CPU(user_us, MICROSECONDS, COUNTER, "Time in user space, guests included, /proc/stat."),
	CPU(nice_us, MICROSECONDS, COUNTER, "Time in niced user space, /proc/stat."),
	CPU(system_us, MICROSECONDS, COUNTER, "Time in the kernel for processes, /proc/stat."),
	CPU(idle_us, MICROSECONDS, COUNTER, "Idle time, /proc/stat."),
	CPU(iowait_us, MICROSECONDS, COUNTER, "Idle time with disk I/O outstanding, /proc/stat."),
	CPU(irq_us, MICROSECONDS, COUNTER, "Time in hard interrupts, /proc/stat."),
	CPU(softirq_us, MICROSECONDS, COUNTER,
	    "Time in softirqs, where packets are received, /proc/stat."),
	CPU(steal_us, MICROSECONDS, COUNTER, "Time the hypervisor ran somebody else, /proc/stat."),
};

#define SOFTIRQ(member_, unit_, flags_, help_) \
	FIELD(struct softirq_sample, member_, U64, unit_, flags_, help_)
static const struct field softirq_fields[] = {
	SOFTIRQ(cpu, NONE, KEY, "CPU number, column of /proc/softirqs."),
	SOFTIRQ(net_rx, COUNT, COUNTER, "NET_RX raises, not packets, /proc/softirqs."),
	SOFTIRQ(net_tx, COUNT, COUNTER, "NET_TX raises, not packets, /proc/softirqs."),
};

#define SOFTNET(member_, unit_, flags_, help_) \
	FIELD(struct softnet_sample, member_, U64, unit_, flags_, help_)
static const struct field softnet_fields[] = {
	SOFTNET(cpu, NONE, KEY, "CPU number, 13th column of /proc/net/softnet_stat, else the row."),
	SOFTNET(processed, PACKETS, COUNTER,
		"Packets received, 1st column of /proc/net/softnet_stat."),
	SOFTNET(dropped, PACKETS, COUNTER,
		"Packets dropped because the backlog was full, 2nd column of "
		"/proc/net/softnet_stat."),
	SOFTNET(time_squeeze, COUNT, COUNTER,
		"Rounds ended with work left, 3rd column of /proc/net/softnet_stat."),
	SOFTNET(received_rps, COUNT, COUNTER,
		"Wake-ups by RPS from other CPUs, 10th column of /proc/net/softnet_stat."),
	SOFTNET(flow_limit, PACKETS, COUNTER,
		"Packets dropped by flow limiting, 11th column of /proc/net/softnet_stat."),
	SOFTNET(backlog, PACKETS, 0, "Backlog length now, 12th column of /proc/net/softnet_stat."),
};

#define IRQ(member_, unit_, flags_, help_) \
	FIELD(struct irq_sample, member_, U64, unit_, flags_, help_)
static const struct field irq_fields[] = {
	IRQ(irq, NONE, KEY, "Interrupt number, /proc/interrupts."),
	IRQ(cpu, NONE, KEY, "CPU number, column of /proc/interrupts."),
	IRQ(count, COUNT, COUNTER, "Interrupts taken by that CPU, /proc/interrupts."),
};

#define LINK(member_, unit_, flags_, help_) \
	FIELD(struct link_sample, member_, U64, unit_, flags_, help_)
static const struct field link_fields[] = {
	LINK(ifindex, NONE, KEY, "Interface index, ifi_index of RTM_GETLINK."),
	LINK(rx_bytes, BYTES, COUNTER, "Bytes received, IFLA_STATS64."),
	LINK(tx_bytes, BYTES, COUNTER, "Bytes sent, IFLA_STATS64."),
	LINK(rx_packets, PACKETS, COUNTER,
	     "Packets received, after hardware merging, IFLA_STATS64."),
	LINK(tx_packets, PACKETS, COUNTER, "Packets sent, IFLA_STATS64."),
	LINK(rx_dropped, PACKETS, COUNTER,
	     "Received but not wanted or no room for it in the host, IFLA_STATS64."),
	LINK(tx_dropped, PACKETS, COUNTER, "Dropped on the way out, IFLA_STATS64."),
	LINK(rx_errors, PACKETS, COUNTER, "Bad packets received, IFLA_STATS64."),
	LINK(tx_errors, PACKETS, COUNTER, "Failed transmissions, IFLA_STATS64."),
	LINK(rx_missed_errors, PACKETS, COUNTER,
	     "Dropped by the device for lack of a host buffer, IFLA_STATS64."),
	LINK(rx_over_errors, PACKETS, COUNTER, "Receiver overruns, IFLA_STATS64."),
	LINK(rx_fifo_errors, PACKETS, COUNTER, "Receiver FIFO overruns, IFLA_STATS64."),
	LINK(rx_crc_errors, PACKETS, COUNTER, "Frames with a bad checksum, IFLA_STATS64."),
	LINK(rx_frame_errors, PACKETS, COUNTER, "Misaligned frames, IFLA_STATS64."),
	LINK(rx_length_errors, PACKETS, COUNTER, "Frames of a wrong length, IFLA_STATS64."),
	LINK(tx_fifo_errors, PACKETS, COUNTER, "Transmit FIFO underruns, IFLA_STATS64."),
	LINK(tx_carrier_errors, PACKETS, COUNTER, "Lost carrier while sending, IFLA_STATS64."),
	LINK(tx_window_errors, PACKETS, COUNTER, "Late collisions, IFLA_STATS64."),
	LINK(collisions, PACKETS, COUNTER, "Collisions: a duplex mismatch today, IFLA_STATS64."),
	LINK(carrier_changes, COUNT, COUNTER,
	     "Times the link went up or down, IFLA_CARRIER_CHANGES."),
};

#define NIC(member_, kind_, unit_, flags_, help_) \
	FIELD(struct nic_sample, member_, kind_, unit_, flags_, help_)
static const struct field nic_fields[] = {
	NIC(ifindex, U64, NONE, KEY, "Interface the statistic belongs to."),
	NIC(name, STR, NONE, KEY, "The driver's own name, ETHTOOL_GSTRINGS of ETH_SS_STATS."),
	NIC(value, U64, COUNT, COUNTER, "Its value, ETHTOOL_GSTATS; a few are gauges."),
};

#define QDISC(member_, kind_, unit_, flags_, help_) \
	FIELD(struct qdisc_sample, member_, kind_, unit_, flags_, help_)
static const struct field qdisc_fields[] = {
	QDISC(ifindex, U64, NONE, KEY, "Interface it is on, tcm_ifindex."),
	QDISC(handle, U64, NONE, KEY, "tc handle, major << 16 | minor, tcm_handle."),
	QDISC(parent, U64, NONE, KEY, "tc handle of the parent, tcm_parent."),
	QDISC(is_class, BOOL, NONE, KEY, "A class, not a queueing discipline."),
	QDISC(bytes, U64, BYTES, COUNTER, "Bytes sent, TCA_STATS_BASIC of TCA_STATS2."),
	QDISC(packets, U64, PACKETS, COUNTER, "Packets sent, TCA_STATS_BASIC of TCA_STATS2."),
	QDISC(drops, U64, PACKETS, COUNTER, "Packets dropped, TCA_STATS_QUEUE of TCA_STATS2."),
	QDISC(overlimits, U64, COUNT, COUNTER,
	      "Times the rate held a packet back, TCA_STATS_QUEUE of TCA_STATS2."),
	QDISC(requeues, U64, COUNT, COUNTER,
	      "Times the device had no room, TCA_STATS_QUEUE of TCA_STATS2."),
	QDISC(backlog_bytes, U64, BYTES, 0, "Bytes queued now, TCA_STATS_QUEUE of TCA_STATS2."),
};

static const struct field mib_fields[] = {
	FIELD(struct mib_sample, name, STR, NONE, KEY,
	      "Group and counter, as in /proc/net/snmp, /proc/net/snmp6 and /proc/net/netstat."),
	FIELD(struct mib_sample, value, U64, COUNT, COUNTER,
	      "Its value in this network namespace; a few are settings or gauges."),
};

#define CGROUP(member_, kind_, unit_, flags_, help_) \
	FIELD(struct cgroup_sample, member_, kind_, unit_, flags_, help_)
static const struct field cgroup_fields[] = {
	CGROUP(path, STR, NONE, KEY | PRIVATE, "Path below the cgroup mount."),
	CGROUP(periods, U64, COUNT, COUNTER, "Periods with a quota, nr_periods of cpu.stat."),
	CGROUP(throttled, U64, COUNT, COUNTER,
	       "Periods in which the quota ran out, nr_throttled of cpu.stat."),
	CGROUP(throttled_us, U64, MICROSECONDS, COUNTER,
	       "Time spent stopped, throttled_usec of cpu.stat (throttled_time on v1)."),
};

#define PCI(member_, kind_, unit_, flags_, help_) \
	FIELD(struct pci_sample, member_, kind_, unit_, flags_, help_)
static const struct field pci_fields[] = {
	PCI(address, STR, NONE, KEY, "Domain, bus, device and function, /sys/bus/pci/devices."),
	PCI(speed_mtps, U64, MEGATRANSFERS, MAX, "Link speed, current_link_speed in sysfs."),
	PCI(width, U64, COUNT, MAX, "Lanes in use, current_link_width in sysfs."),
	PCI(aer_correctable, U64, COUNT, COUNTER,
	    "Corrected errors, aer_dev_correctable in sysfs."),
	PCI(aer_nonfatal, U64, COUNT, COUNTER, "Uncorrected errors, aer_dev_nonfatal in sysfs."),
	PCI(aer_fatal, U64, COUNT, COUNTER,
	    "Errors that took the link down, aer_dev_fatal in sysfs."),
};

#define FREQ(member_, unit_, flags_, help_) \
	FIELD(struct freq_sample, member_, U64, unit_, flags_, help_)
static const struct field freq_fields[] = {
	FREQ(cpu, NONE, KEY, "CPU number."),
	FREQ(current_khz, KILOHERTZ, MAX, "Frequency now, cpufreq/scaling_cur_freq."),
	FREQ(throttle_us, MICROSECONDS, COUNTER,
	     "Time slowed down by heat, thermal_throttle/core_throttle_total_time_ms."),
};

#define FLOW(member_, kind_, unit_, flags_, help_) \
	FIELD(struct flow_sample, member_, kind_, unit_, flags_, help_)
const struct field flow_fields[] = {
	FLOW(flow, U64, NONE, KEY, "Number of the flow, from 0, the same on both ends."),
	FLOW(direction, STR, NONE, 0, "send or receive, from this end."),
	FLOW(local_port, U64, NONE, 0, "TCP or UDP port of this end, getsockname(2)."),
	FLOW(peer_port, U64, NONE, 0, "TCP or UDP port of the other end, getpeername(2)."),
	FLOW(bytes, U64, BYTES, COUNTER, "Bytes sent or received by the application."),
	FLOW(calls, U64, COUNT, COUNTER, "Send or receive calls that moved data."),
	FLOW(blocked_us, U64, MICROSECONDS, COUNTER,
	     "Time the socket was not ready while we wanted it to be."),
	FLOW(zerocopy_sends, U64, COUNT, COUNTER, "Send calls with MSG_ZEROCOPY."),
	FLOW(zerocopy_copied, U64, COUNT, COUNTER,
	     "Of those, the ones that the kernel copied after all, SO_EE_CODE_ZEROCOPY_COPIED."),
	FLOW(retransmits, U64, PACKETS, COUNTER, "Segments sent again, tcpi_total_retrans."),
	FLOW(bytes_sent, U64, BYTES, COUNTER,
	     "Payload sent, retransmissions included, tcpi_bytes_sent (4.19)."),
	FLOW(bytes_retransmitted, U64, BYTES, COUNTER,
	     "Payload sent again, tcpi_bytes_retrans (4.19)."),
	FLOW(dsack_dups, U64, COUNT, COUNTER,
	     "Segments the receiver already had, tcpi_dsack_dups (4.19)."),
	FLOW(reorder_seen, U64, COUNT, COUNTER, "Reordering events, tcpi_reord_seen (4.19)."),
	FLOW(segments_out, U64, PACKETS, COUNTER, "Segments sent, tcpi_segs_out (4.2)."),
	FLOW(segments_in, U64, PACKETS, COUNTER, "Segments received, tcpi_segs_in (4.2)."),
	FLOW(delivered, U64, PACKETS, COUNTER, "Segments that arrived, tcpi_delivered (4.18)."),
	FLOW(delivered_ce, U64, PACKETS, COUNTER,
	     "Segments that arrived with a congestion mark, tcpi_delivered_ce (4.18)."),
	FLOW(busy_us, U64, MICROSECONDS, COUNTER, "Time with data to send, tcpi_busy_time (4.9)."),
	FLOW(rwnd_limited_us, U64, MICROSECONDS, COUNTER,
	     "Time held back by the receiver's window, tcpi_rwnd_limited (4.9)."),
	FLOW(sndbuf_limited_us, U64, MICROSECONDS, COUNTER,
	     "Time held back by the send buffer, tcpi_sndbuf_limited (4.9)."),
	FLOW(timeouts, U64, COUNT, COUNTER, "Retransmission timeouts, tcpi_total_rto (6.7)."),
	FLOW(rtt_us, U64, MICROSECONDS, 0, "Smoothed round-trip time, tcpi_rtt."),
	FLOW(rttvar_us, U64, MICROSECONDS, 0, "Mean deviation of that, tcpi_rttvar."),
	FLOW(min_rtt_us, U64, MICROSECONDS, 0, "Smallest round-trip time, tcpi_min_rtt (4.6)."),
	FLOW(cwnd, U64, PACKETS, 0, "Congestion window in segments, tcpi_snd_cwnd."),
	FLOW(ssthresh, U64, PACKETS, 0, "Slow start threshold in segments, tcpi_snd_ssthresh."),
	FLOW(snd_mss, U64, BYTES, 0, "Segment size when sending, tcpi_snd_mss."),
	FLOW(rcv_mss, U64, BYTES, 0, "Segment size seen when receiving, tcpi_rcv_mss."),
	FLOW(advmss, U64, BYTES, 0, "Segment size we advertised, tcpi_advmss."),
	FLOW(pmtu, U64, BYTES, 0, "Path MTU, tcpi_pmtu."),
	FLOW(snd_wnd_bytes, U64, BYTES, 0, "Window the receiver offers, tcpi_snd_wnd (5.4)."),
	FLOW(rcv_wnd_bytes, U64, BYTES, 0, "Window we offer, tcpi_rcv_wnd (6.2)."),
	FLOW(unacked, U64, PACKETS, 0, "Segments in flight, tcpi_unacked."),
	FLOW(notsent_bytes, U64, BYTES, 0,
	     "Bytes in the send buffer not sent yet, tcpi_notsent_bytes (4.6)."),
	FLOW(pacing_bps, U64, BITS_PER_SECOND, 0, "Pacing rate, tcpi_pacing_rate times 8."),
	FLOW(delivery_bps, U64, BITS_PER_SECOND, 0,
	     "Most recent delivery rate, tcpi_delivery_rate times 8 (4.9)."),
	FLOW(snd_wscale, U64, NONE, 0, "Shift of the window the peer offers, tcpi_snd_wscale."),
	FLOW(rcv_wscale, U64, NONE, 0, "Shift of the window we offer, tcpi_rcv_wscale."),
	FLOW(ca_state, U64, NONE, 0, "Congestion state, 0 open to 4 loss, tcpi_ca_state."),
	FLOW(reordering, U64, PACKETS, 0, "Reordering tolerated, tcpi_reordering."),
	FLOW(app_limited, BOOL, NONE, 0,
	     "The delivery rate was limited by the application, tcpi_delivery_rate_app_limited "
	     "(4.9)."),
	FLOW(option_wscale, BOOL, NONE, 0, "Window scaling was negotiated, TCPI_OPT_WSCALE."),
	FLOW(option_sack, BOOL, NONE, 0, "Selective ACKs were negotiated, TCPI_OPT_SACK."),
	FLOW(option_timestamps, BOOL, NONE, 0, "Timestamps were negotiated, TCPI_OPT_TIMESTAMPS."),
	FLOW(congestion_control, STR, NONE, 0, "Congestion control in use, TCP_CONGESTION."),
	FLOW(rcvbuf_bytes, U64, BYTES, 0, "Receive buffer limit, SK_MEMINFO_RCVBUF of SO_MEMINFO."),
	FLOW(sndbuf_bytes, U64, BYTES, 0, "Send buffer limit, SK_MEMINFO_SNDBUF of SO_MEMINFO."),
	FLOW(rmem_bytes, U64, BYTES, 0,
	     "Receive memory in use, SK_MEMINFO_RMEM_ALLOC of SO_MEMINFO."),
	FLOW(wmem_bytes, U64, BYTES, 0,
	     "Send memory queued, SK_MEMINFO_WMEM_QUEUED of SO_MEMINFO."),
	FLOW(receive_queue_bytes, U64, BYTES, 0,
	     "Bytes the application has not read yet, SIOCINQ."),
	FLOW(max_pacing_bps, U64, BITS_PER_SECOND, 0,
	     "Pacing limit of the socket, SO_MAX_PACING_RATE times 8."),
	FLOW(incoming_cpu, U64, NONE, 0, "CPU the last packet came in on, SO_INCOMING_CPU."),
	FLOW(incoming_napi, U64, NONE, 0, "NAPI instance of the last packet, SO_INCOMING_NAPI_ID."),
	FLOW(packets, U64, PACKETS, COUNTER,
	     "Datagrams sent, or taken in by the application, each number once."),
	FLOW(skipped, U64, PACKETS, COUNTER,
	     "Datagrams that later ones overtook; those that never came are lost."),
	FLOW(out_of_order, U64, PACKETS, COUNTER, "Datagrams that came after later ones."),
	FLOW(duplicates, U64, PACKETS, COUNTER, "Datagrams that came again."),
	FLOW(socket_drops, U64, PACKETS, COUNTER,
	     "Packets for which the receive buffer had no room, SK_MEMINFO_DROPS of SO_MEMINFO; "
	     "those that UDP_GRO merged count as one."),
	FLOW(jitter_us, U64, MICROSECONDS, 0,
	     "Smoothed difference of transit times, RFC 3550 6.4.1."),
	FLOW(udp_gso_segments, U64, PACKETS, 0,
	     "Datagrams handed over as one message, UDP_SEGMENT; 1: not wanted or refused."),
	FLOW(udp_gro, BOOL, NONE, 0, "The kernel may hand over several as one message, UDP_GRO."),
};
const size_t flow_nfields = ARRAY_SIZE(flow_fields);

#define WORKER(member_, kind_, unit_, flags_, help_) \
	FIELD(struct worker_sample, member_, kind_, unit_, flags_, help_)
static const struct field worker_fields[] = {
	WORKER(worker, U64, NONE, KEY, "Number of the traffic thread, from 0."),
	WORKER(thread_id, U64, NONE, 0, "Its thread id, gettid(2)."),
	WORKER(flows, U64, COUNT, 0, "Flows it serves."),
	WORKER(cpu, U64, NONE, 0, "CPU it last ran on, field 39 of /proc/self/task/TID/stat."),
	WORKER(allowed, CPUS, NONE, 0, "CPUs it may run on, sched_getaffinity(2)."),
	WORKER(user_us, U64, MICROSECONDS, COUNTER,
	       "Time in user space, getrusage(RUSAGE_THREAD)."),
	WORKER(system_us, U64, MICROSECONDS, COUNTER,
	       "Time in the kernel, getrusage(RUSAGE_THREAD)."),
	WORKER(run_delay_us, U64, MICROSECONDS, COUNTER,
	       "Time spent waiting for a CPU, second value of /proc/self/task/TID/schedstat."),
	WORKER(cpu_us, U64, MICROSECONDS, COUNTER, "CPU time, exact, CLOCK_THREAD_CPUTIME_ID."),
	WORKER(voluntary_switches, U64, COUNT, COUNTER,
	       "Times it slept, getrusage(RUSAGE_THREAD)."),
	WORKER(involuntary_switches, U64, COUNT, COUNTER,
	       "Times it was preempted, getrusage(RUSAGE_THREAD)."),
};

static const struct section counters_sections[] = {
	SECTION_ONE(struct counters, clock, clock_fields, "When the sample was taken."),
	SECTION_ROWS(struct counters, cpus, ncpus, struct cpu_sample, cpu_fields,
		     "Time of each CPU, /proc/stat."),
	SECTION_ROWS(struct counters, softirqs, nsoftirqs, struct softirq_sample, softirq_fields,
		     "Network softirqs of each CPU, /proc/softirqs."),
	SECTION_ROWS(struct counters, softnet, nsoftnet, struct softnet_sample, softnet_fields,
		     "Receive processing of each CPU, /proc/net/softnet_stat."),
	SECTION_ROWS(struct counters, irqs, nirqs, struct irq_sample, irq_fields,
		     "Interrupts of NICs, per vector and CPU, /proc/interrupts."),
	SECTION_ROWS(struct counters, links, nlinks, struct link_sample, link_fields,
		     "Standard statistics of each interface."),
	SECTION_ROWS(struct counters, nics, nnics, struct nic_sample, nic_fields,
		     "The drivers' own statistics."),
	SECTION_ROWS(struct counters, qdiscs, nqdiscs, struct qdisc_sample, qdisc_fields,
		     "Statistics of queueing disciplines and classes."),
	SECTION_ROWS(struct counters, mibs, nmibs, struct mib_sample, mib_fields,
		     "Protocol counters of the network namespace."),
	SECTION_ROWS(struct counters, cgroups, ncgroups, struct cgroup_sample, cgroup_fields,
		     "CPU throttling of our cgroups."),
	SECTION_ROWS(struct counters, pci, npci, struct pci_sample, pci_fields,
		     "Link state of the PCI path while traffic flows."),
	SECTION_ROWS(struct counters, freqs, nfreqs, struct freq_sample, freq_fields,
		     "CPU frequency under load."),
	SECTION_ROWS(struct counters, flows, nflows, struct flow_sample, flow_fields,
		     "One row a data connection, from this end."),
	SECTION_ROWS(struct counters, workers, nworkers, struct worker_sample, worker_fields,
		     "One row a traffic thread."),
};

const struct schema counters_schema = {
	.name = "counters",
	.sections = counters_sections,
	.nsections = ARRAY_SIZE(counters_sections),
	.size = sizeof(struct counters),
};

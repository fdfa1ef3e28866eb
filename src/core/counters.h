/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters: what moves while traffic flows.  One struct counters is one host
 * at one instant, or (after record_difference) one host over a window.
 *
 * Rows come from the counter probes, except flows and workers, which the
 * traffic engine fills in.
 */
#ifndef ND_CORE_COUNTERS_H
#define ND_CORE_COUNTERS_H

#include "src/core/fields.h"

/* COUNTER: the window's length after a difference */
struct clock_sample { struct nd_u64 monotonic_ns; };

struct cpu_sample {		/* /proc/stat, microseconds */
	struct nd_u64 cpu;	/* key */
	struct nd_u64 user_us, nice_us, system_us, idle_us, iowait_us, irq_us, softirq_us, steal_us;
};

struct softirq_sample {		/* /proc/softirqs: raises, not packets */
	struct nd_u64 cpu;	/* key */
	struct nd_u64 net_rx, net_tx;
};

struct softnet_sample {		/* /proc/net/softnet_stat */
	struct nd_u64 cpu;	/* key */
	struct nd_u64 processed, dropped, time_squeeze, received_rps, flow_limit;
	struct nd_u64 backlog;	/* gauge; newer kernels */
};

struct irq_sample {		/* /proc/interrupts, vectors of NICs only */
	struct nd_u64 irq, cpu;	/* key */
	struct nd_u64 count;
};

struct link_sample {		/* IFLA_STATS64 */
	struct nd_u64 ifindex;	/* key */
	struct nd_u64 rx_bytes, tx_bytes, rx_packets, tx_packets, rx_dropped, tx_dropped,
		      rx_errors, tx_errors, rx_missed_errors, rx_over_errors, rx_fifo_errors,
		      rx_crc_errors, rx_frame_errors, rx_length_errors, tx_fifo_errors,
		      tx_carrier_errors, tx_window_errors, collisions, carrier_changes;
};

struct nic_sample {		/* ETHTOOL_GSTATS: the driver's own names */
	struct nd_u64 ifindex;	/* key */
	struct nd_str name;	/* key: trimmed; "[n]" appended when a driver repeats a name */
	struct nd_u64 value;
};

struct qdisc_sample {		/* TCA_STATS2 */
	struct nd_u64 ifindex;	/* key */
	struct nd_u64 handle, parent;	/* key */
	struct nd_bool is_class;	/* key */
	struct nd_u64 bytes, packets, drops, overlimits, requeues;
	struct nd_u64 backlog_bytes;	/* gauge */
};

struct mib_sample {		/* /proc/net/snmp, snmp6, netstat */
	struct nd_str name;	/* key: "TcpRetransSegs", "TcpExtTCPTimeouts", "UdpRcvbufErrors" */
	struct nd_u64 value;
};

struct cgroup_sample {
	struct nd_str path;	/* key */
	struct nd_u64 periods, throttled, throttled_us;
};

/* Link state while traffic flows: idle links may rest at a lower speed. */
struct pci_sample {
	struct nd_str address;	/* key */
	struct nd_u64 speed_mtps, width;	/* FIELD_MAX */
	struct nd_u64 aer_correctable, aer_nonfatal, aer_fatal;
};

struct freq_sample {		/* scaling_cur_freq under load */
	struct nd_u64 cpu;	/* key */
	struct nd_u64 current_khz;	/* FIELD_MAX */
	struct nd_u64 throttle_us;	/* thermal_throttle/core_throttle_total_time_ms */
};

/*
 * One data connection, from this end.  tcp_info members that the kernel is too old for
 * are ND_NOT_SUPPORTED.
 */
struct flow_sample {
	struct nd_u64 flow;		/* key: 0-based, the same on both ends */
	struct nd_str direction;	/* "send" or "receive", from this end */
	struct nd_u64 local_port, peer_port;
	struct nd_u64 bytes;		/* COUNTER: by the application, sent or received */
	struct nd_u64 calls;		/* COUNTER: send or receive calls that moved data */
	struct nd_u64 blocked_us;	/* COUNTER: time it was not writable (readable) while we
					   wanted it to be */
	/* COUNTERs of MSG_ZEROCOPY: sends, and those of which the kernel made a copy after all */
	struct nd_u64 zerocopy_sends, zerocopy_copied;
	/* TCP_INFO */
	struct nd_u64 retransmits, bytes_sent, bytes_retransmitted, dsack_dups, reorder_seen,
		      segments_out, segments_in, delivered, delivered_ce, busy_us, rwnd_limited_us,
		      sndbuf_limited_us, timeouts;				/* COUNTERs */
	struct nd_u64 rtt_us, rttvar_us, min_rtt_us, cwnd, ssthresh, snd_mss, rcv_mss, advmss, pmtu,
		      snd_wnd_bytes, rcv_wnd_bytes, unacked, notsent_bytes, pacing_bps,
		      delivery_bps, snd_wscale, rcv_wscale, ca_state, reordering;	/* gauges */
	struct nd_bool app_limited, option_wscale, option_sack, option_timestamps;
	struct nd_str congestion_control;
	/* SO_MEMINFO and queues: gauges */
	struct nd_u64 rcvbuf_bytes, sndbuf_bytes, rmem_bytes, wmem_bytes, receive_queue_bytes;
	struct nd_u64 max_pacing_bps;
	struct nd_u64 incoming_cpu, incoming_napi;
	/* UDP.  Lost: skipped - out_of_order, below 0 where what was skipped before came now. */
	struct nd_u64 packets, skipped, out_of_order, duplicates, socket_drops;	/* COUNTERs */
	struct nd_u64 jitter_us, udp_gso_segments;				/* gauges */
	struct nd_bool udp_gro;
};

struct worker_sample {		/* one traffic thread */
	struct nd_u64 worker;	/* key */
	struct nd_u64 thread_id, flows, cpu;	/* cpu: where it last ran */
	struct nd_cpus allowed;
	/* COUNTERs; run_delay: schedstat, waiting for a CPU */
	struct nd_u64 user_us, system_us, run_delay_us;
	struct nd_u64 cpu_us;			/* COUNTER: CLOCK_THREAD_CPUTIME_ID, exact */
	struct nd_u64 voluntary_switches, involuntary_switches;
};

struct counters {
	struct arena *mem;
	struct clock_sample clock;
	struct cpu_sample *cpus;	size_t ncpus;
	struct softirq_sample *softirqs; size_t nsoftirqs;
	struct softnet_sample *softnet;	size_t nsoftnet;
	struct irq_sample *irqs;	size_t nirqs;
	struct link_sample *links;	size_t nlinks;
	struct nic_sample *nics;	size_t nnics;
	struct qdisc_sample *qdiscs;	size_t nqdiscs;
	struct mib_sample *mibs;	size_t nmibs;
	struct cgroup_sample *cgroups;	size_t ncgroups;
	struct pci_sample *pci;		size_t npci;
	struct freq_sample *freqs;	size_t nfreqs;
	struct flow_sample *flows;	size_t nflows;
	struct worker_sample *workers;	size_t nworkers;
};

extern const struct schema counters_schema;
extern const struct field flow_fields[];	/* also describe a flow in a report */
extern const size_t flow_nfields;

struct counters *counters_new(size_t limit_bytes);
void counters_free(struct counters *c);
/* New counters = later - earlier; NULL when out of memory.  Copies strings: outlives both. */
struct counters *counters_difference(const struct counters *earlier, const struct counters *later);

const struct link_sample *counters_link(const struct counters *c, uint64_t ifindex);
const struct qdisc_sample *counters_qdisc(const struct counters *c, uint64_t ifindex,
					  uint64_t handle, uint64_t parent, bool is_class);
const struct cpu_sample *counters_cpu(const struct counters *c, uint64_t cpu);
const struct softnet_sample *counters_softnet(const struct counters *c, uint64_t cpu);
const struct pci_sample *counters_pci(const struct counters *c, const char *address);
struct nd_u64 counters_mib(const struct counters *c, const char *name);
struct nd_u64 counters_nic(const struct counters *c, uint64_t ifindex, const char *name);

#endif

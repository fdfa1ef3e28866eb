/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every threshold of the rules, with its source.  What counts as "saturated"
 * or "binding" is shared with the ladder and lives in src/model/limits.h.
 *
 * Shares are 0..1, rates bit/s, "per second" are differences over the window.
 */
#ifndef ND_RULES_THRESHOLDS_H
#define ND_RULES_THRESHOLDS_H

#include "src/model/limits.h"

/* ---- PCIe: the model is good to 3 %, its slack is in the interval already ---- */
#define PCIE_LIMIT_REACHED 0.90		/* of the interval's low end */
#define PCIE_MPS_LIMIT_REACHED 0.85	/* MPS 128 against 256 differ by 11 % */
#define PCIE_SHARED_LIMIT_REACHED 0.85	/* siblings' and our traffic together */
#define PCIE_AER_PER_SECOND 10.0	/* corrected errors cost a replay each */
#define PCIE_STALLED_SHARE 0.30		/* mlx5 counts an "event" above this */
#define PCIE_MRRS_SMALL_BYTES 512

/* ---- link and PHY ---- */
#define LINK_WIRE_REACHED 0.93
#define LINK_HALF_DUPLEX_YIELD 0.50	/* of the line rate, at best, with traffic both ways */
#define LINK_FLAPS_IN_WINDOW 1
#define PHY_FCS_SHARE 1e-7		/* of received packets: 10x what copper is allowed */
#define PHY_FCS_MIN 3

/* ---- MTU and MSS ---- */
#define MTU_PATH_LOWER_BYTES 20
#define MTU_BLACKHOLE_BPS 2e6		/* less arrives; the planner then tries small segments */
#define MTU_BLACKHOLE_GAIN 3.0		/* small segments against full ones */
#define MSS_CLAMPED_SHARE 0.90		/* of what the path MTU allows */
#define MTU_JUMBO_CORE_BUSY 0.90
#define FRAGMENTS_SHARE 0.01

/* ---- queues, RSS, interrupts ---- */
#define RSS_HOT_SOFTIRQ 0.80		/* of the hot core, in softirq */
#define RSS_IMBALANCE 2.0		/* busiest queue against the mean */
#define RSS_IDLE_CORE 0.50
#define RSS_QUEUES_MAX 16		/* more queues than this rarely help one host pair */
#define IRQ_STACKED_VECTORS 2
#define IRQ_STACKED_CORE_BUSY 0.85
#define IRQ_STACKED_SOFTIRQ 0.25	/* of that core: less is not what fills it */
#define IRQ_IDLE_CORE 0.50
#define IRQ_ACTIVE_SHARE 0.05		/* of all the NIC's interrupts: this vector works for us */
#define IRQ_STORM_PER_SECOND 50000.0
#define IRQ_STORM_RX_USECS 5
#define RPS_HOT_SOFTIRQ 0.85

/* ---- CPU ---- */
#define CPU_SOFTIRQ_SHARE 0.60		/* of the hot core */
#define CPU_SOFTIRQ_STEAL 0.05		/* more: the hypervisor is the reason */
#define CPU_APP_IDLE 0.5		/* cores: a thread more could use them */
#define CPU_SINGLE_FLOW_RATIO 1.5	/* N streams against one */
#define CPU_GOVERNOR_FREQ_SHARE 0.80	/* current against the hardware's maximum */
#define CPU_GOVERNOR_CORE_BUSY 0.85
#define CPU_STEAL_SHARE 0.03
#define CPU_THROTTLED_SHARE 0.01	/* of the window, by a cgroup */
#define CPU_AFFINITY_BUSY 0.90
#define CPU_AFFINITY_OTHERS_IDLE 0.50
#define CPU_CONTENTION_WAIT 0.10	/* of the window, a worker waited for a CPU */
#define CPU_CONTENTION_FOREIGN 0.15	/* of the CPUs' time, by others */
#define CPU_CONTENTION_FOREIGN_WAITING 0.10	/* the same when our threads were seen waiting */
#define CPU_THERMAL_SHARE 0.01
#define CPU_RECEIVE_QUEUE_FULL 0.60	/* unread bytes / rcvbuf: the reader is behind */
#define CPU_NOTSENT_EMPTY 0.80		/* of the samples: the sender cannot fill its queue */

/* ---- offloads ---- */
#define OFFLOAD_SENDER_CORE_BUSY 0.80
#define OFFLOAD_RECEIVER_CORE_BUSY 0.85
#define OFFLOAD_RECEIVER_SOFTIRQ 0.50
/* Received packets this much above the MTU (on average) came as aggregates. */
#define OFFLOAD_WHOLE_PACKETS 2.0
#define OFFLOAD_AGGREGATE_BYTES 65536.0	/* what IPv4 and older kernels allow */
/* Half the segment size: CPU time a byte at least, and rate at most, when packets are the cost. */
#define OFFLOAD_EXPERIMENT_COST 1.15
#define OFFLOAD_EXPERIMENT_RATE 0.95
#define OFFLOAD_EXPERIMENT_ERROR 0.05	/* two windows of a few seconds, ticks of 4 ms */
/* Factors seen when the offload came back (veth, one flow; NICs vary): low and high. */
#define OFFLOAD_TSO_GAIN_LOW 3.0
#define OFFLOAD_TSO_GAIN_HIGH 8.0
#define OFFLOAD_GSO_GAIN_LOW 1.3
#define OFFLOAD_GSO_GAIN_HIGH 2.0
#define OFFLOAD_GRO_FEW 8.0		/* packets merged at least, at rates that fill a core */
#define OFFLOAD_GRO_GAIN_LOW 1.8
#define OFFLOAD_GRO_GAIN_HIGH 4.0

/* ---- rings and softnet ---- */
#define RING_DROP_SHARE 1e-6		/* of received packets */
#define RING_CORE_FULL 0.95		/* the core, not the ring, is too slow */
#define DROPS_LEFT 0.10			/* of the drops, with a larger ring or queue */
#define RING_GROWTH 4			/* suggest this many times the ring, up to its maximum */
#define RING_SMALL_ENTRIES 256
#define RING_SMALL_FROM_BPS 10e9
#define RING_SMALL_SUGGEST 1024
#define RING_FRAME_BITS 12304.0		/* of a full frame with preamble and gap, MTU 1500 */
#define SQUEEZE_PER_SECOND 100.0
#define SQUEEZE_CORE_BUSY 0.85
#define SQUEEZE_GAIN 1.05		/* at best */
#define BACKLOG_LEAST 4096
#define BACKLOG_MOST 250000		/* as ESnet suggests for 100G; each packet costs memory */

/* ---- UDP ---- */
#define UDP_LOSS_SHARE 0.01	/* of the datagrams sent */
#define UDP_READER_WAITS 0.05		/* of its time: then it keeps up, and only comes late */
#define UDP_RMEM_MAX_WANTED 8388608	/* what our sockets ask for, if they may */

/* ---- pause ---- */
#define PAUSE_PER_SECOND 100.0
#define PAUSE_SHARE 0.02		/* of the window */

/* ---- TCP windows: fractions of the samples or of the window ---- */
#define TCP_RWND_LIMITED 0.20
#define TCP_RWND_LIMITED_BBR 0.05	/* bbr tests its pacing first: under-counts */
#define TCP_WINDOW_FILL 0.85
#define TCP_READER_IDLE_QUEUE 0.50	/* unread bytes / rcvbuf below this: the reader keeps up */
#define TCP_RATE_MATCHES 0.15		/* |T - window * 8 / srtt| */
#define TCP_SNDBUF_APP_LIMITED 0.80
#define TCP_SNDBUF_FILL 0.67		/* the writer is woken when a third is free */
#define TCP_SNDBUF_BLOCKED 0.30
#define TCP_SNDBUF_CPU 0.80		/* a busier writer is CPU-bound, not buffer-bound */
#define TCP_STATIC_RTT_US 1000.0	/* shorter round trips fit the defaults at any speed */
#define TCP_STATIC_WINDOW_SHARE 0.90	/* window ceiling against wire and PCIe */
#define TCP_NO_WSCALE_MATCH 1.10	/* T against 65535 * 8 / RTT */
#define TCP_BUFFER_MAX_BYTES 268435456.0	/* no suggestion above 256 MiB a socket */
#define TCP_SNDBUF_FACTOR 2.7		/* x BDP: 2 / 0.75, bytes are counted with overhead */
#define TCP_TIMEOUTS_MIN 1
#define TCP_LINK_FULL 0.97		/* of a wire's or limit's goodput: nothing left to win */
#define TCP_BUFFER_GROWN 0.90		/* of its maximum: autotuning would have gone on */
#define TCP_FLOWS_AT_LIMIT 0.50		/* of the flows, with their buffer at its maximum */
#define TCP_WHOLE_READ 0.80		/* of our block: more was waiting than one read took */
#define TCP_CUT_WRITE 0.75		/* of our block: most writes found the buffer full */
#define TCP_QUEUED_RTT 2.5		/* x the shortest: a queue on the way made the rest */
/* Four aggregates of segmentation offload: with less, one end waits while the other works. */
#define TCP_TINY_BYTES 262144.0
/* The kernel's own maxima (before 6.16 for tcp_rmem) and initial sizes. */
#define TCP_RMEM_MAX_DEFAULT 6291456.0
#define TCP_WMEM_MAX_DEFAULT 4194304.0
#define TCP_RMEM_INITIAL 131072.0
#define TCP_WMEM_INITIAL 16384.0
#define TCP_RCVBUF_FACTOR 4.0		/* x BDP: half of it becomes window; the same in reserve */

/* ---- congestion control, loss, shaping ---- */
#define CC_LOSS_MATCH_LOW 0.5		/* T against the formula */
#define CC_LOSS_MATCH_HIGH 2.0
#define CC_CWND_FILL 0.80
#define CC_UNSENT_EMPTY 0.60		/* of the samples at most: else the writer is slow */
#define CC_APP_LIMITED 0.30		/* of the samples at most */
#define CC_TIMEOUT_SHARE 0.20		/* of the flows' time */
#define CC_TIMEOUT_LEAST_S 0.2		/* TCP_RTO_MIN: each timeout waits at least so long */
#define CC_BBR_RTT_US 1000.0		/* below: a LAN, where pacing costs more than it wins */
#define CC_BBR_CORE_BUSY 0.90
#define CC_BBR_GAIN 1.3			/* cubic against bbr in the experiment */
#define CC_BBR_GAIN_MOST 4.0		/* seen between namespaces: 65 against 15.5 Gbit/s */
#define CC_BBR_REPEATS REPEATS_WITHIN
#define LOSS_LOCAL_SHARE 0.50		/* of the retransmitted segments */
#define LOSS_PATH_SHARE 0.10
#define REORDER_SHARE 1e-4
#define SPURIOUS_SHARE 0.50
#define ECN_SHARE 0.01
#define QDISC_RATE_MATCH 0.07		/* T against rate * payload / layer-2 bytes */
/* With its queue full a limiter on a busy CPU still loses this much of its rate to late timers. */
#define QDISC_LATE_TIMERS 0.20
#define QDISC_LATE_TIMERS_FULL 0.50
#define QDISC_DROP_SHARE 1e-5
#define QDISC_QUEUE_MAX 40000		/* packets; longer ones only add delay */

/* ---- the test itself ---- */
#define TOOL_CROSS_TRAFFIC_SHARE 0.05	/* of the line rate (or of the measured rate) */
#define TOOL_CROSS_TRAFFIC_FULL 0.90	/* of the line rate, theirs and ours: it costs us */
#define TOOL_SAMPLING_ERROR 0.10	/* of the window's length, or of its samples */
#define TOOL_UNSTABLE_CV 0.10
#define PATH_ASYMMETRY 1.3

#endif

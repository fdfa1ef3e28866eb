/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/exam.h"

/*
 * In a run, counters are differences over its window.  FIELD_COUNTER here only
 * makes them decimal strings in JSON; nothing subtracts them again.
 */

#define FLOW(member_, kind_, unit_, flags_, help_) \
	FIELD(struct flow_summary, member_, kind_, unit_, flags_, help_)

const struct field flow_summary_fields[] = {
	FLOW(flow, U64, NONE, FIELD_KEY, "Number of the flow from 0, the same on both ends."),
	FLOW(direction, STR, NONE, 0, "What this end does: send or receive."),
	FLOW(local_port, U64, NONE, 0, "TCP or UDP port at this end."),
	FLOW(peer_port, U64, NONE, 0, "TCP or UDP port at the other end."),
	FLOW(bytes, U64, BYTES, FIELD_COUNTER,
	     "Bytes the application at this end sent or received."),
	FLOW(goodput_bps, U64, BITS_PER_SECOND, 0, "bytes * 8 / length of the window."),
	FLOW(calls, U64, COUNT, FIELD_COUNTER, "Send or receive calls that moved data."),
	FLOW(zerocopy_sends, U64, COUNT, FIELD_COUNTER, "Send calls with MSG_ZEROCOPY."),
	FLOW(zerocopy_copied, U64, COUNT, FIELD_COUNTER,
	     "Of those, the ones that the kernel copied after all (SO_EE_CODE_ZEROCOPY_COPIED)."),
	FLOW(retransmits, U64, PACKETS, FIELD_COUNTER,
	     "Segments sent again (tcpi_total_retrans)."),
	FLOW(bytes_sent, U64, BYTES, FIELD_COUNTER,
	     "Payload bytes sent, retransmissions included (tcpi_bytes_sent, Linux 4.19)."),
	FLOW(bytes_retransmitted, U64, BYTES, FIELD_COUNTER,
	     "Payload bytes sent again (tcpi_bytes_retrans, Linux 4.19)."),
	FLOW(dsack_dups, U64, PACKETS, FIELD_COUNTER,
	     "Segments the receiver had twice, so sent again for nothing (tcpi_dsack_dups)."),
	FLOW(reorder_seen, U64, COUNT, FIELD_COUNTER,
	     "Reordering events seen by the sender (tcpi_reord_seen)."),
	FLOW(timeouts, U64, COUNT, FIELD_COUNTER,
	     "Retransmission timeouts (tcpi_total_rto, Linux 6.7)."),
	FLOW(segments_out, U64, PACKETS, FIELD_COUNTER, "Segments sent (tcpi_segs_out)."),
	FLOW(segments_in, U64, PACKETS, FIELD_COUNTER, "Segments received (tcpi_segs_in)."),
	FLOW(delivered_ce, U64, PACKETS, FIELD_COUNTER,
	     "Segments delivered with a congestion mark (tcpi_delivered_ce)."),
	FLOW(blocked_share, F64, SHARE, 0,
	     "Part of the window the thread waited for the socket to become writable or readable."),
	FLOW(busy_share, F64, SHARE, 0,
	     "Part of the window with data in the send queue (tcpi_busy_time)."),
	FLOW(rwnd_limited_share, F64, SHARE, 0,
	     "Part of the window held up by the receiver's window (tcpi_rwnd_limited)."),
	FLOW(sndbuf_limited_share, F64, SHARE, 0,
	     "Part of the window held up by the send buffer (tcpi_sndbuf_limited)."),
	FLOW(app_limited_share, F64, SHARE, 0,
	     "Part of the samples with too little to send (tcpi_delivery_rate_app_limited)."),
	FLOW(notsent_empty_share, F64, SHARE, 0,
	     "Part of the samples with nothing unsent in the send queue (tcpi_notsent_bytes 0)."),
	FLOW(recovery_share, F64, SHARE, 0,
	     "Part of the samples in loss recovery (tcpi_ca_state Recovery or Loss)."),
	FLOW(rtt_us, F64, MICROSECONDS, 0,
	     "Smoothed round trip time, mean of the samples (tcpi_rtt)."),
	FLOW(cwnd, F64, PACKETS, 0, "Congestion window, mean of the samples (tcpi_snd_cwnd)."),
	FLOW(inflight_bytes, F64, BYTES, 0,
	     "Unacknowledged bytes: unacked * snd_mss, mean of the samples."),
	FLOW(notsent_bytes, F64, BYTES, 0,
	     "Bytes queued but not yet sent, mean (tcpi_notsent_bytes)."),
	FLOW(snd_wnd_bytes, F64, BYTES, 0,
	     "Window offered by the other end, mean (tcpi_snd_wnd, Linux 5.4)."),
	FLOW(rcv_wnd_bytes, F64, BYTES, 0, "Window we offer, mean (tcpi_rcv_wnd, Linux 6.2)."),
	FLOW(window_fill, F64, SHARE, 0,
	     "Mean of (inflight + one MSS) / snd_wnd: at 1 the window of the receiver binds."),
	FLOW(cwnd_fill, F64, SHARE, 0,
	     "Mean of unacked / cwnd: near 1 the congestion window binds."),
	FLOW(send_queue_fill, F64, SHARE, 0,
	     "Mean of wmem / sndbuf (SO_MEMINFO): near 1 the send buffer binds."),
	FLOW(receive_queue_fill, F64, SHARE, 0,
	     "Mean of unread bytes / rcvbuf: near 1 the application reads too slowly."),
	FLOW(receive_queue_bytes, F64, BYTES, 0,
	     "Unread bytes in the receive queue, mean (SIOCINQ)."),
	FLOW(rtt_max_us, U64, MICROSECONDS, 0,
	     "Largest smoothed round trip time of the samples (tcpi_rtt)."),
	FLOW(cwnd_max_bytes, U64, BYTES, 0,
	     "Largest congestion window of the samples: snd_cwnd * snd_mss."),
	FLOW(min_rtt_us, U64, MICROSECONDS, 0, "Lowest round trip time (tcpi_min_rtt)."),
	FLOW(snd_mss, U64, BYTES, 0, "Segment size we send (tcpi_snd_mss)."),
	FLOW(rcv_mss, U64, BYTES, 0, "Segment size we seem to receive (tcpi_rcv_mss)."),
	FLOW(pmtu, U64, BYTES, 0, "Path MTU of the socket (tcpi_pmtu)."),
	FLOW(snd_wnd_max_bytes, U64, BYTES, 0, "Largest window offered by the other end."),
	FLOW(rcvbuf_bytes, U64, BYTES, 0,
	     "Receive buffer at the end of the window (SK_MEMINFO_RCVBUF)."),
	FLOW(sndbuf_bytes, U64, BYTES, 0,
	     "Send buffer at the end of the window (SK_MEMINFO_SNDBUF)."),
	FLOW(snd_wscale, U64, NONE, 0, "Window scale of the other end (tcpi_snd_wscale)."),
	FLOW(rcv_wscale, U64, NONE, 0, "Our window scale (tcpi_rcv_wscale)."),
	FLOW(ssthresh, U64, PACKETS, 0, "Slow start threshold (tcpi_snd_ssthresh)."),
	FLOW(pacing_bps, U64, BITS_PER_SECOND, 0,
	     "Pacing rate the kernel uses (tcpi_pacing_rate)."),
	FLOW(max_pacing_bps, U64, BITS_PER_SECOND, 0,
	     "Cap on the pacing rate (SO_MAX_PACING_RATE); not applicable: none."),
	FLOW(reordering, U64, PACKETS, 0, "Reordering distance TCP tolerates (tcpi_reordering)."),
	FLOW(option_wscale, BOOL, NONE, 0, "Window scaling was negotiated (TCPI_OPT_WSCALE)."),
	FLOW(option_sack, BOOL, NONE, 0,
	     "Selective acknowledgements were negotiated (TCPI_OPT_SACK)."),
	FLOW(option_timestamps, BOOL, NONE, 0, "Timestamps were negotiated (TCPI_OPT_TIMESTAMPS)."),
	FLOW(congestion_control, STR, NONE, 0,
	     "Congestion control of the socket (TCP_CONGESTION)."),
	FLOW(incoming_cpu, U64, NONE, 0,
	     "CPU that last processed a packet of the flow (SO_INCOMING_CPU)."),
	FLOW(incoming_napi, U64, NONE, 0,
	     "NAPI instance that received the flow (SO_INCOMING_NAPI_ID)."),
	FLOW(rx_queue, U64, NONE, 0, "Receive queue that this instance serves (Linux 6.8)."),
	FLOW(irq, U64, NONE, 0, "Interrupt that wakes it (Linux 6.8)."),
	FLOW(irq_cpu, U64, NONE, 0,
	     "CPU that this interrupt goes to; not applicable: to several."),
	FLOW(packets, U64, PACKETS, FIELD_COUNTER,
	     "UDP: datagrams sent, or taken in by the application, each once."),
	FLOW(lost, U64, PACKETS, FIELD_COUNTER, "UDP: datagrams that never came."),
	FLOW(out_of_order, U64, PACKETS, FIELD_COUNTER,
	     "UDP: datagrams that came after later ones."),
	FLOW(duplicates, U64, PACKETS, FIELD_COUNTER, "UDP: datagrams that came again."),
	FLOW(socket_drops, U64, PACKETS, FIELD_COUNTER,
	     "UDP: packets lost for want of room in the receive buffer (SK_MEMINFO_DROPS)."),
	FLOW(jitter_us, F64, MICROSECONDS, 0,
	     "UDP: variation of the transit time (RFC 3550 6.4.1), mean of the samples."),
	FLOW(udp_gso_segments, U64, PACKETS, 0,
	     "Datagrams handed over as one message (UDP_SEGMENT); 1: not wanted or refused."),
	FLOW(udp_gro, BOOL, NONE, 0, "The kernel may merge received datagrams (UDP_GRO)."),
	FLOW(samples, U64, COUNT, 0, "Samples the means were taken from."),
};
const size_t flow_summary_nfields = ARRAY_SIZE(flow_summary_fields);

#define PATH(member_, kind_, unit_, flags_, help_) \
	FIELD(struct path_facts, member_, kind_, unit_, flags_, help_)

const struct field path_fields[] = {
	PATH(local_address, STR, NONE, FIELD_PRIVATE, "Our numeric address in the session."),
	PATH(peer_address, STR, NONE, FIELD_PRIVATE, "The peer's numeric address in the session."),
	PATH(idle_rtt_us, U64, MICROSECONDS, 0,
	     "Round trip time before any traffic: tcpi_min_rtt of the session's socket."),
	PATH(same_machine, BOOL, NONE, 0,
	     "Both ends have the same boot id: they share the CPUs."),
	PATH(loopback, BOOL, NONE, 0, "The route to the peer leaves by the loopback device."),
	PATH(peer_program, STR, NONE, 0,
	     "What runs at the other end: netdoctor, or iperf3, which tells nothing of its host."),
};
const size_t path_nfields = ARRAY_SIZE(path_fields);

#define WISH(member_, help_) \
	FIELD(struct exam_wishes, member_, U64, BITS_PER_SECOND, 0, help_)

const struct field wishes_fields[] = {
	WISH(target_bps, "Rate the user asked for (--target)."),
	WISH(link_speed_bps, "Line rate the user gave for links that do not tell (--link-speed)."),
};
const size_t wishes_nfields = ARRAY_SIZE(wishes_fields);

#define CORE(member_, help_) FIELD(struct core_load, member_, F64, SHARE, 0, help_)

const struct field core_load_fields[] = {
	FIELD(struct core_load, cpu, U64, NONE, FIELD_KEY, "Number of the CPU."),
	CORE(busy, "Everything but idle and iowait; steal included."),
	CORE(user, "User space, nice included."),
	CORE(system, "Kernel, on behalf of threads."),
	CORE(softirq, "Kernel, softirqs: most of receiving."),
	CORE(irq, "Hardware interrupts."),
	CORE(steal, "Taken by the hypervisor for others."),
};
const size_t core_load_nfields = ARRAY_SIZE(core_load_fields);

#define INTERVAL(member_, kind_, unit_, flags_, help_) \
	FIELD(struct end_interval, member_, kind_, unit_, flags_, help_)

const struct field end_interval_fields[] = {
	INTERVAL(start_s, F64, SECONDS, 0, "Start, from the start of the window."),
	INTERVAL(seconds, F64, SECONDS, 0, "Length."),
	INTERVAL(bytes, U64, BYTES, FIELD_COUNTER, "By the application at this end, all flows."),
	INTERVAL(received_bytes, U64, BYTES, FIELD_COUNTER,
		 "Of bytes: those of the flows that this end receives."),
	INTERVAL(retransmits, U64, PACKETS, FIELD_COUNTER,
		 "Segments this end sent again, all flows."),
	INTERVAL(packets, U64, PACKETS, FIELD_COUNTER, "UDP: datagrams taken in, all flows."),
	INTERVAL(lost, U64, PACKETS, FIELD_COUNTER,
		 "UDP: datagrams found missing, less those that came late, all flows."),
	INTERVAL(throttled_us, U64, MICROSECONDS, FIELD_COUNTER,
		 "Time our cgroup was throttled, all levels (cpu.stat)."),
	INTERVAL(link_rx_bytes, U64, BYTES, FIELD_COUNTER,
		 "Received by the egress link (IFLA_STATS64)."),
	INTERVAL(link_tx_bytes, U64, BYTES, FIELD_COUNTER,
		 "Sent by the egress link (IFLA_STATS64)."),
};
const size_t end_interval_nfields = ARRAY_SIZE(end_interval_fields);

const struct field run_end_fields[] = {
	FIELD(struct run_end, window_ns, U64, NANOSECONDS, 0, "Length of the window at this end."),
	FIELD(struct run_end, marked_ns, U64, NANOSECONDS, 0,
	      "UDP between two netdoctors: datagrams are counted by the mark that those of the "
	      "sender's window carry, and this end sent its own for so long."),
	FIELD(struct run_end, bytes, U64, BYTES, FIELD_COUNTER,
	      "Application bytes of this end in the window."),
	FIELD(struct run_end, broken_flows, U64, COUNT, 0, "Flows that ended early."),
	FIELD(struct run_end, process_cores, F64, NONE, 0,
	      "CPU time of all threads of an iperf3 at this end / window: 1.7 is 1.7 cores."),
	FIELD(struct run_end, process_user_cores, F64, NONE, 0,
	      "Of process_cores, what the program itself took."),
	FIELD(struct run_end, process_system_cores, F64, NONE, 0,
	      "Of process_cores, what the kernel took for it."),
	FIELD(struct run_end, placement, STR, NONE, 0,
	      "What the CPUs of the workers were chosen by: asked (by the user) or by-nic. They "
	      "ran anywhere: no-nic (none on the path), no-room (too few cores serve no queue of "
	      "it), "
	      "same-machine (both ends would take the same), unknown."),
	FIELD(struct run_end, held_up_us, U64, MICROSECONDS, 0,
	      "Longest time that kept the sampling thread from running: this end did not get a "
	      "CPU, or its machine stood still."),
	FIELD(struct run_end, suspended_us, U64, MICROSECONDS, 0,
	      "Time the machine was suspended: CLOCK_BOOTTIME gained on CLOCK_MONOTONIC."),
	FIELD(struct run_end, problem, STR, NONE, 0, "Why this end is incomplete."),
};
const size_t run_end_nfields = ARRAY_SIZE(run_end_fields);

const struct field placed_worker_fields[] = {
	FIELD(struct placed_worker, worker, U64, NONE, FIELD_KEY, "Number of the worker from 0."),
	FIELD(struct placed_worker, cpu, U64, NONE, 0, "The only CPU it may run on."),
	FIELD(struct placed_worker, reason, STR, NONE, 0,
	      "asked; on the NIC's node: own-core (serves none of its queues), smt-sibling (of "
	      "such a core, which has a worker already), serves-queues (all others were taken)."),
};
const size_t placed_worker_nfields = ARRAY_SIZE(placed_worker_fields);

#define LATENCY(member_, kind_, unit_, help_) FIELD(struct latency, member_, kind_, unit_, 0, help_)

const struct field latency_fields[] = {
	LATENCY(samples, U64, COUNT, "Requests that were answered."),
	LATENCY(unanswered, U64, COUNT, "Requests that were not, until it was over."),
	LATENCY(min_us, F64, MICROSECONDS, "Quickest round trip."),
	LATENCY(p50_us, F64, MICROSECONDS, "Half of the round trips were no longer."),
	LATENCY(p90_us, F64, MICROSECONDS, "90 % were no longer."),
	LATENCY(p99_us, F64, MICROSECONDS, "99 % were no longer."),
	LATENCY(p999_us, F64, MICROSECONDS, "99.9 % were no longer."),
	LATENCY(max_us, F64, MICROSECONDS, "Slowest round trip."),
};
const size_t latency_nfields = ARRAY_SIZE(latency_fields);

const struct field run_fields[] = {
	FIELD(struct run, id, STR, NONE, FIELD_KEY, "Number, direction and purpose."),
	FIELD(struct run, problem, STR, NONE, 0, "Why the run is not complete."),
	FIELD(struct run, seconds, F64, SECONDS, 0,
	      "Length of the measured window at the receiver."),
	FIELD(struct run, goodput_bps, U64, BITS_PER_SECOND, 0,
	      "What the receiver's application took in."),
	FIELD(struct run, retransmits, U64, PACKETS, FIELD_COUNTER,
	      "Segments the sender sent again in the window."),
	FIELD(struct run, loss, F64, SHARE, 0,
	      "TCP: (bytes_retransmitted - duplicates the receiver reported) / bytes_sent; "
	      "UDP: lost / (packets + lost) of the receiver."),
	FIELD(struct run, other_goodput_bps, U64, BITS_PER_SECOND, 0,
	      "Of a bidirectional run: what the application took in of the other direction."),
	FIELD(struct run, stood_still_us, U64, MICROSECONDS, 0,
	      "The longest pause of an end (held_up_us, suspended_us), when it is so long a part "
	      "of the window that the rate says nothing; else 0."),
};
const size_t run_nfields = ARRAY_SIZE(run_fields);

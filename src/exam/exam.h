/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exam: everything examined.  Both hosts' facts, the path between them, and
 * every traffic run with what both ends saw while it flowed.
 *
 * Built by src/exam (conduct.c live, exam_json.c from a report) in one arena;
 * const to rules, reports and screens.  The peer's side may be missing as a
 * whole (facts NULL, run ends with .present false): one-ended.
 */
#ifndef ND_EXAM_EXAM_H
#define ND_EXAM_EXAM_H

#include "src/core/counters.h"
#include "src/core/facts.h"
#include "src/load/load.h"

enum side { SIDE_LOCAL, SIDE_PEER, SIDE_PATH, SIDE_BOTH };
#define EXAM_ENDS 2	/* SIDE_LOCAL, SIDE_PEER */

/* What from_json accepts; more is -E2BIG. */
enum exam_limits {
	EXAM_MAX_RUNS = 64,
	EXAM_MAX_INTERVALS = 4096,	/* per end and run */
	EXAM_MAX_CORES = ND_MAX_CPUS,	/* per end and run, and per interval */
	EXAM_MAX_INTERVAL_CORES = 512 * 1024	/* sum over an end's intervals */
};

const char *side_word(enum side s);			/* "local", "peer", "path", "both" */
const char *run_direction_word(enum run_direction d);	/* "forward", "reverse" */
/* The same of a run's traffic: "bidir" when it flows both ways. */
const char *run_traffic_word(const struct run_spec *s);
/* The end that sends (receives) in a direction. */
static inline enum side run_sender(enum run_direction d)
{
	return d == RUN_FORWARD ? SIDE_LOCAL : SIDE_PEER;
}
static inline enum side run_receiver(enum run_direction d)
{
	return d == RUN_FORWARD ? SIDE_PEER : SIDE_LOCAL;
}
static inline enum side side_other(enum side s)
{
	return s == SIDE_LOCAL ? SIDE_PEER : SIDE_LOCAL;
}

enum run_purpose {
	RUN_ALL_STREAMS,		/* the measured rate of a direction */
	RUN_ONE_STREAM,			/* per-flow or per-link limit? */
	RUN_OTHER_CONGESTION_CONTROL,	/* same, our sockets on cubic (or reno) */
	RUN_SMALL_SEGMENTS,		/* MSS 1200: do only large packets vanish? */
	RUN_HALF_SEGMENTS,		/* half the MSS: cost per packet or per byte? */
	RUN_DISCARD_RECEIVE,		/* receive without the copy to memory */
	RUN_BOTH_DIRECTIONS,		/* at once: does each reach what it reaches alone? */
	RUN_PURPOSES
};
const char *run_purpose_word(enum run_purpose p);	/* "all-streams", "one-stream", ... */

/* Shares (0..1) of one core's time over a window or an interval. */
struct core_load {
	struct nd_u64 cpu;
	struct nd_f64 busy;	/* everything but idle and iowait; steal included */
	struct nd_f64 user, system, softirq, irq, steal;
};

/* About a tenth of a second at one end. */
struct end_interval {
	struct nd_f64 start_s, seconds;	/* start relative to the window's */
	struct nd_u64 bytes;		/* by the application at this end */
	struct nd_u64 received_bytes;	/* of them those it took in */
	struct nd_u64 retransmits;
	struct nd_u64 packets, lost;	/* UDP; of the flows that this end receives */
	struct nd_u64 throttled_us;	/* cgroup, all levels */
	struct nd_u64 link_rx_bytes, link_tx_bytes;	/* egress link */
	struct core_load *cores;	size_t ncores;
};

/* One flow from one end over the window: counters as differences, gauges as means. */
struct flow_summary {
	struct nd_u64 flow;		/* key */
	struct nd_str direction;	/* "send", "receive" */
	struct nd_u64 local_port, peer_port;
	struct nd_u64 bytes, goodput_bps, calls;
	struct nd_u64 zerocopy_sends, zerocopy_copied;	/* copied: by the kernel, after all */
	struct nd_u64 retransmits, bytes_sent, bytes_retransmitted, dsack_dups, reorder_seen,
		      timeouts, segments_out, segments_in, delivered_ce;
	struct nd_f64 blocked_share;	/* waiting for the socket, of the window */
	/* TCP chronographs; jiffy-grained */
	struct nd_f64 busy_share, rwnd_limited_share, sndbuf_limited_share;
	struct nd_f64 app_limited_share, notsent_empty_share, recovery_share;	/* of the samples */
	struct nd_f64 rtt_us, cwnd, inflight_bytes, notsent_bytes, snd_wnd_bytes, rcv_wnd_bytes;
	struct nd_f64 window_fill;	/* mean of (inflight + one MSS) / snd_wnd, capped at 1 */
	struct nd_f64 cwnd_fill;	/* mean of unacked / cwnd */
	struct nd_f64 send_queue_fill;	/* mean of wmem / sndbuf */
	struct nd_f64 receive_queue_fill;	/* mean of unread bytes / rcvbuf */
	struct nd_f64 receive_queue_bytes;
	struct nd_u64 rtt_max_us, cwnd_max_bytes;	/* of the samples */
	struct nd_u64 min_rtt_us, snd_mss, rcv_mss, pmtu, snd_wnd_max_bytes, rcvbuf_bytes,
		      sndbuf_bytes, snd_wscale, rcv_wscale, ssthresh, pacing_bps, max_pacing_bps,
		      reordering;
	struct nd_bool option_wscale, option_sack, option_timestamps;
	struct nd_str congestion_control;
	struct nd_u64 incoming_cpu, incoming_napi;
	struct nd_u64 rx_queue, irq, irq_cpu;	/* of that NAPI, see flow_find_path() */
	/* UDP; of the receiver but for packets */
	struct nd_u64 packets, lost, out_of_order, duplicates, socket_drops;
	struct nd_f64 jitter_us;
	struct nd_u64 udp_gso_segments;
	struct nd_bool udp_gro;
	struct nd_u64 samples;
};
extern const struct field flow_summary_fields[];
extern const size_t flow_summary_nfields;

/* Where one of an end's workers was put, and why: a word of placement.h. */
struct placed_worker { struct nd_u64 worker, cpu; struct nd_str reason; };
extern const struct field placed_worker_fields[];
extern const size_t placed_worker_nfields;

/* What one end saw in one run. */
struct run_end {
	bool present;
	/* Differences over the window, workers included; flows' rows left out. */
	struct counters *window;
	struct flow_summary *flows;	size_t nflows;
	struct core_load *cores;	size_t ncores;
	struct end_interval *intervals;	size_t nintervals;
	struct nd_u64 window_ns;
	/* Known: datagrams are counted by their marks, and it sent those it counts in this time. */
	struct nd_u64 marked_ns;
	struct nd_u64 bytes;		/* application bytes of this end in the window */
	struct nd_u64 broken_flows;
	struct nd_f64 process_cores;	/* CPU time of all threads / window; of an iperf3 peer */
	struct nd_f64 process_user_cores, process_system_cores;	/* of which */
	struct nd_str placement;	/* by what the workers' CPUs were chosen, or why not */
	struct placed_worker *placed;	size_t nplaced;	/* those tied to a CPU */
	struct nd_u64 held_up_us;	/* longest in which nobody ran the sampling thread */
	struct nd_u64 suspended_us;	/* the machine slept in the window */
	struct nd_str problem;		/* why this end is incomplete */
};

/* Round trips of requests on a connection of their own, queues of our threads not included. */
struct latency {
	struct nd_u64 samples, unanswered;
	struct nd_f64 min_us, p50_us, p90_us, p99_us, p999_us, max_us;
};
extern const struct field latency_fields[];
extern const size_t latency_nfields;

enum run_status { RUN_COMPLETE, RUN_INCOMPLETE, RUN_FAILED };
const char *run_status_word(enum run_status s);

struct run {
	struct nd_str id;		/* "1-forward-all-streams" */
	enum run_purpose purpose;
	enum run_status status;
	struct nd_str problem;		/* when not complete */
	struct run_spec spec;
	struct nd_f64 seconds;		/* in which goodput_bps came: see run_moved_ns() */
	struct nd_u64 goodput_bps;	/* what the receiver's application took in */
	struct nd_u64 retransmits;	/* sender, window */
	/* TCP: (bytes_retransmitted - DSACKed) / bytes_sent; UDP: lost / (received + lost) */
	struct nd_f64 loss;
	/* Bidirectional: what the sender's application took in of the other direction. */
	struct nd_u64 other_goodput_bps;
	/* The longest pause of an end, when it spoils the run's rate; 0: none does. */
	struct nd_u64 stood_still_us;
	struct latency idle, loaded;	/* before an exam's first traffic, and in the window */
	struct run_end ends[EXAM_ENDS];
};

struct path_facts {
	struct nd_str local_address, peer_address;	/* of the session */
	struct nd_u64 idle_rtt_us;	/* of the session's socket before traffic (min_rtt) */
	struct nd_bool same_machine;	/* equal boot ids: both ends share the CPUs */
	struct nd_bool loopback;
	struct nd_str peer_program;	/* "netdoctor", or "iperf3": one-ended */
};
extern const struct field path_fields[];
extern const size_t path_nfields;

struct exam_wishes {			/* what the user said */
	struct nd_u64 target_bps;	/* --target */
	struct nd_u64 link_speed_bps;	/* --link-speed: for links that do not tell */
};

/* exam_fields.c */
extern const struct field wishes_fields[], core_load_fields[], end_interval_fields[],
	run_end_fields[], run_fields[];
extern const size_t wishes_nfields, core_load_nfields, end_interval_nfields, run_end_nfields,
	run_nfields;

struct exam {
	struct arena *mem;
	const struct facts *facts[EXAM_ENDS];	/* owned; NULL: that host was not seen */
	struct path_facts path;
	struct exam_wishes wishes;
	struct run *runs;		size_t nruns;
	struct nd_str problem;		/* what ended the exam early; UNREAD: nothing did */
};

struct exam *exam_new(void);
void exam_free(struct exam *e);		/* with its facts and counters */
/* From the facts: do both ends share a machine, is the path loopback (e->path)? */
void exam_place_ends(struct exam *e);

/* Report JSON, as in docs/schema.  from_json: 0, -EINVAL, -E2BIG, -ENOMEM. */
cJSON *exam_to_json(const struct exam *e);
int exam_from_json(const cJSON *obj, struct exam **out, struct error *err);
/* One end of a run: also the message a peer sends after its part. */
cJSON *run_end_to_json(const struct run_end *e);
int run_end_from_json(const cJSON *obj, struct arena *mem, struct run_end *out, struct error *err);

/* ---- derived quantities (derive.c): pure, used by ladder, rules, reports and screens ---- */

/* An end was not run at all for so long that the rate says nothing of the path. */
bool run_stood_still(const struct run *r);
/*
 * Usable: complete, or incomplete with half a second of window and a receiver's count; but not
 * one that stood still.
 */
bool run_usable(const struct run *r);
/* The latest usable run of a direction with this purpose, NULL: none. */
const struct run *exam_run_for(const struct exam *e, enum run_direction d, enum run_purpose p);
/* The run that measures a direction: its latest usable ALL_STREAMS run. */
const struct run *exam_main_run(const struct exam *e, enum run_direction d);
/* That run; else the other direction's, where it drove both. */
const struct run *exam_driving_run(const struct exam *e, enum run_direction d);
/* The latest whole run with both directions at once that is none of the user's own test. */
const struct run *exam_both_run(const struct exam *e);
/* What a direction reached in a run: of a bidirectional one, its own flows alone. */
struct nd_u64 run_rate(const struct run *r, enum run_direction d);
/*
 * The time over which an end counted what `sender` sent: its own window.  Of datagrams with marks
 * it is the sender's: a receiver that began late has them all, from before its window too.
 */
struct nd_u64 run_moved_ns(const struct run *r, enum side counted, enum side sender);
/*
 * The busiest core of an end that a thread of ours or packets were seen on (should there be none:
 * the busiest of all), NULL when unknown.
 */
const struct core_load *end_hot_core(const struct run_end *e);
struct nd_f64 end_mean_busy(const struct run_end *e);	/* over all cores */
/* Largest share of the window one of our threads was running on a CPU. */
struct nd_f64 end_busiest_worker(const struct run_end *e);
/* Sum over our threads of CPU time / window: 1.7 = 1.7 cores. */
struct nd_f64 end_worker_cores(const struct run_end *e);
/* Largest share of the window one of our threads waited for a CPU (schedstat). */
struct nd_f64 end_worker_wait(const struct run_end *e);
/* How evenly an end was sampled in a run: a thread that gets no CPU is late. */
#define EXAM_SAMPLES_PER_SECOND 10
struct end_sampling {
	double asked_s, window_s;
	double expected;	/* samples in a window of the length asked for */
	size_t samples;
	double error;		/* share that the window is off by, or that samples are missing */
};
/* False: the end was not seen, or no window was asked for.  Without any samples kept (they are
 * left out of some reports) only the window counts. */
bool end_sampling_of(const struct run *r, enum side s, struct end_sampling *out);
/* Means, sums, minima over flows (unknown members are skipped; all unknown: unknown). */
struct nd_f64 end_flow_mean(const struct run_end *e, size_t member_offset);	/* nd_f64 members */
struct nd_u64 end_flow_sum(const struct run_end *e, size_t member_offset);	/* nd_u64 members */
struct nd_u64 end_flow_min(const struct run_end *e, size_t member_offset);	/* nd_u64 members */
#define END_FLOW_MEAN(end_, member_) end_flow_mean((end_), offsetof(struct flow_summary, member_))
#define END_FLOW_SUM(end_, member_) end_flow_sum((end_), offsetof(struct flow_summary, member_))
#define END_FLOW_MIN(end_, member_) end_flow_min((end_), offsetof(struct flow_summary, member_))
/* Congestion control of the flows that tell, NULL: none does. */
const char *end_congestion_control(const struct run_end *e);
/* The link traffic of side s leaves by: egress of its facts; NULL when unknown. */
const struct link_facts *exam_egress(const struct exam *e, enum side s);
/*
 * Fills in rx_queue, irq and irq_cpu from incoming_napi and the facts of its host, or why they
 * are not known.
 */
void flow_find_path(const struct facts *f, struct flow_summary *flow);
/* Round trips of the path before its first traffic; NULL: not measured. */
const struct latency *exam_idle(const struct exam *e);
/* Median round trip in a run / that of the idle path; unknown when either was not measured. */
struct nd_f64 run_latency_growth(const struct exam *e, const struct run *r);
/* Bytes that flows of one kind ("send", "receive") moved at an end; unknown without such flows. */
struct nd_u64 end_bytes_of(const struct run_end *e, const char *direction);
/* The link below it that faces the wire (physical port under a VLAN or bond). */
const struct link_facts *exam_port(const struct exam *e, enum side s);
/* Line rate of a side's port in bit/s: --link-speed, else its speed; unknown with the reason. */
struct nd_f64 exam_line_rate(const struct exam *e, enum side s);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a direction's TCP flows say about their limit: shared by the rules about windows,
 * buffers and congestion control.  Pure; all pointers borrow from the exam.
 */
#ifndef ND_RULES_TCP_H
#define ND_RULES_TCP_H

#include "src/diagnose/rule.h"

/* Means over the flows of the main run of a direction. */
struct tcp_sender {
	bool present;
	const char *congestion_control;	/* NULL: not known */
	bool bbr;
	struct nd_f64 window_fill, cwnd_fill, queue_fill;
	struct nd_f64 rwnd_limited, sndbuf_limited, app_limited, notsent_empty, recovery, blocked;
	struct nd_f64 rtt_us;		/* smoothed, under load */
	struct nd_u64 min_rtt_us;
	double mean_write;		/* bytes a send call moved; 0 not known */
};
struct tcp_receiver {
	bool present;
	struct nd_f64 queue_fill, blocked;
	double mean_read;		/* bytes a receive call moved; 0 not known */
};
struct tcp_sender tcp_sender_of(const struct exam *e, const struct run *run);
struct tcp_receiver tcp_receiver_of(const struct run *run);

/* "runs[1-forward-all-streams].peer.flows[*].window_fill" */
const char *tcp_flow_fact(struct rule_output *out, const struct run *run, enum side s,
			  const char *member);
/* "peer.sysctl.tcp_rmem_max" */
const char *tcp_sysctl_fact(struct rule_output *out, enum side s, const char *member);
/* Evidence of a mean over the flows; nothing when it is unknown. */
void tcp_flow_evidence(struct rule_output *out, struct finding *f, const struct run *run,
		       enum side s, const char *member, struct nd_f64 value, enum unit unit,
		       const char *threshold);
void tcp_sysctl_evidence(struct rule_output *out, struct finding *f, enum side s,
			 const char *member, struct nd_u64 value, enum unit unit,
			 const char *threshold);

/*
 * The wire, PCIe link or rate limit that the direction's rate already fills (NULL: none): then
 * full windows and queues only wait for it.
 */
const struct ceiling *tcp_full_link(const struct rule_input *in);

/* The receiver's window, not the network or our sender, held the data back. */
bool tcp_window_limited(const struct tcp_sender *s);
/*
 * The reader left data lying in its buffer although it could have read more: a larger buffer
 * would only hold more of it.
 */
bool tcp_reader_behind(const struct run *run, const struct tcp_receiver *r);

/*
 * A queue somewhere, not this buffer, made the round trip: with the shortest one the same bytes
 * in flight would carry far more.  Never said of buffers below TCP_TINY_BYTES, whose own
 * stop-and-go is the delay.
 */
bool tcp_queue_makes_rtt(const struct tcp_sender *s, double buffer_bytes);

/* Share of an end's flows whose buffer (a nd_u64 member) has reached this size; 0 none known. */
double tcp_flows_at(const struct run_end *end, size_t member_offset, double bytes);

/* The rate that the lowest wire, PCIe link or rate limit of the direction leaves; 0: none known. */
double tcp_next_limit(const struct rule_input *in);
/* Bytes a buffer needs for the direction's next limit, rounded up; at least `least`. */
double tcp_buffer_for(const struct rule_input *in, const struct tcp_sender *s, double factor,
		      double least, double now);

/* `sysctl -w` of three values with persist and undo, for tcp_rmem and tcp_wmem. */
struct tcp_memory { const char *name; struct nd_u64 min, initial, max; double least_initial; };
void tcp_memory_fix(struct rule_output *out, struct finding *f, const struct tcp_memory *m,
		    double max);

#endif

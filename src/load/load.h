/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Load: the traffic engine at one end.
 *
 * It is given connected sockets and a role, spreads them over worker threads,
 * and moves bytes until stopped or until an amount is sent.  Each worker owns its flows and their
 * counters (single writer); load_sample() reads them from any one other thread.
 * The engine knows nothing of sessions, hosts or reports.
 */
#ifndef ND_LOAD_LOAD_H
#define ND_LOAD_LOAD_H

#include <sys/socket.h>

#include "src/core/counters.h"
#include "src/core/error.h"
#include "src/core/json.h"

enum run_direction {
	RUN_FORWARD,	/* local (the client) sends */
	RUN_REVERSE	/* the peer sends */
};

enum run_protocol { RUN_TCP, RUN_UDP };

/* How a sender hands its bytes to the kernel. */
enum run_send_path {
	RUN_SEND_COPY,		/* send(): what applications do */
	RUN_SEND_FILE,		/* sendfile() out of the page cache */
	RUN_SEND_ZEROCOPY	/* MSG_ZEROCOPY: the card reads the application's pages */
};

enum run_limits {
	RUN_MAX_STREAMS = 2048,
	RUN_MAX_BLOCK_BYTES = 4 * 1024 * 1024,
	RUN_MAX_SECONDS = 86400,
	RUN_DEFAULT_BLOCK_BYTES = 128 * 1024,
	RUN_MIN_DATAGRAM_BYTES = 16,	/* our header, also iperf3's */
	RUN_MAX_DATAGRAM_BYTES = 65507,	/* of IPv4 */
	/* Fits into an Ethernet frame, with IPv6 and a tunnel's 12 bytes to spare. */
	RUN_DEFAULT_DATAGRAM_BYTES = 1448,
	LOAD_SOCKETS_A_SAMPLE = 256
};

/* A rate that is kept; 0 is no limit. */
#define RUN_MIN_RATE_BPS UINT64_C(8000)
#define RUN_MAX_RATE_BPS UINT64_C(10000000000000)

/* What both ends agree on for one run.  A field table makes its JSON. */
struct run_spec {
	enum run_protocol protocol;
	enum run_direction direction;
	bool bidirectional;		/* as many flows again carry traffic the other way */
	bool latency;			/* the client measures round trips, see ping.h */
	uint64_t streams;		/* flows in one direction, see run_flows() */
	uint64_t block_bytes;		/* per send or receive call; UDP: per datagram */
	uint64_t warmup_ms;		/* traffic flows but is not counted */
	uint64_t window_ms;		/* the measured part */
	/* Over all flows of a direction; senders stop after these.  0: time alone ends the run. */
	uint64_t total_bytes, total_blocks;
	uint64_t mss_bytes;		/* TCP_MAXSEG; 0: the kernel's choice */
	uint64_t sndbuf_bytes, rcvbuf_bytes;	/* 0: autotuned */
	uint64_t rate_bps;		/* per flow, kept by the sending worker; 0: none */
	uint64_t burst_blocks;		/* sent in a row to keep that rate; 0: our choice */
	uint64_t pacing_bps;		/* per flow, SO_MAX_PACING_RATE; 0: none */
	uint64_t tos;			/* IP TOS or IPv6 traffic class */
	uint64_t flow_label;		/* IPv6; 0: the kernel's choice */
	enum run_send_path send_path;
	bool discard_receive;		/* MSG_TRUNC: receive without copying to memory */
	bool no_delay;			/* TCP_NODELAY */
	bool dont_fragment;		/* UDP over IPv4 */
	bool udp_gso, udp_gro;		/* UDP_SEGMENT, UDP_GRO, where the kernel grants them */
	bool udp_counters_32bit;	/* packet numbers as plain iperf3 has them */
	/* The sender marks the datagrams of its window, see load_mark(); no iperf3 knows that. */
	bool udp_marks;
	char congestion_control[16];	/* "": the sending host's default */
	uint64_t report_ms;		/* both ends tell what they saw so often; 0: not */
	uint64_t client_cpu, server_cpu;	/* that end's workers run on: number + 1; 0: any */
	/*
	 * Per flow, what the end that has it takes in, whatever the other sends; 0: all.  It tells
	 * nobody.
	 */
	uint64_t receive_bps;
};

/* Connections of a run: flows from `streams` on, if any, go against its direction. */
static inline size_t run_flows(const struct run_spec *s)
{
	return (size_t)(s->bidirectional ? 2 * s->streams : s->streams);
}

/* Sockets of a run: those of its flows, then, with latency, the TCP connection of its requests. */
static inline size_t run_connections(const struct run_spec *s)
{
	return run_flows(s) + s->latency;
}

/*
 * The rate that a spec asks for, per flow; 0: none.  Pacing is none of datagrams: fq alone paces
 * those, which the sender need not have.
 */
static inline uint64_t run_asked_bps(const struct run_spec *s)
{
	uint64_t pacing = s->protocol == RUN_TCP ? s->pacing_bps : 0;

	return pacing && (!s->rate_bps || pacing < s->rate_bps) ? pacing : s->rate_bps;
}

static inline enum run_direction run_other_direction(enum run_direction d)
{
	return d == RUN_FORWARD ? RUN_REVERSE : RUN_FORWARD;
}

const char *run_protocol_word(enum run_protocol p);	/* "tcp", "udp" */

/* JSON both ways; from_json range-checks every member: 0 or -EINVAL with the reason. */
cJSON *run_spec_to_json(const struct run_spec *s);
int run_spec_from_json(const cJSON *obj, struct run_spec *out, struct error *err);
/*
 * Sets the congestion control; name NULL: the sending host's default.  -EINVAL: no kernel has a
 * name such as that, of more than 15 bytes or of others than letters, digits, '_', '-' and '.'.
 */
int run_spec_set_congestion(struct run_spec *s, const char *name);

enum load_role { LOAD_SEND, LOAD_RECEIVE };
static inline enum load_role run_client_role(const struct run_spec *s)
{
	return s->direction == RUN_FORWARD ? LOAD_SEND : LOAD_RECEIVE;
}

static inline bool run_client_sends(const struct run_spec *s)
{
	return s->bidirectional || s->direction == RUN_FORWARD;
}

static inline bool run_server_sends(const struct run_spec *s)
{
	return s->bidirectional || s->direction == RUN_REVERSE;
}
static inline enum load_role run_server_role(const struct run_spec *s)
{
	return s->direction == RUN_FORWARD ? LOAD_RECEIVE : LOAD_SEND;
}
/* What an end does with flow i when its role for the run's direction is this. */
static inline enum load_role run_flow_role(const struct run_spec *s, enum load_role role,
					   size_t i)
{
	if (!s->bidirectional || i < s->streams)
		return role;
	return role == LOAD_SEND ? LOAD_RECEIVE : LOAD_SEND;
}

/*
 * Socket options of a spec that must be set before connect() (client) or come
 * with the listener (buffers fix the window scale).  0 or -errno with the option named.
 * -ENOBUFS: the kernel would cap a buffer; -ENOENT: no such congestion control is loaded
 * (and none gets loaded).  The MSS works from the connecting end alone, for both directions.
 */
int load_prepare_socket(int fd, const struct run_spec *spec, enum load_role role,
			struct error *err);

/* Of a connected socket.  Not IP: not applicable.  0 or -errno. */
int load_socket_ports(int fd, struct nd_u64 *local, struct nd_u64 *peer);

/*
 * Gives the address that fd is about to connect() to the spec's IPv6 flow label, if any;
 * nothing can set it later.  0 or -errno (-EOPNOTSUPP: not an IPv6 address).
 */
int load_prepare_address(int fd, const struct run_spec *spec, struct sockaddr *to,
			 struct error *err);

struct load;

struct load_config {
	const struct run_spec *spec;
	enum load_role role;	/* for the run's direction, see run_flow_role() */
	const int *fds;		/* connected sockets, one flow each, flow i = fds[i] */
	size_t n;
	/* Worker i runs on cpus[i % ncpus] alone, and there are no more than ncpus; 0: anywhere. */
	const unsigned int *cpus;
	size_t ncpus;
	/*
	 * Of TCP: who has sent its share of the amount shuts its connection down, and for a
	 * receiver that is the end of the flow, not an early one.
	 */
	bool end_closes;
};

/*
 * Takes over the sockets (closed by load_stop).  At most as many workers as CPUs allowed to us,
 * each with as many senders and receivers as the others; starts no traffic yet.  Sets what a
 * connected socket can still take of the spec, so accepted sockets need no preparation.
 * 0 or -errno; after an error the sockets stay the caller's.  Nothing of config is kept.
 */
int load_create(const struct load_config *config, struct load **out, struct error *err);
/* Starts the workers.  0 or -errno; after an error call load_stop(). */
int load_start(struct load *l, struct error *err);
/* Appends flow and worker rows to c.  0, or -ENOMEM with c unchanged.  One thread at a time. */
int load_sample(struct load *l, struct counters *c);
/*
 * The same, but of at most LOAD_SOCKETS_A_SAMPLE flows, in turn, the kernel is asked what it knows
 * (TCP_INFO, buffers, queues).  The others tell what they told last time, so that nothing
 * counts twice or is lost over time, and a sample of thousands of flows takes little.
 */
int load_sample_in_turn(struct load *l, struct counters *c);
/* Application bytes so far over all flows; cheap, any thread. */
uint64_t load_bytes(const struct load *l);
/* Those of all flows of a role. */
uint64_t load_bytes_of(const struct load *l, enum load_role role);
uint64_t load_flow_bytes(const struct load *l, size_t flow);
/*
 * With the spec's udp_marks: what senders send from here on is before, in, or after the window.
 * Their windows and those of receivers differ by milliseconds; by the mark both count the same.
 * The sampling thread.
 */
enum load_mark { LOAD_MARK_NONE, LOAD_MARK_WINDOW, LOAD_MARK_AFTER };
void load_mark(struct load *l, enum load_mark mark);
/* Datagrams of the window: sent; or taken in, and what of them did not come, came late or twice. */
struct load_marked { uint64_t packets, bytes, skipped, out_of_order, duplicates; };
/* After load_halt().  False: this flow had none. */
bool load_marked(const struct load *l, size_t flow, struct load_marked *out);
/*
 * With a warm-up in the spec an amount counts from here on: from when its senders had sent so
 * many bytes.  Until then nothing is done.  The sampling thread.
 */
void load_begin_amount(struct load *l, uint64_t sent_before);
/*
 * All senders together have handed the kernel the amount that the spec asks for, exactly.
 * Without such an amount, or without senders here: never.  Cheap, any thread.
 */
bool load_done(const struct load *l);
/*
 * Flows that ended early and the errno of the lowest such flow, 0 if none.  EPIPE: the
 * other end closed it.  What ends after load_quiesce() has not ended early.
 */
size_t load_broken_flows(const struct load *l, int *first_errno);
/* Receiving flows that the other end has not closed yet.  Cheap, any thread. */
size_t load_open_receivers(const struct load *l);
/* Something waits in the socket of a receiver to be taken in.  A system call for each. */
bool load_unread(const struct load *l);
/*
 * Declares the run over: senders stop writing, receivers go on (call it there too, so that
 * a closing peer counts as no failure).  Does not wait.
 */
void load_quiesce(struct load *l);
/* Every sender has: what they sent is not going to grow. */
bool load_quiesced(const struct load *l);
/* Stops the workers and joins them: counters stand still, and load_sample() may read them. */
void load_halt(struct load *l);
/* Stops the workers, joins them and closes the sockets.  Frees l.  NULL is fine. */
void load_stop(struct load *l);

#endif

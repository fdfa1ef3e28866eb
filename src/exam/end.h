/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * End: one end of one run, while it happens.
 *
 * Drives the traffic engine over sockets that are already connected and samples
 * this host from a thread of its own until the window is over.  The client and
 * the server run the same code, so that both ends are measured alike.
 */
#ifndef ND_EXAM_END_H
#define ND_EXAM_END_H

#include "src/exam/beat.h"
#include "src/exam/exam.h"
#include "src/peer/peer.h"

/*
 * With spec->latency traffic begins later: round trips are measured on the idle path first.  The
 * last part of that is for answers alone.
 */
#define END_IDLE_NS 400000000ULL
#define END_IDLE_QUIET_NS 100000000ULL
/*
 * Of TCP without a warm-up all counts, from the first byte to the sender's last, so that no
 * receiver counts more than was sent.  Datagrams are counted by their marks.
 */
static inline bool end_counts_all(const struct run_spec *s)
{
	return !s->warmup_ms && s->protocol == RUN_TCP;
}

/* From the begin of traffic until the window, or its warm-up: both ends move data by then. */
static inline uint64_t end_lead_ns(const struct run_spec *s)
{
	return end_counts_all(s) ? 0 : 20000000ULL;
}

/* How often an end is sampled: 10 Hz. */
#define END_INTERVAL_NS (1000000000ULL / EXAM_SAMPLES_PER_SECOND)

struct end_config {
	const struct run_spec *spec;
	enum load_role role;
	const int *fds; /* run_connections(spec) connected sockets; taken over, also on failure */
	struct run_window window;	/* in this host's CLOCK_MONOTONIC */
	const struct facts *facts;	/* of this host: what to sample; must outlive the end */
	uint64_t pin_cpu;		/* the workers run on: number + 1; 0: see placement.h */
	bool asks;			/* with spec->latency: this end asks, the other echoes */
	bool same_machine;		/* as the other end, as far as is known */
	/*
	 * The other end counts all that is sent: without a warm-up the window begins before the
	 * first byte, and senders have sent their last when it ends.
	 */
	bool whole;
};

struct end;

/*
 * Traffic flows (with latency: will soon) and sampling has begun when it returns 0; else -errno
 * and the sockets are closed.
 */
int end_start(const struct end_config *config, struct end **out, struct error *err);

/* Shares of a core's time in 1/LIVE_WHOLE; LIVE_UNKNOWN: not known. */
enum { LIVE_MAX_CORES = 512, LIVE_WHOLE = 200, LIVE_UNKNOWN = 255 };
struct live_core { uint16_t cpu; uint8_t busy, user, system, softirq, irq, steal; };

/*
 * Interrupts of a NIC's vector, of all CPUs; where no NIC here has vectors: packets that a CPU
 * took in (softnet), irq LIVE_NO_IRQ.
 */
#define LIVE_NO_IRQ UINT32_MAX
enum { LIVE_MAX_QUEUES = 512, LIVE_NO_CPU = UINT16_MAX };
struct live_queue {
	uint32_t irq;
	uint16_t cpu;		/* that took most of them; LIVE_NO_CPU: there were none */
	double per_s;
};

/* There are at most as many workers as CPUs. */
enum { LIVE_MAX_WORKERS = LIVE_MAX_CORES };

/* The newest finished interval, for live displays. */
struct end_live {
	double start_s, seconds;	/* start < 0: still warming up */
	double rate_bps;		/* application bytes of this end in the interval */
	bool hot_known;
	uint64_t hot_cpu;
	double hot_busy;
	/* Not told by older peers: */
	struct nd_f64 received_bps;	/* of them those it took in */
	struct nd_f64 retransmits_ps;
	/* of the egress link; dropped: and errors, both ways */
	struct nd_f64 link_rx_bps, link_tx_bps, link_rx_pps, link_tx_pps, link_dropped_ps;
	struct live_core cores[LIVE_MAX_CORES];
	size_t ncores;			/* of the first so many; 0: not known */
	struct live_queue queues[LIVE_MAX_QUEUES];
	size_t nqueues;			/* the same; vectors are counted twice a second */
	uint16_t workers[LIVE_MAX_WORKERS];	/* the CPU where each ran last, or LIVE_NO_CPU */
	size_t nworkers;
};

/*
 * Waits up to timeout_ms for the next interval or the end of the run.  Returns
 * true while the run goes on; *fresh tells whether *live was filled.
 */
bool end_wait(struct end *e, unsigned int timeout_ms, struct end_live *live, bool *fresh);
/* The oldest beat that nobody took, now the caller's; NULL: none.  They end each report_ms. */
struct beat *end_take_beat(struct end *e);
/* Received so far, also before the window.  Any thread, before end_stop(). */
uint64_t end_received_bytes(const struct end *e);
uint64_t end_flow_bytes(const struct end *e, size_t flow);	/* sent or received */
/*
 * Cuts the window short now; what was sampled until data last moved stays.  After the end: the
 * run did not go well to its end, so a standstill there is no part of what was measured either.
 */
void end_cancel(struct end *e);
/*
 * For a peer that wants to hear when our senders have stopped, and then closes its own: both before
 * end_stop(), once end_wait() says that the run is over.
 */
void end_quiesce(struct end *e);
/* Receives until the other end has closed all that it sends on, at most so long. */
void end_drain(struct end *e, unsigned int timeout_ms);
/* Receives until nothing has come, or waits to be read, for quiet_ms; at most so long. */
void end_settle(struct end *e, unsigned int quiet_ms, unsigned int timeout_ms);
/* Waits for the end of the run, stops traffic and closes the sockets. */
void end_stop(struct end *e);
/* After end_stop(): the round trips that this end measured; unread when it asked for none. */
void end_latency(const struct end *e, struct latency *idle, struct latency *loaded);
/*
 * After end_stop(): what went over each flow from the warm-up's end until traffic stopped, which
 * is more than the window; out belongs to the caller also after an error.  0 or -ENOMEM.
 */
int end_results(const struct end *e, struct peer_results *out);
/*
 * end_stop(), then fills out (in mem; out->window is a struct counters of its own, freed with
 * counters_free).  Frees e.  A connection that was lost ends the run, and the window before
 * it: out->broken_flows.  0 or -ENOMEM.
 */
int end_finish(struct end *e, struct arena *mem, struct run_end *out);

#endif

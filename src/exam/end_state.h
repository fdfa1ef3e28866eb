/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of an end: what end.c sets up and takes down, and end_sampler.c fills. */
#ifndef ND_EXAM_END_STATE_H
#define ND_EXAM_END_STATE_H

#include <pthread.h>

#include "probes/probe.h"
#include "src/exam/end.h"
#include "src/exam/flow_summary.h"
#include "src/exam/live_queues.h"
#include "src/exam/placement.h"
#include "src/exam/series.h"
#include "src/load/ping.h"

/*
 * Where data had last been moving.  When the other end vanishes, seconds may pass before
 * anybody notices; they are no part of what was measured.
 */
struct standstill { struct counters *last; struct flow_folder *flows; double since_s; };

/* What a flow's datagrams with the mark of the window come to; `any`: there were some. */
struct flow_marks { bool any; struct load_marked counts; };

struct end {
	struct run_spec spec;
	struct run_window window;
	const struct facts *facts;
	uint64_t egress_ifindex;
	struct source *source;
	struct load *load;
	struct placement placement;
	struct ping *ping;		/* NULL: nobody measures round trips, or not any more */
	struct ping_result round_trips;
	bool asks, whole, sends, receives;
	uint64_t traffic_ns;		/* when it begins; 0: at once */
	pthread_t thread;
	bool thread_started;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* on CLOCK_MONOTONIC */
	/* under lock: */
	struct end_live live;
	uint64_t live_serial, live_seen;
	bool done, cancel;
	struct beat *beats[BEAT_QUEUE];	/* for end_take_beat(), oldest first */
	size_t nbeats;
	/* the sampler's own until it is joined: */
	struct interval_series *series;
	struct live_queues queues;
	struct beat_maker *beat;	/* NULL: nobody wants them */
	uint64_t base_ns;		/* where the warm-up, or the window, began */
	uint64_t first_ns;		/* the first sample there */
	uint64_t beat_from_ns, beat_upto_ns;	/* of the beat that grows: begin, boundary */
	uint64_t held_up_ns;
	int64_t asleep_ns;		/* CLOCK_BOOTTIME - CLOCK_MONOTONIC when the window began */
	uint64_t amount_bytes;		/* of each direction, after which it ends; 0: by time */
	uint64_t received_before;	/* the window */
	uint64_t grown_bytes, grown_ns;	/* of all flows when they last grew, and when */
	bool still;			/* that was long ago, and so the run was over */
	struct counters *first, *last, *peaks;
	struct counters *final;		/* flows only, when traffic had stopped; NULL: no memory */
	uint64_t begun_ns, final_ns;
	uint64_t settled_ns;		/* what end_settle() waited for came then; 0: it did not */
	struct flow_marks *marks;	/* of each flow; NULL: none are kept */
	uint64_t marked_from_ns, marked_to_ns;	/* senders mark from then to then; 0: not yet */
	struct flow_folder *flows;
	struct standstill standstill;	/* .last NULL: data moves */
	uint64_t bytes;			/* at the last sample */
	size_t broken;
	int broken_errno, failure;
	bool cut;			/* by more than end_cancel() */
};

/*
 * How much of a warm-up was in flight when the window began a receiver cannot know, so no count
 * tells it that an amount was all: that its connections end does.  An iperf3 closes none.
 */
static inline bool end_is_told_by_close(const struct end *e)
{
	return e->amount_bytes && e->spec.warmup_ms && e->spec.protocol == RUN_TCP && !e->whole;
}
/* Starts the workers, and the window of a run by bytes.  0 or -errno. */
int end_begin_traffic(struct end *e, struct error *err);
/* The sampling thread; its argument is the end. */
void *end_sampler(void *arg);
int end_take_sample(struct end *e, enum counter_rate rate, struct counters **out);
/* The window begins with this sample, which it takes over.  0 or -ENOMEM. */
int end_begin_window(struct end *e, struct counters *first);
/* CLOCK_BOOTTIME - CLOCK_MONOTONIC: what the suspended machine sleeps only the first counts. */
int64_t end_time_asleep_ns(void);

#endif

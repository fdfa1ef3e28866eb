/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * History: what one end did over time, in bounded memory.
 *
 * A series of samples in order of time.  When it is full, neighbours of its older part
 * are merged, so that the last minute keeps its detail and a run of a day
 * still begins at its beginning.  Values are compact: 600 samples of 512 cores fit in
 * 2 MB.  One thread at a time.
 */
#ifndef ND_UI_HISTORY_H
#define ND_UI_HISTORY_H

#include "src/exam/exam.h"

enum history_limits {
	HISTORY_MAX_SAMPLES = 600,
	HISTORY_MAX_CORES = ND_MAX_CPUS,
	HISTORY_MAX_FLOWS = 128,
	HISTORY_MAX_QUEUES = 512,
	HISTORY_MAX_WORKERS = 512,
	HISTORY_MAX_COUNTERS = 32,
	HISTORY_NAME_CAP = 48
};

/* Shares of a core's time in 1/200; HISTORY_UNKNOWN: not known. */
enum { HISTORY_WHOLE = 200, HISTORY_UNKNOWN = 255 };
struct history_core {
	uint16_t cpu;
	uint8_t busy, user, system, softirq, irq, steal;
};

/* Gauges as at the end, rates over the sample.  Unknown: NAN. */
struct history_flow {
	uint32_t flow;
	bool sends;
	float rate_bps, retransmits_ps, cwnd_bytes, snd_wnd_bytes, rtt_us;
	float busy, rwnd_limited, sndbuf_limited;	/* shares of the time */
	int32_t cpu;					/* SO_INCOMING_CPU; -1 unknown */
};

/* An interrupt vector of the NIC; HISTORY_NO_IRQ: packets that a CPU took in. */
#define HISTORY_NO_IRQ UINT32_MAX
enum { HISTORY_NO_CPU = UINT16_MAX };
struct history_queue { uint32_t irq; uint16_t cpu; float per_s; };

/* A counter that moved: per second. */
struct history_counter { char name[HISTORY_NAME_CAP]; float ps; };

struct history_sample {
	double at_s, seconds;		/* begin, on the screen's clock; length */
	unsigned int run;		/* from 1; 0: none was going on */
	bool warm;			/* in a run's warm-up */
	enum run_direction direction;	/* of that run */
	bool bidirectional;		/* the other one at the same time */
	struct nd_f64 sent_bps, received_bps;		/* by the application at this end */
	struct nd_f64 retransmits_ps;
	struct nd_f64 link_rx_bps, link_tx_bps;		/* egress link, as the kernel counts */
	struct nd_f64 link_rx_pps, link_tx_pps, link_dropped_ps;
	const struct history_core *cores;	size_t ncores;
	const struct history_flow *flows;	size_t nflows;
	const struct history_queue *queues;	size_t nqueues;
	const struct history_counter *counters;	size_t ncounters;
	/* of each worker the CPU where it ran last, or HISTORY_NO_CPU */
	const uint16_t *workers;		size_t nworkers;
};

struct history;

struct history *history_new(void);		/* NULL: no memory */
void history_free(struct history *h);		/* NULL is fine */
/*
 * Copies s; rows beyond the limits are left out.  A sample that begins before the end of the last
 * one is put right behind it: clocks of peers jump.  0, -ENOMEM (h is unchanged), or -EINVAL
 * for times that are none.
 */
int history_add(struct history *h, const struct history_sample *s);
void history_clear(struct history *h);
/*
 * What the application at an end moved in a sample of a run: one way, or in a bidirectional run
 * both, and what it took in of that.
 */
void history_set_rates(struct history_sample *s, enum side side, struct nd_f64 moved,
		       struct nd_f64 received);
/* Compact form of n rows into `to` (HISTORY_MAX_CORES rows); returns how many. */
size_t history_cores_from(const struct core_load *from, size_t n, struct history_core *to);
/*
 * Appends a finished run's intervals at one end: the run's window begins at at_s.
 * 0 or -ENOMEM.
 */
int history_add_run(struct history *h, const struct run *r, unsigned int number, enum side side,
		    double at_s);
/*
 * The same for a run whose samples are there: they are told anew, but for its warm-up, and
 * for flows and queues, of which intervals know nothing.
 */
int history_retell_run(struct history *h, const struct run *r, unsigned int number, enum side side,
		       double at_s);

size_t history_count(const struct history *h);		/* NULL: 0 */
/* Oldest first.  Valid until the next change. */
const struct history_sample *history_get(const struct history *h, size_t i);
/* The sample of that moment: the last that begins at or before it; NULL: none. */
const struct history_sample *history_at(const struct history *h, double at_s);
/* Its index; 0 when there is none. */
size_t history_index(const struct history *h, double at_s);
double history_end(const struct history *h);		/* end of the last sample; 0: none */
size_t history_bytes(const struct history *h);		/* memory in use, for tests */

/* 0..1, or NAN. */
double history_share(uint8_t share);
/* Core by CPU number, NULL. */
const struct history_core *history_core(const struct history_sample *s, uint64_t cpu);
/* The busiest core, NULL when none is known. */
const struct history_core *history_hot_core(const struct history_sample *s);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conduct: carry out an exam against a peer, live.  Reads both hosts, runs what
 * the plan asks for, and puts everything into a struct exam.
 */
#ifndef ND_EXAM_CONDUCT_H
#define ND_EXAM_CONDUCT_H

#include "src/exam/end.h"
#include "src/exam/plan.h"

enum exam_phase {
	EXAM_CONNECTED,
	EXAM_FACTS_READ,
	EXAM_RUN_BEGINS,
	EXAM_RUN_CONNECTED,		/* the run's connections are there: .flows */
	EXAM_RUN_GOES_ON,
	EXAM_BEAT,			/* a report interval has ended: .beats */
	EXAM_RUN_ENDED
};

struct exam_progress {
	enum exam_phase phase;
	const struct exam *exam;	/* as far as it is known; never while a run goes on in it */
	unsigned int run_number;	/* from 1 */
	unsigned int certain_runs;
	const struct planned_run *planned;
	double elapsed_s, length_s;	/* of this run, warm-up included */
	const struct end_live *live[EXAM_ENDS];	/* newest of each end, NULL: nothing yet */
	const struct flow_begin *flows;	/* run_flows(spec) of them, in EXAM_RUN_CONNECTED */
	const struct run_spec *spec;	/* as agreed with the peer, from EXAM_RUN_CONNECTED on */
	const struct beat *beats[EXAM_ENDS];	/* ours, and the peer's unless it is late */
};

struct conduct_options {
	const struct peer_target *target;
	struct plan_wishes plan;	/* plan.base.streams 0: chosen from both hosts' CPUs */
	struct exam_wishes wishes;
	const char *const *only_links;	/* see struct probe_context */
	size_t nonly_links;
	void *state;
	void (*progress)(void *state, const struct exam_progress *p);	/* NULL: nobody looks */
	bool (*cancelled)(void *state);					/* NULL: never */
	/* One line on what is done otherwise than asked for, and why; NULL: nobody reads. */
	void (*remark)(void *state, const char *text);
};

/*
 * 0 with *out when anything was learned: a peer lost on the way leaves exam->problem set and
 * the runs so far in place.  -errno and a one-line error when there was no session at all.
 */
int exam_conduct(const struct conduct_options *o, struct exam **out, struct error *err);

/* Facts of this host alone: for `check`, and for the server's answers.  0 or -errno. */
struct probe_context;
int exam_read_host(const struct probe_context *ctx, struct facts **out, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exams for tests: two healthy hosts on a 10 Gbit/s link, to be spoilt by the
 * test.  Everything is owned by the exam (exam_free); running out of memory
 * fails the test at once.
 *
 *	struct exam *e = build_two_hosts();
 *	struct run *r = build_run(e, RUN_FORWARD, RUN_ALL_STREAMS, 6.04e9);
 *	build_hot_core(r, SIDE_PEER, 3, 0.98, 0.91);
 */
#ifndef ND_TESTS_UNIT_EXAM_BUILDER_H
#define ND_TESTS_UNIT_EXAM_BUILDER_H

#include "src/exam/exam.h"

enum {
	BUILD_CPUS = 4,
	BUILD_IFINDEX = 2,	/* eth0, the egress link of both hosts */
	BUILD_STREAMS = 8,
	BUILD_SECONDS = 4,
	BUILD_MAX_RUNS = 16	/* pointers to runs stay valid up to here */
};

/* "alpha" (10.0.0.1) and "beta" (10.0.0.2), 10G ixgbe at 0000:3b:00.0, gen3 x8, no runs yet. */
struct exam *build_two_hosts(void);
/* The same with the peer unseen: one-ended. */
struct exam *build_one_host(void);
/* An exam in which nobody has read anything: facts there but ND_UNREAD throughout. */
struct exam *build_unread(void);

/* What a test may change. */
struct facts *build_facts(struct exam *e, enum side s);
struct link_facts *build_link(struct exam *e, enum side s);

/* A complete run at this goodput, both ends seen, cores 20 % busy, 10 Hz intervals, no loss. */
struct run *build_run(struct exam *e, enum run_direction d, enum run_purpose p,
		      double goodput_bps);
/* The same with both directions at once, of diagnose --bidir; its flows are forward's alone. */
struct run *build_both_run(struct exam *e, double forward_bps, double reverse_bps);
/* One core of an end this busy, of which softirq; also in every interval and in the counters. */
void build_hot_core(struct run *r, enum side s, unsigned int cpu, double busy, double softirq);
/* Drops what one end saw of a run. */
void build_unseen_end(struct run *r, enum side s);

/* A string the exam owns. */
struct nd_str build_str(struct exam *e, const char *s);

/* 10G hosts, both directions measured, the peer's cpu 3 hot when it receives: 6.04 Gbit/s. */
struct exam *build_hot_core_exam(void);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One end of a direction's main run, and what its CPUs did: shared by the rules about CPU
 * and offloads.  Pure; nothing owned, all pointers borrow from the exam.
 */
#ifndef ND_RULES_ENDS_H
#define ND_RULES_ENDS_H

#include "src/diagnose/rule.h"

struct traffic_end {
	const struct exam *exam;
	enum run_direction direction;
	enum side side;
	const struct run *run;
	const struct run_end *end;	/* may have present == false */
	const struct facts *facts;	/* NULL: not seen */
	bool sends;
	bool shared;			/* both ends use the same CPUs */
	double measured_bps;
};

/* The end a per-sender or per-receiver rule looks at. */
struct traffic_end traffic_end_of(const struct rule_input *in);
struct traffic_end traffic_other_end(const struct traffic_end *t);
#define TRAFFIC_ENDS 4
/* Both ends of each measured direction, forward first, the sender first. */
size_t traffic_ends(const struct exam *e, struct traffic_end out[TRAFFIC_ENDS]);

/* For rules that look at either end of each direction. */
enum end_answer { END_CLEAR, END_NOT_APPLICABLE, END_MISSING, END_FIRED };
/* Fires, says what is missing, or answers END_CLEAR or END_NOT_APPLICABLE without saying so. */
typedef enum end_answer (*end_check)(const struct rule_input *in, struct rule_output *out,
				     const struct traffic_end *t);
/*
 * Asks about each end that was measured; when none has anything to say the rule is clear because
 * of `because`, or does not apply.  once_if_shared: of two ends with the same CPUs only one (the
 * sender, if it was seen).
 */
void ends_evaluate(const struct rule_input *in, struct rule_output *out, end_check check,
		   bool once_if_shared, const char *because);

/* Cores of an end's machine over the window.  Sums in cores: 1.7 = 1.7 cores' time. */
struct cpu_use {
	bool known;			/* the cores' shares were seen */
	double ncores;			/* seen, and allowed to our process */
	double busy, user_system, softirq;	/* softirq with irq; busy with steal */
	double mean_busy;		/* share */
	bool workers_known;
	double workers;			/* CPU time of our threads (of both ends when shared) */
	double nworkers;
	/*
	 * User and system time that is not ours.  A lower bound: where the kernel accounts by
	 * ticks, a thread's time contains the softirqs that interrupted it; and where kernel
	 * threads work on the packets (threaded NAPI, WireGuard) only user time counts.
	 */
	double foreign;
};
void cpu_use_of(const struct traffic_end *t, struct cpu_use *u);

/*
 * A core's share with the digits a report keeps, so that the diagnosis of the report says the
 * same as this one.
 */
double report_share(double share);

/* What of an end is full. */
enum cpu_bound { CPU_UNKNOWN, CPU_HAS_ROOM, CPU_CORE_FULL, CPU_THREAD_FULL, CPU_ALL_FULL };
/*
 * core_busy: from where the hot core counts as full.  A core that both ends share counts
 * (at CORE_SATURATED) only when no thread of either end is full by itself.
 */
enum cpu_bound cpu_bound_of(const struct traffic_end *t, double core_busy);
/* "all 2 CPUs are full", "cpu 3 is 98 % busy", "a thread uses 99 % of a CPU". */
const char *cpu_bound_text(struct rule_output *out, const struct traffic_end *t,
			   enum cpu_bound bound);
/* CPU time still free on cores our process may use, in cores. */
double cpu_idle_cores(const struct cpu_use *u);

/* "1-forward-all-streams"; never NULL. */
const char *run_name(const struct run *r);
/* "runs[1-forward-all-streams].peer.cores"; rest is printed by rule_text(). */
const char *end_fact(struct rule_output *out, const struct traffic_end *t, const char *rest);
/* The end, or its cores, were not seen: says so, and returns END_MISSING. */
enum end_answer end_missing(struct rule_output *out, const struct traffic_end *t,
			    const char *rest, enum nd_known reason, const char *how);
/* A finding of this end and direction. */
struct finding *end_fire(struct rule_output *out, const struct traffic_end *t);
/* The same of the machine: of both ends when they share it. */
struct finding *machine_fire(struct rule_output *out, const struct traffic_end *t);
/* The shares of the hot core, and the busiest of our threads. */
void finding_cpu(struct rule_output *out, struct finding *f, const struct traffic_end *t);
/* "this host", "the peer"; "this machine" when both ends share it. */
const char *end_words(const struct traffic_end *t);
/* "alpha" or the side's word, for comments of commands. */
const char *end_host(struct rule_output *out, const struct facts *f, enum side s);

#endif

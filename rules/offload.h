/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Offloads: which are off on the way out or in, and what turning them on would win.  Shared
 * by the offload-* rules.  Pure.
 */
#ifndef ND_RULES_OFFLOAD_H
#define ND_RULES_OFFLOAD_H

#include "rules/ends.h"

/* In the order in which the kernel lets one depend on the one before. */
enum offload { OFFLOAD_CHECKSUM, OFFLOAD_SCATTER_GATHER, OFFLOAD_TSO, OFFLOAD_GSO, OFFLOAD_GRO };

enum offload_status { OFFLOAD_UNKNOWN, OFFLOAD_ON, OFFLOAD_OFF, OFFLOAD_IMPOSSIBLE };

struct offload_state {
	enum offload_status status;
	const char *feature;		/* the kernel's name */
	const struct link_facts *link;	/* the one it is (or may be) off on; NULL: no link known */
	enum nd_known reason;		/* when unknown */
};

/* Of the links an end's traffic crosses: the egress link, and the port below it. */
struct offload_state offload_state_of(const struct exam *e, enum side side, enum offload o);

/*
 * What happened to the CPU cost of a byte with half the segment size.  Costs are of our threads
 * (of both ends when shared), with the side's softirqs when the ends are apart.
 */
struct packet_experiment {
	const struct run *half;		/* NULL: no such run, or its CPU was not seen */
	double rate_bps, half_rate_bps, segment, half_segment;
	double cores, half_cores;
	double cost_ratio;		/* CPU per byte with half segments / with full ones */
	bool confirms;			/* cost is per packet, and the rate fell */
	bool disturbed;			/* other work took CPUs: only a lower bound */
};
void packet_experiment_of(const struct traffic_end *t, struct packet_experiment *x);
/* Rate with packets (or aggregates) of this many bytes and the same CPU; false: cannot say. */
bool packet_experiment_predict(const struct packet_experiment *x, double segment, double *low_bps,
			       double *high_bps);
void finding_experiment(struct rule_output *out, struct finding *f, const struct traffic_end *t,
			const struct packet_experiment *x);

/* Off, and could be on; false: not so or not known, and the rule said so.  what: "GRO". */
bool offload_is_off(const struct rule_input *in, struct rule_output *out,
		    const struct offload_state *s, const char *what);

/* The rules of the sending side differ only in this. */
void offload_evaluate_sender(const struct rule_input *in, struct rule_output *out, enum offload o);

/*
 * The experiment shows the cost, but no run went as fast as it predicts: the CPUs of the other
 * end, if they are others, still bound that.
 */
void packet_experiment_bound(const struct rule_input *in, double *low_bps, double *high_bps);
/* The path's wire is full already: no CPU fix wins anything. */
bool offload_wire_is_full(const struct rule_input *in);
/* Packets arrived at this end larger than the MTU: the sender's aggregates, not cut on the way. */
bool offload_arrives_whole(const struct traffic_end *t, const struct link_facts *port);
/* "local.features[eth0,rx-gro].active" */
const char *offload_fact(struct rule_output *out, enum side side, const struct offload_state *s);
/* "eth0" for titles; never NULL. */
const char *offload_link_name(const struct link_facts *l);

#endif

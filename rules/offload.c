/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/offload.h"

#include <math.h>
#include <string.h>

#include "rules/thresholds.h"
#include "src/model/cpu.h"

/* A device does a checksum for all protocols, or one for each version of IP. */
#define MAX_NAMES 2
struct feature_names { const char *names[MAX_NAMES]; };

static const struct feature_names names_v4[] = {
	[OFFLOAD_CHECKSUM] = { { "tx-checksum-ip-generic", "tx-checksum-ipv4" } },
	[OFFLOAD_SCATTER_GATHER] = { { "tx-scatter-gather" } },
	[OFFLOAD_TSO] = { { "tx-tcp-segmentation" } },
	[OFFLOAD_GSO] = { { "tx-generic-segmentation" } },
	[OFFLOAD_GRO] = { { "rx-gro" } },
};
static const struct feature_names names_v6[] = {
	[OFFLOAD_CHECKSUM] = { { "tx-checksum-ip-generic", "tx-checksum-ipv6" } },
	[OFFLOAD_SCATTER_GATHER] = { { "tx-scatter-gather" } },
	[OFFLOAD_TSO] = { { "tx-tcp6-segmentation" } },
	[OFFLOAD_GSO] = { { "tx-generic-segmentation" } },
	[OFFLOAD_GRO] = { { "rx-gro" } },
};

static bool is_ipv6(const struct exam *e)
{
	/* An IPv4 address mapped into IPv6 travels as IPv4. */
	return e->path.peer_address.k == ND_KNOWN && strchr(e->path.peer_address.v, ':') &&
	       strncmp(e->path.peer_address.v, "::ffff:", 7) != 0;
}

static struct offload_state state_on(const struct facts *f, const struct link_facts *l,
				     const struct feature_names *names)
{
	struct offload_state s = {
		.feature = names->names[0], .link = l, .reason = ND_UNREAD,
	};
	bool possible = false, seen = false;
	size_t i;

	for (i = 0; i < MAX_NAMES && names->names[i] && l->ifindex.k == ND_KNOWN; i++) {
		const struct feature_facts *x = facts_feature(f, l->ifindex.v, names->names[i]);

		if (!x || x->active.k != ND_KNOWN) {
			if (!seen)
				s.reason = x ? x->active.k : ND_ABSENT;
			continue;
		}
		if (x->active.v) {
			s.status = OFFLOAD_ON;
			return s;
		}
		if (!possible && nd_is_true(x->changeable))
			s.feature = names->names[i];
		possible = possible || nd_is_true(x->changeable);
		seen = true;
	}
	if (seen)
		s.status = possible ? OFFLOAD_OFF : OFFLOAD_IMPOSSIBLE;
	return s;
}

struct offload_state offload_state_of(const struct exam *e, enum side side, enum offload o)
{
	const struct feature_names *names = is_ipv6(e) ? &names_v6[o] : &names_v4[o];
	const struct link_facts *egress = exam_egress(e, side), *port = exam_port(e, side);
	struct offload_state s = { .feature = names->names[0], .reason = ND_UNREAD }, below;

	/* Received packets are merged where they come in, sent ones cut where they are routed. */
	if (o == OFFLOAD_GRO)
		egress = port;
	if (!egress)
		return s;
	s = state_on(e->facts[side], egress, names);
	if (s.status != OFFLOAD_ON || !port || port == egress)
		return s;
	below = state_on(e->facts[side], port, names);
	return below.status == OFFLOAD_OFF ? below : s;
}

const char *offload_link_name(const struct link_facts *l)
{
	return l && l->name.k == ND_KNOWN ? l->name.v : "the link";
}

const char *offload_fact(struct rule_output *out, enum side side, const struct offload_state *s)
{
	if (!s->link)
		return rule_text(out, "%s.links: the one to the peer", side_word(side));
	return rule_text(out, "%s.features[%s,%s].active", side_word(side),
			 offload_link_name(s->link), s->feature);
}

bool offload_is_off(const struct rule_input *in, struct rule_output *out,
		    const struct offload_state *s, const char *what)
{
	switch (s->status) {
	case OFFLOAD_UNKNOWN:
		rule_missing(out, offload_fact(out, in->side, s), s->reason, NULL);
		return false;
	case OFFLOAD_IMPOSSIBLE:
		rule_not_applicable(out, "the device has no %s", what);
		return false;
	case OFFLOAD_ON:
		rule_clear(out, "%s is on", what);
		return false;
	case OFFLOAD_OFF:
		break;
	}
	return true;
}

bool offload_wire_is_full(const struct rule_input *in)
{
	static const enum side ends[] = { SIDE_LOCAL, SIDE_PEER };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		const struct ceiling *c = ladder_find(in->ladder, in->direction, CEILING_WIRE,
						      ends[i]);

		if (c && c->known && in->measured_bps >= TARGET_MET * c->low_bps)
			return true;
	}
	return false;
}

bool offload_arrives_whole(const struct traffic_end *t, const struct link_facts *port)
{
	const struct link_sample *s;

	if (!t->end->present || !t->end->window || port->ifindex.k != ND_KNOWN ||
	    port->mtu.k != ND_KNOWN)
		return false;
	s = counters_link(t->end->window, port->ifindex.v);
	return s && s->rx_bytes.k == ND_KNOWN && s->rx_packets.k == ND_KNOWN && s->rx_packets.v &&
	       (double)s->rx_bytes.v / (double)s->rx_packets.v >=
	       OFFLOAD_WHOLE_PACKETS * (double)port->mtu.v;
}

/* ---- the experiment: half the segment size ---- */

/* CPU of our traffic in a run, in cores; 0 unknown. */
static double our_cores(const struct traffic_end *t, const struct run *run, bool *disturbed)
{
	struct traffic_end in_run = *t;
	struct cpu_use u;

	in_run.run = run;
	in_run.end = &run->ends[t->side];
	cpu_use_of(&in_run, &u);
	if (!u.workers_known)
		return 0;
	*disturbed |= u.known && u.foreign >= CPU_CONTENTION_FOREIGN * u.ncores;
	/* On one machine softirqs run in the sender's context, so in its threads' time. */
	if (t->shared)
		return u.workers;
	return u.known ? fmin(u.busy, u.workers + u.softirq) : 0;
}

static double segment_of(const struct traffic_end *t, const struct run *run)
{
	struct nd_u64 mss = END_FLOW_MIN(&run->ends[run_sender(t->direction)], snd_mss);

	if (mss.k != ND_KNOWN)
		mss = END_FLOW_MIN(&run->ends[run_receiver(t->direction)], rcv_mss);
	return mss.k == ND_KNOWN ? (double)mss.v : 0;
}

void packet_experiment_of(const struct traffic_end *t, struct packet_experiment *x)
{
	const struct run *half = exam_run_for(t->exam, t->direction, RUN_HALF_SEGMENTS);
	struct cpu_packet_cost cost;

	*x = (struct packet_experiment){ 0 };
	if (!half)
		return;
	x->rate_bps = t->measured_bps;
	x->half_rate_bps = (double)half->goodput_bps.v;
	x->segment = segment_of(t, t->run);
	x->half_segment = segment_of(t, half);
	x->cores = our_cores(t, t->run, &x->disturbed);
	x->half_cores = our_cores(t, half, &x->disturbed);
	if (!(x->rate_bps > 0) || !(x->half_rate_bps > 0) || !(x->cores > 0) ||
	    !(x->half_cores > 0) || !(x->half_segment < x->segment))
		return;
	x->half = half;
	x->cost_ratio = cpu_cost(x->half_cores, x->half_rate_bps) /
			cpu_cost(x->cores, x->rate_bps);
	x->confirms = x->cost_ratio >= OFFLOAD_EXPERIMENT_COST &&
		      x->half_rate_bps <= OFFLOAD_EXPERIMENT_RATE * x->rate_bps &&
		      !cpu_packet_cost_solve(
			&(struct cpu_packet_run){ x->rate_bps, x->cores, x->segment },
			&(struct cpu_packet_run){ x->half_rate_bps, x->half_cores,
						  x->half_segment }, &cost);
}

bool packet_experiment_predict(const struct packet_experiment *x, double segment, double *low_bps,
			       double *high_bps)
{
	const struct cpu_packet_run full = { x->rate_bps, x->cores, x->segment };
	const struct cpu_packet_run half = { x->half_rate_bps, x->half_cores, x->half_segment };

	return x->confirms && segment > x->segment &&
	       !cpu_packet_cost_predict(&full, &half, segment, x->cores, OFFLOAD_EXPERIMENT_ERROR,
					low_bps, high_bps);
}

void packet_experiment_bound(const struct rule_input *in, double *low_bps, double *high_bps)
{
	const struct ceiling *c = ladder_find(in->ladder, in->direction, CEILING_CPU,
					      side_other(in->side));

	if (!c || !(c->high_bps > 0) || nd_is_true(in->exam->path.same_machine))
		return;
	*low_bps = fmin(*low_bps, fmax(c->low_bps, in->measured_bps));
	*high_bps = fmin(*high_bps, fmax(c->high_bps, in->measured_bps));
}

void finding_experiment(struct rule_output *out, struct finding *f, const struct traffic_end *t,
			const struct packet_experiment *x)
{
	if (!x->half)
		return;
	if (x->confirms)
		f->proof = PROOF_EXPERIMENT;
	else
		f->confidence = 0.6;	/* the experiment did not confirm what the settings say */
	finding_number(out, f, rule_text(out, "runs[%s].goodput_bps", run_name(x->half)),
		       x->half_rate_bps, UNIT_BITS_PER_SECOND,
		       rule_text(out, "<= %g of that with full segments", OFFLOAD_EXPERIMENT_RATE),
		       rule_text(out, "experiment: segments of %.0f, not %.0f bytes",
				 x->half_segment, x->segment));
	finding_number(out, f, rule_text(out, "runs[%s] CPU time a byte, against runs[%s]",
					 run_name(x->half), run_name(t->run)),
		       x->cost_ratio, UNIT_NONE,
		       rule_text(out, ">= %g", OFFLOAD_EXPERIMENT_COST), "experiment");
}

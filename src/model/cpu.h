/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU: the rate at which a core is full, and what spreading the work or
 * fewer packets would give.  Pure arithmetic.  Rates bit/s, shares 0..1 of a
 * core's time, costs core-seconds per bit.
 */
#ifndef ND_MODEL_CPU_H
#define ND_MODEL_CPU_H

#include <stdbool.h>
#include <stddef.h>

/* Core-seconds per bit of a stage that used `busy` of a core at rate_bps; 0 unknown. */
double cpu_cost(double busy, double rate_bps);
/* Rate at which a core that is `busy` now would be full: rate / busy.  0 unknown. */
double cpu_core_bps(double rate_bps, double busy);
/* Share lost to the hypervisor takes that part of any CPU ceiling. */
double cpu_with_steal(double ceiling_bps, double steal);

/* All stages on one core: 1 / sum of costs. */
double cpu_shared_core_bps(const double *costs, size_t n);
/* Each stage on a core of its own: 1 / the largest, less cache traffic between them. */
double cpu_pipeline_bps(const double *costs, size_t n, bool across_nodes);

/*
 * How many cores' worth n flows keep busy when hashed over q queues: n / E[fullest queue].
 * Simulated; interpolated between the simulated points, 1 for one flow or queue.
 * It is a lower bound (flows on emptier queues run faster).
 */
double cpu_effective_queues(double flows, double queues);

/*
 * Cost of a packet against cost of a byte.  Two runs at segment sizes a and b:
 * core-seconds per byte = per_packet / segment + per_byte.
 */
struct cpu_packet_cost {
	double per_packet_s;	/* core-seconds per packet */
	double per_byte_s;	/* core-seconds per byte */
};
struct cpu_packet_run { double rate_bps, cores_used, segment; };

/*
 * Solves for the two costs.  -ERANGE when the runs are too alike (segments
 * within 20 %) or contradict the model (more CPU per byte with larger segments
 * beyond noise, which is clamped to 0); -EINVAL for unknown inputs.
 */
int cpu_packet_cost_solve(const struct cpu_packet_run *a, const struct cpu_packet_run *b,
			  struct cpu_packet_cost *out);
/*
 * Rate that `cores` of CPU time carry at another segment (or aggregate) size,
 * as [low, high]: both runs' CPU shares and rates are taken to be good to
 * `error` (0.03), which grows with the distance extrapolated.
 */
int cpu_packet_cost_predict(const struct cpu_packet_run *a, const struct cpu_packet_run *b,
			    double segment, double cores, double error, double *low_bps,
			    double *high_bps);

#endif

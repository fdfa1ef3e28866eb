/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/cpu.h"

#include <errno.h>
#include <math.h>

#define PIPELINE_EFFICIENCY 0.85	/* cache lines move between the stages' cores */
#define NODE_EFFICIENCY 0.80		/* and between nodes */
#define SEGMENTS_DIFFER 1.2		/* closer sizes only measure noise */

double cpu_cost(double busy, double rate_bps)
{
	return busy > 0 && rate_bps > 0 ? busy / rate_bps : 0;
}

double cpu_core_bps(double rate_bps, double busy)
{
	return busy > 0 && rate_bps > 0 ? rate_bps / busy : 0;
}

double cpu_with_steal(double ceiling_bps, double steal)
{
	return ceiling_bps * (1 - fmin(fmax(steal, 0), 1));
}

double cpu_shared_core_bps(const double *costs, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += costs[i];
	return sum > 0 ? 1 / sum : 0;
}

double cpu_pipeline_bps(const double *costs, size_t n, bool across_nodes)
{
	double largest = 0;
	size_t i;

	for (i = 0; i < n; i++)
		largest = fmax(largest, costs[i]);
	if (!(largest > 0))
		return 0;
	return (across_nodes ? NODE_EFFICIENCY : PIPELINE_EFFICIENCY) / largest;
}

#define SPREAD_FLOWS 7
#define SPREAD_QUEUES 6

/* Simulated; the first row and column are exact. */
static const double spread_flows[SPREAD_FLOWS] = { 1, 2, 4, 8, 16, 32, 64 };
static const double spread_queues[SPREAD_QUEUES] = { 1, 2, 4, 8, 16, 32 };
static const double spread[SPREAD_FLOWS][SPREAD_QUEUES] = {
	{ 1, 1.0, 1.0, 1.0, 1.0, 1.0 },
	{ 1, 1.3, 1.6, 1.8, 1.9, 1.9 },
	{ 1, 1.5, 1.9, 2.4, 3.0, 3.4 },
	{ 1, 1.6, 2.3, 3.1, 3.9, 4.8 },
	{ 1, 1.7, 2.6, 3.8, 5.2, 6.7 },
	{ 1, 1.8, 2.9, 4.5, 6.6, 9.1 },
	{ 1, 1.8, 3.2, 5.2, 8.1, 11.8 },
};

/* Index of the cell's lower edge and the position inside it, on a logarithmic axis. */
static size_t locate(const double *axis, size_t n, double v, double *within)
{
	size_t i;

	v = fmin(fmax(v, axis[0]), axis[n - 1]);
	for (i = 0; i + 2 < n && v > axis[i + 1]; i++)
		;
	*within = log(v / axis[i]) / log(axis[i + 1] / axis[i]);
	return i;
}

double cpu_effective_queues(double flows, double queues)
{
	double f, q, low, high;
	size_t i, j;

	if (!(flows >= 1) || !(queues >= 1))
		return 0;
	i = locate(spread_flows, SPREAD_FLOWS, flows, &f);
	j = locate(spread_queues, SPREAD_QUEUES, queues, &q);
	low = spread[i][j] + q * (spread[i][j + 1] - spread[i][j]);
	high = spread[i + 1][j] + q * (spread[i + 1][j + 1] - spread[i + 1][j]);
	return fmin(low + f * (high - low), fmin(flows, queues));
}

static bool run_usable(const struct cpu_packet_run *r)
{
	return r->rate_bps > 0 && r->cores_used > 0 && r->segment > 0;
}

static double seconds_per_byte(const struct cpu_packet_run *r)
{
	return r->cores_used * 8 / r->rate_bps;
}

static bool sizes_differ(double a, double b)
{
	return fmax(a, b) >= SEGMENTS_DIFFER * fmin(a, b);
}

/* The line through two points of (1/segment, seconds per byte), not clamped. */
static struct cpu_packet_cost line_through(double segment_a, double cost_a, double segment_b,
					   double cost_b)
{
	double slope = (cost_a - cost_b) / (1 / segment_a - 1 / segment_b);

	return (struct cpu_packet_cost){ slope, cost_a - slope / segment_a };
}

int cpu_packet_cost_solve(const struct cpu_packet_run *a, const struct cpu_packet_run *b,
			  struct cpu_packet_cost *out)
{
	if (!run_usable(a) || !run_usable(b))
		return -EINVAL;
	if (!sizes_differ(a->segment, b->segment))
		return -ERANGE;
	*out = line_through(a->segment, seconds_per_byte(a), b->segment, seconds_per_byte(b));
	/* Half the cost of a byte of the small run is noise no window explains. */
	if (out->per_packet_s < 0) {
		double larger = a->segment > b->segment ? seconds_per_byte(a) : seconds_per_byte(b);

		if (-out->per_packet_s / fmin(a->segment, b->segment) > larger / 2)
			return -ERANGE;
		*out = (struct cpu_packet_cost){ 0, larger };
	}
	/* All the cost is in packets: nothing is negative in reality. */
	if (out->per_byte_s < 0)
		out->per_byte_s = 0;
	return 0;
}

/* Cost of a byte by the line, held between "no byte cost" and "no packet cost". */
static double cost_at(const struct cpu_packet_run *a, double cost_a, const struct cpu_packet_run *b,
		      double cost_b, double segment)
{
	struct cpu_packet_cost c = line_through(a->segment, cost_a, b->segment, cost_b);
	const struct cpu_packet_run *large = a->segment > b->segment ? a : b;
	double cost_large = a->segment > b->segment ? cost_a : cost_b;
	double all_packets = cost_large * large->segment / segment;

	if (segment > large->segment)
		return fmin(fmax(c.per_packet_s / segment + c.per_byte_s, all_packets), cost_large);
	return fmax(c.per_packet_s / segment + c.per_byte_s, fmin(all_packets, cost_large));
}

int cpu_packet_cost_predict(const struct cpu_packet_run *a, const struct cpu_packet_run *b,
			    double segment, double cores, double error, double *low_bps,
			    double *high_bps)
{
	double low = 0, high = 0;
	struct cpu_packet_cost c;
	int i, err;

	if (!(segment > 0) || !(cores > 0) || !(error >= 0) || error >= 1)
		return -EINVAL;
	err = cpu_packet_cost_solve(a, b, &c);
	if (err)
		return err;
	/* Either run may be off either way: the corners bound the line. */
	for (i = 0; i < 4; i++) {
		double cost_a = seconds_per_byte(a) * (1 + (i & 1 ? error : -error));
		double cost_b = seconds_per_byte(b) * (1 + (i & 2 ? error : -error));
		double rate = cores * 8 / cost_at(a, cost_a, b, cost_b, segment);

		low = i == 0 || rate < low ? rate : low;
		high = i == 0 || rate > high ? rate : high;
	}
	*low_bps = low;
	*high_bps = high;
	return 0;
}

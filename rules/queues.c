/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/queues.h"

#include <math.h>

#include "rules/thresholds.h"
#include "src/model/cpu.h"

double softirq_share(const struct core_load *c)
{
	double softirq = c->softirq.k == ND_KNOWN ? report_share(c->softirq.v) : 0;

	return softirq + (c->irq.k == ND_KNOWN ? report_share(c->irq.v) : 0);
}

const struct core_load *softirq_core(const struct run_end *end)
{
	const struct core_load *most = NULL;
	size_t i;

	for (i = 0; end->present && i < end->ncores; i++) {
		const struct core_load *c = &end->cores[i];

		if (c->busy.k != ND_KNOWN || c->softirq.k != ND_KNOWN)
			continue;
		if (!most || softirq_share(c) > softirq_share(most))
			most = c;
	}
	return most;
}

bool cpu_is_local(const struct facts *f, const struct link_facts *port, uint64_t cpu)
{
	const struct cpu_facts *c = facts_cpu(f, cpu);

	/* -1: the firmware did not say, so no core is farther than another. */
	if (port->numa_node.k != ND_KNOWN || port->numa_node.v < 0)
		return true;
	return !c || c->node.k != ND_KNOWN || c->node.v == (uint64_t)port->numa_node.v;
}

static bool first_of_core(const struct facts *f, size_t row)
{
	const struct cpu_facts *c = &f->cpus[row];
	size_t i;

	if (c->package.k != ND_KNOWN || c->core.k != ND_KNOWN)
		return true;
	for (i = 0; i < row; i++)
		if (nd_u64_is(f->cpus[i].package, c->package.v) &&
		    nd_u64_is(f->cpus[i].core, c->core.v))
			return false;
	return true;
}

double local_cores(const struct facts *f, const struct link_facts *port)
{
	double n = 0;
	size_t i;

	for (i = 0; f && i < f->ncpus; i++)
		if (f->cpus[i].cpu.k == ND_KNOWN && cpu_is_local(f, port, f->cpus[i].cpu.v) &&
		    first_of_core(f, i))
			n++;
	return n;
}

/* A full core whose softirqs are cut to 1 / k of what they are now does this many times as much. */
static double relieved(const struct core_load *c, double k)
{
	double busy = report_share(c->busy.v), part = busy > 0 ? softirq_share(c) / busy : 0;

	return k > 1 ? 1 / (1 - fmin(1, part) * (1 - 1 / k)) : 1;
}

void spread_rates(const struct traffic_end *t, const struct core_load *c, double share,
		  double queues, double *low_bps, double *high_bps)
{
	struct nd_f64 worker = end_busiest_worker(t->end);
	double flows = (double)t->run->spec.streams, rest = 1 - share;

	*low_bps = t->measured_bps *
		   (rest + share * relieved(c, cpu_effective_queues(flows, queues)));
	*high_bps = t->measured_bps * (rest + share * relieved(c, fmin(flows, queues)));
	if (worker.k == ND_KNOWN && worker.v > 0)
		*high_bps = fmin(*high_bps, t->measured_bps / fmin(1, worker.v));
	*high_bps = fmax(*high_bps, t->measured_bps);
	*low_bps = fmin(*low_bps, *high_bps);
}

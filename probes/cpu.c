/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPUs: where each one sits, and how fast it may and does run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

#define CPU "/sys/devices/system/cpu/cpu%u/"

/*
 * Kernels before 5.18 may sleep 10 ms per CPU to measure a frequency.  A machine
 * with hundreds of them must not hold up a run: those beyond stay ND_UNREAD.
 */
#define FREQUENCY_BUDGET_NS 150000000ull

static struct nd_str read_word(struct source *src, struct arena *mem, unsigned int cpu,
			       const char *file)
{
	char line[64];
	char *copy;
	int rc = source_read_line(src, line, sizeof(line), CPU "%s", cpu, file);

	if (rc)
		return nd_str_unknown(nd_known_from_errno(-rc));
	copy = arena_strdup(mem, line);
	if (!copy)
		return nd_str_unknown(ND_FAILED);
	text_make_printable(copy);
	return nd_str(copy);
}

/* A governor or driver is one word for the whole machine: keep it once. */
static struct nd_str read_shared_word(struct source *src, struct facts *f, unsigned int cpu,
				      const char *file, struct nd_str before)
{
	char line[64];

	if (before.k == ND_KNOWN &&
	    !source_read_line(src, line, sizeof(line), CPU "%s", cpu, file) &&
	    !strcmp(line, before.v))
		return before;
	return read_word(src, f->mem, cpu, file);
}

static int read_cpu(struct source *src, struct facts *f, unsigned int cpu, bool frequency)
{
	struct nd_str governor = nd_str_unknown(ND_UNREAD), driver = governor;
	struct cpu_facts *row;

	if (f->ncpus) {
		governor = f->cpus[f->ncpus - 1].governor;
		driver = f->cpus[f->ncpus - 1].driver;
	}
	row = arena_append_row(f->mem, (void **)&f->cpus, &f->ncpus, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->cpu = nd_u64(cpu);
	row->node = nd_u64_unknown(ND_ABSENT);
	row->package = source_read_u64(src, CPU "topology/physical_package_id", cpu);
	row->core = source_read_u64(src, CPU "topology/core_id", cpu);
	row->siblings = source_read_cpu_list(src, CPU "topology/thread_siblings_list", cpu);
	row->governor = read_shared_word(src, f, cpu, "cpufreq/scaling_governor", governor);
	row->driver = read_shared_word(src, f, cpu, "cpufreq/scaling_driver", driver);
	row->limit_khz = source_read_u64(src, CPU "cpufreq/scaling_max_freq", cpu);
	row->hardware_khz = source_read_u64(src, CPU "cpufreq/cpuinfo_max_freq", cpu);
	if (frequency)
		row->current_khz = source_read_u64(src, CPU "cpufreq/scaling_cur_freq", cpu);
	return 0;
}

/* Kernels without NUMA have no nodes at all; then every node stays ND_ABSENT. */
static void read_nodes(struct source *src, struct facts *f)
{
	struct names names = { 0 };

	if (source_list(src, "/sys/devices/system/node", &names))
		return;
	for (size_t i = 0; i < names.n; i++) {
		struct nd_cpus cpus;
		uint64_t node;

		if (strncmp(names.v[i], "node", 4) || parse_u64(names.v[i] + 4, &node))
			continue;
		cpus = source_read_cpu_list(src, "/sys/devices/system/node/%s/cpulist",
					    names.v[i]);
		for (size_t c = 0; c < f->ncpus; c++) {
			if (nd_cpus_has(&cpus, (unsigned int)f->cpus[c].cpu.v))
				f->cpus[c].node = nd_u64(node);
		}
	}
	names_free(&names);
}

static int collect(struct source *src, const struct probe_context *ctx, struct facts *f,
		   struct error *detail)
{
	struct nd_cpus online = source_read_cpu_list(src, "/sys/devices/system/cpu/online");
	uint64_t deadline = source_monotonic_ns(src) + FREQUENCY_BUDGET_NS;

	(void)ctx;
	if (online.k != ND_KNOWN)
		return error_set(detail, online.k == ND_ABSENT ? ENOENT : EIO,
				 "/sys/devices/system/cpu/online: %s", nd_known_word(online.k));
	for (unsigned int cpu = 0; cpu < ND_MAX_CPUS; cpu++) {
		if (!nd_cpus_has(&online, cpu))
			continue;
		if (read_cpu(src, f, cpu, source_monotonic_ns(src) < deadline))
			return -ENOMEM;
	}
	read_nodes(src, f);
	return 0;
}

const struct probe probe_cpu = {
	.name = "cpu",
	.summary = "topology, NUMA node, governor and frequency of each CPU",
	.phase = PROBE_HOST,
	.collect = collect,
};

/* CPUs that traffic can reach: ours, and those that take the NICs' interrupts. */
static bool cpu_matters(const struct facts *f, unsigned int cpu)
{
	if (f->host.cpus_allowed.k != ND_KNOWN || nd_cpus_has(&f->host.cpus_allowed, cpu))
		return true;
	for (size_t i = 0; i < f->nirqs; i++) {
		if (nd_cpus_has(&f->irqs[i].effective, cpu))
			return true;
	}
	return false;
}

static int sample(struct source *src, const struct facts *f, struct counters *c)
{
	uint64_t deadline = source_monotonic_ns(src) + FREQUENCY_BUDGET_NS;

	for (size_t i = 0; i < f->ncpus; i++) {
		struct freq_sample *row;
		struct nd_u64 ms;
		unsigned int cpu;

		if (f->cpus[i].cpu.k != ND_KNOWN || f->cpus[i].cpu.v >= ND_MAX_CPUS)
			continue;
		cpu = (unsigned int)f->cpus[i].cpu.v;
		if (!cpu_matters(f, cpu))
			continue;
		/* The probe found no cpufreq: nor will we, ten times a run. */
		if (f->cpus[i].hardware_khz.k == ND_ABSENT && f->cpus[i].limit_khz.k == ND_ABSENT)
			continue;
		if (source_monotonic_ns(src) >= deadline)
			break;
		row = arena_append_row(c->mem, (void **)&c->freqs, &c->nfreqs, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->cpu = nd_u64(cpu);
		row->current_khz = source_read_u64(src, CPU "cpufreq/scaling_cur_freq", cpu);
		ms = source_read_u64(src, CPU "thermal_throttle/core_throttle_total_time_ms", cpu);
		row->throttle_us = ms.k == ND_KNOWN && ms.v <= UINT64_MAX / 1000 ?
			nd_u64(ms.v * 1000) :
			nd_u64_unknown(ms.k == ND_KNOWN ? ND_INVALID : ms.k);
	}
	return 0;
}

const struct counter_probe counter_freqs = {
	.name = "freqs",
	.rate = COUNTER_EVERY_SECOND,
	.sample = sample,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Interrupt vectors of the NICs: which CPUs may and do take them, how often.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/interrupts.h"
#include "probes/link_device.h"
#include "probes/probes_table.h"
#include "src/core/text.h"

/* A function has at most 2048 MSI-X vectors. */
#define VECTORS_MAX 2048

static struct irq_facts *row_of(const struct facts *f, uint64_t irq)
{
	for (size_t i = 0; i < f->nirqs; i++) {
		if (nd_u64_is(f->irqs[i].irq, irq))
			return &f->irqs[i];
	}
	return NULL;
}

/* 0 or -ENOMEM. */
static int add_vector(struct source *src, struct facts *f, uint64_t irq,
		      const struct link_facts *link)
{
	struct irq_facts *row;
	unsigned long long n = irq;

	if (row_of(f, irq))
		return 0;
	row = arena_append_row(f->mem, (void **)&f->irqs, &f->nirqs, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->irq = nd_u64(irq);
	row->ifindex = link->ifindex;
	row->name = nd_str_unknown(ND_ABSENT);
	row->affinity = source_read_cpu_list(src, "/proc/irq/%llu/smp_affinity_list", n);
	row->effective = source_read_cpu_list(src, "/proc/irq/%llu/effective_affinity_list", n);
	row->node = source_read_i64(src, "/proc/irq/%llu/node", n);
	return 0;
}

/* Vectors of a device directory: MSI ones by file name, else the one legacy line. */
static int add_device_vectors(struct source *src, struct facts *f, const char *device,
			      const struct link_facts *link)
{
	char path[SYSFS_PATH_MAX + 16];
	struct names vectors = { 0 };
	int rc;

	snprintf(path, sizeof(path), "%s/msi_irqs", device);
	if (source_list(src, path, &vectors)) {
		struct nd_u64 legacy = source_read_u64(src, "%s/irq", device);

		return legacy.k == ND_KNOWN && legacy.v ? add_vector(src, f, legacy.v, link) : 0;
	}
	rc = 0;
	for (size_t i = 0; !rc && i < vectors.n && i < VECTORS_MAX; i++) {
		uint64_t irq;

		if (!parse_u64(vectors.v[i], &irq))
			rc = add_vector(src, f, irq, link);
	}
	names_free(&vectors);
	return rc;
}

static int add_link_vectors(struct source *src, struct facts *f, struct link_facts *link,
			    void *data)
{
	char path[SYSFS_PATH_MAX];
	struct link_device dev;

	(void)data;
	if (link_device_find(src, link, &dev) || dev.backing == LINK_SOFTWARE)
		return 0;
	if (dev.pci_address[0])
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", dev.pci_address);
	else if (dev.path[0])
		snprintf(path, sizeof(path), "%s", dev.path);
	else
		return 0;
	return add_device_vectors(src, f, path, link);
}

/* Whether `name` occurs in `text` as a whole word: "eth1" is not in "eth10-TxRx-0". */
static bool names_link(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p++) {
		bool starts = p == text || strchr(" -,@:_", p[-1]);

		if (starts && (!p[len] || strchr(" -,@:_", p[len])))
			return true;
	}
	return false;
}

/*
 * One function can carry several links (four ports of one adapter), and a NIC on a
 * SoC has no directory that lists its vectors: the handler's name tells then.
 */
static const struct link_facts *link_named(const struct probe_context *ctx, const struct facts *f,
					   const char *name)
{
	for (size_t i = 0; i < f->nlinks; i++) {
		const struct link_facts *link = &f->links[i];

		/* Software links have no bus (says the PCI probe), hence no vectors. */
		if (link->bus.k == ND_KNOWN && link_name_usable(link) &&
		    names_link(name, link->name.v) && probe_link_wanted(ctx, f, link))
			return link;
	}
	return NULL;
}

static int name_vector(struct source *src, const struct probe_context *ctx, struct facts *f,
		       uint64_t irq, const char *name)
{
	const struct link_facts *link = link_named(ctx, f, name);
	struct irq_facts *row = row_of(f, irq);
	char *copy;
	int rc;

	if (!row && link) {
		rc = add_vector(src, f, irq, link);
		if (rc)
			return rc;
		row = row_of(f, irq);
	}
	if (!row)
		return 0;
	if (link)
		row->ifindex = link->ifindex;
	if (!name[0])
		return 0;
	copy = arena_strdup(f->mem, name);
	if (!copy)
		return -ENOMEM;
	text_make_printable(copy);
	row->name = nd_str(copy);
	return 0;
}

/* *text is the caller's to free, also after an error. */
static int read_interrupts(struct source *src, char **text, struct interrupts *table)
{
	ssize_t n = source_read_all(src, "/proc/interrupts", INTERRUPTS_MAX, text);

	return n < 0 ? (int)n : interrupts_begin(*text, table);
}

static int read_names(struct source *src, const struct probe_context *ctx, struct facts *f)
{
	uint64_t counts[ND_MAX_CPUS];
	struct interrupt_row row;
	struct interrupts table;
	char *text;
	int rc = read_interrupts(src, &text, &table);

	while (!rc && interrupts_next(&table, &row)) {
		const char *name;

		if (!interrupt_row_split(&table, &row, counts, &name))
			rc = name_vector(src, ctx, f, row.irq, name);
	}
	free(text);
	return rc;
}

static int collect(struct source *src, const struct probe_context *ctx, struct facts *f,
		   struct error *detail)
{
	int rc = probe_each_wanted_link(src, ctx, f, add_link_vectors, NULL);

	if (rc)
		return rc;
	rc = read_names(src, ctx, f);
	if (rc && rc != -ENOMEM)
		error_set(detail, -rc, "/proc/interrupts: %s", strerror(-rc));
	return f->nirqs && rc != -ENOMEM ? 0 : rc;
}

const struct probe probe_irq = {
	.name = "irq",
	.summary = "interrupt vectors of the NICs and the CPUs they go to",
	.phase = PROBE_DEVICES,
	.collect = collect,
};

/*
 * Vectors times CPUs would be thousands of rows of zeros.  A zero is only needed
 * where the count may soon grow: on the CPUs that the vector is bound to.
 */
static bool count_matters(const struct irq_facts *irq, unsigned int cpu, uint64_t count)
{
	const struct nd_cpus *bound = irq->effective.k == ND_KNOWN ? &irq->effective :
								     &irq->affinity;

	return count || nd_cpus_has(bound, cpu);
}

static int sample_row(const struct interrupts *table, const uint64_t *counts,
		      const struct irq_facts *irq, struct counters *c)
{
	for (size_t i = 0; i < table->ncpus; i++) {
		struct irq_sample *row;

		if (!count_matters(irq, table->cpus[i], counts[i]))
			continue;
		row = arena_append_row(c->mem, (void **)&c->irqs, &c->nirqs, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->irq = irq->irq;
		row->cpu = nd_u64(table->cpus[i]);
		row->count = nd_u64(counts[i]);
	}
	return 0;
}

static int sample(struct source *src, const struct facts *f, struct counters *c)
{
	uint64_t counts[ND_MAX_CPUS];
	struct interrupt_row row;
	struct interrupts table;
	char *text;
	int rc;

	if (!f->nirqs)
		return 0;
	rc = read_interrupts(src, &text, &table);
	while (!rc && interrupts_next(&table, &row)) {
		const struct irq_facts *irq = row_of(f, row.irq);
		const char *name;

		if (irq && !interrupt_row_split(&table, &row, counts, &name))
			rc = sample_row(&table, counts, irq, c);
	}
	free(text);
	return rc;
}

const struct counter_probe counter_irqs = {
	.name = "irqs",
	/* The kernel sums up megabytes of text on large machines: too dear for 10 Hz. */
	.rate = COUNTER_EVERY_SECOND,
	.sample = sample,
};

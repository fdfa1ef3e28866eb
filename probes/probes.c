/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of probes and counter sources, and the loops over them.
 */
#include "probes/probes_table.h"

#include <errno.h>

const struct probe *const probes_table[] = {
	&probe_host,
	&probe_sysctl,
	&probe_cgroups,
	&probe_cpu,
	&probe_links,
	&probe_addresses,
	&probe_route,
	&probe_qdiscs,
	&probe_ethtool,
	&probe_pci,
	&probe_irq,	/* after pci: only links with a bus have vectors */
	&probe_queues,
	&probe_netdev,	/* after queues: adds to their rows */
};
const size_t probes_count = ARRAY_SIZE(probes_table);

const struct counter_probe *const counter_probes_table[] = {
	&counter_cpus,
	&counter_softirqs,
	&counter_softnet,
	&counter_mibs,
	&counter_cgroups,
	&counter_links,
	&counter_qdiscs,
	&counter_irqs,
	&counter_freqs,
	&counter_pci,
	&counter_nic,
};
const size_t counter_probes_count = ARRAY_SIZE(counter_probes_table);

static int run_probe(const struct probe *p, struct source *src, const struct probe_context *ctx,
		     struct facts *f)
{
	struct error detail = { "" };
	uint64_t start = source_monotonic_ns(src), end;
	int rc = p->collect(src, ctx, f, &detail);
	struct probe_result *row;
	char *text;

	end = source_monotonic_ns(src);
	row = arena_append_row(f->mem, (void **)&f->probes, &f->nprobes, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->probe = nd_str(p->name);
	row->state = nd_str(rc ? nd_known_word(nd_known_from_errno(-rc)) : "ok");
	/* A replayed clock may stand still or be missing altogether. */
	row->took_us = nd_u64(end > start ? (end - start) / 1000 : 0);
	row->detail = nd_str_unknown(ND_NOT_APPLICABLE);
	if (detail.text[0]) {
		text = arena_strdup(f->mem, detail.text);
		if (!text)
			return -ENOMEM;
		row->detail = nd_str(text);
	}
	return rc == -ENOMEM ? rc : 0;
}

int probes_collect(struct source *src, const struct probe_context *ctx, struct facts *f)
{
	static const struct probe_context nothing_known;
	int result = 0;

	if (!ctx)
		ctx = &nothing_known;
	for (int phase = 0; phase < PROBE_PHASES; phase++) {
		for (size_t i = 0; i < probes_count; i++) {
			if ((int)probes_table[i]->phase != phase)
				continue;
			/* Out of memory is remembered; smaller probes may still fit. */
			if (run_probe(probes_table[i], src, ctx, f))
				result = -ENOMEM;
		}
	}
	return result;
}

int probes_sample(struct source *src, const struct facts *f, enum counter_rate rate,
		  struct counters *c)
{
	int result = 0;

	c->clock.monotonic_ns = nd_u64(source_monotonic_ns(src));
	for (size_t i = 0; i < counter_probes_count; i++) {
		const struct counter_probe *p = counter_probes_table[i];

		/* Rows that cannot be read are missing: ND_UNREAD to whoever asks for them. */
		if (p->rate <= rate && p->sample(src, f, c) == -ENOMEM)
			result = -ENOMEM;
	}
	return result;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A driver's own statistics, under its own names.  The values have no netlink
 * message in any kernel: ETHTOOL_GSTATS.
 */
#include "probes/ethtool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/link_device.h"
#include "probes/probes_table.h"
#include "src/core/text.h"

/* Rows kept per link: drivers put those of the port before those of hundreds of queues. */
#define STATISTICS_KEPT 4096
#define STATISTICS_MAX 65536

struct statistic {
	char name[ETH_GSTRING_LEN + 1];
	uint32_t index;		/* in the driver's order */
	uint32_t repeat;	/* how many of that name came before */
};

static int compare_names(const void *a, const void *b)
{
	const struct statistic *x = a, *y = b;
	int rc = strcmp(x->name, y->name);

	return rc ? rc : (x->index > y->index) - (x->index < y->index);
}

static int compare_indices(const void *a, const void *b)
{
	const struct statistic *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* Trimmed, printable names and how often each came before; n entries, malloc'ed. */
static struct statistic *tidy_names(const struct ethtool_names *names, size_t n)
{
	struct statistic *s = calloc(n, sizeof(*s));

	if (!s)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		char raw[ETH_GSTRING_LEN + 1] = "";

		memcpy(raw, names->v[i], ETH_GSTRING_LEN);
		text_make_printable(raw);
		/* cxgb4 pads its names, vmxnet3 indents them. */
		snprintf(s[i].name, sizeof(s[i].name), "%s", trim(raw));
		s[i].index = (uint32_t)i;
	}
	/* vmxnet3 gives every queue the same names. */
	qsort(s, n, sizeof(*s), compare_names);
	for (size_t i = 1; i < n; i++) {
		if (!strcmp(s[i].name, s[i - 1].name))
			s[i].repeat = s[i - 1].repeat + 1;
	}
	qsort(s, n, sizeof(*s), compare_indices);
	return s;
}

/* The first of a name keeps it, those after it get "[1]", "[2]" ...  0 or -ENOMEM. */
int nic_statistics_add(const struct ethtool_names *names, const uint64_t *values, size_t nvalues,
		       struct nd_u64 ifindex, struct counters *c)
{
	size_t n = names->n < nvalues ? names->n : nvalues;
	struct statistic *s;
	int rc = 0;

	if (n > STATISTICS_KEPT)
		n = STATISTICS_KEPT;
	if (!n)
		return 0;
	s = tidy_names(names, n);
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct nic_sample *row;
		char *name;

		if (!s[i].name[0])
			continue;
		name = s[i].repeat ? arena_printf(c->mem, "%s[%u]", s[i].name, s[i].repeat) :
				     arena_strdup(c->mem, s[i].name);
		row = arena_append_row(c->mem, (void **)&c->nics, &c->nnics, sizeof(*row));
		if (!name || !row) {
			rc = -ENOMEM;
			break;
		}
		row->ifindex = ifindex;
		row->name = nd_str(name);
		row->value = nd_u64(values[i]);
	}
	free(s);
	return rc;
}

static int read_statistics(struct source *src, const struct link_facts *link, struct counters *c)
{
	struct ethtool_names names;
	struct ethtool_stats *s = NULL;
	size_t room, len;
	int rc;

	rc = ethtool_names_read(src, link->name.v, ETH_SS_STATS, STATISTICS_MAX, &names);
	if (rc)
		return rc;
	/* As with the names, the kernel writes as many as there are by now. */
	room = 2 * names.n + 1024;
	len = sizeof(*s) + room * sizeof(s->data[0]);
	s = calloc(1, len);
	if (!s) {
		rc = -ENOMEM;
		goto out;
	}
	s->cmd = ETHTOOL_GSTATS;
	s->n_stats = (uint32_t)names.n;
	rc = source_ethtool(src, link->name.v, s, len);
	/* A count that changed in between means names that belong to other values. */
	if (!rc && s->n_stats == names.n)
		rc = nic_statistics_add(&names, (const uint64_t *)s->data, s->n_stats,
					link->ifindex, c);
out:
	free(s);
	free(names.v);
	return rc;
}

static int sample(struct source *src, const struct facts *f, struct counters *c)
{
	for (size_t i = 0; i < f->nlinks; i++) {
		const struct link_facts *link = &f->links[i];

		/* Only of links that the ethtool probe has looked at. */
		if (link->driver.k != ND_KNOWN || !link_name_usable(link))
			continue;
		if (read_statistics(src, link, c) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

const struct counter_probe counter_nic = {
	.name = "nic",
	/* Some milliseconds of firmware's time each, one link after another. */
	.rate = COUNTER_AT_ENDS,
	.sample = sample,
};

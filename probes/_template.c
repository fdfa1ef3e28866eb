/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Template of a probe and of a counter probe; not compiled into netdoctor.
 *
 * Say here which file or netlink message is read, since which kernel it is
 * there, and what is odd about it.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdlib.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

/* ---- a probe: read once, before traffic ---- */

/* Pure: text is cut up in place.  Declare it in proc.h (or a header of its own) for its test. */
static struct nd_u64 parse_template(char *text)
{
	uint64_t value;
	char *word = next_word(&text);

	if (!word || parse_u64(word, &value))
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(value);
}

static int collect_template(struct source *src, const struct probe_context *ctx, struct facts *f,
			    struct error *detail)
{
	char line[64];
	int rc = source_read_line(src, line, sizeof(line), "/proc/sys/net/core/rmem_max");

	(void)ctx;
	/* What could not be read stays unknown, with the reason; others go on. */
	if (rc) {
		f->sysctl.rmem_max = nd_u64_unknown(nd_known_from_errno(-rc));
		return error_set(detail, -rc, "cannot read net.core.rmem_max");
	}
	f->sysctl.rmem_max = parse_template(line);
	return 0;
}

const struct probe probe_template = {
	.name = "template",
	.summary = "what it reads, one line",
	.phase = PROBE_HOST,
	.collect = collect_template,
};

/* ---- a probe of links: which of them is not its business ---- */

static int read_link(struct source *src, struct facts *f, struct link_facts *link, void *data)
{
	(void)f;
	(void)data;
	/* The link of that name in sysfs may be another network namespace's. */
	link->mtu = probe_sysfs_shows(src, link) ?
		    source_read_u64(src, "/sys/class/net/%s/mtu", link->name.v) :
		    nd_u64_unknown(ND_ABSENT);
	return 0;
}

static int collect_template_links(struct source *src, const struct probe_context *ctx,
				  struct facts *f, struct error *detail)
{
	(void)detail;
	return probe_each_wanted_link(src, ctx, f, read_link, NULL);
}

const struct probe probe_template_links = {
	.name = "template-links",
	.summary = "what it reads of each link, one line",
	.phase = PROBE_DEVICES,
	.collect = collect_template_links,
};

/* ---- a counter probe: read while traffic flows ---- */

static int sample_template(struct source *src, const struct facts *f, struct counters *c)
{
	struct nd_u64 value = source_read_u64(src, "/sys/class/net/lo/carrier_changes");
	struct link_sample *row;

	(void)f;
	if (value.k != ND_KNOWN)
		return -ENOENT;
	row = arena_append_row(c->mem, (void **)&c->links, &c->nlinks, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->ifindex = nd_u64(1);
	row->carrier_changes = value;
	return 0;
}

const struct counter_probe counter_template = {
	.name = "template",
	.rate = COUNTER_EVERY_SECOND,
	.sample = sample_template,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RSS: how the hash spreads flows over receive queues.  Netlink since 6.2;
 * before, ETHTOOL_GRSSH, and ETHTOOL_GRXFHINDIR for drivers without a hash key.
 */
#include "probes/ethtool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

/* Real tables have 128 to 4096 entries. */
#define RSS_ENTRIES_MAX 65536

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void rss_table_facts(const uint32_t *table, size_t n, struct link_facts *link)
{
	uint32_t *sorted;
	uint64_t distinct = 1;

	link->rss_table_size = link->rss_queues_used = nd_u64_unknown(ND_NOT_SUPPORTED);
	if (!n)
		return;
	link->rss_table_size = nd_u64(n);
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted) {
		link->rss_queues_used = nd_u64_unknown(ND_FAILED);
		return;
	}
	memcpy(sorted, table, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_u32);
	for (size_t i = 1; i < n; i++)
		distinct += sorted[i] != sorted[i - 1];
	link->rss_queues_used = nd_u64(distinct);
	free(sorted);
}

int rss_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	const struct nlattr *table = tb[ND_ETHTOOL_A_RSS_INDIR];

	if (!table)
		return rss_unknown(ND_NOT_SUPPORTED, f, link);
	if (mnl_attr_get_payload_len(table) % sizeof(uint32_t))
		return -EBADMSG;
	rss_table_facts(mnl_attr_get_payload(table),
			mnl_attr_get_payload_len(table) / sizeof(uint32_t), link);
	return 0;
}

/* The plain table.  -EOPNOTSUPP when the driver has none. */
static int indirection_ioctl(struct source *src, struct link_facts *link)
{
	struct ethtool_rxfh_indir size = { .cmd = ETHTOOL_GRXFHINDIR }, *full;
	int rc = source_ethtool(src, link->name.v, &size, sizeof(size));
	size_t len;

	if (rc)
		return rc;
	if (!size.size || size.size > RSS_ENTRIES_MAX)
		return size.size ? -EMSGSIZE : -EOPNOTSUPP;
	len = sizeof(*full) + size.size * sizeof(uint32_t);
	full = calloc(1, len);
	if (!full)
		return -ENOMEM;
	full->cmd = ETHTOOL_GRXFHINDIR;
	full->size = size.size;
	rc = source_ethtool(src, link->name.v, full, len);
	if (!rc && full->size == size.size)
		rss_table_facts(full->ring_index, full->size, link);
	else if (!rc)
		rc = -EBADMSG;
	free(full);
	return rc;
}

int rss_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	struct ethtool_rxfh size = { .cmd = ETHTOOL_GRSSH }, *full;
	int rc = source_ethtool(src, link->name.v, &size, sizeof(size));
	size_t len;

	(void)f;
	if (rc == -EOPNOTSUPP)
		return indirection_ioctl(src, link);
	if (rc)
		return rc;
	if (!size.indir_size)
		return -EOPNOTSUPP;
	if (size.indir_size > RSS_ENTRIES_MAX || size.key_size > RSS_ENTRIES_MAX)
		return -EMSGSIZE;
	/* The kernel takes both sizes or neither, so the key comes along unread. */
	len = sizeof(*full) + size.indir_size * sizeof(uint32_t) + size.key_size;
	full = calloc(1, len);
	if (!full)
		return -ENOMEM;
	full->cmd = ETHTOOL_GRSSH;
	full->indir_size = size.indir_size;
	full->key_size = size.key_size;
	rc = source_ethtool(src, link->name.v, full, len);
	if (!rc && full->indir_size == size.indir_size)
		rss_table_facts(full->rss_config, full->indir_size, link);
	else if (!rc)
		rc = -EBADMSG;
	free(full);
	return rc;
}

int rss_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->rss_table_size = link->rss_queues_used = nd_u64_unknown(why);
	return 0;
}

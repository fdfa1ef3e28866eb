/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * String sets by ioctl: the names that go with statistics and features.
 */
#include "probes/ethtool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int set_size(struct source *src, const char *ifname, uint32_t set, size_t *n)
{
	union {
		struct ethtool_sset_info head;
		uint32_t words[sizeof(struct ethtool_sset_info) / sizeof(uint32_t) + 1];
	} q = { .head = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << set } };
	int rc = source_ethtool(src, ifname, &q, sizeof(q));
	uint32_t count = q.words[ARRAY_SIZE(q.words) - 1];

	if (rc)
		return rc;
	/* The kernel clears the bits of sets that the driver lacks. */
	if (!(q.head.sset_mask & 1ull << set) || !count)
		return -EOPNOTSUPP;
	*n = count;
	return 0;
}

int ethtool_names_read(struct source *src, const char *ifname, uint32_t set, size_t max,
		       struct ethtool_names *out)
{
	struct ethtool_gstrings *s;
	size_t n, room, len;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = set_size(src, ifname, set, &n);
	if (rc)
		return rc;
	if (n > max)
		return -EMSGSIZE;
	/*
	 * The kernel does not ask how much room there is: it writes as many as the
	 * driver has by then.  More channels in between mean more strings.
	 */
	room = 2 * n + 1024;
	len = sizeof(*s) + room * ETH_GSTRING_LEN;
	s = calloc(1, len);
	if (!s)
		return -ENOMEM;
	s->cmd = ETHTOOL_GSTRINGS;
	s->string_set = set;
	s->len = (uint32_t)n;
	rc = source_ethtool(src, ifname, s, len);
	if (!rc && (!s->len || s->len > room))
		rc = -EBADMSG;
	if (!rc) {
		out->n = s->len;
		out->v = malloc(out->n * sizeof(*out->v));
		if (out->v)
			memcpy(out->v, s->data, out->n * sizeof(*out->v));
		else
			rc = -ENOMEM;
	}
	if (rc)
		out->n = 0;
	free(s);
	return rc;
}

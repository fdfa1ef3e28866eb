/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ethtool probe: every wanted link, every message, netlink first.
 */
#include "probes/ethtool.h"

#include <errno.h>
#include <string.h>

#include "probes/link_device.h"
#include "probes/probes_table.h"

#define MESSAGE(name_, prefix_) \
	.name = #name_, .request = ETHTOOL_MSG_##name_##_GET, \
	.reply = ETHTOOL_MSG_##name_##_GET_REPLY, .parse = prefix_##_parse, \
	.read_ioctl = prefix_##_ioctl, .unknown = prefix_##_unknown

static const struct ethtool_message ethtool_messages[] = {
	{ MESSAGE(LINKMODES, linkmodes), .link_layer = true },
	{ MESSAGE(LINKINFO, linkinfo), .link_layer = true },
	{ MESSAGE(LINKSTATE, linkstate) },
	{ MESSAGE(FEATURES, features) },
	{ MESSAGE(RINGS, rings) },
	{ MESSAGE(CHANNELS, channels) },
	{ MESSAGE(COALESCE, coalesce) },
	{ MESSAGE(PAUSE, pause) },
	{ .name = "RSS", .request = ND_ETHTOOL_MSG_RSS_GET,
	  .reply = ND_ETHTOOL_MSG_RSS_GET_REPLY, .parse = rss_parse, .read_ioctl = rss_ioctl,
	  .unknown = rss_unknown },
};

static int read_netlink(const struct ethtool_message *m, struct source *src,
			const struct ethtool_family *family, struct facts *f,
			struct link_facts *link)
{
	const struct nlattr *tb[ETHTOOL_ATTRIBUTES_MAX];
	struct bytes replies = { 0 };
	int rc;

	/* Vendors backport messages: what the family lists counts, not the version. */
	if (!ethtool_family_has(family, m->request))
		return -EOPNOTSUPP;
	rc = ethtool_get(src, family, m->request, (uint32_t)link->ifindex.v, &replies);
	if (!rc)
		rc = ethtool_reply(&replies, family->id, m->reply, tb, ARRAY_SIZE(tb));
	if (!rc)
		rc = m->parse(tb, f, link);
	bytes_free(&replies);
	return rc;
}

/* 0 or -ENOMEM. */
static int read_message(const struct ethtool_message *m, struct source *src,
			const struct ethtool_family *family, const struct link_device *dev,
			struct facts *f, struct link_facts *link)
{
	int rc;

	/* veth, tun, bridge ... claim 10000 Mb/s, paravirtual ones -1 or what the host made up. */
	if (m->link_layer && dev->backing != LINK_HARDWARE)
		return m->unknown(dev->backing == LINK_SOFTWARE ? ND_NOT_APPLICABLE :
								   ND_NOT_SUPPORTED, f, link);
	rc = read_netlink(m, src, family, f, link);
	if (rc && rc != -ENOMEM)
		rc = m->read_ioctl(src, f, link);
	if (rc && rc != -ENOMEM)
		rc = m->unknown(nd_known_from_errno(-rc), f, link);
	return rc;
}

static int read_link(struct source *src, struct facts *f, struct link_facts *link, void *data)
{
	const struct ethtool_family *family = data;
	struct link_device dev;
	int rc = link_device_find(src, link, &dev);

	for (size_t i = 0; rc && i < ARRAY_SIZE(ethtool_messages); i++) {
		if (ethtool_messages[i].unknown(nd_known_from_errno(-rc), f, link))
			return -ENOMEM;
	}
	if (rc)
		return 0;
	driver_read(src, dev.backing == LINK_SOFTWARE, f, link);
	for (size_t i = 0; i < ARRAY_SIZE(ethtool_messages); i++) {
		rc = read_message(&ethtool_messages[i], src, family, &dev, f, link);
		if (rc)
			return rc;
	}
	return 0;
}

static int collect(struct source *src, const struct probe_context *ctx, struct facts *f,
		   struct error *detail)
{
	struct ethtool_family family;
	int rc = ethtool_family_resolve(src, &family);

	if (rc) {
		memset(&family, 0, sizeof(family));
		error_set(detail, -rc, "no ethtool netlink family (%s); asking by ioctl",
			  strerror(-rc));
	}
	return probe_each_wanted_link(src, ctx, f, read_link, &family);
}

const struct probe probe_ethtool = {
	.name = "ethtool",
	.summary = "link modes, rings, channels, features, coalescing, pause, RSS and driver",
	.phase = PROBE_DEVICES,
	.collect = collect,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RINGS and CHANNELS: how many descriptors and queues, and how many there could be.
 */
#include "probes/ethtool.h"

/*
 * The kernel leaves rings and channels out whose maximum is 0; the ioctl says 0.
 * Both mean that the device has none to set.
 */
static struct nd_u64 with_maximum(uint32_t value, uint32_t maximum)
{
	return maximum ? nd_u64(value) : nd_u64_unknown(ND_NOT_SUPPORTED);
}

int rings_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->rx_ring = attribute_u32(tb[ETHTOOL_A_RINGS_RX]);
	link->rx_ring_max = attribute_u32(tb[ETHTOOL_A_RINGS_RX_MAX]);
	link->tx_ring = attribute_u32(tb[ETHTOOL_A_RINGS_TX]);
	link->tx_ring_max = attribute_u32(tb[ETHTOOL_A_RINGS_TX_MAX]);
	return 0;
}

int rings_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	struct ethtool_ringparam p = { .cmd = ETHTOOL_GRINGPARAM };
	int rc = source_ethtool(src, link->name.v, &p, sizeof(p));

	(void)f;
	if (rc)
		return rc;
	link->rx_ring = with_maximum(p.rx_pending, p.rx_max_pending);
	link->rx_ring_max = with_maximum(p.rx_max_pending, p.rx_max_pending);
	link->tx_ring = with_maximum(p.tx_pending, p.tx_max_pending);
	link->tx_ring_max = with_maximum(p.tx_max_pending, p.tx_max_pending);
	return 0;
}

int rings_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->rx_ring = link->rx_ring_max = nd_u64_unknown(why);
	link->tx_ring = link->tx_ring_max = nd_u64_unknown(why);
	return 0;
}

int channels_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->combined_channels = attribute_u32(tb[ETHTOOL_A_CHANNELS_COMBINED_COUNT]);
	link->combined_channels_max = attribute_u32(tb[ETHTOOL_A_CHANNELS_COMBINED_MAX]);
	link->rx_channels = attribute_u32(tb[ETHTOOL_A_CHANNELS_RX_COUNT]);
	link->rx_channels_max = attribute_u32(tb[ETHTOOL_A_CHANNELS_RX_MAX]);
	link->tx_channels = attribute_u32(tb[ETHTOOL_A_CHANNELS_TX_COUNT]);
	link->tx_channels_max = attribute_u32(tb[ETHTOOL_A_CHANNELS_TX_MAX]);
	return 0;
}

int channels_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };
	int rc = source_ethtool(src, link->name.v, &c, sizeof(c));

	(void)f;
	if (rc)
		return rc;
	link->combined_channels = with_maximum(c.combined_count, c.max_combined);
	link->combined_channels_max = with_maximum(c.max_combined, c.max_combined);
	link->rx_channels = with_maximum(c.rx_count, c.max_rx);
	link->rx_channels_max = with_maximum(c.max_rx, c.max_rx);
	link->tx_channels = with_maximum(c.tx_count, c.max_tx);
	link->tx_channels_max = with_maximum(c.max_tx, c.max_tx);
	return 0;
}

int channels_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->combined_channels = link->combined_channels_max = nd_u64_unknown(why);
	link->rx_channels = link->rx_channels_max = nd_u64_unknown(why);
	link->tx_channels = link->tx_channels_max = nd_u64_unknown(why);
	return 0;
}

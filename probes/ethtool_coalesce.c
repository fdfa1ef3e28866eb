/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * COALESCE and PAUSE: when the device interrupts, and whether it may be told to wait.
 */
#include "probes/ethtool.h"

int coalesce_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->rx_usecs = attribute_u32(tb[ETHTOOL_A_COALESCE_RX_USECS]);
	link->rx_frames = attribute_u32(tb[ETHTOOL_A_COALESCE_RX_MAX_FRAMES]);
	link->tx_usecs = attribute_u32(tb[ETHTOOL_A_COALESCE_TX_USECS]);
	link->tx_frames = attribute_u32(tb[ETHTOOL_A_COALESCE_TX_MAX_FRAMES]);
	link->adaptive_rx = attribute_bool(tb[ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX]);
	link->adaptive_tx = attribute_bool(tb[ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX]);
	return 0;
}

int coalesce_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	struct ethtool_coalesce c = { .cmd = ETHTOOL_GCOALESCE };
	int rc = source_ethtool(src, link->name.v, &c, sizeof(c));

	(void)f;
	if (rc)
		return rc;
	/* Unlike netlink, 0 here also stands for "the driver has no such knob". */
	link->rx_usecs = nd_u64(c.rx_coalesce_usecs);
	link->rx_frames = nd_u64(c.rx_max_coalesced_frames);
	link->tx_usecs = nd_u64(c.tx_coalesce_usecs);
	link->tx_frames = nd_u64(c.tx_max_coalesced_frames);
	link->adaptive_rx = nd_bool(c.use_adaptive_rx_coalesce != 0);
	link->adaptive_tx = nd_bool(c.use_adaptive_tx_coalesce != 0);
	return 0;
}

int coalesce_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->rx_usecs = link->rx_frames = nd_u64_unknown(why);
	link->tx_usecs = link->tx_frames = nd_u64_unknown(why);
	link->adaptive_rx = link->adaptive_tx = nd_bool_unknown(why);
	return 0;
}

int pause_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->pause_autoneg = attribute_bool(tb[ETHTOOL_A_PAUSE_AUTONEG]);
	link->pause_rx = attribute_bool(tb[ETHTOOL_A_PAUSE_RX]);
	link->pause_tx = attribute_bool(tb[ETHTOOL_A_PAUSE_TX]);
	return 0;
}

int pause_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	struct ethtool_pauseparam p = { .cmd = ETHTOOL_GPAUSEPARAM };
	int rc = source_ethtool(src, link->name.v, &p, sizeof(p));

	(void)f;
	if (rc)
		return rc;
	link->pause_autoneg = nd_bool(p.autoneg != 0);
	link->pause_rx = nd_bool(p.rx_pause != 0);
	link->pause_tx = nd_bool(p.tx_pause != 0);
	return 0;
}

int pause_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->pause_autoneg = link->pause_rx = link->pause_tx = nd_bool_unknown(why);
	return 0;
}

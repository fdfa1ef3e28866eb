/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probes/ethtool.h"
#include "probes/probes_table.h"
#include "tests/unit/fake_links.h"
#include "tests/unit/fake_netlink.h"

#define IFINDEX 3

/* A machine with one NIC, whose kernel answers by netlink, by ioctl, or both. */
struct world {
	struct fake fs;
	struct facts *f;
	struct bytes replies[64];	/* by netlink command; empty: not served */
	int netlink_rc;			/* instead of any reply */
	uint32_t served;		/* ioctls that are answered, a bit each, see below */
	unsigned int ioctls;
	const char *driver;
};

enum { IO_SETTINGS, IO_RINGS, IO_CHANNELS, IO_COALESCE, IO_PAUSE, IO_RSSH, IO_INDIR, IO_FEATURES,
       IO_LINK };

static int answer_netlink(void *user, int protocol, const void *req, size_t len,
			  struct bytes *out)
{
	const struct nlmsghdr *nlh = req;
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	struct world *w = user;
	uint8_t commands[64];
	size_t n = 0;

	assert_int_equal(protocol, NETLINK_GENERIC);
	assert_true(len == nlh->nlmsg_len && nlh->nlmsg_flags & NLM_F_REQUEST);
	if (nlh->nlmsg_type == GENL_ID_CTRL) {
		for (uint8_t i = 0; i < 64; i++) {
			if (w->replies[i].len)
				commands[n++] = i;
		}
		*out = family_reply(commands, n);
		return n ? 0 : -ENOENT;
	}
	if (w->netlink_rc)
		return w->netlink_rc;
	{
		const struct nlattr *header[2], *tb[ETHTOOL_A_HEADER_FLAGS + 1];
		struct bytes all = { (unsigned char *)(uintptr_t)req, len, len };

		assert_int_equal(ethtool_reply(&all, FAKE_FAMILY, genl->cmd, header, 2), 0);
		attributes_index(header[1], tb, ARRAY_SIZE(tb));
		assert_true(nd_u64_is(attribute_u32(tb[ETHTOOL_A_HEADER_DEV_INDEX]), IFINDEX));
	}
	assert_true(w->replies[genl->cmd].len);
	return bytes_append(out, w->replies[genl->cmd].data, w->replies[genl->cmd].len);
}

static int answer_settings(struct ethtool_link_settings *s, size_t len)
{
	assert_true(len >= sizeof(*s) + 3 * 3 * sizeof(uint32_t));
	if (s->link_mode_masks_nwords != 3) {
		memset(s, 0, sizeof(*s));
		s->cmd = ETHTOOL_GLINKSETTINGS;
		s->link_mode_masks_nwords = -3;
		return 0;
	}
	s->speed = SPEED_1000;
	s->duplex = DUPLEX_HALF;
	s->port = PORT_DA;
	s->autoneg = AUTONEG_ENABLE;
	s->link_mode_masks[0] = 1u << ETHTOOL_LINK_MODE_1000baseT_Full_BIT |
				1u << ETHTOOL_LINK_MODE_10000baseT_Full_BIT |
				1u << ETHTOOL_LINK_MODE_TP_BIT;
	s->link_mode_masks[3] = 1u << ETHTOOL_LINK_MODE_1000baseT_Full_BIT;
	s->link_mode_masks[8] = 1u << (ETHTOOL_LINK_MODE_400000baseCR4_Full_BIT - 64);
	return 0;
}

static int answer_rssh(struct ethtool_rxfh *r, size_t len)
{
	if (!r->indir_size) {
		r->indir_size = 4;
		r->key_size = 40;
		return 0;
	}
	assert_true(len == sizeof(*r) + 4 * 4 + 40);
	for (uint32_t i = 0; i < 4; i++)
		r->rss_config[i] = i % 3;
	return 0;
}

static int answer_indirection(struct ethtool_rxfh_indir *r, size_t len)
{
	if (!r->size) {
		r->size = 8;
		return 0;
	}
	assert_true(len == sizeof(*r) + 8 * 4);
	return 0;
}

static int answer_sset(struct ethtool_sset_info *q)
{
	if (q->sset_mask != 1ull << ETH_SS_FEATURES)
		return -EOPNOTSUPP;
	q->data[0] = 40;
	return 0;
}

/* Feature 35 lies in the second block. */
static int answer_strings(struct ethtool_gstrings *s, size_t len)
{
	assert_true(len >= sizeof(*s) + 40 * ETH_GSTRING_LEN);
	s->len = 40;
	for (size_t i = 0; i < 40; i++)
		snprintf((char *)s->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "filler-%zu", i);
	snprintf((char *)s->data, ETH_GSTRING_LEN, "rx-lro");
	snprintf((char *)s->data + ETH_GSTRING_LEN, ETH_GSTRING_LEN, "rx-gro");
	snprintf((char *)s->data + 35 * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "tx-tcp-segmentation");
	return 0;
}

static int answer_features(struct ethtool_gfeatures *g)
{
	assert_int_equal(g->size, 2);
	g->features[0].available = 3;
	g->features[0].never_changed = 1;
	g->features[0].active = 2;
	g->features[1].available = 8;
	return 0;
}

static int answer_ioctl(void *user, const char *ifname, void *cmd, size_t len)
{
	struct world *w = user;
	uint32_t which = *(uint32_t *)cmd;

	assert_string_equal(ifname, "eth0");
	if (which == ETHTOOL_GDRVINFO) {
		struct ethtool_drvinfo *d = cmd;

		snprintf(d->driver, sizeof(d->driver), "%s", w->driver);
		snprintf(d->fw_version, sizeof(d->fw_version), " 22.31\n1014 ");
		return 0;
	}
	w->ioctls++;
#define SERVED(bit) (w->served & 1u << (bit))
	if (which == ETHTOOL_GLINKSETTINGS && SERVED(IO_SETTINGS))
		return answer_settings(cmd, len);
	if (which == ETHTOOL_GRINGPARAM && SERVED(IO_RINGS)) {
		*(struct ethtool_ringparam *)cmd = (struct ethtool_ringparam){
			.cmd = which, .rx_pending = 256, .rx_max_pending = 4096 };
		return 0;
	}
	if (which == ETHTOOL_GCHANNELS && SERVED(IO_CHANNELS)) {
		*(struct ethtool_channels *)cmd = (struct ethtool_channels){
			.cmd = which, .combined_count = 4, .max_combined = 8 };
		return 0;
	}
	if (which == ETHTOOL_GCOALESCE && SERVED(IO_COALESCE)) {
		*(struct ethtool_coalesce *)cmd = (struct ethtool_coalesce){
			.cmd = which, .rx_coalesce_usecs = 50, .use_adaptive_rx_coalesce = 1 };
		return 0;
	}
	if (which == ETHTOOL_GPAUSEPARAM && SERVED(IO_PAUSE)) {
		*(struct ethtool_pauseparam *)cmd = (struct ethtool_pauseparam){
			.cmd = which, .rx_pause = 1 };
		return 0;
	}
	if (which == ETHTOOL_GRSSH && SERVED(IO_RSSH))
		return answer_rssh(cmd, len);
	if (which == ETHTOOL_GRXFHINDIR && SERVED(IO_INDIR))
		return answer_indirection(cmd, len);
	if (which == ETHTOOL_GSSET_INFO && SERVED(IO_FEATURES))
		return answer_sset(cmd);
	if (which == ETHTOOL_GSTRINGS && SERVED(IO_FEATURES))
		return answer_strings(cmd, len);
	if (which == ETHTOOL_GFEATURES && SERVED(IO_FEATURES))
		return answer_features(cmd);
	if (which == ETHTOOL_GLINK && SERVED(IO_LINK)) {
		((struct ethtool_value *)cmd)->data = 1;
		return 0;
	}
	return -EOPNOTSUPP;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	fake_open(&w->fs);
	w->fs.netlink = answer_netlink;
	w->fs.ethtool = answer_ioctl;
	w->fs.user = w;
	w->driver = "i40e";
	w->f = facts_new(0);
	fake_link_sysfs(&w->fs, "eth0", IFINDEX, "pci0000:00/0000:01:00.0", "pci");
	*state = w;
	return w->f ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(w->replies); i++)
		bytes_free(&w->replies[i]);
	fake_close(&w->fs);
	facts_free(w->f);
	free(w);
	return 0;
}

static const struct link_facts *run(struct world *w)
{
	const struct probe_context ctx = { 0 };
	struct error detail = { "" };

	fake_link(w->f, IFINDEX, "eth0", "physical");
	assert_int_equal(probe_ethtool.collect(w->fs.src, &ctx, w->f, &detail), 0);
	return &w->f->links[0];
}

/* Takes the message over as the answer to `get`. */
static void reply_with(struct world *w, uint8_t get, struct nlmsghdr *nlh)
{
	w->replies[get] = message_bytes(nlh);
	free(nlh);
}

static void add_linkmodes(struct world *w)
{
	static const char *const ours[] = { "+10000baseT/Full", "+1000baseT/Full", "+Autoneg",
					    "-25000baseCR/Full", "+FIBRE" };
	static const char *const partner[] = { "1000baseT/Full", "Pause" };
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_LINKMODES_GET_REPLY);

	mnl_attr_put_u8(nlh, ETHTOOL_A_LINKMODES_AUTONEG, 1);
	put_bitset(nlh, ETHTOOL_A_LINKMODES_OURS, ours, ARRAY_SIZE(ours), true);
	put_bitset(nlh, ETHTOOL_A_LINKMODES_PEER, partner, ARRAY_SIZE(partner), false);
	mnl_attr_put_u32(nlh, ETHTOOL_A_LINKMODES_SPEED, 10000);
	mnl_attr_put_u8(nlh, ETHTOOL_A_LINKMODES_DUPLEX, DUPLEX_FULL);
	reply_with(w, ETHTOOL_MSG_LINKMODES_GET, nlh);
}

static void test_link_by_netlink(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;
	struct nlmsghdr *nlh;

	add_linkmodes(w);
	nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_LINKINFO_GET_REPLY);
	mnl_attr_put_u8(nlh, ETHTOOL_A_LINKINFO_PORT, PORT_FIBRE);
	reply_with(w, ETHTOOL_MSG_LINKINFO_GET, nlh);
	nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_LINKSTATE_GET_REPLY);
	mnl_attr_put_u8(nlh, ETHTOOL_A_LINKSTATE_LINK, 1);
	reply_with(w, ETHTOOL_MSG_LINKSTATE_GET, nlh);
	l = run(w);
	assert_true(nd_u64_is(l->speed_mbps, 10000));
	assert_true(nd_u64_is(l->supported_max_mbps, 25000));
	assert_true(nd_u64_is(l->advertised_max_mbps, 10000));
	assert_true(nd_u64_is(l->partner_max_mbps, 1000));
	assert_string_equal(l->duplex.v, "full");
	assert_true(nd_is_true(l->autoneg));
	assert_string_equal(l->port.v, "fibre");
	assert_true(nd_is_true(l->carrier));
	assert_string_equal(l->driver.v, "i40e");
	/* Trimmed, and a line feed does not reach the terminal. */
	assert_string_equal(l->firmware.v, "22.31?1014");
}

static void test_speed_unknown(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_LINKMODES_GET_REPLY);

	mnl_attr_put_u32(nlh, ETHTOOL_A_LINKMODES_SPEED, (uint32_t)SPEED_UNKNOWN);
	mnl_attr_put_u8(nlh, ETHTOOL_A_LINKMODES_DUPLEX, DUPLEX_UNKNOWN);
	mnl_attr_put_u32(nlh, ETHTOOL_A_LINKMODES_AUTONEG, 1);	/* wrong size */
	reply_with(w, ETHTOOL_MSG_LINKMODES_GET, nlh);
	l = run(w);
	assert_int_equal(l->speed_mbps.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->duplex.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->autoneg.k, ND_INVALID);
	assert_int_equal(l->supported_max_mbps.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->partner_max_mbps.k, ND_NOT_SUPPORTED);
}

static void add_settings(struct world *w)
{
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_RINGS_GET_REPLY);
	static const uint32_t table[] = { 0, 1, 2, 3, 0, 1, 2, 3, 7, 7 };

	mnl_attr_put_u32(nlh, ETHTOOL_A_RINGS_RX_MAX, 4096);
	mnl_attr_put_u32(nlh, ETHTOOL_A_RINGS_RX, 512);
	mnl_attr_put_u32(nlh, ETHTOOL_A_RINGS_TX, 1024);
	mnl_attr_put_u32(nlh, 30, 1);
	mnl_attr_put_u32(nlh, 300, 1);
	reply_with(w, ETHTOOL_MSG_RINGS_GET, nlh);
	nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_CHANNELS_GET_REPLY);
	mnl_attr_put_u32(nlh, ETHTOOL_A_CHANNELS_COMBINED_MAX, 64);
	mnl_attr_put_u32(nlh, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 8);
	reply_with(w, ETHTOOL_MSG_CHANNELS_GET, nlh);
	nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_COALESCE_GET_REPLY);
	mnl_attr_put_u32(nlh, ETHTOOL_A_COALESCE_RX_USECS, 0);
	mnl_attr_put_u8(nlh, ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, 1);
	reply_with(w, ETHTOOL_MSG_COALESCE_GET, nlh);
	nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_PAUSE_GET_REPLY);
	mnl_attr_put_u8(nlh, ETHTOOL_A_PAUSE_AUTONEG, 0);
	mnl_attr_put_u8(nlh, ETHTOOL_A_PAUSE_RX, 1);
	reply_with(w, ETHTOOL_MSG_PAUSE_GET, nlh);
	nlh = message_begin(FAKE_FAMILY, ND_ETHTOOL_MSG_RSS_GET_REPLY);
	mnl_attr_put(nlh, ND_ETHTOOL_A_RSS_INDIR, sizeof(table), table);
	reply_with(w, ND_ETHTOOL_MSG_RSS_GET, nlh);
}

static void test_settings_by_netlink(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;

	add_settings(w);
	l = run(w);
	assert_true(nd_u64_is(l->rx_ring, 512) && nd_u64_is(l->rx_ring_max, 4096));
	assert_true(nd_u64_is(l->tx_ring, 1024));
	assert_int_equal(l->tx_ring_max.k, ND_NOT_SUPPORTED);
	assert_true(nd_u64_is(l->combined_channels, 8) && nd_u64_is(l->combined_channels_max, 64));
	assert_int_equal(l->rx_channels.k, ND_NOT_SUPPORTED);
	/* 0 is a value: interrupt at once.  Absent is not. */
	assert_true(nd_u64_is(l->rx_usecs, 0));
	assert_int_equal(l->tx_usecs.k, ND_NOT_SUPPORTED);
	assert_true(nd_is_true(l->adaptive_rx));
	assert_true(nd_is_false(l->pause_autoneg) && nd_is_true(l->pause_rx));
	assert_int_equal(l->pause_tx.k, ND_NOT_SUPPORTED);
	assert_true(nd_u64_is(l->rss_table_size, 10) && nd_u64_is(l->rss_queues_used, 5));
}

static void test_rss_hostile(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, ND_ETHTOOL_MSG_RSS_GET_REPLY);

	mnl_attr_put(nlh, ND_ETHTOOL_A_RSS_INDIR, 7, "1234567");
	reply_with(w, ND_ETHTOOL_MSG_RSS_GET, nlh);
	l = run(w);
	/* The ioctl was the second try, and has nothing either. */
	assert_int_equal(l->rss_table_size.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->rss_queues_used.k, ND_NOT_SUPPORTED);
}

static void test_features_by_netlink(void **state)
{
	static const char *const hw[] = { "+rx-gro", "+rx-lro", "-tx-tcp-segmentation",
					  "+tx-scatter-gather", "+unheard-of" };
	static const char *const active[] = { "rx-gro", "tx-tcp-segmentation", "unheard-of" };
	static const char *const fixed[] = { "+rx-lro" };
	struct world *w = *state;
	const struct feature_facts *x;
	struct nlmsghdr *nlh = message_begin(FAKE_FAMILY, ETHTOOL_MSG_FEATURES_GET_REPLY);

	put_bitset(nlh, ETHTOOL_A_FEATURES_HW, hw, ARRAY_SIZE(hw), true);
	put_bitset(nlh, ETHTOOL_A_FEATURES_ACTIVE, active, ARRAY_SIZE(active), false);
	put_bitset(nlh, ETHTOOL_A_FEATURES_NOCHANGE, fixed, ARRAY_SIZE(fixed), true);
	reply_with(w, ETHTOOL_MSG_FEATURES_GET, nlh);
	run(w);
	x = facts_feature(w->f, IFINDEX, "rx-gro");
	assert_true(x && nd_is_true(x->active) && nd_is_true(x->changeable));
	x = facts_feature(w->f, IFINDEX, "rx-lro");
	assert_true(x && nd_is_false(x->active) && nd_is_false(x->changeable));
	x = facts_feature(w->f, IFINDEX, "tx-tcp-segmentation");
	assert_true(x && nd_is_true(x->active) && nd_is_false(x->changeable));
	x = facts_feature(w->f, IFINDEX, "tx-scatter-gather");
	assert_true(x && nd_is_false(x->active) && nd_is_true(x->changeable));
	/* A kernel without the feature is not a feature switched off. */
	x = facts_feature(w->f, IFINDEX, "rx-gro-list");
	assert_true(x && x->active.k == ND_ABSENT);
	assert_null(facts_feature(w->f, IFINDEX, "unheard-of"));
}

static void check_ioctl_answers(struct world *w, const struct link_facts *l)
{
	const struct feature_facts *x;

	assert_true(nd_u64_is(l->speed_mbps, 1000));
	assert_string_equal(l->duplex.v, "half");
	assert_string_equal(l->port.v, "da");
	assert_true(nd_u64_is(l->supported_max_mbps, 10000));
	assert_true(nd_u64_is(l->advertised_max_mbps, 1000));
	assert_true(nd_u64_is(l->partner_max_mbps, 400000));
	assert_true(nd_is_true(l->carrier));
	assert_true(nd_u64_is(l->rx_ring, 256) && nd_u64_is(l->rx_ring_max, 4096));
	assert_int_equal(l->tx_ring.k, ND_NOT_SUPPORTED);
	assert_true(nd_u64_is(l->combined_channels, 4) && nd_u64_is(l->combined_channels_max, 8));
	assert_int_equal(l->tx_channels_max.k, ND_NOT_SUPPORTED);
	assert_true(nd_u64_is(l->rx_usecs, 50) && nd_is_true(l->adaptive_rx));
	assert_true(nd_is_true(l->pause_rx) && nd_is_false(l->pause_tx));
	assert_true(nd_u64_is(l->rss_table_size, 4) && nd_u64_is(l->rss_queues_used, 3));
	x = facts_feature(w->f, IFINDEX, "rx-gro");
	assert_true(x && nd_is_true(x->active) && nd_is_true(x->changeable));
	x = facts_feature(w->f, IFINDEX, "rx-lro");
	assert_true(x && nd_is_false(x->active) && nd_is_false(x->changeable));
	x = facts_feature(w->f, IFINDEX, "tx-tcp-segmentation");
	assert_true(x && nd_is_false(x->active) && nd_is_true(x->changeable));
	x = facts_feature(w->f, IFINDEX, "rx-gro-hw");
	assert_true(x && x->active.k == ND_ABSENT);
}

static void test_everything_by_ioctl(void **state)
{
	struct world *w = *state;

	/* No family at all: a kernel before 5.6. */
	w->served = ~0u;
	check_ioctl_answers(w, run(w));
}

static void test_ioctl_after_netlink_declined(void **state)
{
	struct world *w = *state;

	add_linkmodes(w);
	add_settings(w);
	w->netlink_rc = -EOPNOTSUPP;
	w->served = ~0u;
	check_ioctl_answers(w, run(w));
}

static void test_ioctl_only_where_needed(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;

	add_settings(w);
	w->served = 1u << IO_SETTINGS;
	l = run(w);
	assert_true(nd_u64_is(l->speed_mbps, 1000));
	assert_true(nd_u64_is(l->rx_ring, 512));
	/* LINKMODES and LINKINFO twice each for the handshake, GLINK, GSSET_INFO. */
	assert_int_equal(w->ioctls, 6);
}

static void test_indirection_without_key(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;

	w->served = 1u << IO_INDIR;
	l = run(w);
	assert_true(nd_u64_is(l->rss_table_size, 8) && nd_u64_is(l->rss_queues_used, 1));
}

static void test_nothing_answers(void **state)
{
	struct world *w = *state;
	const struct feature_facts *x;
	const struct link_facts *l = run(w);

	assert_int_equal(l->speed_mbps.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->rx_ring.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->combined_channels_max.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->rx_usecs.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->pause_rx.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->rss_table_size.k, ND_NOT_SUPPORTED);
	x = facts_feature(w->f, IFINDEX, "rx-gro");
	assert_true(x && x->active.k == ND_NOT_SUPPORTED);
}

/* A veth claims 10000 Mb/s, a virtio what its host likes: by kind, not by value. */
static void test_made_up_speeds(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;

	add_linkmodes(w);
	w->served = ~0u;
	fake_remove(&w->fs, "/sys/devices/pci0000:00/0000:01:00.0/net/eth0/device");
	w->driver = "veth";
	l = run(w);
	assert_int_equal(l->speed_mbps.k, ND_NOT_APPLICABLE);
	assert_int_equal(l->supported_max_mbps.k, ND_NOT_APPLICABLE);
	assert_int_equal(l->duplex.k, ND_NOT_APPLICABLE);
	assert_int_equal(l->port.k, ND_NOT_APPLICABLE);
	assert_int_equal(l->firmware.k, ND_NOT_APPLICABLE);
	assert_string_equal(l->driver.v, "veth");
	/* What is not about the wire stays. */
	assert_true(nd_u64_is(l->rx_ring, 256));
	assert_true(nd_is_true(facts_feature_active(w->f, IFINDEX, "rx-gro")));
}

static void test_paravirtual_speed(void **state)
{
	struct world *w = *state;
	const struct link_facts *l;

	add_linkmodes(w);
	fake_remove(&w->fs, "/sys/devices/pci0000:00/0000:01:00.0/subsystem");
	fake_symlink(&w->fs, "/sys/devices/pci0000:00/0000:01:00.0/subsystem", "../bus/virtio");
	w->driver = "virtio_net";
	l = run(w);
	assert_int_equal(l->speed_mbps.k, ND_NOT_SUPPORTED);
	assert_int_equal(l->advertised_max_mbps.k, ND_NOT_SUPPORTED);
}

static void test_mode_names(void **state)
{
	static const struct { const char *name; uint64_t mbps; } names[] = {
		{ "10baseT/Half", 10 }, { "25000baseCR/Full", 25000 },
		{ "1600000baseCR8/Full", 1600000 }, { "10000baseR_FEC", 10000 },
		{ "Autoneg", 0 }, { "", 0 }, { "base", 0 }, { "1000", 0 }, { "1000bass", 0 },
		{ "99999999999999999999baseT", 0 },
	};
	uint64_t mbps;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(link_mode_name_mbps(names[i].name), names[i].mbps);
	assert_int_equal(link_mode_bit_mbps(ETHTOOL_LINK_MODE_200000baseCR2_Full_BIT, &mbps), 0);
	assert_int_equal(mbps, 200000);
	assert_int_equal(link_mode_bit_mbps(ETHTOOL_LINK_MODE_FEC_RS_BIT, &mbps), 0);
	assert_int_equal(mbps, 0);
	assert_int_equal(link_mode_bit_mbps(10000, &mbps), -ENOENT);
	assert_int_equal(port_word(0x77).k, ND_INVALID);
	assert_int_equal(duplex_word(0x77).k, ND_INVALID);
	assert_int_equal(link_speed_mbps(0).k, ND_NOT_SUPPORTED);
}

#define WORLD_TEST(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_link_by_netlink),
		WORLD_TEST(test_speed_unknown),
		WORLD_TEST(test_settings_by_netlink),
		WORLD_TEST(test_rss_hostile),
		WORLD_TEST(test_features_by_netlink),
		WORLD_TEST(test_everything_by_ioctl),
		WORLD_TEST(test_ioctl_after_netlink_declined),
		WORLD_TEST(test_ioctl_only_where_needed),
		WORLD_TEST(test_indirection_without_key),
		WORLD_TEST(test_nothing_answers),
		WORLD_TEST(test_made_up_speeds),
		WORLD_TEST(test_paravirtual_speed),
		cmocka_unit_test(test_mode_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LINKMODES, LINKINFO and LINKSTATE: speed, duplex, autonegotiation, port, carrier.
 */
#include "probes/ethtool.h"

#include <errno.h>
#include <string.h>

/* The handshake of ETHTOOL_GLINKSETTINGS passes the mask's length as a signed byte. */
#define LINK_MODE_WORDS_MAX 127

struct fastest { uint64_t listed, set; };

static void keep_fastest(void *user, const char *name, bool set)
{
	struct fastest *f = user;
	uint64_t mbps = link_mode_name_mbps(name);

	if (mbps > f->listed)
		f->listed = mbps;
	if (set && mbps > f->set)
		f->set = mbps;
}

static struct nd_u64 known_unless_zero(uint64_t mbps)
{
	return mbps ? nd_u64(mbps) : nd_u64_unknown(ND_NOT_SUPPORTED);
}

int linkmodes_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	struct fastest ours = { 0 }, partner = { 0 };
	struct nd_u64 v;

	(void)f;
	v = attribute_u32(tb[ETHTOOL_A_LINKMODES_SPEED]);
	link->speed_mbps = v.k == ND_KNOWN ? link_speed_mbps((uint32_t)v.v) : v;
	v = attribute_u8(tb[ETHTOOL_A_LINKMODES_DUPLEX]);
	link->duplex = v.k == ND_KNOWN ? duplex_word((uint8_t)v.v) : nd_str_unknown(v.k);
	link->autoneg = attribute_bool(tb[ETHTOOL_A_LINKMODES_AUTONEG]);

	/* OURS: mask = supported, value = advertised. */
	link->supported_max_mbps = nd_u64_unknown(ND_NOT_SUPPORTED);
	link->advertised_max_mbps = nd_u64_unknown(ND_NOT_SUPPORTED);
	link->partner_max_mbps = nd_u64_unknown(ND_NOT_SUPPORTED);
	if (tb[ETHTOOL_A_LINKMODES_OURS] &&
	    !bitset_for_each(tb[ETHTOOL_A_LINKMODES_OURS], keep_fastest, &ours)) {
		link->supported_max_mbps = known_unless_zero(ours.listed);
		link->advertised_max_mbps = known_unless_zero(ours.set);
	}
	/* Absent where nothing is negotiated: fixed fibre, direct attach. */
	if (tb[ETHTOOL_A_LINKMODES_PEER] &&
	    !bitset_for_each(tb[ETHTOOL_A_LINKMODES_PEER], keep_fastest, &partner))
		link->partner_max_mbps = known_unless_zero(partner.set);
	return 0;
}

int linkmodes_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->speed_mbps = nd_u64_unknown(why);
	link->supported_max_mbps = nd_u64_unknown(why);
	link->advertised_max_mbps = nd_u64_unknown(why);
	link->partner_max_mbps = nd_u64_unknown(why);
	link->duplex = nd_str_unknown(why);
	link->autoneg = nd_bool_unknown(why);
	return 0;
}

#define HEAD_WORDS (sizeof(struct ethtool_link_settings) / sizeof(uint32_t))

/* The head, then three masks: supported, advertised, the partner's. */
union link_settings {
	struct ethtool_link_settings head;
	uint32_t words[HEAD_WORDS + 3 * LINK_MODE_WORDS_MAX];
};

static int link_settings_read(struct source *src, const char *ifname, union link_settings *s)
{
	int rc, words;

	memset(s, 0, sizeof(*s));
	s->head.cmd = ETHTOOL_GLINKSETTINGS;
	rc = source_ethtool(src, ifname, s, sizeof(*s));
	if (rc)
		return rc;
	/* The kernel turns down our length 0 and answers with minus its own. */
	words = -s->head.link_mode_masks_nwords;
	if (words <= 0 || words > LINK_MODE_WORDS_MAX)
		return -EBADMSG;
	memset(s, 0, sizeof(*s));
	s->head.cmd = ETHTOOL_GLINKSETTINGS;
	s->head.link_mode_masks_nwords = (int8_t)words;
	rc = source_ethtool(src, ifname, s, sizeof(*s));
	if (rc)
		return rc;
	return s->head.link_mode_masks_nwords == words ? 0 : -EBADMSG;
}

/* A bit that we cannot name may be the fastest one: then nothing is known. */
static struct nd_u64 fastest_in_mask(const uint32_t *mask, unsigned int words)
{
	uint64_t best = 0;

	for (unsigned int bit = 0; bit < 32 * words; bit++) {
		uint64_t mbps;

		if (!(mask[bit / 32] & 1u << (bit % 32)))
			continue;
		if (link_mode_bit_mbps(bit, &mbps))
			return nd_u64_unknown(ND_NOT_SUPPORTED);
		if (mbps > best)
			best = mbps;
	}
	return known_unless_zero(best);
}

int linkmodes_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	union link_settings s;
	const uint32_t *masks;
	unsigned int words;
	int rc;

	(void)f;
	rc = link_settings_read(src, link->name.v, &s);
	if (rc)
		return rc;
	words = (unsigned int)s.head.link_mode_masks_nwords;
	masks = s.words + HEAD_WORDS;
	link->speed_mbps = link_speed_mbps(s.head.speed);
	link->duplex = duplex_word(s.head.duplex);
	link->autoneg = nd_bool(s.head.autoneg == AUTONEG_ENABLE);
	link->supported_max_mbps = fastest_in_mask(masks, words);
	link->advertised_max_mbps = fastest_in_mask(masks + words, words);
	link->partner_max_mbps = fastest_in_mask(masks + 2 * words, words);
	return 0;
}

int linkinfo_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	struct nd_u64 port = attribute_u8(tb[ETHTOOL_A_LINKINFO_PORT]);

	(void)f;
	link->port = port.k == ND_KNOWN ? port_word((uint8_t)port.v) : nd_str_unknown(port.k);
	return 0;
}

int linkinfo_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	union link_settings s;
	int rc = link_settings_read(src, link->name.v, &s);

	(void)f;
	if (!rc)
		link->port = port_word(s.head.port);
	return rc;
}

int linkinfo_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	link->port = nd_str_unknown(why);
	return 0;
}

int linkstate_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	struct nd_bool carrier = attribute_bool(tb[ETHTOOL_A_LINKSTATE_LINK]);

	(void)f;
	if (link->carrier.k != ND_KNOWN)
		link->carrier = carrier;
	return 0;
}

int linkstate_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GLINK };
	int rc = source_ethtool(src, link->name.v, &v, sizeof(v));

	(void)f;
	if (!rc && link->carrier.k != ND_KNOWN)
		link->carrier = nd_bool(v.data != 0);
	return rc;
}

/* rtnetlink knows the carrier too: keep what it said. */
int linkstate_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	(void)f;
	if (link->carrier.k != ND_KNOWN)
		link->carrier = nd_bool_unknown(why);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FEATURES: offloads by the kernel's own names.
 */
#include "probes/ethtool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than the 64 of today: the kernel is about to outgrow one word. */
#define FEATURES_MAX 512

/* What a rule, a report or a person hunting for throughput asks for. */
static const char *const wanted_features[] = {
	"rx-checksum",
	"tx-checksum-ipv4", "tx-checksum-ipv6", "tx-checksum-ip-generic",
	"tx-scatter-gather", "tx-scatter-gather-fraglist",
	"tx-generic-segmentation",
	"tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-tcp-ecn-segmentation",
	"tx-tcp-mangleid-segmentation",
	"tx-udp-segmentation", "tx-gso-partial", "tx-gso-robust", "tx-gso-list",
	"tx-udp_tnl-segmentation", "tx-udp_tnl-csum-segmentation",
	"tx-gre-segmentation", "tx-gre-csum-segmentation",
	"tx-ipxip4-segmentation", "tx-ipxip6-segmentation", "tx-sctp-segmentation",
	"rx-gro", "rx-gro-hw", "rx-gro-list", "rx-udp-gro-forwarding", "rx-lro",
	"rx-hashing", "rx-ntuple-filter", "rx-udp_tunnel-port-offload",
	"tx-vlan-hw-insert", "rx-vlan-hw-parse", "rx-vlan-filter",
	"hw-tc-offload", "esp-hw-offload", "tls-hw-tx-offload", "tls-hw-rx-offload",
	"macsec-hw-offload",
	"highdma", "tx-nocache-copy", "loopback",
};
#define WANTED ARRAY_SIZE(wanted_features)

struct feature_state { bool exists, hardware, active, fixed; };

static struct feature_state *state_of(struct feature_state *states, const char *name)
{
	for (size_t i = 0; i < WANTED; i++) {
		if (!strcmp(name, wanted_features[i]))
			return &states[i];
	}
	return NULL;
}

static void note_hardware(void *user, const char *name, bool set)
{
	struct feature_state *s = state_of(user, name);

	if (s) {
		s->exists = true;
		s->hardware = set;
	}
}

static void note_active(void *user, const char *name, bool set)
{
	struct feature_state *s = state_of(user, name);

	if (s)
		s->active = set;
}

static void note_fixed(void *user, const char *name, bool set)
{
	struct feature_state *s = state_of(user, name);

	if (s)
		s->fixed = set;
}

/* One row for each wanted feature; `why` applies when states is NULL. */
static int add_rows(const struct feature_state *states, enum nd_known why, struct facts *f,
		    const struct link_facts *link)
{
	for (size_t i = 0; i < WANTED; i++) {
		struct feature_facts *row = arena_append_row(f->mem, (void **)&f->features,
							     &f->nfeatures, sizeof(*row));
		const struct feature_state *s = states ? &states[i] : NULL;

		if (!row)
			return -ENOMEM;
		row->ifindex = link->ifindex;
		row->name = nd_str(wanted_features[i]);
		if (s && s->exists) {
			row->active = nd_bool(s->active);
			row->changeable = nd_bool(s->hardware && !s->fixed);
		} else {
			/* This kernel never heard of it, or nothing could be read. */
			row->active = nd_bool_unknown(s ? ND_ABSENT : why);
			row->changeable = nd_bool_unknown(s ? ND_ABSENT : why);
		}
	}
	return 0;
}

int features_parse(const struct nlattr *const *tb, struct facts *f, struct link_facts *link)
{
	struct feature_state states[WANTED] = { 0 };
	int rc;

	if (!tb[ETHTOOL_A_FEATURES_HW] || !tb[ETHTOOL_A_FEATURES_ACTIVE])
		return -EBADMSG;
	/* The HW set's mask lists every feature of this kernel by name. */
	rc = bitset_for_each(tb[ETHTOOL_A_FEATURES_HW], note_hardware, states);
	if (!rc)
		rc = bitset_for_each(tb[ETHTOOL_A_FEATURES_ACTIVE], note_active, states);
	if (!rc && tb[ETHTOOL_A_FEATURES_NOCHANGE])
		rc = bitset_for_each(tb[ETHTOOL_A_FEATURES_NOCHANGE], note_fixed, states);
	return rc ? rc : add_rows(states, ND_KNOWN, f, link);
}

int features_ioctl(struct source *src, struct facts *f, struct link_facts *link)
{
	struct feature_state states[WANTED] = { 0 };
	struct ethtool_names names = { 0 };
	struct ethtool_gfeatures *g;
	size_t blocks, len;
	int rc;

	rc = ethtool_names_read(src, link->name.v, ETH_SS_FEATURES, FEATURES_MAX, &names);
	if (rc)
		return rc;
	blocks = (names.n + 31) / 32;
	len = sizeof(*g) + blocks * sizeof(g->features[0]);
	g = calloc(1, len);
	if (!g) {
		rc = -ENOMEM;
		goto out;
	}
	g->cmd = ETHTOOL_GFEATURES;
	g->size = (uint32_t)blocks;
	rc = source_ethtool(src, link->name.v, g, len);
	if (rc)
		goto out;
	if (g->size < blocks)
		blocks = g->size;
	for (size_t i = 0; i < names.n && i / 32 < blocks; i++) {
		const struct ethtool_get_features_block *b = &g->features[i / 32];
		uint32_t bit = 1u << (i % 32);
		char name[ETH_GSTRING_LEN + 1] = "";
		struct feature_state *s;

		memcpy(name, names.v[i], ETH_GSTRING_LEN);
		s = state_of(states, name);
		if (s)
			*s = (struct feature_state){ true, b->available & bit, b->active & bit,
						     b->never_changed & bit };
	}
	rc = add_rows(states, ND_KNOWN, f, link);
out:
	free(g);
	free(names.v);
	return rc;
}

int features_unknown(enum nd_known why, struct facts *f, struct link_facts *link)
{
	return add_rows(NULL, why, f, link);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PCI Express capability in configuration space.
 */
#include "probes/pci.h"

#include <errno.h>
#include <string.h>

#include <pci/pci.h>

#define CAPABILITIES_MAX 48	/* (256 - 64) / 4: more means a loop */
#define EXPRESS_LENGTH 0x14	/* up to and including the link status */

static uint16_t word_at(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t long_at(const uint8_t *p)
{
	return word_at(p) | (uint32_t)word_at(p + 2) << 16;
}

/* Supported Link Speeds and Current Link Speed share this encoding. */
static struct nd_u64 speed_field(unsigned int code)
{
	static const uint32_t mtps[] = { 0, 2500, 5000, 8000, 16000, 32000, 64000, 128000 };

	if (!code)
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	return code < ARRAY_SIZE(mtps) ? nd_u64(mtps[code]) : nd_u64_unknown(ND_INVALID);
}

static struct nd_u64 width_field(unsigned int code)
{
	switch (code) {
	case 1: case 2: case 4: case 8: case 12: case 16: case 32:
		return nd_u64(code);
	case 0: case 63:	/* hidden by a hypervisor, or no answer */
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	default:
		return nd_u64_unknown(ND_INVALID);
	}
}

/* 128 << code; 6 and 7 are reserved. */
static struct nd_u64 size_field(unsigned int code)
{
	return code < 6 ? nd_u64(128u << code) : nd_u64_unknown(ND_INVALID);
}

static struct nd_str aspm_field(unsigned int code, const char *none)
{
	const char *words[] = { none, "L0s", "L1", "L0s L1" };

	return nd_str(words[code & 3]);
}

static struct nd_str type_field(unsigned int code)
{
	switch (code) {
	case PCI_EXP_TYPE_ENDPOINT:
	case PCI_EXP_TYPE_LEG_END:
		return nd_str("endpoint");
	case PCI_EXP_TYPE_ROOT_PORT:
		return nd_str("root-port");
	case PCI_EXP_TYPE_UPSTREAM:
		return nd_str("upstream-port");
	case PCI_EXP_TYPE_DOWNSTREAM:
		return nd_str("downstream-port");
	case PCI_EXP_TYPE_PCI_BRIDGE:
	case PCI_EXP_TYPE_PCIE_BRIDGE:
		return nd_str("bridge");
	case PCI_EXP_TYPE_ROOT_INT_EP:
	case PCI_EXP_TYPE_ROOT_EC:
		return nd_str("integrated-endpoint");
	default:
		return nd_str_unknown(ND_INVALID);
	}
}

static void link_unknown(enum nd_known why, struct pci_facts *out)
{
	out->speed_mtps = out->width = nd_u64_unknown(why);
	out->max_speed_mtps = out->max_width = nd_u64_unknown(why);
	out->aspm = out->aspm_supported = nd_str_unknown(why);
}

void pcie_config_unknown(enum nd_known why, struct pci_facts *out)
{
	link_unknown(why, out);
	out->type = nd_str_unknown(why);
	out->payload_bytes = out->payload_max_bytes = nd_u64_unknown(why);
	out->read_request_bytes = nd_u64_unknown(why);
	out->relaxed_ordering = nd_bool_unknown(why);
}

/* 0 and the offset, or the errors of parse_pcie_config(). */
static int find_express(const uint8_t *buf, size_t len, size_t *offset)
{
	size_t at;

	if (!(word_at(buf + PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return -ENOENT;
	at = buf[PCI_CAPABILITY_LIST] & ~3u;
	for (int hops = 0; at; hops++) {
		if (at < PCI_CONFIG_PUBLIC || hops == CAPABILITIES_MAX)
			return -EBADMSG;
		if (at + 2 > len)
			return -ENODATA;
		if (buf[at + PCI_CAP_LIST_ID] == PCI_CAP_ID_EXP) {
			*offset = at;
			return at + EXPRESS_LENGTH > len ? -ENODATA : 0;
		}
		/* An unreadable capability reads as all ones, as would all those after it. */
		if (buf[at + PCI_CAP_LIST_ID] == 0xff)
			return -EBADMSG;
		at = buf[at + PCI_CAP_LIST_NEXT] & ~3u;
	}
	return -ENOENT;
}

static void read_express(const uint8_t *cap, struct pci_facts *out)
{
	unsigned int type = (word_at(cap + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_TYPE) >> 4;
	uint32_t devcap = long_at(cap + PCI_EXP_DEVCAP), lnkcap = long_at(cap + PCI_EXP_LNKCAP);
	uint16_t devctl = word_at(cap + PCI_EXP_DEVCTL), lnkctl = word_at(cap + PCI_EXP_LNKCTL);
	uint16_t lnksta = word_at(cap + PCI_EXP_LNKSTA);

	out->type = type_field(type);
	out->payload_max_bytes = size_field(devcap & PCI_EXP_DEVCAP_PAYLOAD);
	out->payload_bytes = size_field((devctl & PCI_EXP_DEVCTL_PAYLOAD) >> 5);
	out->read_request_bytes = size_field((devctl & PCI_EXP_DEVCTL_READRQ) >> 12);
	out->relaxed_ordering = nd_bool(devctl & PCI_EXP_DEVCTL_RELAXED);
	/* Part of the root complex: there is no link, and the registers are reserved. */
	if (type == PCI_EXP_TYPE_ROOT_INT_EP || type == PCI_EXP_TYPE_ROOT_EC) {
		link_unknown(ND_NOT_APPLICABLE, out);
		return;
	}
	out->max_speed_mtps = speed_field(lnkcap & PCI_EXP_LNKCAP_SPEED);
	out->max_width = width_field((lnkcap & PCI_EXP_LNKCAP_WIDTH) >> 4);
	out->speed_mtps = speed_field(lnksta & PCI_EXP_LNKSTA_SPEED);
	out->width = width_field((lnksta & PCI_EXP_LNKSTA_WIDTH) >> 4);
	out->aspm_supported = aspm_field((lnkcap & PCI_EXP_LNKCAP_ASPM) >> 10, "none");
	out->aspm = aspm_field(lnkctl & PCI_EXP_LNKCTL_ASPM, "disabled");
}

int parse_pcie_config(const uint8_t *buf, size_t len, struct pci_facts *out)
{
	size_t offset = 0, ones = 0;
	unsigned int header;
	int rc;

	if (len < PCI_CONFIG_PUBLIC)
		return -ENODATA;
	while (ones < PCI_CONFIG_PUBLIC && buf[ones] == 0xff)
		ones++;
	if (ones == PCI_CONFIG_PUBLIC)
		return -ENODEV;
	header = buf[PCI_HEADER_TYPE] & 0x7f;
	/* CardBus bridges keep the pointer elsewhere, and have no such capability. */
	if (header == PCI_HEADER_TYPE_CARDBUS)
		rc = -ENOENT;
	else
		rc = find_express(buf, len, &offset);
	if (!rc) {
		read_express(buf + offset, out);
	} else if (rc == -ENOENT) {
		pcie_config_unknown(ND_NOT_APPLICABLE, out);
		out->type = nd_str(header == PCI_HEADER_TYPE_NORMAL ? "conventional" : "bridge");
	}
	return rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PCI by sysfs attributes: identity for everybody, the link for those who may
 * not read configuration space, and its state while traffic flows.
 */
#include "probes/pci.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "src/core/text.h"

#define DEVICE "/sys/bus/pci/devices/%s/"

struct nd_u64 parse_link_speed(const char *text)
{
	uint64_t mtps = 0;
	size_t digits = 0;

	if (!strncmp(text, "Unknown", 7))
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	while (digits < 4 && text[digits] >= '0' && text[digits] <= '9')
		mtps = mtps * 10 + (uint64_t)(text[digits++] - '0');
	text += digits;
	mtps *= 1000;
	/* "2.5 GT/s"; older kernels print "8 GT/s", newer ones "8.0 GT/s PCIe". */
	if (text[0] == '.' && text[1] >= '0' && text[1] <= '9') {
		mtps += (uint64_t)(text[1] - '0') * 100;
		text += 2;
	}
	if (!digits || !mtps || strncmp(text, " GT/s", 5))
		return nd_u64_unknown(ND_INVALID);
	return nd_u64(mtps);
}

struct nd_u64 parse_link_width(const char *text)
{
	uint64_t width;

	if (!strncmp(text, "Unknown", 7))
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	if (parse_u64(text, &width))
		return nd_u64_unknown(ND_INVALID);
	/* 0 and all ones (6 bits in the register, 8 in the kernel's enum) are "not known". */
	if (!width || width == 63 || width == 255)
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	return width <= 32 ? nd_u64(width) : nd_u64_unknown(ND_INVALID);
}

struct nd_u64 parse_pci_id(const char *text)
{
	uint64_t v;

	if (!strncmp(text, "0x", 2))
		text += 2;
	return parse_hex_u64(text, &v) ? nd_u64_unknown(ND_INVALID) : nd_u64(v);
}

struct nd_u64 parse_aer_total(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (*text) {
		size_t line = strcspn(text, "\n");

		if (line > len + 1 && !strncmp(text, key, len) && text[len] == ' ') {
			char number[32];
			uint64_t v;

			snprintf(number, sizeof(number), "%.*s",
				 line - len - 1 < 31 ? (int)(line - len - 1) : 31,
				 text + len + 1);
			return parse_u64(number, &v) ? nd_u64_unknown(ND_INVALID) : nd_u64(v);
		}
		text += line;
		text += *text == '\n';
	}
	return nd_u64_unknown(ND_ABSENT);
}

static struct nd_u64 read_parsed(struct source *src, const char *address, const char *attribute,
				 struct nd_u64 (*parse)(const char *text))
{
	char line[128];
	int rc = source_read_line(src, line, sizeof(line), DEVICE "%s", address, attribute);

	return rc ? nd_u64_unknown(nd_known_from_errno(-rc)) : parse(line);
}

/* Last component of a symbolic link; unknown with the reason when there is none. */
static struct nd_str read_link_name(struct source *src, struct arena *mem, const char *address,
				    const char *attribute)
{
	char path[128], target[SYSFS_PATH_MAX];
	const char *base;
	char *copy;
	ssize_t n;

	snprintf(path, sizeof(path), DEVICE "%s", address, attribute);
	n = source_readlink(src, path, target, sizeof(target));
	if (n < 0)
		return nd_str_unknown(nd_known_from_errno((int)-n));
	base = strrchr(target, '/');
	copy = arena_strdup(mem, base ? base + 1 : target);
	if (!copy)
		return nd_str_unknown(ND_FAILED);
	text_make_printable(copy);
	return nd_str(copy);
}

static struct nd_bool read_removable(struct source *src, const char *address)
{
	char line[32];
	int rc = source_read_line(src, line, sizeof(line), DEVICE "removable", address);

	if (rc)
		return nd_bool_unknown(nd_known_from_errno(-rc));
	if (!strcmp(line, "removable") || !strcmp(line, "fixed"))
		return nd_bool(line[0] == 'r');
	return nd_bool_unknown(ND_NOT_SUPPORTED);
}

void pci_sysfs_identity(struct source *src, struct arena *mem, struct pci_facts *out)
{
	const char *a = out->address.v;
	struct nd_str pf = read_link_name(src, mem, a, "physfn");
	bool is_address = pf.v && pci_address_length(pf.v) == strlen(pf.v);

	/* Not from configuration space: a virtual function has no ids of its own there. */
	out->vendor_id = read_parsed(src, a, "vendor", parse_pci_id);
	out->device_id = read_parsed(src, a, "device", parse_pci_id);
	out->class_code = read_parsed(src, a, "class", parse_pci_id);
	out->driver = read_link_name(src, mem, a, "driver");
	out->numa_node = source_read_i64(src, DEVICE "numa_node", a);
	out->removable = read_removable(src, a);
	if (pf.k == ND_KNOWN && !is_address)
		pf = nd_str_unknown(ND_INVALID);
	out->physical_function = pf.k == ND_ABSENT ? nd_str_unknown(ND_NOT_APPLICABLE) : pf;
}

/* The enabled states; the attributes exist for those that the link could use. */
static struct nd_str read_aspm(struct source *src, const char *address)
{
	struct nd_u64 l0s = source_read_u64(src, DEVICE "link/l0s_aspm", address);
	struct nd_u64 l1 = source_read_u64(src, DEVICE "link/l1_aspm", address);
	bool has_l0s = l0s.k == ND_KNOWN && l0s.v, has_l1 = l1.k == ND_KNOWN && l1.v;

	/* Ports have none (the device below carries them), nor have kernels before 5.5. */
	if (l0s.k != ND_KNOWN && l1.k != ND_KNOWN)
		return nd_str_unknown(ND_NOT_PERMITTED);
	if (has_l0s)
		return nd_str(has_l1 ? "L0s L1" : "L0s");
	return nd_str(has_l1 ? "L1" : "disabled");
}

/*
 * From the place in the tree alone.  PCIe ports come in this order only; a bridge
 * to conventional PCI, which would break it, has no PCIe device below.
 */
static struct nd_str port_type(const struct pci_facts *port_above, const struct pci_facts *port)
{
	if (port->class_code.k != ND_KNOWN)
		return nd_str_unknown(port->class_code.k);
	if (port->class_code.v >> 8 != 0x0604)
		return port_above ? nd_str("endpoint") : nd_str_unknown(ND_NOT_PERMITTED);
	if (!port_above)
		return nd_str("root-port");
	if (nd_str_is(port_above->type, "root-port") ||
	    nd_str_is(port_above->type, "downstream-port"))
		return nd_str("upstream-port");
	if (nd_str_is(port_above->type, "upstream-port"))
		return nd_str("downstream-port");
	return nd_str_unknown(ND_NOT_PERMITTED);
}

void pci_sysfs_link(struct source *src, const struct pci_facts *port_above,
		    struct pci_facts *out)
{
	const char *a = out->address.v;
	struct nd_u64 max_speed = read_parsed(src, a, "max_link_speed", parse_link_speed);

	/* Root could read these. */
	pcie_config_unknown(ND_NOT_PERMITTED, out);
	out->max_speed_mtps = max_speed;
	out->max_width = read_parsed(src, a, "max_link_width", parse_link_width);
	out->speed_mtps = read_parsed(src, a, "current_link_speed", parse_link_speed);
	out->width = read_parsed(src, a, "current_link_width", parse_link_width);
	/* No attribute: not PCIe, or a hypervisor hides the capability. */
	if (max_speed.k == ND_ABSENT)
		return;
	out->type = port_type(port_above, out);
	out->aspm = read_aspm(src, a);
}

static struct nd_u64 read_aer(struct source *src, const char *address, const char *attribute,
			      const char *key)
{
	char path[128], text[4096];
	ssize_t n;

	snprintf(path, sizeof(path), DEVICE "%s", address, attribute);
	n = source_read(src, path, text, sizeof(text));
	return n < 0 ? nd_u64_unknown(nd_known_from_errno((int)-n)) : parse_aer_total(text, key);
}

/* A device at rest may have lowered its link: only the speed under traffic counts. */
static int sample(struct source *src, const struct facts *f, struct counters *c)
{
	for (size_t i = 0; i < f->npci; i++) {
		const struct pci_facts *dev = &f->pci[i];
		struct pci_sample *row;
		char *address;

		if (dev->address.k != ND_KNOWN ||
		    pci_address_length(dev->address.v) != strlen(dev->address.v))
			continue;
		row = arena_append_row(c->mem, (void **)&c->pci, &c->npci, sizeof(*row));
		address = arena_strdup(c->mem, dev->address.v);
		if (!row || !address)
			return -ENOMEM;
		row->address = nd_str(address);
		row->speed_mtps = read_parsed(src, address, "current_link_speed",
					      parse_link_speed);
		row->width = read_parsed(src, address, "current_link_width", parse_link_width);
		row->aer_correctable = read_aer(src, address, "aer_dev_correctable",
						"TOTAL_ERR_COR");
		row->aer_nonfatal = read_aer(src, address, "aer_dev_nonfatal",
					     "TOTAL_ERR_NONFATAL");
		row->aer_fatal = read_aer(src, address, "aer_dev_fatal", "TOTAL_ERR_FATAL");
	}
	return 0;
}

const struct counter_probe counter_pci = {
	.name = "pci",
	.rate = COUNTER_EVERY_SECOND,
	.sample = sample,
};

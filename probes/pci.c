/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PCI probe: which function moves each link's data, and every link of the
 * path from there up to the root port.
 */
#include "probes/pci.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/probes_table.h"

/* Real paths have up to four bridges; recordings may claim anything. */
#define PCI_PATH_MAX 32

static void read_config(struct source *src, const struct pci_facts *above, struct pci_facts *row)
{
	char path[80], buf[PCI_CONFIG_MAX + 1];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/config", row->address.v);
	n = source_read(src, path, buf, sizeof(buf));
	switch (n < 0 ? -ENODATA : parse_pcie_config((const uint8_t *)buf, (size_t)n, row)) {
	case -ENODATA:	/* ends after 64 bytes, or is closed altogether: we are not root */
		pci_sysfs_link(src, above, row);
		break;
	case -ENODEV:
		pcie_config_unknown(ND_FAILED, row);
		break;
	case -EBADMSG:
		pcie_config_unknown(ND_INVALID, row);
		break;
	default:
		break;
	}
}

/*
 * A virtual function's own registers are reserved and read as zero: link, payload
 * and ordering are those of the physical function, which has a row of its own.
 */
static void defer_to_physical_function(struct pci_facts *row)
{
	pcie_config_unknown(ND_NOT_APPLICABLE, row);
	row->type = nd_str("endpoint");
}

static const struct pci_facts *row_of(const struct facts *f, const char *address)
{
	for (size_t i = 0; i < f->npci; i++) {
		if (nd_str_is(f->pci[i].address, address))
			return &f->pci[i];
	}
	return NULL;
}

/* Adds the function unless it has a row.  0 or -ENOMEM. */
static int add_function(struct source *src, struct facts *f, const char *address,
			const char *parent)
{
	struct pci_facts *row;
	char *own, *above = NULL;

	if (row_of(f, address))
		return 0;
	own = arena_strdup(f->mem, address);
	if (parent)
		above = arena_strdup(f->mem, parent);
	row = arena_append_row(f->mem, (void **)&f->pci, &f->npci, sizeof(*row));
	if (!row || !own || (parent && !above))
		return -ENOMEM;
	row->address = nd_str(own);
	row->parent = above ? nd_str(above) : nd_str_unknown(ND_NOT_APPLICABLE);
	pci_sysfs_identity(src, f->mem, row);
	if (row->physical_function.k == ND_KNOWN)
		defer_to_physical_function(row);
	else
		read_config(src, parent ? row_of(f, parent) : NULL, row);
	return 0;
}

/* The function and every bridge above it, outermost first.  0 or -ENOMEM. */
static int add_path(struct source *src, struct facts *f, const char *address)
{
	char link[80], target[SYSFS_PATH_MAX], path[SYSFS_PATH_MAX];
	char chain[PCI_PATH_MAX][PCI_ADDRESS_MAX] = { "" };
	size_t n = 0;
	int rc = 0;

	snprintf(link, sizeof(link), "/sys/bus/pci/devices/%s", address);
	if (source_readlink(src, link, target, sizeof(target)) >= 0 &&
	    !sysfs_resolve("/sys/bus/pci/devices", target, path, sizeof(path)))
		n = pci_addresses_in_path(path, chain, PCI_PATH_MAX);
	if (!n || strcmp(chain[n - 1], address))
		return add_function(src, f, address, NULL);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_function(src, f, chain[i], i ? chain[i - 1] : NULL);
	return rc;
}

static struct nd_str bus_of(const struct link_device *dev, struct arena *mem)
{
	char *copy;

	if (dev->backing == LINK_SOFTWARE)
		return nd_str_unknown(ND_NOT_APPLICABLE);
	if (!dev->bus[0])
		return nd_str_unknown(ND_ABSENT);
	copy = arena_strdup(mem, dev->bus);
	return copy ? nd_str(copy) : nd_str_unknown(ND_FAILED);
}

static void read_node(struct source *src, const struct link_device *dev, struct link_facts *link)
{
	if (dev->backing == LINK_SOFTWARE)
		link->numa_node = nd_i64_unknown(ND_NOT_APPLICABLE);
	else if (dev->pci_address[0])
		link->numa_node = source_read_i64(src, "/sys/bus/pci/devices/%s/numa_node",
						  dev->pci_address);
	else
		link->numa_node = source_read_i64(src, "%s/numa_node", dev->path);
}

static int read_link(struct source *src, struct facts *f, struct link_facts *link, void *data)
{
	const struct pci_facts *row;
	struct link_device dev;
	char *address;
	int rc = link_device_find(src, link, &dev);

	(void)data;
	if (rc) {
		link->bus = link->pci_address = nd_str_unknown(nd_known_from_errno(-rc));
		return 0;
	}
	link->bus = bus_of(&dev, f->mem);
	read_node(src, &dev, link);
	link->pci_address = nd_str_unknown(ND_NOT_APPLICABLE);
	if (!dev.pci_address[0])
		return 0;
	address = arena_strdup(f->mem, dev.pci_address);
	if (!address)
		return -ENOMEM;
	link->pci_address = nd_str(address);
	rc = add_path(src, f, address);
	if (rc)
		return rc;
	row = row_of(f, address);
	if (row && row->physical_function.k == ND_KNOWN)
		rc = add_path(src, f, row->physical_function.v);
	return rc;
}

static int collect(struct source *src, const struct probe_context *ctx, struct facts *f,
		   struct error *detail)
{
	int rc = probe_each_wanted_link(src, ctx, f, read_link, NULL);

	if (rc)
		return rc;
	for (size_t i = 0; i < f->npci; i++) {
		if (f->pci[i].payload_bytes.k == ND_NOT_PERMITTED)
			error_set(detail, EPERM, "only root reads payload size, read requests, "
				  "ordering and ASPM from configuration space");
	}
	pci_names_fill(f);
	return 0;
}

const struct probe probe_pci = {
	.name = "pci",
	.summary = "PCI functions from each NIC up to its root port",
	.phase = PROBE_DEVICES,
	.collect = collect,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PCI functions from a NIC up to its root port.
 *
 * Configuration space says everything, but only to root: others get its first 64
 * bytes, and sysfs attributes for the link.  pci.c goes up the path, pcie_config.c
 * reads configuration space, pci_sysfs.c the attributes, pci_names.c finds names.
 */
#ifndef ND_PROBES_PCI_H
#define ND_PROBES_PCI_H

#include <stdio.h>

#include "probes/link_device.h"
#include "src/core/facts.h"
#include "src/core/source.h"

#define PCI_CONFIG_MAX 4096
#define PCI_CONFIG_PUBLIC 64	/* what an unprivileged read gets */

/*
 * pcie_config.c, pure: type, link, payload, read request, ordering and ASPM of
 * `out` from the first len bytes of configuration space.
 *   0         the PCI Express capability was found and read
 *   -ENOENT   conventional: no such capability; type is set, the rest n/a
 *   -ENODATA  buf ends before the answer; nothing is set
 *   -ENODEV   all ones: the function does not answer; nothing is set
 *   -EBADMSG  the capability list loops or points into the header; nothing is set
 */
int parse_pcie_config(const uint8_t *buf, size_t len, struct pci_facts *out);
/* Sets every fact that parse_pcie_config() sets to unknown. */
void pcie_config_unknown(enum nd_known why, struct pci_facts *out);

/* pci_sysfs.c, pure: "8.0 GT/s PCIe" -> 8000; "Unknown" -> ND_NOT_SUPPORTED. */
struct nd_u64 parse_link_speed(const char *text);
struct nd_u64 parse_link_width(const char *text);
/* The value after `key` in an aer_dev_* file; ND_ABSENT when no line has it. */
struct nd_u64 parse_aer_total(const char *text, const char *key);
/* "0x8086" or "8086". */
struct nd_u64 parse_pci_id(const char *text);

/* Identity, driver, NUMA node, removable, physical function: readable by everybody. */
void pci_sysfs_identity(struct source *src, struct arena *mem, struct pci_facts *out);
/*
 * Link and ASPM state by attributes, for when configuration space is closed; what
 * has no attribute becomes ND_NOT_PERMITTED.  port_above is NULL on the root bus.
 */
void pci_sysfs_link(struct source *src, const struct pci_facts *port_above,
		    struct pci_facts *out);

/* pci_names.c: names of all rows from this machine's pci.ids; never the network. */
void pci_names_fill(struct facts *f);

/* pci_ids.c: names of the ids in rows of the caller's; "": the list does not have both. */
struct pci_name { uint64_t vendor_id, device_id; char name[256]; };
void pci_ids_find(FILE *list, struct pci_name *wanted, size_t n);
/* This machine's list, when it is plain text; NULL: there is none. */
FILE *pci_ids_open(void);

#endif

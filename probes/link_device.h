/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hardware behind a link: which device moves its data, on which bus, and
 * below which PCI function.  A link without a device is software (veth, tun,
 * bridge ...), whatever speed its driver claims.
 */
#ifndef ND_PROBES_LINK_DEVICE_H
#define ND_PROBES_LINK_DEVICE_H

#include "src/core/facts.h"
#include "src/core/source.h"

#define SYSFS_PATH_MAX 1024
#define PCI_ADDRESS_MAX 20	/* "10000:e1:00.0": VMD domains have five digits and more */

enum link_backing {
	LINK_SOFTWARE,		/* no device */
	LINK_HARDWARE,
	LINK_PARAVIRTUAL,	/* a hypervisor's device: its speed is a figure of speech */
};

struct link_device {
	enum link_backing backing;
	bool sysfs;		/* /sys/class/net/NAME is this link, not another namespace's */
	char path[SYSFS_PATH_MAX];	/* "/sys/devices/...", "" when sysfs has none */
	char bus[32];		/* subsystem of the device, "" when it has none */
	char pci_address[PCI_ADDRESS_MAX];	/* "" when no PCI function moves the data */
};

/* 0, or -errno when nothing can be said (a link without a usable name). */
int link_device_find(struct source *src, const struct link_facts *link, struct link_device *out);

/* Interface names end up in paths: 1 to 15 bytes, no '/', not "." or "..". */
bool link_name_usable(const struct link_facts *link);

/*
 * Resolves the link text `target` found in directory `dir` by text alone, as
 * realpath(3) would without symbolic links on the way.  0, -EINVAL, -ENAMETOOLONG.
 */
int sysfs_resolve(const char *dir, const char *target, char *out, size_t cap);

/* Length of the PCI address ("0000:3b:00.0") at the start of s, up to '/' or the end; else 0. */
size_t pci_address_length(const char *s);

/*
 * The PCI functions along a resolved sysfs path, outermost first, beginning at
 * the last PCI root on the way (a VMD domain lies below a function of another
 * one).  Returns how many were stored; those beyond `max` are left out.
 */
size_t pci_addresses_in_path(const char *path, char (*out)[PCI_ADDRESS_MAX], size_t max);

#endif

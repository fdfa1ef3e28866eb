/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/link_device.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <linux/ethtool.h>

#include "probes/probe.h"
#include "src/core/text.h"

#define PCI_DEPTH_MAX 32

/* Buses of hypervisors: the speed they report is a constant or the host's wish. */
static const char *const paravirtual_buses[] = { "virtio", "vmbus", "xen", "vio" };
static const char *const paravirtual_drivers[] = { "vmxnet3", "virtio_net" };
/* Devices made by software that nevertheless have a device directory. */
static const char *const software_buses[] = { "netdevsim" };
/*
 * Buses whose devices move their data through the PCI function above them.  A
 * USB or SDIO adapter lies below a PCI function too, but that is the host
 * controller's link and never what limits the adapter.
 */
static const char *const pci_backed_buses[] = { "pci", "virtio", "auxiliary", "bcma", "ssb" };

static bool one_of(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(s, list[i]))
			return true;
	}
	return false;
}

bool link_name_usable(const struct link_facts *link)
{
	const char *s = link->name.v;

	if (link->name.k != ND_KNOWN || !s || !s[0] || strlen(s) >= IFNAMSIZ)
		return false;
	return !strchr(s, '/') && strcmp(s, ".") && strcmp(s, "..");
}

int sysfs_resolve(const char *dir, const char *target, char *out, size_t cap)
{
	size_t len = 0;

	if (cap < 2 || (target[0] != '/' && dir[0] != '/'))
		return -EINVAL;
	if (target[0] != '/') {
		len = strlen(dir);
		if (len >= cap)
			return -ENAMETOOLONG;
		memcpy(out, dir, len);
		while (len && out[len - 1] == '/')
			len--;
	}
	for (const char *p = target; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && !strncmp(p, "..", 2)) {
			while (len && out[--len] != '/')
				;
		} else if (n && !(n == 1 && *p == '.')) {
			if (len + 1 + n >= cap)
				return -ENAMETOOLONG;
			out[len++] = '/';
			memcpy(out + len, p, n);
			len += n;
		}
		p += n;
		p += strspn(p, "/");
	}
	if (!len)
		out[len++] = '/';
	out[len] = 0;
	return 0;
}

static size_t hex_run(const char *s)
{
	size_t n = 0;

	while (isxdigit((unsigned char)s[n]))
		n++;
	return n;
}

size_t pci_address_length(const char *s)
{
	size_t domain = hex_run(s), n = domain;

	if (domain < 4 || domain > 8 || s[n] != ':')
		return 0;
	n++;
	if (hex_run(s + n) != 2 || s[n + 2] != ':')
		return 0;
	n += 3;
	if (hex_run(s + n) != 2 || s[n + 2] != '.')
		return 0;
	n += 3;
	if (s[n] < '0' || s[n] > '7' || (s[n + 1] && s[n + 1] != '/'))
		return 0;
	n++;
	return n < PCI_ADDRESS_MAX ? n : 0;
}

size_t pci_addresses_in_path(const char *path, char (*out)[PCI_ADDRESS_MAX], size_t max)
{
	size_t n = 0;

	while (*path) {
		size_t len;

		path += strspn(path, "/");
		len = pci_address_length(path);
		if (len && n < max) {
			memcpy(out[n], path, len);
			out[n++][len] = 0;
		} else if (!strncmp(path, "pci", 3) && hex_run(path + 3) >= 4 &&
			   path[3 + hex_run(path + 3)] == ':') {
			n = 0;
		}
		path += strcspn(path, "/");
	}
	return n;
}

static int read_link(struct source *src, const char *path, char *buf, size_t cap)
{
	ssize_t n = source_readlink(src, path, buf, cap);

	return n < 0 ? (int)n : 0;
}

/* The device's directory; "" when the link has none. */
static int find_device_path(struct source *src, const char *name, struct link_device *out)
{
	char class_path[64], device_path[80], target[SYSFS_PATH_MAX], dir[SYSFS_PATH_MAX];
	int rc;

	snprintf(class_path, sizeof(class_path), "/sys/class/net/%.15s", name);
	snprintf(device_path, sizeof(device_path), "%s/device", class_path);
	rc = read_link(src, device_path, target, sizeof(target));
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	/* Relative to the real directory, of which the class entry is a link itself. */
	snprintf(dir, sizeof(dir), "%s", class_path);
	if (target[0] != '/') {
		char entry[SYSFS_PATH_MAX];

		if (!read_link(src, class_path, entry, sizeof(entry))) {
			rc = sysfs_resolve("/sys/class/net", entry, dir, sizeof(dir));
			if (rc)
				return rc;
		}
	}
	return sysfs_resolve(dir, target, out->path, sizeof(out->path));
}

static void find_bus(struct source *src, struct link_device *out)
{
	char path[SYSFS_PATH_MAX + 16], target[SYSFS_PATH_MAX];
	const char *base;

	snprintf(path, sizeof(path), "%s/subsystem", out->path);
	if (read_link(src, path, target, sizeof(target)))
		return;
	base = strrchr(target, '/');
	snprintf(out->bus, sizeof(out->bus), "%.31s", base ? base + 1 : target);
	text_make_printable(out->bus);
}

static void find_pci_function(struct link_device *out)
{
	char chain[PCI_DEPTH_MAX][PCI_ADDRESS_MAX];
	size_t n;

	if (!one_of(out->bus, pci_backed_buses, ARRAY_SIZE(pci_backed_buses)))
		return;
	n = pci_addresses_in_path(out->path, chain, PCI_DEPTH_MAX);
	if (n)
		memcpy(out->pci_address, chain[n - 1], PCI_ADDRESS_MAX);
}

/* Without sysfs the driver's own words remain: they follow the network namespace. */
static int ask_driver(struct source *src, const char *name, struct link_device *out,
		       char driver[ETHTOOL_BUSINFO_LEN])
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	size_t len;
	int rc;

	driver[0] = 0;
	rc = source_ethtool(src, name, &info, sizeof(info));
	if (rc)
		return rc;
	snprintf(driver, ETHTOOL_BUSINFO_LEN, "%.31s", info.driver);
	if (out->sysfs)
		return 0;
	info.bus_info[sizeof(info.bus_info) - 1] = 0;
	len = pci_address_length(info.bus_info);
	if (len && !info.bus_info[len]) {
		snprintf(out->bus, sizeof(out->bus), "pci");
		memcpy(out->pci_address, info.bus_info, len + 1);
	} else if (!strncmp(info.bus_info, "usb-", 4)) {
		snprintf(out->bus, sizeof(out->bus), "usb");
	} else if (info.bus_info[0]) {
		snprintf(out->bus, sizeof(out->bus), "other");
	}
	return 0;
}

int link_device_find(struct source *src, const struct link_facts *link, struct link_device *out)
{
	char driver[ETHTOOL_BUSINFO_LEN];
	int rc;

	memset(out, 0, sizeof(*out));
	if (!link_name_usable(link))
		return -EINVAL;
	out->sysfs = probe_sysfs_shows(src, link);
	if (out->sysfs) {
		rc = find_device_path(src, link->name.v, out);
		if (rc)
			return rc;
		if (out->path[0]) {
			find_bus(src, out);
			find_pci_function(out);
		}
	}
	rc = ask_driver(src, link->name.v, out, driver);
	/* EOPNOTSUPP: no driver and no parent device either, as for the loopback. */
	if (rc && rc != -EOPNOTSUPP && !out->sysfs)
		return rc;
	if ((!out->path[0] && !out->bus[0]) ||
	    one_of(out->bus, software_buses, ARRAY_SIZE(software_buses)))
		out->backing = LINK_SOFTWARE;
	else if (one_of(out->bus, paravirtual_buses, ARRAY_SIZE(paravirtual_buses)) ||
		 one_of(driver, paravirtual_drivers, ARRAY_SIZE(paravirtual_drivers)))
		out->backing = LINK_PARAVIRTUAL;
	else
		out->backing = LINK_HARDWARE;
	return 0;
}

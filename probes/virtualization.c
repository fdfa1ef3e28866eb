/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What this host runs on: a hypervisor, a container.
 *
 * Only what can be read unprivileged and recorded counts: DMI strings, the
 * clock sources that hypervisors offer, the device tree, marker files.
 */
#include "probes/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"

/* First match wins; NULL matches anything. */
static const struct { const char *vendor, *product, *word; } dmi_words[] = {
	{ "QEMU", NULL, "qemu" },
	{ NULL, "KVM", "kvm" },
	{ "OpenStack", NULL, "kvm" },
	{ "DigitalOcean", NULL, "kvm" },
	{ "Hetzner", "vServer", "kvm" },
	{ "Alibaba Cloud", NULL, "kvm" },
	{ "Amazon EC2", NULL, "amazon" },
	{ "Google", "Google Compute Engine", "google" },
	{ "Microsoft Corporation", "Virtual Machine", "microsoft" },
	{ "VMware", NULL, "vmware" },
	{ "innotek GmbH", NULL, "virtualbox" },
	{ NULL, "VirtualBox", "virtualbox" },
	{ "Xen", NULL, "xen" },
	{ NULL, "HVM domU", "xen" },
	{ "Parallels", NULL, "parallels" },
	{ NULL, "BHYVE", "bhyve" },
	{ "Apple Inc.", "Apple Virtualization", "apple" },
};

static bool starts_with(const char *s, const char *prefix)
{
	return !prefix || !strncmp(s, prefix, strlen(prefix));
}

static bool ends_with(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len >= n && !strcmp(s + len - n, suffix);
}

const char *virtualization_from_dmi(const char *vendor, const char *product)
{
	/* EC2 names the instance type; "m5.metal" and "c7g.metal-48xl" have no hypervisor. */
	if (starts_with(vendor, "Amazon EC2") &&
	    (ends_with(product, ".metal") || strstr(product, ".metal-")))
		return "none";
	for (size_t i = 0; i < ARRAY_SIZE(dmi_words); i++) {
		if (starts_with(vendor, dmi_words[i].vendor) &&
		    starts_with(product, dmi_words[i].product))
			return dmi_words[i].word;
	}
	return NULL;
}

struct sign { const char *text, *word; };

static const struct sign clock_signs[] = {
	{ "kvm-clock", "kvm" },
	{ "hyperv_clocksource", "microsoft" },
	{ "xen", "xen" },
};

static const struct sign device_tree_signs[] = {
	{ "linux,kvm", "kvm" },
	{ "xen", "xen" },
	{ "vmware", "vmware" },
};

static const char *find_sign(const struct sign *signs, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(text, signs[i].text))
			return signs[i].word;
	}
	return NULL;
}

/* A hypervisor that shows itself other than in DMI; NULL: none seen. */
static const char *other_hypervisor_sign(struct source *src)
{
	const char *word = NULL;
	char line[256];

	if (!source_read_line(src, line, sizeof(line), "/sys/hypervisor/type") &&
	    !strcmp(line, "xen"))
		return "xen";
	if (!source_read_line(src, line, sizeof(line),
			      "/sys/devices/system/clocksource/clocksource0/available_clocksource"))
		word = find_sign(clock_signs, ARRAY_SIZE(clock_signs), line);
	if (!word && source_read(src, "/proc/device-tree/hypervisor/compatible", line,
				 sizeof(line)) > 0)
		word = find_sign(device_tree_signs, ARRAY_SIZE(device_tree_signs), line);
	return word;
}

static struct nd_str read_hypervisor(struct source *src, struct nd_bool flag)
{
	char vendor[256], product[256];
	bool has_dmi = !source_read_line(src, vendor, sizeof(vendor),
					 "/sys/class/dmi/id/sys_vendor") &&
		       !source_read_line(src, product, sizeof(product),
					 "/sys/class/dmi/id/product_name");
	const char *dmi = has_dmi ? virtualization_from_dmi(vendor, product) : NULL;
	const char *sign = other_hypervisor_sign(src);

	/* QEMU emulates, or is KVM's device model: the clock source tells. */
	if (dmi && !(sign && !strcmp(dmi, "qemu")))
		return nd_str(dmi);
	if (sign)
		return nd_str(sign);
	if (nd_is_true(flag))
		return nd_str("other");
	/* Without x86's flag and without DMI, seeing nothing proves nothing. */
	if (nd_is_false(flag) || has_dmi)
		return nd_str("none");
	return nd_str_unknown(ND_NOT_SUPPORTED);
}

static const struct sign cgroup_signs[] = {
	{ "/kubepods", "kubernetes" },
	{ "/docker/", "docker" },
	{ "/docker-", "docker" },
	{ "/libpod-", "podman" },
	{ "/lxc/", "lxc" },
	{ "/lxc.payload", "lxc" },
	{ "/crio-", "kubernetes" },
	{ "/machine.slice/", "other" },
};

const char *container_from_cgroup(const char *text)
{
	return find_sign(cgroup_signs, ARRAY_SIZE(cgroup_signs), text);
}

const char *container_from_environment(const char *text, size_t len)
{
	static const char key[] = "container=";

	for (size_t at = 0; at < len; at += strnlen(text + at, len - at) + 1) {
		/* The last entry may lack its NUL. */
		if (len - at > sizeof(key) && !strncmp(text + at, key, sizeof(key) - 1) &&
		    memchr(text + at, '\0', len - at))
			return text + at + sizeof(key) - 1;
	}
	return NULL;
}

/* Container managers' own words, as they set them for their first process. */
static const char *manager_word(const char *name)
{
	static const char *const known[] = { "docker", "podman", "lxc", "kubernetes" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (starts_with(name, known[i]))	/* "lxc-libvirt" */
			return known[i];
	}
	return "other";
}

static bool file_exists(struct source *src, const char *path)
{
	char byte[2];
	ssize_t n = source_read(src, path, byte, sizeof(byte));

	return n >= 0 || n == -EFBIG || n == -EACCES;
}

/* Files that container managers leave.  An image copied to a disk still has them. */
static const char *marker_word(struct source *src)
{
	char line[64];

	if (file_exists(src, "/run/secrets/kubernetes.io/serviceaccount/namespace"))
		return "kubernetes";
	if (file_exists(src, "/.dockerenv"))
		return "docker";
	if (file_exists(src, "/run/.containerenv"))
		return "podman";
	if (!source_read_line(src, line, sizeof(line), "/run/systemd/container") && line[0])
		return manager_word(line);
	return NULL;
}

static const char *environment_word(struct source *src)
{
	char *text = NULL;
	ssize_t n = source_read_all(src, "/proc/1/environ", 1u << 20, &text);
	const char *name = n > 0 ? container_from_environment(text, (size_t)n) : NULL;
	const char *word = name ? manager_word(name) : NULL;

	if (n >= 0)
		free(text);
	return word;
}

static struct nd_str read_container(struct source *src)
{
	const char *word = NULL;
	char *cgroups = NULL, line[64];
	ssize_t n = source_read_all(src, "/proc/self/cgroup", PROC_FILE_MAX, &cgroups);

	if (n >= 0) {
		word = container_from_cgroup(cgroups);
		free(cgroups);
	}
	if (!word)
		word = environment_word(src);
	if (word)
		return nd_str(word);
	/* Process 2 of the machine's first PID namespace is a kernel thread: no container. */
	if (!source_read_line(src, line, sizeof(line), "/proc/2/comm") &&
	    !strcmp(line, "kthreadd"))
		return nd_str("none");
	word = marker_word(src);
	return nd_str(word ? word : "none");
}

void read_virtualization(struct source *src, struct nd_bool hypervisor_flag,
			 struct host_facts *host)
{
	host->virtualization = read_hypervisor(src, hypervisor_flag);
	host->container = read_container(src);
}

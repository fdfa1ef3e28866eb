/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Links as the probes of the PROBE_LINKS phase leave them, and the sysfs entries
 * that go with them.
 */
#ifndef ND_TESTS_FAKE_LINKS_H
#define ND_TESTS_FAKE_LINKS_H

#include "src/core/facts.h"
#include "tests/unit/fake_source.h"

/* A row in f; returns its index, for rows move. */
static inline size_t fake_link(struct facts *f, uint64_t ifindex, const char *name,
			       const char *kind)
{
	struct link_facts *link = arena_append_row(f->mem, (void **)&f->links, &f->nlinks,
						   sizeof(*link));

	if (!link)
		abort();
	link->ifindex = nd_u64(ifindex);
	link->name = nd_str(name);
	link->kind = nd_str(kind);
	return f->nlinks - 1;
}

/*
 * /sys/class/net/NAME -> `path`/net/NAME with its device link; path is the device's
 * directory below /sys/devices, or "virtual" for a link without one.
 */
static inline void fake_link_sysfs(struct fake *fs, const char *name, unsigned int ifindex,
				   const char *path, const char *bus)
{
	const char *slash = strrchr(path, '/');
	char file[PATH_MAX], target[PATH_MAX], text[16], full[PATH_MAX];
	struct stat st;

	snprintf(file, sizeof(file), "/sys/class/net/%s", name);
	snprintf(target, sizeof(target), "../../devices/%s/net/%s", path, name);
	fake_symlink(fs, file, target);
	snprintf(file, sizeof(file), "/sys/devices/%s/net/%s/ifindex", path, name);
	snprintf(text, sizeof(text), "%u\n", ifindex);
	fake_file(fs, file, text);
	if (!bus)
		return;
	snprintf(file, sizeof(file), "/sys/devices/%s/net/%s/device", path, name);
	snprintf(target, sizeof(target), "../../../%s", slash ? slash + 1 : path);
	fake_symlink(fs, file, target);
	snprintf(file, sizeof(file), "/sys/devices/%s/subsystem", path);
	snprintf(target, sizeof(target), "../../../bus/%s", bus);
	/* Several links may share a device. */
	fake_path(fs, file, full);
	if (lstat(full, &st))
		fake_symlink(fs, file, target);
}

#endif

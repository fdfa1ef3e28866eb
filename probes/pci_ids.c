/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of names for PCI ids, read through once for the few that are wanted.
 *
 * "vvvv  Vendor", below it "\tdddd  Device", below that "\t\tssss ssss  Subsystem".
 * libpci makes a table of all 35000 entries first, which takes longer than all probes together.
 */
#include "probes/pci.h"

#include <string.h>

#include "src/core/text.h"

enum { LINE_CAP = 512, VENDOR_CAP = 128 };

static const char *const lists[] = {
	"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids", "/usr/share/pci.ids",
};

/* "vvvv  Name": the name, and the id; NULL: something else. */
static const char *split(const char *line, uint64_t *id)
{
	char digits[5];

	if (strspn(line, "0123456789abcdef") != 4 || memcmp(line + 4, "  ", 2) != 0 || !line[6])
		return NULL;
	memcpy(digits, line, 4);
	digits[4] = '\0';
	return parse_hex_u64(digits, id) ? NULL : line + 6;
}

static bool wants_vendor(const struct pci_name *wanted, size_t n, uint64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (wanted[i].vendor_id == id)
			return true;
	return false;
}

static void name_devices(struct pci_name *wanted, size_t n, uint64_t vendor_id, const char *vendor,
			 uint64_t id, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		struct pci_name *w = &wanted[i];
		int len;

		if (w->vendor_id != vendor_id || w->device_id != id || w->name[0])
			continue;
		len = snprintf(w->name, sizeof(w->name), "%s %s", vendor, name);
		if (len < 0 || (size_t)len >= sizeof(w->name))
			w->name[0] = '\0';	/* half a name is none */
	}
}

void pci_ids_find(FILE *list, struct pci_name *wanted, size_t n)
{
	char line[LINE_CAP], vendor[VENDOR_CAP] = "";
	uint64_t vendor_id = 0, id = 0;

	while (fgets(line, sizeof(line), list)) {
		const bool device = line[0] == '\t';
		const char *name;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0' || (device && !vendor[0]))
			continue;
		name = split(line + device, &id);
		if (device && name) {
			name_devices(wanted, n, vendor_id, vendor, id, name);
		} else if (!device) {
			vendor[0] = '\0';
			vendor_id = id;
			if (name && wants_vendor(wanted, n, id) && strlen(name) < sizeof(vendor))
				memcpy(vendor, name, strlen(name) + 1);
		}
	}
}

FILE *pci_ids_open(void)
{
	FILE *f = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(lists) && !f; i++)
		f = fopen(lists[i], "re");
	return f;
}

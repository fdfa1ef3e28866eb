/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for PCI ids from the files of this machine: out of the plain list where there is
 * one, else (a compressed one, udev's database) by libpci.
 *
 * libpci only names here.  It does not read configuration space: that goes
 * through the source like all else, for libpci opens files of its own accord,
 * so that a recording would miss them and a hostile one could send it anywhere.
 */
#include "probes/pci.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <pci/pci.h>

#include "src/core/text.h"

/*
 * libpci reports fatal errors by a function that must not return, and by default
 * ends the process.  It passes no argument of ours: hence the one variable, set
 * only while we are inside libpci, and one for each thread.
 */
static _Thread_local jmp_buf *way_out;

static void leave_libpci(char *msg, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void ignore_message(char *msg, ...) __attribute__((format(printf, 1, 2)));

static void leave_libpci(char *msg, ...)
{
	(void)msg;
	longjmp(*way_out, 1);
}

static void ignore_message(char *msg, ...)
{
	(void)msg;
}

static struct nd_str keep(struct arena *mem, const char *found)
{
	char *name = arena_strdup(mem, found);

	if (!name)
		return nd_str_unknown(ND_FAILED);
	text_make_printable(name);
	return nd_str(name);
}

static bool has_ids(const struct pci_facts *dev)
{
	return dev->vendor_id.k == ND_KNOWN && dev->device_id.k == ND_KNOWN;
}

static struct nd_str look_up(struct pci_access *a, struct arena *mem, const struct pci_facts *dev)
{
	char buf[256];
	char *name;

	if (!has_ids(dev))
		return nd_str_unknown(ND_ABSENT);
	name = pci_lookup_name(a, buf, sizeof(buf),
			       PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE | PCI_LOOKUP_NO_NUMBERS,
			       (int)(dev->vendor_id.v & 0xffff), (int)(dev->device_id.v & 0xffff));
	return name ? keep(mem, name) : nd_str_unknown(ND_ABSENT);
}

/* False: by libpci, then. */
static bool fill_from_list(struct facts *f)
{
	FILE *list = pci_ids_open();
	struct pci_name *wanted = list ? calloc(f->npci, sizeof(*wanted)) : NULL;

	for (size_t i = 0; wanted && i < f->npci; i++) {
		wanted[i].vendor_id = has_ids(&f->pci[i]) ? f->pci[i].vendor_id.v : UINT64_MAX;
		wanted[i].device_id = has_ids(&f->pci[i]) ? f->pci[i].device_id.v : UINT64_MAX;
	}
	if (wanted)
		pci_ids_find(list, wanted, f->npci);
	for (size_t i = 0; wanted && i < f->npci; i++)
		if (wanted[i].name[0])
			f->pci[i].name = keep(f->mem, wanted[i].name);
	if (list)
		fclose(list);
	bool done = wanted;
	free(wanted);
	return done;
}

static void fill_by_libpci(struct facts *f)
{
	struct pci_access *a;
	jmp_buf here;

	a = pci_alloc();
	if (!a)
		return;
	a->error = leave_libpci;
	a->warning = ignore_message;
	a->debug = ignore_message;
	/* Without PCI_LOOKUP_NETWORK and PCI_LOOKUP_CACHE nothing but local files is asked. */
	a->id_lookup_mode = 0;
	/* Never the automatic choice, which may end at the I/O ports. */
	a->method = PCI_ACCESS_SYS_BUS_PCI;
	way_out = &here;
	if (!setjmp(here)) {
		pci_init(a);
		for (size_t i = 0; i < f->npci; i++)
			f->pci[i].name = look_up(a, f->mem, &f->pci[i]);
		pci_cleanup(a);
	}
	/* After an error `a` is in no known state: a small leak beats freeing it. */
	way_out = NULL;
}

void pci_names_fill(struct facts *f)
{
	for (size_t i = 0; i < f->npci; i++)
		f->pci[i].name = nd_str_unknown(ND_ABSENT);
	if (f->npci && !fill_from_list(f))
		fill_by_libpci(f);
}

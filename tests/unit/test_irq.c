/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probes/interrupts.h"
#include "probes/probes_table.h"
#include "src/core/text.h"
#include "tests/unit/fake_links.h"

/* CPU 1 is offline.  x86 old and new, ARM, a shared line, one without handler. */
static const char table_text[] =
	"           CPU0       CPU2       CPU3       \n"
	"  9:          0          0          0   IO-APIC    9-fasteoi   acpi, i801_smbus\n"
	" 24:       1234          0 4294967295   PCI-MSI 524288-edge      eth0-TxRx-0\n"
	" 25:          0         77          0   PCI-MSIX-0000:01:00.0   1-edge      eth0-TxRx-1\n"
	" 26:          0          5          0     GICv3  45 Level     end0\n"
	" 27:          1          0          0   PCI-MSI 1-edge    \n"
	"NMI:          1          2          3   Non-maskable interrupts\n"
	"ERR:          0\n";

static void test_rows(void **state)
{
	static const struct { uint64_t irq, third; const char *name; } rows[] = {
		{ 9, 0, "acpi, i801_smbus" }, { 24, 4294967295, "eth0-TxRx-0" },
		{ 25, 0, "eth0-TxRx-1" }, { 26, 0, "end0" }, { 27, 0, "" },
	};
	char text[sizeof(table_text)];
	uint64_t counts[ND_MAX_CPUS];
	struct interrupt_row row;
	struct interrupts t;
	const char *name;

	(void)state;
	memcpy(text, table_text, sizeof(text));
	assert_int_equal(interrupts_begin(text, &t), 0);
	assert_int_equal(t.ncpus, 3);
	assert_int_equal(t.cpus[1], 2);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(interrupts_next(&t, &row));
		assert_int_equal(row.irq, rows[i].irq);
		assert_int_equal(interrupt_row_split(&t, &row, counts, &name), 0);
		assert_int_equal(counts[2], rows[i].third);
		assert_string_equal(name, rows[i].name);
	}
	assert_false(interrupts_next(&t, &row));
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(table_text); len++) {
		char *text = malloc(len + 1);
		uint64_t counts[ND_MAX_CPUS];
		struct interrupt_row row;
		struct interrupts t;
		const char *name;

		assert_non_null(text);
		memcpy(text, table_text, len);
		text[len] = 0;
		if (!interrupts_begin(text, &t)) {
			while (interrupts_next(&t, &row)) {
				if (!interrupt_row_split(&t, &row, counts, &name) && name[0])
					assert_true(name >= text && name <= text + len);
			}
		}
		free(text);
	}
}

static void test_headings(void **state)
{
	static const struct { const char *text; int rc; } headings[] = {
		{ "", -EBADMSG }, { "\n", -EBADMSG }, { "CPU0 CPUx\n", -EBADMSG },
		{ "  24: 1 2\n", -EBADMSG }, { "CPU\n", -EBADMSG }, { "CPU99999\n", -E2BIG },
		{ "CPU1023", 0 },
	};
	struct interrupts t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", headings[i].text);
		assert_int_equal(interrupts_begin(text, &t), headings[i].rc);
	}
}

static void test_too_many_columns(void **state)
{
	struct text t = TEXT_INIT;
	struct interrupts table;

	(void)state;
	text_repeat(&t, "CPU1 ", ND_MAX_CPUS + 1);
	assert_int_equal(interrupts_begin(t.data, &table), -E2BIG);
	text_free(&t);
}

static void test_hostile_rows(void **state)
{
	static const char *const rows[] = {
		"24: 1\n", "24: 1 -2 x  name\n", "24: 1 99999999999999999999999  x\n", "24:\n",
		"24: 1 2x  name\n",
	};
	uint64_t counts[ND_MAX_CPUS];
	struct interrupt_row row;
	struct interrupts t;
	const char *name;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[128];

		snprintf(text, sizeof(text), "CPU0 CPU1\n%s", rows[i]);
		assert_int_equal(interrupts_begin(text, &t), 0);
		assert_true(interrupts_next(&t, &row));
		assert_int_equal(interrupt_row_split(&t, &row, counts, &name), -EBADMSG);
	}
	{
		char text[] = "CPU0 CPU1\n99999999999999999999999: 1 2  x\n 2 4: 1 2\n"
			      "no colon\n:\n";

		assert_int_equal(interrupts_begin(text, &t), 0);
		assert_false(interrupts_next(&t, &row));
	}
}

#define DEVICE "pci0000:00/0000:01:00.0"

struct world {
	struct fake fs;
	struct facts *f;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	fake_open(&w->fs);
	w->f = facts_new(0);
	fake_link_sysfs(&w->fs, "eth0", 3, DEVICE, "pci");
	fake_symlink(&w->fs, "/sys/bus/pci/devices/0000:01:00.0", "../../../devices/" DEVICE);
	fake_file(&w->fs, "/proc/interrupts", table_text);
	fake_file(&w->fs, "/proc/irq/24/smp_affinity_list", "0,2-3\n");
	fake_file(&w->fs, "/proc/irq/24/effective_affinity_list", "0\n");
	fake_file(&w->fs, "/proc/irq/24/node", "1\n");
	fake_file(&w->fs, "/proc/irq/25/smp_affinity_list", "3\n");
	*state = w;
	return w->f ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fake_close(&w->fs);
	facts_free(w->f);
	free(w);
	return 0;
}

static void run(struct world *w, const char *name, uint64_t ifindex, const char *bus)
{
	const struct probe_context ctx = { 0 };
	struct error detail = { "" };
	size_t i = fake_link(w->f, ifindex, name, "physical");

	if (bus)
		w->f->links[i].bus = nd_str(bus);
	assert_int_equal(probe_irq.collect(w->fs.src, &ctx, w->f, &detail), 0);
}

static const struct irq_facts *irq(const struct world *w, uint64_t n)
{
	for (size_t i = 0; i < w->f->nirqs; i++) {
		if (nd_u64_is(w->f->irqs[i].irq, n))
			return &w->f->irqs[i];
	}
	return NULL;
}

static void test_msi_vectors(void **state)
{
	struct world *w = *state;

	fake_file(&w->fs, "/sys/devices/" DEVICE "/msi_irqs/24", "msix\n");
	fake_file(&w->fs, "/sys/devices/" DEVICE "/msi_irqs/25", "msix\n");
	fake_file(&w->fs, "/sys/devices/" DEVICE "/msi_irqs/nonsense", "");
	run(w, "eth0", 3, "pci");
	assert_int_equal(w->f->nirqs, 2);
	assert_string_equal(irq(w, 24)->name.v, "eth0-TxRx-0");
	assert_true(nd_u64_is(irq(w, 24)->ifindex, 3));
	assert_int_equal(nd_cpus_count(&irq(w, 24)->affinity), 3);
	assert_true(nd_cpus_has(&irq(w, 24)->effective, 0));
	assert_int_equal(irq(w, 24)->node.v, 1);
	/* Kernels without the file: absent, not empty. */
	assert_int_equal(irq(w, 25)->effective.k, ND_ABSENT);
	assert_int_equal(irq(w, 25)->node.k, ND_ABSENT);
}

static void test_legacy_line(void **state)
{
	struct world *w = *state;

	fake_file(&w->fs, "/sys/devices/" DEVICE "/irq", "9\n");
	run(w, "eth9", 9, "pci");	/* has no sysfs entry: nothing */
	assert_int_equal(w->f->nirqs, 0);
	run(w, "eth0", 3, NULL);
	assert_int_equal(w->f->nirqs, 1);
	assert_string_equal(irq(w, 9)->name.v, "acpi, i801_smbus");
}

/* A NIC of the SoC: only the handler's name leads to it. */
static void test_by_name(void **state)
{
	struct world *w = *state;

	fake_link_sysfs(&w->fs, "end0", 5, "platform/fd580000.ethernet", "platform");
	run(w, "end0", 5, "platform");
	assert_int_equal(w->f->nirqs, 1);
	assert_true(nd_u64_is(irq(w, 26)->ifindex, 5));
	/* "end" is not "end0", and software has no vectors whatever its name. */
	run(w, "end", 6, "platform");
	run(w, "acpi", 7, NULL);
	assert_int_equal(w->f->nirqs, 1);
}

/* Ports that share a function: the name decides which link a vector serves. */
static void test_shared_function(void **state)
{
	struct world *w = *state;

	fake_file(&w->fs, "/proc/interrupts",
		  "CPU0\n 24: 1  PCI-MSI 1-edge      p0 (queue 0)\n"
		  " 25: 1  PCI-MSI 2-edge      p1-Rx1\n 30: 1  PCI-MSI 3-edge      adapter-mgmt\n");
	fake_link_sysfs(&w->fs, "p0", 7, DEVICE, "pci");
	fake_link_sysfs(&w->fs, "p1", 8, DEVICE, "pci");
	for (int i = 24; i <= 30; i += i == 25 ? 5 : 1) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "/sys/devices/" DEVICE "/msi_irqs/%d", i);
		fake_file(&w->fs, path, "");
	}
	fake_link(w->f, 7, "p0", "physical");
	w->f->links[0].bus = nd_str("pci");
	run(w, "p1", 8, "pci");
	assert_int_equal(w->f->nirqs, 3);
	assert_true(nd_u64_is(irq(w, 24)->ifindex, 7));
	assert_true(nd_u64_is(irq(w, 25)->ifindex, 8));
	assert_true(nd_u64_is(irq(w, 30)->ifindex, 7));
}

static const struct irq_sample *count(const struct counters *c, uint64_t irq_number, uint64_t cpu)
{
	for (size_t i = 0; i < c->nirqs; i++) {
		if (nd_u64_is(c->irqs[i].irq, irq_number) && nd_u64_is(c->irqs[i].cpu, cpu))
			return &c->irqs[i];
	}
	return NULL;
}

static void test_counters(void **state)
{
	struct world *w = *state;
	struct counters *c = counters_new(0);

	assert_int_equal(counter_irqs.sample(w->fs.src, w->f, c), 0);
	assert_int_equal(c->nirqs, 0);
	fake_file(&w->fs, "/sys/devices/" DEVICE "/msi_irqs/24", "msix\n");
	fake_file(&w->fs, "/sys/devices/" DEVICE "/msi_irqs/25", "msix\n");
	run(w, "eth0", 3, "pci");
	assert_int_equal(counter_irqs.sample(w->fs.src, w->f, c), 0);
	assert_true(nd_u64_is(count(c, 24, 0)->count, 1234));
	assert_true(nd_u64_is(count(c, 24, 3)->count, 4294967295));
	assert_true(nd_u64_is(count(c, 25, 2)->count, 77));
	/* Bound there, so it may count soon; the others never did and are left out. */
	assert_true(nd_u64_is(count(c, 25, 3)->count, 0));
	assert_int_equal(c->nirqs, 4);
	fake_remove(&w->fs, "/proc/interrupts");
	assert_int_equal(counter_irqs.sample(w->fs.src, w->f, c), -ENOENT);
	counters_free(c);
}

/* 512 CPUs: lines of six thousand bytes. */
static void test_wide_machine(void **state)
{
	struct world *w = *state;
	struct counters *c = counters_new(0);
	struct text t = TEXT_INIT;

	for (unsigned int i = 0; i < 512; i++)
		text_printf(&t, " CPU%u", i);
	text_add(&t, "\n 24:");
	for (unsigned int i = 0; i < 512; i++)
		text_printf(&t, " %10u", i);
	text_add(&t, "   PCI-MSI 1-edge      eth0-TxRx-0\n");
	fake_file(&w->fs, "/proc/interrupts", t.data);
	fake_file(&w->fs, "/sys/devices/" DEVICE "/msi_irqs/24", "msix\n");
	run(w, "eth0", 3, "pci");
	assert_string_equal(irq(w, 24)->name.v, "eth0-TxRx-0");
	assert_int_equal(counter_irqs.sample(w->fs.src, w->f, c), 0);
	assert_int_equal(c->nirqs, 512);
	assert_true(nd_u64_is(count(c, 24, 511)->count, 511));
	text_free(&t);
	counters_free(c);
}

#define WORLD_TEST(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_headings),
		cmocka_unit_test(test_too_many_columns),
		cmocka_unit_test(test_hostile_rows),
		WORLD_TEST(test_msi_vectors),
		WORLD_TEST(test_legacy_line),
		WORLD_TEST(test_by_name),
		WORLD_TEST(test_shared_function),
		WORLD_TEST(test_counters),
		WORLD_TEST(test_wide_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

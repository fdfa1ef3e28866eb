/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probes/probes_table.h"
#include "probes/proc.h"
#include "tests/unit/fake_source.h"

enum { LIMIT = 4 << 20 };

static void collect(struct fake *fake, struct facts *f)
{
	struct probe_context ctx = { 0 };
	struct error detail = { "" };

	assert_int_equal(probe_host.collect(fake->src, &ctx, f, &detail), 0);
}

static void test_host(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct fake fake;

	(void)state;
	fake_open(&fake);
	strcpy(fake.sysinfo.nodename, "node7");
	strcpy(fake.sysinfo.release, "6.1.0-18-amd64");
	strcpy(fake.sysinfo.machine, "x86_64");
	fake.sysinfo.clock_ticks_per_second = 100;
	fake.sysinfo.page_bytes = 4096;
	fake.sysinfo.effective_uid = 1000;
	nd_cpus_set(&fake.sysinfo.allowed, 3);
	fake.now_ns = 42;
	fake_file(&fake, "/etc/os-release",
		  "NAME=x\nPRETTY_NAME=\"Debian \\\"12\\\" (bookworm)\"\n");
	fake_file(&fake, "/proc/cpuinfo",
		  "processor\t: 0\nmodel\t\t: 2\nmodel name\t: AMD EPYC 9654: 96-Core\n"
		  "flags\t\t: fpu hypervisorless\n\nprocessor\t: 1\nmodel name\t: other\n"
		  "flags\t\t: hypervisor\n");
	fake_file(&fake, "/proc/meminfo", "MemTotal:       24683620 kB\nMemFree: 1 kB\n");
	fake_file(&fake, "/proc/sys/kernel/random/boot_id", "163a6793-19b2\n");
	fake_file(&fake, "/sys/devices/system/cpu/online", "0-3\n");
	fake_file(&fake, "/boot/config-6.1.0-18-amd64",
		  "CONFIG_X=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n");
	collect(&fake, f);
	assert_string_equal(f->host.hostname.v, "node7");
	assert_string_equal(f->host.kernel.v, "6.1.0-18-amd64");
	assert_string_equal(f->host.os.v, "Debian \"12\" (bookworm)");
	assert_string_equal(f->host.cpu_model.v, "AMD EPYC 9654: 96-Core");
	assert_string_equal(f->host.boot_id.v, "163a6793-19b2");
	assert_true(nd_u64_is(f->host.memory_bytes, UINT64_C(24683620) * 1024));
	assert_true(nd_is_false(f->host.root));
	assert_true(nd_is_false(f->host.net_admin));
	assert_true(nd_is_false(f->host.irq_time_accounting));
	assert_true(nd_cpus_has(&f->host.cpus_allowed, 3));
	assert_int_equal(nd_cpus_count(&f->host.cpus_online), 4);
	assert_string_equal(f->host.virtualization.v, "none");	/* x86 without the flag */
	assert_string_equal(f->host.container.v, "none");
	assert_true(nd_u64_is(f->host.monotonic_ns, 42));
	facts_free(f);
	fake_close(&fake);
}

static void test_host_unreadable(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct fake fake;

	(void)state;
	fake_open(&fake);
	strcpy(fake.sysinfo.release, "../../etc/passwd");
	collect(&fake, f);
	assert_int_equal(f->host.os.k, ND_ABSENT);
	assert_int_equal(f->host.cpu_model.k, ND_ABSENT);
	assert_int_equal(f->host.memory_bytes.k, ND_ABSENT);
	assert_int_equal(f->host.boot_id.k, ND_ABSENT);
	assert_int_equal(f->host.irq_time_accounting.k, ND_ABSENT);
	/* Neither flag nor DMI: seeing nothing proves nothing. */
	assert_int_equal(f->host.virtualization.k, ND_NOT_SUPPORTED);
	facts_free(f);
	fake_close(&fake);
}

static void test_dmi(void **state)
{
	static const struct { const char *vendor, *product, *word; } cases[] = {
		{ "QEMU", "Standard PC (Q35 + ICH9, 2009)", "qemu" },
		{ "Red Hat", "KVM", "kvm" },
		{ "Amazon EC2", "m5.large", "amazon" },
		{ "Amazon EC2", "m5.metal", "none" },
		{ "Amazon EC2", "c7i.metal-24xl", "none" },
		{ "Google", "Google Compute Engine", "google" },
		{ "Microsoft Corporation", "Virtual Machine", "microsoft" },
		{ "Microsoft Corporation", "Surface Laptop", NULL },
		{ "VMware, Inc.", "VMware Virtual Platform", "vmware" },
		{ "innotek GmbH", "VirtualBox", "virtualbox" },
		{ "Xen", "HVM domU", "xen" },
		{ "Dell Inc.", "PowerEdge R750", NULL },
		{ "", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *word = virtualization_from_dmi(cases[i].vendor, cases[i].product);

		if (cases[i].word)
			assert_string_equal(word, cases[i].word);
		else
			assert_null(word);
	}
}

static void expect_virtualization(struct fake *fake, const char *word)
{
	struct facts *f = facts_new(LIMIT);

	collect(fake, f);
	assert_int_equal(f->host.virtualization.k, ND_KNOWN);
	assert_string_equal(f->host.virtualization.v, word);
	facts_free(f);
}

static void test_virtualization(void **state)
{
	static const char clocks[] =
		"/sys/devices/system/clocksource/clocksource0/available_clocksource";
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake_file(&fake, "/proc/cpuinfo", "flags\t: fpu hypervisor lm\n");
	expect_virtualization(&fake, "other");
	fake_file(&fake, clocks, "kvm-clock tsc acpi_pm\n");
	expect_virtualization(&fake, "kvm");
	/* QEMU's DMI with KVM's clock is KVM; without it, emulation. */
	fake_file(&fake, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
	fake_file(&fake, "/sys/class/dmi/id/product_name", "Standard PC\n");
	expect_virtualization(&fake, "kvm");
	fake_file(&fake, clocks, "tsc acpi_pm\n");
	expect_virtualization(&fake, "qemu");
	fake_file(&fake, "/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
	fake_file(&fake, "/sys/hypervisor/type", "xen\n");
	expect_virtualization(&fake, "xen");
	/* ARM board with DMI and nothing else. */
	fake_remove(&fake, "/sys/hypervisor/type");
	fake_file(&fake, "/proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n");
	expect_virtualization(&fake, "none");
	fake_close(&fake);
}

static void expect_container(struct fake *fake, const char *word)
{
	struct facts *f = facts_new(LIMIT);

	collect(fake, f);
	assert_int_equal(f->host.container.k, ND_KNOWN);
	assert_string_equal(f->host.container.v, word);
	facts_free(f);
}

static void test_container(void **state)
{
	struct fake fake;

	(void)state;
	fake_open(&fake);
	fake_file(&fake, "/.dockerenv", "");
	expect_container(&fake, "docker");
	/* An image on a disk of its own: process 2 is the kernel's. */
	fake_file(&fake, "/proc/2/comm", "kthreadd\n");
	expect_container(&fake, "none");
	/* ... unless the container shares the host's processes. */
	fake_file(&fake, "/proc/self/cgroup", "0::/system.slice/docker-12ab.scope\n");
	expect_container(&fake, "docker");
	fake_file(&fake, "/proc/self/cgroup", "1:cpu:/kubepods/burstable/pod1/x\n0::/\n");
	expect_container(&fake, "kubernetes");
	fake_file(&fake, "/proc/self/cgroup", "0::/\n");
	fake_file_bytes(&fake, "/proc/1/environ", "A=1\0container=lxc\0", 18);
	expect_container(&fake, "lxc");
	fake_file_bytes(&fake, "/proc/1/environ", "A=1\0container=rkt-ng\0", 21);
	expect_container(&fake, "other");
	fake_file_bytes(&fake, "/proc/1/environ", "Xcontainer=lxc\0", 15);
	expect_container(&fake, "none");
	fake_remove(&fake, "/proc/2/comm");
	fake_remove(&fake, "/.dockerenv");
	fake_file(&fake, "/run/.containerenv", "engine=\"podman\"\n");
	expect_container(&fake, "podman");
	fake_close(&fake);
}

static void test_environment_bounds(void **state)
{
	static const char text[] = { 'c', 'o', 'n', 't', 'a', 'i', 'n', 'e', 'r', '=', 'l', 'x' };

	(void)state;
	for (size_t len = 0; len <= sizeof(text); len++) {
		char *exact = malloc(len ? len : 1);

		assert_non_null(exact);
		memcpy(exact, text, len);
		assert_null(container_from_environment(exact, len));	/* never ends */
		free(exact);
	}
}

static struct nd_bool evidence(const char *stat)
{
	char *text = strdup(stat);
	struct nd_bool v = parse_irq_accounting_evidence(text);

	free(text);
	return v;
}

static void test_irq_accounting(void **state)
{
	char native[] = "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y\n";
	char on[] = "A\nCONFIG_IRQ_TIME_ACCOUNTING=y\n";
	char have[] = "CONFIG_HAVE_IRQ_TIME_ACCOUNTING=y\n";

	(void)state;
	assert_true(nd_is_true(parse_irq_accounting(native)));
	assert_true(nd_is_true(parse_irq_accounting(on)));
	assert_int_equal(parse_irq_accounting(have).k, ND_ABSENT);
	assert_true(nd_is_false(evidence("cpu  1 2 3 4 5 0 7\nintr 841016 1 1\n")));
	assert_int_equal(evidence("cpu  1 2 3 4 5 6 7\nintr 841016 1 1\n").k, ND_ABSENT);
	assert_int_equal(evidence("cpu  1 2 3 4 5 0 7\nintr 500\n").k, ND_ABSENT);
	assert_int_equal(evidence("cpu  1 2 3\nintr 841016\n").k, ND_ABSENT);
	assert_int_equal(evidence("intr 841016\n").k, ND_ABSENT);
	assert_int_equal(evidence("").k, ND_ABSENT);
}

static void test_small_files(void **state)
{
	struct arena *mem = arena_new(LIMIT);
	char bare[] = "PRETTY_NAME=Alpine\n", empty[] = "PRETTY_NAME=\"\"\n";
	char open_quote[] = "PRETTY_NAME=\"Open \\", none[] = "NAME=x\n";
	char power[] = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n";
	char huge[] = "MemTotal: 18446744073709551615 kB\n", bad[] = "MemTotal: kB\n";
	struct nd_bool hypervisor;
	struct nd_str model;

	(void)state;
	assert_string_equal(parse_os_release(bare, mem).v, "Alpine");
	assert_int_equal(parse_os_release(empty, mem).k, ND_INVALID);
	assert_string_equal(parse_os_release(open_quote, mem).v, "Open \\");
	assert_int_equal(parse_os_release(none, mem).k, ND_ABSENT);
	parse_cpuinfo(power, mem, &model, &hypervisor);
	assert_string_equal(model.v, "POWER9, altivec supported");
	assert_int_equal(hypervisor.k, ND_ABSENT);
	assert_int_equal(parse_memory_total(huge).k, ND_INVALID);
	assert_int_equal(parse_memory_total(bad).k, ND_INVALID);
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_host_unreadable),
		cmocka_unit_test(test_dmi),
		cmocka_unit_test(test_virtualization),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_environment_bounds),
		cmocka_unit_test(test_irq_accounting),
		cmocka_unit_test(test_small_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

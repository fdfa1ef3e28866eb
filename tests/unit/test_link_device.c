/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <linux/ethtool.h>

#include "probes/link_device.h"
#include "tests/unit/fake_links.h"

static void test_resolve(void **state)
{
	static const struct { const char *dir, *target, *path; } cases[] = {
		{ "/sys/class/net", "../../devices/virtual/net/lo", "/sys/devices/virtual/net/lo" },
		{ "/a/b", "./c//d/.", "/a/b/c/d" },
		{ "/a/b/", "..", "/a" },
		{ "/a", "../../../..", "/" },
		{ "/a", "../../../x", "/x" },
		{ "/a", "/x/../y", "/y" },
		{ "relative", "/x", "/x" },
		{ "/", "x", "/x" },
		{ "/a", "", "/a" },
		{ "/a", "...", "/a/..." },
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(sysfs_resolve(cases[i].dir, cases[i].target, out, sizeof(out)), 0);
		assert_string_equal(out, cases[i].path);
	}
	assert_int_equal(sysfs_resolve("relative", "x", out, sizeof(out)), -EINVAL);
	/* Every capacity: fits whole or is refused. */
	for (size_t cap = 0; cap < 12; cap++) {
		int rc = sysfs_resolve("/a", "bc/de", out, cap);

		assert_int_equal(rc, cap > 8 ? 0 : cap < 2 ? -EINVAL : -ENAMETOOLONG);
	}
}

static void test_addresses(void **state)
{
	char out[3][PCI_ADDRESS_MAX];

	(void)state;
	assert_int_equal(pci_address_length("0000:3b:00.0"), 12);
	assert_int_equal(pci_address_length("0000:3b:00.1/net"), 12);
	assert_int_equal(pci_address_length("10000:e1:00.0"), 13);
	assert_int_equal(pci_address_length("0000:3b:00.8"), 0);
	assert_int_equal(pci_address_length("0000:3b:00.0x"), 0);
	assert_int_equal(pci_address_length("000:3b:00.0"), 0);
	assert_int_equal(pci_address_length("0000:3b:0"), 0);
	assert_int_equal(pci_address_length("0000:3b:00."), 0);
	assert_int_equal(pci_address_length("0000:"), 0);
	assert_int_equal(pci_address_length(""), 0);
	assert_int_equal(pci_address_length("123456789:3b:00.0"), 0);

	assert_int_equal(pci_addresses_in_path("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0",
					       out, 3), 2);
	assert_string_equal(out[0], "0000:00:01.0");
	assert_string_equal(out[1], "0000:01:00.0");
	/* Below a VMD function a new tree begins. */
	assert_int_equal(pci_addresses_in_path(
		"/sys/devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0",
		out, 3), 2);
	assert_string_equal(out[0], "10000:e0:06.0");
	assert_int_equal(pci_addresses_in_path("/sys/devices/virtual/net/lo", out, 3), 0);
	/* More than fit. */
	assert_int_equal(pci_addresses_in_path(
		"/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/", out, 3), 3);
	assert_string_equal(out[2], "0000:02:00.0");
}

struct world {
	struct fake fs;
	struct facts *f;
	const char *driver, *bus_info;
	int rc;
};

static int answer_drvinfo(void *user, const char *ifname, void *cmd, size_t len)
{
	struct world *w = user;
	struct ethtool_drvinfo *info = cmd;

	(void)ifname;
	assert_int_equal(info->cmd, ETHTOOL_GDRVINFO);
	assert_true(len == sizeof(*info));
	if (w->rc)
		return w->rc;
	if (w->driver)
		memcpy(info->driver, w->driver, strnlen(w->driver, sizeof(info->driver)));
	if (w->bus_info)
		memcpy(info->bus_info, w->bus_info, strnlen(w->bus_info, sizeof(info->bus_info)));
	return 0;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	fake_open(&w->fs);
	w->fs.ethtool = answer_drvinfo;
	w->fs.user = w;
	w->f = facts_new(0);
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

static struct link_device find(struct world *w, const char *name)
{
	struct link_device dev;
	size_t i = fake_link(w->f, 3, name, "physical");

	assert_int_equal(link_device_find(w->fs.src, &w->f->links[i], &dev), 0);
	return dev;
}

static void test_pci_nic(void **state)
{
	struct world *w = *state;
	struct link_device dev;

	fake_link_sysfs(&w->fs, "eth0", 3, "pci0000:00/0000:00:01.0/0000:01:00.0", "pci");
	w->driver = "ixgbe";
	dev = find(w, "eth0");
	assert_int_equal(dev.backing, LINK_HARDWARE);
	assert_true(dev.sysfs);
	assert_string_equal(dev.path, "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0");
	assert_string_equal(dev.bus, "pci");
	assert_string_equal(dev.pci_address, "0000:01:00.0");
}

static void test_virtio(void **state)
{
	struct world *w = *state;
	struct link_device dev;

	fake_link_sysfs(&w->fs, "eth0", 3, "pci0000:00/0000:00:03.0/virtio2", "virtio");
	dev = find(w, "eth0");
	assert_int_equal(dev.backing, LINK_PARAVIRTUAL);
	assert_string_equal(dev.bus, "virtio");
	assert_string_equal(dev.pci_address, "0000:00:03.0");
}

static void test_vmxnet3(void **state)
{
	struct world *w = *state;

	fake_link_sysfs(&w->fs, "eth0", 3, "pci0000:00/0000:03:00.0", "pci");
	w->driver = "vmxnet3";
	assert_int_equal(find(w, "eth0").backing, LINK_PARAVIRTUAL);
}

static void test_usb(void **state)
{
	struct world *w = *state;
	struct link_device dev;

	fake_link_sysfs(&w->fs, "usb0", 3, "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0", "usb");
	dev = find(w, "usb0");
	assert_int_equal(dev.backing, LINK_HARDWARE);
	assert_string_equal(dev.bus, "usb");
	/* The host controller's PCI link is not the adapter's. */
	assert_string_equal(dev.pci_address, "");
}

static void test_software(void **state)
{
	struct world *w = *state;

	fake_link_sysfs(&w->fs, "veth0", 3, "virtual", NULL);
	w->driver = "veth";
	assert_int_equal(find(w, "veth0").backing, LINK_SOFTWARE);
	fake_link_sysfs(&w->fs, "eni1", 3, "netdevsim1", "netdevsim");
	assert_int_equal(find(w, "eni1").backing, LINK_SOFTWARE);
}

/* The name leads to a link of another namespace: only the driver can be asked. */
static void test_foreign_sysfs(void **state)
{
	struct world *w = *state;
	struct link_device dev;
	size_t i;

	fake_link_sysfs(&w->fs, "eth0", 7, "pci0000:00/0000:01:00.0", "pci");
	w->driver = "veth";
	dev = find(w, "eth0");
	assert_false(dev.sysfs);
	assert_int_equal(dev.backing, LINK_SOFTWARE);
	w->bus_info = "0000:41:00.1";
	dev = find(w, "eth0");
	assert_int_equal(dev.backing, LINK_HARDWARE);
	assert_string_equal(dev.pci_address, "0000:41:00.1");
	w->bus_info = "usb-0000:00:14.0-1";
	dev = find(w, "eth0");
	assert_string_equal(dev.bus, "usb");
	assert_string_equal(dev.pci_address, "");
	/* No terminator anywhere in the field. */
	w->bus_info = "0000:41:00.1/0000:41:00.1/0000:41:00.1";
	dev = find(w, "eth0");
	assert_string_equal(dev.pci_address, "");
	/* The loopback has no driver at all; any other failure leaves it open. */
	w->rc = -EOPNOTSUPP;
	assert_int_equal(find(w, "eth0").backing, LINK_SOFTWARE);
	w->rc = -EPERM;
	i = fake_link(w->f, 3, "eth0", "physical");
	assert_int_equal(link_device_find(w->fs.src, &w->f->links[i], &dev), -EPERM);
}

static void test_hostile_names(void **state)
{
	static const char *const names[] = { "", ".", "..", "a/b", "../../etc",
					     "sixteen-bytes-xx" };
	struct world *w = *state;
	struct link_facts unread = { 0 };
	struct link_device dev;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t at = fake_link(w->f, 3, names[i], "physical");

		assert_int_equal(link_device_find(w->fs.src, &w->f->links[at], &dev), -EINVAL);
	}
	assert_int_equal(link_device_find(w->fs.src, &unread, &dev), -EINVAL);
	assert_int_equal(w->fs.reads, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test_setup_teardown(test_pci_nic, setup, teardown),
		cmocka_unit_test_setup_teardown(test_virtio, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vmxnet3, setup, teardown),
		cmocka_unit_test_setup_teardown(test_usb, setup, teardown),
		cmocka_unit_test_setup_teardown(test_software, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_sysfs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_names, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

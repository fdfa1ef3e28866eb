/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "probes/pci.h"
#include "probes/probes_table.h"
#include "tests/unit/fake_links.h"

static void test_speed_text(void **state)
{
	static const struct { const char *text; uint64_t mtps; enum nd_known k; } cases[] = {
		{ "2.5 GT/s PCIe", 2500, ND_KNOWN }, { "8 GT/s", 8000, ND_KNOWN },
		{ "8.0 GT/s", 8000, ND_KNOWN }, { "5.0 GT/s PCIe", 5000, ND_KNOWN },
		{ "64.0 GT/s PCIe", 64000, ND_KNOWN }, { "Unknown speed", 0, ND_NOT_SUPPORTED },
		{ "Unknown", 0, ND_NOT_SUPPORTED }, { "", 0, ND_INVALID },
		{ "0.0 GT/s", 0, ND_INVALID }, { "8.0", 0, ND_INVALID },
		{ "8.0 MT/s", 0, ND_INVALID },
		{ "-8.0 GT/s", 0, ND_INVALID }, { "99999999999999999999 GT/s", 0, ND_INVALID },
		{ ".5 GT/s", 0, ND_INVALID }, { "8. GT/s", 0, ND_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nd_u64 v = parse_link_speed(cases[i].text);

		assert_int_equal(v.k, cases[i].k);
		assert_int_equal(v.v, cases[i].mtps);
	}
}

static void test_width_text(void **state)
{
	(void)state;
	assert_true(nd_u64_is(parse_link_width("16"), 16));
	assert_true(nd_u64_is(parse_link_width("1\n"), 1));
	assert_int_equal(parse_link_width("0").k, ND_NOT_SUPPORTED);
	assert_int_equal(parse_link_width("63").k, ND_NOT_SUPPORTED);
	assert_int_equal(parse_link_width("255").k, ND_NOT_SUPPORTED);
	assert_int_equal(parse_link_width("Unknown").k, ND_NOT_SUPPORTED);
	assert_int_equal(parse_link_width("33").k, ND_INVALID);
	assert_int_equal(parse_link_width("x8").k, ND_INVALID);
	assert_int_equal(parse_link_width("").k, ND_INVALID);
}

static void test_aer_text(void **state)
{
	static const char text[] = "RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 18446744073709551615\n";

	(void)state;
	assert_true(nd_u64_is(parse_aer_total(text, "TOTAL_ERR_COR"), UINT64_MAX));
	assert_true(nd_u64_is(parse_aer_total(text, "RxErr"), 3));
	assert_int_equal(parse_aer_total(text, "TOTAL_ERR").k, ND_ABSENT);
	assert_int_equal(parse_aer_total("", "TOTAL_ERR_COR").k, ND_ABSENT);
	assert_int_equal(parse_aer_total("TOTAL_ERR_COR\n", "TOTAL_ERR_COR").k, ND_ABSENT);
	assert_int_equal(parse_aer_total("TOTAL_ERR_COR -1\n", "TOTAL_ERR_COR").k, ND_INVALID);
	assert_int_equal(parse_aer_total("TOTAL_ERR_COR 9999999999999999999999999999999999999999",
					 "TOTAL_ERR_COR").k, ND_INVALID);
	assert_true(nd_u64_is(parse_aer_total("TOTAL_ERR_COR 7", "TOTAL_ERR_COR"), 7));
}

static void test_id_text(void **state)
{
	(void)state;
	assert_true(nd_u64_is(parse_pci_id("0x8086"), 0x8086));
	assert_true(nd_u64_is(parse_pci_id("020000"), 0x20000));
	assert_int_equal(parse_pci_id("0x").k, ND_INVALID);
	assert_int_equal(parse_pci_id("intel").k, ND_INVALID);
}

struct world {
	struct fake fs;
	struct facts *f;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	fake_open(&w->fs);
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

static void put(struct world *w, const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/devices/%s/%s", dir, name);
	fake_file(&w->fs, path, text);
}

/* A function at /sys/devices/`dir`, with its entry in /sys/bus/pci/devices. */
static void put_function(struct world *w, const char *dir, const char *class, const uint8_t *config,
			 size_t len)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", strrchr(dir, '/') + 1);
	snprintf(target, sizeof(target), "../../../devices/%s", dir);
	fake_symlink(&w->fs, path, target);
	put(w, dir, "vendor", "0x8086\n");
	put(w, dir, "device", "0x1572\n");
	put(w, dir, "class", class);
	put(w, dir, "numa_node", "1\n");
	if (!config)
		return;
	snprintf(path, sizeof(path), "/sys/devices/%s/config", dir);
	fake_file_bytes(&w->fs, path, config, len);
}

/* Express capability at 0x40; speed and width for both LnkCap and LnkSta. */
static void build(uint8_t config[256], unsigned int type, unsigned int max_width,
		  unsigned int width)
{
	memset(config, 0, 256);
	config[0] = 0x86;
	config[1] = 0x80;
	config[6] = 0x10;
	config[0x34] = 0x40;
	config[0x40] = 0x10;
	config[0x42] = (uint8_t)(2 | type << 4);
	config[0x44] = 2;
	config[0x48] = 0x30;
	config[0x49] = 0x20;
	config[0x4c] = (uint8_t)(3 | max_width << 4);
	config[0x52] = (uint8_t)(3 | width << 4);
}

#define PORT_DIR "pci0000:00/0000:00:01.0"
#define NIC_DIR PORT_DIR "/0000:01:00.0"

static struct error run(struct world *w)
{
	const struct probe_context ctx = { 0 };
	struct error detail = { "" };

	assert_int_equal(probe_pci.collect(w->fs.src, &ctx, w->f, &detail), 0);
	return detail;
}

static void test_root_sees_configuration_space(void **state)
{
	struct world *w = *state;
	const struct pci_facts *nic, *port;
	uint8_t config[256];

	build(config, 4, 8, 4);
	put_function(w, PORT_DIR, "0x060400\n", config, sizeof(config));
	build(config, 0, 8, 4);
	put_function(w, NIC_DIR, "0x020000\n", config, sizeof(config));
	put(w, NIC_DIR, "removable", "fixed\n");
	fake_symlink(&w->fs, "/sys/devices/" NIC_DIR "/driver", "../../../../bus/pci/drivers/i40e");
	fake_link_sysfs(&w->fs, "eth0", 3, NIC_DIR, "pci");
	fake_link(w->f, 3, "eth0", "physical");
	/* A second port of the same function adds no rows. */
	fake_link_sysfs(&w->fs, "eth1", 4, NIC_DIR, "pci");
	fake_link(w->f, 4, "eth1", "physical");
	assert_string_equal(run(w).text, "");
	assert_string_equal(w->f->links[0].bus.v, "pci");
	assert_string_equal(w->f->links[0].pci_address.v, "0000:01:00.0");
	assert_int_equal(w->f->links[0].numa_node.v, 1);
	assert_int_equal(w->f->npci, 2);
	nic = facts_pci(w->f, "0000:01:00.0");
	port = facts_pci(w->f, "0000:00:01.0");
	assert_non_null(nic);
	assert_non_null(port);
	assert_string_equal(nic->type.v, "endpoint");
	assert_string_equal(port->type.v, "root-port");
	assert_string_equal(nic->parent.v, "0000:00:01.0");
	assert_int_equal(port->parent.k, ND_NOT_APPLICABLE);
	assert_string_equal(nic->driver.v, "i40e");
	assert_int_equal(port->driver.k, ND_ABSENT);
	assert_true(nd_u64_is(nic->width, 4) && nd_u64_is(nic->max_width, 8));
	assert_true(nd_u64_is(nic->payload_bytes, 256) && nd_u64_is(nic->read_request_bytes, 512));
	assert_true(nd_u64_is(nic->vendor_id, 0x8086) && nd_u64_is(nic->class_code, 0x020000));
	assert_true(nd_is_false(nic->removable));
	assert_int_equal(port->removable.k, ND_ABSENT);
	assert_int_equal(nic->physical_function.k, ND_NOT_APPLICABLE);
}

/* What the kernel gives to others: 64 bytes, and attributes. */
static void test_unprivileged(void **state)
{
	struct world *w = *state;
	const struct pci_facts *nic, *port;
	uint8_t config[256];

	build(config, 4, 8, 4);
	put_function(w, PORT_DIR, "0x060400\n", config, 64);
	put(w, PORT_DIR, "max_link_speed", "8.0 GT/s PCIe\n");
	put_function(w, NIC_DIR, "0x020000\n", config, 64);
	put(w, NIC_DIR, "max_link_speed", "8.0 GT/s PCIe\n");
	put(w, NIC_DIR, "max_link_width", "8\n");
	put(w, NIC_DIR, "current_link_speed", "Unknown\n");
	put(w, NIC_DIR, "current_link_width", "4\n");
	put(w, NIC_DIR, "link/l0s_aspm", "0\n");
	put(w, NIC_DIR, "link/l1_aspm", "1\n");
	fake_link_sysfs(&w->fs, "eth0", 3, NIC_DIR, "pci");
	fake_link(w->f, 3, "eth0", "physical");
	assert_non_null(strstr(run(w).text, "only root"));
	nic = facts_pci(w->f, "0000:01:00.0");
	port = facts_pci(w->f, "0000:00:01.0");
	assert_non_null(nic);
	assert_non_null(port);
	assert_string_equal(port->type.v, "root-port");
	assert_string_equal(nic->type.v, "endpoint");
	assert_true(nd_u64_is(nic->max_speed_mtps, 8000) && nd_u64_is(nic->max_width, 8));
	assert_int_equal(nic->speed_mtps.k, ND_NOT_SUPPORTED);
	assert_true(nd_u64_is(nic->width, 4));
	assert_int_equal(nic->payload_bytes.k, ND_NOT_PERMITTED);
	assert_int_equal(nic->relaxed_ordering.k, ND_NOT_PERMITTED);
	assert_string_equal(nic->aspm.v, "L1");
	assert_int_equal(nic->aspm_supported.k, ND_NOT_PERMITTED);
	assert_int_equal(port->aspm.k, ND_NOT_PERMITTED);
	assert_int_equal(port->width.k, ND_ABSENT);
}

/* Hidden by a hypervisor: no capability that we may see, no attribute. */
static void test_unprivileged_without_attributes(void **state)
{
	struct world *w = *state;
	const struct pci_facts *nic;
	uint8_t config[256];

	build(config, 0, 8, 4);
	put_function(w, "pci0000:00/0000:00:03.0", "0x020000\n", config, 64);
	fake_link_sysfs(&w->fs, "eth0", 3, "pci0000:00/0000:00:03.0/virtio2", "virtio");
	fake_link(w->f, 3, "eth0", "physical");
	run(w);
	assert_string_equal(w->f->links[0].bus.v, "virtio");
	nic = facts_pci(w->f, "0000:00:03.0");
	assert_non_null(nic);
	assert_int_equal(nic->type.k, ND_NOT_PERMITTED);
	assert_int_equal(nic->width.k, ND_ABSENT);
	assert_int_equal(nic->payload_bytes.k, ND_NOT_PERMITTED);
}

static void test_virtual_function(void **state)
{
	struct world *w = *state;
	const struct pci_facts *vf;
	uint8_t config[256];

	build(config, 4, 8, 8);
	put_function(w, PORT_DIR, "0x060400\n", config, sizeof(config));
	build(config, 0, 8, 8);
	put_function(w, NIC_DIR, "0x020000\n", config, sizeof(config));
	build(config, 0, 0, 0);
	put_function(w, PORT_DIR "/0000:01:02.1", "0x020000\n", config, sizeof(config));
	fake_symlink(&w->fs, "/sys/devices/" PORT_DIR "/0000:01:02.1/physfn", "../0000:01:00.0");
	fake_link_sysfs(&w->fs, "eth0v1", 3, PORT_DIR "/0000:01:02.1", "pci");
	fake_link(w->f, 3, "eth0v1", "physical");
	run(w);
	assert_string_equal(w->f->links[0].pci_address.v, "0000:01:02.1");
	assert_int_equal(w->f->npci, 3);
	vf = facts_pci(w->f, "0000:01:02.1");
	assert_non_null(vf);
	assert_string_equal(vf->physical_function.v, "0000:01:00.0");
	assert_int_equal(vf->width.k, ND_NOT_APPLICABLE);
	assert_string_equal(vf->parent.v, "0000:00:01.0");
	assert_true(nd_u64_is(facts_pci(w->f, "0000:01:00.0")->width, 8));
}

static void test_usb_and_software(void **state)
{
	struct world *w = *state;

	fake_link_sysfs(&w->fs, "usb0", 3, "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0", "usb");
	fake_link(w->f, 3, "usb0", "physical");
	fake_link_sysfs(&w->fs, "lo", 1, "virtual", NULL);
	fake_link(w->f, 1, "lo", "physical");
	run(w);
	assert_string_equal(w->f->links[0].bus.v, "usb");
	assert_int_equal(w->f->links[0].pci_address.k, ND_NOT_APPLICABLE);
	assert_int_equal(w->f->links[1].bus.k, ND_NOT_APPLICABLE);
	assert_int_equal(w->f->links[1].numa_node.k, ND_NOT_APPLICABLE);
	assert_int_equal(w->f->npci, 0);
}

static void test_function_that_is_gone(void **state)
{
	struct world *w = *state;
	uint8_t config[256];

	memset(config, 0xff, sizeof(config));
	put_function(w, NIC_DIR, "0x020000\n", config, sizeof(config));
	put_function(w, PORT_DIR, "0x060400\n", NULL, 0);
	fake_link_sysfs(&w->fs, "eth0", 3, NIC_DIR, "pci");
	fake_link(w->f, 3, "eth0", "physical");
	run(w);
	assert_int_equal(facts_pci(w->f, "0000:01:00.0")->width.k, ND_FAILED);
	assert_int_equal(facts_pci(w->f, "0000:00:01.0")->width.k, ND_ABSENT);
}

/* A switch is told apart by its place in the tree. */
static void test_switch_without_root(void **state)
{
	static const char *const dirs[] = {
		PORT_DIR, PORT_DIR "/0000:01:00.0", PORT_DIR "/0000:01:00.0/0000:02:03.0",
		PORT_DIR "/0000:01:00.0/0000:02:03.0/0000:03:00.0",
	};
	static const char *const types[] = { "root-port", "upstream-port", "downstream-port",
					     "endpoint" };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		put_function(w, dirs[i], i < 3 ? "0x060400\n" : "0x020000\n", NULL, 0);
		put(w, dirs[i], "max_link_speed", "16.0 GT/s PCIe\n");
	}
	fake_link_sysfs(&w->fs, "eth0", 3, dirs[3], "pci");
	fake_link(w->f, 3, "eth0", "physical");
	run(w);
	assert_int_equal(w->f->npci, 4);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		assert_string_equal(w->f->pci[i].type.v, types[i]);
}

static void test_counters(void **state)
{
	struct world *w = *state;
	struct counters *c = counters_new(0);
	struct pci_facts *row;

	put_function(w, NIC_DIR, "0x020000\n", NULL, 0);
	put(w, NIC_DIR, "current_link_speed", "16.0 GT/s PCIe\n");
	put(w, NIC_DIR, "current_link_width", "8\n");
	put(w, NIC_DIR, "aer_dev_correctable", "RxErr 0\nTOTAL_ERR_COR 12\n");
	put(w, NIC_DIR, "aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 1\n");
	row = arena_append_row(w->f->mem, (void **)&w->f->pci, &w->f->npci, sizeof(*row));
	row->address = nd_str("0000:01:00.0");
	/* Facts may come from a file: a path is no address. */
	row = arena_append_row(w->f->mem, (void **)&w->f->pci, &w->f->npci, sizeof(*row));
	row->address = nd_str("../../../../etc");
	assert_int_equal(counter_pci.sample(w->fs.src, w->f, c), 0);
	assert_int_equal(c->npci, 1);
	assert_true(nd_u64_is(c->pci[0].speed_mtps, 16000) && nd_u64_is(c->pci[0].width, 8));
	assert_true(nd_u64_is(c->pci[0].aer_correctable, 12));
	assert_true(nd_u64_is(c->pci[0].aer_nonfatal, 1));
	assert_int_equal(c->pci[0].aer_fatal.k, ND_ABSENT);
	counters_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speed_text),
		cmocka_unit_test(test_width_text),
		cmocka_unit_test(test_aer_text),
		cmocka_unit_test(test_id_text),
		cmocka_unit_test_setup_teardown(test_root_sees_configuration_space, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_unprivileged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unprivileged_without_attributes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_virtual_function, setup, teardown),
		cmocka_unit_test_setup_teardown(test_usb_and_software, setup, teardown),
		cmocka_unit_test_setup_teardown(test_function_that_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_switch_without_root, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* What one PCI Express capability says; the rest of the space is plausible. */
struct express {
	unsigned int type, max_speed, max_width, speed, width;
	unsigned int mps_supported, mps, mrrs, relaxed, aspm_supported, aspm;
};

enum { POWER_CAP = 0x40, MSIX_CAP = 0x50, EXPRESS_CAP = 0x70, EXPRESS_END = EXPRESS_CAP + 0x14 };

static void put16(uint8_t *p, unsigned int v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

/* Capability list: power management, MSI-X, PCI Express. */
static void build(uint8_t config[256], const struct express *e)
{
	uint8_t *cap = config + EXPRESS_CAP;

	memset(config, 0, 256);
	put16(config, 0x8086);
	put16(config + 2, 0x1572);
	put16(config + 6, 0x10);
	config[0x34] = POWER_CAP;
	config[POWER_CAP] = 0x01;
	config[POWER_CAP + 1] = MSIX_CAP;
	config[MSIX_CAP] = 0x11;
	config[MSIX_CAP + 1] = EXPRESS_CAP;
	cap[0] = 0x10;
	put16(cap + 2, 2 | e->type << 4);
	put32(cap + 4, 0x8000 | e->mps_supported);
	put16(cap + 8, e->relaxed << 4 | e->mps << 5 | e->mrrs << 12);
	put32(cap + 0xc, e->max_speed | e->max_width << 4 | e->aspm_supported << 10 | 0xab000000);
	put16(cap + 0x10, e->aspm | 0x40);
	put16(cap + 0x12, e->speed | e->width << 4 | 0x1000);
}

/* An 8 GT/s x8 card that trained to x4. */
static const struct express narrow_nic = {
	.max_speed = 3, .max_width = 8, .speed = 3, .width = 4, .mps_supported = 2, .mps = 1,
	.mrrs = 2, .relaxed = 1, .aspm_supported = 2, .aspm = 2,
};

static void test_narrow_endpoint(void **state)
{
	struct pci_facts p = { 0 };
	uint8_t config[256];

	(void)state;
	build(config, &narrow_nic);
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), 0);
	assert_string_equal(p.type.v, "endpoint");
	assert_true(nd_u64_is(p.max_speed_mtps, 8000) && nd_u64_is(p.speed_mtps, 8000));
	assert_true(nd_u64_is(p.max_width, 8) && nd_u64_is(p.width, 4));
	assert_true(nd_u64_is(p.payload_max_bytes, 512) && nd_u64_is(p.payload_bytes, 256));
	assert_true(nd_u64_is(p.read_request_bytes, 512));
	assert_true(nd_is_true(p.relaxed_ordering));
	assert_string_equal(p.aspm_supported.v, "L1");
	assert_string_equal(p.aspm.v, "L1");
}

static void test_every_type(void **state)
{
	static const struct { unsigned int code; const char *word; } types[] = {
		{ 0, "endpoint" }, { 1, "endpoint" }, { 4, "root-port" }, { 5, "upstream-port" },
		{ 6, "downstream-port" }, { 7, "bridge" }, { 8, "bridge" },
		{ 9, "integrated-endpoint" }, { 10, "integrated-endpoint" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct express e = narrow_nic;
		struct pci_facts p = { 0 };
		uint8_t config[256];

		e.type = types[i].code;
		build(config, &e);
		assert_int_equal(parse_pcie_config(config, sizeof(config), &p), 0);
		assert_string_equal(p.type.v, types[i].word);
		/* Inside the root complex there is no link to be narrow. */
		assert_int_equal(p.width.k, e.type >= 9 ? ND_NOT_APPLICABLE : ND_KNOWN);
		assert_int_equal(p.aspm.k, e.type >= 9 ? ND_NOT_APPLICABLE : ND_KNOWN);
		assert_true(nd_u64_is(p.payload_bytes, 256));
	}
}

static void test_every_speed(void **state)
{
	static const uint64_t mtps[] = { 0, 2500, 5000, 8000, 16000, 32000, 64000, 128000 };

	(void)state;
	for (unsigned int code = 0; code < 16; code++) {
		struct express e = narrow_nic;
		struct pci_facts p = { 0 };
		uint8_t config[256];

		e.speed = code;
		build(config, &e);
		assert_int_equal(parse_pcie_config(config, sizeof(config), &p), 0);
		if (code && code < ARRAY_SIZE(mtps))
			assert_true(nd_u64_is(p.speed_mtps, mtps[code]));
		else
			assert_int_equal(p.speed_mtps.k, code ? ND_INVALID : ND_NOT_SUPPORTED);
	}
}

static void test_values_that_mean_unknown(void **state)
{
	struct express e = narrow_nic;
	struct pci_facts p = { 0 };
	uint8_t config[256];

	(void)state;
	/* A hypervisor shows the capability but no link. */
	e.speed = e.width = 0;
	e.max_width = 63;
	e.mps = 7;
	e.aspm = 0;
	e.aspm_supported = 0;
	build(config, &e);
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), 0);
	assert_int_equal(p.speed_mtps.k, ND_NOT_SUPPORTED);
	assert_int_equal(p.width.k, ND_NOT_SUPPORTED);
	assert_int_equal(p.max_width.k, ND_NOT_SUPPORTED);
	assert_int_equal(p.payload_bytes.k, ND_INVALID);
	assert_string_equal(p.aspm.v, "disabled");
	assert_string_equal(p.aspm_supported.v, "none");
	e.width = 5;
	build(config, &e);
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), 0);
	assert_int_equal(p.width.k, ND_INVALID);
}

static void test_conventional(void **state)
{
	struct pci_facts p = { 0 };
	uint8_t config[256];

	(void)state;
	build(config, &narrow_nic);
	config[MSIX_CAP + 1] = 0;
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -ENOENT);
	assert_string_equal(p.type.v, "conventional");
	assert_int_equal(p.width.k, ND_NOT_APPLICABLE);
	assert_int_equal(p.payload_bytes.k, ND_NOT_APPLICABLE);
	/* Without a list the first 64 bytes are enough to tell. */
	put16(config + 6, 0);
	config[0x0e] = 0x81;
	assert_int_equal(parse_pcie_config(config, 64, &p), -ENOENT);
	assert_string_equal(p.type.v, "bridge");
}

static void test_cut_anywhere(void **state)
{
	uint8_t config[256];

	(void)state;
	build(config, &narrow_nic);
	for (size_t len = 0; len <= sizeof(config); len++) {
		/* A copy of the exact size, for the sanitizer to guard. */
		uint8_t *copy = malloc(len + 1);
		struct pci_facts p = { 0 };

		assert_non_null(copy);
		memcpy(copy, config, len);
		copy = realloc(copy, len ? len : 1);
		if (len < EXPRESS_END) {
			assert_int_equal(parse_pcie_config(copy, len, &p), -ENODATA);
			assert_int_equal(p.width.k, ND_UNREAD);
		} else {
			assert_int_equal(parse_pcie_config(copy, len, &p), 0);
			assert_true(nd_u64_is(p.width, 4));
		}
		free(copy);
	}
}

static void test_broken_lists(void **state)
{
	struct pci_facts p = { 0 };
	uint8_t config[256];

	(void)state;
	build(config, &narrow_nic);
	config[MSIX_CAP + 1] = POWER_CAP;
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -EBADMSG);
	build(config, &narrow_nic);
	config[MSIX_CAP + 1] = MSIX_CAP;
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -EBADMSG);
	build(config, &narrow_nic);
	config[0x34] = 0x10;	/* into the header */
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -EBADMSG);
	build(config, &narrow_nic);
	config[MSIX_CAP] = 0xff;
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -EBADMSG);
	build(config, &narrow_nic);
	config[MSIX_CAP + 1] = 0xfc;	/* four bytes before the end, and not Express */
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -ENOENT);
	config[0xfc] = 0x10;	/* Express, but cut */
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -ENODATA);
	memset(config, 0xff, sizeof(config));
	p = (struct pci_facts){ 0 };
	assert_int_equal(parse_pcie_config(config, sizeof(config), &p), -ENODEV);
	assert_int_equal(p.width.k, ND_UNREAD);
}

/* Any bytes: it ends, and what it calls known is in range. */
static void test_noise(void **state)
{
	uint32_t x = 2463534242u;
	int found = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct pci_facts p = { 0 };
		uint8_t config[256];

		for (size_t i = 0; i < sizeof(config); i++) {
			x ^= x << 13;
			x ^= x >> 17;
			x ^= x << 5;
			config[i] = (uint8_t)(x >> 11);
		}
		config[6] |= 0x10;
		config[0x0e] = 0;
		config[0x34] = 0x40 + (x >> 8) % 0xc0;
		if (x & 1)
			config[config[0x34] & ~3u] = 0x10;
		found += !parse_pcie_config(config, 64 + x % 193, &p);
		if (p.width.k == ND_KNOWN)
			assert_in_range(p.width.v, 1, 32);
		if (p.payload_bytes.k == ND_KNOWN)
			assert_in_range(p.payload_bytes.v, 128, 4096);
	}
	assert_in_range(found, 1000, 19000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow_endpoint),
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_every_speed),
		cmocka_unit_test(test_values_that_mean_unknown),
		cmocka_unit_test(test_conventional),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_broken_lists),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

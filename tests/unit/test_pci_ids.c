/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names out of a pci.ids, true ones and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probes/pci.h"

static const char list[] =
	"# a comment\n"
	"\n"
	"15b2  Other Vendor\n"
	"\t1017  Other Device\n"
	"15b3  Mellanox Technologies\n"
	"# between\n"
	"\t1015  MT27710\n"
	"\t\t15b3 1017  A card of 1017\n"
	"\n"
	"\t1017  MT27800 Family [ConnectX-5]\n"
	"\t1018  \n"
	"8086  Intel Corporation\n"
	"\t10fb  82599ES\n"
	"C 02  Network controller\n"
	"\t00  Ethernet controller\n";

static const char *find(const char *text, size_t len, uint64_t vendor, uint64_t device)
{
	static struct pci_name wanted[2];
	FILE *f = fmemopen((char *)text, len, "r");

	memset(wanted, 0, sizeof(wanted));
	wanted[0] = (struct pci_name){ .vendor_id = UINT64_MAX, .device_id = UINT64_MAX };
	wanted[1] = (struct pci_name){ .vendor_id = vendor, .device_id = device };
	assert_non_null(f);
	pci_ids_find(f, wanted, 2);
	fclose(f);
	assert_string_equal(wanted[0].name, "");
	return wanted[1].name[0] ? wanted[1].name : NULL;
}

static const char *find_in_list(uint64_t vendor, uint64_t device)
{
	return find(list, sizeof(list) - 1, vendor, device);
}

static void test_finds_names(void **state)
{
	(void)state;
	assert_string_equal(find_in_list(0x15b3, 0x1017),
			    "Mellanox Technologies MT27800 Family [ConnectX-5]");
	assert_string_equal(find_in_list(0x15b2, 0x1017), "Other Vendor Other Device");
	assert_string_equal(find_in_list(0x8086, 0x10fb), "Intel Corporation 82599ES");
}

static void test_keeps_to_the_vendor(void **state)
{
	(void)state;
	assert_null(find_in_list(0x15b3, 0x10fb));	/* the next vendor's */
	assert_null(find_in_list(0x15b3, 0x15b3));	/* a subsystem's */
	assert_null(find_in_list(0x1af4, 0x1000));
	assert_null(find_in_list(0x15b3, 0x1018));	/* without a name */
}

static void test_cut_lists(void **state)
{
	(void)state;
	for (size_t len = 1; len < sizeof(list); len++)
		find(list, len, 0x15b3, 0x1017);
	assert_string_equal(find("8086  I\n\t10fb  8", 16, 0x8086, 0x10fb), "I 8");
	assert_null(find("8086  I\n\t10fb  ", 15, 0x8086, 0x10fb));
}

static void test_long_names_are_no_names(void **state)
{
	char text[1024] = "8086  I\n\t10fb  ";

	(void)state;
	memset(text + strlen(text), 'x', 300);
	assert_null(find(text, strlen(text), 0x8086, 0x10fb));
	memset(text + 6, 'x', 300);
	memcpy(text + 306, "\n\t10fb  y\n", 11);
	assert_null(find(text, strlen(text), 0x8086, 0x10fb));
}

static void test_all_of_one_reading(void **state)
{
	struct pci_name wanted[] = {
		{ .vendor_id = 0x8086, .device_id = 0x10fb },
		{ .vendor_id = 0x15b3, .device_id = 0x1015 },
		{ .vendor_id = 0x8086, .device_id = 0x10fb }
	};
	FILE *f = fmemopen((char *)list, sizeof(list) - 1, "r");

	(void)state;
	pci_ids_find(f, wanted, 3);
	fclose(f);
	assert_string_equal(wanted[0].name, "Intel Corporation 82599ES");
	assert_string_equal(wanted[1].name, "Mellanox Technologies MT27710");
	assert_string_equal(wanted[2].name, "Intel Corporation 82599ES");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_names),
		cmocka_unit_test(test_keeps_to_the_vendor),
		cmocka_unit_test(test_cut_lists),
		cmocka_unit_test(test_long_names_are_no_names),
		cmocka_unit_test(test_all_of_one_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

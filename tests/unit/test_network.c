/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom --allow lets in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/peer/network.h"

static bool has(const char *list, const char *address)
{
	struct peer_network networks[PEER_MAX_NETWORKS];
	struct error err;
	size_t n;

	assert_int_equal(peer_networks_parse(list, networks, &n, &err), 0);
	assert_true(n > 0);
	return networks_have(networks, n, address);
}

static void addresses_are_in_their_networks(void **state)
{
	(void)state;
	assert_true(has("192.0.2.0/24", "192.0.2.255"));
	assert_false(has("192.0.2.0/24", "192.0.3.0"));
	assert_true(has("192.0.2.128/25", "192.0.2.129"));
	assert_false(has("192.0.2.128/25", "192.0.2.127"));
	assert_true(has("192.0.2.77/24", "192.0.2.1"));	/* bits of the host do not count */
	assert_true(has("10.1.2.3", "10.1.2.3"));
	assert_false(has("10.1.2.3", "10.1.2.2"));
	assert_true(has("10.1.2.3/32,2001:db8::/33", "2001:db8:7fff::1"));
	assert_false(has("10.1.2.3/32,2001:db8::/33", "2001:db8:8000::1"));
	assert_true(has("::1", "::1"));
	assert_true(has("fe80::/10", "febf::1"));
	assert_false(has("fe80::/10", "fec0::1"));
}

static void the_families_stay_apart(void **state)
{
	(void)state;
	assert_true(has("0.0.0.0/0", "203.0.113.9"));
	assert_false(has("0.0.0.0/0", "2001:db8::1"));
	assert_true(has("::/0", "2001:db8::1"));
	assert_false(has("::/0", "203.0.113.9"));
	assert_true(has("10.0.0.0/8", "::ffff:10.9.9.9"));
	assert_true(has("::ffff:10.0.0.0/104", "10.9.9.9"));
	assert_false(has("::ffff:10.0.0.0/104", "11.9.9.9"));
}

static void no_list_is_no_limit_and_nonsense_no_address(void **state)
{
	(void)state;
	assert_true(networks_have(NULL, 0, "192.0.2.1"));
	assert_false(has("0.0.0.0/0,::/0", "?"));
	assert_false(has("0.0.0.0/0,::/0", ""));
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"", ",", "192.0.2.0/24,", ",::1", "192.0.2.0/33", "::/129", "192.0.2.0/", "/8",
		"192.0.2.0/-1", "192.0.2.0/ 8", "192.0.2.0/8 ", "192.0.2.0/+8", "192.0.2/24",
		"host", "::1%lo", "1.2.3.4/8/8", "192.0.2.0/99999999999999999999",
		"11111111111111111111111111111111111111111111111111111111111111111111111111111"
	};
	struct peer_network networks[PEER_MAX_NETWORKS];
	char many[PEER_MAX_NETWORKS * 4 + 8];
	struct error err;
	size_t n, len = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(peer_networks_parse(bad[i], networks, &n, &err), -EINVAL);
		assert_true(err.text[0]);
	}
	for (int i = 0; i < PEER_MAX_NETWORKS; i++)
		len += (size_t)snprintf(many + len, sizeof(many) - len, "%s::1", i ? "," : "");
	assert_int_equal(peer_networks_parse(many, networks, &n, &err), 0);
	assert_int_equal(n, PEER_MAX_NETWORKS);
	snprintf(many + len, sizeof(many) - len, ",::1");
	assert_int_equal(peer_networks_parse(many, networks, &n, &err), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_in_their_networks),
		cmocka_unit_test(the_families_stay_apart),
		cmocka_unit_test(no_list_is_no_limit_and_nonsense_no_address),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

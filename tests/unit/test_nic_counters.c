/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "rules/nic_counters.h"

#define MAX_ROWS 8

/* One end of a run with a link (ifindex 2) and the driver's counters given. */
struct setting {
	struct run_end end;
	struct counters window;
	struct link_sample link;
	struct nic_sample nics[MAX_ROWS];
	struct link_facts port;
};

static void setting_init(struct setting *s, const char *driver)
{
	memset(s, 0, sizeof(*s));
	s->link.ifindex = nd_u64(2);
	s->port.ifindex = nd_u64(2);
	s->port.name = nd_str("eth0");
	s->port.kind = nd_str("physical");
	s->port.driver = nd_str(driver);
	s->window.links = &s->link;
	s->window.nlinks = 1;
	s->window.nics = s->nics;
	s->end.present = true;
	s->end.window = &s->window;
}

static void add(struct setting *s, const char *name, uint64_t value)
{
	s->nics[s->window.nnics++] = (struct nic_sample){ nd_u64(2), nd_str(name), nd_u64(value) };
}

static struct nic_count count(const struct setting *s, enum nic_event event)
{
	return nic_count_of(&s->end, &s->port, event);
}

static void test_own_name_before_the_kernels(void **state)
{
	struct setting s;
	struct nic_count c;

	(void)state;
	setting_init(&s, "ixgbe");
	s.link.rx_missed_errors = nd_u64(7);
	add(&s, "rx_no_dma_resources", 30);
	c = count(&s, NIC_RX_EXHAUSTED);
	assert_int_equal(c.k, ND_KNOWN);
	assert_true(c.value > 29 && c.value < 31);
	assert_string_equal(c.name, "rx_no_dma_resources");
	assert_false(c.standard);
	assert_string_equal(nic_source(&c), "ethtool -S");
}

static void test_kernels_name_by_driver(void **state)
{
	struct setting s;
	struct nic_count c;

	(void)state;
	/* ena counts them as rx_dropped, most others as rx_missed_errors. */
	setting_init(&s, "ena");
	s.link.rx_missed_errors = nd_u64(7);
	s.link.rx_dropped = nd_u64(5);
	c = count(&s, NIC_RX_EXHAUSTED);
	assert_true(c.standard && c.value > 4 && c.value < 6);
	assert_string_equal(c.name, "rx_dropped");
	setting_init(&s, "no-such-driver");
	s.link.rx_missed_errors = nd_u64(7);
	c = count(&s, NIC_RX_EXHAUSTED);
	assert_true(c.standard && c.value > 6 && c.value < 8);
	assert_string_equal(c.name, "rx_missed_errors");
	s.port.driver = nd_str_unknown(ND_NOT_PERMITTED);
	assert_int_equal(count(&s, NIC_RX_EXHAUSTED).k, ND_KNOWN);
}

static void test_queues_are_added_up(void **state)
{
	struct setting s;
	struct nic_count c;

	(void)state;
	setting_init(&s, "igc");
	add(&s, "rx_missed_errors", 1);
	add(&s, "rx_queue_0_drops", 20);
	add(&s, "rx_queue_11_drops", 300);
	add(&s, "rx_queue_11_packets", 4000);
	add(&s, "tx_queue_0_drops", 50000);
	c = count(&s, NIC_RX_EXHAUSTED);
	assert_true(c.value > 320 && c.value < 322);
	assert_string_equal(c.name, "rx_queue_11_drops");
}

static void test_repeated_and_bracketed_names(void **state)
{
	struct setting s;

	(void)state;
	setting_init(&s, "vmxnet3");
	add(&s, "pkts rx OOB", 1);
	add(&s, "pkts rx OOB[1]", 20);
	add(&s, "pkts rx OOB extra", 300);
	assert_true(count(&s, NIC_RX_EXHAUSTED).value < 21.5);
	assert_true(count(&s, NIC_RX_EXHAUSTED).value > 20.5);
	setting_init(&s, "bnxt_en");
	add(&s, "[3]: rx_discards", 9);
	assert_true(count(&s, NIC_RX_EXHAUSTED).value > 8);
	/* Newer kernels have the sum: not added to its parts. */
	add(&s, "rx_total_ring_discards", 9);
	assert_true(count(&s, NIC_RX_EXHAUSTED).value < 10);
}

static void test_devices_that_cannot_tell(void **state)
{
	struct setting s;

	(void)state;
	setting_init(&s, "virtio_net");
	s.link.rx_missed_errors = nd_u64(0);
	/* 0 of the kernel's counter would say "nothing dropped", which nobody knows. */
	assert_int_equal(count(&s, NIC_RX_EXHAUSTED).k, ND_NOT_SUPPORTED);
	assert_int_equal(count(&s, NIC_PAUSE_SENT).k, ND_NOT_APPLICABLE);
	setting_init(&s, "r8169");
	assert_int_equal(count(&s, NIC_PAUSE_RECEIVED).k, ND_NOT_SUPPORTED);
	assert_int_equal(count(&s, NIC_PAUSE_RECEIVED_US).k, ND_NOT_SUPPORTED);
}

static void test_unknown_is_not_zero(void **state)
{
	struct setting s;

	(void)state;
	setting_init(&s, "mlx5_core");
	add(&s, "rx_out_of_buffer", 5);
	s.nics[0].value = nd_u64_unknown(ND_RESET);
	assert_int_equal(count(&s, NIC_RX_EXHAUSTED).k, ND_RESET);
	s.end.present = false;
	assert_int_equal(count(&s, NIC_RX_EXHAUSTED).k, ND_UNREAD);
	s.end.present = true;
	s.end.window = NULL;
	assert_int_equal(count(&s, NIC_RX_EXHAUSTED).k, ND_UNREAD);
	assert_int_equal(nic_count_of(&s.end, NULL, NIC_RX_EXHAUSTED).k, ND_UNREAD);
}

static void test_other_links_and_odd_names(void **state)
{
	struct setting s;
	char name[4096];

	(void)state;
	setting_init(&s, "igb");
	s.link.rx_missed_errors = nd_u64(4);
	add(&s, "rx_queue_0_drops", 20);
	s.nics[0].ifindex = nd_u64(3);
	add(&s, "", 300);
	memset(name, '*', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add(&s, name, 4000);
	s.nics[s.window.nnics].ifindex = nd_u64(2);
	s.nics[s.window.nnics++].name = nd_str_unknown(ND_INVALID);
	/* None of them is the port's: the kernel's own counter answers. */
	assert_true(count(&s, NIC_RX_EXHAUSTED).standard);
	assert_true(count(&s, NIC_RX_EXHAUSTED).value < 5);
}

static void test_software_links(void **state)
{
	struct link_facts l = { .kind = nd_str("veth") };

	(void)state;
	assert_true(nic_is_software(&l));
	l.kind = nd_str("physical");
	assert_false(nic_is_software(&l));
	l.kind = nd_str_unknown(ND_UNREAD);
	assert_false(nic_is_software(&l));
	assert_false(nic_is_software(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_name_before_the_kernels),
		cmocka_unit_test(test_kernels_name_by_driver),
		cmocka_unit_test(test_queues_are_added_up),
		cmocka_unit_test(test_repeated_and_bracketed_names),
		cmocka_unit_test(test_devices_that_cannot_tell),
		cmocka_unit_test(test_unknown_is_not_zero),
		cmocka_unit_test(test_other_links_and_odd_names),
		cmocka_unit_test(test_software_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

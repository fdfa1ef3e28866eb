/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/model/wire.h"

#include "tests/unit/model_test.h"

static const struct wire_packet tcp4 = { .ip_version = 4 };
static const struct wire_packet tcp4_ts = { .ip_version = 4, .timestamps = true };
static const struct wire_packet tcp6 = { .ip_version = 6 };
static const struct wire_packet tcp6_ts = { .ip_version = 6, .timestamps = true };
static const struct wire_packet tcp4_vlan = {
	.ip_version = 4, .timestamps = true, .vlan_tags = 1
};
static const struct wire_packet tcp6_vlan = {
	.ip_version = 6, .timestamps = true, .vlan_tags = 1
};

/* Goodput of a 10 Gbit/s wire, printed to three digits. */
static const struct {
	double mtu, tcp4_ts, tcp4, tcp6_ts, tcp6, tcp4_vlan, tcp6_vlan, udp4, udp6, mpps;
} table[] = {
	{ 1280, 9.317, 9.408, 9.165, 9.256, 9.289, 9.138, 9.499, 9.348, 0.948 },
	{ 1450, 9.395, 9.476, 9.261, 9.341, 9.370, 9.236, 9.557, 9.422, 0.840 },
	{ 1500, 9.415, 9.493, 9.285, 9.363, 9.390, 9.261, 9.571, 9.441, 0.813 },
	{ 4096, 9.782, 9.811, 9.734, 9.763, 9.773, 9.725, 9.840, 9.792, 0.302 },
	{ 8950, 9.900, 9.913, 9.878, 9.891, 9.896, 9.873, 9.927, 9.904, 0.139 },
	{ 9000, 9.900, 9.914, 9.878, 9.892, 9.896, 9.874, 9.927, 9.905, 0.138 },
	{ 9216, 9.903, 9.916, 9.881, 9.894, 9.899, 9.877, 9.929, 9.907, 0.135 },
};

static void table_of_ten_gigabit(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double mtu = table[i].mtu;

		assert_near(wire_tcp_from_mtu(10, &tcp4_ts, mtu), table[i].tcp4_ts, 0.0006);
		assert_near(wire_tcp_from_mtu(10, &tcp4, mtu), table[i].tcp4, 0.0006);
		assert_near(wire_tcp_from_mtu(10, &tcp6_ts, mtu), table[i].tcp6_ts, 0.0006);
		assert_near(wire_tcp_from_mtu(10, &tcp6, mtu), table[i].tcp6, 0.0006);
		assert_near(wire_tcp_from_mtu(10, &tcp4_vlan, mtu), table[i].tcp4_vlan, 0.0006);
		assert_near(wire_tcp_from_mtu(10, &tcp6_vlan, mtu), table[i].tcp6_vlan, 0.0006);
		assert_near(wire_udp_from_mtu(10, &tcp4, mtu), table[i].udp4, 0.0006);
		assert_near(wire_udp_from_mtu(10, &tcp6, mtu), table[i].udp6, 0.0006);
		assert_near(wire_packets_per_second(10e9, &tcp4, mtu) / 1e6, table[i].mpps,
			    0.0006);
	}
}

static void worked_rates(void **state)
{
	static const struct { double line, mtu, goodput, tolerance; } rates[] = {
		{ 1, 1500, 0.941, 0.0006 }, { 2.5, 1500, 2.354, 0.0006 },
		{ 5, 1500, 4.707, 0.0006 }, { 25, 1500, 23.54, 0.006 },
		{ 40, 1500, 37.66, 0.006 }, { 100, 1500, 94.15, 0.006 },
		{ 200, 1500, 188.3, 0.06 }, { 400, 1500, 376.6, 0.06 },
		{ 10, 9000, 9.900, 0.0006 }, { 100, 9000, 99.00, 0.006 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		assert_near(wire_tcp_from_mtu(rates[i].line, &tcp4_ts, rates[i].mtu),
			    rates[i].goodput, rates[i].tolerance);
	/* Jumbo frames win at most this much of the wire. */
	assert_near(wire_tcp_from_mtu(1, &tcp4_ts, 9000) / wire_tcp_from_mtu(1, &tcp4_ts, 1500),
		    1.0516, 0.0001);
}

static void a_segment_says_the_same_as_its_mtu(void **state)
{
	(void)state;
	assert_near(wire_mss_from_mtu(&tcp4_ts, 1500), 1448, 0);
	assert_near(wire_mss_from_mtu(&tcp6_ts, 9000), 8928, 0);
	assert_near(wire_tcp_from_mss(10, &tcp4_ts, 1448), wire_tcp_from_mtu(10, &tcp4_ts, 1500),
		    0);
	assert_near(wire_tcp_from_mss(10, &tcp4_ts, 1448), 10 * 1448.0 / 1538, 1e-12);
}

static void tunnels_take_from_the_payload(void **state)
{
	struct wire_packet vxlan = tcp4_ts, wireguard = tcp4_ts;

	(void)state;
	vxlan.tunnel_bytes = wire_tunnel_overhead("vxlan", 4);
	wireguard.tunnel_bytes = wire_tunnel_overhead("wireguard", 4);
	/* Inner MTU 1450 and 1420: segments of 1398 and 1368 bytes on the outer wire. */
	assert_near(wire_tcp_from_mss(10, &vxlan, 1398), 9.09, 0.006);
	assert_near(wire_tcp_from_mss(10, &wireguard, 1368), 9.01, 0.006);
	assert_near(wire_mss_from_mtu(&vxlan, 1500), 1398, 0);
	assert_int_equal(wire_tunnel_overhead("vxlan", 6), 70);
	assert_int_equal(wire_tunnel_overhead("geneve", 4), 50);
	assert_int_equal(wire_tunnel_overhead("gre", 4), 24);
	assert_int_equal(wire_tunnel_overhead("wireguard", 6), 80);
	assert_int_equal(wire_tunnel_overhead("pppoe", 6), 8);
	assert_int_equal(wire_tunnel_overhead("macsec", 6), 32);
	assert_int_equal(wire_tunnel_overhead("vlan", 4), 0);
	assert_int_equal(wire_tunnel_overhead(NULL, 4), 0);
}

static void short_frames_are_padded(void **state)
{
	(void)state;
	assert_near(wire_frame_bytes(&tcp4, 40), 84, 0);
	assert_near(wire_frame_bytes(&tcp4, 46), 84, 0);
	assert_near(wire_frame_bytes(&tcp4, 47), 85, 0);
	assert_near(wire_frame_bytes(&tcp4_vlan, 47), 89, 0);
	/* One acknowledgement for two full frames; timestamps make it six bytes longer. */
	assert_near(wire_frame_bytes(&tcp4, 40) / (2 * wire_frame_bytes(&tcp4, 1500)), 0.027,
		    0.001);
	assert_near(wire_frame_bytes(&tcp4, 52), 90, 0);
}

static void datagrams_and_their_fragments(void **state)
{
	static const struct wire_packet udp4 = { .ip_version = 4, .udp = true, .timestamps = true };
	static const struct wire_packet udp6 = { .ip_version = 6, .udp = true };

	(void)state;
	assert_int_equal(wire_headers(&udp4), 28);
	assert_int_equal(wire_headers(&udp6), 48);
	assert_int_equal(wire_headers(&tcp4_ts), 52);
	assert_near(wire_goodput(10e9, &udp4, 1448), 10e9 * 1448 / 1514, 1);
	/* A minimal frame takes 84 bytes, however little is in it. */
	assert_near(wire_goodput(10e9, &udp4, 16), 10e9 * 16 / 84, 1);
	assert_near(wire_datagram_part(&udp4, 1500, 1472), 1472, 0);
	assert_near(wire_datagram_part(&udp4, 1500, 1473), 1473.0 / 2, 0);
	/* 1480 bytes in each fragment, the UDP header in the first. */
	assert_near(wire_datagram_part(&udp4, 1500, 7 * 1480 - 8), (7 * 1480 - 8) / 7.0, 0);
	assert_near(wire_datagram_part(&udp4, 1500, 7 * 1480 - 7), (7 * 1480 - 7) / 8.0, 0);
	assert_near(wire_datagram_part(&udp6, 1500, 1452), 1452, 0);
	assert_near(wire_datagram_part(&udp6, 1500, 1453), 1453.0 / 2, 0);
	assert_near(wire_datagram_part(&udp4, 24, 100), 0, 0);
}

static void impossible_inputs_carry_nothing(void **state)
{
	(void)state;
	assert_near(wire_tcp_from_mtu(10e9, &tcp4_ts, 40), 0, 0);
	assert_near(wire_tcp_from_mtu(10e9, &tcp4_ts, 0), 0, 0);
	assert_near(wire_tcp_from_mss(0, &tcp4_ts, 1448), 0, 0);
	assert_near(wire_tcp_from_mss(-1, &tcp4_ts, 1448), 0, 0);
	assert_near(wire_tcp_from_mss(NAN, &tcp4_ts, 1448), 0, 0);
	assert_near(wire_udp_from_mtu(10e9, &tcp6, 48), 0, 0);
	assert_near(wire_packets_per_second(10e9, &tcp4, 0), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_of_ten_gigabit),
		cmocka_unit_test(worked_rates),
		cmocka_unit_test(a_segment_says_the_same_as_its_mtu),
		cmocka_unit_test(tunnels_take_from_the_payload),
		cmocka_unit_test(short_frames_are_padded),
		cmocka_unit_test(datagrams_and_their_fragments),
		cmocka_unit_test(impossible_inputs_carry_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

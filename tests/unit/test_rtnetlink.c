/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "probes/probe.h"
#include "probes/rtnetlink.h"
#include "tests/unit/netlink_build.h"

enum { LIMIT = 1 << 20, ATTR_GRO_MAX_SIZE = 58 };

static const uint8_t mac[6] = { 0x52, 0x54, 0x00, 0x12, 0x34, 0x56 };

static void link_header(struct reply *r, int ifindex, unsigned int flags, unsigned short type)
{
	struct ifinfomsg info = {
		.ifi_family = AF_UNSPEC, .ifi_type = type, .ifi_index = ifindex, .ifi_flags = flags,
	};

	reply_message(r, RTM_NEWLINK, &info, sizeof(info));
}

static void add_physical(struct reply *r, int ifindex, const char *name)
{
	link_header(r, ifindex, IFF_UP, ARPHRD_ETHER);
	reply_str(r, IFLA_IFNAME, name);
	reply_attr(r, IFLA_ADDRESS, mac, sizeof(mac));
	reply_u8(r, IFLA_OPERSTATE, 6);
	reply_u8(r, IFLA_CARRIER, 1);
	reply_u32(r, IFLA_MTU, 9000);
	reply_u32(r, IFLA_TXQLEN, 1000);
	reply_str(r, IFLA_QDISC, "mq");
	reply_u32(r, IFLA_GSO_MAX_SIZE, 65536);
	reply_u32(r, ATTR_GRO_MAX_SIZE, 131072);
	reply_nest(r, IFLA_XDP);
	reply_u8(r, IFLA_XDP_ATTACHED, XDP_ATTACHED_DRV);
	reply_nest_end(r);
}

static void add_virtual(struct reply *r, int ifindex, const char *name, const char *kind, int lower)
{
	link_header(r, ifindex, 0, ARPHRD_ETHER);
	reply_str(r, IFLA_IFNAME, name);
	reply_u32(r, IFLA_LINK, (uint32_t)lower);
	reply_nest(r, IFLA_LINKINFO);
	reply_str(r, IFLA_INFO_KIND, kind);
	reply_nest_end(r);
}

static void test_link_values(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };
	const struct link_facts *l;

	(void)state;
	add_physical(&r, 2, "eth0");
	add_virtual(&r, 3, "eth0.7", "vlan", 2);
	assert_int_equal(parse_links(r.data, r.len, f), 0);
	assert_int_equal(f->nlinks, 2);
	l = facts_link(f, 2);
	assert_non_null(l);
	assert_string_equal(l->name.v, "eth0");
	assert_string_equal(l->kind.v, "physical");
	assert_string_equal(l->mac.v, "52:54:00:12:34:56");
	assert_string_equal(l->operstate.v, "up");
	assert_string_equal(l->qdisc.v, "mq");
	assert_true(nd_is_true(l->up));
	assert_true(nd_is_true(l->carrier));
	assert_true(nd_u64_is(l->mtu, 9000));
	assert_true(nd_u64_is(l->tx_queue_length, 1000));
	assert_true(nd_u64_is(l->gso_max_bytes, 65536));
	assert_true(nd_u64_is(l->gro_max_bytes, 131072));
	assert_true(nd_is_true(l->xdp));
	assert_true(nd_is_false(l->xdp_generic));
	assert_int_equal(l->lower_ifindex.k, ND_NOT_APPLICABLE);
	assert_int_equal(l->master_ifindex.k, ND_NOT_APPLICABLE);

	l = facts_link(f, 3);
	assert_string_equal(l->kind.v, "vlan");
	assert_true(nd_u64_is(l->lower_ifindex, 2));
	assert_true(nd_is_false(l->up));
	/* What the kernel did not send is absent, not zero. */
	assert_int_equal(l->mtu.k, ND_ABSENT);
	assert_int_equal(l->gro_max_bytes.k, ND_ABSENT);
	assert_int_equal(l->carrier.k, ND_ABSENT);
	assert_int_equal(l->xdp.k, ND_ABSENT);
	assert_int_equal(l->mac.k, ND_NOT_APPLICABLE);
	facts_free(f);
}

static void test_link_across_namespaces(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };

	(void)state;
	add_virtual(&r, 5, "veth0", "veth", 2);
	reply_u32(&r, IFLA_LINK_NETNSID, 0);
	assert_int_equal(parse_links(r.data, r.len, f), 0);
	/* Index 2 is somebody else's link over there. */
	assert_int_equal(f->links[0].lower_ifindex.k, ND_NOT_APPLICABLE);
	facts_free(f);
}

static void test_link_odd_values(void **state)
{
	static const char raw_name[] = "a\x1b[31m\n";
	uint8_t long_mac[40] = { 0 };
	uint16_t short_mtu = 9;
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };
	const struct link_facts *l;

	(void)state;
	link_header(&r, 9, 0, ARPHRD_LOOPBACK);
	reply_str(&r, IFLA_IFNAME, raw_name);
	reply_attr(&r, IFLA_MTU, &short_mtu, sizeof(short_mtu));
	reply_attr(&r, IFLA_ADDRESS, long_mac, sizeof(long_mac));
	reply_u8(&r, IFLA_OPERSTATE, 200);
	reply_attr(&r, IFLA_QDISC, "", 0);
	/* A port message of a bridge and an index that cannot be are no links. */
	link_header(&r, -4, 0, ARPHRD_ETHER);
	((struct ifinfomsg *)(r.data + r.message + NLMSG_HDRLEN))->ifi_family = AF_UNSPEC;
	link_header(&r, 9, 0, ARPHRD_ETHER);
	((struct ifinfomsg *)(r.data + r.message + NLMSG_HDRLEN))->ifi_family = AF_BRIDGE;
	assert_int_equal(parse_links(r.data, r.len, f), 0);
	assert_int_equal(f->nlinks, 1);
	l = &f->links[0];
	assert_string_equal(l->name.v, raw_name);
	assert_string_equal(l->kind.v, "loopback");
	assert_int_equal(l->mtu.k, ND_INVALID);
	assert_int_equal(l->mac.k, ND_INVALID);
	assert_int_equal(l->operstate.k, ND_INVALID);
	assert_int_equal(l->qdisc.k, ND_INVALID);
	facts_free(f);
}

static void test_link_name_without_end(void **state)
{
	char name[300];
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };

	(void)state;
	link_header(&r, 1, 0, ARPHRD_ETHER);
	reply_attr(&r, IFLA_IFNAME, "wlan0", 5);	/* no NUL */
	memset(name, 'x', sizeof(name));
	link_header(&r, 2, 0, ARPHRD_ETHER);
	reply_attr(&r, IFLA_IFNAME, name, sizeof(name));
	assert_int_equal(parse_links(r.data, r.len, f), 0);
	assert_string_equal(f->links[0].name.v, "wlan0");
	assert_int_equal(f->links[1].name.k, ND_INVALID);
	facts_free(f);
}

static void parse_links_once(const void *buf, size_t len)
{
	struct facts *f = facts_new(LIMIT);
	int rc = parse_links(buf, len, f);

	assert_true(rc == 0 || rc == -EBADMSG);
	assert_true(f->nlinks <= 2);
	facts_free(f);
}

static void test_links_hostile(void **state)
{
	struct facts *f = facts_new(LIMIT);
	struct reply r = { 0 };

	(void)state;
	add_physical(&r, 2, "eth0");
	add_virtual(&r, 3, "vlan7", "vlan", 2);
	reply_each_prefix(&r, parse_links_once);
	reply_each_damage(&r, parse_links_once);
	/* The whole message before the cut is kept. */
	assert_int_equal(parse_links(r.data, r.len - 8, f), -EBADMSG);
	assert_int_equal(f->nlinks, 1);
	assert_int_equal(parse_links(r.data, 0, f), 0);
	assert_int_equal(f->nlinks, 1);
	facts_free(f);
	/* A full arena is an error, not a crash. */
	f = facts_new(600);
	if (f) {
		assert_int_equal(parse_links(r.data, r.len, f), -ENOMEM);
		facts_free(f);
	}
}

static void test_link_stats(void **state)
{
	struct rtnl_link_stats64 stats = { .rx_bytes = UINT64_C(1) << 60, .tx_packets = 7,
					   .rx_missed_errors = 11, .collisions = 3 };
	struct counters *c = counters_new(LIMIT);
	struct facts *f = facts_new(LIMIT);
	struct reply links = { 0 }, r = { 0 };

	(void)state;
	add_physical(&links, 2, "eth0");
	add_virtual(&links, 3, "docker0", "bridge", 0);
	assert_int_equal(parse_links(links.data, links.len, f), 0);
	link_header(&r, 3, 0, ARPHRD_ETHER);	/* nobody wants it */
	reply_attr(&r, IFLA_STATS64, &stats, sizeof(stats));
	link_header(&r, 2, 0, ARPHRD_ETHER);
	reply_attr(&r, IFLA_STATS64, &stats, sizeof(stats));
	reply_u32(&r, IFLA_CARRIER_CHANGES, 4);
	link_header(&r, 77, 0, ARPHRD_ETHER);	/* came after the facts */
	reply_attr(&r, IFLA_STATS64, &stats, sizeof(stats));
	assert_int_equal(parse_link_stats(r.data, r.len, f, c), 0);
	assert_int_equal(c->nlinks, 1);
	assert_true(nd_u64_is(c->links[0].ifindex, 2));
	assert_true(nd_u64_is(c->links[0].rx_bytes, UINT64_C(1) << 60));
	assert_true(nd_u64_is(c->links[0].tx_packets, 7));
	assert_true(nd_u64_is(c->links[0].rx_missed_errors, 11));
	assert_true(nd_u64_is(c->links[0].collisions, 3));
	assert_true(nd_u64_is(c->links[0].tx_bytes, 0));
	assert_true(nd_u64_is(c->links[0].carrier_changes, 4));
	counters_free(c);

	/* An old, shorter struct: what it lacks is absent. */
	c = counters_new(LIMIT);
	memset(&r, 0, sizeof(r));
	link_header(&r, 2, 0, ARPHRD_ETHER);
	reply_attr(&r, IFLA_STATS64, &stats, offsetof(struct rtnl_link_stats64, collisions));
	assert_int_equal(parse_link_stats(r.data, r.len, f, c), 0);
	assert_true(nd_u64_is(c->links[0].tx_packets, 7));
	assert_int_equal(c->links[0].collisions.k, ND_ABSENT);
	assert_int_equal(c->links[0].carrier_changes.k, ND_ABSENT);
	counters_free(c);
	facts_free(f);
}

static void test_addresses(void **state)
{
	struct ifaddrmsg v4 = { .ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = 2 };
	struct ifaddrmsg v6 = { .ifa_family = AF_INET6, .ifa_prefixlen = 64, .ifa_index = 2 };
	struct ifaddrmsg other = { .ifa_family = 99, .ifa_index = 2 };
	struct facts *f = facts_new(LIMIT);
	struct in6_addr six;
	struct reply r = { 0 };

	(void)state;
	inet_pton(AF_INET6, "fe80::1", &six);
	reply_message(&r, RTM_NEWADDR, &v4, sizeof(v4));
	reply_u32(&r, IFA_ADDRESS, htonl(0xc0000201));
	reply_u32(&r, IFA_LOCAL, htonl(0xc0000202));
	reply_message(&r, RTM_NEWADDR, &v6, sizeof(v6));
	reply_attr(&r, IFA_ADDRESS, &six, sizeof(six));
	reply_message(&r, RTM_NEWADDR, &v4, sizeof(v4));
	reply_attr(&r, IFA_LOCAL, "abc", 3);
	reply_message(&r, RTM_NEWADDR, &other, sizeof(other));
	assert_int_equal(parse_addresses(r.data, r.len, f), 0);
	assert_int_equal(f->naddresses, 3);
	assert_string_equal(f->addresses[0].address.v, "192.0.2.2");
	assert_true(nd_u64_is(f->addresses[0].prefix_length, 24));
	assert_string_equal(f->addresses[1].address.v, "fe80::1");
	assert_int_equal(f->addresses[2].address.k, ND_INVALID);
	facts_free(f);
}

static void add_route(struct reply *r)
{
	struct rtmsg info = { .rtm_family = AF_INET, .rtm_type = RTN_UNICAST };

	reply_message(r, RTM_NEWROUTE, &info, sizeof(info));
	reply_u32(r, RTA_OIF, 4);
	reply_u32(r, RTA_GATEWAY, htonl(0xc0000201));
	reply_u32(r, RTA_PREFSRC, htonl(0xc0000202));
	reply_nest(r, RTA_METRICS);
	reply_u32(r, RTAX_MTU, 1400);
	reply_u32(r, RTAX_ADVMSS, 1300);
	reply_u32(r, RTAX_WINDOW, 65535);
	reply_u32(r, RTAX_INITCWND, 10);
	reply_u32(r, RTAX_CWND, 20);
	reply_str(r, RTAX_CC_ALGO, "bbr");
	reply_nest_end(r);
}

static void test_route(void **state)
{
	struct arena *mem = arena_new(LIMIT);
	struct route_facts route = { 0 };
	struct reply r = { 0 };

	(void)state;
	add_route(&r);
	assert_int_equal(parse_route(r.data, r.len, mem, &route), 0);
	assert_string_equal(route.type.v, "unicast");
	assert_true(nd_u64_is(route.ifindex, 4));
	assert_string_equal(route.gateway.v, "192.0.2.1");
	assert_string_equal(route.from.v, "192.0.2.2");
	assert_true(nd_u64_is(route.mtu, 1400));
	assert_true(nd_u64_is(route.advmss, 1300));
	assert_true(nd_u64_is(route.window, 65535));
	assert_true(nd_u64_is(route.initcwnd, 10));
	assert_string_equal(route.congestion_control.v, "bbr");
	/* cwnd without its lock bit has no effect. */
	assert_int_equal(route.congestion_window_lock.k, ND_NOT_APPLICABLE);
	arena_free(mem);
}

static void test_route_lock_and_via(void **state)
{
	struct rtmsg info = { .rtm_family = AF_INET, .rtm_type = RTN_LOCAL };
	struct { uint16_t family; uint8_t a[16]; } via = {
		AF_INET6, { 0x20, 1, 0xd, 0xb8, [15] = 1 },
	};
	struct arena *mem = arena_new(LIMIT);
	struct route_facts route = { 0 };
	struct reply r = { 0 };

	(void)state;
	reply_message(&r, RTM_NEWROUTE, &info, sizeof(info));
	reply_attr(&r, RTA_VIA, &via, sizeof(via));
	reply_nest(&r, RTA_METRICS);
	reply_u32(&r, RTAX_LOCK, 1u << RTAX_CWND);
	reply_u32(&r, RTAX_CWND, 20);
	reply_nest_end(&r);
	assert_int_equal(parse_route(r.data, r.len, mem, &route), 0);
	assert_string_equal(route.type.v, "local");
	assert_string_equal(route.gateway.v, "2001:db8::1");
	assert_true(nd_u64_is(route.congestion_window_lock, 20));
	assert_int_equal(route.mtu.k, ND_NOT_APPLICABLE);

	/* A gateway cut short is no address. */
	memset(&r, 0, sizeof(r));
	info.rtm_type = 77;
	reply_message(&r, RTM_NEWROUTE, &info, sizeof(info));
	reply_attr(&r, RTA_VIA, &via, 9);
	assert_int_equal(parse_route(r.data, r.len, mem, &route), 0);
	assert_int_equal(route.gateway.k, ND_INVALID);
	assert_int_equal(route.type.k, ND_INVALID);
	assert_int_equal(route.ifindex.k, ND_ABSENT);
	arena_free(mem);
}

static void parse_route_once(const void *buf, size_t len)
{
	struct arena *mem = arena_new(LIMIT);
	struct route_facts route = { 0 };
	int rc = parse_route(buf, len, mem, &route);

	assert_true(rc == 0 || rc == -EBADMSG);
	arena_free(mem);
}

static void test_route_hostile(void **state)
{
	struct reply r = { 0 };

	(void)state;
	add_route(&r);
	reply_each_prefix(&r, parse_route_once);
	reply_each_damage(&r, parse_route_once);
}

static void test_route_request(void **state)
{
	_Alignas(16) uint8_t buf[128];
	struct facts *f = facts_new(LIMIT);
	struct reply links = { 0 };
	struct rtmsg info;
	int n;

	(void)state;
	add_physical(&links, 6, "eth6");
	assert_int_equal(parse_links(links.data, links.len, f), 0);
	n = build_route_request("192.0.2.9", "192.0.2.2", f, buf, sizeof(buf));
	assert_int_equal(n, (int)(NLMSG_LENGTH(sizeof(info)) + 8 + 8));
	memcpy(&info, buf + NLMSG_HDRLEN, sizeof(info));
	assert_int_equal(info.rtm_family, AF_INET);
	assert_int_equal(info.rtm_dst_len, 32);
	assert_int_equal(info.rtm_src_len, 32);
	/* The scope's name is resolved from the facts: attribute RTA_OIF 6 comes last. */
	n = build_route_request("fe80::1%eth6", NULL, f, buf, sizeof(buf));
	assert_int_equal(n, (int)(NLMSG_LENGTH(sizeof(info)) + 20 + 8));
	assert_int_equal(buf[n - 6], RTA_OIF);
	assert_int_equal(buf[n - 4], 6);
	/* A source of the other family is left out. */
	n = build_route_request("2001:db8::1", "192.0.2.2", f, buf, sizeof(buf));
	assert_int_equal(n, (int)(NLMSG_LENGTH(sizeof(info)) + 20));
	assert_int_equal(build_route_request("peer.example", NULL, f, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(build_route_request("", NULL, f, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(build_route_request("fe80::1%nope", NULL, f, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(build_route_request("fe80::1%0", NULL, f, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(build_route_request("fe80::1%99999999999", NULL, f, buf, sizeof(buf)),
			 -EINVAL);
	assert_int_equal(build_route_request(
		"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc", NULL, f, buf,
		sizeof(buf)), -EINVAL);
	assert_int_equal(build_route_request("192.0.2.9", NULL, f, buf, 16), -EINVAL);
	facts_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_values),
		cmocka_unit_test(test_link_across_namespaces),
		cmocka_unit_test(test_link_odd_values),
		cmocka_unit_test(test_link_name_without_end),
		cmocka_unit_test(test_links_hostile),
		cmocka_unit_test(test_link_stats),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_route),
		cmocka_unit_test(test_route_lock_and_via),
		cmocka_unit_test(test_route_hostile),
		cmocka_unit_test(test_route_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

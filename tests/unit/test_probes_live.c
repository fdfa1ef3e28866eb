/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rtnetlink probes against a real kernel: links, routes and qdiscs that
 * ip(8) and tc(8) made in a network namespace of this process's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/pkt_sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/probe.h"

enum { LIMIT = 32 << 20 };

struct live {
	char why_not[160];	/* empty: ready */
	struct source *src;
};

static bool shell(const char *command)
{
	char quiet[300];

	snprintf(quiet, sizeof(quiet), "PATH=$PATH:/usr/sbin:/sbin %s >/dev/null 2>&1", command);
	return system(quiet) == 0;
}

static void give_up(struct live *l, const char *what)
{
	snprintf(l->why_not, sizeof(l->why_not), "%s", what);
}

/* The namespaces, and all that is in them, end with this process. */
static int enter(void **state)
{
	static const char *const commands[] = {
		"ip link set lo up",
		"ip link add nd0 type veth peer name nd1",
		"ip link set nd0 mtu 9000 txqueuelen 777",
		"ip addr add 10.9.0.1/24 dev nd0",
		"ip -6 addr add 2001:db8:9::1/64 dev nd0 nodad",
		"ip link set nd0 up",
		"ip link set nd1 up",
		"ip link add link nd0 name nd0mac type macvlan",
		("ip route add 10.9.1.0/24 via 10.9.0.2 dev nd0 mtu 1300 window 8000 initcwnd 20 "
		 "congctl reno"),
		"ip route add unreachable 10.9.2.0/24",
		"ip route add prohibit 10.9.3.0/24",
	};
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return -1;
	*state = l;
	if (geteuid() != 0 || unshare(CLONE_NEWNET | CLONE_NEWNS)) {
		give_up(l, "needs root to make a network namespace");
		return 0;
	}
	/* Sysfs shows the namespace it was mounted in. */
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL)) {
		give_up(l, "cannot mount /sys in a mount namespace");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!shell(commands[i])) {
			give_up(l, commands[i]);
			return 0;
		}
	}
	return source_open_live(&l->src);
}

static int leave(void **state)
{
	struct live *l = *state;

	source_close(l->src);
	free(l);
	return 0;
}

static struct live *ready(void **state)
{
	struct live *l = *state;

	if (l->why_not[0]) {
		print_message("skipped: %s\n", l->why_not);
		skip();
	}
	return l;
}

static struct facts *collect(struct live *l, const char *peer)
{
	struct probe_context ctx = { .peer_address = peer };
	struct facts *f = facts_new(LIMIT);

	assert_non_null(f);
	assert_int_equal(probes_collect(l->src, &ctx, f), 0);
	return f;
}

static void test_links(void **state)
{
	struct live *l = ready(state);
	struct facts *f = collect(l, "10.9.0.2");
	const struct link_facts *nd0 = facts_link_by_name(f, "nd0");
	const struct link_facts *nd1 = facts_link_by_name(f, "nd1");
	const struct link_facts *macvlan = facts_link_by_name(f, "nd0mac");
	bool address = false;

	assert_non_null(nd0);
	assert_non_null(nd1);
	assert_non_null(macvlan);
	assert_true(nd_str_is(nd0->kind, "veth"));
	assert_true(nd_str_is(macvlan->kind, "macvlan"));
	assert_true(nd_str_is(facts_link_by_name(f, "lo")->kind, "loopback"));
	assert_true(nd_u64_is(nd0->lower_ifindex, nd1->ifindex.v));
	assert_true(nd_u64_is(macvlan->lower_ifindex, nd0->ifindex.v));
	assert_true(nd_u64_is(nd0->mtu, 9000));
	assert_true(nd_u64_is(nd0->tx_queue_length, 777));
	assert_true(nd_is_true(nd0->up));
	assert_true(nd_is_true(nd0->carrier));
	assert_true(nd_is_false(macvlan->up));
	assert_true(nd_is_false(nd0->xdp));
	assert_true(nd0->tx_queues.k == ND_KNOWN && nd0->tx_queues.v >= 1);
	for (size_t i = 0; i < f->naddresses; i++)
		address |= f->addresses[i].ifindex.v == nd0->ifindex.v &&
			   nd_str_is(f->addresses[i].address, "10.9.0.1") &&
			   nd_u64_is(f->addresses[i].prefix_length, 24);
	assert_true(address);
	facts_free(f);
}

/* Waits in a network namespace of its own until the pipe closes. */
static void stay_away(int ready, int done)
{
	char byte = 1;

	if (unshare(CLONE_NEWNET))
		byte = 0;
	if (write(ready, &byte, 1) == 1)
		(void)!read(done, &byte, 1);
	_exit(0);
}

static void test_link_of_another_namespace(void **state)
{
	struct live *l = ready(state);
	int tell[2], hold[2];
	char command[120], byte = 0;
	struct facts *f;
	pid_t child;

	assert_int_equal(pipe(tell), 0);
	assert_int_equal(pipe(hold), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(tell[0]);
		close(hold[1]);
		stay_away(tell[1], hold[0]);
	}
	close(tell[1]);
	close(hold[0]);
	assert_int_equal(read(tell[0], &byte, 1), 1);
	assert_int_equal(byte, 1);
	snprintf(command, sizeof(command),
		 "ip link add near0 type veth peer name far0 netns %d", (int)child);
	assert_true(shell(command));
	f = collect(l, NULL);
	assert_non_null(facts_link_by_name(f, "near0"));
	assert_null(facts_link_by_name(f, "far0"));
	/* The peer's index counts over there, not here. */
	assert_int_equal(facts_link_by_name(f, "near0")->lower_ifindex.k, ND_NOT_APPLICABLE);
	facts_free(f);
	close(hold[1]);
	close(tell[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_routes(void **state)
{
	struct live *l = ready(state);
	struct facts *f = collect(l, "10.9.1.7");
	const struct link_facts *nd0 = facts_link_by_name(f, "nd0");

	assert_true(nd_str_is(f->route.to, "10.9.1.7"));
	assert_true(nd_str_is(f->route.type, "unicast"));
	assert_true(nd_str_is(f->route.gateway, "10.9.0.2"));
	assert_true(nd_str_is(f->route.from, "10.9.0.1"));
	assert_true(nd_u64_is(f->route.ifindex, nd0->ifindex.v));
	assert_true(nd_u64_is(f->route.mtu, 1300));
	assert_true(nd_u64_is(f->route.window, 8000));
	assert_true(nd_u64_is(f->route.initcwnd, 20));
	assert_true(nd_str_is(f->route.congestion_control, "reno"));
	assert_int_equal(f->route.congestion_window_lock.k, ND_NOT_APPLICABLE);
	assert_ptr_equal(facts_egress(f), nd0);
	facts_free(f);

	f = collect(l, "10.9.0.1");
	assert_true(nd_str_is(f->route.type, "local"));
	assert_true(nd_u64_is(f->route.ifindex, 1));
	facts_free(f);
	f = collect(l, "2001:db8:9::2");
	assert_true(nd_str_is(f->route.type, "unicast"));
	assert_true(nd_str_is(f->route.from, "2001:db8:9::1"));
	assert_int_equal(f->route.gateway.k, ND_NOT_APPLICABLE);
	facts_free(f);
	f = collect(l, "fe80::7%nd0");
	assert_true(nd_str_is(f->route.type, "unicast"));
	facts_free(f);
	f = collect(l, "10.9.2.1");
	assert_true(nd_str_is(f->route.type, "unreachable"));
	facts_free(f);
	f = collect(l, "10.9.3.1");
	assert_true(nd_str_is(f->route.type, "prohibit"));
	facts_free(f);
}

static const struct qdisc_facts *find_qdisc(const struct facts *f, const char *link,
					    uint32_t handle, bool is_class)
{
	const struct link_facts *l = facts_link_by_name(f, link);

	for (size_t i = 0; l && i < f->nqdiscs; i++) {
		const struct qdisc_facts *q = &f->qdiscs[i];

		if (q->ifindex.v == l->ifindex.v && q->handle.v == handle &&
		    q->is_class.v == is_class)
			return q;
	}
	return NULL;
}

static void expect_tbf(struct live *l, const char *rate, uint64_t rate_bps)
{
	const struct qdisc_facts *q;
	struct facts *f;
	char command[200];

	snprintf(command, sizeof(command),
		 "tc qdisc replace dev nd0 root handle 1: tbf rate %s burst 256kb limit 3000000",
		 rate);
	if (!shell(command)) {
		print_message("skipped: %s\n", command);
		skip();
	}
	f = collect(l, "10.9.0.2");
	q = find_qdisc(f, "nd0", 0x10000, false);
	assert_non_null(q);
	assert_true(nd_str_is(q->kind, "tbf"));
	assert_true(nd_u64_is(q->parent, TC_H_ROOT));
	assert_true(nd_u64_is(q->rate_bps, rate_bps));
	assert_true(nd_u64_is(q->limit_bytes, 3000000));
	/* The kernel keeps bursts as time in steps of 64 ns. */
	assert_in_range(q->burst_bytes.v, 262144 - rate_bps / 8 * 64 / 1000000000 - 1,
			262144 + rate_bps / 8 * 64 / 1000000000 + 1);
	facts_free(f);
}

static void test_tbf(void **state)
{
	struct live *l = ready(state);

	expect_tbf(l, "12345kbit", UINT64_C(12345000));
	expect_tbf(l, "3gbit", UINT64_C(3000000000));
	/* Beyond 2^32 bytes per second: the 64-bit attribute. */
	expect_tbf(l, "50gbit", UINT64_C(50000000000));
}

static void test_htb(void **state)
{
	static const char *const commands[] = {
		"tc qdisc replace dev nd1 root handle 2: htb default 10",
		"tc class add dev nd1 parent 2: classid 2:1 htb rate 40gbit",
		"tc class add dev nd1 parent 2:1 classid 2:10 htb rate 123456kbit ceil 40gbit",
	};
	struct live *l = ready(state);
	const struct qdisc_facts *root, *leaf;
	struct facts *f;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!shell(commands[i])) {
			print_message("skipped: %s\n", commands[i]);
			skip();
		}
	}
	f = collect(l, "10.9.0.2");
	assert_true(nd_str_is(find_qdisc(f, "nd1", 0x20000, false)->kind, "htb"));
	root = find_qdisc(f, "nd1", 0x20001, true);
	leaf = find_qdisc(f, "nd1", 0x20010, true);
	assert_non_null(root);
	assert_non_null(leaf);
	assert_true(nd_u64_is(root->rate_bps, UINT64_C(40000000000)));
	assert_true(nd_u64_is(root->ceil_bps, UINT64_C(40000000000)));
	assert_true(nd_u64_is(leaf->parent, 0x20001));
	assert_true(nd_u64_is(leaf->rate_bps, 123456000));
	assert_true(nd_u64_is(leaf->ceil_bps, UINT64_C(40000000000)));
	facts_free(f);
}

/* An ARP request and what else a new address brings: some packets. */
static void send_something(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	inet_pton(AF_INET, "10.9.0.77", &to.sin_addr);
	(void)sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

static void test_counters(void **state)
{
	struct live *l = ready(state);
	struct facts *f = collect(l, "10.9.0.2");
	struct counters *before = counters_new(LIMIT), *after = counters_new(LIMIT), *delta;
	uint64_t nd0 = facts_link_by_name(f, "nd0")->ifindex.v;
	uint64_t nd1 = facts_link_by_name(f, "nd1")->ifindex.v;
	const struct qdisc_facts *q = find_qdisc(f, "nd0", 0x10000, false);

	assert_int_equal(probes_sample(l->src, f, COUNTER_EVERY_SECOND, before), 0);
	send_something();
	assert_int_equal(probes_sample(l->src, f, COUNTER_EVERY_SECOND, after), 0);
	delta = counters_difference(before, after);
	assert_non_null(delta);
	assert_true(delta->clock.monotonic_ns.v > 0);
	assert_true(counters_link(delta, nd0)->tx_packets.v >= 1);
	assert_true(counters_link(delta, nd0)->tx_bytes.v >= 28);
	/* The peer end is sampled too. */
	assert_true(counters_link(delta, nd1)->rx_packets.v >= 1);
	if (q)
		assert_true(counters_qdisc(delta, nd0, 0x10000, TC_H_ROOT, false)->packets.v >= 1);
	assert_true(nd_u64_is(counters_mib(delta, "UdpOutDatagrams"), 1));
	assert_true(delta->ncpus >= 1 && delta->nsoftnet == delta->ncpus);
	counters_free(delta);
	counters_free(before);
	counters_free(after);
	facts_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_link_of_another_namespace),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_tbf),
		cmocka_unit_test(test_htb),
		cmocka_unit_test(test_counters),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}

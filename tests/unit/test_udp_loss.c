/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random loss on a path of our own: what the receiver counts as lost is what nft says it dropped,
 * to the last datagram.  In a network namespace of this process, whose loopback is the path.
 */
#include "src/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/load/udp_header.h"
#include "tests/unit/load_pairs.h"

enum { DATAGRAMS = 20000, PORT = 7000 };

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool loopback_up(void)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool ok = ioctl(fd, SIOCSIFFLAGS, &r) == 0;

	close(fd);
	return ok;
}

/* A network of our own, as root of a user namespace where we are not root. */
static bool enter_namespace(void)
{
	unsigned int uid = getuid(), gid = getgid();
	char map[64];

	if (unshare(CLONE_NEWNET) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
			return false;
		snprintf(map, sizeof(map), "0 %u 1", uid);
		if (!write_text("/proc/self/setgroups", "deny") ||
		    !write_text("/proc/self/uid_map", map))
			return false;
		snprintf(map, sizeof(map), "0 %u 1", gid);
		if (!write_text("/proc/self/gid_map", map))
			return false;
	}
	return loopback_up();
}

static bool run(const char *command)
{
	return system(command) == 0;
}

static uint64_t dropped(void)
{
	unsigned long long packets = 0;
	char line[256];
	FILE *f = popen("nft list counter inet t gone", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " packets %llu", &packets) == 1)
			break;
	pclose(f);
	return packets;
}

static void connect_pair(struct pairs *p)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, b = a;

	b.sin_port = htons(PORT + 1);
	p->n = 1;
	p->server[0] = socket(AF_INET, SOCK_DGRAM, 0);
	p->client[0] = socket(AF_INET, SOCK_DGRAM, 0);
	assert_return_code(bind(p->server[0], (struct sockaddr *)&a, sizeof(a)), errno);
	assert_return_code(bind(p->client[0], (struct sockaddr *)&b, sizeof(b)), errno);
	assert_return_code(connect(p->client[0], (struct sockaddr *)&a, sizeof(a)), errno);
	assert_return_code(connect(p->server[0], (struct sockaddr *)&b, sizeof(b)), errno);
}

/* The last number, which no rule drops: what is lost at the very end shows as lost, too. */
static void send_last(int fd)
{
	unsigned char datagram[1448] = { 0 };
	struct udp_header h = { .number = DATAGRAMS + 1 };

	udp_header_put(datagram, &h, true);
	assert_int_equal(send(fd, datagram, sizeof(datagram), 0), sizeof(datagram));
}

static void test_loss_is_what_was_dropped(void **state)
{
	struct run_spec s = { .protocol = RUN_UDP, .streams = 1, .block_bytes = 1448,
			      .window_ms = 1, .total_blocks = DATAGRAMS,
			      .rate_bps = 200000000 };
	struct counters *c;
	struct pairs p;
	struct ends e;
	uint64_t lost;
	int fd;

	(void)state;
	if (!run("command -v nft >/dev/null") || !enter_namespace() ||
	    !run("nft 'table inet t { counter gone { packets 0 bytes 0; }; chain in { type filter "
		 "hook input priority 0; udp dport 7000 numgen random mod 100 < 3 counter "
		 "name gone drop; }; }' 2>/dev/null")) {
		print_message("needs nft, and a network namespace with nf_tables\n");
		skip();
	}
	connect_pair(&p);
	fd = dup(p.client[0]);
	e = start_ends(&p, &s);
	for (int i = 0; i < 3000 && !load_done(e.sender); i++)
		pause_ms(10);
	assert_true(load_done(e.sender));
	settled_bytes(e.receiver);
	assert_true(run("nft flush chain inet t in"));
	send_last(fd);
	close(fd);
	pause_ms(50);
	settled_bytes(e.receiver);
	c = sample(e.receiver);
	lost = c->flows[0].skipped.v - c->flows[0].out_of_order.v;
	assert_in_range(dropped(), 400, 800);	/* 600 on average; 8 standard deviations */
	assert_int_equal(lost, dropped() + c->flows[0].socket_drops.v);
	assert_int_equal(c->flows[0].packets.v + lost, DATAGRAMS + 1);
	assert_int_equal(c->flows[0].duplicates.v, 0);
	counters_free(c);
	stop_ends(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss_is_what_was_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The real kernel: a veth in a network namespace of our own, asked by netlink
 * and again by ioctl alone.  Both must say the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "probes/ethtool.h"
#include "probes/probes_table.h"

#define LINK "ndtest0"

/* A veth pair by rtnetlink.  0 or -errno. */
static int make_veth(void)
{
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct mnl_socket *nl = mnl_socket_open(NETLINK_ROUTE);
	struct nlattr *info;
	int rc = -errno;

	if (!nl)
		return rc;
	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, LINK);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	mnl_attr_nest_end(nlh, info);
	rc = 0;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ||
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0) {
		rc = -errno;
	} else {
		ssize_t n = mnl_socket_recvfrom(nl, buf, sizeof(buf));

		if (n < 0 || mnl_cb_run(buf, (size_t)n, 0, mnl_socket_get_portid(nl), NULL,
					NULL) < 0)
			rc = -errno;
	}
	mnl_socket_close(nl);
	return rc;
}

/* The other end got a name from the kernel: in a new namespace it is the third link. */
static unsigned int peer_index(void)
{
	struct if_nameindex *all = if_nameindex();
	unsigned int index = 0;

	for (size_t i = 0; all && all[i].if_index; i++) {
		if (!strncmp(all[i].if_name, "veth", 4))
			index = all[i].if_index;
	}
	if_freenameindex(all);
	return index;
}

/* The live source without netlink: what a kernel before 5.6 offers. */
struct ioctl_only { struct source *live; };

static ssize_t pass_read(void *state, const char *path, char *buf, size_t cap)
{
	return source_read(((struct ioctl_only *)state)->live, path, buf, cap);
}

static int pass_ethtool(void *state, const char *ifname, void *cmd, size_t len)
{
	return source_ethtool(((struct ioctl_only *)state)->live, ifname, cmd, len);
}

static ssize_t pass_readlink(void *state, const char *path, char *buf, size_t cap)
{
	return source_readlink(((struct ioctl_only *)state)->live, path, buf, cap);
}

static struct facts *collect(struct source *src)
{
	static const char *const names[] = { LINK };
	const struct probe_context ctx = { .only_links = names, .nonly_links = 1 };
	struct error detail = { "" };
	struct facts *f = facts_new(0);
	struct link_facts *link;

	assert_non_null(f);
	link = arena_append_row(f->mem, (void **)&f->links, &f->nlinks, sizeof(*link));
	link->ifindex = nd_u64(if_nametoindex(LINK));
	link->name = nd_str(LINK);
	link->kind = nd_str("veth");
	assert_int_equal(probe_ethtool.collect(src, &ctx, f, &detail), 0);
	return f;
}

static void skip_because(const char *why, int err)
{
	print_message("SKIP: %s: %s\n", why, strerror(err));
	skip();
}

static void test_veth(void **state)
{
	static const struct source_ops ioctl_ops = {
		.read = pass_read, .ethtool = pass_ethtool, .readlink = pass_readlink,
	};
	struct ioctl_only old = { 0 };
	struct source *without;
	struct facts *a, *b;
	struct counters *c;
	int rc;

	(void)state;
	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET)) {
		skip_because("no network namespace of our own", errno);
		return;
	}
	rc = make_veth();
	if (rc) {
		skip_because("no veth", -rc);
		return;
	}
	assert_int_equal(source_open_live(&old.live), 0);
	assert_int_equal(source_open(&ioctl_ops, &old, "", false, &without), 0);
	a = collect(old.live);
	b = collect(without);

	/* veth claims 10000 Mb/s. */
	assert_int_equal(a->links[0].speed_mbps.k, ND_NOT_APPLICABLE);
	assert_string_equal(a->links[0].driver.v, "veth");
	assert_true(nd_is_true(facts_feature_active(a, a->links[0].ifindex.v,
						    "tx-tcp-segmentation")));
	assert_int_equal(a->nfeatures, b->nfeatures);
	for (size_t i = 0; i < a->nfeatures; i++) {
		assert_string_equal(a->features[i].name.v, b->features[i].name.v);
		assert_int_equal(a->features[i].active.k, b->features[i].active.k);
		assert_int_equal(a->features[i].active.v, b->features[i].active.v);
		assert_int_equal(a->features[i].changeable.v, b->features[i].changeable.v);
	}
	assert_int_equal(a->links[0].carrier.k, ND_KNOWN);
	assert_int_equal(a->links[0].carrier.v, b->links[0].carrier.v);
	assert_int_equal(a->links[0].rx_channels.k, b->links[0].rx_channels.k);
	assert_int_equal(a->links[0].rx_channels.v, b->links[0].rx_channels.v);
	assert_int_equal(a->links[0].rx_ring.k, b->links[0].rx_ring.k);
	assert_int_equal(a->links[0].rss_table_size.k, b->links[0].rss_table_size.k);

	c = counters_new(0);
	assert_int_equal(counter_nic.sample(old.live, a, c), 0);
	assert_true(nd_u64_is(counters_nic(c, a->links[0].ifindex.v, "peer_ifindex"),
			      peer_index()));
	counters_free(c);
	facts_free(a);
	facts_free(b);
	source_close(without);
	source_close(old.live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_veth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

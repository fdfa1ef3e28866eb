/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/veth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/addr.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/core/value.h"

static int open_route_socket(struct nl_sock **out, struct error *err)
{
	struct nl_sock *s = nl_socket_alloc();

	if (!s)
		return error_set(err, ENOMEM, "out of memory for a netlink socket");
	int rc = nl_connect(s, NETLINK_ROUTE);
	if (rc < 0) {
		nl_socket_free(s);
		return error_set(err, EIO, "cannot open a netlink socket: %s", nl_geterror(rc));
	}
	*out = s;
	return 0;
}

int veth_create(const char *near_name, const char *far_name, pid_t far_pid, struct error *err)
{
	struct nl_sock *s = NULL;
	int rc = open_route_socket(&s, err);

	if (rc)
		return rc;
	rc = rtnl_link_veth_add(s, near_name, far_name, far_pid);
	nl_socket_free(s);
	if (rc < 0)
		return error_set(err, EIO, "cannot make a veth pair: %s", nl_geterror(rc));
	return 0;
}

static int add_address(struct nl_sock *s, int ifindex, const char *address, struct error *err)
{
	struct nl_addr *local = NULL;
	struct rtnl_addr *a = rtnl_addr_alloc();
	int rc = nl_addr_parse(address, AF_INET, &local);

	if (!a || rc < 0) {
		rc = error_set(err, EINVAL, "cannot use address %s", address);
		goto out;
	}
	nl_addr_set_prefixlen(local, 24);
	rtnl_addr_set_ifindex(a, ifindex);
	rc = rtnl_addr_set_local(a, local);
	if (rc >= 0)
		rc = rtnl_addr_add(s, a, 0);
	rc = rc < 0 ? error_set(err, EIO, "cannot add address %s: %s", address, nl_geterror(rc))
		    : 0;
out:
	nl_addr_put(local);
	rtnl_addr_put(a);
	return rc;
}

static int set_up(struct nl_sock *s, const char *name, struct error *err)
{
	struct rtnl_link *link = NULL, *change = rtnl_link_alloc();
	int rc = rtnl_link_get_kernel(s, 0, name, &link);

	if (rc >= 0 && change) {
		rtnl_link_set_flags(change, IFF_UP);
		rc = rtnl_link_change(s, link, change, 0);
	}
	rtnl_link_put(link);
	rtnl_link_put(change);
	if (rc < 0)
		return error_set(err, EIO, "cannot set %s up: %s", name, nl_geterror(rc));
	return 0;
}

int veth_bring_up(const char *name, const char *address, struct error *err)
{
	struct nl_sock *s = NULL;
	int ifindex = (int)if_nametoindex(name);

	if (!ifindex)
		return error_set(err, ENODEV, "no link %s", name);
	int rc = open_route_socket(&s, err);
	if (rc)
		return rc;
	rc = add_address(s, ifindex, address, err);
	if (!rc)
		rc = set_up(s, name, err);
	if (!rc)
		rc = set_up(s, "lo", err);
	nl_socket_free(s);
	return rc;
}

int veth_set_offloads(const char *name, bool on, struct error *err)
{
	/* TSO first when switching off, last when on: it needs the others. */
	static const __u32 commands[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = 0;

	if (fd < 0)
		return error_set(err, errno, "cannot open a socket: %s", strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(commands) && !rc; i++) {
		struct ethtool_value v = {
			.cmd = commands[on ? ARRAY_SIZE(commands) - 1 - i : i],
			.data = on,
		};
		struct ifreq ifr = { .ifr_data = (void *)&v };
		strncpy(ifr.ifr_name, name, sizeof(ifr.ifr_name) - 1);
		if (ioctl(fd, SIOCETHTOOL, &ifr))
			rc = error_set(err, errno, "cannot change offloads of %s: %s", name,
				       strerror(errno));
	}
	close(fd);
	return rc;
}

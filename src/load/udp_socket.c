/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/udp_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/*
 * 8 ms at 10 Gbit/s: about as long as a receiver may be kept from its CPU.  The kernel's own
 * default holds 90 datagrams of a full frame.
 */
enum { DEFAULT_RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024 };

/* How the two families call the same thing. */
struct ip_option { int level, option; const char *name; };

static int set_ip_option(int fd, const struct ip_option *o, int value, struct error *err)
{
	if (setsockopt(fd, o->level, o->option, &value, sizeof(value)) == 0)
		return 0;
	return error_set(err, errno, "%s %d: %s", o->name, value, strerror(errno));
}

static int set_dont_fragment(int fd, struct error *err)
{
	static const struct ip_option v4 = { IPPROTO_IP, IP_MTU_DISCOVER, "IP_MTU_DISCOVER" };
	static const struct ip_option v6 = { IPPROTO_IPV6, IPV6_DONTFRAG, "IPV6_DONTFRAG" };
	int family = 0;
	socklen_t len = sizeof(family);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0)
		return error_set(err, errno, "SO_DOMAIN: %s", strerror(errno));
	return family == AF_INET6 ? set_ip_option(fd, &v6, 1, err)
				  : set_ip_option(fd, &v4, IP_PMTUDISC_DO, err);
}

int udp_set_options(int fd, const struct run_spec *spec, enum load_role role, struct error *err)
{
	int most = DEFAULT_RECEIVE_BUFFER_BYTES;

	/*
	 * A sender keeps the kernel's default unless told: with a larger buffer it would overrun
	 * the queue of the interface below and lose its own datagrams there.
	 */
	if (role == LOAD_SEND)
		return spec->dont_fragment ? set_dont_fragment(fd, err) : 0;
	/* Up to net.core.rmem_max, without an error; SO_MEMINFO tells how much it became. */
	if (spec->rcvbuf_bytes == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &most, sizeof(most)) < 0)
		return error_set(err, errno, "SO_RCVBUF %d: %s", most, strerror(errno));
	return 0;
}

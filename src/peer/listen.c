/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/peer/server.h"
#include "src/peer/socket.h"

enum {
	BACKLOG = 1024,			/* net.core.somaxconn caps it; clients open 64 at a time */
	OTHER_DESCRIPTORS = 128,	/* of the program, its probes and its sessions */
	SPARE_DESCRIPTORS = 16		/* for one more client's test */
};

unsigned int listen_max_streams(void)
{
	const rlim_t reserved = SERVER_MAX_GREETINGS + OTHER_DESCRIPTORS;
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur == RLIM_INFINITY ||
	    r.rlim_cur >= reserved + RUN_MAX_STREAMS)
		return RUN_MAX_STREAMS;
	return r.rlim_cur > 2 * reserved ? (unsigned int)(r.rlim_cur - reserved) :
	       r.rlim_cur > 2 ? (unsigned int)(r.rlim_cur / 2) : 1;
}

unsigned int listen_max_greetings(void)
{
	struct rlimit r;

	/* Strangers must leave descriptors to sessions, their data and what reads the host. */
	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur == RLIM_INFINITY ||
	    r.rlim_cur / 4 >= SERVER_MAX_GREETINGS)
		return SERVER_MAX_GREETINGS;
	return r.rlim_cur / 4 > 4 ? (unsigned int)(r.rlim_cur / 4) : 4;
}

unsigned int listen_max_descriptors(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur > UINT_MAX ?
	       UINT_MAX : (unsigned int)r.rlim_cur;
}

bool listen_is_short(int listen_fd)
{
	/* The kernel gives the lowest that is free. */
	int fd = fcntl(listen_fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return true;
	close(fd);
	return (unsigned int)fd > listen_max_descriptors() - SPARE_DESCRIPTORS;
}

/* One socket, listening; -errno. */
static int try_listen(const struct sockaddr *address, socklen_t len, bool both_families)
{
	int off = !both_families, on = 1, rc = 0, fd = socket_new(address->sa_family);

	if (fd < 0)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    (address->sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0) ||
	    bind(fd, address, len) < 0 || listen(fd, BACKLOG) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* IPv6 that also takes IPv4; plain IPv4 where the kernel has no IPv6. */
static int listen_all(uint16_t port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = try_listen((struct sockaddr *)&v6, sizeof(v6), true);

	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
		fd = try_listen((struct sockaddr *)&v4, sizeof(v4), false);
	return fd;
}

static int listen_one(const char *address, uint16_t port, struct error *err)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST
	};
	struct addrinfo *a;
	char service[8];
	int rc;

	snprintf(service, sizeof(service), "%u", port);
	/* Numeric only, which needs no name server; unlike inet_pton() it knows "fe80::1%eth0". */
	rc = getaddrinfo(address, service, &hints, &a);
	if (rc != 0)
		return error_set(err, EINVAL, "%s: not an address to listen on", address);
	rc = try_listen(a->ai_addr, a->ai_addrlen, false);
	freeaddrinfo(a);
	return rc;
}

int listen_open(const char *address, uint16_t port, int *fd, uint16_t *actual_port,
		struct error *err)
{
	struct socket_address a;
	int rc;

	*fd = address ? listen_one(address, port, err) : listen_all(port);
	if (*fd == -EINVAL && address)
		return *fd;
	if (*fd == -EADDRINUSE)
		return error_set(err, EADDRINUSE, "port %u is in use (by iperf3, or another "
				 "netdoctor?): stop that, or choose one with --port", port);
	if (*fd < 0)
		return error_set(err, *fd, "listening on %s port %u: %s",
				 address ? address : "all addresses", port, strerror(-*fd));
	rc = socket_local_address(*fd, &a);
	*actual_port = socket_port(&a);
	return rc;
}

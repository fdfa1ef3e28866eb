/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Not netinet/tcp.h: glibc's tcp_info ends before min_rtt (Linux 4.6). */
#include <linux/tcp.h>

enum {
	CONTROL_SEGMENT_BYTES = 1200,
	KEEPALIVE_IDLE_S = 2,
	KEEPALIVE_INTERVAL_S = 1,
	KEEPALIVE_PROBES = 3,
	/* Longer than the outage of a path that a run lives through (timing.h). */
	USER_TIMEOUT_MS = 25000,
	/* TCP_RTO_MAX_MS of Linux 6.15: else the pauses double, and outlast an outage by half. */
	OPTION_RTO_MAX_MS = 44,
	RTO_MAX_MS = 1000
};

int socket_new(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);

	return fd < 0 ? -errno : fd;
}

int socket_new_udp(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);

	return fd < 0 ? -errno : fd;
}

static void set_int(int fd, int level, int option, int value)
{
	(void)!setsockopt(fd, level, option, &value, sizeof(value));
}

void socket_set_control_options(int fd)
{
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
	set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
	set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
	set_int(fd, IPPROTO_TCP, OPTION_RTO_MAX_MS, RTO_MAX_MS);
}

void socket_limit_segments(int fd)
{
	/*
	 * A path that drops large packets without a word (path-MTU black hole) is one of the
	 * things to be diagnosed; the session must live through it.  Announced in our SYN, this
	 * holds for both directions, and 1200 + headers fits even IPv6's minimum of 1280.
	 */
	set_int(fd, IPPROTO_TCP, TCP_MAXSEG, CONTROL_SEGMENT_BYTES);
}

int socket_parse_address(const char *text, struct socket_address *out)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&out->ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out->ss;

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		out->len = sizeof(*v4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		out->len = sizeof(*v6);
		return 0;
	}
	return -EINVAL;
}

int socket_bind_local(int fd, const struct socket_address *local)
{
#ifdef IP_BIND_ADDRESS_NO_PORT
	set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
#endif
	return bind(fd, (const struct sockaddr *)&local->ss, local->len) < 0 ? -errno : 0;
}

void socket_format_address(const struct socket_address *a, char out[INET6_ADDRSTRLEN])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&a->ss;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&a->ss;
	const char *p = NULL;

	if (a->ss.ss_family == AF_INET)
		p = inet_ntop(AF_INET, &v4->sin_addr, out, INET6_ADDRSTRLEN);
	else if (a->ss.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		p = inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], out, INET6_ADDRSTRLEN);
	else if (a->ss.ss_family == AF_INET6)
		p = inet_ntop(AF_INET6, &v6->sin6_addr, out, INET6_ADDRSTRLEN);
	if (!p)
		memcpy(out, "?", 2);
}

void socket_unmap(struct socket_address *a)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&a->ss;
	struct sockaddr_in v4 = { .sin_family = AF_INET };

	if (a->ss.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		return;
	v4.sin_port = v6->sin6_port;
	memcpy(&v4.sin_addr, &v6->sin6_addr.s6_addr[12], sizeof(v4.sin_addr));
	memset(a, 0, sizeof(*a));
	memcpy(&a->ss, &v4, sizeof(v4));
	a->len = sizeof(v4);
}

bool socket_same_host(const struct socket_address *a, const struct socket_address *b)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)&a->ss;
	const struct sockaddr_in *b4 = (const struct sockaddr_in *)&b->ss;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)&a->ss;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)&b->ss;

	if (a->ss.ss_family != b->ss.ss_family)
		return false;
	if (a->ss.ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->ss.ss_family == AF_INET6 && a6->sin6_scope_id == b6->sin6_scope_id &&
	       IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

void socket_any_address(sa_family_t family, struct socket_address *out)
{
	memset(out, 0, sizeof(*out));
	out->ss.ss_family = family;
	out->len = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void socket_set_port(struct socket_address *a, uint16_t port)
{
	if (a->ss.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&a->ss)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&a->ss)->sin_port = htons(port);
}

uint16_t socket_port(const struct socket_address *a)
{
	if (a->ss.ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)&a->ss)->sin6_port);
	return ntohs(((const struct sockaddr_in *)&a->ss)->sin_port);
}

int socket_local_address(int fd, struct socket_address *out)
{
	out->len = sizeof(out->ss);
	return getsockname(fd, (struct sockaddr *)&out->ss, &out->len) < 0 ? -errno : 0;
}

int socket_remote_address(int fd, struct socket_address *out)
{
	out->len = sizeof(out->ss);
	return getpeername(fd, (struct sockaddr *)&out->ss, &out->len) < 0 ? -errno : 0;
}

struct nd_u64 socket_min_rtt_us(int fd)
{
	struct tcp_info ti = { 0 };
	socklen_t len = sizeof(ti);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len) < 0)
		return nd_u64_unknown(nd_known_from_errno(errno));
	if (len < offsetof(struct tcp_info, tcpi_min_rtt) + sizeof(ti.tcpi_min_rtt))
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	/* The kernel's "not measured yet". */
	if (ti.tcpi_min_rtt == UINT32_MAX)
		return nd_u64_unknown(ND_ABSENT);
	return nd_u64(ti.tcpi_min_rtt);
}

struct nd_u64 socket_bytes_acked(int fd)
{
	struct tcp_info ti = { 0 };
	socklen_t len = sizeof(ti);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len) < 0)
		return nd_u64_unknown(nd_known_from_errno(errno));
	if (len < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof(ti.tcpi_bytes_acked))
		return nd_u64_unknown(ND_NOT_SUPPORTED);
	return nd_u64(ti.tcpi_bytes_acked);
}

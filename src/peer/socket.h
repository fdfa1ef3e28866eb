/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control sockets: their options, addresses and RTT.  Internal to src/peer.
 * (Data sockets get theirs from load_prepare_socket().)
 */
#ifndef ND_PEER_SOCKET_H
#define ND_PEER_SOCKET_H

#include <sys/socket.h>

#include "src/core/value.h"
#include "src/peer/peer.h"

struct socket_address { struct sockaddr_storage ss; socklen_t len; };

/* Non-blocking, close-on-exec TCP socket; a descriptor or -errno. */
int socket_new(int family);
int socket_new_udp(int family);	/* the same of UDP */
/* No delay, and an end within seconds when the other host is gone without a word.  Best effort. */
void socket_set_control_options(int fd);
/* Small segments for a client's control socket; before connect().  Best effort. */
void socket_limit_segments(int fd);

/* A numeric local address, port 0.  0 or -EINVAL. */
int socket_parse_address(const char *text, struct socket_address *out);
/* Leaves the port to connect(), so that thousands of connections may share one.  0 or -errno. */
int socket_bind_local(int fd, const struct socket_address *local);

/* Numeric, without port and zone; v4-mapped IPv6 as plain IPv4; "?" when it is neither. */
void socket_format_address(const struct socket_address *a, char out[INET6_ADDRSTRLEN]);
/* A v4-mapped IPv6 address as plain IPv4; others stay. */
void socket_unmap(struct socket_address *a);
/* Same host, whatever the ports. */
bool socket_same_host(const struct socket_address *a, const struct socket_address *b);
uint16_t socket_port(const struct socket_address *a);
void socket_set_port(struct socket_address *a, uint16_t port);
/* That of all our addresses, and port 0. */
void socket_any_address(sa_family_t family, struct socket_address *out);
int socket_local_address(int fd, struct socket_address *out);	/* 0 or -errno */
int socket_remote_address(int fd, struct socket_address *out);	/* 0 or -errno */

/* min_rtt of TCP_INFO, microseconds. */
struct nd_u64 socket_min_rtt_us(int fd);
/* What the other end's kernel has taken in, of TCP_INFO (Linux 4.1). */
struct nd_u64 socket_bytes_acked(int fd);

#endif

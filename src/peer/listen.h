/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The listening socket, and room for its connections.  Internal to src/peer. */
#ifndef ND_PEER_LISTEN_H
#define ND_PEER_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/error.h"

/* address NULL: IPv6 and IPv4 of all interfaces; port 0: any.  Non-blocking.  0 or -errno. */
int listen_open(const char *address, uint16_t port, int *fd, uint16_t *actual_port,
		struct error *err);
/* Data connections that RLIMIT_NOFILE leaves room for; at least 1. */
unsigned int listen_max_streams(void);

/* How many connections may wait that have not said who they are; by the limit of descriptors. */
unsigned int listen_max_greetings(void);
unsigned int listen_max_descriptors(void);
/* There are hardly enough left for another client's test. */
bool listen_is_short(int listen_fd);

#endif

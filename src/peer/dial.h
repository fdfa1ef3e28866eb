/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connecting, with deadlines: a name to one control connection, an address to
 * many data connections.  Internal to src/peer.
 */
#ifndef ND_PEER_DIAL_H
#define ND_PEER_DIAL_H

#include <netdb.h>

#include "src/peer/socket.h"

/*
 * getaddrinfo() with a deadline.  It has none itself, so it runs in a thread that is left behind
 * when it is late.  0 and *out for freeaddrinfo(); -ENOENT, -ETIMEDOUT, -errno with the reason.
 */
int dial_resolve(const char *host, uint16_t port, int family, uint64_t deadline_ns,
		 struct addrinfo **out, struct error *err);

/*
 * Tries the addresses in their order, each with a head start of stagger_ms over the next; the
 * first to answer wins.  A connected, non-blocking control socket, or the -errno of the last
 * failure (-ETIMEDOUT when none answered).
 */
int dial_control(const struct addrinfo *addresses, const struct socket_address *local,
		 unsigned int stagger_ms, uint64_t deadline_ns);

struct dial_data {
	const struct socket_address *remote, *local;	/* local NULL: the kernel's choice */
	uint16_t local_port;		/* of flow 0, the next has the next; 0: any */
	const struct run_spec *spec;
	const cJSON *cookies;		/* array of run_connections(spec) checked strings */
	const char *label;		/* of the peer, for errors */
	/* Asked every so often; not 0: that is the end, with its error.  NULL: nobody asks. */
	int (*heed)(const void *state, struct error *err);
	const void *state;
};
/* Binds the socket of a flow as d wants it: 0 or -errno with the reason. */
int dial_bind(const struct dial_data *d, size_t flow, int fd, struct error *err);
/*
 * Opens the data connection of one flow (run_flows(spec): that of the requests for latency) and
 * sends this cookie on it: a descriptor or -errno with the reason.
 */
int dial_flow(const struct dial_data *d, size_t flow, const char cookie[PEER_COOKIE_BYTES],
	      uint64_t deadline_ns, struct error *err);
/* Opens run_flows(spec) data connections, their cookies sent, into fds; on error none. */
int dial_data(const struct dial_data *d, int *fds, uint64_t deadline_ns, struct error *err);
/* The same for UDP: every flow's cookie has been answered. */
int dial_udp(const struct dial_data *d, int *fds, uint64_t deadline_ns, struct error *err);

/* The same for one flow to an iperf3 server, which numbers them as they come. */
int dial_iperf3_udp(const struct dial_data *d, size_t flow, uint64_t deadline_ns,
		    struct error *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The client of a plain iperf3 server.  Internal to src/peer; used through
 * peer.h, whose functions come here when that is the dialect.
 *
 * iperf3 has no session: each run is a test with a control connection of its
 * own.  The server takes one test at a time and says so to everybody else; for
 * a moment after a test it may still do so, to us too.
 */
#ifndef ND_PEER_IPERF3_CLIENT_H
#define ND_PEER_IPERF3_CLIENT_H

#include "src/peer/peer.h"

struct iperf3_client {
	int fd;			/* control connection of the run, -1: none */
	bool unused;		/* fd is connected and nothing was said yet */
	bool admitted;		/* our parameters, and the login with them, were taken */
	bool lost;		/* the server cannot be reached any more */
	const struct peer_login *login;
};

/* From now on p speaks iperf3; fd is a fresh connection to be used by the first run, or -1. */
void iperf3_client_begin(struct peer *p, const struct peer_login *login, int fd);
/* A token for the authtoken key from login, "" when that is NULL.  0 or -errno with the reason. */
int iperf3_client_token(const struct peer *p, const struct peer_login *login, char *out,
			size_t cap, struct error *err);
/* What the error that comes behind IPERF3_SERVER_ERROR says; always -errno. */
int iperf3_client_refused(const struct peer *p, int fd, bool had_login, uint64_t deadline_ns,
			  struct error *err);

/* As in peer.h; prepare takes the spec from p->spec and puts there what becomes of it. */
int iperf3_run_prepare(struct peer *p, int *fds, unsigned int timeout_ms, struct error *err);
int iperf3_run_poll(struct peer *p, unsigned int timeout_ms, struct error *err);
int iperf3_run_stop(struct peer *p, unsigned int timeout_ms, struct error *err);
int iperf3_run_exchange(struct peer *p, const struct peer_results *ours, unsigned int timeout_ms,
			struct peer_results *theirs, struct error *err);
void iperf3_run_cancel(struct peer *p);
void iperf3_client_end(struct peer *p);

#endif

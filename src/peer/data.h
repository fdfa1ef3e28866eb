/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Data connections of the run being prepared: their one-time cookies and, as
 * they come in, their sockets.  Internal to src/peer.
 *
 * A session opens the registry (only the one whose turn it is), the accept loop
 * (UDP: the door, udp_door.h) offers connections to it.  Cookie i begins with the number i, so one
 * constant-time comparison decides and flow i is the same connection on both ends.
 */
#ifndef ND_PEER_DATA_H
#define ND_PEER_DATA_H

#include <pthread.h>

#include "src/peer/peer.h"

/* Only a socket of its protocol is taken. */
struct data_slot {
	char cookie[PEER_COOKIE_BYTES];
	bool used;
	enum run_protocol protocol;
	int fd;
};

struct data_registry {
	pthread_mutex_t lock;
	struct data_slot *slots;	/* NULL: closed */
	size_t n, arrived;
	uint64_t expires_ns;
	int wake_fd;			/* of the session: the last one has arrived */
};

void data_init(struct data_registry *r);
void data_destroy(struct data_registry *r);	/* closed or not */

/* Fresh cookies for a run's connections, also as JSON that the caller owns.  0 or -errno. */
int data_open(struct data_registry *r, const struct run_spec *spec, int wake_fd,
	      uint64_t expires_ns, cJSON **cookies);
/* Forgets the cookies and closes the sockets that nobody took. */
void data_close(struct data_registry *r);

enum data_verdict {
	DATA_UNKNOWN,	/* none of ours, or too late: perhaps a new client */
	DATA_TAKEN,	/* the registry owns fd now */
	DATA_REUSED	/* this cookie has let its connection in already */
};
enum data_verdict data_offer(struct data_registry *r, enum run_protocol protocol,
			     const char cookie[PEER_COOKIE_BYTES], int fd);
/* What data_offer() would say now; nothing is taken. */
enum data_verdict data_look(struct data_registry *r, enum run_protocol protocol,
			    const char cookie[PEER_COOKIE_BYTES]);

size_t data_arrived(struct data_registry *r);
/*
 * Hands all n sockets over, in order of flows.  The used cookies stay known, as used, until
 * data_close().  -EAGAIN: some are missing.
 */
int data_take(struct data_registry *r, int *fds);

#endif

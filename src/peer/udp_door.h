/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door: how the datagrams of UDP runs find their flow.  Internal to src/peer.
 *
 * While UDP runs are being prepared, one socket on the server's port waits for
 * datagrams that greet as one of its guests is to be greeted.  Each gets its flow a
 * socket of its own on that port, connected to where it came from, and one
 * answer, as long as what was asked: from there on the kernel tells the flows
 * apart.  Whatever else comes is dropped without a word.
 */
#ifndef ND_PEER_UDP_DOOR_H
#define ND_PEER_UDP_DOOR_H

#include "src/peer/data.h"
#include "src/peer/socket.h"

struct udp_door;

/* A run whose flows are awaited.  Its functions are called with the door's lock held. */
struct udp_guest {
	struct udp_guest *next;		/* the door's */
	struct socket_address local, remote;	/* the door's */

	size_t len;	/* of a greeting and of its answer: PEER_COOKIE_BYTES at most */
	/* What take() would say now, but DATA_REUSED only of one that has opened a flow. */
	enum data_verdict (*look)(void *state, const char *greeting);
	/* DATA_TAKEN: fd has an owner now, who keeps it open until the guest has left. */
	enum data_verdict (*take)(void *state, const char *greeting, int fd);
	void (*answer)(const char *greeting, char *out);
	void *state;
};

/* Closed until a guest enters.  listen_fd: the server's, for its address.  NULL: no memory. */
struct udp_door *udp_door_new(int listen_fd);
void udp_door_free(struct udp_door *d);		/* without guests; NULL is fine */

/*
 * Opens it for one guest more, before its client is told to greet.  session_fd: the client's
 * connection; its flows must come from the same host, so that nobody has us send to another.
 * 0 or -errno with the reason.
 */
int udp_door_enter(struct udp_door *d, struct udp_guest *g, int session_fd,
		   struct error *err);
/*
 * Before data flows: answers that got lost are repeated until then.  Its sockets stay; with the
 * last guest the door's own is gone.
 */
void udp_door_leave(struct udp_door *d, struct udp_guest *g);

/* A guest whose greetings are the cookies of this registry. */
struct udp_guest udp_door_cookies(struct data_registry *data);

#endif

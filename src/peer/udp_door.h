/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door: how the datagrams of a UDP run find their flow.  Internal to src/peer.
 *
 * While a UDP run is being prepared, a socket on the session's own address and
 * port waits for datagrams that hold one of its cookies.  Each gets its flow a
 * socket of its own on that port, connected to where it came from, and one
 * answer, as long as what was asked: from there on the kernel tells the flows
 * apart.  Whatever else comes is dropped without a word.
 */
#ifndef ND_PEER_UDP_DOOR_H
#define ND_PEER_UDP_DOOR_H

#include "src/peer/data.h"
#include "src/peer/socket.h"

struct udp_door;

/*
 * Opens it, with a thread of its own, before the cookies go out.  session_fd: the client's
 * connection; its flows must come from the same host, so that nobody has us send to another.
 * data must be open for UDP until the door is closed.  0 or -errno with the reason.
 */
int udp_door_open(struct data_registry *data, int session_fd, size_t flows, struct udp_door **out,
		  struct error *err);
/*
 * Before data flows: answers that got lost are repeated until then.  Its sockets stay, the
 * door's own is gone.  NULL is fine.
 */
void udp_door_close(struct udp_door *d);

#endif

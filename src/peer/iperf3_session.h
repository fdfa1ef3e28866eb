/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of plain iperf3 clients, when the server allows them.  Internal to src/peer.
 *
 * An iperf3 client proves nothing.  It gets a thread once its parameters have
 * come and are sound, and there are only so many; its data connections are
 * found by its own cookie, the same for all, and never keep the accepting
 * thread waiting.  Tests do not wait for each other.
 */
#ifndef ND_PEER_IPERF3_SESSION_H
#define ND_PEER_IPERF3_SESSION_H

#include <stdatomic.h>

#include "src/peer/data.h"
#include "src/peer/iperf3_users.h"
#include "src/peer/iperf3_wire.h"
#include "src/peer/udp_door.h"

struct peer_server;

struct arrival { int fd; uint64_t serial; };

enum { IPERF3_MAX_EXTRAS = 32 };

struct iperf3_session {
	struct iperf3_session *next;	/* in the server's list, under its lock */
	struct peer_server *server;
	int fd;
	int wake_fd;			/* eventfd: the streams are complete, the server stops */
	struct peer_client_info info;
	char cookie[PEER_COOKIE_BYTES];
	struct iperf3_parameters parameters;
	pthread_t thread;
	bool done;			/* under the server's lock */
	bool known;			/* it has logged in, or nobody has to */
	bool announced;			/* as a client */
	char user[IPERF3_MAX_USER + 1];	/* "": it did not have to say */

	/* Streams, under the server's lock while `collecting`. */
	bool collecting;
	struct arrival *arrivals;	/* run_flows() of them */
	size_t narrived;
	/* Something is due, see iperf3_due.c: when the last came, 0: nothing is; it may pause. */
	uint64_t idle_since_ns, may_pause_ns;
	bool displaced;			/* too long: another client has its place */
	struct udp_guest guest;
	bool at_door;
	uint64_t udp_ticket;		/* in the order of asking for UDP streams; 0: it does not */
	bool udp_turn;			/* they may come: no other's of its host do */
	uint64_t udp_patience_ns;	/* it keeps that so long without another, if others wait */

	/* UDP streams beyond those, see iperf3_extra.c; under the server's lock. */
	bool complete;			/* all that it asked for have come */
	struct arrival extras[IPERF3_MAX_EXTRAS];
	size_t nextras;
	/* Of the session's thread: */
	struct udp_guest extra_guest;
	bool extra_at_door;
	uint64_t extras_until_ns, first_data_ns;
	uint64_t *serials;		/* NULL, or of each flow's stream, when out of order */

	/* The run. */
	struct run_window window;
	int *fds;			/* the service's: open while it asks its hooks */
	uint64_t moved, look_again_ns;	/* of the thread that asks them */
	pthread_t watcher;
	atomic_bool ended, cancelled, over;	/* ended: by the client's TEST_END */
	bool running;			/* from its start on a server that drains waits for it */
	bool exchanges;			/* results: of its own thread */
	bool expired;			/* by us, for taking too long */
	struct peer_results ours;
};

/* Of the thread of an iperf3_session, which is arg. */
void *iperf3_session_thread(void *arg);

/* Takes fd over in any case: refuses the client, or gives it a thread. */
void iperf3_session_start(struct peer_server *s, int fd, const struct peer_client_info *info,
			  const char cookie[PEER_COOKIE_BYTES],
			  const struct iperf3_parameters *parameters);
/* Tells the client and closes nothing.  code: enum iperf3_error. */
void iperf3_send_error(int fd, int code);

/*
 * A connection that opened with this cookie; serial: its number in the order of accept(), which
 * need not be the order of calls.
 */
enum data_verdict iperf3_offer(struct peer_server *s, const char cookie[PEER_COOKIE_BYTES], int fd,
			       uint64_t serial);

/*
 * Waits for a byte on the control connection, or to be woken.  0: *state came; -EAGAIN: woken;
 * -ETIMEDOUT; -ESHUTDOWN: the server stops; -EUSERS: displaced; else the client is gone.
 */
int iperf3_listen(struct iperf3_session *is, uint64_t deadline_ns, unsigned char *state);
/* All of len bytes: 0 or as iperf3_listen(), but for -EAGAIN. */
int iperf3_receive(struct iperf3_session *is, void *buf, size_t len, uint64_t deadline_ns);
int iperf3_say(struct iperf3_session *is, unsigned char state);
/* Ends a test for a reason of ours: what the client is told, and the event line.  -ECANCELED. */
int iperf3_refuse(struct iperf3_session *is, int code, const char *why);

/* ---- iperf3_due.c: any thread; the server's lock is not held ---- */

/* What comes next is due from it: one that brings nothing for longer than that may give way. */
void iperf3_begin_due(struct iperf3_session *is, uint64_t may_pause_ns);
void iperf3_end_due(struct iperf3_session *is);
/* The same of a run that begins.  Then, as often as the service looks: bytes that have come. */
void iperf3_begin_data(struct iperf3_session *is);
void iperf3_progress(struct iperf3_session *is, const struct peer_received *r);

/* ---- iperf3_exchange.c ---- */

/* After the run; the caller frees *theirs in any case. */
int iperf3_exchange(struct iperf3_session *is, struct peer_results *theirs);

/* ---- iperf3_udp.c ---- */

/* Waits until its streams may come, and opens the door.  0 or as iperf3_listen(), or -errno. */
int iperf3_udp_open(struct iperf3_session *is, struct error *why);
void iperf3_udp_close(struct iperf3_session *is);	/* before its sockets are */

struct udp_guest iperf3_udp_guest(struct iperf3_session *is);

/* ---- iperf3_extra.c: in the session's thread ---- */

/*
 * All streams that it asked for have come; more are heard from now on.  0, or -ECANCELED: its own
 * cannot be told from others, and it has been refused; or as iperf3_listen().
 */
int iperf3_extra_begin(struct iperf3_session *is);
/* While data flows, as iperf3_progress(): a stream that sends replaces one that does not. */
void iperf3_extra_look(struct iperf3_session *is, const struct peer_received *r);
void iperf3_extra_close(struct iperf3_session *is);	/* by iperf3_udp_close() */
/* In the order of its streams. */
void iperf3_extra_order(const struct iperf3_session *is, struct peer_results *ours);

/* ---- iperf3_sessions.c ---- */

/* Takes its place away; under the server's lock, and not twice. */
void iperf3_displace(struct peer_server *s, struct iperf3_session *is);
/* Out of descriptors, or soon: a client that is awaited gives way.  True: some will be free. */
bool iperf3_spare_descriptors(struct peer_server *s);
/* Joins and frees those that have ended; true when none is left.  By the accepting thread. */
bool iperf3_reap(struct peer_server *s);
void iperf3_wake_all(struct peer_server *s);	/* the server stops */
void iperf3_cut_all(struct peer_server *s);	/* and waits no longer */

#endif

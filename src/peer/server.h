/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The server, inside.  Internal to src/peer.
 *
 * One thread (the caller of peer_server_run) accepts, and carries every
 * connection that has not proved the key yet through the greeting and TLS
 * without ever waiting for it (greeting.c).  Each connection that has proved it
 * gets a thread (session.c).  So a stranger can cost a slot in a bounded table
 * for a bounded time, and never a thread, nor anybody else's turn.
 */
#ifndef ND_PEER_SERVER_H
#define ND_PEER_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "src/peer/channel.h"
#include "src/peer/data.h"
#include "src/peer/iperf3_session.h"
#include "src/peer/protocol.h"
#include "src/peer/timing.h"
#include "src/peer/turn.h"

enum {
	SERVER_MAX_GREETINGS = 256,	/* beyond it the oldest is dropped */
	SERVER_EXTRA_SESSIONS = 16	/* threads that tell a client there is no room for it */
};

struct greeting;
struct udp_door;

struct session {
	struct session *next;		/* in the server's list, under its lock */
	struct peer_server *server;
	struct channel channel;
	struct peer_client_info info;
	int wake_fd;			/* eventfd: our turn, data complete, the server stops */
	uint64_t hello_deadline_ns;
	pthread_t thread;
	bool admitted, done;		/* under the server's lock */
	uint64_t idle_since_ns;		/* the same: between requests, 0: busy with one */
	bool displaced;			/* the same: for too long, another has its place */
	bool gives_signs;		/* its client says that it is alive; older ones do not */
	char complaint[PROTOCOL_MAX_TEXT + 1];	/* the client's, when it ended the session */
};

/* Lines of one kind, of which a log gets only so many a second. */
struct event_window { uint64_t until_ns; unsigned int lines; };

struct peer_server {
	struct peer_server_options options;	/* limits filled in; bind_address NULL */
	struct peer_service service;
	const struct peer_timing *timing;
	struct tls_context *tls;
	int listen_fd, wake_fd;		/* wake_fd: a session has ended */
	uint16_t port;

	/* Of the accepting thread. */
	struct greeting *greetings[SERVER_MAX_GREETINGS];	/* oldest first */
	size_t ngreetings, max_greetings;
	uint64_t accept_again_ns;	/* out of descriptors until then */
	uint64_t accepted;		/* connections so far */

	struct data_registry data;
	struct udp_door *door;
	struct turn_queue turns;
	atomic_bool stopping;		/* nothing new begins */
	atomic_bool cutting;		/* what goes on ends, too */

	pthread_mutex_t lock;
	struct session *sessions;
	size_t nsessions, nadmitted;
	uint64_t turned_away_ns;	/* when there was no place for a client; 0: never */
	bool once_begun, once_over;
	struct iperf3_session *iperf3_sessions;
	size_t niperf3;
	uint64_t udp_tickets, udp_turns;	/* given out to them */

	pthread_mutex_t event_lock;
	struct event_window refusals, tests;
};

int server_open(const struct peer_server_options *o, const struct peer_service *service,
		const struct peer_timing *timing, struct peer_server **out, struct error *err);
/*
 * Any thread, s->lock not held.  Refusals and lines of iperf3 tests are thinned out: strangers
 * must not fill a log.
 */
void server_event(struct peer_server *s, enum peer_event event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Gives every sender of a run its share of --max-rate, unless it asks for less, and no more than
 * 100 ms of that in a row; and takes in a tenth more than that from whoever sends more.
 * kernel_paces: TCP's own pacing keeps it, not the worker that sends.
 */
void server_limit_rate(const struct peer_server_options *o, struct run_spec *spec,
		       bool kernel_paces);

/* ---- greeting.c ---- */

enum greeting_result {
	GREETING_MORE,		/* waits for greeting_fd() to be ready for greeting_events() */
	GREETING_OVER,		/* refused, gone, or handed over to the data registry */
	GREETING_SECURE		/* has proved the key: greeting_release() it to a session */
};

/* Takes fd over; serial: in the order of accept().  NULL: out of memory, fd closed. */
struct greeting *greeting_new(int fd, const struct peer_client_info *info, uint64_t serial,
			      uint64_t deadline_ns);
void greeting_free(struct greeting *g);
/* As far as it goes without waiting. */
enum greeting_result greeting_step(struct peer_server *s, struct greeting *g);
/* The deadline has passed, or its place is needed: says so in an event. */
void greeting_expired(struct peer_server *s, const struct greeting *g, const char *why);
int greeting_fd(const struct greeting *g);
short greeting_events(const struct greeting *g);
uint64_t greeting_deadline(const struct greeting *g);
const struct peer_client_info *greeting_info(const struct greeting *g);
/* The socket and its TLS now belong to the caller. */
void greeting_release(struct greeting *g, int *fd, struct tls **tls);

/* ---- session.c ---- */

/* Starts the thread; takes fd and tls over in any case.  0 or -errno. */
int session_start(struct peer_server *s, int fd, struct tls *tls,
		  const struct peer_client_info *info, uint64_t hello_deadline_ns);
/* After its thread has been joined. */
void session_free(struct session *ss);

cJSON *session_message(const char *type, uint64_t id);
/* Sends m and frees it (NULL: -ENOMEM). */
int session_send(struct session *ss, cJSON *m);
/* NULL: out of memory. */
cJSON *session_error_message(uint64_t id, const char *code, const char *text);
/* An error answer; id 0 announces the end of the session. */
int session_send_error(struct session *ss, uint64_t id, const char *code, const char *text);
/*
 * The next message.  -EAGAIN: woken, look again at what you wait for; -ESHUTDOWN: the server stops;
 * -ETIMEDOUT; else the client is gone.
 */
int session_receive(struct session *ss, uint64_t deadline_ns, cJSON **m);
/* The same for whoever must go on while the server stops: it does not look at that. */
int session_listen(struct session *ss, uint64_t deadline_ns, cJSON **m);

/* Keeps what the client's error message says: -ECONNABORTED. */
int session_complaint(struct session *ss, const cJSON *m);

/* ---- session_run.c ---- */

/* Answers a prepare and all that follows.  0: the session goes on. */
int session_run(struct session *ss, const cJSON *request, uint64_t id);

#endif

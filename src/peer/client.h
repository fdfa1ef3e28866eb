/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The client's half, inside: struct peer, requests and their answers.
 * Internal to src/peer.
 *
 * Each request has an id and each answer carries it.  What still arrives for a
 * request that was given up is skipped, so that a failed run does not cost the
 * session.  Id 0 is the session itself.
 */
#ifndef ND_PEER_CLIENT_H
#define ND_PEER_CLIENT_H

#include "src/peer/channel.h"
#include "src/peer/iperf3_client.h"
#include "src/peer/socket.h"
#include "src/peer/timing.h"

struct peer {
	const struct peer_timing *timing;
	enum peer_dialect dialect;
	struct iperf3_client iperf3;	/* when that is the dialect; channel has no socket then */
	struct nd_u64 connect_rtt_us;	/* of the first connection */
	struct tls_context *tls;
	struct channel channel;
	uint64_t listened_ns;		/* when we last did; 0: not yet */
	uint64_t back_ns;		/* from an absence of our own; 0: none */
	uint64_t silent_ns;		/* longest without a word in this run, or the last */
	char label[300];		/* "HOST:PORT" as the user gave it */
	char local_text[INET6_ADDRSTRLEN], remote_text[INET6_ADDRSTRLEN];
	struct socket_address remote, bind;
	bool bound;			/* bind is set */
	uint16_t data_port;		/* of the first flow; 0: any */
	struct peer_limits limits;
	bool gives_signs;		/* of life in a run: the server knows them */
	bool (*cancelled)(void *state);	/* NULL: never */
	void *cancelled_state;
	uint64_t next_id;
	uint64_t facts_id, run_id;	/* outstanding; 0: none */
	struct run_spec spec;		/* of the run, as agreed */
	cJSON *run_end;			/* arrived during peer_run_poll() */
	int run_failed;			/* likewise: 0 or -errno with run_error */
	struct error run_error;
};

enum { CLIENT_HEED_MS = 100 };	/* how often a wait asks whether it is cancelled */
/* 0, or -EINTR. */
int client_heed(const struct peer *p, struct error *err);

int client_connect(const struct peer_target *target, const struct peer_timing *timing,
		   struct peer **out, struct error *err);

/* A message with type and id; NULL: out of memory. */
cJSON *client_message(const char *type, uint64_t id);
/* Sends m and frees it (NULL: out of memory).  0 or -errno. */
int client_send(struct peer *p, cJSON *m, struct error *err);

/* Breaks the channel by rc, telling the server where it still can be told; what that means. */
const char *client_lose(struct peer *p, int rc);

/* What the server said while we waited, for an error text. */
struct client_wait {
	uint64_t id;
	uint64_t deadline_ns;
	unsigned int silence_ms;	/* so long without a byte: it is gone; 0: not watched */
	uint64_t silent_since_ns;	/* in: when the waiting began */
	bool queued;			/* out: it said that we are waiting for our turn */
};
/*
 * The next answer to w->id that is neither a sign of life nor stale.  0; -ETIMEDOUT with the
 * session good; an error of the server's as its errno; or the session is lost.
 */
int client_receive(struct peer *p, struct client_wait *w, cJSON **answer, struct error *err);
/* client_receive() for an answer that must have this type. */
int client_expect(struct peer *p, struct client_wait *w, const char *type, cJSON **answer,
		  struct error *err);

#endif

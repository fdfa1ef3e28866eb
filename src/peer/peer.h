/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session between two netdoctors: keys, the client's half, the server.
 *
 * One TCP port carries everything.  The client opens as an iperf3 client would
 * (37-byte cookie, state byte 9 from the server, parameters with an extra
 * "netdoctor" key); a netdoctor server answers with PEER_SWITCH and both go on
 * in TLS 1.3 with an external pre-shared key, exchanging length-prefixed JSON.
 * Data connections use the same port and open with a one-time cookie handed
 * out inside the session.  Nothing in here knows facts, rules or screens: what
 * the server does for its clients comes in through struct peer_service.
 */
#ifndef ND_PEER_PEER_H
#define ND_PEER_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "src/core/error.h"
#include "src/load/load.h"
#include "src/peer/results.h"

enum {
	PEER_DEFAULT_PORT = 5201,
	PEER_PROTOCOL_VERSION = 1,	/* another on the other side ends the session, saying so */
	PEER_COOKIE_BYTES = 37,		/* 36 of a-z2-7 and a NUL, as iperf3's */
	PEER_MAX_PARAMETERS = 8192,	/* bytes of JSON before anybody is authenticated */
	PEER_MAX_MESSAGE = 16 * 1024 * 1024,	/* bytes of JSON inside the session */
	PEER_KEY_BYTES = 16
};
#define PEER_SWITCH 'N'		/* state byte: netdoctor session follows (iperf3 answers 10) */
#define PEER_NOT_ALLOWED 'A'	/* state byte: not from where the client is */

/* ---- keys (key.c) ---- */
struct peer_key {
	unsigned char bytes[PEER_KEY_BYTES];
	bool open;		/* no secret, anybody may connect */
};
int peer_key_generate(struct peer_key *out);	/* from the kernel's random source; 0 or -errno */
/* 32 hex digits, or "open"; -EINVAL */
int peer_key_parse(const char *text, struct peer_key *out);
void peer_key_format(const struct peer_key *key, char out[2 * PEER_KEY_BYTES + 1]);
/* First line of a file; not of one that others can read (mode & 077).  0 or -errno, reason. */
int peer_key_read_file(const char *path, struct peer_key *out, struct error *err);
/* First line of what is open there, which it waits for; name is for the reason. */
int peer_key_read(int fd, const char *name, struct peer_key *out, struct error *err);

/* ---- client (client.c) ---- */

/* What the other side speaks. */
enum peer_dialect {
	PEER_ANY,	/* of a target: netdoctor, or without a key iperf3 if that answers */
	PEER_NETDOCTOR,
	PEER_IPERF3	/* of a target: nothing else, from the first byte on */
};

/* Who we are to an iperf3 server that asks (--rsa-private-key-path). */
struct peer_login {
	const char *user, *password;
	const char *public_key_path;	/* the server's, PEM */
	bool pkcs1_padding;		/* as servers before 3.17 want it; else OAEP */
};
struct peer_target {
	const char *host;		/* name or address */
	uint16_t port;
	struct peer_key key;
	const char *bind_address;	/* NULL: the kernel's choice; also for data connections */
	uint16_t data_port;		/* ours of the first flow, the next has the next; 0: any */
	int family;			/* AF_UNSPEC, AF_INET, AF_INET6 */
	unsigned int timeout_ms;	/* for connecting and for the handshake, each; 0: 5000 */
	enum peer_dialect dialect;
	const struct peer_login *login;	/* NULL: none; must outlive the peer */
	const char *unreachable;	/* what to say when nothing answers; NULL: the usual */
};

struct peer;		/* one session, used by one thread */

/*
 * Connects, opens, authenticates.  0 or -errno with a one-line reason for each way
 * this can end: refused, no route, timeout, not a netdoctor (an iperf3 server says so), wrong
 * key, key needed, other version, busy with reason.
 *
 * Some callers act on: -EPROTONOSUPPORT (an iperf3 server that will not do: it is busy, refuses us,
 * or we have a key to be proved), -EPROTO (something else), -EKEYREJECTED (wrong key), -ENOKEY (one
 * side is open, the other not), -EOPNOTSUPP (other version), -EBUSY, -ENOENT (no such host).
 */
int peer_connect(const struct peer_target *target, struct peer **out, struct error *err);
/* Says goodbye if it can within 200 ms, closes, frees.  NULL is fine. */
void peer_close(struct peer *p);
/*
 * From now on whatever waits for the peer ends with -EINTR, soon after this is true: it is asked
 * several times a second, in the thread that waits.
 */
void peer_heed(struct peer *p, bool (*cancelled)(void *state), void *state);
/*
 * PEER_NETDOCTOR or PEER_IPERF3.  An iperf3 server has no facts, clock or samples for us, and its
 * part of a run ends with peer_run_stop() and peer_run_exchange() instead of peer_run_finish().
 */
enum peer_dialect peer_dialect(const struct peer *p);
/* Numeric addresses of the session, without port or zone. */
const char *peer_local_address(const struct peer *p);
const char *peer_remote_address(const struct peer *p);
/* What the server allows; it refuses more. */
struct peer_limits { uint64_t max_seconds, max_streams, max_bps; };	/* max_bps 0: no limit */
struct peer_limits peer_limits(const struct peer *p);
/* min_rtt of the session's socket in microseconds, from TCP_INFO. */
struct nd_u64 peer_rtt_us(const struct peer *p);

/* The server's facts for the route back to us: {"facts": ...}; the caller frees *reply. */
int peer_facts(struct peer *p, unsigned int timeout_ms, cJSON **reply, struct error *err);
/* The same in two halves, so that local probes run while the peer's do. */
int peer_facts_begin(struct peer *p, struct error *err);
int peer_facts_finish(struct peer *p, unsigned int timeout_ms, cJSON **reply, struct error *err);
/* Estimates peer clock - our clock (CLOCK_MONOTONIC, ns) from the quickest of several exchanges. */
int peer_clock_offset(struct peer *p, int64_t *offset_ns, struct error *err);

/* When traffic is measured and when it stops, in one host's CLOCK_MONOTONIC. */
struct run_window { uint64_t from_ns, to_ns, stop_ns; };

/*
 * A run, from the client: prepare opens run_connections(spec) data connections (options set,
 * cookies sent, all accepted, non-blocking) into fds[] (-1 for that of latency when the peer is
 * too old for it), start tells the peer its window, poll
 * takes live samples, finish waits for the peer's end of the run (and drops samples that no
 * poll took).  After an error in any of them the run is over; peer_alive() says whether the
 * session still is.  While other sessions measure, prepare waits for its turn.
 */
int peer_run_prepare(struct peer *p, const struct run_spec *spec, int *fds, unsigned int timeout_ms,
		     struct error *err);
int peer_run_start(struct peer *p, const struct run_window *peer_window, struct error *err);
/* Waits up to timeout_ms for one live sample; *sample NULL when there was none. */
int peer_run_poll(struct peer *p, unsigned int timeout_ms, cJSON **sample, struct error *err);
int peer_run_finish(struct peer *p, unsigned int timeout_ms, cJSON **out, struct error *err);
/* Asks the peer to end the run now; its end of the run is still to be fetched by finish. */
int peer_run_cut(struct peer *p, struct error *err);
/* True once the peer's end of the run has come, or its failure: nothing more does. */
bool peer_run_over(const struct peer *p);
/*
 * Between poll and finish: our senders have stopped, our receivers go on until this returns.  A
 * netdoctor has its own clock for that and is told nothing.
 */
int peer_run_stop(struct peer *p, unsigned int timeout_ms, struct error *err);
/*
 * For an iperf3 server, instead of finish: tells it our results and takes its own into *theirs,
 * which the caller frees with peer_results_free() in any case.
 */
int peer_run_exchange(struct peer *p, const struct peer_results *ours, unsigned int timeout_ms,
		      struct peer_results *theirs, struct error *err);
/*
 * The spec as the server agreed to it in prepare: its rate limit may have lowered pacing_bps
 * (UDP: rate_bps), and latency is off when it is too old for that.
 * Both ends load with this one.
 */
const struct run_spec *peer_run_spec(const struct peer *p);
/*
 * The longest time without a word of the server's in the run, or the last one, that went on after
 * it: an outage.  0: none that is worth telling, or an iperf3, which says nothing anyhow.
 */
unsigned int peer_run_silence_ms(const struct peer *p);
/* Gives up a run that was prepared; the session goes on.  Nothing happens when there is none. */
void peer_run_cancel(struct peer *p);
bool peer_alive(const struct peer *p);

/* ---- server (server.c) ---- */
struct peer_client_info {
	char address[INET6_ADDRSTRLEN];
	uint16_t port;
	char local_address[INET6_ADDRSTRLEN];
	bool iperf3;			/* a plain iperf3 client, else a netdoctor */
};

/* All that has come until now, and what a flow has moved: of(end, flow). */
struct peer_received {
	uint64_t bytes;
	uint64_t (*of)(const void *end, size_t flow);
	const void *end;
};

/* For use until run() returns, from any thread. */
struct peer_run_hooks {
	void *state;
	/* Sends a live sample (takes it over); false: the client is gone, stop soon. */
	bool (*progress)(void *state, cJSON *sample);
	/* True when the run must end early. */
	bool (*cancelled)(void *state);
	/* NULL, or true when the client has sent all and wants its data connections closed. */
	bool (*ended)(void *state);
	/*
	 * NULL, or is told what has come until now, as often as ended() is asked, by the thread
	 * that called run(); the run's sockets are open then.
	 */
	void (*received)(void *state, const struct peer_received *r);
	/* NULL, or takes over what went over each flow; before run() returns, if it fails too. */
	void (*results)(void *state, struct peer_results *ours);
	unsigned int heed_ms;		/* how often ended() and cancelled() are asked; 0: enough */
	bool without_facts;		/* nobody will look at more than bytes: watch no devices */
};

/* What the server does for its clients; called from session threads, all but run() at once. */
struct peer_service {
	void *state;
	/* A new facts object for traffic with this client. */
	int (*facts)(void *state, const struct peer_client_info *client, cJSON **out,
		     struct error *err);
	/* Our end of a run; takes over the sockets.  Runs of different sessions never overlap. */
	int (*run)(void *state, const struct peer_client_info *client, const struct run_spec *spec,
		   const int *fds, const struct run_window *window,
		   const struct peer_run_hooks *hooks, cJSON **end, struct error *err);
	/*
	 * NULL, or a test of a plain iperf3 client has ended well: our end as run() told it, and
	 * what the client says of its own.  facts() was called before the test.
	 */
	void (*tested)(void *state, const struct peer_client_info *client,
		       const struct run_spec *spec, const cJSON *end,
		       const struct peer_results *theirs);
	/* NULL, or a client for which any of these was called is gone. */
	void (*gone)(void *state, const struct peer_client_info *client);
};

/*
 * Who may test here with iperf3 (iperf3_users.c): the server's private key, whose file nobody
 * else may read, and lines of NAME,SHA-256 of {NAME}PASSWORD in hexadecimal.
 */
struct peer_user_files {
	const char *private_key_path, *users_path;
	bool pkcs1_padding;	/* as clients before 3.17 encrypt; else OAEP */
};
struct peer_users;
int peer_users_read(const struct peer_user_files *files, struct peer_users **out,
		    struct error *err);		/* 0 or -errno with the reason */
void peer_users_free(struct peer_users *u);

/*
 * Each CLIENT is followed by its GONE, each TEST (a plain iperf3 client's) by its TESTED; whoever
 * was REFUSED at the door has neither.
 */
enum peer_event {
	PEER_EVENT_CLIENT, PEER_EVENT_RUN, PEER_EVENT_GONE,
	PEER_EVENT_TEST, PEER_EVENT_TESTED,
	PEER_EVENT_REFUSED
};

enum { PEER_MAX_NETWORKS = 64 };
struct peer_network { unsigned char address[16]; unsigned int bits; };	/* IPv4 as v4-mapped */
/* "192.0.2.0/24,2001:db8::1": 0, or -errno with the reason. */
int peer_networks_parse(const char *text, struct peer_network out[PEER_MAX_NETWORKS], size_t *n,
			struct error *err);

struct peer_server_options {
	const char *bind_address;	/* NULL: all */
	uint16_t port;			/* 0: any free one, see peer_server_port */
	struct peer_key key;
	bool once;			/* end after the first session that authenticated */
	unsigned int max_sessions;	/* authenticated, at a time; 0: 8 */
	unsigned int max_seconds;	/* of one run, warm-up included; 0: 120 */
	uint64_t max_bps;		/* total of one run; 0: no limit */
	unsigned int max_streams;	/* 0: RUN_MAX_STREAMS */
	bool allow_iperf3;		/* plain iperf3 clients too, who prove nothing */
	struct peer_users *iperf3_users;	/* NULL: anybody; outlives the server */
	unsigned int max_iperf3;	/* tests of theirs at a time; 0: max_sessions, or 64 */
	struct peer_network allowed[PEER_MAX_NETWORKS];	/* where clients may be */
	size_t nallowed;		/* 0: anywhere */
	/*
	 * Asked once stop_fd is readable.  True: runs that flow go to their end first, while new
	 * clients are told; NULL or false: they are cut short.
	 */
	bool (*drains)(void *state);
	/*
	 * Called from server threads, one at a time, with one printable line; NULL: none.  Without
	 * a line for tests that come too often: who proves nothing must not fill a log.
	 */
	void (*on_event)(void *state, enum peer_event event, const char *line);
	void *event_state;		/* of drains(), too */
};

struct peer_server;
/* Listening when it returns 0. */
int peer_server_open(const struct peer_server_options *o, const struct peer_service *service,
		     struct peer_server **out, struct error *err);
uint16_t peer_server_port(const struct peer_server *s);
/*
 * Serves until stop_fd is readable, or once is over.  Sessions are told and given 1 s, unless
 * it drains; then it waits only for the service, which must heed cancelled().  0 or -errno.
 */
int peer_server_run(struct peer_server *s, int stop_fd, struct error *err);
void peer_server_close(struct peer_server *s);

#endif

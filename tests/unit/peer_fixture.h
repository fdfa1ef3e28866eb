/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A netdoctor server in a thread, with a service that the test scripts, and
 * the raw ends for talking to it, or to a client, byte by byte.
 */
#ifndef ND_TESTS_UNIT_PEER_FIXTURE_H
#define ND_TESTS_UNIT_PEER_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "src/peer/client.h"
#include "src/peer/server.h"

/*
 * Longer than a test may take on the busiest machine.  A test that waits for a deadline starts from
 * these and shortens that one, so that no other can be missed first.
 */
extern const struct peer_timing patient;
enum { PATIENCE_MS = 10000 };	/* for what must happen; tests end long before */

enum fake_run {
	FAKE_RUN_BYTES,		/* moves one byte over each stream, then reports */
	FAKE_RUN_UNTIL_STOP,	/* says nothing until the window's stop_ns */
	FAKE_RUN_SENDS,		/* all that it can, until cancelled */
	FAKE_RUN_TAKES,		/* all that comes, until cancelled or ended */
	FAKE_RUN_SAMPLES,	/* a sample every 20 ms until stop_ns */
	FAKE_RUN_FAILS
};

struct fixture {
	struct peer_server *server;
	struct peer_timing timing;
	struct peer_key key;
	uint16_t port;
	int stop_fd;
	pthread_t thread;
	int result;		/* of peer_server_run() */

	/* The service; set before the client comes. */
	atomic_int run_kind;
	atomic_bool facts_fail;
	atomic_bool slow_to_cancel;	/* goes on for a while */
	atomic_uint facts_bytes;	/* about so long */
	atomic_uint taken[4];		/* bytes of the first flows */
	atomic_uint runs, running, most_running, cancelled;
	struct run_spec last_spec;	/* of the last run; read it after the client has its end */

	pthread_mutex_t lock;
	char events[8192];		/* one a line, its kind first: "CLIENT 127.0.0.1: ..." */
};

struct peer_service fake_service(struct fixture *f);
/* Both may be NULL.  The key is a new one unless it is open. */
struct fixture *fixture_start(const struct peer_server_options *o, const struct peer_timing *t);
void fixture_stop(struct fixture *f);	/* asserts that the server ended well */
/* Waits for an event containing text. */
bool fixture_saw(struct fixture *f, const char *text);
/* Waits for the counter to reach n. */
bool fixture_reaches(atomic_uint *counter, unsigned int n);

struct peer_target fixture_target(const struct fixture *f);
/* Asserts that it works; t NULL: patient.  t must outlive the client. */
struct peer *fixture_client(const struct fixture *f, const struct peer_timing *t);

/* Three streams forward, a tenth of a second. */
extern const struct run_spec small_run;
/* The steps of a run; each asserts that it works.  start: until so many ms from now. */
void fixture_prepare_run(struct peer *p, const struct run_spec *spec, int *fds);
void fixture_start_run(struct peer *p, unsigned int ms);
void fixture_finish_run(struct peer *p);
void fixture_close_run(const int *fds, size_t n);
/* All of them, with the bytes that FAKE_RUN_BYTES wants. */
void fixture_run(struct peer *p, const struct run_spec *spec);

void sleep_ms(unsigned int ms);
unsigned int ms_since(uint64_t start_ns);
/* Of a directory such as /proc/self/fd, "." and ".." too. */
size_t count_entries(const char *path);
/* Asserts that there are no more than that again; asks for a while. */
void assert_back_at(const char *path, size_t n);

/* ---- raw ends ---- */

int raw_connect(uint16_t port);			/* blocking, to 127.0.0.1 */
int raw_listen(uint16_t *port);			/* on 127.0.0.1 */
/* Up to len bytes until EOF or timeout; how many. */
size_t raw_read(int fd, void *buf, size_t len, unsigned int timeout_ms);
/* The other side has hung up; skips bytes. */
bool raw_closed(int fd, unsigned int timeout_ms);
#define RAW_COOKIE "abcdefghijklmnopqrstuvwxyz2345672345"
/* Cookie and parameters with this text, as far as the server goes along; its last state byte. */
unsigned char raw_greet(int fd, const char *parameters);
/* A TLS handshake on a connected socket; asserts that it works. */
struct tls *raw_secure(int fd, struct tls_context *ctx);
/* Greeting and TLS as a client with this key: a channel to say anything over. */
struct raw_session { struct tls_context *ctx; struct channel channel; };
void raw_session_open(struct raw_session *r, uint16_t port, const struct peer_key *key);
void raw_session_close(struct raw_session *r);
void raw_send(struct channel *ch, const char *json);	/* asserts */
/* Asserts the type, skips signs of life. */
cJSON *raw_receive(struct channel *ch, const char *type);

/* A server of one connection that a function plays; joined by fake_server_stop(). */
struct fake_server {
	uint16_t port;
	int listen_fd;
	struct peer_key key;
	void (*play)(struct fake_server *f, int fd);
	pthread_t thread;
};
void fake_server_start(struct fake_server *f, void (*play)(struct fake_server *f, int fd));
void fake_server_stop(struct fake_server *f);
/* Cookie, 9, parameters, then this state byte. */
void fake_server_greet(int fd, unsigned char state);

/* The server's side of a session that it means to spoil. */
struct bad_session { struct tls_context *ctx; struct tls *tls; };
bool bad_open(struct fake_server *f, int fd, struct bad_session *b);
void bad_close(struct bad_session *b);
/* A message with this length in front; 0: its own, if it has any. */
void bad_frame(struct bad_session *b, uint32_t announced, const char *text);
void bad_say(struct bad_session *b, const char *text);
#define GOOD_HELLO "{\"type\":\"hello\",\"version\":1,\"tool\":\"x\",\"limits\":" \
		   "{\"max_seconds\":9,\"max_streams\":9,\"max_bps\":0}}"
#define TOO_LONG (PEER_MAX_MESSAGE + 1)
/* A patient client of a fake server. */
int try_connect(const struct fake_server *f, unsigned int timeout_ms, struct peer **p,
		struct error *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ping: round trips of small requests on a TCP connection of their own.
 *
 * One end asks on a fixed beat; the other echoes.  Each has a thread for nothing else.  Before
 * traffic it asks whether earlier ones were answered or not.  Under load one request is on its way
 * at a time, since the kernel keeps small packets of a connection back while others of it wait in
 * the own qdisc (autocorking, small queues), which would count the queue up to twice; a beat on
 * which one is still open counts what that one takes once more, so that a slow answer does not
 * hide what it held up.  The
 * kernel says when a message arrived, so the time that it waited for either thread is
 * taken off: what is left is the network and both stacks.
 */
#ifndef ND_LOAD_PING_H
#define ND_LOAD_PING_H

#include "src/core/error.h"
#include "src/core/histogram.h"

enum {
	PING_IDLE_BEAT_US = 2000,	/* before traffic: there is little time */
	PING_LOADED_BEAT_US = 10000
};

enum ping_phase { PING_IDLE, PING_LOADED, PING_PHASES };

struct ping_config {
	int fd;			/* connected, non-blocking; taken over, also on failure */
	bool echo;		/* answer instead of asking: all below is ignored */
	uint64_t tos;		/* as the flows have it */
	/* When requests of a phase are sent, by CLOCK_MONOTONIC; from == to: never. */
	struct { uint64_t from_ns, to_ns; } send[PING_PHASES];
	uint64_t idle_until_ns;	/* answers to idle requests count until then: traffic begins */
};

struct ping_result {
	struct histogram times[PING_PHASES];
	uint64_t unanswered[PING_PHASES];
};

struct ping;

/* 0 or -errno with the reason. */
int ping_start(const struct ping_config *c, struct ping **out, struct error *err);
/* No more requests; answers still count.  Any thread. */
void ping_quiet(struct ping *p);
/* Ends the thread, closes the connection, frees p.  out may be NULL; so may p: nothing, then. */
void ping_stop(struct ping *p, struct ping_result *out);

/* ---- pure, for tests ---- */

enum { PING_MESSAGE_BYTES = 16, PING_IN_FLIGHT = 1024 };

struct ping_message {
	uint64_t number;	/* from 0 */
	uint64_t held_ns;	/* an answer's: by the thread that echoed */
};
void ping_message_put(unsigned char to[PING_MESSAGE_BYTES], const struct ping_message *m);
void ping_message_get(const unsigned char from[PING_MESSAGE_BYTES], struct ping_message *m);

/* Requests that were sent and not answered yet.  TCP keeps order: answers come as asked. */
struct ping_ledger {
	uint64_t sent, answered;
	struct {
		uint64_t sent_ns;
		uint64_t beats;		/* that its time stands for */
		enum ping_phase phase;
	} open[PING_IN_FLIGHT];
	uint64_t idle_until_ns;
	struct ping_result result;
};
/* On a beat.  False: send none, too many are open, or one under load, which stands for this too. */
bool ping_ledger_ask(struct ping_ledger *l, enum ping_phase phase, uint64_t now_ns);
/*
 * An answer, read at now_ns after having waited queued_ns to be.  0, or -EBADMSG: it answers
 * nothing that was asked.  What was held longer than the whole took is not believed.
 */
int ping_ledger_answer(struct ping_ledger *l, const struct ping_message *m, uint64_t now_ns,
		       uint64_t queued_ns);
/* What is still open will not be answered. */
void ping_ledger_close(struct ping_ledger *l);

#endif

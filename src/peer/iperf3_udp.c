/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The streams of an iperf3 client's UDP test.
 *
 * What opens one is four bytes that say nothing of whose it is.  So of the clients of one host only
 * one at a time is told to open its streams, and any that come from there are its.  It loses its
 * place when they do not come and others wait.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/eventfd.h>

#include "src/peer/iperf3_session.h"
#include "src/peer/iperf3_wire.h"
#include "src/peer/server.h"
#include "src/peer/wire.h"

/* An iperf3 gives up after 30 s. */
enum {
	TURN_MS = 25000,
	PATIENCE_MS = 400, MAX_PATIENCE_MS = 900,	/* with who has sent no stream yet */
	SOME_PATIENCE_MS = 2000		/* with who has sent some: it is no stranger */
};

/* ---- the door's questions ---- */

/* As many as it asked for, and when it has those, more (iperf3_extra.c). */
static bool has_room(const struct iperf3_session *is)
{
	return !is->displaced && (is->complete ? is->nextras < IPERF3_MAX_EXTRAS : is->collecting);
}

static enum data_verdict look(void *state, const char *greeting)
{
	struct iperf3_session *is = state;
	enum data_verdict v = DATA_UNKNOWN;
	char unused[IPERF3_HELLO_BYTES];

	if (!iperf3_hello_answer(greeting, unused))
		return v;
	pthread_mutex_lock(&is->server->lock);
	if (has_room(is))
		v = DATA_TAKEN;
	pthread_mutex_unlock(&is->server->lock);
	return v;
}

static void add_stream(struct iperf3_session *is, int fd)
{
	size_t n = run_flows(&is->parameters.spec);

	if (is->complete) {
		is->extras[is->nextras] = (struct arrival){ .fd = fd, .serial = n + is->nextras };
		is->nextras++;
		return;
	}
	is->arrivals[is->narrived] = (struct arrival){ .fd = fd, .serial = is->narrived };
	is->narrived++;
	is->idle_since_ns = monotonic_ns();
	is->complete = is->narrived == n;
	if (is->complete)
		eventfd_write(is->wake_fd, 1);
}

static enum data_verdict take(void *state, const char *greeting, int fd)
{
	struct iperf3_session *is = state;
	enum data_verdict v = look(is, greeting);

	pthread_mutex_lock(&is->server->lock);
	/* The door asks one at a time, and only the session's own thread ends the collecting. */
	if (v == DATA_TAKEN && has_room(is))
		add_stream(is, fd);
	else
		v = DATA_UNKNOWN;
	pthread_mutex_unlock(&is->server->lock);
	return v;
}

static void answer(const char *greeting, char *out)
{
	iperf3_hello_answer(greeting, out);
}

struct udp_guest iperf3_udp_guest(struct iperf3_session *is)
{
	return (struct udp_guest){
		.len = IPERF3_HELLO_BYTES, .look = look, .take = take, .answer = answer,
		.state = is
	};
}

/* ---- whose turn ---- */

static bool same_host(const struct iperf3_session *a, const struct iperf3_session *b)
{
	return strcmp(a->info.address, b->info.address) == 0;
}

/* One that sends a stream when it is told to does so within a round trip. */
static uint64_t patience_with(const struct iperf3_session *is)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	uint64_t ms = PATIENCE_MS;

	if (getsockopt(is->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0)
		ms += (uint64_t)info.tcpi_rtt / 1000 * 2;
	return (ms < MAX_PATIENCE_MS ? ms : MAX_PATIENCE_MS) * 1000000U;
}

static bool waits(const struct iperf3_session *o, const struct iperf3_session *of)
{
	return o->udp_ticket && !o->displaced && same_host(o, of);
}

static struct iperf3_session *who_has_it(const struct iperf3_session *of)
{
	struct iperf3_session *o = of->server->iperf3_sessions;

	while (o && !(o->udp_turn && same_host(o, of)))
		o = o->next;
	return o;
}

/*
 * The newest and who has waited longest, in turns: behind some that stay silent the newest would
 * wait long, before some that come again and again the oldest would for ever.
 */
static const struct iperf3_session *who_is_next(const struct iperf3_session *of)
{
	bool newest = of->server->udp_turns % 2 == 0;
	const struct iperf3_session *next = NULL;

	for (const struct iperf3_session *o = of->server->iperf3_sessions; o; o = o->next)
		if (waits(o, of) && (!next || (o->udp_ticket > next->udp_ticket) == newest))
			next = o;
	return next;
}

/* When a client that keeps others waiting has done so for too long. */
static uint64_t ends_at(const struct iperf3_session *o)
{
	uint64_t some = SOME_PATIENCE_MS * UINT64_C(1000000);

	return o->idle_since_ns + (o->narrived ? some : o->udp_patience_ns);
}

/* Takes the turn if it has come; else *until: when to look again, unless woken. */
static bool turn_taken(struct iperf3_session *is, uint64_t *until)
{
	struct peer_server *s = is->server;
	uint64_t now = monotonic_ns();

	pthread_mutex_lock(&s->lock);
	if (is->udp_ticket == 0)
		is->udp_ticket = ++s->udp_tickets;
	struct iperf3_session *o = who_has_it(is);
	bool keeps_waiting = o && !o->displaced && !o->complete;
	if (keeps_waiting && ends_at(o) <= now) {
		iperf3_displace(s, o);
	} else if (keeps_waiting) {
		*until = ends_at(o);
	} else if (!o && who_is_next(is) == is) {
		is->udp_turn = true;
		is->idle_since_ns = now;
		s->udp_turns++;
	}
	bool taken = is->udp_turn;
	pthread_mutex_unlock(&s->lock);
	return taken;
}

static void leave_turn(struct iperf3_session *is)
{
	struct peer_server *s = is->server;

	pthread_mutex_lock(&s->lock);
	is->udp_ticket = 0;
	is->udp_turn = false;
	for (struct iperf3_session *o = s->iperf3_sessions; o; o = o->next)
		if (o->udp_ticket && same_host(o, is))
			eventfd_write(o->wake_fd, 1);
	pthread_mutex_unlock(&s->lock);
}

int iperf3_udp_open(struct iperf3_session *is, struct error *why)
{
	uint64_t deadline = deadline_in_ms(TURN_MS);
	uint64_t until = deadline;
	unsigned char state;
	int rc = 0;

	is->udp_patience_ns = patience_with(is);
	while (rc == 0 && !turn_taken(is, &until)) {
		rc = iperf3_listen(is, deadline_earlier(until, deadline), &state);
		if (rc == 0)
			rc = -ECONNABORTED;
		if (rc == -EAGAIN || (rc == -ETIMEDOUT && monotonic_ns() < deadline))
			rc = 0;
		until = deadline;
	}
	if (rc == -ETIMEDOUT)
		error_set(why, ETIMEDOUT, "other clients of its host took too long");
	if (rc == 0) {
		is->guest = iperf3_udp_guest(is);
		rc = udp_door_enter(is->server->door, &is->guest, is->fd, why);
		is->at_door = rc == 0;
	}
	if (rc < 0)
		leave_turn(is);
	return rc;
}

void iperf3_udp_close(struct iperf3_session *is)
{
	if (is->at_door)
		udp_door_leave(is->server->door, &is->guest);
	is->at_door = false;
	iperf3_extra_close(is);
	if (is->udp_ticket)
		leave_turn(is);
}

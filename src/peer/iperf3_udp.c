/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The streams of an iperf3 client's UDP test.
 *
 * What opens one is four bytes that say nothing of whose it is.  So of the clients of one host only
 * one at a time is told to open its streams, and any that come from there are its.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "src/peer/iperf3_session.h"
#include "src/peer/iperf3_wire.h"
#include "src/peer/server.h"
#include "src/peer/wire.h"

/* An iperf3 gives up after 30 s. */
enum { TURN_MS = 25000 };

/* ---- the door's questions ---- */

static enum data_verdict look(void *state, const char *greeting)
{
	struct iperf3_session *is = state;
	enum data_verdict v = DATA_UNKNOWN;
	char unused[IPERF3_HELLO_BYTES];

	if (!iperf3_hello_answer(greeting, unused))
		return v;
	pthread_mutex_lock(&is->server->lock);
	if (is->collecting && !is->displaced && is->narrived < run_flows(&is->parameters.spec))
		v = DATA_TAKEN;
	pthread_mutex_unlock(&is->server->lock);
	return v;
}

static enum data_verdict take(void *state, const char *greeting, int fd)
{
	struct iperf3_session *is = state;
	enum data_verdict v = look(is, greeting);
	size_t n = run_flows(&is->parameters.spec);

	pthread_mutex_lock(&is->server->lock);
	/* The door asks one at a time, and only the session's own thread ends the collecting. */
	if (v == DATA_TAKEN && is->collecting && !is->displaced && is->narrived < n) {
		is->arrivals[is->narrived] = (struct arrival){ .fd = fd, .serial = is->narrived };
		is->narrived++;
		is->idle_since_ns = timing_now_ns();
		if (is->narrived == n)
			eventfd_write(is->wake_fd, 1);
	} else {
		v = DATA_UNKNOWN;
	}
	pthread_mutex_unlock(&is->server->lock);
	return v;
}

static void answer(const char *greeting, char *out)
{
	iperf3_hello_answer(greeting, out);
}

/* ---- whose turn ---- */

static bool same_host(const struct iperf3_session *a, const struct iperf3_session *b)
{
	return strcmp(a->info.address, b->info.address) == 0;
}

/* Takes the turn if it has come: no client of the same host has it, or has waited longer. */
static bool turn_taken(struct iperf3_session *is)
{
	struct peer_server *s = is->server;
	bool free = true;

	pthread_mutex_lock(&s->lock);
	if (is->udp_ticket == 0)
		is->udp_ticket = ++s->udp_tickets;
	for (const struct iperf3_session *o = s->iperf3_sessions; o; o = o->next)
		if (o != is && o->udp_ticket && o->udp_ticket < is->udp_ticket && same_host(o, is))
			free = false;
	pthread_mutex_unlock(&s->lock);
	return free;
}

static void leave_turn(struct iperf3_session *is)
{
	struct peer_server *s = is->server;

	pthread_mutex_lock(&s->lock);
	is->udp_ticket = 0;
	for (struct iperf3_session *o = s->iperf3_sessions; o; o = o->next)
		if (o->udp_ticket && same_host(o, is))
			eventfd_write(o->wake_fd, 1);
	pthread_mutex_unlock(&s->lock);
}

int iperf3_udp_open(struct iperf3_session *is, struct error *why)
{
	uint64_t deadline = deadline_in_ms(TURN_MS);
	unsigned char state;
	int rc = 0;

	while (rc == 0 && !turn_taken(is)) {
		rc = iperf3_listen(is, deadline, &state);
		if (rc == 0)
			rc = -ECONNABORTED;
		if (rc == -EAGAIN)
			rc = 0;
	}
	if (rc == -ETIMEDOUT)
		error_set(why, ETIMEDOUT, "other clients of its host took too long");
	if (rc == 0) {
		is->guest = (struct udp_guest){
			.len = IPERF3_HELLO_BYTES, .look = look, .take = take, .answer = answer,
			.state = is
		};
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
	leave_turn(is);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More UDP streams than an iperf3 client asked for.
 *
 * Any program of its host may open some, as does a client that was sent away a moment ago; the
 * four bytes look the same.  Its own may be among those that come when there are enough, and it
 * waits 30 s for an answer before it looks at its connection again.  So all get one until data
 * flows.  Once it sends it has opened all of its streams: one that sends then takes the place of
 * one that does not, by connecting the flow's socket to where that one is.  Of a client that we
 * send to nothing tells its streams from others but that a program has gone, and its host says so;
 * if that does not do, it is told to try again.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/peer/iperf3_session.h"
#include "src/peer/server.h"
#include "src/peer/socket.h"

enum {
	MARGIN_MS = 5, MAX_PAUSE_MS = 200,	/* beyond round trips; what a pause takes at most */
	REPLY_MS = 30,		/* for a host to say that a program has gone */
	HEARD_MS = 20,		/* after our start, of who is not to send */
	ALL_SEND_MS = 100	/* from its first datagram to the first of each stream */
};

static size_t count_extras(struct iperf3_session *is)
{
	size_t n;

	pthread_mutex_lock(&is->server->lock);
	n = is->nextras;
	pthread_mutex_unlock(&is->server->lock);
	return n;
}

/* Then their number is this thread's own. */
static void leave_door(struct iperf3_session *is)
{
	if (is->extra_at_door)
		udp_door_leave(is->server->door, &is->extra_guest);
	is->extra_at_door = false;
}

void iperf3_extra_close(struct iperf3_session *is)
{
	leave_door(is);
	pthread_mutex_lock(&is->server->lock);
	for (size_t i = 0; i < is->nextras; i++)
		close(is->extras[i].fd);
	is->nextras = 0;
	pthread_mutex_unlock(&is->server->lock);
}

/* ---- before a test that we send in ---- */

static unsigned int round_trips_ms(const struct iperf3_session *is, unsigned int n)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	unsigned int ms = MARGIN_MS;

	if (getsockopt(is->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0)
		ms += info.tcpi_rtt / 1000 * n;
	return ms < MAX_PAUSE_MS ? ms : MAX_PAUSE_MS;
}

static int pause_for(struct iperf3_session *is, unsigned int ms)
{
	uint64_t deadline = deadline_in_ms(ms);
	unsigned char state;
	int rc;

	do
		rc = iperf3_listen(is, deadline, &state);
	while (rc == -EAGAIN);
	return rc == -ETIMEDOUT ? 0 : rc == 0 ? -ECONNABORTED : rc;
}

/* A datagram without bytes is no data to anybody, and refused where nobody is any more. */
static void knock(int fd)
{
	(void)!send(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool is_gone(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == ECONNREFUSED;
}

static bool find_own(struct iperf3_session *is)
{
	size_t n = run_flows(&is->parameters.spec), total = n + is->nextras, left = 0, gone = 0;
	struct arrival all[RUN_MAX_STREAMS + IPERF3_MAX_EXTRAS], *dead[IPERF3_MAX_EXTRAS];

	if (n > RUN_MAX_STREAMS)
		return false;
	for (size_t i = 0; i < total; i++)
		all[i] = i < n ? is->arrivals[i] : is->extras[i - n];
	for (size_t i = 0; i < total; i++) {
		if (!is_gone(all[i].fd))
			left++;
		else if (gone < is->nextras)
			dead[gone++] = &all[i];
	}
	if (left != n)
		return false;
	for (size_t i = 0, own = 0, extra = 0; i < total; i++) {
		if (extra < gone && dead[extra] == &all[i])
			is->extras[extra++] = all[i];
		else
			is->arrivals[own++] = all[i];
	}
	return true;
}

static int sort_out(struct iperf3_session *is)
{
	int rc;

	leave_door(is);
	for (size_t i = 0; i < is->narrived; i++)
		knock(is->arrivals[i].fd);
	for (size_t i = 0; i < is->nextras; i++)
		knock(is->extras[i].fd);
	rc = pause_for(is, round_trips_ms(is, 2) + REPLY_MS);
	if (rc < 0 || find_own(is))
		return rc;
	return iperf3_refuse(is, IPERF3_ECREATESTREAM, "more streams come from its host than it "
			     "asked for, and nothing tells which are its own: try again");
}

static bool we_send(const struct iperf3_session *is)
{
	return run_server_sends(&is->parameters.spec);
}

int iperf3_extra_begin(struct iperf3_session *is)
{
	struct error why = { "" };
	unsigned int ms = we_send(is) ? round_trips_ms(is, 2) + HEARD_MS :
					(unsigned int)(is->udp_patience_ns / 1000000);
	int rc = 0;

	is->extra_guest = iperf3_udp_guest(is);
	/* The flows' sockets become the service's; before that one is gone: the door stays open. */
	is->extra_at_door = udp_door_enter(is->server->door, &is->extra_guest, is->fd, &why) == 0;
	udp_door_leave(is->server->door, &is->guest);
	is->at_door = false;
	if (we_send(is))
		rc = pause_for(is, round_trips_ms(is, 2));
	if (rc == 0 && we_send(is) && count_extras(is))
		rc = sort_out(is);
	is->extras_until_ns = deadline_in_ms(ms);
	return rc;
}

/* ---- while data flows ---- */

/* A datagram of its size waits there. */
static bool has_data(const struct iperf3_session *is, int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT) ==
	       (ssize_t)is->parameters.spec.block_bytes;
}

/* The flow's socket hears whom the other one heard. */
static bool turn_to(struct iperf3_session *is, size_t flow, const struct arrival *extra)
{
	size_t n = run_flows(&is->parameters.spec);
	struct socket_address there;

	if (!is->serials) {
		is->serials = malloc(n * sizeof(*is->serials));
		for (size_t i = 0; is->serials && i < n; i++)
			is->serials[i] = i;
	}
	if (!is->serials || socket_remote_address(extra->fd, &there) < 0 ||
	    connect(is->fds[flow], (const struct sockaddr *)&there.ss, there.len) < 0)
		return false;
	is->serials[flow] = extra->serial;
	return true;
}

struct streams { size_t silent, sending; };

static struct streams count_streams(const struct iperf3_session *is, size_t nextras,
				    const struct peer_received *r)
{
	struct streams s = { 0 };

	for (size_t i = 0; i < run_flows(&is->parameters.spec); i++)
		s.silent += r->of(r->end, i) == 0;
	for (size_t i = 0; i < nextras; i++)
		s.sending += has_data(is, is->extras[i].fd);
	return s;
}

static void replace_silent(struct iperf3_session *is, const struct peer_received *r)
{
	size_t flow = 0, n = run_flows(&is->parameters.spec);

	for (size_t i = 0; i < is->nextras; i++) {
		if (!has_data(is, is->extras[i].fd))
			continue;
		while (flow < n && r->of(r->end, flow))
			flow++;
		if (flow == n || !turn_to(is, flow, &is->extras[i]))
			return;
		flow++;
	}
}

void iperf3_extra_look(struct iperf3_session *is, const struct peer_received *r)
{
	uint64_t now = monotonic_ns();
	struct streams s = { 0 };

	if (!is->extra_at_door)
		return;
	if (!we_send(is)) {
		s = count_streams(is, count_extras(is), r);
		if (!is->first_data_ns && (r->bytes || s.sending)) {
			is->first_data_ns = now;
			is->extras_until_ns = now + ALL_SEND_MS * UINT64_C(1000000);
		}
	}
	/* It has begun, and so many of its own send. */
	if (now < is->extras_until_ns && !(is->first_data_ns && s.sending >= s.silent))
		return;
	leave_door(is);
	if (s.sending)
		replace_silent(is, r);
	iperf3_udp_close(is);
}

/* Where a flow stands in the client's order. */
struct ranked { uint64_t serial; size_t flow; };

static int by_serial(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

void iperf3_extra_order(const struct iperf3_session *is, struct peer_results *ours)
{
	size_t n = ours->nflows;
	struct ranked *order = is->serials ? malloc(n * sizeof(*order)) : NULL;
	struct peer_flow_result *flows = order ? malloc(n * sizeof(*flows)) : NULL;

	for (size_t i = 0; flows && i < n; i++)
		order[i] = (struct ranked){ .serial = is->serials[i], .flow = i };
	if (flows)
		qsort(order, n, sizeof(*order), by_serial);
	for (size_t i = 0; flows && i < n; i++)
		flows[i] = ours->flows[order[i].flow];
	for (size_t i = 0; flows && i < n; i++)
		ours->flows[i] = flows[i];
	free(flows);
	free(order);
}

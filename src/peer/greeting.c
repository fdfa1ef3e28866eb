/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A connection that has not proved anything yet, as a state machine that never
 * waits: cookie, length, parameters, TLS.  One deadline covers it all.
 */
#include "src/peer/server.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/peer/network.h"
#include "src/peer/socket.h"
#include "src/peer/wire.h"

enum greeting_state { STATE_COOKIE, STATE_LENGTH, STATE_PARAMETERS, STATE_TLS };

struct greeting {
	int fd;
	enum greeting_state state;
	uint64_t serial, deadline_ns;
	struct peer_client_info info;
	short events;
	char cookie[PEER_COOKIE_BYTES];
	unsigned char length[4];
	char *parameters;	/* allocated once its length has been checked */
	size_t got, want;	/* bytes of the current state */
	struct tls *tls;
};

/* What a state's function says; GREETING_MORE and GREETING_OVER mean what they mean outside. */
enum { STEP_AGAIN = GREETING_SECURE + 1 };

struct greeting *greeting_new(int fd, const struct peer_client_info *info, uint64_t serial,
			      uint64_t deadline_ns)
{
	struct greeting *g = calloc(1, sizeof(*g));

	if (!g) {
		close(fd);
		return NULL;
	}
	g->fd = fd;
	g->info = *info;
	g->serial = serial;
	g->deadline_ns = deadline_ns;
	g->events = POLLIN;
	g->want = PEER_COOKIE_BYTES;
	return g;
}

void greeting_free(struct greeting *g)
{
	if (!g)
		return;
	tls_free(g->tls);
	free(g->parameters);
	if (g->fd >= 0)
		close(g->fd);
	free(g);
}

int greeting_fd(const struct greeting *g)
{
	return g->fd;
}

short greeting_events(const struct greeting *g)
{
	return g->events;
}

uint64_t greeting_deadline(const struct greeting *g)
{
	return g->deadline_ns;
}

const struct peer_client_info *greeting_info(const struct greeting *g)
{
	return &g->info;
}

void greeting_release(struct greeting *g, int *fd, struct tls **tls)
{
	*fd = g->fd;
	*tls = g->tls;
	g->fd = -1;
	g->tls = NULL;
}

static int refuse(struct peer_server *s, const struct greeting *g, const char *why)
{
	server_event(s, PEER_EVENT_REFUSED, "%s: refused: %s", g->info.address, why);
	return GREETING_OVER;
}

void greeting_expired(struct peer_server *s, const struct greeting *g, const char *why)
{
	refuse(s, g, why);
}

/* The send buffer of a new socket takes these few bytes, or the client is up to no good. */
static bool say(const struct greeting *g, const void *bytes, size_t len)
{
	return send(g->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static bool say_state(const struct greeting *g, unsigned char state)
{
	return say(g, &state, 1);
}

/* Fills buf up to g->want bytes: STEP_AGAIN when it is full. */
static int fill(struct peer_server *s, struct greeting *g, void *buf)
{
	while (g->got < g->want) {
		ssize_t n = recv(g->fd, (char *)buf + g->got, g->want - g->got, MSG_DONTWAIT);

		if (n > 0) {
			g->got += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EAGAIN)
			return GREETING_MORE;
		if (n < 0 && errno == EINTR)
			continue;
		/* Health checks and scanners connect and hang up: not worth a line. */
		if (g->state == STATE_COOKIE && g->got == 0)
			return GREETING_OVER;
		return refuse(s, g, "hung up during the greeting");
	}
	return STEP_AGAIN;
}

static void enter(struct greeting *g, enum greeting_state state, size_t want)
{
	g->state = state;
	g->got = 0;
	g->want = want;
}

static bool is_allowed(const struct peer_server *s, const struct greeting *g)
{
	return networks_have(s->options.allowed, s->options.nallowed, g->info.address);
}

/* In the client's own words, which only its parameters tell. */
static int refuse_place(struct peer_server *s, struct greeting *g, bool netdoctor)
{
	if (netdoctor)
		say_state(g, PEER_NOT_ALLOWED);
	else
		iperf3_send_error(g->fd, WIRE_IPERF3_AUTH_FAILED);
	return refuse(s, g, "not among the addresses of --allow");
}

/* Is it a data connection of a run, or of an iperf3 client's test? */
static enum data_verdict offer(struct peer_server *s, const struct greeting *g)
{
	enum data_verdict v = data_offer(&s->data, RUN_TCP, g->cookie, g->fd);

	return v == DATA_UNKNOWN ? iperf3_offer(s, g->cookie, g->fd, g->serial) : v;
}

static int step_cookie(struct peer_server *s, struct greeting *g)
{
	int rc = fill(s, g, g->cookie);

	/* Early, so that an HTTP client or a scanner is gone at its first byte. */
	if (!wire_cookie_begins(g->cookie, g->got)) {
		say_state(g, WIRE_ACCESS_DENIED);
		return refuse(s, g, "not a netdoctor");
	}
	if (rc != STEP_AGAIN)
		return rc;
	switch (is_allowed(s, g) ? offer(s, g) : DATA_UNKNOWN) {
	case DATA_TAKEN:
		g->fd = -1;
		return GREETING_OVER;
	case DATA_REUSED:
		say_state(g, WIRE_ACCESS_DENIED);
		return refuse(s, g, "a data connection's cookie came a second time");
	case DATA_UNKNOWN:
		break;
	}
	socket_set_control_options(g->fd);
	if (!say_state(g, WIRE_PARAM_EXCHANGE))
		return GREETING_OVER;
	enter(g, STATE_LENGTH, sizeof(g->length));
	return STEP_AGAIN;
}

static int step_length(struct peer_server *s, struct greeting *g)
{
	int rc = fill(s, g, g->length);
	uint32_t len;

	if (rc != STEP_AGAIN)
		return rc;
	len = wire_get_be32(g->length);
	if (len < 2 || len > PEER_MAX_PARAMETERS)
		return refuse(s, g, "announced parameters of an impossible length");
	g->parameters = malloc(len);
	if (!g->parameters)
		return refuse(s, g, "out of memory");
	enter(g, STATE_PARAMETERS, len);
	return STEP_AGAIN;
}

static int refuse_iperf3(struct peer_server *s, struct greeting *g,
			 const struct wire_parameters *parameters)
{
	unsigned char answer[9] = { WIRE_SERVER_ERROR };

	wire_put_be32(answer + 1, WIRE_IPERF3_AUTH_FAILED);
	wire_put_be32(answer + 5, 0);
	say(g, answer, sizeof(answer));
	server_event(s, PEER_EVENT_REFUSED, "%s: refused: a plain iperf3 client%s%s: run "
		     "'netdoctor' there, or 'serve --allow-iperf3' here", g->info.address,
		     *parameters->client_version ? " " : "", parameters->client_version);
	return GREETING_OVER;
}

/* Its test goes on in a thread of its own. */
static int accept_iperf3(struct peer_server *s, struct greeting *g)
{
	struct iperf3_parameters parameters;
	int code = iperf3_parse_parameters(g->parameters, g->want, &parameters);

	if (code) {
		iperf3_send_error(g->fd, code);
		return refuse(s, g, "an iperf3 client with parameters that this server does not "
			      "take");
	}
	iperf3_session_start(s, g->fd, &g->info, g->cookie, &parameters);
	g->fd = -1;
	return GREETING_OVER;
}

static int step_parameters(struct peer_server *s, struct greeting *g)
{
	struct wire_parameters parameters;
	int rc = fill(s, g, g->parameters);

	if (rc != STEP_AGAIN)
		return rc;
	rc = wire_parse_parameters(g->parameters, g->want, &parameters);
	if (rc == 0 && !is_allowed(s, g))
		return refuse_place(s, g, parameters.netdoctor);
	if (rc == 0 && !parameters.netdoctor && s->options.allow_iperf3)
		return accept_iperf3(s, g);
	free(g->parameters);
	g->parameters = NULL;
	if (rc < 0)
		return refuse(s, g, "sent parameters that make no sense");
	if (!parameters.netdoctor)
		return refuse_iperf3(s, g, &parameters);
	/*
	 * Another version is told so inside the session, where it can believe it; opening and
	 * hello stay the same in all versions for that.
	 */
	if (tls_new(s->tls, g->fd, &g->tls) < 0)
		return refuse(s, g, "out of memory");
	if (!say_state(g, PEER_SWITCH))
		return GREETING_OVER;
	enter(g, STATE_TLS, 0);
	return STEP_AGAIN;
}

static int step_tls(struct peer_server *s, struct greeting *g)
{
	int rc = tls_handshake(g->tls, &g->events);

	switch (rc) {
	case 0:
		return GREETING_SECURE;
	case -EAGAIN:
		return GREETING_MORE;
	case -EKEYREJECTED:
		return refuse(s, g, "wrong key: it must use the key that serve printed");
	case -ENOKEY:
		return refuse(s, g, s->options.key.open ?
			      "it has a key, but this server is open: it must use '--key open'" :
			      "it has no key: it must use the key that serve printed");
	case -ECONNRESET:
		return refuse(s, g, "hung up during the TLS handshake");
	default:
		return refuse(s, g, "the TLS handshake failed");
	}
}

enum greeting_result greeting_step(struct peer_server *s, struct greeting *g)
{
	static int (*const steps[])(struct peer_server *, struct greeting *) = {
		[STATE_COOKIE] = step_cookie,
		[STATE_LENGTH] = step_length,
		[STATE_PARAMETERS] = step_parameters,
		[STATE_TLS] = step_tls
	};
	int rc;

	do
		rc = steps[g->state](s, g);
	while (rc == STEP_AGAIN);
	return (enum greeting_result)rc;
}

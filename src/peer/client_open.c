/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The client's opening: name, connection, greeting, TLS, hello. */
#include "src/peer/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/core/text.h"
#include "src/peer/dial.h"
#include "src/peer/iperf3_wire.h"
#include "src/peer/protocol.h"
#include "src/peer/wire.h"

static void set_label(struct peer *p, const struct peer_target *target)
{
	bool v6 = strchr(target->host, ':') != NULL;

	snprintf(p->label, sizeof(p->label), v6 ? "[%.250s]:%u" : "%.250s:%u", target->host,
		 target->port);
	text_make_printable(p->label);
}

/* ---- connection ---- */

/* What a firewall, or nobody at the port, looks like from here. */
static bool is_unreachable(int rc)
{
	return rc == -ECONNREFUSED || rc == -ETIMEDOUT || rc == -EHOSTUNREACH ||
	       rc == -ENETUNREACH || rc == -EACCES || rc == -EPERM;
}

/* Every link has such addresses: without its name the kernel knows no way. */
static bool lacks_its_link(const char *host)
{
	struct in6_addr a;

	return inet_pton(AF_INET6, host, &a) == 1 && IN6_IS_ADDR_LINKLOCAL(&a);
}

static int connect_error(const struct peer *p, const struct peer_target *target, int rc,
			 unsigned int timeout_ms, struct error *err)
{
	char ours[INET6_ADDRSTRLEN];

	if (rc == -EADDRNOTAVAIL && p->bound) {
		socket_format_address(&p->bind, ours);
		return error_set(err, rc, "%s: cannot connect from %s: not an address of this host",
				 p->label, ours);
	}
	if (rc == -EINVAL && lacks_its_link(target->host))
		return error_set(err, rc, "%s: a link-local address wants the name of our link: "
				 "'%s%%IFACE'", p->label, target->host);
	if (target->unreachable && is_unreachable(rc))
		return error_set(err, rc, "%s: %s (%s)", p->label, target->unreachable,
				 strerror(-rc));
	switch (rc) {
	case -ECONNREFUSED:
		return error_set(err, rc, "%s: connection refused: start 'netdoctor serve' there",
				 p->label);
	case -ETIMEDOUT:
		return error_set(err, rc, "%s: no answer within %u ms: is the host up, and the "
				 "port open in its firewall?", p->label, timeout_ms);
	case -EAFNOSUPPORT:
		return error_set(err, rc, "%s: it has no address of the family asked for",
				 p->label);
	default:
		return error_set(err, rc, "%s: %s", p->label, strerror(-rc));
	}
}

static int open_connection(struct peer *p, const struct peer_target *target, uint64_t deadline_ns,
			   unsigned int timeout_ms, int *fd, struct error *err)
{
	struct addrinfo *addresses = NULL;
	struct socket_address local = { .len = 0 };
	int rc;

	if (target->bind_address) {
		if (socket_parse_address(target->bind_address, &p->bind) < 0)
			return error_set(err, EINVAL, "%s: not an address to bind to",
					 target->bind_address);
		p->bound = true;
	}
	p->data_port = target->data_port;
	rc = dial_resolve(target->host, target->port,
			  p->bound ? p->bind.ss.ss_family : target->family, deadline_ns,
			  &addresses, err);
	if (rc < 0)
		return rc;
	*fd = dial_control(addresses, p->bound ? &p->bind : NULL, p->timing->stagger_ms,
			   deadline_ns);
	freeaddrinfo(addresses);
	if (*fd < 0)
		return connect_error(p, target, *fd, timeout_ms, err);
	rc = socket_remote_address(*fd, &p->remote);
	if (rc == 0)
		rc = socket_local_address(*fd, &local);
	if (rc < 0)
		return error_set(err, rc, "%s: %s", p->label, strerror(-rc));
	p->connect_rtt_us = socket_min_rtt_us(*fd);
	socket_format_address(&p->remote, p->remote_text);
	socket_format_address(&local, p->local_text);
	return 0;
}

/* ---- greeting ---- */

static int greeting_failure(const struct peer *p, int rc, struct error *err)
{
	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "%s: connected, but it says nothing: not a netdoctor, or "
				 "an iperf3 that hangs in a test", p->label);
	if (rc == -ECONNRESET)
		return error_set(err, rc, "%s: it closed the connection during the greeting: not a "
				 "netdoctor, or one with too many callers", p->label);
	return error_set(err, rc, "%s: greeting: %s", p->label, strerror(-rc));
}

/* An iperf3 server, where we would have taken one: 0 and it is our peer, unless it refuses. */
static int found_iperf3(struct peer *p, const struct peer_target *target, int fd,
			unsigned char state, uint64_t deadline_ns, struct error *err)
{
	static const unsigned char goodbye = WIRE_CLIENT_TERMINATE;

	switch (state) {
	case WIRE_CREATE_STREAMS:
		/* Spares the iperf3 server a wait for streams that never come. */
		wire_send(fd, &goodbye, 1, deadline_ns);
		iperf3_client_begin(p, target->login, -1);
		return 0;
	case WIRE_ACCESS_DENIED:
		return error_set(err, EBUSY, "%s: runs iperf3, not netdoctor, and is busy with a "
				 "test: try again later, or start 'netdoctor serve' there on "
				 "another port", p->label);
	default:
		return iperf3_client_refused(p, fd, target->login != NULL, deadline_ns, err);
	}
}

/* What a state byte other than the one we hope for tells: -errno, or 0 for an iperf3 server. */
static int unexpected_state(struct peer *p, const struct peer_target *target, int fd,
			    unsigned char state, uint64_t deadline_ns, struct error *err)
{
	static const unsigned char goodbye = WIRE_CLIENT_TERMINATE;
	unsigned char codes[8];
	bool iperf3 = state == WIRE_CREATE_STREAMS || state == WIRE_ACCESS_DENIED ||
		      state == WIRE_SERVER_ERROR;

	/* Who has a key wants the peer to prove it: no iperf3 can. */
	if (iperf3 && target->key.open && target->dialect == PEER_ANY)
		return found_iperf3(p, target, fd, state, deadline_ns, err);
	switch (state) {
	case WIRE_CREATE_STREAMS:
		wire_send(fd, &goodbye, 1, deadline_ns);
		return error_set(err, EPROTONOSUPPORT, "%s: runs iperf3, not netdoctor: start "
				 "'netdoctor serve' there (on another port with --port)", p->label);
	case WIRE_ACCESS_DENIED:
		return error_set(err, EPROTONOSUPPORT, "%s: runs iperf3, not netdoctor, and is "
				 "busy with a test: start 'netdoctor serve' there on another port",
				 p->label);
	case WIRE_SERVER_ERROR:
		if (wire_receive(fd, codes, sizeof(codes), deadline_ns) < 0)
			return error_set(err, EPROTONOSUPPORT, "%s: runs iperf3, not netdoctor, "
					 "and refused: start 'netdoctor serve' there", p->label);
		return error_set(err, EPROTONOSUPPORT, "%s: runs iperf3, not netdoctor, and "
				 "refused with its error %" PRIu32 " (%s): start 'netdoctor serve' "
				 "there",
				 p->label, wire_get_be32(codes),
				 iperf3_error_text(wire_get_be32(codes)));
	case PEER_NOT_ALLOWED:
		return error_set(err, EACCES, "%s: refused: that server's --allow does not name "
				 "the address that this host has there", p->label);
	default:
		return error_set(err, EPROTO, "%s: is neither netdoctor nor iperf3 (it answered "
				 "with byte 0x%02x): is this the right port?", p->label, state);
	}
}

static int greet(struct peer *p, const struct peer_target *target, int fd, uint64_t deadline_ns,
		 struct error *err)
{
	char cookie[PEER_COOKIE_BYTES], token[IPERF3_MAX_TOKEN + 1];
	unsigned char state = 0, *parameters = NULL;
	size_t len = 0;
	int rc = iperf3_client_token(p, target->login, token, sizeof(token), err);

	if (rc < 0)
		return rc;
	rc = wire_make_cookie(cookie);
	if (rc == 0)
		rc = wire_format_parameters(PEER_PROTOCOL_VERSION, token, &parameters, &len);
	if (rc < 0)
		return error_set(err, rc, "%s: greeting: %s", p->label, strerror(-rc));
	rc = wire_send(fd, cookie, sizeof(cookie), deadline_ns);
	if (rc == 0)
		rc = wire_receive(fd, &state, 1, deadline_ns);
	if (rc < 0) {
		greeting_failure(p, rc, err);
		goto out;
	}
	if (state != WIRE_PARAM_EXCHANGE) {
		rc = unexpected_state(p, target, fd, state, deadline_ns, err);
		goto out;
	}
	rc = wire_send(fd, parameters, len, deadline_ns);
	if (rc == 0)
		rc = wire_receive(fd, &state, 1, deadline_ns);
	if (rc < 0)
		greeting_failure(p, rc, err);
	else if (state != PEER_SWITCH)
		rc = unexpected_state(p, target, fd, state, deadline_ns, err);
out:
	free(parameters);
	return rc;
}

/* ---- TLS ---- */

static int tls_failure(const struct peer *p, bool open, int rc, struct error *err)
{
	switch (rc) {
	case -EKEYREJECTED:
		return error_set(err, rc, "%s: wrong key: use the key that 'netdoctor serve' "
				 "printed there", p->label);
	case -ENOKEY:
		return open ? error_set(err, rc, "%s: needs a key: give --key with the key that "
					"'netdoctor serve' printed there", p->label) :
			      error_set(err, rc, "%s: wrong key: that server is open to all "
					"(--open); give '--key open' to trust it without one",
					p->label);
	case -ECONNRESET:
		return error_set(err, rc, "%s: it closed the connection during the TLS handshake",
				 p->label);
	case -ETIMEDOUT:
		return error_set(err, rc, "%s: no answer in the TLS handshake", p->label);
	default:
		return error_set(err, rc, "%s: the TLS handshake failed: it could not prove that "
				 "it has the key", p->label);
	}
}

static int secure(struct peer *p, const struct peer_key *key, int fd, struct tls **tls,
		  uint64_t deadline_ns, struct error *err)
{
	int rc = tls_context_new(key, false, &p->tls, err);

	if (rc < 0)
		return rc;
	rc = tls_new(p->tls, fd, tls);
	if (rc < 0)
		return error_set(err, rc, "%s: TLS: %s", p->label, strerror(-rc));
	for (;;) {
		struct pollfd w = { .fd = fd };

		rc = tls_handshake(*tls, &w.events);
		if (rc != -EAGAIN)
			break;
		if (poll(&w, 1, deadline_left_ms(deadline_ns)) == 0) {
			rc = -ETIMEDOUT;
			break;
		}
	}
	return rc < 0 ? tls_failure(p, key->open, rc, err) : 0;
}

/* ---- hello ---- */

static int take_hello(struct peer *p, const cJSON *m, struct error *err)
{
	const cJSON *limits = cJSON_GetObjectItemCaseSensitive(m, "limits");
	const char *tool = json_get_str(m, "tool", PROTOCOL_MAX_TOOL);
	uint64_t version = 0;

	if (!json_get_u64(m, "version", 1, UINT32_MAX, &version))
		return error_set(err, EBADMSG, "%s: its hello has no version", p->label);
	if (version != PEER_PROTOCOL_VERSION)
		return error_set(err, EOPNOTSUPP, "%s: speaks netdoctor protocol %" PRIu64
				 " (release %s), this side %d (release %s): install the same "
				 "release on both", p->label, version, tool ? tool : "unknown",
				 PEER_PROTOCOL_VERSION, PROTOCOL_TOOL);
	if (!json_get_u64(limits, "max_seconds", 1, UINT32_MAX, &p->limits.max_seconds) ||
	    !json_get_u64(limits, "max_streams", 1, UINT32_MAX, &p->limits.max_streams) ||
	    !json_get_u64(limits, "max_bps", 0, INT64_MAX, &p->limits.max_bps))
		return error_set(err, EBADMSG, "%s: its hello has no limits", p->label);
	p->gives_signs = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(m, "hears_signs"));
	return 0;
}

/* Not client_expect(): what another version answers may be an error with its version in it. */
static int say_hello(struct peer *p, uint64_t deadline_ns, struct error *err)
{
	cJSON *m = client_message("hello", 0);
	uint64_t version = PEER_PROTOCOL_VERSION;
	int rc;

	if (!m || !json_add_u64(m, "version", PEER_PROTOCOL_VERSION) ||
	    !cJSON_AddStringToObject(m, "tool", PROTOCOL_TOOL)) {
		cJSON_Delete(m);
		return error_set(err, ENOMEM, "%s: out of memory", p->label);
	}
	rc = client_send(p, m, err);
	if (rc < 0)
		return rc;
	rc = channel_receive(&p->channel, -1, deadline_ns, &m);
	if (rc < 0)
		return rc == -ETIMEDOUT ?
		       error_set(err, rc, "%s: no answer to our hello", p->label) :
		       error_set(err, rc, "%s: no hello: %s", p->label, client_lose(p, rc));
	json_get_u64(m, "version", 1, UINT32_MAX, &version);
	if (strcmp(channel_message_type(m), "hello") == 0 || version != PEER_PROTOCOL_VERSION) {
		rc = take_hello(p, m, err);
	} else {
		const char *text = json_get_str(m, "text", PROTOCOL_MAX_TEXT);

		rc = error_set(err, protocol_errno(json_get_str(m, "code", PROTOCOL_MAX_TOOL)),
			       "%s: %s", p->label, text ? text : "refused without a reason");
	}
	cJSON_Delete(m);
	return rc;
}

int client_connect(const struct peer_target *target, const struct peer_timing *timing,
		   struct peer **out, struct error *err)
{
	unsigned int timeout_ms = target->timeout_ms ? target->timeout_ms : timing->hello_ms;
	uint64_t deadline = deadline_in_ms(timeout_ms);
	struct peer *p = calloc(1, sizeof(*p));
	struct tls *tls = NULL;
	int rc, fd = -1;

	*out = NULL;
	if (!p)
		return error_set(err, ENOMEM, "out of memory");
	p->timing = timing;
	p->dialect = PEER_NETDOCTOR;
	p->next_id = 1;
	set_label(p, target);
	rc = open_connection(p, target, deadline, timeout_ms, &fd, err);
	if (rc == 0 && target->dialect == PEER_IPERF3) {
		iperf3_client_begin(p, target->login, fd);
		fd = -1;
	} else if (rc == 0) {
		deadline = deadline_in_ms(timeout_ms);
		rc = greet(p, target, fd, deadline, err);
	}
	/* iperf3 has no session to keep it for. */
	if (p->dialect == PEER_IPERF3 && fd >= 0) {
		close(fd);
		fd = -1;
	}
	if (rc == 0 && p->dialect == PEER_NETDOCTOR)
		rc = secure(p, &target->key, fd, &tls, deadline, err);
	/* From here on the channel owns both, and peer_close() all three. */
	channel_init(&p->channel, fd, tls, PEER_MAX_MESSAGE);
	if (rc == 0 && p->dialect == PEER_NETDOCTOR)
		rc = say_hello(p, deadline, err);
	if (rc == 0) {
		*out = p;
		return 0;
	}
	channel_break(&p->channel, rc);
	peer_close(p);
	return rc;
}

int peer_connect(const struct peer_target *target, struct peer **out, struct error *err)
{
	return client_connect(target, &peer_default_timing, out, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The client: requests and answers, and everything but runs (client_run.c) and
 * the opening (client_open.c).
 */
#include "src/peer/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"
#include "src/peer/protocol.h"

enum {
	CLOCK_EXCHANGES = 8,
	CLOCK_FIRST = 3,		/* enough where they are quick */
	/* Half of it is the largest error; samples are 100 ms apart. */
	CLOCK_NEAR_NS = 500 * 1000
};

cJSON *client_message(const char *type, uint64_t id)
{
	cJSON *m = cJSON_CreateObject();

	if (m && cJSON_AddStringToObject(m, "type", type) && json_add_u64(m, "id", id))
		return m;
	cJSON_Delete(m);
	return NULL;
}

static void complain_to_server(struct peer *p, const char *text)
{
	cJSON *m = client_message("error", 0);

	if (m && cJSON_AddStringToObject(m, "code", PROTOCOL_REFUSED) &&
	    cJSON_AddStringToObject(m, "text", text))
		channel_last_words(&p->channel, m, p->timing->bye_ms);
	cJSON_Delete(m);
}

const char *client_lose(struct peer *p, int rc)
{
	channel_break(&p->channel, rc);
	switch (rc) {
	case -EMSGSIZE:
		complain_to_server(p, "it got a message longer than any should be");
		return "it sent a message longer than any should be";
	case -EBADMSG:
		complain_to_server(p, "it got something that is no message");
		return "it sent something that is no message";
	case -EPIPE:
		return "it does not read what we send";
	case -EPROTO:
		return "a TLS record was damaged";
	case -ECONNRESET:
		return "it closed the connection or is gone";
	default:
		return strerror(-rc);
	}
}

static int lost(struct peer *p, int rc, struct error *err)
{
	const char *why = client_lose(p, rc);

	return error_set(err, rc, "%s: session lost: %s", p->label, why);
}

int client_send(struct peer *p, cJSON *m, struct error *err)
{
	int rc;

	if (!m)
		return error_set(err, ENOMEM, "%s: out of memory", p->label);
	rc = channel_send(&p->channel, m, deadline_in_ms(p->timing->send_ms));
	cJSON_Delete(m);
	if (rc == -ENOMEM && !channel_broken(&p->channel))
		return error_set(err, ENOMEM, "%s: out of memory", p->label);
	return rc < 0 ? lost(p, rc, err) : 0;
}

/* An error message of the server's, safe to print. */
static int server_error(struct peer *p, const cJSON *m, bool fatal, struct error *err)
{
	const char *text = json_get_str(m, "text", PROTOCOL_MAX_TEXT);
	int rc = -protocol_errno(json_get_str(m, "code", PROTOCOL_MAX_TOOL));

	if (fatal)
		channel_break(&p->channel, rc);
	return error_set(err, rc, "%s: %s", p->label, text ? text : "refused without a reason");
}

/* Until when the server may say nothing. */
static uint64_t silence_ends(const struct peer *p, const struct client_wait *w)
{
	uint64_t since = p->channel.last_receive_ns;

	if (w->silence_ms == 0)
		return UINT64_MAX;
	if (since < w->silent_since_ns)
		since = w->silent_since_ns;
	if (since < p->back_ns)
		since = p->back_ns;
	return since + (uint64_t)w->silence_ms * 1000000u;
}

int client_heed(const struct peer *p, struct error *err)
{
	if (!p->cancelled || !p->cancelled(p->cancelled_state))
		return 0;
	return error_set(err, EINTR, "interrupted while waiting for %s", p->label);
}

/*
 * We were not there to listen, stopped or suspended, from then until now: what the server said
 * meanwhile, or would have said had it not been stopped with us, is still to come.
 */
static void note_absence(struct peer *p, uint64_t since_ns)
{
	uint64_t now = monotonic_ns();

	if (now > since_ns && now - since_ns > (uint64_t)p->timing->silence_ms * 1000000u / 3)
		p->back_ns = now;
}

static void note_silence(struct peer *p, uint64_t since_ns)
{
	uint64_t now = monotonic_ns();

	if (since_ns < p->back_ns)
		since_ns = p->back_ns;
	if (now > since_ns && now - since_ns > p->silent_ns)
		p->silent_ns = now - since_ns;
}

unsigned int peer_run_silence_ms(const struct peer *p)
{
	uint64_t ms = p->silent_ns / 1000000u;

	return ms < p->timing->silence_ms ? 0 : (unsigned int)ms;
}

/* When to tell the server that we are here, or others may get our turn. */
static uint64_t sign_is_due(struct peer *p)
{
	if (!p->gives_signs || peer_run_over(p))
		return UINT64_MAX;
	return channel_last_send(&p->channel) + (uint64_t)p->timing->alive_ms * 1000000u;
}

static int give_sign(struct peer *p, struct error *err)
{
	if (monotonic_ns() < sign_is_due(p))
		return 0;
	return client_send(p, client_message("alive", p->run_id), err);
}

/* One message of any kind; *m NULL when the time is not up yet. */
static int receive_any(struct peer *p, const struct client_wait *w, cJSON **m, struct error *err)
{
	uint64_t until, heard_ns = p->channel.last_receive_ns;
	int rc;

	if (p->listened_ns)
		note_absence(p, p->listened_ns);
	rc = give_sign(p, err);
	if (rc < 0)
		return rc;
	until = deadline_earlier(w->deadline_ns, silence_ends(p, w));
	until = deadline_earlier(until, sign_is_due(p));
	if (p->cancelled)
		until = deadline_earlier(until, deadline_in_ms(CLIENT_HEED_MS));
	rc = channel_receive(&p->channel, -1, until, m);
	if (rc == -ETIMEDOUT)
		note_absence(p, until);
	p->listened_ns = monotonic_ns();
	if (rc == 0) {
		note_silence(p, heard_ns);
		return 0;
	}
	if (rc != -ETIMEDOUT)
		return lost(p, rc, err);
	if (monotonic_ns() >= silence_ends(p, w)) {
		channel_break(&p->channel, -ECONNRESET);
		return error_set(err, ETIMEDOUT, "%s: session lost: no sign of life for %u ms: "
				 "killed, cut off, or the path is too full", p->label,
				 w->silence_ms);
	}
	if (monotonic_ns() >= w->deadline_ns)
		return error_set(err, ETIMEDOUT, "%s: no answer in time", p->label);
	return 0;
}

int client_receive(struct peer *p, struct client_wait *w, cJSON **answer, struct error *err)
{
	*answer = NULL;
	for (;;) {
		cJSON *m = NULL;
		const char *type;
		uint64_t id = UINT64_MAX;
		int rc = receive_any(p, w, &m, err);

		if (rc == 0 && !m)
			rc = client_heed(p, err);
		if (rc < 0)
			return rc;
		if (!m)
			continue;
		type = channel_message_type(m);
		json_get_u64(m, "id", 0, INT64_MAX, &id);
		if (strcmp(type, "error") == 0 && (id == 0 || id == w->id)) {
			rc = server_error(p, m, id == 0, err);
			cJSON_Delete(m);
			return rc;
		}
		if (id == w->id && strcmp(type, "queued") == 0) {
			w->queued = true;
		} else if (id == w->id && strcmp(type, "alive") != 0) {
			*answer = m;
			return 0;
		}
		cJSON_Delete(m);
		/* A server that only chats must not keep us past the deadline. */
		if (monotonic_ns() >= w->deadline_ns)
			return error_set(err, ETIMEDOUT, "%s: no answer in time", p->label);
		rc = client_heed(p, err);
		if (rc < 0)
			return rc;
	}
}

int client_expect(struct peer *p, struct client_wait *w, const char *type, cJSON **answer,
		  struct error *err)
{
	int rc = client_receive(p, w, answer, err);

	if (rc < 0 || strcmp(channel_message_type(*answer), type) == 0)
		return rc;
	cJSON_Delete(*answer);
	*answer = NULL;
	return lost(p, -EBADMSG, err);
}

/* ---- accessors ---- */

const char *peer_local_address(const struct peer *p)
{
	return p->local_text;
}

const char *peer_remote_address(const struct peer *p)
{
	return p->remote_text;
}

struct peer_limits peer_limits(const struct peer *p)
{
	return p->limits;
}

void peer_heed(struct peer *p, bool (*cancelled)(void *state), void *state)
{
	p->cancelled = cancelled;
	p->cancelled_state = state;
}

struct nd_u64 peer_rtt_us(const struct peer *p)
{
	return p->dialect == PEER_IPERF3 ? p->connect_rtt_us : socket_min_rtt_us(p->channel.fd);
}

enum peer_dialect peer_dialect(const struct peer *p)
{
	return p->dialect;
}

bool peer_alive(const struct peer *p)
{
	return p->dialect == PEER_IPERF3 ? !p->iperf3.lost : p->channel.broken == 0;
}

void peer_close(struct peer *p)
{
	if (!p)
		return;
	if (p->dialect == PEER_IPERF3) {
		iperf3_client_end(p);
	} else if (peer_alive(p)) {
		cJSON *m = client_message("bye", 0);

		if (m)
			channel_send(&p->channel, m, deadline_in_ms(p->timing->bye_ms));
		cJSON_Delete(m);
	}
	channel_free(&p->channel);
	tls_context_free(p->tls);
	cJSON_Delete(p->run_end);
	free(p);
}

/* ---- facts ---- */

int peer_facts_begin(struct peer *p, struct error *err)
{
	uint64_t id = p->next_id++;
	int rc;

	if (p->dialect == PEER_IPERF3)
		return error_set(err, EOPNOTSUPP, "%s: an iperf3 server tells nothing of its host",
				 p->label);
	rc = client_send(p, client_message("facts", id), err);
	p->facts_id = rc == 0 ? id : 0;
	return rc;
}

int peer_facts_finish(struct peer *p, unsigned int timeout_ms, cJSON **reply, struct error *err)
{
	struct client_wait w = { .id = p->facts_id, .deadline_ns = deadline_in_ms(timeout_ms) };
	int rc;

	*reply = NULL;
	if (w.id == 0)
		return error_set(err, EINVAL, "%s: no facts were asked for", p->label);
	p->facts_id = 0;
	rc = client_expect(p, &w, "facts", reply, err);
	if (rc < 0)
		return rc;
	if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(*reply, "facts"))) {
		cJSON_Delete(*reply);
		*reply = NULL;
		return error_set(err, EBADMSG, "%s: answered without facts", p->label);
	}
	cJSON_DeleteItemFromObjectCaseSensitive(*reply, "type");
	cJSON_DeleteItemFromObjectCaseSensitive(*reply, "id");
	return 0;
}

int peer_facts(struct peer *p, unsigned int timeout_ms, cJSON **reply, struct error *err)
{
	int rc = peer_facts_begin(p, err);

	*reply = NULL;
	return rc < 0 ? rc : peer_facts_finish(p, timeout_ms, reply, err);
}

/* ---- clock ---- */

/* Its duration, and how far the peer's clock is ahead if both ways took as long. */
struct clock_guess { uint64_t took_ns; int64_t offset_ns; };

static int take_clock_answer(struct peer *p, uint64_t id, uint64_t sent_ns, uint64_t deadline_ns,
			     struct clock_guess *best, struct error *err)
{
	struct client_wait w = { .id = id, .deadline_ns = deadline_ns };
	uint64_t received, theirs = 0;
	cJSON *answer = NULL;
	int rc = client_expect(p, &w, "clock", &answer, err);

	if (rc < 0)
		return rc;
	received = monotonic_ns();
	bool ok = json_get_u64(answer, "now_ns", 0, INT64_MAX, &theirs);
	cJSON_Delete(answer);
	if (!ok)
		return error_set(err, EBADMSG, "%s: its clock shows no time", p->label);
	if (received - sent_ns < best->took_ns) {
		best->took_ns = received - sent_ns;
		best->offset_ns = (int64_t)theirs - (int64_t)(sent_ns + best->took_ns / 2);
	}
	return 0;
}

/* n exchanges in one round trip.  *answered grows by those that were in time. */
static int exchange_clocks(struct peer *p, size_t n, uint64_t deadline_ns,
			   struct clock_guess *best, size_t *answered, struct error *err)
{
	uint64_t ids[CLOCK_EXCHANGES], sent_ns[CLOCK_EXCHANGES];
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		ids[i] = p->next_id++;
		sent_ns[i] = monotonic_ns();
		rc = client_send(p, client_message("clock", ids[i]), err);
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = take_clock_answer(p, ids[i], sent_ns[i], deadline_ns, best, err);
		*answered += rc == 0;
	}
	return rc;
}

int peer_clock_offset(struct peer *p, int64_t *offset_ns, struct error *err)
{
	uint64_t deadline = deadline_in_ms(p->timing->clock_ms);
	struct clock_guess best = { .took_ns = UINT64_MAX };
	size_t answered = 0;

	if (p->dialect == PEER_IPERF3)
		return error_set(err, EOPNOTSUPP, "%s: an iperf3 server tells no time", p->label);
	/* The quickest exchange has the least queueing in it, so the smallest error. */
	int rc = exchange_clocks(p, CLOCK_FIRST, deadline, &best, &answered, err);
	if (rc == 0 && best.took_ns > CLOCK_NEAR_NS)
		rc = exchange_clocks(p, CLOCK_EXCHANGES - CLOCK_FIRST, deadline, &best, &answered,
				     err);
	/* On a slow path fewer exchanges must do. */
	if (rc < 0 && !(rc == -ETIMEDOUT && answered > 0 && peer_alive(p)))
		return rc;
	*offset_ns = best.offset_ns;
	return 0;
}

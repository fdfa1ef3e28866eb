/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One authenticated client: hello, then its requests one by one.  Runs: session_run.c. */
#include "src/peer/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/core/text.h"
#include "src/peer/protocol.h"
#include "src/peer/thread.h"

/* ---- messages ---- */

cJSON *session_message(const char *type, uint64_t id)
{
	cJSON *m = cJSON_CreateObject();

	if (m && cJSON_AddStringToObject(m, "type", type) && json_add_u64(m, "id", id))
		return m;
	cJSON_Delete(m);
	return NULL;
}

int session_send(struct session *ss, cJSON *m)
{
	int rc = -ENOMEM;

	if (m)
		rc = channel_send(&ss->channel, m, deadline_in_ms(ss->server->timing->send_ms));
	cJSON_Delete(m);
	return rc;
}

cJSON *session_error_message(uint64_t id, const char *code, const char *text)
{
	cJSON *m = session_message("error", id);

	if (m && cJSON_AddStringToObject(m, "code", code) &&
	    cJSON_AddStringToObject(m, "text", text) &&
	    json_add_u64(m, "version", PEER_PROTOCOL_VERSION) &&
	    cJSON_AddStringToObject(m, "tool", PROTOCOL_TOOL))
		return m;
	cJSON_Delete(m);
	return NULL;
}

int session_send_error(struct session *ss, uint64_t id, const char *code, const char *text)
{
	return session_send(ss, session_error_message(id, code, text));
}

int session_complaint(struct session *ss, const cJSON *m)
{
	const char *text = json_get_str(m, "text", PROTOCOL_MAX_TEXT);

	snprintf(ss->complaint, sizeof(ss->complaint), "%s",
		 text ? text : "something went wrong there");
	return -ECONNABORTED;
}

int session_listen(struct session *ss, uint64_t deadline_ns, cJSON **m)
{
	eventfd_t count;
	int rc = channel_receive(&ss->channel, ss->wake_fd, deadline_ns, m);

	if (rc == -EAGAIN)
		eventfd_read(ss->wake_fd, &count);
	return rc;
}

int session_receive(struct session *ss, uint64_t deadline_ns, cJSON **m)
{
	int rc;

	/* The wake-up that came with it may be spent. */
	if (atomic_load(&ss->server->stopping))
		deadline_ns = 0;
	rc = session_listen(ss, deadline_ns, m);
	if ((rc == -EAGAIN || rc == -ETIMEDOUT) && atomic_load(&ss->server->stopping))
		return -ESHUTDOWN;
	return rc;
}

/* ---- hello ---- */

/* Under the server's lock: who has asked for nothing for longest, and long, loses its place. */
static void displace_idle(struct peer_server *s)
{
	uint64_t long_ns = (uint64_t)s->timing->data_ms * 1000000u, now = monotonic_ns();
	struct session *worst = NULL;

	for (struct session *ss = s->sessions; ss; ss = ss->next)
		if (ss->admitted && !ss->displaced && ss->idle_since_ns &&
		    now - ss->idle_since_ns >= long_ns &&
		    (!worst || ss->idle_since_ns < worst->idle_since_ns))
			worst = ss;
	if (!worst)
		return;
	worst->displaced = true;
	s->nadmitted--;
	eventfd_write(worst->wake_fd, 1);
}

/* Takes one of the places; otherwise the reason why there is none. */
static bool admit(struct session *ss, char *why, size_t cap)
{
	struct peer_server *s = ss->server;

	pthread_mutex_lock(&s->lock);
	if (s->nadmitted >= s->options.max_sessions)
		displace_idle(s);
	if (atomic_load(&s->stopping)) {
		snprintf(why, cap, "the server was stopped, and only waits for what goes on");
	} else if (s->options.once && s->once_begun) {
		snprintf(why, cap, "serves one session only, and that has begun");
	} else if (s->nadmitted >= s->options.max_sessions) {
		snprintf(why, cap, "busy: %zu session%s already, as many as it allows: try later",
			 s->nadmitted, s->nadmitted == 1 ? "" : "s");
		s->turned_away_ns = monotonic_ns();
	} else {
		ss->admitted = s->once_begun = true;
		s->nadmitted++;
	}
	pthread_mutex_unlock(&s->lock);
	return ss->admitted;
}

static cJSON *hello_answer(const struct peer_server *s)
{
	cJSON *m = session_message("hello", 0), *limits;

	if (m && json_add_u64(m, "version", PEER_PROTOCOL_VERSION) &&
	    cJSON_AddStringToObject(m, "tool", PROTOCOL_TOOL) &&
	    cJSON_AddTrueToObject(m, "hears_signs")) {
		limits = cJSON_AddObjectToObject(m, "limits");
		if (limits && json_add_u64(limits, "max_seconds", s->options.max_seconds) &&
		    json_add_u64(limits, "max_streams", s->options.max_streams) &&
		    json_add_u64(limits, "max_bps", s->options.max_bps))
			return m;
	}
	cJSON_Delete(m);
	return NULL;
}

static int refuse_version(struct session *ss, uint64_t version, const char *tool)
{
	char text[256];

	snprintf(text, sizeof(text), "this server speaks netdoctor protocol %d (release %s), the "
		 "client %" PRIu64 " (release %s): install the same release on both",
		 PEER_PROTOCOL_VERSION, PROTOCOL_TOOL, version, tool);
	text_make_printable(text);
	session_send_error(ss, 0, PROTOCOL_VERSION, text);
	server_event(ss->server, PEER_EVENT_REFUSED, "%s: refused: %s", ss->info.address, text);
	return -EOPNOTSUPP;
}

/* 0 when the session is on; otherwise the client has been told. */
static int greet(struct session *ss)
{
	char tool[PROTOCOL_MAX_TOOL + 1] = "unknown", why[128];
	const char *given;
	uint64_t version = 0;
	cJSON *m = NULL;
	int rc;

	do
		rc = session_receive(ss, ss->hello_deadline_ns, &m);
	while (rc == -EAGAIN);
	if (rc < 0)
		return rc;
	given = json_get_str(m, "tool", PROTOCOL_MAX_TOOL);
	if (given)
		memcpy(tool, given, strlen(given) + 1);
	if (strcmp(channel_message_type(m), "error") == 0)
		rc = session_complaint(ss, m);
	else if (strcmp(channel_message_type(m), "hello") != 0 ||
		 !json_get_u64(m, "version", 0, UINT32_MAX, &version))
		rc = -EBADMSG;
	cJSON_Delete(m);
	if (rc < 0)
		return rc;
	if (version != PEER_PROTOCOL_VERSION)
		return refuse_version(ss, version, tool);
	if (!admit(ss, why, sizeof(why))) {
		session_send_error(ss, 0, PROTOCOL_BUSY, why);
		server_event(ss->server, PEER_EVENT_REFUSED, "%s: refused: %s", ss->info.address,
			     why);
		return -EBUSY;
	}
	server_event(ss->server, PEER_EVENT_CLIENT, "%s: session begins (netdoctor %s)",
		     ss->info.address, tool);
	return session_send(ss, hello_answer(ss->server));
}

/* ---- requests ---- */

static int answer_facts(struct session *ss, const cJSON *request, uint64_t id)
{
	struct peer_service *service = &ss->server->service;
	struct error why = { "" };
	cJSON *facts = NULL, *m;
	int rc = service->facts(service->state, &ss->info, &facts, &why);

	(void)request;
	if (rc < 0)
		return session_send_error(ss, id, PROTOCOL_FAILED, why.text);
	m = session_message("facts", id);
	if (!m || !facts || !cJSON_AddItemToObject(m, "facts", facts)) {
		cJSON_Delete(facts);
		cJSON_Delete(m);
		m = NULL;
	}
	rc = session_send(ss, m);
	if (rc == -EMSGSIZE || rc == -ENOMEM)
		return session_send_error(ss, id, PROTOCOL_FAILED, rc == -ENOMEM ?
					  "out of memory" : "its facts are too long to send");
	return rc;
}

static int answer_clock(struct session *ss, const cJSON *request, uint64_t id)
{
	cJSON *m = session_message("clock", id);

	(void)request;
	if (m && !json_add_u64(m, "now_ns", monotonic_ns())) {
		cJSON_Delete(m);
		m = NULL;
	}
	return session_send(ss, m);
}

/* A cancel, start or sign of life that crossed our own end of the run. */
static int answer_nothing(struct session *ss, const cJSON *request, uint64_t id)
{
	(void)ss, (void)request, (void)id;
	return 0;
}

static int answer_bye(struct session *ss, const cJSON *request, uint64_t id)
{
	(void)ss, (void)request, (void)id;
	return -ENOTCONN;
}

static int answer_error(struct session *ss, const cJSON *request, uint64_t id)
{
	(void)id;
	return session_complaint(ss, request);
}

static const struct {
	const char *type;
	int (*answer)(struct session *ss, const cJSON *request, uint64_t id);
} requests[] = {
	{ .type = "facts", .answer = answer_facts },
	{ .type = "clock", .answer = answer_clock },
	{ .type = "prepare", .answer = session_run },
	{ .type = "start", .answer = answer_nothing },
	{ .type = "cancel", .answer = answer_nothing },
	{ .type = "alive", .answer = answer_nothing },
	{ .type = "bye", .answer = answer_bye },
	{ .type = "error", .answer = answer_error },
};

static int answer(struct session *ss, const cJSON *request)
{
	const char *type = channel_message_type(request);
	uint64_t id;

	if (!json_get_u64(request, "id", 0, INT64_MAX, &id))
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		if (strcmp(type, requests[i].type) == 0)
			return requests[i].answer(ss, request, id);
	return -EBADMSG;
}

/* -EUSERS: it has lost its place. */
static int set_idle(struct session *ss, uint64_t since_ns)
{
	struct peer_server *s = ss->server;
	bool displaced;

	pthread_mutex_lock(&s->lock);
	ss->idle_since_ns = since_ns;
	displaced = ss->displaced;
	pthread_mutex_unlock(&s->lock);
	return displaced ? -EUSERS : 0;
}

static int next_request(struct session *ss, cJSON **request)
{
	uint64_t now = monotonic_ns(), deadline = deadline_in_ms(ss->server->timing->idle_ms);
	int rc = set_idle(ss, now), gone;

	while (rc == 0) {
		rc = session_receive(ss, deadline, request);
		if (rc != -EAGAIN)
			break;
		rc = set_idle(ss, now);
	}
	gone = set_idle(ss, 0);
	return gone < 0 ? gone : rc;
}

static int serve(struct session *ss)
{
	int rc = 0;

	while (rc == 0) {
		cJSON *request = NULL;

		rc = next_request(ss, &request);
		if (rc == 0)
			rc = answer(ss, request);
		cJSON_Delete(request);
	}
	return rc;
}

/* ---- the end ---- */

static const char *reason_of_end(const struct session *ss, int rc)
{
	switch (rc) {
	case -ECONNABORTED:
		return ss->complaint;
	case -ENOTCONN:
		return "said goodbye";
	case -ECONNRESET:
		return "gone without a goodbye";
	case -ETIMEDOUT:
		return "nothing heard for too long";
	case -EUSERS:
		return "asked for nothing for long, and another client needs its place";
	case -EPIPE:
		return "does not read what it is sent";
	case -ESHUTDOWN:
		return "this server stops";
	case -EMSGSIZE:
		return "sent a message longer than any should be";
	case -EBADMSG:
		return "sent something that is no request";
	default:
		return strerror(-rc);
	}
}

static void say_goodbye(struct session *ss, int rc)
{
	static const struct { int rc; const char *code, *text; } goodbyes[] = {
		{ .rc = -ESHUTDOWN, .code = PROTOCOL_STOPPING, .text = "the server was stopped" },
		{ .rc = -ETIMEDOUT, .code = PROTOCOL_LATE,
		  .text = "nothing was asked for too long" },
		{ .rc = -EUSERS, .code = PROTOCOL_LATE,
		  .text = "nothing was asked for long, and another client needs the place" },
		{ .rc = -EMSGSIZE, .code = PROTOCOL_REFUSED,
		  .text = "got a message longer than any request should be" },
		{ .rc = -EBADMSG, .code = PROTOCOL_REFUSED,
		  .text = "got a message it does not understand" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(goodbyes); i++) {
		if (goodbyes[i].rc != rc)
			continue;
		cJSON *m = session_error_message(0, goodbyes[i].code, goodbyes[i].text);
		if (m)
			channel_last_words(&ss->channel, m, ss->server->timing->last_ms);
		cJSON_Delete(m);
	}
}

static void *session_thread(void *arg)
{
	struct session *ss = arg;
	struct peer_server *s = ss->server;
	int rc = greet(ss);
	bool admitted = ss->admitted;	/* written by this thread alone */

	if (rc == 0)
		rc = serve(ss);
	say_goodbye(ss, rc);
	/* The descriptor itself stays until the accepting thread has let go of it too. */
	channel_shutdown(&ss->channel);
	pthread_mutex_lock(&s->lock);
	if (admitted && !ss->displaced)
		s->nadmitted--;
	pthread_mutex_unlock(&s->lock);
	if (admitted && s->service.gone)
		s->service.gone(s->service.state, &ss->info);
	if (admitted)
		server_event(s, PEER_EVENT_GONE, "%s: session over: %s", ss->info.address,
			     reason_of_end(ss, rc));
	else if (rc != -EBUSY && rc != -EOPNOTSUPP)
		server_event(s, PEER_EVENT_REFUSED, "%s: refused: no hello: %s", ss->info.address,
			     reason_of_end(ss, rc));
	pthread_mutex_lock(&s->lock);
	if (admitted && s->options.once)
		s->once_over = true;
	ss->done = true;
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->wake_fd, 1);
	return NULL;
}

void session_free(struct session *ss)
{
	channel_free(&ss->channel);
	if (ss->wake_fd >= 0)
		close(ss->wake_fd);
	free(ss);
}

int session_start(struct peer_server *s, int fd, struct tls *tls,
		  const struct peer_client_info *info, uint64_t hello_deadline_ns)
{
	struct session *ss = calloc(1, sizeof(*ss));
	int rc = -EUSERS;

	if (!ss) {
		tls_free(tls);
		close(fd);
		return -ENOMEM;
	}
	channel_init(&ss->channel, fd, tls, PROTOCOL_MAX_REQUEST);
	ss->server = s;
	ss->info = *info;
	ss->hello_deadline_ns = hello_deadline_ns;
	ss->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ss->wake_fd < 0) {
		rc = -errno;
		session_free(ss);
		return rc;
	}
	pthread_mutex_lock(&s->lock);
	if (s->nsessions < s->options.max_sessions + SERVER_EXTRA_SESSIONS)
		rc = thread_start(&ss->thread, session_thread, ss);
	if (rc == 0) {
		ss->next = s->sessions;
		s->sessions = ss;
		s->nsessions++;
	}
	pthread_mutex_unlock(&s->lock);
	if (rc < 0)
		session_free(ss);
	return rc;
}

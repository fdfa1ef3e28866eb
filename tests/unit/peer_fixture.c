/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/peer_fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/wire.h"

const struct peer_timing patient = {
	.greeting_ms = PATIENCE_MS,
	.hello_ms = PATIENCE_MS,
	.idle_ms = PATIENCE_MS,
	.send_ms = PATIENCE_MS,
	.alive_ms = 50,
	.silence_ms = PATIENCE_MS,
	.outage_ms = PATIENCE_MS,
	.data_ms = PATIENCE_MS,
	.start_ms = PATIENCE_MS,
	.margin_ms = PATIENCE_MS,
	.stop_ms = 500,
	.bye_ms = 200,
	.last_ms = PATIENCE_MS,
	.clock_ms = PATIENCE_MS,
	.accept_pause_ms = 20,
	.stagger_ms = 50
};

size_t count_entries(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

void assert_back_at(const char *path, size_t n)
{
	for (int i = 0; i < 1000 && count_entries(path) > n; i++)
		sleep_ms(10);
	assert_in_range(count_entries(path), 0, n);
}

void sleep_ms(unsigned int ms)
{
	poll(NULL, 0, (int)ms);
}

unsigned int ms_since(uint64_t start_ns)
{
	return (unsigned int)((monotonic_ns() - start_ns) / 1000000u);
}

static const char *const event_words[] = {
	[PEER_EVENT_CLIENT] = "CLIENT", [PEER_EVENT_RUN] = "RUN",
	[PEER_EVENT_GONE] = "GONE", [PEER_EVENT_TEST] = "TEST",
	[PEER_EVENT_TESTED] = "TESTED", [PEER_EVENT_REFUSED] = "REFUSED"
};

static void take_event(void *state, enum peer_event event, const char *line)
{
	struct fixture *f = state;
	size_t used;

	pthread_mutex_lock(&f->lock);
	used = strlen(f->events);
	snprintf(f->events + used, sizeof(f->events) - used, "%s %s\n", event_words[event],
		 line ? line : "");
	pthread_mutex_unlock(&f->lock);
}

/* ---- fixture ---- */

static void *server_thread(void *arg)
{
	struct fixture *f = arg;
	struct error err = { "" };

	f->result = peer_server_run(f->server, f->stop_fd, &err);
	return NULL;
}

struct fixture *fixture_start(const struct peer_server_options *o, const struct peer_timing *t)
{
	struct peer_server_options options = { .bind_address = "127.0.0.1" };
	struct fixture *f = calloc(1, sizeof(*f));
	struct peer_service service = fake_service(f);
	struct error err = { "" };

	assert_non_null(f);
	f->timing = t ? *t : patient;
	if (o)
		options = *o;
	if (!options.key.open)
		assert_int_equal(peer_key_generate(&options.key), 0);
	f->key = options.key;
	options.on_event = take_event;
	options.event_state = f;
	pthread_mutex_init(&f->lock, NULL);
	f->stop_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(f->stop_fd >= 0);
	if (server_open(&options, &service, &f->timing, &f->server, &err) < 0)
		fail_msg("server: %s", err.text);
	f->port = peer_server_port(f->server);
	assert_int_not_equal(f->port, 0);
	assert_int_equal(pthread_create(&f->thread, NULL, server_thread, f), 0);
	return f;
}

void fixture_stop(struct fixture *f)
{
	eventfd_write(f->stop_fd, 1);
	pthread_join(f->thread, NULL);
	assert_int_equal(f->result, 0);
	assert_int_equal(atomic_load(&f->running), 0);
	peer_server_close(f->server);
	close(f->stop_fd);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

bool fixture_saw(struct fixture *f, const char *text)
{
	uint64_t deadline = deadline_in_ms(PATIENCE_MS);
	bool seen;

	do {
		pthread_mutex_lock(&f->lock);
		seen = strstr(f->events, text) != NULL;
		pthread_mutex_unlock(&f->lock);
		if (!seen)
			sleep_ms(5);
	} while (!seen && monotonic_ns() < deadline);
	if (!seen)
		print_message("events: %s\n", f->events);
	return seen;
}

bool fixture_reaches(atomic_uint *counter, unsigned int n)
{
	uint64_t deadline = deadline_in_ms(PATIENCE_MS);

	while (atomic_load(counter) < n && monotonic_ns() < deadline)
		sleep_ms(5);
	return atomic_load(counter) >= n;
}

struct peer_target fixture_target(const struct fixture *f)
{
	return (struct peer_target){ .host = "127.0.0.1", .port = f->port, .key = f->key };
}

struct peer *fixture_client(const struct fixture *f, const struct peer_timing *t)
{
	struct peer_target target = fixture_target(f);
	struct error err = { "" };
	struct peer *p = NULL;

	if (client_connect(&target, t ? t : &patient, &p, &err) < 0)
		fail_msg("client: %s", err.text);
	return p;
}

/* ---- a client's runs ---- */

const struct run_spec small_run = {
	.direction = RUN_FORWARD, .streams = 3, .block_bytes = 1024, .window_ms = 100
};

static struct run_window window_of(unsigned int ms)
{
	uint64_t now = monotonic_ns();

	/* Both ends are this machine: its clock is the peer's. */
	return (struct run_window){ now, now + 1, now + ms * UINT64_C(1000000) };
}

void fixture_prepare_run(struct peer *p, const struct run_spec *spec, int *fds)
{
	struct error err = { "" };

	if (peer_run_prepare(p, spec, fds, PATIENCE_MS, &err) < 0)
		fail_msg("prepare: %s", err.text);
}

void fixture_start_run(struct peer *p, unsigned int ms)
{
	struct run_window w = window_of(ms);
	struct error err = { "" };

	if (peer_run_start(p, &w, &err) < 0)
		fail_msg("start: %s", err.text);
}

void fixture_close_run(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

void fixture_finish_run(struct peer *p)
{
	struct error err = { "" };
	cJSON *end = NULL;

	if (peer_run_finish(p, PATIENCE_MS, &end, &err) < 0)
		fail_msg("finish: %s", err.text);
	assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(end, "streams")));
	cJSON_Delete(end);
}

/* A run of FAKE_RUN_BYTES. */
void fixture_run(struct peer *p, const struct run_spec *spec)
{
	uint64_t deadline = deadline_in_ms(PATIENCE_MS);
	int fds[RUN_MAX_STREAMS];

	fixture_prepare_run(p, spec, fds);
	fixture_start_run(p, 5000);
	for (uint64_t i = 0; i < spec->streams; i++) {
		unsigned char byte = (unsigned char)i, got = 0;

		if (spec->direction == RUN_FORWARD) {
			assert_int_equal(wire_send(fds[i], &byte, 1, deadline), 0);
			continue;
		}
		assert_int_equal(wire_receive(fds[i], &got, 1, deadline), 0);
		assert_int_equal(got, byte);
	}
	fixture_finish_run(p);
	fixture_close_run(fds, spec->streams);
}

/* ---- raw ends ---- */

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
}

int raw_connect(uint16_t port)
{
	struct sockaddr_in a = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

int raw_listen(uint16_t *port)
{
	struct sockaddr_in a = loopback(0);
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

size_t raw_read(int fd, void *buf, size_t len, unsigned int timeout_ms)
{
	uint64_t deadline = deadline_in_ms(timeout_ms);
	size_t got = 0;

	while (got < len) {
		if (wire_receive(fd, (char *)buf + got, 1, deadline) < 0)
			break;
		got++;
	}
	return got;
}

bool raw_closed(int fd, unsigned int timeout_ms)
{
	uint64_t deadline = deadline_in_ms(timeout_ms);
	char c;
	int rc;

	do
		rc = wire_receive(fd, &c, 1, deadline);
	while (rc == 0);
	return rc == -ECONNRESET;
}

unsigned char raw_greet(int fd, const char *parameters)
{
	unsigned char header[4], state = 0;

	wire_put_be32(header, (uint32_t)strlen(parameters));
	assert_int_equal(send(fd, RAW_COOKIE, PEER_COOKIE_BYTES, MSG_NOSIGNAL), PEER_COOKIE_BYTES);
	if (raw_read(fd, &state, 1, PATIENCE_MS) == 0 || state != WIRE_PARAM_EXCHANGE)
		return state;
	state = 0;
	assert_int_equal(send(fd, header, 4, MSG_NOSIGNAL), 4);
	assert_int_equal(send(fd, parameters, strlen(parameters), MSG_NOSIGNAL),
			 strlen(parameters));
	raw_read(fd, &state, 1, PATIENCE_MS);
	return state;
}

struct tls *raw_secure(int fd, struct tls_context *ctx)
{
	struct tls *t = NULL;
	struct pollfd p = { .fd = fd };
	int rc;

	assert_int_equal(tls_new(ctx, fd, &t), 0);
	while ((rc = tls_handshake(t, &p.events)) == -EAGAIN)
		if (poll(&p, 1, PATIENCE_MS) == 0)
			break;
	assert_int_equal(rc, 0);
	return t;
}

void raw_session_open(struct raw_session *r, uint16_t port, const struct peer_key *key)
{
	static const char parameters[] = "{\"tcp\":true,\"netdoctor\":{\"version\":1}}";
	int fd = raw_connect(port);

	assert_int_equal(tls_context_new(key, false, &r->ctx, NULL), 0);
	assert_int_equal(raw_greet(fd, parameters), PEER_SWITCH);
	channel_init(&r->channel, fd, raw_secure(fd, r->ctx), PEER_MAX_MESSAGE);
}

void raw_session_close(struct raw_session *r)
{
	channel_free(&r->channel);
	tls_context_free(r->ctx);
}

void raw_send(struct channel *ch, const char *json)
{
	cJSON *m = cJSON_Parse(json);

	assert_non_null(m);
	assert_int_equal(channel_send(ch, m, deadline_in_ms(PATIENCE_MS)), 0);
	cJSON_Delete(m);
}

cJSON *raw_receive(struct channel *ch, const char *type)
{
	cJSON *m;

	for (;;) {
		assert_int_equal(channel_receive(ch, -1, deadline_in_ms(PATIENCE_MS), &m), 0);
		if (strcmp(channel_message_type(m), type) == 0)
			return m;
		assert_true(strcmp(channel_message_type(m), "alive") == 0 ||
			    strcmp(channel_message_type(m), "queued") == 0);
		cJSON_Delete(m);
	}
}

/* ---- fake servers ---- */

static void *fake_server_thread(void *arg)
{
	struct fake_server *f = arg;
	int fd = accept4(f->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0) {
		f->play(f, fd);
		close(fd);
	}
	return NULL;
}

void fake_server_start(struct fake_server *f, void (*play)(struct fake_server *f, int fd))
{
	f->play = play;
	f->listen_fd = raw_listen(&f->port);
	assert_int_equal(peer_key_generate(&f->key), 0);
	assert_int_equal(pthread_create(&f->thread, NULL, fake_server_thread, f), 0);
}

void fake_server_stop(struct fake_server *f)
{
	pthread_join(f->thread, NULL);
	close(f->listen_fd);
}

/* No assertions in here: cmocka's jump belongs to the other thread; the client will complain. */
void fake_server_greet(int fd, unsigned char state)
{
	unsigned char exchange = WIRE_PARAM_EXCHANGE, buf[PEER_MAX_PARAMETERS];
	uint32_t len;

	if (raw_read(fd, buf, PEER_COOKIE_BYTES, PATIENCE_MS) < PEER_COOKIE_BYTES ||
	    send(fd, &exchange, 1, MSG_NOSIGNAL) != 1 || raw_read(fd, buf, 4, PATIENCE_MS) < 4)
		return;
	len = wire_get_be32(buf);
	if (len > sizeof(buf) || raw_read(fd, buf, len, PATIENCE_MS) < len)
		return;
	(void)!send(fd, &state, 1, MSG_NOSIGNAL);
}

/* ---- bad sessions ---- */

bool bad_open(struct fake_server *f, int fd, struct bad_session *b)
{
	struct tls *t = NULL;
	short events;
	int rc = -EPROTO;

	fake_server_greet(fd, PEER_SWITCH);
	if (tls_context_new(&f->key, true, &b->ctx, NULL) == 0 && tls_new(b->ctx, fd, &t) == 0)
		for (int i = 0; i < PATIENCE_MS / 5; i++) {
			rc = tls_handshake(t, &events);
			if (rc != -EAGAIN)
				break;
			sleep_ms(5);
		}
	b->tls = t;
	return rc == 0;
}

void bad_close(struct bad_session *b)
{
	tls_free(b->tls);
	tls_context_free(b->ctx);
}

void bad_frame(struct bad_session *b, uint32_t announced, const char *text)
{
	unsigned char header[4];
	short events;

	wire_put_be32(header, announced ? announced : (uint32_t)strlen(text));
	tls_write(b->tls, header, 4, &events);
	if (*text)
		tls_write(b->tls, text, strlen(text), &events);
}

void bad_say(struct bad_session *b, const char *text)
{
	bad_frame(b, 0, text);
}

int try_connect(const struct fake_server *f, unsigned int timeout_ms, struct peer **p,
		struct error *err)
{
	struct peer_target target = {
		.host = "127.0.0.1", .port = f->port, .key = f->key, .timeout_ms = timeout_ms
	};

	return client_connect(&target, &patient, p, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The server: its socket, its accept loop, its end. */
#include "src/peer/server.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "src/core/text.h"
#include "src/peer/listen.h"
#include "src/peer/socket.h"
#include "src/peer/udp_door.h"

enum {
	ACCEPTS_A_ROUND = 64,		/* before those already here are looked at again */
	USUAL_IPERF3_TESTS = 64,
	LINES_A_WINDOW = 10,		/* of strangers */
	WINDOW_MS = 1000,
	MIN_RATE_BPS = 8000,		/* the lowest that a run spec may ask for */
	BURSTS_A_SECOND = 10		/* at least, under a limit */
};

/* ---- events ---- */

static void emit(struct peer_server *s, enum peer_event event, char *line)
{
	if (line)
		text_make_printable(line);
	s->options.on_event(s->options.event_state, event, line);
}

/* False: not this one.  What was left out is told with the first that is not. */
static bool line_due(struct peer_server *s, struct event_window *w, const char *what)
{
	uint64_t now = monotonic_ns();
	char line[80];

	if (now >= w->until_ns) {
		if (w->lines > LINES_A_WINDOW) {
			snprintf(line, sizeof(line), "%u more %s", w->lines - LINES_A_WINDOW, what);
			emit(s, PEER_EVENT_REFUSED, line);
		}
		w->lines = 0;
		w->until_ns = deadline_in_ms(WINDOW_MS);
	}
	return ++w->lines <= LINES_A_WINDOW;
}

void server_event(struct peer_server *s, enum peer_event event, const char *fmt, ...)
{
	bool test = event == PEER_EVENT_TEST || event == PEER_EVENT_TESTED, due = true;
	char line[400];
	va_list ap;

	if (!s->options.on_event)
		return;
	va_start(ap, fmt);
	if (vsnprintf(line, sizeof(line), fmt, ap) < 0)
		line[0] = '\0';
	va_end(ap);
	pthread_mutex_lock(&s->event_lock);
	if (event == PEER_EVENT_REFUSED)
		due = line_due(s, &s->refusals, "refusals");
	else if (test)
		due = line_due(s, &s->tests, "lines of iperf3 tests");
	if (due || test)
		emit(s, event, due ? line : NULL);
	pthread_mutex_unlock(&s->event_lock);
}

/* ---- limits ---- */

void server_limit_rate(const struct peer_server_options *o, struct run_spec *spec,
		       bool kernel_paces)
{
	/* A client that keeps to its share is never held up: clocks and bursts differ. */
	const uint64_t slack = 10;
	/* Without fq nothing in the kernel would pace datagrams. */
	uint64_t *rate = kernel_paces ? &spec->pacing_bps : &spec->rate_bps;
	uint64_t share = o->max_bps / run_flows(spec), blocks;

	if (o->max_bps == 0)
		return;
	if (share < MIN_RATE_BPS)
		share = MIN_RATE_BPS;
	if (*rate == 0 || *rate > share)
		*rate = share;
	spec->receive_bps = share + share / slack;
	blocks = share / 8 / BURSTS_A_SECOND / spec->block_bytes;
	/* None: as the engine sees fit, which is a part of a block, or one datagram. */
	if (spec->burst_blocks > blocks)
		spec->burst_blocks = blocks;
}

/* ---- opening and closing ---- */

static void fill_limits(struct peer_server_options *o)
{
	unsigned int descriptors = listen_max_streams();

	o->bind_address = NULL;		/* used up; the caller's string need not live on */
	if (o->max_iperf3 == 0)
		o->max_iperf3 = o->max_sessions ? o->max_sessions : USUAL_IPERF3_TESTS;
	if (o->max_sessions == 0)
		o->max_sessions = 8;
	if (o->max_seconds == 0)
		o->max_seconds = 120;
	if (o->max_seconds > RUN_MAX_SECONDS)
		o->max_seconds = RUN_MAX_SECONDS;
	if (o->max_streams == 0 || o->max_streams > RUN_MAX_STREAMS)
		o->max_streams = RUN_MAX_STREAMS;
	if (o->max_streams > descriptors)
		o->max_streams = descriptors;
}

int server_open(const struct peer_server_options *o, const struct peer_service *service,
		const struct peer_timing *timing, struct peer_server **out, struct error *err)
{
	struct peer_server *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return error_set(err, ENOMEM, "out of memory");
	s->options = *o;
	s->service = *service;
	s->timing = timing;
	s->listen_fd = -1;
	atomic_init(&s->stopping, false);
	atomic_init(&s->cutting, false);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->event_lock, NULL);
	data_init(&s->data);
	turn_queue_init(&s->turns);
	fill_limits(&s->options);
	s->max_greetings = listen_max_greetings();
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0) {
		rc = error_set(err, errno, "server: eventfd: %s", strerror(errno));
		goto fail;
	}
	rc = tls_context_new(&o->key, true, &s->tls, err);
	if (rc < 0)
		goto fail;
	rc = listen_open(o->bind_address, o->port, &s->listen_fd, &s->port, err);
	if (rc < 0)
		goto fail;
	s->door = udp_door_new(s->listen_fd);
	if (!s->door) {
		rc = error_set(err, ENOMEM, "out of memory");
		goto fail;
	}
	*out = s;
	return 0;
fail:
	peer_server_close(s);
	return rc;
}

int peer_server_open(const struct peer_server_options *o, const struct peer_service *service,
		     struct peer_server **out, struct error *err)
{
	return server_open(o, service, &peer_default_timing, out, err);
}

uint16_t peer_server_port(const struct peer_server *s)
{
	return s->port;
}

void peer_server_close(struct peer_server *s)
{
	if (!s)
		return;
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	udp_door_free(s->door);
	data_destroy(&s->data);
	turn_queue_destroy(&s->turns);
	tls_context_free(s->tls);
	pthread_mutex_destroy(&s->event_lock);
	pthread_mutex_destroy(&s->lock);
	OPENSSL_cleanse(&s->options.key, sizeof(s->options.key));
	free(s);
}

/* ---- connections that have not proved the key ---- */

static void drop_greeting(struct peer_server *s, size_t i)
{
	greeting_free(s->greetings[i]);
	s->ngreetings--;
	memmove(&s->greetings[i], &s->greetings[i + 1],
		(s->ngreetings - i) * sizeof(s->greetings[0]));
}

static void drop_oldest(struct peer_server *s, const char *why)
{
	if (s->ngreetings == 0)
		return;
	greeting_expired(s, s->greetings[0], why);
	drop_greeting(s, 0);
}

/* Steps greeting i; false when it is no longer there. */
static bool step_greeting(struct peer_server *s, size_t i)
{
	struct greeting *g = s->greetings[i];
	struct tls *tls;
	int fd, rc;

	switch (greeting_step(s, g)) {
	case GREETING_MORE:
		return true;
	case GREETING_SECURE:
		greeting_release(g, &fd, &tls);
		rc = session_start(s, fd, tls, greeting_info(g), greeting_deadline(g));
		if (rc < 0)
			server_event(s, PEER_EVENT_REFUSED,
				     "%s: refused: no room for a session: %s",
				     greeting_info(g)->address, strerror(-rc));
		break;
	case GREETING_OVER:
		break;
	}
	drop_greeting(s, i);
	return false;
}

static void expire_greetings(struct peer_server *s)
{
	uint64_t now = monotonic_ns();

	/* Oldest first, and all with the same time to live: the first that may stay ends it. */
	while (s->ngreetings > 0 && greeting_deadline(s->greetings[0]) <= now)
		drop_oldest(s, "did not say who it is in time");
}

static void add_greeting(struct peer_server *s, int fd, const struct socket_address *from)
{
	struct peer_client_info info = { .port = socket_port(from) };
	struct socket_address here;
	struct greeting *g;

	socket_format_address(from, info.address);
	if (socket_local_address(fd, &here) == 0)
		socket_format_address(&here, info.local_address);
	if (s->ngreetings >= s->max_greetings)
		drop_oldest(s, "too many connections are waiting");
	g = greeting_new(fd, &info, s->accepted++, deadline_in_ms(s->timing->greeting_ms));
	if (g)
		s->greetings[s->ngreetings++] = g;
}

static void accept_all(struct peer_server *s)
{
	for (int i = 0; i < ACCEPTS_A_ROUND; i++) {
		struct socket_address from = { .len = sizeof(from.ss) };
		bool few = s->options.allow_iperf3 && listen_is_short(s->listen_fd);

		/* Somebody is there for sure only when poll() has just said so. */
		if (few && i > 0)
			return;
		/* Taken in now it would find none for its own test. */
		if (few && iperf3_spare_descriptors(s)) {
			s->accept_again_ns = deadline_in_ms(s->timing->accept_pause_ms);
			return;
		}
		int fd = accept4(s->listen_fd, (struct sockaddr *)&from.ss, &from.len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			add_greeting(s, fd, &from);
			continue;
		}
		switch (errno) {
		case EMFILE:
		case ENFILE:
		case ENOBUFS:
		case ENOMEM:
			if (!iperf3_spare_descriptors(s) && s->ngreetings > 0) {
				drop_oldest(s, "out of file descriptors or memory");
				continue;
			}
			/* The connection stays in the backlog and poll() would not wait: pause. */
			s->accept_again_ns = deadline_in_ms(s->timing->accept_pause_ms);
			return;
		case EAGAIN:
			return;
		default:
			/* Errors of the one connection, which accept() reports in its place. */
			continue;
		}
	}
}

/* ---- sessions ---- */

/* Joins and frees those that have ended.  True when none is left. */
static bool reap_sessions(struct peer_server *s)
{
	struct session *ended = NULL, **p;
	bool none;

	pthread_mutex_lock(&s->lock);
	for (p = &s->sessions; *p;) {
		struct session *ss = *p;

		if (!ss->done) {
			p = &ss->next;
			continue;
		}
		*p = ss->next;
		s->nsessions--;
		ss->next = ended;
		ended = ss;
	}
	none = s->sessions == NULL;
	pthread_mutex_unlock(&s->lock);
	while (ended) {
		struct session *next = ended->next;

		pthread_join(ended->thread, NULL);
		session_free(ended);
		ended = next;
	}
	return iperf3_reap(s) && none;
}

static void for_each_session(struct peer_server *s, void (*what)(struct session *))
{
	pthread_mutex_lock(&s->lock);
	for (struct session *ss = s->sessions; ss; ss = ss->next)
		what(ss);
	pthread_mutex_unlock(&s->lock);
}

static void wake_session(struct session *ss)
{
	eventfd_write(ss->wake_fd, 1);
}

static void cut_session(struct session *ss)
{
	channel_shutdown(&ss->channel);
}

static void wait_for_sessions(struct peer_server *s, uint64_t deadline_ns)
{
	struct pollfd p = { .fd = s->wake_fd, .events = POLLIN };
	eventfd_t count;

	while (!reap_sessions(s)) {
		int left = deadline_ns == UINT64_MAX ? -1 : deadline_left_ms(deadline_ns);

		if (left == 0)
			return;
		poll(&p, 1, left);
		eventfd_read(s->wake_fd, &count);
	}
}

/* Tells the sessions, waits a moment, cuts them off, and waits for the service to notice. */
static void stop_sessions(struct peer_server *s)
{
	atomic_store(&s->stopping, true);
	atomic_store(&s->cutting, true);
	for_each_session(s, wake_session);
	iperf3_wake_all(s);
	wait_for_sessions(s, deadline_in_ms(s->timing->stop_ms));
	for_each_session(s, cut_session);
	iperf3_cut_all(s);
	wait_for_sessions(s, UINT64_MAX);
}

/* ---- the loop ---- */

enum { POLL_STOP, POLL_WAKE, POLL_LISTEN, POLL_GREETINGS };

static int loop_timeout(const struct peer_server *s)
{
	uint64_t until = UINT64_MAX;

	if (s->ngreetings > 0)
		until = greeting_deadline(s->greetings[0]);
	if (s->accept_again_ns)
		until = deadline_earlier(until, s->accept_again_ns);
	return until == UINT64_MAX ? -1 : deadline_left_ms(until);
}

static nfds_t fill_poll(struct peer_server *s, struct pollfd *p, int stop_fd)
{
	if (s->accept_again_ns && monotonic_ns() >= s->accept_again_ns)
		s->accept_again_ns = 0;
	p[POLL_STOP] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
	p[POLL_WAKE] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	p[POLL_LISTEN] = (struct pollfd){
		.fd = s->accept_again_ns ? -1 : s->listen_fd,
		.events = POLLIN
	};
	for (size_t i = 0; i < s->ngreetings; i++)
		p[POLL_GREETINGS + i] = (struct pollfd){
			.fd = greeting_fd(s->greetings[i]),
			.events = greeting_events(s->greetings[i])
		};
	return (nfds_t)(POLL_GREETINGS + s->ngreetings);
}

/* Told to stop: true when there is something to wait for. */
static bool begin_to_drain(struct peer_server *s)
{
	if (!s->options.drains || !s->options.drains(s->options.event_state))
		return false;
	atomic_store(&s->stopping, true);
	for_each_session(s, wake_session);
	iperf3_wake_all(s);
	return !reap_sessions(s);
}

static bool once_is_over(struct peer_server *s)
{
	bool over;

	pthread_mutex_lock(&s->lock);
	over = s->once_over;
	pthread_mutex_unlock(&s->lock);
	return over;
}

int peer_server_run(struct peer_server *s, int stop_fd, struct error *err)
{
	struct pollfd p[POLL_GREETINGS + SERVER_MAX_GREETINGS];
	eventfd_t count;
	bool drains = false;
	int rc = 0;

	while (!once_is_over(s)) {
		nfds_t n = fill_poll(s, p, drains ? -1 : stop_fd);

		if (poll(p, n, loop_timeout(s)) < 0) {
			if (errno == EINTR)
				continue;
			rc = error_set(err, errno, "server: poll: %s", strerror(errno));
			break;
		}
		if (p[POLL_STOP].revents) {
			drains = begin_to_drain(s);
			if (!drains)
				break;
		}
		if (p[POLL_WAKE].revents) {
			eventfd_read(s->wake_fd, &count);
			s->accept_again_ns = 0;
			if (reap_sessions(s) && drains)
				break;
		}
		/* Backwards: a greeting that ends moves only those behind it. */
		for (nfds_t i = n; i > POLL_GREETINGS; i--)
			if (p[i - 1].revents)
				step_greeting(s, i - 1 - POLL_GREETINGS);
		expire_greetings(s);
		if (p[POLL_LISTEN].revents)
			accept_all(s);
	}
	stop_sessions(s);
	while (s->ngreetings > 0)
		drop_greeting(s, 0);
	return rc;
}

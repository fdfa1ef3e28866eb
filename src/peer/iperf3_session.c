/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One test of a plain iperf3 client, from its parameters to its results. */
#include "src/peer/iperf3_session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/peer/server.h"
#include "src/peer/socket.h"
#include "src/peer/thread.h"
#include "src/peer/wire.h"

enum {
	HEED_MS = 10		/* from a client's TEST_END to the end of our traffic */
};

/* ---- words ---- */

int iperf3_say(struct iperf3_session *is, unsigned char state)
{
	return wire_send(is->fd, &state, 1, deadline_in_ms(is->server->timing->send_ms));
}

int iperf3_refuse(struct iperf3_session *is, int code, const char *why)
{
	iperf3_send_error(is->fd, code);
	server_event(is->server, PEER_EVENT_REFUSED, "%s: refused an iperf3 client: %s",
		     is->info.address, why);
	return -ECANCELED;
}

/* ---- limits ---- */

static uint64_t asked_rate(const struct run_spec *s)
{
	uint64_t each = run_asked_bps(s);

	return each > UINT64_MAX / RUN_MAX_STREAMS ? UINT64_MAX : each * run_flows(s);
}

/*
 * A client that sends must ask for a rate that is allowed.  Our own sending keeps to one whatever
 * it asks for.
 */
static int limit_rate(struct iperf3_session *is)
{
	struct run_spec *s = &is->parameters.spec;
	uint64_t max = is->server->options.max_bps, asked = asked_rate(s);
	bool client_sends = run_client_sends(s);

	if (max && (asked > max || (asked == 0 && client_sends)))
		return iperf3_refuse(is, IPERF3_ETOTALRATE,
				     "it asks for more than --max-rate allows");
	server_limit_rate(&is->server->options, s, false);
	return 0;
}

/* Clients before 3.20 have no words for the newer code. */
static int duration_code(const struct iperf3_parameters *p)
{
	unsigned int minor = 0;
	const char *dot = strchr(p->client_version, '.');

	for (const char *c = dot ? dot + 1 : ""; *c >= '0' && *c <= '9' && minor < 1000; c++)
		minor = minor * 10 + (unsigned int)(*c - '0');
	return strncmp(p->client_version, "3.", 2) == 0 && minor < 20 ? IPERF3_EDURATION
								      : IPERF3_EMAXDURATION;
}

static int apply_limits(struct iperf3_session *is)
{
	const struct peer_server_options *o = &is->server->options;
	struct run_spec *s = &is->parameters.spec;
	uint64_t max_ms = (uint64_t)o->max_seconds * 1000;

	if (s->streams > o->max_streams || run_flows(s) > RUN_MAX_STREAMS)
		return iperf3_refuse(is, IPERF3_ENUMSTREAMS,
				     "it asks for more streams than are allowed");
	if (s->warmup_ms + s->window_ms > max_ms || s->warmup_ms >= max_ms)
		return iperf3_refuse(is, duration_code(&is->parameters),
				     "it asks for more time than --max-seconds allows");
	/* Bytes or blocks end it, or the client, or in the end we. */
	if (s->window_ms == 0)
		s->window_ms = max_ms - s->warmup_ms;
	return limit_rate(is);
}

/* ---- streams ---- */

static size_t arrived(struct iperf3_session *is, bool collecting)
{
	size_t n;

	pthread_mutex_lock(&is->server->lock);
	is->collecting = collecting;
	n = is->narrived;
	pthread_mutex_unlock(&is->server->lock);
	return n;
}

static int by_serial(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/*
 * A server that drains lets a test that runs go to its end; one that stops, the exchange of
 * results: as long as it waits for anybody.
 */
static bool must_end(const struct iperf3_session *is)
{
	return !is->exchanges &&
	       atomic_load(is->running ? &is->server->cutting : &is->server->stopping);
}

static int must_go(const struct iperf3_session *is)
{
	bool displaced;

	pthread_mutex_lock(&is->server->lock);
	displaced = is->displaced;
	pthread_mutex_unlock(&is->server->lock);
	return must_end(is) ? -ESHUTDOWN : displaced ? -EUSERS : 0;
}

/* Until something can be read from it; else as iperf3_listen(). */
static int await_word(struct iperf3_session *is, uint64_t deadline_ns)
{
	struct pollfd p[] = {
		{ .fd = is->fd, .events = POLLIN },
		{ .fd = is->wake_fd, .events = POLLIN }
	};
	eventfd_t count;
	int rc = must_go(is);

	if (rc < 0)
		return rc;
	poll(p, 2, deadline_left_ms(deadline_ns));
	if (p[0].revents)
		return 0;
	if (!p[1].revents)
		return monotonic_ns() >= deadline_ns ? -ETIMEDOUT : -EAGAIN;
	eventfd_read(is->wake_fd, &count);
	rc = must_go(is);
	return rc < 0 ? rc : -EAGAIN;
}

int iperf3_listen(struct iperf3_session *is, uint64_t deadline_ns, unsigned char *state)
{
	int rc = await_word(is, deadline_ns);

	return rc < 0 ? rc : wire_receive(is->fd, state, 1, deadline_ns);
}

int iperf3_receive(struct iperf3_session *is, void *buf, size_t len, uint64_t deadline_ns)
{
	size_t got = 0;

	while (got < len) {
		int rc = await_word(is, deadline_ns);
		ssize_t n;

		if (rc == -EAGAIN)
			continue;
		if (rc < 0)
			return rc;
		n = recv(is->fd, (char *)buf + got, len - got, MSG_DONTWAIT);
		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Until all are here. */
static int await_streams(struct iperf3_session *is)
{
	uint64_t deadline = deadline_in_ms(is->server->timing->data_ms);
	size_t n = run_flows(&is->parameters.spec);
	unsigned char state;
	int rc;

	arrived(is, true);
	rc = iperf3_say(is, IPERF3_CREATE_STREAMS);
	while (rc == 0 && arrived(is, true) < n) {
		rc = iperf3_listen(is, deadline, &state);
		/* Nothing is due from it but that it gives up. */
		if (rc == 0)
			rc = -ECONNABORTED;
		if (rc == -EAGAIN)
			rc = 0;
	}
	arrived(is, false);
	return rc;
}

static bool is_udp(const struct iperf3_session *is)
{
	return is->parameters.spec.protocol == RUN_UDP;
}

static int collect_streams(struct iperf3_session *is)
{
	struct error why = { "" };
	int rc;

	iperf3_begin_due(is, 0);
	rc = is_udp(is) ? iperf3_udp_open(is, &why) : 0;
	if (rc == 0) {
		rc = await_streams(is);
		if (is_udp(is) && rc == 0)
			rc = iperf3_extra_begin(is);
		if (is_udp(is) && rc < 0)
			iperf3_udp_close(is);
	}
	iperf3_end_due(is);
	if (rc == -EUSERS)
		return iperf3_refuse(is, IPERF3_ECREATESTREAM,
				     "its streams do not come, and another client needs its place");
	if (rc < 0 && why.text[0])
		return iperf3_refuse(is, IPERF3_ECREATESTREAM, why.text);
	if (rc == -ETIMEDOUT)
		return iperf3_refuse(is, IPERF3_ECREATESTREAM, "its streams did not come in time");
	qsort(is->arrivals, is->narrived, sizeof(*is->arrivals), by_serial);
	return rc;
}

static int error_code(int rc)
{
	switch (rc) {
	case -ENOENT:
	case -EPERM:
		return IPERF3_ESETCONGESTION;
	case -ENOBUFS:
		return IPERF3_ESETBUF2;
	default:
		return IPERF3_EINITSTREAM;
	}
}

static int set_options(struct iperf3_session *is)
{
	const struct run_spec *s = &is->parameters.spec;
	struct error why = { "" };

	for (size_t i = 0; i < is->narrived; i++) {
		int rc = load_prepare_socket(is->arrivals[i].fd, s,
					     run_flow_role(s, run_server_role(s), i), &why);

		if (rc < 0)
			return iperf3_refuse(is, error_code(rc), why.text);
	}
	return 0;
}

/* ---- the run ---- */

/* Listens to the client while the service works. */
static void *watch_client(void *arg)
{
	struct iperf3_session *is = arg;
	uint64_t latest = is->window.stop_ns + IPERF3_GUARD_S * UINT64_C(1000000000);

	while (!atomic_load(&is->over)) {
		unsigned char state = 0;
		int rc = iperf3_listen(is, latest, &state);

		if (rc == -EAGAIN)
			continue;
		if (rc == -ETIMEDOUT)
			is->expired = true;
		if (rc == 0 && state == IPERF3_TEST_END)
			atomic_store(&is->ended, true);
		else
			atomic_store(&is->cancelled, true);
		break;
	}
	return NULL;
}

static bool hook_progress(void *state, cJSON *sample)
{
	struct iperf3_session *is = state;

	/* Nobody over there would understand it. */
	cJSON_Delete(sample);
	return !atomic_load(&is->cancelled);
}

static bool hook_cancelled(void *state)
{
	struct iperf3_session *is = state;

	return atomic_load(&is->cancelled);
}

static bool hook_ended(void *state)
{
	struct iperf3_session *is = state;

	return atomic_load(&is->ended);
}

static void hook_received(void *state, const struct peer_received *r)
{
	iperf3_progress(state, r);
	iperf3_extra_look(state, r);
}

static void hook_results(void *state, struct peer_results *ours)
{
	struct iperf3_session *is = state;

	peer_results_free(&is->ours);
	iperf3_extra_order(is, ours);
	is->ours = *ours;
	memset(ours, 0, sizeof(*ours));
}

static int run_service(struct iperf3_session *is, cJSON **end, struct error *why)
{
	struct peer_service *service = &is->server->service;
	struct peer_run_hooks hooks = {
		.state = is, .progress = hook_progress, .cancelled = hook_cancelled,
		.ended = hook_ended, .results = hook_results,
		.received = hook_received,
		.heed_ms = HEED_MS,
		.without_facts = !service->tested
	};
	int rc;

	is->fds = malloc(is->narrived * sizeof(*is->fds));
	if (!is->fds)
		return error_set(why, ENOMEM, "out of memory");
	rc = thread_start(&is->watcher, watch_client, is);
	if (rc < 0) {
		free(is->fds);
		return error_set(why, rc, "no thread for the run: %s", strerror(-rc));
	}
	for (size_t i = 0; i < is->narrived; i++)
		is->fds[i] = is->arrivals[i].fd;
	/* The service's to close, in any case. */
	pthread_mutex_lock(&is->server->lock);
	is->narrived = 0;
	pthread_mutex_unlock(&is->server->lock);
	rc = service->run(service->state, &is->info, &is->parameters.spec, is->fds,
			  &is->window, &hooks, end, why);
	atomic_store(&is->over, true);
	eventfd_write(is->wake_fd, 1);
	pthread_join(is->watcher, NULL);
	free(is->fds);
	return rc;
}

static void set_window(struct iperf3_session *is)
{
	const struct run_spec *s = &is->parameters.spec;

	is->window.from_ns = monotonic_ns() + s->warmup_ms * 1000000u;
	is->window.to_ns = is->window.from_ns + s->window_ms * 1000000u;
	is->window.stop_ns = is->window.to_ns + IPERF3_OVERRUN_S * UINT64_C(1000000000);
}

/* Until the client's TEST_END; all data sockets are closed then, for which it waits. */
static int run_test(struct iperf3_session *is, cJSON **end)
{
	struct error why = { "" };
	int rc = iperf3_say(is, IPERF3_TEST_START);

	is->running = true;
	if (rc == 0)
		rc = iperf3_say(is, IPERF3_TEST_RUNNING);
	if (rc < 0)
		return rc;
	set_window(is);
	/* A client that is to send, or to take in, and does not may be stopped, or cut off. */
	iperf3_begin_data(is);
	rc = run_service(is, end, &why);
	iperf3_end_due(is);
	if (must_go(is) == -EUSERS)
		return iperf3_refuse(is, IPERF3_EDURATIONEXPIRED,
				     run_client_sends(&is->parameters.spec) ?
				     "nothing comes from it, and another client needs its place" :
				     "it takes nothing in, and another client needs its place");
	if (is->expired)
		return iperf3_refuse(is, IPERF3_EDURATIONEXPIRED, "its test did not end in time");
	if (must_end(is)) {
		iperf3_say(is, IPERF3_SERVER_TERMINATE);
		return -ESHUTDOWN;
	}
	if (atomic_load(&is->cancelled))
		return -ECONNRESET;
	/* A service that measured nothing in so short a time still has the bytes. */
	if (rc == -ENODATA && is->ours.nflows)
		return 0;
	if (rc == -EDQUOT)
		return iperf3_refuse(is, IPERF3_ETOTALRATE, why.text);
	return rc < 0 ? iperf3_refuse(is, IPERF3_EINITSTREAM, why.text) : 0;
}

/* ---- one test ---- */

static void tell_service(struct iperf3_session *is, const cJSON *end,
			 const struct peer_results *theirs)
{
	struct peer_service *service = &is->server->service;

	if (service->tested && end)
		service->tested(service->state, &is->info, &is->parameters.spec, end, theirs);
}

static void announce(struct iperf3_session *is)
{
	const struct run_spec *s = &is->parameters.spec;
	const char *version = is->parameters.client_version;

	is->announced = true;
	server_event(is->server, PEER_EVENT_TEST,
		     "%s: iperf3%s%s test%s%s: %" PRIu64 "%s stream%s, %s", is->info.address,
		     *version ? " " : "", version, *is->user ? " of " : "", is->user, s->streams,
		     s->protocol == RUN_UDP ? " UDP" : "", s->streams == 1 ? "" : "s",
		     s->bidirectional ? "both send" :
		     s->direction == RUN_FORWARD ? "the client sends" : "this host sends");
}

/* So that they are at hand when its report is due: reading them later would delay the traffic. */
static void read_facts(struct iperf3_session *is)
{
	struct peer_service *service = &is->server->service;
	struct error why = { "" };
	cJSON *facts = NULL;

	if (service->tested && service->facts(service->state, &is->info, &facts, &why) == 0)
		cJSON_Delete(facts);
}

/* In a thread of the session's: decrypting takes its time. */
static int check_user(struct iperf3_session *is)
{
	struct peer_users *users = is->server->options.iperf3_users;

	is->known = !users || iperf3_users_check(users, is->parameters.token, time(NULL),
						 is->user) == 0;
	if (is->known)
		return 0;
	return iperf3_refuse(is, IPERF3_EAUTHTEST, *is->parameters.token ?
			     "its user, password, padding or clock is wrong" : "it did not log in");
}

static int test(struct iperf3_session *is)
{
	struct peer_results theirs = { 0 };
	cJSON *end = NULL;
	int rc = check_user(is);

	if (rc == 0)
		rc = apply_limits(is);
	if (rc < 0)
		return rc;
	announce(is);
	read_facts(is);
	rc = collect_streams(is);
	if (rc == 0)
		rc = set_options(is);
	if (rc == 0)
		rc = run_test(is, &end);
	iperf3_udp_close(is);
	if (rc == 0)
		rc = iperf3_exchange(is, &theirs);
	if (rc == 0)
		tell_service(is, end, &theirs);
	peer_results_free(&theirs);
	cJSON_Delete(end);
	return rc;
}

static const char *reason_of_end(int rc)
{
	switch (rc) {
	case 0:
		return "its results are exchanged";
	case -ECANCELED:
		return "refused";
	case -ESHUTDOWN:
		return "this server stops";
	case -ETIMEDOUT:
		return "it said nothing for too long";
	case -ECONNABORTED:
		return "it gave up";
	case -EHOSTUNREACH:
		return "cut off for long";
	case -ECONNRESET:
		return "gone in the middle of it";
	default:
		return strerror(-rc);
	}
}

void *iperf3_session_thread(void *arg)
{
	struct iperf3_session *is = arg;
	struct peer_server *s = is->server;
	int rc = test(is);

	/* The descriptor stays until the accepting thread has let go of it too. */
	shutdown(is->fd, SHUT_RDWR);
	if (s->service.gone)
		s->service.gone(s->service.state, &is->info);
	if (is->announced)
		server_event(s, PEER_EVENT_TESTED, "%s: iperf3 test over: %s", is->info.address,
			     reason_of_end(rc));
	pthread_mutex_lock(&s->lock);
	/* Who could not log in has not been served. */
	s->once_begun = s->once_begun && is->known;
	s->once_over = s->once_over || (s->options.once && is->known);
	is->done = true;
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->wake_fd, 1);
	return NULL;
}

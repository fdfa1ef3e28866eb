/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tests of iperf3 clients that go on: who gets one, whose a data connection is, their end. */
#include "src/peer/iperf3_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "src/peer/listen.h"
#include "src/peer/server.h"
#include "src/peer/thread.h"
#include "src/peer/wire.h"

enum {
	PATIENCE_NS = 1000 * 1000 * 1000,
	CROWD = 8			/* clients of one host without streams */
};

void iperf3_send_error(int fd, int code)
{
	unsigned char answer[9] = { IPERF3_SERVER_ERROR };

	wire_put_be32(answer + 1, (uint32_t)code);
	/* The send buffer takes these few bytes, or the client is up to no good. */
	(void)!send(fd, answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
}

enum data_verdict iperf3_offer(struct peer_server *s, const char cookie[PEER_COOKIE_BYTES], int fd,
			       uint64_t serial)
{
	enum data_verdict v = DATA_UNKNOWN;

	pthread_mutex_lock(&s->lock);
	for (struct iperf3_session *is = s->iperf3_sessions; is && v == DATA_UNKNOWN;
	     is = is->next) {
		if (is->done || CRYPTO_memcmp(is->cookie, cookie, PEER_COOKIE_BYTES) != 0)
			continue;
		v = DATA_REUSED;
		if (!is->collecting || is->displaced ||
		    is->parameters.spec.protocol != RUN_TCP ||
		    is->narrived == run_flows(&is->parameters.spec))
			continue;
		is->arrivals[is->narrived++] = (struct arrival){ .fd = fd, .serial = serial };
		is->idle_since_ns = monotonic_ns();
		if (is->narrived == run_flows(&is->parameters.spec))
			eventfd_write(is->wake_fd, 1);
		v = DATA_TAKEN;
	}
	pthread_mutex_unlock(&s->lock);
	return v;
}

static void session_delete(struct iperf3_session *is)
{
	for (size_t i = 0; i < is->narrived; i++)
		close(is->arrivals[i].fd);
	free(is->arrivals);
	free(is->serials);
	peer_results_free(&is->ours);
	if (is->wake_fd >= 0)
		close(is->wake_fd);
	if (is->fd >= 0)
		close(is->fd);
	free(is);
}

/* NULL: no memory or no descriptor, and fd is the caller's. */
static struct iperf3_session *session_new(struct peer_server *s, int fd,
					  const struct peer_client_info *info, const char *cookie,
					  const struct iperf3_parameters *parameters)
{
	struct iperf3_session *is = calloc(1, sizeof(*is));

	if (!is)
		return NULL;
	is->server = s;
	is->fd = fd;
	is->info = *info;
	is->info.iperf3 = true;
	is->parameters = *parameters;
	memcpy(is->cookie, cookie, sizeof(is->cookie));
	is->arrivals = calloc(run_flows(&parameters->spec), sizeof(*is->arrivals));
	is->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (is->arrivals && is->wake_fd >= 0)
		return is;
	is->fd = -1;
	session_delete(is);
	return NULL;
}

/* ---- places ---- */

/* Something is due from it, and does not come. */
static bool is_awaited(const struct iperf3_session *is)
{
	if (monotonic_ns() - is->idle_since_ns < is->may_pause_ns)
		return false;
	return is->idle_since_ns && !is->displaced && !is->done &&
	       is->narrived < run_flows(&is->parameters.spec);
}

/* What there is too little of: a client has one place, and descriptors for what it opened. */
enum scarce { PLACES, DESCRIPTORS };

static size_t holds(const struct iperf3_session *is, enum scarce what)
{
	return !is_awaited(is) ? 0 : what == PLACES ? 1 : 2 + is->narrived + is->nextras;
}

static size_t host_holds(const struct peer_server *s, const struct iperf3_session *of,
			 enum scarce what)
{
	size_t n = 0;

	for (const struct iperf3_session *is = s->iperf3_sessions; is; is = is->next)
		if (strcmp(is->info.address, of->info.address) == 0)
			n += holds(is, what);
	return n;
}

void iperf3_displace(struct peer_server *s, struct iperf3_session *is)
{
	is->displaced = true;
	s->niperf3--;
	eventfd_write(is->wake_fd, 1);
}

/*
 * With one of a host that holds so much.  A crowd would keep others out by coming again and again;
 * but one may be opening many streams just now.
 */
static uint64_t patience(const struct peer_server *s, enum scarce what, size_t held)
{
	if (what == PLACES)
		return held >= CROWD && held > s->options.max_iperf3 / 4 ? 0 : PATIENCE_NS;
	return held > listen_max_descriptors() / 2 ? PATIENCE_NS / 4 : PATIENCE_NS;
}

/*
 * A place is for who uses it.  Of the host whose clients that are awaited hold the most, the one
 * that has brought nothing for longest loses its own.
 */
static bool displace(struct peer_server *s, enum scarce what)
{
	struct iperf3_session *worst = NULL;
	size_t most = 0;

	for (struct iperf3_session *is = s->iperf3_sessions; is; is = is->next) {
		size_t n = is_awaited(is) ? host_holds(s, is, what) : 0;

		if (n < most || n == 0 ||
		    (n == most && is->idle_since_ns >= worst->idle_since_ns))
			continue;
		worst = is;
		most = n;
	}
	if (!worst || monotonic_ns() - worst->idle_since_ns < patience(s, what, most))
		return false;
	iperf3_displace(s, worst);
	return true;
}

bool iperf3_spare_descriptors(struct peer_server *s)
{
	bool coming = false;

	pthread_mutex_lock(&s->lock);
	for (const struct iperf3_session *is = s->iperf3_sessions; is; is = is->next)
		coming = coming || is->displaced;
	/* One at a time: what it held is closed when it has ended. */
	if (!coming)
		coming = displace(s, DESCRIPTORS);
	pthread_mutex_unlock(&s->lock);
	return coming;
}

/* Under the server's lock: 0, or why not. */
static int admit(struct peer_server *s, struct iperf3_session *is)
{
	int rc = 0;

	if (s->options.once && s->once_begun)
		return -EBUSY;
	if (s->niperf3 >= s->options.max_iperf3)
		displace(s, PLACES);
	if (s->niperf3 >= s->options.max_iperf3)
		return -EUSERS;
	rc = thread_start(&is->thread, iperf3_session_thread, is);
	if (rc < 0)
		return rc;
	is->next = s->iperf3_sessions;
	s->iperf3_sessions = is;
	s->niperf3++;
	s->once_begun = true;
	return 0;
}

void iperf3_session_start(struct peer_server *s, int fd, const struct peer_client_info *info,
			  const char cookie[PEER_COOKIE_BYTES],
			  const struct iperf3_parameters *parameters)
{
	static const unsigned char denied = IPERF3_ACCESS_DENIED;
	struct iperf3_session *is = session_new(s, fd, info, cookie, parameters);
	int rc = -ENOMEM;

	if (is) {
		pthread_mutex_lock(&s->lock);
		rc = admit(s, is);
		pthread_mutex_unlock(&s->lock);
	}
	if (rc == 0)
		return;
	server_event(s, PEER_EVENT_REFUSED, "%s: refused an iperf3 client: %s", info->address,
		     rc == -EUSERS ? "as many tests as are allowed go on" :
		     is ? strerror(-rc) : "out of memory or file descriptors");
	/* To its user: "the server is busy running a test.  try again later". */
	(void)!send(fd, &denied, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (is)
		session_delete(is);
	else
		close(fd);
}

bool iperf3_reap(struct peer_server *s)
{
	struct iperf3_session *ended = NULL, **p;
	bool none;

	pthread_mutex_lock(&s->lock);
	for (p = &s->iperf3_sessions; *p;) {
		struct iperf3_session *is = *p;

		if (!is->done) {
			p = &is->next;
			continue;
		}
		*p = is->next;
		s->niperf3 -= !is->displaced;
		is->next = ended;
		ended = is;
	}
	none = s->iperf3_sessions == NULL;
	pthread_mutex_unlock(&s->lock);
	while (ended) {
		struct iperf3_session *next = ended->next;

		pthread_join(ended->thread, NULL);
		session_delete(ended);
		ended = next;
	}
	return none;
}

void iperf3_wake_all(struct peer_server *s)
{
	pthread_mutex_lock(&s->lock);
	for (struct iperf3_session *is = s->iperf3_sessions; is; is = is->next)
		eventfd_write(is->wake_fd, 1);
	pthread_mutex_unlock(&s->lock);
}

void iperf3_cut_all(struct peer_server *s)
{
	pthread_mutex_lock(&s->lock);
	for (struct iperf3_session *is = s->iperf3_sessions; is; is = is->next)
		shutdown(is->fd, SHUT_RDWR);
	pthread_mutex_unlock(&s->lock);
}

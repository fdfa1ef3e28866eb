/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/ping.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "src/load/limits.h"

enum { STACK_BYTES = 128 * 1024, READ_MESSAGES = 64, WAIT_MS = 1000 };

struct ping {
	struct ping_config config;
	int stop_fd;
	_Atomic bool quiet;
	pthread_t thread;
	struct ping_ledger ledger;
	unsigned char in[READ_MESSAGES * PING_MESSAGE_BYTES];
	size_t have;			/* bytes of `in`: less than a message between two reads */
	uint64_t next_ns;		/* request */
};

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* How long ago the kernel took in what recvmsg() returned; 0 when it does not say. */
static uint64_t lay_ns(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct timespec ts;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS ||
		    c->cmsg_len < CMSG_LEN(sizeof(ts)))
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		uint64_t at = (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
		uint64_t now = wall_ns();
		/* Only a clock that was set in between is a minute off. */
		return at && now > at && now - at < HISTOGRAM_MOST_NS ? now - at : 0;
	}
	return 0;
}

/* Bytes that were read, 0: none now, or -errno; the end of the connection is -EPIPE. */
static ssize_t take_in(struct ping *p, uint64_t *lay)
{
	char control[CMSG_SPACE(sizeof(struct timespec))] __attribute__((aligned(8)));
	struct iovec iov = { p->in + p->have, sizeof(p->in) - p->have };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(p->config.fd, &msg, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -EPIPE;
	*lay = lay_ns(&msg);
	p->have += (size_t)n;
	return n;
}

/* A message is either sent or not: the buffer of a connection that carries little has room. */
static int say(struct ping *p, const struct ping_message *m)
{
	unsigned char bytes[PING_MESSAGE_BYTES];

	ping_message_put(bytes, m);
	ssize_t n = send(p->config.fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n == (ssize_t)sizeof(bytes))
		return 0;
	return n < 0 && errno != EAGAIN ? -errno : -ENOBUFS;
}

static int handle(struct ping *p, const struct ping_message *m, uint64_t now_ns, uint64_t lay)
{
	const struct ping_message answer = { .number = m->number, .held_ns = lay };

	return p->config.echo ? say(p, &answer) : ping_ledger_answer(&p->ledger, m, now_ns, lay);
}

static int hear(struct ping *p)
{
	uint64_t lay = 0;
	ssize_t n = take_in(p, &lay);
	uint64_t now_ns = monotonic_ns();
	size_t used = 0;
	int rc = 0;

	if (n <= 0)
		return (int)n;
	for (; !rc && p->have - used >= PING_MESSAGE_BYTES; used += PING_MESSAGE_BYTES) {
		struct ping_message m;

		ping_message_get(p->in + used, &m);
		rc = handle(p, &m, now_ns, lay);
	}
	p->have -= used;
	memmove(p->in, p->in + used, p->have);
	return rc;
}

/* True with the phase whose requests are sent now; else *next_ns is when to look again. */
static bool phase_at(const struct ping *p, uint64_t now, enum ping_phase *phase, uint64_t *next_ns)
{
	*next_ns = UINT64_MAX;
	for (enum ping_phase i = PING_IDLE; i < PING_PHASES; i++) {
		uint64_t from = p->config.send[i].from_ns, to = p->config.send[i].to_ns;

		*phase = i;
		if (now >= from && now < to)
			return true;
		if (now < from && from < to && from < *next_ns)
			*next_ns = from;
	}
	return false;
}

/* Sends what is due.  0 or -errno. */
static int ask(struct ping *p, uint64_t now)
{
	static const uint64_t beat_ns[PING_PHASES] = {
		[PING_IDLE] = PING_IDLE_BEAT_US * UINT64_C(1000),
		[PING_LOADED] = PING_LOADED_BEAT_US * UINT64_C(1000),
	};
	enum ping_phase phase;
	uint64_t next;

	if (p->config.echo || atomic_load_explicit(&p->quiet, memory_order_relaxed)) {
		p->next_ns = UINT64_MAX;
		return 0;
	}
	if (now < p->next_ns)
		return 0;
	if (!phase_at(p, now, &phase, &next)) {
		p->next_ns = next;
		return 0;
	}
	p->next_ns = now + beat_ns[phase];
	const struct ping_message m = { .number = p->ledger.sent };
	return ping_ledger_ask(&p->ledger, phase, monotonic_ns()) ? say(p, &m) : 0;
}

/* Nanoseconds until there is something to send; poll() in milliseconds would be late. */
static struct timespec until_next(const struct ping *p)
{
	uint64_t now = monotonic_ns(), most = WAIT_MS * UINT64_C(1000000);
	uint64_t left = p->next_ns > now ? p->next_ns - now : 0;

	if (left > most)
		left = most;
	return (struct timespec){ (time_t)(left / 1000000000), (long)(left % 1000000000) };
}

static void *ping_main(void *arg)
{
	struct ping *p = arg;
	struct pollfd fds[2] = { { .fd = p->config.fd, .events = POLLIN },
				 { .fd = p->stop_fd, .events = POLLIN } };
	int rc = 0;

	/* Timers of 50 us slack would be half of a short round trip. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (!rc) {
		rc = ask(p, monotonic_ns());
		if (rc)
			break;
		const struct timespec wait = until_next(p);
		if (ppoll(fds, 2, &wait, NULL) < 0 && errno != EINTR)
			rc = -errno;
		if (fds[1].revents)
			break;
		if (!rc && fds[0].revents)
			rc = hear(p);
	}
	return NULL;
}

static int set_options(const struct ping_config *c)
{
	int one = 1, tos = (int)c->tos, family = 0;
	socklen_t len = sizeof(family);

	if (setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0 ||
	    getsockopt(c->fd, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0)
		return -errno;
	/* Without it our own waiting counts: worse, and no reason to measure nothing. */
	(void)setsockopt(c->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	if (!tos)
		return 0;
	if (family == AF_INET6)
		return setsockopt(c->fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos)) ? -errno : 0;
	return setsockopt(c->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)) ? -errno : 0;
}

static int start_thread(struct ping *p)
{
	pthread_attr_t attr;
	sigset_t all, before;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&p->thread, &attr, ping_main, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}

int ping_start(const struct ping_config *c, struct ping **out, struct error *err)
{
	struct ping *p = calloc(1, sizeof(*p));
	int rc = p ? set_options(c) : -ENOMEM;

	*out = NULL;
	if (rc)
		goto fail;
	p->config = *c;
	p->ledger.idle_until_ns = c->idle_until_ns;
	p->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = p->stop_fd < 0 ? -errno : start_thread(p);
	if (!rc) {
		*out = p;
		return 0;
	}
	if (p->stop_fd >= 0)
		close(p->stop_fd);
fail:
	close(c->fd);
	free(p);
	return error_set(err, -rc, "cannot measure round trips: %s", strerror(-rc));
}

void ping_quiet(struct ping *p)
{
	if (p)
		atomic_store_explicit(&p->quiet, true, memory_order_relaxed);
}

void ping_stop(struct ping *p, struct ping_result *out)
{
	if (out)
		memset(out, 0, sizeof(*out));
	if (!p)
		return;
	eventfd_write(p->stop_fd, 1);
	pthread_join(p->thread, NULL);
	ping_ledger_close(&p->ledger);
	if (out)
		*out = p->ledger.result;
	close(p->config.fd);
	close(p->stop_fd);
	free(p);
}

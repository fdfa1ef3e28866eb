/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/udp_door.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/peer/thread.h"
#include "src/peer/wire.h"

enum {
	EVENTS_PER_WAIT = 64,
	DATAGRAMS_A_ROUND = 64,		/* of one socket, before the others have their turn */
	MAX_STRAYS = 64,
	ROOM_BYTES = 1024 * 1024	/* a greeting takes about a page with its bookkeeping */
};

struct knock {
	char text[PEER_COOKIE_BYTES + 1];	/* one more than the longest: longer ones show */
	size_t len;
	struct socket_address from;
};

struct door_flow {
	struct door_flow *next;
	struct udp_guest *guest;
	int fd;				/* its guest's */
	struct knock opened_by;
};

struct udp_door {
	int listen_fd;

	/* Opening and closing, under this lock. */
	pthread_mutex_t life;
	int fd, epoll_fd, stop_fd;
	pthread_t thread;

	/* Under this lock, which the thread holds but while it waits. */
	pthread_mutex_t lock;
	struct udp_guest *guests;
	struct door_flow *flows;
	struct knock strays[MAX_STRAYS];	/* greetings that came to another's new socket */
	size_t nstrays;
};

/* Among ourselves: SO_REUSEADDR would let any user's program take datagrams from us. */
static int share_port(int fd)
{
	int on = 1;

	return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ? -errno : 0;
}

static int watch(struct udp_door *d, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* One datagram; with peek it stays.  False: there is none. */
static bool next_knock(int fd, bool peek, struct knock *k)
{
	ssize_t n = -1;

	/* Errors are of what was sent before (a refused answer), and each is told once. */
	for (int i = 0; n < 0 && i < DATAGRAMS_A_ROUND; i++) {
		k->from.len = sizeof(k->from.ss);
		n = recvfrom(fd, k->text, sizeof(k->text), MSG_DONTWAIT | (peek ? MSG_PEEK : 0),
			     (struct sockaddr *)&k->from.ss, &k->from.len);
		if (n < 0 && errno == EAGAIN)
			return false;
	}
	k->len = n > 0 ? (size_t)n : 0;
	if (n >= 0)
		socket_unmap(&k->from);
	return n >= 0;
}

static bool same_origin(const struct socket_address *a, const struct socket_address *b)
{
	return socket_same_host(a, b) && socket_port(a) == socket_port(b);
}

/* ---- flows ---- */

/* A flow's socket; -errno. */
static int new_socket(const struct udp_guest *g, const struct socket_address *from)
{
	int fd = socket_new_udp(g->local.ss.ss_family), rc;

	if (fd < 0)
		return fd;
	rc = share_port(fd);
	if (rc == 0 && (bind(fd, (const struct sockaddr *)&g->local.ss, g->local.len) < 0 ||
			connect(fd, (const struct sockaddr *)&from->ss, from->len) < 0))
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/*
 * From bind() to connect() a socket takes anybody's datagrams.  An iperf3 greets but once, so
 * what came then is heard all the same.
 */
static void take_strays(struct udp_door *d, const struct door_flow *f)
{
	struct knock k;

	while (next_knock(f->fd, true, &k) && !same_origin(&k.from, &f->opened_by.from)) {
		next_knock(f->fd, false, &k);
		if (k.len && d->nstrays < MAX_STRAYS)
			d->strays[d->nstrays++] = k;
	}
}

static void answer(const struct door_flow *f)
{
	char text[PEER_COOKIE_BYTES];

	f->guest->answer(f->opened_by.text, text);
	/* Lost or refused: the client asks again. */
	(void)!send(f->fd, text, f->guest->len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void let_in(struct udp_door *d, struct udp_guest *g, const struct knock *k)
{
	struct door_flow *f = malloc(sizeof(*f));

	if (!f)
		return;
	*f = (struct door_flow){ .next = d->flows, .guest = g, .opened_by = *k };
	f->fd = new_socket(g, &k->from);
	if (f->fd < 0) {
		free(f);	/* out of descriptors: perhaps not next time */
		return;
	}
	take_strays(d, f);
	if (watch(d, f->fd) < 0 || g->take(g->state, k->text, f->fd) != DATA_TAKEN) {
		close(f->fd);
		free(f);
		return;
	}
	d->flows = f;
	answer(f);
}

/* The flow that this one has opened already, by a greeting that came twice; NULL: none. */
static const struct door_flow *opened_by(const struct udp_door *d, const struct knock *k)
{
	const struct door_flow *f = d->flows;

	while (f && !same_origin(&f->opened_by.from, &k->from))
		f = f->next;
	return f;
}

static void meet(struct udp_door *d, const struct knock *k)
{
	struct udp_guest *g = d->guests;

	while (g && (k->len != g->len || !socket_same_host(&k->from, &g->remote) ||
		     g->look(g->state, k->text) != DATA_TAKEN))
		g = g->next;
	if (g && !opened_by(d, k))
		let_in(d, g, k);
}

static void look_outside(struct udp_door *d)
{
	struct knock k;

	for (int i = 0; i < DATAGRAMS_A_ROUND && next_knock(d->fd, false, &k); i++)
		meet(d, &k);
}

/* A flow that knocks again has not heard the answer.  Anything else is data: not ours to read. */
static void look_at_flow(struct udp_door *d, const struct door_flow *f)
{
	struct knock k;

	take_strays(d, f);
	for (int i = 0; i < DATAGRAMS_A_ROUND && next_knock(f->fd, true, &k); i++) {
		if (k.len != f->guest->len || memcmp(k.text, f->opened_by.text, k.len) != 0) {
			epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
			return;
		}
		next_knock(f->fd, false, &k);
		answer(f);
	}
}

static void look_at(struct udp_door *d, int fd)
{
	const struct door_flow *f = d->flows;

	while (f && f->fd != fd)
		f = f->next;
	if (fd == d->fd)
		look_outside(d);
	else if (f)
		look_at_flow(d, f);
	/* Each makes a socket, which may have more of them. */
	while (d->nstrays > 0) {
		struct knock k = d->strays[--d->nstrays];

		meet(d, &k);
	}
}

static void *door_main(void *arg)
{
	struct udp_door *d = arg;
	struct epoll_event events[EVENTS_PER_WAIT];
	bool stop = false;

	while (!stop) {
		int n = epoll_wait(d->epoll_fd, events, EVENTS_PER_WAIT, -1);

		pthread_mutex_lock(&d->lock);
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == d->stop_fd)
				stop = true;
			else
				look_at(d, events[i].data.fd);
		}
		pthread_mutex_unlock(&d->lock);
	}
	return NULL;
}

/* ---- opening and closing, under the life lock ---- */

static void close_all(struct udp_door *d)
{
	int *fds[] = { &d->fd, &d->epoll_fd, &d->stop_fd };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/* Where the server listens, for both families if it does. */
static int bind_as_listener(const struct udp_door *d)
{
	struct socket_address here;
	socklen_t len = sizeof(int);
	int only = 0, room = ROOM_BYTES, rc = socket_local_address(d->listen_fd, &here);

	if (rc == 0)
		rc = share_port(d->fd);
	if (rc < 0)
		return rc;
	if (here.ss.ss_family == AF_INET6 &&
	    (getsockopt(d->listen_fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len) < 0 ||
	     setsockopt(d->fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)) < 0))
		return -errno;
	/* Best effort: what does not fit is sent again. */
	(void)!setsockopt(d->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	return bind(d->fd, (const struct sockaddr *)&here.ss, here.len) < 0 ? -errno : 0;
}

static int open_all(struct udp_door *d)
{
	struct socket_address here;
	int rc = socket_local_address(d->listen_fd, &here);

	if (rc < 0)
		return rc;
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->epoll_fd < 0 || d->stop_fd < 0)
		return -errno;
	d->fd = socket_new_udp(here.ss.ss_family);
	if (d->fd < 0)
		return d->fd;
	rc = bind_as_listener(d);
	if (rc == 0)
		rc = watch(d, d->fd);
	if (rc == 0)
		rc = watch(d, d->stop_fd);
	return rc ? rc : thread_start(&d->thread, door_main, d);
}

static void shut(struct udp_door *d)
{
	eventfd_write(d->stop_fd, 1);
	pthread_join(d->thread, NULL);
	close_all(d);
}

int udp_door_enter(struct udp_door *d, struct udp_guest *g, int session_fd,
		   struct error *err)
{
	struct socket_address here = { .len = 0 };
	int rc = socket_local_address(session_fd, &g->local);

	if (rc == 0)
		rc = socket_remote_address(session_fd, &g->remote);
	if (rc < 0)
		return error_set(err, rc, "UDP: %s", strerror(-rc));
	socket_unmap(&g->local);
	socket_unmap(&g->remote);
	pthread_mutex_lock(&d->life);
	if (d->fd < 0)
		rc = open_all(d);
	if (rc == 0) {
		pthread_mutex_lock(&d->lock);
		g->next = d->guests;
		d->guests = g;
		pthread_mutex_unlock(&d->lock);
	} else {
		close_all(d);
	}
	pthread_mutex_unlock(&d->life);
	if (rc == 0)
		return 0;
	socket_local_address(d->listen_fd, &here);
	return error_set(err, rc, "UDP port %u: %s%s", socket_port(&here), strerror(-rc),
			 rc == -EADDRINUSE ? " by another program" : "");
}

/* A greeting left behind is in the way of data. */
static void let_go(struct udp_door *d, const struct udp_guest *g)
{
	for (struct door_flow **p = &d->flows; *p;) {
		struct door_flow *f = *p;

		if (f->guest != g) {
			p = &f->next;
			continue;
		}
		look_at_flow(d, f);
		epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
		*p = f->next;
		free(f);
	}
}

void udp_door_leave(struct udp_door *d, struct udp_guest *g)
{
	bool last;

	pthread_mutex_lock(&d->life);
	pthread_mutex_lock(&d->lock);
	let_go(d, g);
	for (struct udp_guest **p = &d->guests; *p; p = &(*p)->next)
		if (*p == g) {
			*p = g->next;
			break;
		}
	last = !d->guests;
	pthread_mutex_unlock(&d->lock);
	if (last && d->fd >= 0)
		shut(d);
	pthread_mutex_unlock(&d->life);
}

struct udp_door *udp_door_new(int listen_fd)
{
	struct udp_door *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->listen_fd = listen_fd;
	d->fd = d->epoll_fd = d->stop_fd = -1;
	pthread_mutex_init(&d->life, NULL);
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

void udp_door_free(struct udp_door *d)
{
	if (!d)
		return;
	pthread_mutex_destroy(&d->life);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* ---- cookies ---- */

static enum data_verdict look_for_cookie(void *state, const char *greeting)
{
	return data_look(state, RUN_UDP, greeting);
}

static enum data_verdict take_cookie(void *state, const char *greeting, int fd)
{
	return data_offer(state, RUN_UDP, greeting, fd);
}

struct udp_guest udp_door_cookies(struct data_registry *data)
{
	return (struct udp_guest){
		.len = PEER_COOKIE_BYTES, .look = look_for_cookie, .take = take_cookie,
		.answer = wire_cookie_answer, .state = data
	};
}

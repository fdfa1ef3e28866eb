/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/udp_door.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/peer/thread.h"
#include "src/peer/wire.h"

enum {
	EVENTS_PER_WAIT = 64,
	DATAGRAMS_A_ROUND = 64		/* of one socket, before the others have their turn */
};

struct udp_door {
	struct data_registry *data;
	struct socket_address local, remote;	/* of the session; remote's port means nothing */
	int fd, epoll_fd, stop_fd;
	pthread_t thread;
	bool started;
};

/* Bound to the session's address; others may be, too. */
static int bind_here(const struct udp_door *d, int fd)
{
	int on = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&d->local.ss, d->local.len) < 0)
		return -errno;
	return 0;
}

static int watch(struct udp_door *d, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* A flow's socket; -errno. */
static int new_flow(const struct udp_door *d, const struct socket_address *from)
{
	/*
	 * From bind() to connect() it would take anybody's datagrams, and keep them.  This filter
	 * lets none in meanwhile; a cookie that it costs is sent again.
	 */
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog filter = { .len = 1, .filter = &nothing };
	int fd = socket_new_udp(d->local.ss.ss_family), unused = 0, rc;

	if (fd < 0)
		return fd;
	rc = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ? -errno : 0;
	if (rc == 0)
		rc = bind_here(d, fd);
	if (rc == 0 && connect(fd, (const struct sockaddr *)&from->ss, from->len) < 0)
		rc = -errno;
	if (rc == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused)) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static void answer(int fd, const char *cookie)
{
	char text[PEER_COOKIE_BYTES];

	wire_cookie_answer(cookie, text);
	/* Lost or refused: the client asks again. */
	(void)!send(fd, text, sizeof(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void let_in(struct udp_door *d, const char *cookie, const struct socket_address *from)
{
	int fd;

	if (data_look(d->data, RUN_UDP, cookie) != DATA_TAKEN)
		return;
	fd = new_flow(d, from);
	if (fd < 0)
		return;		/* out of descriptors: perhaps not next time */
	if (watch(d, fd) < 0 || data_offer(d->data, RUN_UDP, cookie, fd) != DATA_TAKEN) {
		close(fd);
		return;
	}
	answer(fd, cookie);
}

static void look_outside(struct udp_door *d)
{
	for (int i = 0; i < DATAGRAMS_A_ROUND; i++) {
		struct socket_address from = { .len = sizeof(from.ss) };
		char buf[PEER_COOKIE_BYTES + 1];
		ssize_t n = recvfrom(d->fd, buf, sizeof(buf), MSG_DONTWAIT,
				     (struct sockaddr *)&from.ss, &from.len);

		/* Errors are of single datagrams, but for the one that says there is none. */
		if (n < 0 && errno == EAGAIN)
			return;
		if (n == PEER_COOKIE_BYTES && socket_same_host(&from, &d->remote))
			let_in(d, buf, &from);
	}
}

/* A flow that knocks again has not heard the answer.  Anything else is data: not ours to read. */
static void look_at_flow(struct udp_door *d, int fd)
{
	for (int i = 0; i < DATAGRAMS_A_ROUND; i++) {
		char buf[PEER_COOKIE_BYTES + 1];
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_PEEK);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			continue;	/* a refused answer; taken by this call */
		if (n != PEER_COOKIE_BYTES || data_look(d->data, RUN_UDP, buf) != DATA_REUSED) {
			epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
			return;
		}
		(void)!recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		answer(fd, buf);
	}
}

static void *door_main(void *arg)
{
	struct udp_door *d = arg;
	struct epoll_event events[EVENTS_PER_WAIT];

	bool stop = false;

	while (!stop) {
		int n = epoll_wait(d->epoll_fd, events, EVENTS_PER_WAIT, -1);

		/* All of them, also at the end: a cookie left behind is in the way of data. */
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == d->stop_fd)
				stop = true;
			else if (events[i].data.fd == d->fd)
				look_outside(d);
			else
				look_at_flow(d, events[i].data.fd);
		}
	}
	return NULL;
}

static void door_free(struct udp_door *d)
{
	int fds[] = { d->fd, d->epoll_fd, d->stop_fd };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(d);
}

static int door_open(struct udp_door *d, int session_fd, size_t flows)
{
	/* A cookie takes about a page with its bookkeeping; all may come at once. */
	int room = (int)flows * 2048, rc;

	rc = socket_local_address(session_fd, &d->local);
	if (rc == 0)
		rc = socket_remote_address(session_fd, &d->remote);
	if (rc < 0)
		return rc;
	socket_unmap(&d->local);
	socket_unmap(&d->remote);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->epoll_fd < 0 || d->stop_fd < 0)
		return -errno;
	d->fd = socket_new_udp(d->local.ss.ss_family);
	if (d->fd < 0)
		return d->fd;
	/* Best effort: what does not fit is sent again. */
	(void)!setsockopt(d->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	rc = bind_here(d, d->fd);
	if (rc == 0)
		rc = watch(d, d->fd);
	if (rc == 0)
		rc = watch(d, d->stop_fd);
	if (rc == 0)
		rc = thread_start(&d->thread, door_main, d);
	d->started = rc == 0;
	return rc;
}

int udp_door_open(struct data_registry *data, int session_fd, size_t flows, struct udp_door **out,
		  struct error *err)
{
	struct udp_door *d = calloc(1, sizeof(*d));
	int rc;

	*out = NULL;
	if (!d)
		return error_set(err, ENOMEM, "out of memory");
	d->data = data;
	d->fd = d->epoll_fd = d->stop_fd = -1;
	rc = door_open(d, session_fd, flows);
	if (rc == 0) {
		*out = d;
		return 0;
	}
	error_set(err, rc, "UDP port %u: %s%s", socket_port(&d->local), strerror(-rc),
		  rc == -EADDRINUSE ? " by another program" : "");
	door_free(d);
	return rc;
}

void udp_door_close(struct udp_door *d)
{
	if (!d)
		return;
	if (d->started) {
		eventfd_write(d->stop_fd, 1);
		pthread_join(d->thread, NULL);
	}
	door_free(d);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/dial.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/peer/thread.h"
#include "src/peer/timing.h"
#include "src/peer/wire.h"

enum {
	MAX_ADDRESSES = 8,
	/* In flight at once: below the server's cap on those that have not said who they are. */
	DATA_BATCH = 64,
	DIAL_HEED_MS = 100
};

/* ---- names ---- */

/* Shared by the caller and the resolver thread; the last one out frees it. */
struct lookup {
	atomic_int owners;
	atomic_bool done;
	int done_fd;
	char *host;
	char service[8];
	struct addrinfo hints, *result;
	int code, saved_errno;
};

static void lookup_leave(struct lookup *l)
{
	if (atomic_fetch_sub(&l->owners, 1) > 1)
		return;
	if (l->result)
		freeaddrinfo(l->result);
	if (l->done_fd >= 0)
		close(l->done_fd);
	free(l->host);
	free(l);
}

static void *lookup_thread(void *arg)
{
	struct lookup *l = arg;

	l->code = getaddrinfo(l->host, l->service, &l->hints, &l->result);
	l->saved_errno = errno;
	atomic_store(&l->done, true);
	eventfd_write(l->done_fd, 1);
	lookup_leave(l);
	return NULL;
}

static struct lookup *lookup_new(const char *host, uint16_t port, int family)
{
	struct lookup *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	atomic_init(&l->owners, 1);
	snprintf(l->service, sizeof(l->service), "%u", port);
	l->hints.ai_family = family;
	l->hints.ai_socktype = SOCK_STREAM;
	l->hints.ai_flags = AI_NUMERICSERV;
	l->host = strdup(host);
	l->done_fd = eventfd(0, EFD_CLOEXEC);
	if (l->host && l->done_fd >= 0)
		return l;
	lookup_leave(l);
	return NULL;
}

static int lookup_error(const struct lookup *l, struct error *err)
{
	int family = l->hints.ai_family;

	if (l->code == EAI_SYSTEM)
		return error_set(err, l->saved_errno, "%s: %s", l->host, strerror(l->saved_errno));
	/* A name server that knows it not says the same of a name with the other family alone. */
	if (family != AF_UNSPEC && l->code != EAI_MEMORY && l->code != EAI_AGAIN)
		return error_set(err, ENOENT, "%s: %sno address of the family asked for, %s, by "
				 "-4, -6 or --bind", l->host,
				 l->code == EAI_ADDRFAMILY || l->code == EAI_NODATA ?
				 "" : "no such host, or ", family == AF_INET ? "IPv4" : "IPv6");
	return error_set(err, l->code == EAI_MEMORY ? ENOMEM : ENOENT, "%s: no such host (%s)",
			 l->host, gai_strerror(l->code));
}

int dial_resolve(const char *host, uint16_t port, int family, uint64_t deadline_ns,
		 struct addrinfo **out, struct error *err)
{
	struct lookup *l = lookup_new(host, port, family);
	struct pollfd p;
	pthread_t thread;
	int rc;

	*out = NULL;
	if (!l)
		return error_set(err, ENOMEM, "%s: out of memory", host);
	atomic_store(&l->owners, 2);
	rc = thread_start(&thread, lookup_thread, l);
	if (rc < 0) {
		atomic_store(&l->owners, 1);
		lookup_leave(l);
		return error_set(err, rc, "%s: no thread to look it up: %s", host, strerror(-rc));
	}
	pthread_detach(thread);
	p = (struct pollfd){ .fd = l->done_fd, .events = POLLIN };
	while (poll(&p, 1, deadline_left_ms(deadline_ns)) < 0 && errno == EINTR)
		;
	if (!atomic_load(&l->done)) {
		rc = error_set(err, ETIMEDOUT, "%s: the name servers do not answer; use an address",
			       host);
	} else if (l->code != 0) {
		rc = lookup_error(l, err);
	} else {
		*out = l->result;
		l->result = NULL;
		rc = 0;
	}
	lookup_leave(l);
	return rc;
}

/* ---- the control connection ---- */

static int begin_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	return connect(fd, to, len) < 0 && errno != EINPROGRESS ? -errno : 0;
}

static int connect_result(int fd)
{
	int e = 0;
	socklen_t len = sizeof(e);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0)
		return -errno;
	return -e;
}

static int begin_control(const struct addrinfo *a, const struct socket_address *local)
{
	int fd, rc;

	if (local && local->ss.ss_family != a->ai_family)
		return -EAFNOSUPPORT;
	fd = socket_new(a->ai_family);
	if (fd < 0)
		return fd;
	socket_set_control_options(fd);
	socket_limit_segments(fd);
	rc = local ? socket_bind_local(fd, local) : 0;
	if (rc == 0)
		rc = begin_connect(fd, a->ai_addr, a->ai_addrlen);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Waits for one of the sockets; its index, -1 at the deadline. */
static int wait_any(struct pollfd *p, unsigned int n, uint64_t deadline_ns)
{
	while (poll(p, n, deadline_left_ms(deadline_ns)) < 0 && errno == EINTR)
		;
	for (unsigned int i = 0; i < n; i++)
		if (p[i].fd >= 0 && p[i].revents)
			return (int)i;
	return -1;
}

/* Of two failures the one that says more: somebody answered. */
static int telling(int a, int b)
{
	return a == -ECONNREFUSED ? a : b;
}

int dial_control(const struct addrinfo *addresses, const struct socket_address *local,
		 unsigned int stagger_ms, uint64_t deadline_ns)
{
	const struct addrinfo *next = addresses;
	struct pollfd tries[MAX_ADDRESSES];
	unsigned int n = 0, open = 0;
	int rc = -ETIMEDOUT, winner = -1;

	while (winner < 0) {
		uint64_t until = deadline_ns;
		int i, fd;

		if (next && n < MAX_ADDRESSES) {
			fd = begin_control(next, local);
			next = next->ai_next;
			if (fd < 0) {
				rc = telling(rc, fd);
				continue;
			}
			tries[n++] = (struct pollfd){ .fd = fd, .events = POLLOUT };
			open++;
			if (next && n < MAX_ADDRESSES)
				until = deadline_earlier(deadline_in_ms(stagger_ms), deadline_ns);
		}
		if (open == 0)
			break;
		i = wait_any(tries, n, until);
		if (i < 0 && monotonic_ns() >= deadline_ns) {
			rc = telling(rc, -ETIMEDOUT);
			break;
		}
		if (i < 0)
			continue;
		fd = connect_result(tries[i].fd);
		if (fd == 0) {
			winner = tries[i].fd;
		} else {
			rc = telling(rc, fd);
			close(tries[i].fd);
			open--;
		}
		tries[i].fd = -1;
	}
	for (unsigned int i = 0; i < n; i++)
		if (tries[i].fd >= 0)
			close(tries[i].fd);
	return winner >= 0 ? winner : rc;
}

/* ---- data connections ---- */

/* Our port of a flow, 0: any.  The connection of the requests is no flow. */
static int port_of(const struct dial_data *d, size_t flow, uint16_t *port, struct error *err)
{
	*port = 0;
	if (!d->local_port || flow >= run_flows(d->spec))
		return 0;
	if (d->local_port + flow > UINT16_MAX)
		return error_set(err, EINVAL, "--cport %u: %zu streams need as many ports, and "
				 "those end at %d", d->local_port, run_flows(d->spec), UINT16_MAX);
	*port = (uint16_t)(d->local_port + flow);
	return 0;
}

int dial_bind(const struct dial_data *d, size_t flow, int fd, struct error *err)
{
	struct socket_address a = { .len = 0 };
	bool tcp = d->spec->protocol == RUN_TCP;
	uint16_t port;
	int on = 1, rc = port_of(d, flow, &port, err);

	if (rc < 0 || (!port && !d->local))
		return rc;
	if (d->local)
		a = *d->local;
	else
		socket_any_address(d->remote->ss.ss_family, &a);
	if (port) {
		socket_set_port(&a, port);
		/* Else what is left of a connection that we closed keeps its port for a minute. */
		if (tcp)
			(void)!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		rc = bind(fd, (const struct sockaddr *)&a.ss, a.len) < 0 ? -errno : 0;
	} else {
		rc = socket_bind_local(fd, &a);
	}
	if (rc < 0 && port)
		error_set(err, rc, "--cport: our %s port %u: %s", tcp ? "TCP" : "UDP", port,
			  strerror(-rc));
	else if (rc < 0)
		error_set(err, rc, "%s: data connection: %s", d->label, strerror(-rc));
	return rc;
}

static int begin_data(const struct dial_data *d, size_t i, struct error *err)
{
	struct sockaddr_storage remote = d->remote->ss;
	int fd = socket_new(remote.ss_family), rc;

	if (fd < 0)
		return error_set(err, fd, "opening %zu data connections: %s%s",
				 run_flows(d->spec), strerror(-fd),
				 fd == -EMFILE ? "; raise 'ulimit -n' or use fewer" : "");
	/* The connection of the requests is no flow; see ping.h for its options. */
	rc = i == run_flows(d->spec) ? 0 :
	     load_prepare_socket(fd, d->spec,
				 run_flow_role(d->spec, run_client_role(d->spec), i), err);
	if (rc == 0)
		rc = load_prepare_address(fd, d->spec, (struct sockaddr *)&remote, err);
	if (rc == 0)
		rc = dial_bind(d, i, fd, err);
	if (rc == 0) {
		rc = begin_connect(fd, (const struct sockaddr *)&remote, d->remote->len);
		if (rc < 0)
			error_set(err, rc, "%s: data connection: %s", d->label, strerror(-rc));
	}
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static int finish_data(const struct dial_data *d, const char *cookie, int fd, struct error *err)
{
	int rc = connect_result(fd);
	ssize_t n;

	if (rc < 0)
		return error_set(err, rc, "%s: data connection: %s", d->label, strerror(-rc));
	/* An empty send buffer always takes this much. */
	n = send(fd, cookie, PEER_COOKIE_BYTES, MSG_NOSIGNAL);
	if (n != PEER_COOKIE_BYTES)
		return error_set(err, n < 0 ? errno : EIO, "%s: data connection: %s", d->label,
				 n < 0 ? strerror(errno) : "no room for its cookie");
	return 0;
}

int dial_flow(const struct dial_data *d, size_t flow, const char cookie[PEER_COOKIE_BYTES],
	      uint64_t deadline_ns, struct error *err)
{
	struct pollfd p = { .events = POLLOUT };
	int rc = begin_data(d, flow, err);

	if (rc < 0)
		return rc;
	p.fd = rc;
	if (wait_any(&p, 1, deadline_ns) < 0)
		rc = error_set(err, ETIMEDOUT, "%s: stream %zu of %zu did not open in time",
			       d->label, flow + 1, run_flows(d->spec));
	else
		rc = finish_data(d, cookie, p.fd, err);
	if (rc < 0)
		close(p.fd);
	return rc < 0 ? rc : p.fd;
}

int dial_data(const struct dial_data *d, int *fds, uint64_t deadline_ns, struct error *err)
{
	size_t n = run_flows(d->spec), begun = 0, done = 0;
	struct pollfd batch[DATA_BATCH];
	size_t flow_of[DATA_BATCH];
	unsigned int flying = 0;
	int rc = 0;

	while (rc == 0 && done < n) {
		const cJSON *cookie;
		int i;

		while (rc == 0 && begun < n && flying < DATA_BATCH) {
			rc = begin_data(d, begun, err);
			if (rc < 0)
				break;
			fds[begun] = rc;
			flow_of[flying] = begun++;
			batch[flying++] = (struct pollfd){ .fd = rc, .events = POLLOUT };
			rc = 0;
		}
		if (rc < 0)
			break;
		i = wait_any(batch, flying,
			     deadline_earlier(deadline_ns, deadline_in_ms(DIAL_HEED_MS)));
		rc = d->heed ? d->heed(d->state, err) : 0;
		if (rc < 0)
			break;
		if (i < 0 && monotonic_ns() < deadline_ns)
			continue;
		if (i < 0) {
			rc = error_set(err, ETIMEDOUT, "%s: only %zu of %zu data connections "
				       "opened in time: is a firewall or a connection limit in "
				       "between?", d->label, done, n);
			break;
		}
		cookie = cJSON_GetArrayItem(d->cookies, (int)flow_of[i]);
		rc = finish_data(d, cookie->valuestring, batch[i].fd, err);
		done++;
		flying--;
		batch[i] = batch[flying];
		flow_of[i] = flow_of[flying];
	}
	if (rc < 0)
		for (size_t i = 0; i < begun; i++) {
			close(fds[i]);
			fds[i] = -1;
		}
	return rc;
}

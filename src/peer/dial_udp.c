/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening the flows of a UDP run: each sends its cookie until the server answers it. */
#include "src/peer/dial.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "src/peer/iperf3_wire.h"
#include "src/peer/timing.h"
#include "src/peer/wire.h"

enum {
	KNOCK_AGAIN_MS = 100,
	HELLO_AGAIN_MS = 1000,	/* one too many is data to a slow iperf3 */
	HEED_MS = 100,
	KNOCK_BATCH = 64	/* flows at a time: their cookies fit into any socket buffer */
};

struct knocking {
	const struct dial_data *d;
	struct pollfd polls[KNOCK_BATCH];
	size_t flow_of[KNOCK_BATCH];
	uint64_t again_ns[KNOCK_BATCH];
	unsigned int n;
	int refused;		/* errno of the last ICMP error, 0: none */
};

static int open_flow(const struct dial_data *d, size_t i, struct error *err)
{
	struct sockaddr_storage remote = d->remote->ss;
	int fd = socket_new_udp(remote.ss_family), rc;

	if (fd < 0)
		return error_set(err, fd, "opening %zu UDP sockets: %s%s", run_flows(d->spec),
				 strerror(-fd),
				 fd == -EMFILE ? "; raise 'ulimit -n' or use fewer" : "");
	rc = load_prepare_socket(fd, d->spec,
				 run_flow_role(d->spec, run_client_role(d->spec), i), err);
	if (rc == 0)
		rc = load_prepare_address(fd, d->spec, (struct sockaddr *)&remote, err);
	if (rc == 0)
		rc = dial_bind(d, i, fd, err);
	if (rc == 0 && connect(fd, (const struct sockaddr *)&remote, d->remote->len) < 0)
		rc = error_set(err, errno, "%s: UDP: %s", d->label, strerror(errno));
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static const char *cookie_of(const struct knocking *k, unsigned int i)
{
	return cJSON_GetArrayItem(k->d->cookies, (int)k->flow_of[i])->valuestring;
}

/* Sends what is due; when the next will be. */
static uint64_t knock(struct knocking *k)
{
	uint64_t now = monotonic_ns(), next = UINT64_MAX;

	for (unsigned int i = 0; i < k->n; i++) {
		if (k->again_ns[i] <= now) {
			if (send(k->polls[i].fd, cookie_of(k, i), PEER_COOKIE_BYTES,
				 MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
				k->refused = errno;
			k->again_ns[i] = now + KNOCK_AGAIN_MS * UINT64_C(1000000);
		}
		next = deadline_earlier(next, k->again_ns[i]);
	}
	return next;
}

static bool answered(struct knocking *k, unsigned int i)
{
	char want[PEER_COOKIE_BYTES], got[PEER_COOKIE_BYTES + 1];
	ssize_t n;

	wire_cookie_answer(cookie_of(k, i), want);
	for (;;) {
		n = recv(k->polls[i].fd, got, sizeof(got), MSG_DONTWAIT);
		if (n == PEER_COOKIE_BYTES && CRYPTO_memcmp(got, want, sizeof(want)) == 0)
			return true;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0)
			k->refused = errno;
	}
}

/* Takes the flows that were answered off the list; how many. */
static size_t collect(struct knocking *k)
{
	size_t done = 0;

	for (unsigned int i = k->n; i-- > 0;) {
		if (!k->polls[i].revents || !answered(k, i))
			continue;
		k->n--;
		k->polls[i] = k->polls[k->n];
		k->flow_of[i] = k->flow_of[k->n];
		k->again_ns[i] = k->again_ns[k->n];
		done++;
	}
	return done;
}

static int no_answer(const struct knocking *k, size_t done, struct error *err)
{
	const struct dial_data *d = k->d;
	unsigned int port = socket_port(d->remote);
	char host[INET6_ADDRSTRLEN], refused[80] = "";

	socket_format_address(d->remote, host);
	if (done)
		return error_set(err, ETIMEDOUT, "%s: only %zu of %zu UDP flows were answered in "
				 "time: is a firewall or a connection limit in between?", d->label,
				 done, run_flows(d->spec));
	if (k->refused)
		snprintf(refused, sizeof(refused), " (%s)", strerror(k->refused));
	return error_set(err, ETIMEDOUT, "no UDP answer from %s port %u%s: is a firewall dropping "
			 "UDP?", host, port, refused);
}

int dial_udp(const struct dial_data *d, int *fds, uint64_t deadline_ns, struct error *err)
{
	size_t n = run_flows(d->spec), begun = 0, done = 0;
	struct knocking k = { .d = d };
	int rc = 0;

	while (rc == 0 && done < n) {
		uint64_t next;

		for (; begun < n && k.n < KNOCK_BATCH; begun++) {
			int fd = open_flow(d, begun, err);

			if (fd < 0) {
				rc = fd;
				goto out;
			}
			fds[begun] = fd;
			k.flow_of[k.n] = begun;
			k.again_ns[k.n] = 0;
			k.polls[k.n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
		}
		next = knock(&k);
		poll(k.polls, k.n, deadline_left_ms(deadline_earlier(next, deadline_ns)));
		done += collect(&k);
		rc = d->heed ? d->heed(d->state, err) : 0;
		if (rc == 0 && done < n && monotonic_ns() >= deadline_ns)
			rc = no_answer(&k, done, err);
	}
out:
	for (size_t i = 0; rc < 0 && i < begun; i++) {
		close(fds[i]);
		fds[i] = -1;
	}
	return rc;
}

/* Waits for the answer until then: 0, -ETIMEDOUT; other errors are in *refused. */
static int await_hello(int fd, uint64_t until_ns, int *refused)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (poll(&p, 1, deadline_left_ms(until_ns)) > 0) {
		char got[IPERF3_HELLO_BYTES + 1];
		ssize_t n = recv(fd, got, sizeof(got), MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			*refused = errno;
		/* In reverse, data may overtake it. */
		if (n > 0 && iperf3_is_hello_answer(got, (size_t)n))
			return 0;
		if (monotonic_ns() >= until_ns)
			break;
	}
	return -ETIMEDOUT;
}

int dial_iperf3_udp(const struct dial_data *d, size_t flow, uint64_t deadline_ns,
		    struct error *err)
{
	struct knocking k = { .d = d };
	uint64_t again_ns = 0;
	int fd = open_flow(d, flow, err), rc = -ETIMEDOUT;

	if (fd < 0)
		return fd;
	while (rc == -ETIMEDOUT) {
		uint64_t now = monotonic_ns();

		if (now >= deadline_ns) {
			rc = no_answer(&k, flow, err);
			break;
		}
		if (now >= again_ns) {
			if (send(fd, IPERF3_HELLO, IPERF3_HELLO_BYTES,
				 MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN)
				k.refused = errno;
			again_ns = now + HELLO_AGAIN_MS * UINT64_C(1000000);
		}
		rc = await_hello(fd, deadline_earlier(deadline_in_ms(HEED_MS), deadline_ns),
				 &k.refused);
		if (rc < 0 && d->heed && d->heed(d->state, err) < 0)
			rc = -EINTR;
	}
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live source: netlink requests over raw sockets. */
#include "src/core/source_live.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/core/clock.h"

enum {
	DEADLINE_MS = 2000,
	/* Dumps use what the reader offers, up to 32 KiB; single answers may be larger. */
	FIRST_DATAGRAM_BYTES = 65536,
	MOST_BYTES = 16 << 20,
	/* How often a dump that changed under us is repeated before we take it as it is. */
	DUMP_REPEATS = 2
};

void live_netlink_init(struct live_netlink *nl)
{
	memset(nl, 0, sizeof(*nl));
	for (size_t i = 0; i < LIVE_NETLINK_PROTOCOLS; i++)
		nl->fd[i] = -1;
}

static void close_protocol(struct live_netlink *nl, int protocol)
{
	if (nl->fd[protocol] >= 0)
		close(nl->fd[protocol]);
	nl->fd[protocol] = -1;
}

void live_netlink_close(struct live_netlink *nl)
{
	for (int i = 0; i < LIVE_NETLINK_PROTOCOLS; i++)
		close_protocol(nl, i);
	free(nl->buf);
	nl->buf = NULL;
	nl->cap = 0;
}

static int open_protocol(struct live_netlink *nl, int protocol)
{
	struct sockaddr_nl local = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	int one = 1, err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&local, sizeof(local))) {
		err = errno;
		close(fd);
		return -err;
	}
	/* Without it (before 4.2) an ACK repeats the request: harmless, so no check. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl->fd[protocol] = fd;
	return 0;
}

static int64_t now_ms(void)
{
	return (int64_t)(monotonic_ns() / 1000000);
}

static int wait_readable(int fd, int64_t deadline)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - now_ms();
		int n;

		if (left <= 0)
			return -ETIMEDOUT;
		n = poll(&p, 1, (int)left);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int make_room(struct live_netlink *nl, size_t need)
{
	unsigned char *grown;

	if (need > MOST_BYTES)
		return -EFBIG;
	if (need <= nl->cap)
		return 0;
	grown = realloc(nl->buf, need);
	if (!grown)
		return -ENOMEM;
	nl->buf = grown;
	nl->cap = need;
	return 0;
}

/* One datagram of the kernel's into nl->buf: its length, or -errno. */
static ssize_t receive(struct live_netlink *nl, int fd, int64_t deadline)
{
	struct sockaddr_nl from;
	socklen_t from_len;
	ssize_t n;
	int rc;

	for (;;) {
		rc = wait_readable(fd, deadline);
		if (rc)
			return rc;
		/* MSG_TRUNC: the true length, so that nothing is cut off. */
		n = recv(fd, nl->buf, nl->cap, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
		if (n >= 0) {
			rc = make_room(nl, (size_t)n);
			if (rc)
				return rc;
			from_len = sizeof(from);
			memset(&from, 0, sizeof(from));
			n = recvfrom(fd, nl->buf, nl->cap, MSG_TRUNC | MSG_DONTWAIT,
				     (struct sockaddr *)&from, &from_len);
		}
		if (n < 0) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			return -errno;
		}
		/* Any process may send to our port; only port 0 is the kernel. */
		if (from_len != sizeof(from) || from.nl_family != AF_NETLINK || from.nl_pid)
			continue;
		return (size_t)n > nl->cap ? -EMSGSIZE : n;
	}
}

static int append_message(struct bytes *replies, const struct nlmsghdr *h, const unsigned char *msg)
{
	static const unsigned char zeros[NLMSG_ALIGNTO];
	struct nlmsghdr clean = *h;
	int rc;

	clean.nlmsg_seq = 0;
	clean.nlmsg_pid = 0;
	clean.nlmsg_flags &= (uint16_t)~NLM_F_DUMP_INTR;
	rc = bytes_append(replies, &clean, sizeof(clean));
	if (!rc)
		rc = bytes_append(replies, msg + sizeof(clean), h->nlmsg_len - sizeof(clean));
	if (!rc)
		rc = bytes_append(replies, zeros, NLMSG_ALIGN(h->nlmsg_len) - h->nlmsg_len);
	return rc;
}

/* Errno in an NLMSG_ERROR (0: the ACK) or at the end of a dump. */
static int end_status(const struct nlmsghdr *h, const unsigned char *msg)
{
	int status;

	if (h->nlmsg_len < NLMSG_HDRLEN + sizeof(status))
		return h->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	memcpy(&status, msg + NLMSG_HDRLEN, sizeof(status));
	/* The kernel sends -errno; anything else is no errno. */
	if (status > 0 || status < -4095)
		return h->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	return status;
}

int live_answer_take(struct live_answer *a, const unsigned char *data, size_t len)
{
	while (len >= sizeof(struct nlmsghdr) && !a->ended) {
		struct nlmsghdr h;
		size_t step;
		int rc;

		memcpy(&h, data, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > len)
			return -EBADMSG;
		step = NLMSG_ALIGN(h.nlmsg_len) < len ? NLMSG_ALIGN(h.nlmsg_len) : len;
		/* Another seq: the rest of an answer that an earlier request gave up on. */
		if (h.nlmsg_seq == a->seq && h.nlmsg_type != NLMSG_NOOP) {
			if (h.nlmsg_flags & NLM_F_DUMP_INTR)
				a->interrupted = true;
			if (h.nlmsg_type == NLMSG_OVERRUN)
				return -ENOBUFS;
			if (h.nlmsg_type == NLMSG_ERROR || h.nlmsg_type == NLMSG_DONE) {
				a->ended = true;
				return end_status(&h, data);
			}
			if (a->replies->len - a->start + h.nlmsg_len > MOST_BYTES)
				return -EFBIG;
			rc = append_message(a->replies, &h, data);
			if (rc)
				return rc;
		}
		data += step;
		len -= step;
	}
	return 0;
}

static int send_request(struct live_netlink *nl, int fd, const void *req, size_t len)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct nlmsghdr h;
	unsigned char *copy;
	int rc = 0;

	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, req, len);
	memcpy(&h, copy, sizeof(h));
	h.nlmsg_seq = nl->seq;
	h.nlmsg_pid = 0;
	h.nlmsg_flags |= NLM_F_REQUEST;
	/* A dump ends with DONE.  Everything else is told to end with an ACK. */
	if ((h.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		h.nlmsg_flags |= NLM_F_ACK;
	memcpy(copy, &h, sizeof(h));
	if (sendto(fd, copy, len, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		rc = -errno;
	free(copy);
	return rc;
}

/* Sends once and takes the whole answer. */
static int exchange(struct live_netlink *nl, int fd, const void *req, size_t len, int64_t deadline,
		    struct live_answer *a)
{
	int rc;

	/* Never 0: the kernel's own notifications carry that. */
	if (!++nl->seq)
		nl->seq = 1;
	a->seq = nl->seq;
	rc = send_request(nl, fd, req, len);
	while (!rc && !a->ended) {
		ssize_t n = receive(nl, fd, deadline);

		rc = n < 0 ? (int)n : live_answer_take(a, nl->buf, (size_t)n);
	}
	return rc;
}

/* rtnetlink types come in fours, NEW DEL GET SET: only GET leaves the machine as it is. */
static bool may_send(int protocol, const void *req)
{
	struct nlmsghdr h;

	memcpy(&h, req, sizeof(h));
	if (protocol != NETLINK_ROUTE)
		return true;
	return h.nlmsg_type >= RTM_BASE && ((h.nlmsg_type - RTM_BASE) & 3) == 2;
}

int live_netlink_request(struct live_netlink *nl, int protocol, const void *req, size_t len,
			 struct bytes *replies)
{
	int64_t deadline = now_ms() + DEADLINE_MS;
	struct live_answer a;
	int rc = 0;

	if (protocol < 0 || protocol >= LIVE_NETLINK_PROTOCOLS)
		return -EINVAL;
	if (!may_send(protocol, req))
		return -EPERM;
	rc = make_room(nl, FIRST_DATAGRAM_BYTES);
	if (!rc && nl->fd[protocol] < 0)
		rc = open_protocol(nl, protocol);
	if (rc)
		return rc;
	for (int repeats = 0;; repeats++) {
		a = (struct live_answer){ .replies = replies, .start = replies->len };
		rc = exchange(nl, nl->fd[protocol], req, len, deadline, &a);
		if (rc || !a.interrupted || repeats == DUMP_REPEATS)
			break;
		replies->len = a.start;
	}
	if (rc)
		replies->len = a.start;
	/* Without its end, an answer may still be coming: start anew with another socket. */
	if (!a.ended)
		close_protocol(nl, protocol);
	return rc;
}

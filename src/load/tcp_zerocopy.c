/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TCP with MSG_ZEROCOPY (4.14): the card reads our pages, and the error queue tells when it
 * has.  Where it cannot (loopback, veth, no scatter-gather) the kernel copies after all and says
 * so, SO_EE_CODE_ZEROCOPY_COPIED; both are counted.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <linux/errqueue.h>	/* needs struct timespec of time.h */

#include "src/load/worker.h"

/* Older headers do not all have them. */
#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY 60
#endif
#ifndef MSG_ZEROCOPY
#define MSG_ZEROCOPY 0x4000000
#endif
#ifndef SO_EE_ORIGIN_ZEROCOPY
#define SO_EE_ORIGIN_ZEROCOPY 5
#endif
#ifndef SO_EE_CODE_ZEROCOPY_COPIED
#define SO_EE_CODE_ZEROCOPY_COPIED 1
#endif

enum {
	/* A look at the error queue costs a call: not before there may be this much in it. */
	DRAIN_AFTER_SENDS = 16,
	DRAIN_MAX_REPORTS = 1024
};

struct zerocopy {
	alignas(CACHE_LINE_BYTES) uint32_t pending;	/* sends whose pages are in use */
	uint32_t since_drain;
	_Atomic uint64_t sends, copied;
};

static int open_zerocopy(struct flow *f, struct error *err)
{
	struct zerocopy *z;
	int on = 1;

	if (setsockopt(f->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) < 0)
		return error_set(err, errno == ENOPROTOOPT ? EOPNOTSUPP : errno,
				 "SO_ZEROCOPY: %s; it needs Linux 4.14 and a TCP socket",
				 strerror(errno));
	z = aligned_alloc(CACHE_LINE_BYTES, sizeof(*z));
	if (!z)
		return error_set(err, ENOMEM, "zero-copy sender: out of memory");
	memset(z, 0, sizeof(*z));
	f->own = z;
	return 0;
}

static void close_zerocopy(struct flow *f)
{
	free(f->own);
	f->own = NULL;
}

/* One message of the error queue reports a range of sends, by their numbers. */
static void take_report(struct zerocopy *z, const struct cmsghdr *c)
{
	const struct sock_extended_err *e = (const void *)CMSG_DATA(c);
	uint32_t done;

	if (!(c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) &&
	    !(c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVERR))
		return;
	if (c->cmsg_len < CMSG_LEN(sizeof(*e)) || e->ee_errno != 0 ||
	    e->ee_origin != SO_EE_ORIGIN_ZEROCOPY)
		return;
	done = e->ee_data - e->ee_info + 1;	/* inclusive; numbers wrap */
	z->pending -= done < z->pending ? done : z->pending;
	if (e->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
		flow_count(&z->copied, done);
}

/* Empties the error queue, so that the notifications' memory (optmem_max) is free again. */
static void drain(struct flow *f)
{
	struct zerocopy *z = f->own;

	f->error_queue = false;
	z->since_drain = 0;
	for (int i = 0; i < DRAIN_MAX_REPORTS; i++) {
		alignas(struct cmsghdr) char control[256];
		struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };

		if (recvmsg(f->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
			take_report(z, c);
	}
}

static void sent_zerocopy(struct zerocopy *z)
{
	flow_count(&z->sends, 1);
	z->pending++;
	z->since_drain++;
}

/*
 * ENOBUFS: notifications or pinned pages reached their limit (net.core.optmem_max, ulimit -l).
 * If sends of ours are under way, their end makes room and is reported; if not, the limit is too
 * small for even one, or others use it up: send this block by copy, which is not counted as
 * a zero-copy send.
 */
static ssize_t send_block(struct flow *f, size_t want)
{
	const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	struct zerocopy *z = f->own;
	ssize_t n = send(f->fd, f->common->pattern, want, flags | MSG_ZEROCOPY);

	if (n < 0 && errno == ENOBUFS) {
		drain(f);
		n = send(f->fd, f->common->pattern, want, flags | MSG_ZEROCOPY);
	}
	if (n > 0)
		sent_zerocopy(z);
	else if (n < 0 && errno == ENOBUFS && z->pending == 0)
		n = send(f->fd, f->common->pattern, want, flags);
	return n;
}

static enum turn send_zerocopy(struct worker *w, struct flow *f)
{
	const struct zerocopy *z = f->own;

	for (size_t i = 0; i < w->turn_calls; i++) {
		enum turn why = TURN_LATER;
		size_t want = flow_grant(f, w->block_bytes, &why);
		ssize_t n;

		if (want == 0)
			return why;
		if (f->error_queue || z->since_drain >= DRAIN_AFTER_SENDS)
			drain(f);
		n = send_block(f, want);
		if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
			return TURN_WAIT;	/* woken by EPOLLOUT or EPOLLERR */
		if (n < 0)
			return errno == EINTR ? TURN_READY : worker_end_flow(w, f, errno);
		flow_sent(f, (size_t)n);
		if ((size_t)n < want && !f->closing)
			return TURN_WAIT;
	}
	return TURN_READY;
}

/* The pages are ours again when all sends were reported. */
static enum turn finish_zerocopy(struct worker *w, struct flow *f)
{
	const struct zerocopy *z = f->own;

	(void)w;
	drain(f);
	return z->pending && !f->closing ? TURN_WAIT : TURN_OVER;
}

static void sample_zerocopy(const struct flow *f, struct flow_sample *out)
{
	const struct zerocopy *z = f->own;

	out->zerocopy_sends = nd_u64(atomic_load_explicit(&z->sends, memory_order_relaxed));
	out->zerocopy_copied = nd_u64(atomic_load_explicit(&z->copied, memory_order_relaxed));
}

const struct flow_ops tcp_send_zerocopy = {
	.name = "tcp_send_zerocopy",
	/* EPOLLERR tells of the error queue here; a reset comes with EPOLLHUP, too. */
	.events = EPOLLOUT, .end_events = EPOLLRDHUP | EPOLLHUP,
	.open = open_zerocopy, .close = close_zerocopy,
	.turn = send_zerocopy, .finish = finish_zerocopy,
	.sample = sample_zerocopy,
};

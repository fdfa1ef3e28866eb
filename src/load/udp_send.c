/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sending datagrams: in batches and, where the kernel cuts them (UDP_SEGMENT), many to a
 * message.
 *
 * The buffer holds a batch of datagrams one behind the other.  Only their heads are written
 * anew; how many of them are one message changes nothing else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/load/udp.h"
#include "src/load/udp_header.h"

/* UDP over IPv4; and UDP_MAX_SEGMENTS, which was 64 before 6.9: tried from above. */
enum { MAX_MESSAGE_BYTES = 65507, MAX_SEGMENTS = 128 };

#define BURST_NS 1000000	/* of a rate that is kept, what goes out in a row */

struct udp_sender {
	alignas(CACHE_LINE_BYTES) uint64_t next;	/* number of the next datagram */
	size_t batch;		/* datagrams in the buffer */
	bool filled;		/* its payload was written */
	bool refused;		/* an ICMP error was told once */
	enum load_mark mark;	/* of what is sent now */
	uint64_t marked_packets, marked_bytes;	/* with LOAD_MARK_WINDOW */
	/* Read by other threads. */
	_Atomic uint64_t packets;
	_Atomic uint64_t segments;	/* datagrams a message; 1: the kernel cuts nothing */
};

static void set_segments(struct flow *f, struct udp_sender *s, size_t n)
{
	int size = n > 1 ? (int)f->common->spec->block_bytes : 0;

	if (setsockopt(f->fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) < 0)
		n = 1;
	atomic_store_explicit(&s->segments, n, memory_order_relaxed);
}

static size_t most_segments(const struct run_spec *spec)
{
	size_t n = MAX_MESSAGE_BYTES / spec->block_bytes;

	if (!spec->udp_gso || n < 2)
		return 1;
	return n < MAX_SEGMENTS ? n : MAX_SEGMENTS;
}

/* Whole datagrams, at most a batch, and about BURST_NS of the rate. */
static uint64_t burst_bytes(const struct run_spec *spec, size_t batch)
{
	uint64_t n = (uint64_t)((double)spec->rate_bps / 8e9 * BURST_NS) / spec->block_bytes;

	if (spec->burst_blocks)
		n = spec->burst_blocks;
	else if (n > batch)
		n = batch;
	return (n ? n : 1) * spec->block_bytes;
}

/* The kernel would refuse each of them, and not say what fits. */
static int fits_unfragmented(const struct flow *f, struct error *err)
{
	const uint64_t heads = 20 + 8;	/* IPv4 without options, UDP */
	uint64_t bytes = f->common->spec->block_bytes;
	int mtu = 0;
	socklen_t len = sizeof(mtu);

	if (!f->common->spec->dont_fragment ||
	    getsockopt(f->fd, IPPROTO_IP, IP_MTU, &mtu, &len) < 0 || (uint64_t)mtu < heads ||
	    bytes + heads <= (uint64_t)mtu)
		return 0;
	return error_set(err, EMSGSIZE, "datagrams of %llu bytes do not fit the path's MTU of %d "
			 "without fragments: take --length %llu or less, or leave out "
			 "--dont-fragment", (unsigned long long)bytes, mtu,
			 (unsigned long long)((uint64_t)mtu - heads));
}

static int open_sender(struct flow *f, struct error *err)
{
	const struct run_spec *spec = f->common->spec;
	int rc = fits_unfragmented(f, err);
	struct udp_sender *s = rc ? NULL : aligned_alloc(CACHE_LINE_BYTES, sizeof(*s));

	if (rc)
		return rc;
	if (!s)
		return error_set(err, ENOMEM, "UDP sender: out of memory");
	memset(s, 0, sizeof(*s));
	s->next = 1;
	s->batch = udp_send_batch(spec);
	f->pace.burst_bytes = burst_bytes(spec, s->batch);
	set_segments(f, s, most_segments(spec));
	f->own = s;
	return 0;
}

static void close_sender(struct flow *f)
{
	free(f->own);
}

/* The worker's buffer is shared: what other flows leave there is the same payload. */
static unsigned char *buffer_of(struct worker *w, const struct flow *f, struct udp_sender *s)
{
	const struct run_spec *spec = f->common->spec;
	unsigned char *buf = (unsigned char *)w->buffer + udp_receive_bytes(spec);

	for (size_t i = 0; !s->filled && i < s->batch; i++)
		memcpy(buf + i * spec->block_bytes, f->common->pattern, spec->block_bytes);
	s->filled = true;
	return buf;
}

/* The window began or ended since the last batch? */
static void heed_mark(const struct flow *f, struct udp_sender *s)
{
	enum load_mark now = (enum load_mark)atomic_load_explicit(&f->common->mark,
								  memory_order_relaxed);

	if (now == s->mark || !f->common->spec->udp_marks)
		return;
	if (now == LOAD_MARK_WINDOW)
		s->next = 1;
	s->mark = now;
}

static uint64_t number_of(const struct udp_sender *s, size_t i)
{
	switch (s->mark) {
	case LOAD_MARK_WINDOW:
		return (s->next + i) | UDP_MARK_WINDOW;
	case LOAD_MARK_AFTER:
		return s->marked_packets | UDP_MARK_AFTER;
	default:
		return s->next + i;
	}
}

static void write_heads(const struct run_spec *spec, unsigned char *buf,
			const struct udp_sender *s, size_t n)
{
	uint64_t now = monotonic_ns();
	struct udp_header h = {
		.seconds = (uint32_t)(now / 1000000000),
		.microseconds = (uint32_t)(now / 1000 % 1000000)
	};

	for (size_t i = 0; i < n; i++) {
		h.number = number_of(s, i);
		udp_header_put(buf + i * spec->block_bytes, &h, !spec->udp_counters_32bit);
	}
}

/* A refusal that leaves something to try: true. */
static bool smaller(struct flow *f, struct udp_sender *s)
{
	size_t n = atomic_load_explicit(&s->segments, memory_order_relaxed);

	/*
	 * EINVAL: more segments than this kernel takes, or (before 6.13, then EMSGSIZE) one that
	 * does not fit the path's MTU.  EIO: the route cannot leave checksums to anybody.
	 */
	if (n == 1 || (errno != EINVAL && errno != EMSGSIZE && errno != EIO))
		return false;
	set_segments(f, s, errno == EIO ? 1 : n / 2);
	return true;
}

static enum turn failed(struct worker *w, struct flow *f, struct udp_sender *s)
{
	switch (errno) {
	case EAGAIN:
		return TURN_WAIT;
	case EINTR:
	case ENOBUFS:
	case ENOMEM:
		return TURN_READY;
	case ECONNREFUSED:
		/* The first may be about a cookie that was sent before the other end was there. */
		if (s->refused)
			return worker_end_flow(w, f, EPIPE);
		s->refused = true;
		return TURN_READY;
	default:
		if (smaller(f, s))
			return TURN_READY;
		return worker_end_flow(w, f, errno);
	}
}

/* Cuts bytes into messages; how many. */
static unsigned int lay_out(struct mmsghdr *m, struct iovec *v, unsigned char *buf, size_t bytes,
			    size_t message)
{
	unsigned int n = 0;

	for (; bytes > 0 && n < UDP_BATCH_MESSAGES; n++) {
		size_t len = bytes < message ? bytes : message;

		v[n] = (struct iovec){ buf, len };
		m[n] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &v[n], .msg_iovlen = 1 } };
		buf += len;
		bytes -= len;
	}
	return n;
}

/* Dropped by the host's own firewall, or by a link that is down for now: lost like any other. */
static bool is_lost_here(int error)
{
	return error == EPERM || error == ENETUNREACH || error == ENETDOWN ||
	       error == EHOSTUNREACH;
}

/* Sends up to `bytes`; how many went, -1: errno. */
static ssize_t send_batch(const struct flow *f, unsigned char *buf, size_t bytes, size_t message)
{
	struct mmsghdr m[UDP_BATCH_MESSAGES];
	struct iovec v[UDP_BATCH_MESSAGES];
	unsigned int n = lay_out(m, v, buf, bytes, message);
	int sent = sendmmsg(f->fd, m, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	size_t gone = 0;

	if (sent < 0 && is_lost_here(errno))
		sent = 1;
	for (int i = 0; i < sent; i++)
		gone += v[i].iov_len;
	return sent < 0 ? -1 : (ssize_t)gone;
}

static enum turn send_turn(struct worker *w, struct flow *f)
{
	const struct run_spec *spec = f->common->spec;
	const size_t block = spec->block_bytes;
	struct udp_sender *s = f->own;
	unsigned char *buf = buffer_of(w, f, s);

	for (size_t done = 0; done < UDP_TURN_BYTES;) {
		size_t segments = atomic_load_explicit(&s->segments, memory_order_relaxed), n;
		enum turn why = TURN_OVER;
		size_t want = flow_grant(f, s->batch * block, &why);
		ssize_t sent;

		if (want == 0)
			return why;
		/* Only whole datagrams, but for the last of an amount. */
		if (want >= block)
			want -= want % block;
		else if (want < udp_header_bytes(!spec->udp_counters_32bit))
			want = udp_header_bytes(!spec->udp_counters_32bit);
		n = (want + block - 1) / block;
		heed_mark(f, s);
		write_heads(spec, buf, s, n);
		sent = send_batch(f, buf, want, segments * block);
		if (sent < 0) {
			why = failed(w, f, s);
			if (why != TURN_READY)
				return why;
			done += block;	/* what fails again and again must not keep the turn */
			continue;
		}
		n = ((size_t)sent + block - 1) / block;
		s->next += n;
		if (s->mark == LOAD_MARK_WINDOW) {
			s->marked_packets += n;
			s->marked_bytes += (size_t)sent;
		}
		flow_count(&s->packets, n);
		flow_sent(f, (size_t)sent);
		done += (size_t)sent;
	}
	return TURN_READY;
}

static void sample_sender(const struct flow *f, struct flow_sample *out)
{
	const struct udp_sender *s = f->own;
	size_t segments = atomic_load_explicit(&s->segments, memory_order_relaxed);
	const struct nd_u64 none = nd_u64_unknown(ND_NOT_APPLICABLE);

	udp_sample_not_tcp(out);
	out->packets = nd_u64(atomic_load_explicit(&s->packets, memory_order_relaxed));
	out->udp_gso_segments = nd_u64(segments);
	out->skipped = out->out_of_order = out->duplicates = none;
	out->jitter_us = out->socket_drops = none;
	out->udp_gro = nd_bool_unknown(ND_NOT_APPLICABLE);
}

static bool marked_sent(const struct flow *f, struct load_marked *out)
{
	const struct udp_sender *s = f->own;

	*out = (struct load_marked){ .packets = s->marked_packets, .bytes = s->marked_bytes };
	return s->mark != LOAD_MARK_NONE;
}

const struct flow_ops udp_send = {
	.name = "udp_send",
	.events = EPOLLOUT, .end_events = EPOLLERR,
	.buffer_bytes = udp_buffer_bytes,
	.open = open_sender, .close = close_sender,
	.turn = send_turn,
	.sample = sample_sender,
	.marked = marked_sent,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Receiving datagrams: in batches and, where the kernel merges them (UDP_GRO), many a message. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/load/udp.h"
#include "src/load/udp_count.h"

struct udp_receiver {
	/* Read by other threads; copies of what the worker counts, written after each batch. */
	alignas(CACHE_LINE_BYTES) _Atomic uint64_t packets, skipped, out_of_order, duplicates;
	_Atomic uint64_t jitter_us;
	bool gro;		/* granted */
	struct udp_count count;
};

/* One recvmmsg(): on the worker's stack, its data in the worker's buffer. */
struct receive_batch {
	struct mmsghdr messages[UDP_BATCH_MESSAGES];
	struct iovec data[UDP_BATCH_MESSAGES];
	alignas(struct cmsghdr) char control[UDP_BATCH_MESSAGES][CMSG_SPACE(sizeof(int))];
	unsigned int n;
};

static int open_receiver(struct flow *f, struct error *err)
{
	const struct run_spec *spec = f->common->spec;
	size_t bytes = (sizeof(struct udp_receiver) + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES *
		       CACHE_LINE_BYTES;
	struct udp_receiver *r = aligned_alloc(CACHE_LINE_BYTES, bytes);
	int on = 1;

	if (!r)
		return error_set(err, ENOMEM, "UDP receiver: out of memory");
	memset(r, 0, bytes);
	udp_count_init(&r->count, !spec->udp_counters_32bit);
	if (spec->udp_marks)
		udp_count_expect_marks(&r->count);
	r->gro = spec->udp_gro &&
		 setsockopt(f->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) == 0;
	f->own = r;
	return 0;
}

static void close_receiver(struct flow *f)
{
	free(f->own);
}

static void prepare(struct receive_batch *b, const struct run_spec *spec, unsigned char *buf,
		    bool gro)
{
	size_t bytes = udp_message_bytes(spec, gro);

	b->n = (unsigned int)udp_receive_messages(gro);
	for (unsigned int i = 0; i < b->n; i++) {
		b->data[i] = (struct iovec){ buf + i * bytes, bytes };
		b->messages[i] = (struct mmsghdr){
			.msg_hdr = { .msg_iov = &b->data[i], .msg_iovlen = 1 }
		};
		if (gro)
			b->messages[i].msg_hdr.msg_control = b->control[i];
	}
}

/* Each call writes over the lengths; without GRO nothing reads them. */
static void prepare_again(struct receive_batch *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		b->messages[i].msg_hdr.msg_controllen = sizeof(b->control[i]);
}

/* Bytes of each datagram in a message; of one that was not merged: all. */
static size_t stride_of(struct msghdr *m, size_t len)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int stride;

	if (!c || c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO)
		return len;
	memcpy(&stride, CMSG_DATA(c), sizeof(stride));
	return stride > 0 ? (size_t)stride : len;
}

static void take(struct udp_count *c, struct mmsghdr *m, bool gro, uint64_t now_us)
{
	const unsigned char *data = m->msg_hdr.msg_iov->iov_base;
	size_t left = m->msg_len, stride = gro ? stride_of(&m->msg_hdr, left) : left;

	/* Longer than any of ours; empty ones are no more ours. */
	if (m->msg_hdr.msg_flags & MSG_TRUNC || left == 0) {
		udp_count_add(c, data, 0, now_us);
		return;
	}
	while (left > 0) {
		size_t len = left < stride ? left : stride;

		udp_count_add(c, data, len, now_us);
		data += len;
		left -= len;
	}
}

static void publish(struct flow *f, struct udp_receiver *r, uint64_t bytes_before)
{
	const struct udp_count *c = &r->count;

	flow_moved(f, c->bytes - bytes_before);
	atomic_store_explicit(&r->packets, c->packets, memory_order_relaxed);
	atomic_store_explicit(&r->skipped, c->skipped, memory_order_relaxed);
	atomic_store_explicit(&r->out_of_order, c->out_of_order, memory_order_relaxed);
	atomic_store_explicit(&r->duplicates, c->duplicates, memory_order_relaxed);
	atomic_store_explicit(&r->jitter_us, udp_count_jitter_us(c), memory_order_relaxed);
}

static enum turn failed(struct worker *w, struct flow *f)
{
	switch (errno) {
	case EAGAIN:
		return TURN_WAIT;
	case EINTR:
	case ECONNREFUSED:	/* about something that was sent before the run */
		return TURN_READY;
	default:
		return worker_end_flow(w, f, errno);
	}
}

static enum turn receive_turn(struct worker *w, struct flow *f)
{
	struct udp_receiver *r = f->own;
	const bool gro = r->gro;
	struct receive_batch b;

	prepare(&b, f->common->spec, w->buffer, gro);
	for (size_t done = 0; done < UDP_TURN_BYTES;) {
		uint64_t before = r->count.bytes, now_us;
		int got;

		if (gro)
			prepare_again(&b);
		got = recvmmsg(f->fd, b.messages, b.n, MSG_DONTWAIT, NULL);
		if (got < 0)
			return failed(w, f);
		now_us = monotonic_ns() / 1000;
		for (int i = 0; i < got; i++)
			take(&r->count, &b.messages[i], gro, now_us);
		publish(f, r, before);
		/* Fewer than there was room for: next is EAGAIN, or an error. */
		if ((unsigned int)got < b.n && !f->closing)
			return TURN_WAIT;
		/* At least a datagram: what nobody counts must not keep the turn. */
		done += f->common->spec->block_bytes + (size_t)(r->count.bytes - before);
	}
	return TURN_READY;
}

static void sample_receiver(const struct flow *f, struct flow_sample *out)
{
	const struct udp_receiver *r = f->own;

	udp_sample_not_tcp(out);
	out->packets = nd_u64(atomic_load_explicit(&r->packets, memory_order_relaxed));
	out->skipped = nd_u64(atomic_load_explicit(&r->skipped, memory_order_relaxed));
	out->out_of_order = nd_u64(atomic_load_explicit(&r->out_of_order, memory_order_relaxed));
	out->duplicates = nd_u64(atomic_load_explicit(&r->duplicates, memory_order_relaxed));
	out->jitter_us = nd_u64(atomic_load_explicit(&r->jitter_us, memory_order_relaxed));
	out->udp_gso_segments = nd_u64_unknown(ND_NOT_APPLICABLE);
	out->udp_gro = nd_bool(r->gro);
}

static bool marked_received(const struct flow *f, struct load_marked *out)
{
	const struct udp_receiver *r = f->own;

	return udp_count_marked(&r->count, out);
}

const struct flow_ops udp_receive = {
	.name = "udp_receive",
	.events = EPOLLIN, .end_events = EPOLLERR,
	.buffer_bytes = udp_buffer_bytes,
	.open = open_receiver, .close = close_receiver,
	.turn = receive_turn,
	.sample = sample_receiver,
	.marked = marked_received,
};

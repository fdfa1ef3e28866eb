/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TCP as applications do it: send from memory, receive into memory or, told so, into nothing.
 *
 * A short transfer means that the buffer is full (empty), so the next call would
 * only say EAGAIN: wait at once.  Edge-triggered epoll reports what changes after
 * it, except an end of the connection that was already reported: then go on.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/load/worker.h"

static inline enum turn failed(struct worker *w, struct flow *f)
{
	if (errno == EAGAIN)
		return TURN_WAIT;
	return errno == EINTR ? TURN_READY : worker_end_flow(w, f, errno);
}

static inline enum turn receive_turn(struct worker *w, struct flow *f, int flags)
{
	const size_t block = w->block_bytes;

	for (size_t i = 0; i < w->turn_calls; i++) {
		size_t want = flow_allowance(f, block);
		ssize_t n;

		if (want == 0)
			return TURN_LATER;
		n = recv(f->fd, w->buffer, want, MSG_DONTWAIT | flags);
		if (n < 0)
			return failed(w, f);
		if (n == 0)
			return worker_end_flow(w, f, EPIPE);
		flow_moved(f, (size_t)n);
		if (f->limited)
			pace_spend(&f->pace, (uint64_t)n);
		if ((size_t)n < want && !f->closing)
			return TURN_WAIT;
	}
	return TURN_READY;
}

static enum turn receive_copy(struct worker *w, struct flow *f)
{
	return receive_turn(w, f, 0);
}

/* Told to truncate, TCP drops the bytes inside the kernel and leaves the buffer alone. */
static enum turn receive_discard(struct worker *w, struct flow *f)
{
	return receive_turn(w, f, MSG_TRUNC);
}

static enum turn send_copy(struct worker *w, struct flow *f)
{
	const void *pattern = f->common->pattern;

	for (size_t i = 0; i < w->turn_calls; i++) {
		enum turn why = TURN_LATER;
		size_t want = flow_grant(f, w->block_bytes, &why);
		ssize_t n;

		if (want == 0)
			return why;
		n = send(f->fd, pattern, want, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			return failed(w, f);
		flow_sent(f, (size_t)n);
		if ((size_t)n < want && !f->closing)
			return TURN_WAIT;
	}
	return TURN_READY;
}

static size_t one_block(const struct run_spec *spec)
{
	return spec->block_bytes;
}

#define TCP_END_EVENTS (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

const struct flow_ops tcp_receive = {
	.name = "tcp_receive",
	.events = EPOLLIN, .end_events = TCP_END_EVENTS,
	.buffer_bytes = one_block,
	.turn = receive_copy,
};

const struct flow_ops tcp_receive_discard = {
	.name = "tcp_receive_discard",
	.events = EPOLLIN, .end_events = TCP_END_EVENTS,
	.buffer_bytes = one_block,	/* kernels want a valid pointer */
	.turn = receive_discard,
};

const struct flow_ops tcp_send_copy = {
	.name = "tcp_send_copy",
	.events = EPOLLOUT, .end_events = TCP_END_EVENTS,
	.turn = send_copy,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is due from an iperf3 client: streams, bytes, that it takes in ours, results.  One that
 * brings nothing for long gives its place to another that comes (iperf3_sessions.c).
 */
#include "src/peer/iperf3_session.h"

#include "src/peer/server.h"
#include "src/peer/socket.h"

enum { LOOK_MS = 100 };		/* how often the kernel is asked what has arrived over there */

void iperf3_begin_due(struct iperf3_session *is, uint64_t may_pause_ns)
{
	pthread_mutex_lock(&is->server->lock);
	is->idle_since_ns = monotonic_ns();
	is->may_pause_ns = may_pause_ns;
	pthread_mutex_unlock(&is->server->lock);
}

void iperf3_end_due(struct iperf3_session *is)
{
	pthread_mutex_lock(&is->server->lock);
	is->idle_since_ns = 0;
	pthread_mutex_unlock(&is->server->lock);
}

/* Who sends slowly, by whole blocks, is not silent between them; nor are we. */
static uint64_t longest_pause(const struct run_spec *s, const struct peer_timing *timing)
{
	uint64_t least = (uint64_t)timing->silence_ms * 1000000u, bps = run_asked_bps(s);
	double blocks = bps ? 2 * 8e9 * (double)s->block_bytes / (double)bps : 0;

	return blocks > 1e18 ? (uint64_t)1e18 : blocks > (double)least ? (uint64_t)blocks : least;
}

/*
 * Whether a client that is only sent datagrams takes them in nobody tells us.  Of TCP the kernel
 * knows, but for those before 4.1.
 */
void iperf3_begin_data(struct iperf3_session *is)
{
	const struct run_spec *s = &is->parameters.spec;

	if (run_client_sends(s) || s->protocol == RUN_TCP)
		iperf3_begin_due(is, longest_pause(s, is->server->timing));
}

static uint64_t taken_in(const struct iperf3_session *is)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run_flows(&is->parameters.spec); i++) {
		struct nd_u64 bytes = socket_bytes_acked(is->fds[i]);

		/* Unknown is not silent. */
		sum += bytes.k == ND_KNOWN ? bytes.v : monotonic_ns();
	}
	return sum;
}

void iperf3_progress(struct iperf3_session *is, const struct peer_received *r)
{
	bool receives = run_client_sends(&is->parameters.spec);
	uint64_t now = monotonic_ns(), moved = r->bytes;

	if (!receives && (is->parameters.spec.protocol != RUN_TCP || now < is->look_again_ns))
		return;
	if (!receives) {
		is->look_again_ns = now + LOOK_MS * UINT64_C(1000000);
		moved = taken_in(is);
	}
	if (moved == is->moved)
		return;
	is->moved = moved;
	pthread_mutex_lock(&is->server->lock);
	is->idle_since_ns = now;
	pthread_mutex_unlock(&is->server->lock);
}

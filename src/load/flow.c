/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/load/flow.h"

#include <errno.h>

/* Who carries what; a row without ops is something this build cannot do. */
static const struct {
	enum run_protocol protocol;
	enum load_role role;
	bool discard;			/* of receivers */
	enum run_send_path path;	/* of senders */
	const struct flow_ops *ops;
} kinds[] = {
	{ RUN_TCP, LOAD_RECEIVE, .discard = false, .ops = &tcp_receive },
	{ RUN_TCP, LOAD_RECEIVE, .discard = true, .ops = &tcp_receive_discard },
	{ RUN_TCP, LOAD_SEND, .path = RUN_SEND_COPY, .ops = &tcp_send_copy },
	{ RUN_TCP, LOAD_SEND, .path = RUN_SEND_FILE, .ops = &tcp_send_file },
	{ RUN_TCP, LOAD_SEND, .path = RUN_SEND_ZEROCOPY, .ops = &tcp_send_zerocopy },
	{ RUN_UDP, LOAD_RECEIVE, .discard = false, .ops = &udp_receive },
	{ RUN_UDP, LOAD_SEND, .path = RUN_SEND_COPY, .ops = &udp_send },
};

const struct flow_ops *flow_kind(const struct run_spec *spec, enum load_role role,
				 struct error *err)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].protocol != spec->protocol || kinds[i].role != role)
			continue;
		if (role == LOAD_SEND ? kinds[i].path == spec->send_path
				      : kinds[i].discard == spec->discard_receive)
			return kinds[i].ops;
	}
	error_set(err, EOPNOTSUPP, "%s traffic of this kind: not possible in this version",
		  run_protocol_word(spec->protocol));
	return NULL;
}

size_t flow_ask(struct flow *f, size_t want, enum turn *why)
{
	struct amount *amount = &f->common->amount;

	if (amount->total) {
		/* In a warm-up no more than is sent at once: what is taken when it ends, counts. */
		if (f->share == 0)
			f->share = amount_counts(amount)
				? amount_take(amount, f->common->spec->block_bytes)
				: amount_take_some(amount, want);
		if (want > f->share)
			want = (size_t)f->share;
		*why = TURN_OVER;
		if (want == 0)
			return 0;
	}
	if (f->pace.ns_per_byte > 0) {
		want = (size_t)pace_grant(&f->pace, want,
					  f->pace.burst_left ? 0 : monotonic_ns());
		*why = TURN_LATER;
	}
	return want;
}

void flow_begin_wait(struct flow *f)
{
	uint64_t sum = atomic_load_explicit(&f->wait_mark, memory_order_relaxed) >> 1;

	atomic_store_explicit(&f->wait_mark, (monotonic_ns() - sum) << 1 | 1, memory_order_release);
}

void flow_end_wait(struct flow *f)
{
	uint64_t mark = atomic_load_explicit(&f->wait_mark, memory_order_relaxed);

	if (mark & 1)
		atomic_store_explicit(&f->wait_mark, (monotonic_ns() - (mark >> 1)) << 1,
				      memory_order_release);
}

uint64_t flow_blocked_us(const struct flow *f)
{
	/* The clock after the mark: a wait that starts in between must not count backwards. */
	uint64_t mark = atomic_load_explicit(&f->wait_mark, memory_order_acquire);

	return (mark & 1 ? monotonic_ns() - (mark >> 1) : mark >> 1) / 1000;
}

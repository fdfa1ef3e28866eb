/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the socket buffers of both ends let be in flight, all streams together. */
#include "src/diagnose/ladder.h"

#include <math.h>

#include "src/model/window.h"

struct round_trip { double loaded_s, idle_s; };

/* Smoothed RTT while traffic flowed and the shortest seen; one stands in for the other. */
static bool round_trip_of(const struct ladder_builder *b, const struct ladder_path *p,
			  struct round_trip *rtt)
{
	struct nd_f64 loaded = END_FLOW_MEAN(p->sender, rtt_us);
	struct nd_u64 idle = END_FLOW_MIN(p->sender, min_rtt_us);

	/* ~0 is the kernel's "no sample yet". */
	if (idle.k != ND_KNOWN || idle.v == 0 || idle.v >= UINT32_MAX)
		idle = b->exam->path.idle_rtt_us;
	if (loaded.k != ND_KNOWN && idle.k != ND_KNOWN)
		return false;
	rtt->idle_s = idle.k == ND_KNOWN ? (double)idle.v / 1e6 : loaded.v / 1e6;
	rtt->loaded_s = loaded.k == ND_KNOWN ? loaded.v / 1e6 : rtt->idle_s;
	rtt->idle_s = fmax(fmin(rtt->idle_s, rtt->loaded_s), WINDOW_MIN_RTT_S);
	rtt->loaded_s = fmax(rtt->loaded_s, rtt->idle_s);
	return true;
}

static void input_round_trip(struct ceiling *c, const struct round_trip *rtt)
{
	ceiling_input(c, "rtt_us", rtt->loaded_s * 1e6, UNIT_MICROSECONDS);
	ceiling_input(c, "min_rtt_us", rtt->idle_s * 1e6, UNIT_MICROSECONDS);
}

/* The option was not agreed on in the handshake: known from either end's flows. */
static bool unscaled(const struct ladder_path *p)
{
	size_t i;

	for (i = 0; p->sender->present && i < p->sender->nflows; i++)
		if (nd_is_false(p->sender->flows[i].option_wscale))
			return true;
	return false;
}

static void set_window(struct ceiling *c, double low_window, double high_window, double streams,
		       const struct round_trip *rtt, enum ceiling_basis basis, const char *formula)
{
	ceiling_set(c, streams * window_bps(low_window, rtt->loaded_s),
		    streams * window_bps(high_window, rtt->idle_s), basis, formula);
}

/* What a send buffer can grow to (or is pinned at): 0 and a reason when not known. */
static double buffer_limit(const struct facts *f, uint64_t asked, bool send,
			   enum ceiling_basis *basis)
{
	const struct nd_u64 *max, *tcp_max;

	*basis = BASIS_CONFIGURED;
	if (!f)
		return 0;
	max = send ? &f->sysctl.wmem_max : &f->sysctl.rmem_max;
	tcp_max = send ? &f->sysctl.tcp_wmem_max : &f->sysctl.tcp_rmem_max;
	if (asked)
		return max->k == ND_KNOWN ?
		       window_pinned_buffer((double)asked, (double)max->v) : 0;
	return tcp_max->k == ND_KNOWN ? (double)tcp_max->v : 0;
}

static void add_send(struct ladder_builder *b, const struct ladder_path *p,
		     const struct round_trip *rtt)
{
	enum side side = run_sender(p->direction);
	struct ceiling *c = ceiling_add(b, p, CEILING_WINDOW_SEND, side);
	enum ceiling_basis basis;
	double buffer = buffer_limit(b->exam->facts[side], p->run->spec.sndbuf_bytes, true, &basis);

	if (!(buffer > 0)) {
		ceiling_unseen(b, c, "the sender's tcp_wmem is not known");
		return;
	}
	if (!rtt) {
		ceiling_unknown(b, c, "the round-trip time is not known");
		return;
	}
	ceiling_input(c, "buffer", buffer, UNIT_BYTES);
	ceiling_input(c, "streams", p->streams, UNIT_COUNT);
	input_round_trip(c, rtt);
	set_window(c, WINDOW_SEND_FILL * buffer, WINDOW_SEND_FILL * buffer, p->streams, rtt, basis,
		   "streams * 0.75 * buffer * 8 / rtt");
}

/* tcp_moderate_rcvbuf off: the buffer stays where it starts. */
static double receive_buffer(const struct facts *f, uint64_t asked, enum ceiling_basis *basis)
{
	if (f && !asked && nd_u64_is(f->sysctl.tcp_moderate_rcvbuf, 0) &&
	    f->sysctl.tcp_rmem_default.k == ND_KNOWN)
		return (double)f->sysctl.tcp_rmem_default.v;
	return buffer_limit(f, asked, false, basis);
}

static void receive_share(const struct facts *f, double *low, double *high)
{
	bool measures = true;
	int scale = 1;

	if (f && f->host.kernel.k == ND_KNOWN && f->sysctl.tcp_adv_win_scale.k == ND_KNOWN)
		measures = window_kernel_measures(f->host.kernel.v);
	if (!measures)
		scale = (int)fmax(-31, fmin(31, (double)f->sysctl.tcp_adv_win_scale.v));
	window_receive_share(measures, scale, low, high);
}

static void add_receive(struct ladder_builder *b, const struct ladder_path *p,
			const struct round_trip *rtt)
{
	enum side side = run_receiver(p->direction);
	const struct facts *f = b->exam->facts[side];
	struct ceiling *c = ceiling_add(b, p, CEILING_WINDOW_RECEIVE, side);
	enum ceiling_basis basis = BASIS_CONFIGURED;
	double buffer = receive_buffer(f, p->run->spec.rcvbuf_bytes, &basis), low, high;

	if (!rtt) {
		ceiling_unknown(b, c, "the round-trip time is not known");
		return;
	}
	if (unscaled(p)) {
		ceiling_input(c, "window", WINDOW_UNSCALED_BYTES, UNIT_BYTES);
		ceiling_input(c, "streams", p->streams, UNIT_COUNT);
		input_round_trip(c, rtt);
		set_window(c, WINDOW_UNSCALED_BYTES, WINDOW_UNSCALED_BYTES, p->streams, rtt,
			   BASIS_COMPUTED, "streams * window * 8 / rtt, without window scaling");
		return;
	}
	if (!(buffer > 0)) {
		ceiling_unseen(b, c, "the receiver's tcp_rmem is not known");
		return;
	}
	receive_share(f, &low, &high);
	ceiling_input(c, "buffer", buffer, UNIT_BYTES);
	ceiling_input(c, "window_share_low", low, UNIT_SHARE);
	ceiling_input(c, "window_share_high", high, UNIT_SHARE);
	ceiling_input(c, "streams", p->streams, UNIT_COUNT);
	input_round_trip(c, rtt);
	set_window(c, buffer * low, buffer * high, p->streams, rtt, basis,
		   "streams * window_share * buffer * 8 / rtt");
}

void ladder_add_windows(struct ladder_builder *b, const struct ladder_path *p)
{
	struct round_trip rtt;
	bool known;

	known = round_trip_of(b, p, &rtt);
	add_send(b, p, known ? &rtt : NULL);
	add_receive(b, p, known ? &rtt : NULL);
}

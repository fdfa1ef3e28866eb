/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/tcp_buffer.h"

#include <math.h>

#include "rules/thresholds.h"
#include "src/model/window.h"

struct round_trip { double loaded_s, idle_s; };

static struct round_trip round_trip_of(const struct tcp_sender *s)
{
	double idle = s->min_rtt_us.k == ND_KNOWN ? (double)s->min_rtt_us.v / 1e6 : 0;
	double loaded = s->rtt_us.k == ND_KNOWN ? s->rtt_us.v / 1e6 : idle;

	return (struct round_trip){ fmax(loaded, idle), idle > 0 ? idle : loaded };
}

static double streams_of(const struct run *run)
{
	return fmax(1, (double)run->spec.streams);
}

void tcp_receive_rates(const struct facts *receiver, const struct run *run,
		       const struct tcp_sender *s, double buffer, double *low, double *high)
{
	struct round_trip rtt = round_trip_of(s);
	double share_low = 0.5, share_high = 1;

	if (receiver && receiver->host.kernel.k == ND_KNOWN &&
	    receiver->sysctl.tcp_adv_win_scale.k == ND_KNOWN)
		window_receive_share(window_kernel_measures(receiver->host.kernel.v),
				     (int)fmax(-31, fmin(31, (double)
					receiver->sysctl.tcp_adv_win_scale.v)),
				     &share_low, &share_high);
	*low = streams_of(run) * window_receive_bps(buffer, share_low, rtt.loaded_s);
	*high = streams_of(run) * window_receive_bps(buffer, share_high, rtt.idle_s);
}

void tcp_send_rates(const struct run *run, const struct tcp_sender *s, double buffer, double *low,
		    double *high)
{
	struct round_trip rtt = round_trip_of(s);

	*low = streams_of(run) * window_send_bps(buffer, rtt.loaded_s);
	*high = streams_of(run) * window_send_bps(buffer, rtt.idle_s);
}

bool tcp_unscaled(const struct run *run)
{
	static const enum side sides[] = { SIDE_LOCAL, SIDE_PEER };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		const struct run_end *end = &run->ends[sides[i]];

		for (j = 0; end->present && j < end->nflows; j++)
			if (nd_is_false(end->flows[j].option_wscale))
				return true;
	}
	return false;
}

bool tcp_receive_window_full(const struct rule_input *in, struct rule_output *out,
			     const struct tcp_sender *s)
{
	if (!s->present || (s->rwnd_limited.k != ND_KNOWN && s->window_fill.k != ND_KNOWN)) {
		rule_missing(out, tcp_flow_fact(out, in->run, side_other(in->side),
						"rwnd_limited_share"),
			     s->present ? s->rwnd_limited.k : ND_UNREAD, NULL);
		return false;
	}
	if (tcp_window_limited(s))
		return true;
	rule_clear(out, "the receiver's window had room");
	return false;
}

const char *tcp_send_missing(const struct rule_input *in, struct rule_output *out,
			     const struct tcp_sender *s, enum nd_known *reason)
{
	if (s->notsent_empty.k != ND_KNOWN) {
		*reason = s->notsent_empty.k;
		return tcp_flow_fact(out, in->run, in->side, "notsent_empty_share");
	}
	if (s->queue_fill.k != ND_KNOWN && !(s->mean_write > 0)) {
		*reason = s->queue_fill.k;
		return tcp_flow_fact(out, in->run, in->side, "send_queue_fill");
	}
	return NULL;
}

bool tcp_receive_excused(const struct rule_input *in, struct rule_output *out,
			 const struct tcp_sender *s, const struct tcp_receiver *r, double buffer)
{
	const struct ceiling *full = tcp_full_link(in);

	if (full) {
		rule_clear(out, "the window was full, but so was the %s",
			   ceiling_word(full->kind));
		return true;
	}
	if (tcp_reader_behind(in->run, r)) {
		rule_clear(out, "the window was full because the reader was behind: "
			   "%.0f %% of the buffer was unread", r->queue_fill.v * 100);
		return true;
	}
	if (tcp_queue_makes_rtt(s, buffer)) {
		rule_clear(out, "the window was full of packets waiting in a queue: "
			   "%.0f us round trip against %llu us when empty", s->rtt_us.v,
			   (unsigned long long)s->min_rtt_us.v);
		return true;
	}
	return false;
}

static bool at_least(struct nd_f64 v, double threshold)
{
	return v.k == ND_KNOWN && v.v >= threshold;
}

bool tcp_writes_are_cut(const struct rule_input *in, const struct tcp_sender *s)
{
	return s->mean_write > 0 &&
	       s->mean_write <= TCP_CUT_WRITE * (double)in->run->spec.block_bytes;
}

bool tcp_send_excused(const struct rule_input *in, struct rule_output *out,
		      const struct tcp_sender *s, double buffer)
{
	const struct ceiling *full = tcp_full_link(in);
	bool cut = tcp_writes_are_cut(in, s);

	if (!cut && !(at_least(s->queue_fill, TCP_SNDBUF_FILL) &&
		      at_least(s->blocked, TCP_SNDBUF_BLOCKED)))
		rule_clear(out, "the send buffers had room");
	else if (!at_least(s->notsent_empty, CPU_NOTSENT_EMPTY))
		rule_clear(out, "unsent bytes waited in the send buffers: something behind them "
			   "was slower");
	else if (at_least(s->cwnd_fill, CC_CWND_FILL) || tcp_window_limited(s))
		rule_clear(out, "a window was full before the send buffers");
	else if (full)
		rule_clear(out, "the send buffers were full, but so was the %s",
			   ceiling_word(full->kind));
	else if (!cut && tcp_queue_makes_rtt(s, buffer))
		rule_clear(out, "the send buffers were full of packets waiting in a queue");
	else
		return false;
	return true;
}

struct tcp_memory tcp_receive_memory(const struct sysctl_facts *s)
{
	return (struct tcp_memory){
		.name = "tcp_rmem", .min = s->tcp_rmem_min, .initial = s->tcp_rmem_default,
		.max = s->tcp_rmem_max, .least_initial = TCP_RMEM_INITIAL,
	};
}

struct tcp_memory tcp_send_memory(const struct sysctl_facts *s)
{
	return (struct tcp_memory){
		.name = "tcp_wmem", .min = s->tcp_wmem_min, .initial = s->tcp_wmem_default,
		.max = s->tcp_wmem_max, .least_initial = TCP_WMEM_INITIAL,
	};
}

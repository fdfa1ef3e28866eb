/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/tcp.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "rules/thresholds.h"
#include "src/model/window.h"

/* Bytes of a call that moved data; 0: not known. */
static double mean_call(const struct run_end *end)
{
	struct nd_u64 bytes = END_FLOW_SUM(end, bytes), calls = END_FLOW_SUM(end, calls);

	if (bytes.k != ND_KNOWN || calls.k != ND_KNOWN || !calls.v)
		return 0;
	return (double)bytes.v / (double)calls.v;
}

struct tcp_sender tcp_sender_of(const struct exam *e, const struct run *run)
{
	const struct run_end *end = &run->ends[run_sender(run->spec.direction)];
	struct tcp_sender s = {
		.present = end->present,
		.congestion_control = end_congestion_control(end),
		.window_fill = END_FLOW_MEAN(end, window_fill),
		.cwnd_fill = END_FLOW_MEAN(end, cwnd_fill),
		.queue_fill = END_FLOW_MEAN(end, send_queue_fill),
		.rwnd_limited = END_FLOW_MEAN(end, rwnd_limited_share),
		.sndbuf_limited = END_FLOW_MEAN(end, sndbuf_limited_share),
		.app_limited = END_FLOW_MEAN(end, app_limited_share),
		.notsent_empty = END_FLOW_MEAN(end, notsent_empty_share),
		.recovery = END_FLOW_MEAN(end, recovery_share),
		.blocked = END_FLOW_MEAN(end, blocked_share),
		.rtt_us = END_FLOW_MEAN(end, rtt_us),
		.min_rtt_us = END_FLOW_MIN(end, min_rtt_us),
		.mean_write = mean_call(end),
	};

	s.bbr = s.congestion_control && strncmp(s.congestion_control, "bbr", 3) == 0;
	/* ~0 is the kernel's "no sample yet". */
	if (s.min_rtt_us.k != ND_KNOWN || !s.min_rtt_us.v || s.min_rtt_us.v >= UINT32_MAX)
		s.min_rtt_us = e->path.idle_rtt_us;
	return s;
}

struct tcp_receiver tcp_receiver_of(const struct run *run)
{
	const struct run_end *end = &run->ends[run_receiver(run->spec.direction)];

	return (struct tcp_receiver){
		.present = end->present,
		.queue_fill = END_FLOW_MEAN(end, receive_queue_fill),
		.blocked = END_FLOW_MEAN(end, blocked_share),
		.mean_read = mean_call(end),
	};
}

const char *tcp_flow_fact(struct rule_output *out, const struct run *run, enum side s,
			  const char *member)
{
	return rule_text(out, "runs[%s].%s.flows[*].%s", run->id.k == ND_KNOWN ? run->id.v : "?",
			 side_word(s), member);
}

const char *tcp_sysctl_fact(struct rule_output *out, enum side s, const char *member)
{
	return rule_text(out, "%s.sysctl.%s", side_word(s), member);
}

void tcp_flow_evidence(struct rule_output *out, struct finding *f, const struct run *run,
		       enum side s, const char *member, struct nd_f64 value, enum unit unit,
		       const char *threshold)
{
	if (value.k == ND_KNOWN)
		finding_number(out, f, tcp_flow_fact(out, run, s, member), value.v, unit, threshold,
			       "TCP_INFO, SO_MEMINFO: mean of the flows");
}

void tcp_sysctl_evidence(struct rule_output *out, struct finding *f, enum side s,
			 const char *member, struct nd_u64 value, enum unit unit,
			 const char *threshold)
{
	if (value.k == ND_KNOWN)
		finding_number(out, f, tcp_sysctl_fact(out, s, member), (double)value.v, unit,
			       threshold, "sysctl");
}

const struct ceiling *tcp_full_link(const struct rule_input *in)
{
	size_t i;

	for (i = 0; i < in->ladder->n; i++) {
		const struct ceiling *c = &in->ladder->ceilings[i];
		double from;

		if (c->direction != in->direction || !c->known)
			continue;
		if (c->kind == CEILING_WIRE || c->kind == CEILING_SHAPER)
			from = TCP_LINK_FULL * c->low_bps;
		else if (c->kind == CEILING_PCIE)
			from = PCIE_LIMIT_REACHED * c->low_bps;
		else
			continue;
		if (in->measured_bps >= from)
			return c;
	}
	return NULL;
}

bool tcp_window_limited(const struct tcp_sender *s)
{
	double share = s->bbr ? TCP_RWND_LIMITED_BBR : TCP_RWND_LIMITED;

	if (s->rwnd_limited.k == ND_KNOWN && s->rwnd_limited.v >= share)
		return true;
	return s->window_fill.k == ND_KNOWN && s->window_fill.v >= TCP_WINDOW_FILL;
}

bool tcp_reader_behind(const struct run *run, const struct tcp_receiver *r)
{
	if (r->queue_fill.k != ND_KNOWN || r->queue_fill.v < CPU_RECEIVE_QUEUE_FULL)
		return false;
	/*
	 * A buffer smaller than one read is emptied by each: that it was full before says
	 * nothing about the reader.
	 */
	return r->mean_read >= TCP_WHOLE_READ * (double)run->spec.block_bytes;
}

bool tcp_queue_makes_rtt(const struct tcp_sender *s, double buffer_bytes)
{
	if (buffer_bytes < TCP_TINY_BYTES)
		return false;
	if (s->rtt_us.k != ND_KNOWN || s->min_rtt_us.k != ND_KNOWN || !s->min_rtt_us.v)
		return false;
	return s->rtt_us.v > TCP_QUEUED_RTT * (double)s->min_rtt_us.v;
}

double tcp_flows_at(const struct run_end *end, size_t member_offset, double bytes)
{
	size_t i, known = 0, reached = 0;

	for (i = 0; end->present && i < end->nflows; i++) {
		const struct nd_u64 *v =
			(const struct nd_u64 *)((const char *)&end->flows[i] + member_offset);

		if (v->k != ND_KNOWN)
			continue;
		known++;
		reached += (double)v->v >= bytes;
	}
	return known ? (double)reached / (double)known : 0;
}

double tcp_next_limit(const struct rule_input *in)
{
	double lowest = 0;
	size_t i;

	for (i = 0; i < in->ladder->n; i++) {
		const struct ceiling *c = &in->ladder->ceilings[i];

		if (c->direction != in->direction || !c->known ||
		    (c->kind != CEILING_WIRE && c->kind != CEILING_PCIE &&
		     c->kind != CEILING_SHAPER))
			continue;
		if (!(lowest > 0) || c->high_bps < lowest)
			lowest = c->high_bps;
	}
	return lowest;
}

double tcp_buffer_for(const struct rule_input *in, const struct tcp_sender *s, double factor,
		      double least, double now)
{
	double rtt_s = s->min_rtt_us.k == ND_KNOWN ? (double)s->min_rtt_us.v / 1e6 : 0;
	double need = factor * window_bdp_bytes(tcp_next_limit(in), rtt_s), size = least;

	/* A power of two times the kernel's own default: easy to read, and never below the need. */
	while (size < need || size <= now)
		size *= 2;
	return fmin(size, fmax(TCP_BUFFER_MAX_BYTES, now));
}

void tcp_memory_fix(struct rule_output *out, struct finding *f, const struct tcp_memory *m,
		    double max)
{
	unsigned long long low = m->min.k == ND_KNOWN ? m->min.v : 4096;
	double initial = m->initial.k == ND_KNOWN ? (double)m->initial.v : 0;

	initial = fmax(initial, m->least_initial);
	finding_command(out, f, "sysctl -w net.ipv4.%s='%llu %.0f %.0f'", m->name, low, initial,
			max);
	finding_persist(out, f, "echo 'net.ipv4.%s = %llu %.0f %.0f' "
			">>/etc/sysctl.d/90-netdoctor.conf", m->name, low, initial, max);
	if (m->min.k == ND_KNOWN && m->initial.k == ND_KNOWN && m->max.k == ND_KNOWN)
		finding_undo(out, f, "sysctl -w net.ipv4.%s='%llu %llu %llu'", m->name,
			     (unsigned long long)m->min.v, (unsigned long long)m->initial.v,
			     (unsigned long long)m->max.v);
}

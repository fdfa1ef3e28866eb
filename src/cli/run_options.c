/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/run_options.h"

#include <string.h>

/* The whole diagnosis stays under half a minute: what is left after reading facts. */
#define BUDGET_MS 27000
#define USUAL_WINDOW_MS 4000
#define USUAL_WARMUP_MS 1000

static const char *contradiction(const struct run_settings *s)
{
	bool rate = s->rate_bps != RUN_RATE_UNSET;

	if (s->reverse_only && s->forward_only)
		return "--reverse and --forward exclude each other";
	if (rate && s->rate_bps && s->rate_bps < RUN_MIN_RATE_BPS)
		return "--bitrate: 8 kbit/s at least, or 0 for no limit";
	if (s->udp && !rate)
		return "--udp wants --bitrate RATE, of each stream: datagrams do not yield to who "
		       "else is on the way (0: as many as go out)";
	if (s->udp && (s->mss_bytes || s->congestion_control))
		return "--set-mss and --congestion are of TCP, not of --udp";
	if (!s->udp && (s->gso || s->gro))
		return "--gso and --gro want --udp";
	if (s->udp && s->block_bytes &&
	    (s->block_bytes < RUN_MIN_DATAGRAM_BYTES || s->block_bytes > RUN_MAX_DATAGRAM_BYTES))
		return "--length: a datagram has 16 to 65507 bytes";
	return NULL;
}

int run_options_apply(const struct run_settings *s, struct conduct_options *o)
{
	struct run_spec *base = &o->plan.base;
	const char *why = contradiction(s);

	if (why)
		return complain(-1, "diagnose: %s", why);
	if (s->both && (s->reverse_only || s->forward_only))
		return complain(-1, "--bidir compares each direction alone with both at once: "
				"--%s leaves one out", s->reverse_only ? "reverse" : "forward");
	if (s->both && s->streams > RUN_MAX_STREAMS / 2)
		return complain(-1, "--bidir: %d streams each way at most", RUN_MAX_STREAMS / 2);
	*base = (struct run_spec){
		.protocol = s->udp ? RUN_UDP : RUN_TCP,
		.latency = s->latency,
		.streams = s->streams,
		.block_bytes = s->block_bytes ? s->block_bytes :
			       s->udp ? RUN_DEFAULT_DATAGRAM_BYTES : RUN_DEFAULT_BLOCK_BYTES,
		.rate_bps = s->rate_bps != RUN_RATE_UNSET ? s->rate_bps : 0,
		.udp_gso = s->gso,
		.udp_gro = s->gro,
		.warmup_ms = s->warmup_ms == RUN_TIME_UNSET ? USUAL_WARMUP_MS : s->warmup_ms,
		.window_ms = s->time_ms == RUN_TIME_UNSET ? USUAL_WINDOW_MS : s->time_ms,
		.mss_bytes = s->mss_bytes,
		.sndbuf_bytes = s->window_bytes,
		.rcvbuf_bytes = s->window_bytes,
	};
	if (run_spec_set_congestion(base, s->congestion_control))
		return complain(-1, "--congestion %s: no kernel has such a name",
				s->congestion_control);
	o->plan.forward = !s->reverse_only;
	o->plan.reverse = !s->forward_only;
	o->plan.both = s->both;
	/* One of several that are told their rate has that rate. */
	o->plan.one_stream = s->streams != 1 && !base->rate_bps;
	o->plan.experiments = !s->no_experiments;
	o->plan.repeat = true;
	/* Longer runs were asked for: experiments then get what three standard ones would take. */
	o->plan.budget_ms = base->window_ms > USUAL_WINDOW_MS ?
			    3 * (base->window_ms + base->warmup_ms) + 12000 : BUDGET_MS;
	/* One more run was asked for: it takes nothing from those that prove a cause. */
	if (s->both)
		o->plan.budget_ms += base->window_ms + base->warmup_ms;
	o->plan.window_chosen = s->time_ms != RUN_TIME_UNSET;
	o->plan.warmup_chosen = s->warmup_ms != RUN_TIME_UNSET;
	if (s->target_bps)
		o->wishes.target_bps = nd_u64(s->target_bps);
	if (s->link_speed_bps)
		o->wishes.link_speed_bps = nd_u64(s->link_speed_bps);
	o->only_links = s->iface ? &s->iface : NULL;
	o->nonly_links = s->iface ? 1 : 0;
	return 0;
}

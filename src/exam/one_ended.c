/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/one_ended.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- what we tell ---- */

static uint64_t since(const struct nd_u64 *now, const struct nd_u64 *then)
{
	uint64_t before = then && then->k == ND_KNOWN ? then->v : 0;

	return now->k == ND_KNOWN && now->v > before ? now->v - before : 0;
}

static void fill_flow(const struct flow_sample *now, const struct flow_sample *then,
		      struct peer_flow_result *r)
{
	r->bytes = since(&now->bytes, then ? &then->bytes : NULL);
	if (nd_str_is(now->direction, "send") && now->retransmits.k == ND_KNOWN)
		r->retransmits = (int64_t)since(&now->retransmits,
						then ? &then->retransmits : NULL);
}

/* Of our traffic threads, in percent of one core. */
static void fill_cpu(const struct one_ended_samples *s, struct peer_results *out)
{
	struct counters *d = s->first && s->last ? counters_difference(s->first, s->last) : NULL;
	double user = 0, system = 0;

	for (size_t i = 0; d && i < d->nworkers; i++) {
		user += (double)since(&d->workers[i].user_us, NULL);
		system += (double)since(&d->workers[i].system_us, NULL);
	}
	if (d && d->clock.monotonic_ns.k == ND_KNOWN && d->clock.monotonic_ns.v) {
		double window_us = (double)d->clock.monotonic_ns.v / 1e3;

		out->cpu_user = user / window_us * 100;
		out->cpu_system = system / window_us * 100;
		out->cpu_total = out->cpu_user + out->cpu_system;
	}
	counters_free(d);
}

int one_ended_results(const struct one_ended_samples *s, size_t n, struct peer_results *out)
{
	const struct counters *from = s->counted_from;
	int rc = peer_results_init(out, n);

	if (rc || !s->final)
		return rc ? rc : -ENOMEM;
	for (size_t i = 0; i < n && i < s->final->nflows; i++) {
		const struct flow_sample *now = &s->final->flows[i];

		fill_flow(now, from && i < from->nflows ? &from->flows[i] : NULL, &out->flows[i]);
		out->flows[i].seconds = s->seconds;
		if (now->congestion_control.k == ND_KNOWN)
			snprintf(out->congestion_control, sizeof(out->congestion_control), "%s",
				 now->congestion_control.v);
	}
	fill_cpu(s, out);
	return 0;
}

/* ---- what it tells ---- */

static struct nd_u64 window_of(const struct peer_results *r, struct nd_u64 fallback)
{
	double longest = 0;

	for (size_t i = 0; i < r->nflows; i++)
		if (r->flows[i].seconds > longest)
			longest = r->flows[i].seconds;
	return longest > 0 ? nd_u64((uint64_t)(longest * 1e9)) : fallback;
}

static void fill_summary(const struct peer_results *r, size_t i, enum load_role role,
			 const char *cc, struct nd_u64 window_ns, struct flow_summary *f)
{
	const struct peer_flow_result *from = &r->flows[i];

	f->flow = nd_u64(i);
	f->direction = nd_str(role == LOAD_SEND ? "send" : "receive");
	f->bytes = nd_u64(from->bytes);
	if (window_ns.k == ND_KNOWN && window_ns.v)
		f->goodput_bps = nd_u64((uint64_t)((double)from->bytes * 8e9 /
						   (double)window_ns.v));
	if (from->retransmits >= 0)
		f->retransmits = nd_u64((uint64_t)from->retransmits);
	if (cc && role == LOAD_SEND)
		f->congestion_control = nd_str(cc);
}

int one_ended_end(const struct peer_results *r, const struct run_spec *spec, enum load_role role,
		  struct nd_u64 fallback_ns, struct arena *mem, struct run_end *out)
{
	const char *cc = *r->congestion_control ? arena_strdup(mem, r->congestion_control) : NULL;
	uint64_t bytes = 0;

	memset(out, 0, sizeof(*out));
	out->flows = arena_alloc_array(mem, r->nflows, sizeof(*out->flows));
	if (!out->flows || (*r->congestion_control && !cc))
		return -ENOMEM;
	out->present = true;
	out->nflows = r->nflows;
	out->window_ns = window_of(r, fallback_ns);
	for (size_t i = 0; i < r->nflows; i++) {
		fill_summary(r, i, run_flow_role(spec, role, i), cc, out->window_ns,
			     &out->flows[i]);
		bytes += i < spec->streams ? r->flows[i].bytes : 0;
	}
	out->bytes = nd_u64(bytes);
	out->process_cores = r->cpu_total >= 0 ? nd_f64(r->cpu_total / 100)
					       : nd_f64_unknown(ND_INVALID);
	return 0;
}

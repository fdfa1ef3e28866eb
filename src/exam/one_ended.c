/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/one_ended.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/exam/conclude.h"

/* ---- what we tell ---- */

static uint64_t since(const struct nd_u64 *now, const struct nd_u64 *then)
{
	uint64_t before = then && then->k == ND_KNOWN ? then->v : 0;

	return now->k == ND_KNOWN && now->v > before ? now->v - before : 0;
}

static int64_t lost_until(const struct flow_sample *s)
{
	return s->skipped.k == ND_KNOWN && s->out_of_order.k == ND_KNOWN
		? (int64_t)(s->skipped.v - s->out_of_order.v) : 0;
}

/* A receiver's packets are those that were sent to it, as far as it can tell. */
static int64_t packets_until(const struct flow_sample *s)
{
	return (s->packets.k == ND_KNOWN ? (int64_t)s->packets.v : 0) + lost_until(s);
}

static void fill_datagrams(const struct flow_sample *now, const struct flow_sample *then,
			   struct peer_flow_result *r)
{
	r->packets = packets_until(now);
	r->lost = lost_until(now);
	r->omitted_packets = then ? packets_until(then) : 0;
	r->omitted_lost = then ? lost_until(then) : 0;
	if (now->jitter_us.k == ND_KNOWN)
		r->jitter_s = (double)now->jitter_us.v / 1e6;
}

static void fill_flow(const struct flow_sample *now, const struct flow_sample *then,
		      struct peer_flow_result *r)
{
	r->bytes = since(&now->bytes, then ? &then->bytes : NULL);
	if (nd_str_is(now->direction, "send") && now->retransmits.k == ND_KNOWN)
		r->retransmits = (int64_t)since(&now->retransmits,
						then ? &then->retransmits : NULL);
	if (now->packets.k == ND_KNOWN)
		fill_datagrams(now, then, r);
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

void one_ended_omit(const struct peer_results *ours, struct peer_results *told)
{
	for (size_t i = 0; i < told->nflows && i < ours->nflows; i++) {
		struct peer_flow_result *r = &told->flows[i];
		int64_t omitted = ours->flows[i].omitted_packets;

		if (!r->omitted_packets && !r->omitted_lost && omitted > 0 && omitted < r->packets)
			r->omitted_packets = omitted;
	}
}

/* What an old one lost in the warm-up is not known: it counts as lost in the window. */
static void fill_told_datagrams(const struct peer_flow_result *from, enum load_role role,
			  struct flow_summary *f)
{
	int64_t packets = from->packets - from->omitted_packets;
	int64_t lost = from->lost - from->omitted_lost;

	f->lost = nd_u64_unknown(ND_NOT_APPLICABLE);
	f->jitter_us = nd_f64_unknown(ND_NOT_APPLICABLE);
	if (from->packets < 0 || packets < 0)
		f->packets = nd_u64_unknown(ND_INVALID);
	else
		f->packets = nd_u64((uint64_t)packets);
	if (role == LOAD_SEND)
		return;
	f->jitter_us = nd_f64(from->jitter_s * 1e6);
	/* What came late in the window makes up for what was missing before it. */
	if (lost < 0)
		lost = 0;
	f->lost = nd_u64((uint64_t)lost);
	if (from->lost < 0 || f->packets.k != ND_KNOWN || lost > packets)
		f->lost = f->packets = nd_u64_unknown(ND_INVALID);
	else
		f->packets = nd_u64((uint64_t)(packets - lost));
}

static void fill_summary(const struct peer_results *r, size_t i, enum load_role role, bool udp,
			 const char *cc, struct nd_u64 window_ns, struct flow_summary *f)
{
	const struct peer_flow_result *from = &r->flows[i];

	f->flow = nd_u64(i);
	f->direction = nd_str(role == LOAD_SEND ? "send" : "receive");
	f->bytes = nd_u64(from->bytes);
	if (window_ns.k == ND_KNOWN && window_ns.v)
		f->goodput_bps = nd_u64((uint64_t)((double)from->bytes * 8e9 /
						   (double)window_ns.v));
	if (!udp && from->retransmits >= 0)
		f->retransmits = nd_u64((uint64_t)from->retransmits);
	if (udp)
		fill_told_datagrams(from, role, f);
	else if (cc)
		f->congestion_control = nd_str(cc);
}

/* From per cent of one. */
static struct nd_f64 cores_of(double percent)
{
	return percent >= 0 ? nd_f64(percent / 100) : nd_f64_unknown(ND_INVALID);
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
		fill_summary(r, i, run_flow_role(spec, role, i), spec->protocol == RUN_UDP, cc,
			     out->window_ns, &out->flows[i]);
		bytes += i < spec->streams ? r->flows[i].bytes : 0;
	}
	out->bytes = nd_u64(bytes);
	out->process_cores = cores_of(r->cpu_total);
	out->process_user_cores = cores_of(r->cpu_user);
	out->process_system_cores = cores_of(r->cpu_system);
	return 0;
}

/* ---- a test that it asked for ---- */

/* With traffic both ways the rate of a direction is that of its own flows. */
static struct nd_u64 bytes_of_direction(const struct run_end *end, const struct run_spec *spec)
{
	bool receives = run_server_role(spec) == LOAD_RECEIVE;

	return spec->bidirectional ? end_bytes_of(end, receives ? "receive" : "send") : end->bytes;
}

int one_ended_path(struct exam *e, const struct peer_client_info *client, const char *program)
{
	const char *local = arena_strdup(e->mem, client->local_address);
	const char *remote = arena_strdup(e->mem, client->address);

	if (!local || !remote)
		return -ENOMEM;
	e->path.local_address = nd_str(local);
	e->path.peer_address = nd_str(remote);
	if (program)
		e->path.peer_program = nd_str(program);
	exam_place_ends(e);
	return 0;
}

static int fill_run(struct exam *e, const struct run_spec *spec, const cJSON *end,
		    const struct peer_results *theirs, struct error *err)
{
	void *rows = e->runs;
	struct run *r = arena_append_row(e->mem, &rows, &e->nruns, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, ENOMEM, "out of memory for a run");
	e->runs = rows;
	r->purpose = RUN_ALL_STREAMS;
	r->spec = *spec;
	/* In an exam, forward is what this host sends. */
	r->spec.direction = run_other_direction(spec->direction);
	r->id = nd_str(r->spec.direction == RUN_FORWARD ? "1-forward-all-streams"
							: "1-reverse-all-streams");
	rc = run_end_from_json(end, e->mem, &r->ends[SIDE_LOCAL], err);
	r->ends[SIDE_LOCAL].bytes = bytes_of_direction(&r->ends[SIDE_LOCAL], spec);
	if (rc == 0 && one_ended_end(theirs, &r->spec, run_server_role(&r->spec),
				     r->ends[SIDE_LOCAL].window_ns, e->mem, &r->ends[SIDE_PEER]))
		rc = error_set(err, ENOMEM, "out of memory for a run");
	if (rc == 0) {
		/* It was as long as the client wanted. */
		if (r->ends[SIDE_LOCAL].window_ns.k == ND_KNOWN)
			r->spec.window_ms = r->ends[SIDE_LOCAL].window_ns.v / 1000000;
		run_conclude(r, 0, NULL, e->mem);
	}
	return rc;
}

/*
 * What a client's run is for it does not say: what differs from the first in its direction tells.
 */
static enum run_purpose purpose_of(const struct exam *e, const struct run_spec *spec)
{
	for (size_t i = 0; i < e->nruns; i++) {
		const struct run_spec *first = &e->runs[i].spec;
		if (first->direction != spec->direction)
			continue;
		if (spec->discard_receive != first->discard_receive)
			return RUN_DISCARD_RECEIVE;
		if (spec->mss_bytes != first->mss_bytes)
			return RUN_HALF_SEGMENTS;
		if (strcmp(spec->congestion_control, first->congestion_control))
			return RUN_OTHER_CONGESTION_CONTROL;
		if (spec->streams == 1 && first->streams > 1)
			return RUN_ONE_STREAM;
		break;
	}
	return RUN_ALL_STREAMS;
}

/* Our own end alone can be whole. */
static bool is_whole(const struct run *r)
{
	const struct run_end *end = &r->ends[SIDE_LOCAL];

	return r->status == RUN_INCOMPLETE && end->present && end->window_ns.k == ND_KNOWN &&
	       (end->broken_flows.k != ND_KNOWN || !end->broken_flows.v) &&
	       end->window_ns.v / 1000000 >= r->spec.window_ms / 2;
}

int one_ended_add_run(struct exam *e, const struct run_spec *spec, const struct run_end *end)
{
	void *rows = e->runs;
	struct run_spec ours = *spec;

	ours.direction = run_other_direction(spec->direction);
	enum run_purpose purpose = purpose_of(e, &ours);
	const char *id = arena_printf(e->mem, "%zu-%s-%s", e->nruns + 1,
				      run_direction_word(ours.direction),
				      run_purpose_word(purpose));
	struct run *r = id ? arena_append_row(e->mem, &rows, &e->nruns, sizeof(*r)) : NULL;
	if (!r)
		return -ENOMEM;
	e->runs = rows;
	r->id = nd_str(id);
	r->purpose = purpose;
	r->spec = ours;
	r->ends[SIDE_LOCAL] = *end;
	r->ends[SIDE_LOCAL].bytes = bytes_of_direction(end, spec);
	r->ends[SIDE_PEER].problem = nd_str("the client keeps it to itself");
	run_conclude(r, 0, NULL, e->mem);
	if (is_whole(r)) {
		r->status = RUN_COMPLETE;
		r->problem = nd_str_unknown(ND_UNREAD);
	}
	return 0;
}

int one_ended_hear(struct exam *e, const struct peer_results *theirs)
{
	struct run *r = e->nruns ? &e->runs[e->nruns - 1] : NULL;

	if (!r)
		return 0;
	int rc = one_ended_end(theirs, &r->spec, run_server_role(&r->spec),
			       r->ends[SIDE_LOCAL].window_ns, e->mem, &r->ends[SIDE_PEER]);
	r->spec.window_ms = r->ends[SIDE_LOCAL].window_ns.v / 1000000;
	if (!rc)
		run_conclude(r, 0, NULL, e->mem);
	return rc;
}

int one_ended_exam(struct facts *local, const struct peer_client_info *client,
		   const struct run_spec *spec, const cJSON *end, const struct peer_results *theirs,
		   struct exam **out, struct error *err)
{
	struct exam *e = exam_new();
	int rc;

	*out = NULL;
	if (!e) {
		facts_free(local);
		return error_set(err, ENOMEM, "out of memory for an exam");
	}
	e->facts[SIDE_LOCAL] = local;
	rc = one_ended_path(e, client, "iperf3");
	if (rc == 0)
		rc = fill_run(e, spec, end, theirs, err);
	else
		error_set(err, ENOMEM, "out of memory for an exam");
	if (rc)
		exam_free(e);
	else
		*out = e;
	return rc;
}

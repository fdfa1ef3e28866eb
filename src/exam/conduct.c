/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/conduct.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "src/core/clock.h"
#include "src/exam/conduct_run.h"

/* A peer's facts may be large (hundreds of queues), not endless. */
#define MAX_PEER_FACTS_BYTES (64u << 20)
#define FACTS_TIMEOUT_MS 10000

int exam_read_host(const struct probe_context *ctx, struct facts **out, struct error *err)
{
	struct source *src = NULL;
	struct facts *f = facts_new(0);
	int rc = f ? source_open_live(&src) : -ENOMEM;

	if (!rc)
		rc = probes_collect(src, ctx, f);
	source_close(src);
	if (rc) {
		facts_free(f);
		return error_set(err, -rc, "cannot read this host: %s", strerror(-rc));
	}
	*out = f;
	return 0;
}

static int parse_peer_facts(const cJSON *reply, struct facts **out, struct error *err)
{
	const cJSON *obj = cJSON_GetObjectItemCaseSensitive(reply, "facts");
	struct facts *f = facts_new(MAX_PEER_FACTS_BYTES);

	if (!f)
		return error_set(err, ENOMEM, "out of memory for the peer's facts");
	int rc = record_from_json(&facts_schema, obj, f->mem, f, err);
	if (rc) {
		facts_free(f);
		return rc;
	}
	*out = f;
	return 0;
}

static int read_local_host(struct peer *peer, const struct conduct_options *o, struct exam *e,
			   struct error *err)
{
	struct probe_context ctx = {
		.peer_address = peer_remote_address(peer),
		.local_address = peer_local_address(peer),
		.only_links = o->only_links,
		.nonly_links = o->nonly_links,
	};
	struct facts *local = NULL;
	int rc = exam_read_host(&ctx, &local, err);

	e->facts[SIDE_LOCAL] = local;
	return rc;
}

/* Both hosts at the same time: the peer's probes run while ours do.  An iperf3 tells nothing. */
static int read_hosts(struct peer *peer, const struct conduct_options *o, struct exam *e,
		      struct error *err)
{
	bool told = peer_dialect(peer) != PEER_IPERF3;
	struct facts *remote = NULL;
	cJSON *reply = NULL;
	int rc = told ? peer_facts_begin(peer, err) : 0;

	if (!rc)
		rc = read_local_host(peer, o, e, err);
	if (rc || !told)
		return rc;
	rc = peer_facts_finish(peer, FACTS_TIMEOUT_MS, &reply, err);
	if (!rc)
		rc = parse_peer_facts(reply, &remote, err);
	e->facts[SIDE_PEER] = remote;
	cJSON_Delete(reply);
	return rc;
}

static int describe_path(struct peer *peer, struct exam *e)
{
	const struct facts *a = e->facts[SIDE_LOCAL], *b = e->facts[SIDE_PEER];
	bool one_ended = peer_dialect(peer) == PEER_IPERF3;
	const char *local = arena_strdup(e->mem, peer_local_address(peer));
	const char *remote = arena_strdup(e->mem, peer_remote_address(peer));

	if (!a || (!b && !one_ended))
		return -EINVAL;
	if (!local || !remote)
		return -ENOMEM;
	e->path.local_address = nd_str(local);
	e->path.peer_address = nd_str(remote);
	e->path.idle_rtt_us = peer_rtt_us(peer);
	e->path.peer_program = nd_str(one_ended ? "iperf3" : "netdoctor");
	exam_place_ends(e);
	return 0;
}

/*
 * Enough flows to use every core of the smaller host, at most 8: more would
 * measure the scheduler.  Never one: that is a question of its own, unless the
 * server allows no more.
 */
static uint64_t choose_streams(const struct exam *e, uint64_t max_streams)
{
	uint64_t n = 8;

	for (int side = 0; side < EXAM_ENDS; side++) {
		const struct facts *f = e->facts[side];
		if (!f || f->host.cpus_allowed.k != ND_KNOWN)
			continue;
		if (nd_cpus_count(&f->host.cpus_allowed) < n)
			n = nd_cpus_count(&f->host.cpus_allowed);
	}
	n = n < 2 ? 2 : n;
	return n < max_streams ? n : max_streams;
}

static void tell(const struct conduct_options *o, enum exam_phase phase, const struct exam *e)
{
	struct exam_progress p = { .phase = phase, .exam = e,
				   .certain_runs = plan_certain_runs(&o->plan) };

	if (o->progress)
		o->progress(o->state, &p);
}

static bool cancelled(const struct conduct_options *o)
{
	return o->cancelled && o->cancelled(o->state);
}

/* What the user left open is ours to fit to what the server allows. */
static void fit_to_limits(struct conduct_options *o, const struct exam *e, const struct peer *peer)
{
	struct peer_limits limits = peer_limits(peer);
	const struct run_spec *base = &o->plan.base;
	char text[160];

	if (!base->streams)
		o->plan.base.streams = choose_streams(e, limits.max_streams);
	/* The time of a run by bytes is only a bound. */
	if (!plan_fit(&o->plan, limits.max_seconds) || !o->remark || base->total_bytes ||
	    base->total_blocks)
		return;
	snprintf(text, sizeof(text), "the peer allows runs of %" PRIu64 " s: measuring %.3g s of "
		 "each, after %.3g s of warm-up", limits.max_seconds,
		 (double)base->window_ms / 1e3, (double)base->warmup_ms / 1e3);
	o->remark(o->state, text);
}

/* An iperf3 needs no time of ours: its run begins with its last stream and ends at our word. */
static int sync_clocks(struct peer *peer, int64_t *offset_ns, struct error *err)
{
	return peer_dialect(peer) == PEER_IPERF3 ? 0 : peer_clock_offset(peer, offset_ns, err);
}

static int conduct_runs(struct peer *peer, struct conduct_options *o, struct exam *e,
			struct error *err)
{
	struct planned_run planned;
	int64_t offset_ns = 0;
	int rc = sync_clocks(peer, &offset_ns, err);

	const uint64_t begun_ns = monotonic_ns();
	while (!rc && !cancelled(o) &&
	       plan_next(e, &o->plan, (monotonic_ns() - begun_ns) / 1000000, &planned)) {
		rc = conduct_run(peer, o, &planned, offset_ns, e, err);
		if (rc && peer_alive(peer)) {
			/* This run failed (a refused option, say) and stands in the exam with its
			 * reason. */
			if (planned.purpose == RUN_ALL_STREAMS)
				break;
			rc = 0;
		} else if (!rc && e->runs[e->nruns - 1].status != RUN_COMPLETE) {
			/* Connections that ended early are how a peer that was stopped looks: ask
			 * it something. */
			rc = sync_clocks(peer, &offset_ns, err);
		}
	}
	if ((!rc || rc == -EINTR) && cancelled(o))
		rc = error_set(err, EINTR, "interrupted: what was measured before still counts");
	return rc;
}

int exam_conduct(const struct conduct_options *options, struct exam **out, struct error *err)
{
	struct conduct_options o = *options;
	struct peer *peer = NULL;
	struct exam *e = exam_new();
	int rc;

	if (!e)
		return error_set(err, ENOMEM, "out of memory");
	e->wishes = o.wishes;
	rc = peer_connect(o.target, &peer, err);
	if (rc)
		goto fail;
	if (o.cancelled)
		peer_heed(peer, o.cancelled, o.state);
	tell(&o, EXAM_CONNECTED, e);
	rc = read_hosts(peer, &o, e, err);
	if (rc && !e->facts[SIDE_LOCAL])
		goto fail;
	if (!rc) {
		rc = describe_path(peer, e);
		tell(&o, EXAM_FACTS_READ, e);
	}
	if (!rc) {
		fit_to_limits(&o, e, peer);
		rc = conduct_runs(peer, &o, e, err);
	}
	if (rc) {
		const char *text = arena_strdup(e->mem, err->text);
		e->problem = text ? nd_str(text) : nd_str_unknown(ND_FAILED);
	}
	peer_close(peer);
	*out = e;
	return 0;
fail:
	peer_close(peer);
	exam_free(e);
	return rc;
}

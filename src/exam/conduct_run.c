/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/conduct_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/exam/conclude.h"
#include "src/exam/live.h"
#include "src/exam/one_ended.h"

#define PREPARE_TIMEOUT_MS 30000	/* the server may let another client's run end first */
#define FINISH_TIMEOUT_MS 5000
#define DRAIN_TIMEOUT_MS 1000	/* for what was in flight when the sender stopped */
/* From the start message until both ends surely move data, and from the window's end until the
 * sender may stop. */
#define LEAD_NS 20000000ULL
#define TAIL_NS 100000000ULL
/* An iperf3 counts until it hears that we have stopped: nearly what we count. */
#define IPERF3_TAIL_NS 20000000ULL

struct live_pair { struct end_live live[EXAM_ENDS]; bool seen[EXAM_ENDS]; };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static struct run_window window_for(const struct run_spec *spec, uint64_t start_ns,
				    uint64_t tail_ns)
{
	struct run_window w;

	w.from_ns = start_ns + LEAD_NS + spec->warmup_ms * 1000000ULL;
	w.to_ns = w.from_ns + spec->window_ms * 1000000ULL;
	w.stop_ns = w.to_ns + tail_ns;
	return w;
}

static struct run_window shift(struct run_window w, int64_t by)
{
	w.from_ns += (uint64_t)by;
	w.to_ns += (uint64_t)by;
	w.stop_ns += (uint64_t)by;
	return w;
}

static void tell(const struct conduct_options *o, const struct exam *e, enum exam_phase phase,
		 const struct planned_run *planned, double elapsed_s, const struct live_pair *live)
{
	if (!o->progress)
		return;
	struct exam_progress p = {
		.phase = phase, .exam = e, .planned = planned,
		.run_number = (unsigned int)e->nruns, .certain_runs = plan_certain_runs(&o->plan),
		.elapsed_s = elapsed_s,
		.length_s = (double)(planned->spec.warmup_ms + planned->spec.window_ms) / 1e3,
	};
	for (int side = 0; live && side < EXAM_ENDS; side++)
		p.live[side] = live->seen[side] ? &live->live[side] : NULL;
	o->progress(o->state, &p);
}

/* Watches our end and listens to the peer's until ours is over.  -errno when the peer is lost. */
static int watch(struct peer *peer, struct end *end, const struct conduct_options *o,
		 const struct planned_run *planned, const struct exam *e, struct error *err)
{
	struct live_pair live = { 0 };
	uint64_t begun = now_ns();
	bool going = true;
	int rc = 0;

	while (going && !rc) {
		bool fresh = false;
		going = end_wait(end, 100, &live.live[SIDE_LOCAL], &fresh);
		live.seen[SIDE_LOCAL] |= fresh;
		cJSON *sample = NULL;
		do {
			cJSON_Delete(sample);
			sample = NULL;
			rc = peer_run_poll(peer, 0, &sample, err);
			if (sample && live_from_json(sample, &live.live[SIDE_PEER]))
				live.seen[SIDE_PEER] = true;
		} while (!rc && sample);
		tell(o, e, EXAM_RUN_GOES_ON, planned, (double)(now_ns() - begun) / 1e9, &live);
		if (o->cancelled && o->cancelled(o->state))
			rc = error_set(err, EINTR,
				       "interrupted: what was measured before still counts");
	}
	return rc;
}

/* Its data connections end when it hears that ours have said all; so do the bytes that count. */
static int finish_iperf3(struct peer *peer, struct end *end, struct peer_results *said,
			 struct error *err)
{
	struct peer_results ours = { 0 };
	int rc;

	end_quiesce(end);
	rc = peer_run_stop(peer, FINISH_TIMEOUT_MS, err);
	if (rc)
		return rc;
	end_drain(end, DRAIN_TIMEOUT_MS);
	end_stop(end);
	if (end_results(end, &ours))
		rc = error_set(err, ENOMEM, "out of memory for the run's results");
	else
		rc = peer_run_exchange(peer, &ours, FINISH_TIMEOUT_MS, said, err);
	peer_results_free(&ours);
	return rc;
}

static int keep_iperf3(const struct peer_results *said, struct exam *e, struct run *r,
		       struct error *err)
{
	int rc = one_ended_end(said, &r->spec, run_server_role(&r->spec),
			       r->ends[SIDE_LOCAL].window_ns, e->mem, &r->ends[SIDE_PEER]);

	return rc ? error_set(err, -rc, "out of memory for the peer's results") : 0;
}

static int drive(struct peer *peer, const struct conduct_options *o,
		 const struct planned_run *planned, int64_t offset_ns, struct exam *e,
		 struct run *r, struct error *err)
{
	const struct run_spec *spec = &r->spec;
	int *fds = calloc(run_flows(spec), sizeof(*fds));
	struct end *end = NULL;

	if (!fds)
		return error_set(err, ENOMEM, "out of memory for %zu connections",
				 run_flows(spec));
	int rc = peer_run_prepare(peer, spec, fds, PREPARE_TIMEOUT_MS, err);
	if (rc)
		goto out;
	/* The server's limits may have lowered the pacing: both ends load with what was agreed. */
	r->spec = *peer_run_spec(peer);
	bool iperf3 = peer_dialect(peer) == PEER_IPERF3;
	struct run_window w = window_for(spec, now_ns(), iperf3 ? IPERF3_TAIL_NS : TAIL_NS);
	struct run_window theirs = shift(w, offset_ns);
	struct end_config config = { .spec = spec, .role = run_client_role(spec), .fds = fds,
				     .window = w, .facts = e->facts[SIDE_LOCAL] };
	rc = end_start(&config, &end, err);
	if (rc)
		goto out;
	rc = peer_run_start(peer, &theirs, err);
	if (!rc)
		rc = watch(peer, end, o, planned, e, err);
	struct peer_results said = { 0 };
	cJSON *theirs_json = NULL;
	if (!rc && iperf3) {
		rc = finish_iperf3(peer, end, &said, err);
	} else if (!rc) {
		end_stop(end);
		rc = peer_run_finish(peer, FINISH_TIMEOUT_MS, &theirs_json, err);
	}
	if (rc)
		end_cancel(end);
	int finished = end_finish(end, e->mem, &r->ends[SIDE_LOCAL]);
	if (!rc && finished)
		rc = error_set(err, -finished, "cannot keep the run's result: %s",
			       strerror(-finished));
	if (!rc && iperf3)
		rc = keep_iperf3(&said, e, r, err);
	else if (!rc)
		rc = run_end_from_json(theirs_json, e->mem, &r->ends[SIDE_PEER], err);
	peer_results_free(&said);
	cJSON_Delete(theirs_json);
out:
	free(fds);
	return rc;
}

int conduct_run(struct peer *peer, const struct conduct_options *o,
		const struct planned_run *planned, int64_t offset_ns, struct exam *e,
		struct error *err)
{
	const char *id = arena_printf(e->mem, "%zu-%s-%s", e->nruns + 1,
				      run_direction_word(planned->spec.direction),
				      run_purpose_word(planned->purpose));
	void *rows = e->runs;
	struct run *r = arena_append_row(e->mem, &rows, &e->nruns, sizeof(*r));

	if (!id || !r)
		return error_set(err, ENOMEM, "out of memory for another run");
	e->runs = rows;
	r->id = nd_str(id);
	r->purpose = planned->purpose;
	r->spec = planned->spec;
	r->status = RUN_FAILED;
	tell(o, e, EXAM_RUN_BEGINS, planned, 0, NULL);
	int rc = drive(peer, o, planned, offset_ns, e, r, err);
	const char *text = rc ? arena_strdup(e->mem, err->text) : NULL;
	run_conclude(r, rc, text, e->mem);
	tell(o, e, EXAM_RUN_ENDED, planned, 0, NULL);
	return rc;
}

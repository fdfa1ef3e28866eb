/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/conduct_run.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "src/core/clock.h"
#include "src/exam/conclude.h"
#include "src/exam/live.h"
#include "src/exam/one_ended.h"

#define PREPARE_TIMEOUT_MS 30000	/* the server may let another client's run end first */
#define FINISH_TIMEOUT_MS 5000
#define DRAIN_TIMEOUT_MS 1000	/* for what was in flight when the sender stopped */
#define QUIET_MS 100		/* without datagrams: there are no more */
#define SETTLE_TIMEOUT_MS 500
#define STOP_TIMEOUT_MS 1500		/* somebody has pressed Ctrl-C */
/* Longer than what was sent is under way, but for queues that nobody should have. */
#define IN_FLIGHT_NS 500000000ULL
/* From the window's end until the sender may stop. */
#define TAIL_NS 100000000ULL
/* An iperf3 reads no more once it has heard that we have stopped: until it has read the last. */
#define IPERF3_UDP_TAIL_NS 20000000ULL

struct live_pair { struct end_live live[EXAM_ENDS]; bool seen[EXAM_ENDS]; };

static bool by_bytes(const struct run_spec *s)
{
	return s->total_bytes || s->total_blocks;
}

/* An iperf3's warm-up begins when it begins. */
static struct run_window window_for(const struct run_spec *spec, uint64_t start_ns,
				    uint64_t idle_ns, bool iperf3)
{
	struct run_window w;

	w.from_ns = start_ns + idle_ns + (iperf3 ? 0 : end_lead_ns(spec)) +
		    spec->warmup_ms * 1000000ULL;
	w.to_ns = w.from_ns + spec->window_ms * 1000000ULL;
	w.stop_ns = w.to_ns + TAIL_NS;
	if (iperf3)
		w.stop_ns = w.to_ns + (spec->protocol == RUN_UDP && run_client_sends(spec) ?
				       IPERF3_UDP_TAIL_NS : 0);
	return w;
}

static struct run_window shift(struct run_window w, int64_t by)
{
	w.from_ns += (uint64_t)by;
	w.to_ns += (uint64_t)by;
	w.stop_ns += (uint64_t)by;
	return w;
}

/* A run while it happens. */
struct conduct {
	struct peer *peer;
	const struct conduct_options *options;
	const struct planned_run *planned;
	const struct exam *exam;
	struct run *run;
	struct end *end;
	uint64_t begun_ns, idle_ns;	/* idle: before traffic, for round trips */
	struct live_pair live;
	struct beat_pairing beats;
	uint64_t sent_ns;		/* when our senders stop, unless an amount ends them */
	bool iperf3;			/* the peer is one: it tells nothing until the end */
	bool stopped;			/* by the user: both ends report what they have */
};

static void tell(const struct conduct *c, struct exam_progress *p)
{
	const struct run_spec *spec = &c->planned->spec;

	if (!c->options->progress)
		return;
	p->exam = c->exam;
	p->planned = c->planned;
	p->spec = &c->run->spec;
	p->run_number = (unsigned int)c->exam->nruns;
	p->certain_runs = plan_certain_runs(&c->options->plan);
	p->length_s = (double)(spec->warmup_ms + spec->window_ms) / 1e3;
	p->length_s += (double)c->idle_ns / 1e9;
	if (c->begun_ns)
		p->elapsed_s = (double)(monotonic_ns() - c->begun_ns) / 1e9;
	c->options->progress(c->options->state, p);
}

static void tell_phase(const struct conduct *c, enum exam_phase phase)
{
	struct exam_progress p = { .phase = phase };

	for (int side = 0; side < EXAM_ENDS; side++)
		p.live[side] = c->live.seen[side] ? &c->live.live[side] : NULL;
	tell(c, &p);
}

static struct nd_u64 socket_number(int fd, int level, int name)
{
	int v = 0;
	socklen_t len = sizeof(v);

	if (getsockopt(fd, level, name, &v, &len) < 0)
		return nd_u64_unknown(nd_known_from_errno(errno));
	return v > 0 ? nd_u64((uint64_t)v) : nd_u64_unknown(ND_NOT_APPLICABLE);
}

static void tell_flows(const struct conduct *c, const int *fds, size_t n)
{
	struct exam_progress p = { .phase = EXAM_RUN_CONNECTED };
	struct flow_begin *flows = c->options->progress ? calloc(n, sizeof(*flows)) : NULL;

	for (size_t i = 0; flows && i < n; i++) {
		struct nd_u64 local, peer;

		if (load_socket_ports(fds[i], &local, &peer) == 0 && peer.k == ND_KNOWN) {
			flows[i].local_port = local.v;
			flows[i].peer_port = peer.v;
		}
		flows[i].role = run_flow_role(&c->run->spec, run_client_role(&c->run->spec), i);
		flows[i].mss_bytes = socket_number(fds[i], IPPROTO_TCP, TCP_MAXSEG);
		flows[i].sndbuf_bytes = socket_number(fds[i], SOL_SOCKET, SO_SNDBUF);
		flows[i].rcvbuf_bytes = socket_number(fds[i], SOL_SOCKET, SO_RCVBUF);
	}
	p.flows = flows;
	if (flows)
		tell(c, &p);
	free(flows);
}

static void tell_beats(struct conduct *c, bool over)
{
	struct beat *pair[EXAM_ENDS];

	for (struct beat *b; (b = end_take_beat(c->end));)
		beat_pairing_add(&c->beats, SIDE_LOCAL, b, monotonic_ns());
	while (beat_pairing_next(&c->beats, monotonic_ns(), over, pair)) {
		struct exam_progress p = { .phase = EXAM_BEAT,
					   .beats = { pair[SIDE_LOCAL], pair[SIDE_PEER] } };
		tell(c, &p);
		beat_free(pair[SIDE_LOCAL]);
		beat_free(pair[SIDE_PEER]);
	}
}

/* Waits up to timeout_ms for the peer's first sample, and takes those that are there. */
static int listen_to_peer(struct conduct *c, unsigned int timeout_ms, struct error *err)
{
	cJSON *sample = NULL;
	int rc;

	do {
		cJSON_Delete(sample);
		sample = NULL;
		rc = peer_run_poll(c->peer, timeout_ms, &sample, err);
		timeout_ms = 0;
		if (!sample)
			break;
		if (live_from_json(sample, &c->live.live[SIDE_PEER]))
			c->live.seen[SIDE_PEER] = true;
		struct beat *b = beat_from_json(cJSON_GetObjectItemCaseSensitive(sample, "beat"));
		if (b)
			beat_pairing_add(&c->beats, SIDE_PEER, b, monotonic_ns());
	} while (!rc);
	cJSON_Delete(sample);
	return rc;
}

/* The user has had enough: both ends stop, and tell what they have until now. */
static int stop_if_asked(struct conduct *c, struct error *err)
{
	const struct conduct_options *o = c->options;

	if (c->stopped || !o->cancelled || !o->cancelled(o->state))
		return 0;
	c->stopped = true;
	end_cancel(c->end);
	/* From here on there is an end to all waiting, and it is short. */
	peer_heed(c->peer, NULL, NULL);
	return c->iperf3 ? 0 : peer_run_cut(c->peer, err);
}

/* Watches our end and listens to the peer's until ours is over.  -errno when the peer is lost. */
static int watch(struct conduct *c, struct error *err)
{
	uint64_t peer_over_ns = 0;
	bool going = true;
	int rc = 0;

	while (going && !rc) {
		bool fresh = false;
		going = end_wait(c->end, 100, &c->live.live[SIDE_LOCAL], &fresh);
		c->live.seen[SIDE_LOCAL] |= fresh;
		rc = listen_to_peer(c, 0, err);
		if (rc == -EINTR)
			rc = 0;
		/* Its end of a run by bytes is over: what does not come soon never will. */
		if (!c->iperf3 && peer_run_over(c->peer) &&
		    (!peer_over_ns || (fresh && c->live.live[SIDE_LOCAL].rate_bps > 0)))
			peer_over_ns = monotonic_ns();
		if (peer_over_ns && by_bytes(&c->run->spec) &&
		    monotonic_ns() - peer_over_ns > IN_FLIGHT_NS)
			end_cancel(c->end);
		tell_beats(c, false);
		tell_phase(c, EXAM_RUN_GOES_ON);
		if (!rc)
			rc = stop_if_asked(c, err);
	}
	return rc;
}

/*
 * Our end is over; the peer's will be soon, and its last samples come before that.  After the
 * last of a run by bytes was sent the receiver may take its time, as long as samples say that it
 * is there.  Of datagrams some never come: it is told, not waited for.
 */
static int await_peer(struct conduct *c, struct error *err)
{
	uint64_t sent_ns = monotonic_ns();
	uint64_t patience_ns = (c->stopped ? STOP_TIMEOUT_MS : FINISH_TIMEOUT_MS) * 1000000ULL;
	bool patient = by_bytes(&c->run->spec) && !c->stopped;
	bool told = c->stopped || !patient || c->run->spec.protocol != RUN_UDP;
	int rc = 0;

	while (!rc && !peer_run_over(c->peer) &&
	       (patient || monotonic_ns() - sent_ns < patience_ns)) {
		rc = listen_to_peer(c, 20, err);
		if (rc == -EINTR)
			rc = 0;
		if (!rc && !told && monotonic_ns() - sent_ns > IN_FLIGHT_NS) {
			told = true;
			rc = peer_run_cut(c->peer, err);
		}
		tell_beats(c, false);
		if (!rc)
			rc = stop_if_asked(c, err);
		patient &= !c->stopped;
	}
	return rc;
}

/*
 * That we kept silent before we ended the test is no part of it.  With traffic both ways it
 * is: the other end has sent all the while.
 */
static void take_off_silence(const struct conduct *c, uint64_t ended_ns, struct peer_results *said)
{
	const struct run_spec *s = &c->run->spec;

	if (s->protocol != RUN_UDP || s->bidirectional || !run_client_sends(s) || by_bytes(s) ||
	    c->stopped || ended_ns < c->sent_ns)
		return;
	double silent = (double)(ended_ns - c->sent_ns) / 1e9;
	for (size_t i = 0; i < said->nflows; i++)
		if (said->flows[i].seconds > 2 * silent)
			said->flows[i].seconds -= silent;
}

/* Its data connections end when it hears that ours have said all; so do the bytes that count. */
static int finish_iperf3(struct conduct *c, struct peer_results *said, struct error *err)
{
	struct peer *peer = c->peer;
	struct end *end = c->end;
	struct peer_results ours = { 0 };
	uint64_t ended_ns;
	int rc;

	end_quiesce(end);
	ended_ns = monotonic_ns();
	rc = peer_run_stop(peer, FINISH_TIMEOUT_MS, err);
	if (rc)
		return rc;
	/* Datagrams have no end: they are over when none comes any more. */
	if (c->run->spec.protocol == RUN_UDP)
		end_settle(end, QUIET_MS, SETTLE_TIMEOUT_MS);
	else
		end_drain(end, DRAIN_TIMEOUT_MS);
	end_stop(end);
	if (end_results(end, &ours))
		rc = error_set(err, ENOMEM, "out of memory for the run's results");
	else
		rc = peer_run_exchange(peer, &ours, FINISH_TIMEOUT_MS, said, err);
	if (!rc) {
		one_ended_omit(&ours, said);
		take_off_silence(c, ended_ns, said);
	}
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

static int start_end(struct conduct *c, const int *fds, int64_t offset_ns, struct error *err)
{
	const struct run_spec *spec = &c->run->spec;
	/* Once is enough: it is the same path. */
	c->idle_ns = spec->latency && !exam_idle(c->exam) ? END_IDLE_NS : 0;
	struct run_window w = window_for(spec, monotonic_ns(), c->idle_ns, c->iperf3);
	struct run_window theirs = shift(w, offset_ns);
	struct end_config config = { .spec = spec, .role = run_client_role(spec), .fds = fds,
				     .window = w, .facts = c->exam->facts[SIDE_LOCAL],
				     .pin_cpu = spec->client_cpu, .asks = true,
				     .whole = c->iperf3,
				     .same_machine = nd_is_true(c->exam->path.same_machine) };
	int rc = end_start(&config, &c->end, err);

	c->begun_ns = monotonic_ns();
	c->sent_ns = w.to_ns;
	return rc ? rc : peer_run_start(c->peer, &theirs, err);
}

static void remark_on_silence(const struct conduct *c)
{
	unsigned int ms = peer_run_silence_ms(c->peer);
	char text[160];

	if (!ms || !c->options->remark)
		return;
	snprintf(text, sizeof(text), "nothing was heard of the peer for %.1f s of a run: the path "
		 "was cut, or the peer stood still", ms / 1e3);
	c->options->remark(c->options->state, text);
}

static int finish(struct conduct *c, struct exam *e, int rc, struct error *err)
{
	struct peer_results said = { 0 };
	cJSON *theirs = NULL;

	if (!rc && !c->iperf3)
		rc = await_peer(c, err);
	if (!rc && c->iperf3) {
		rc = finish_iperf3(c, &said, err);
	} else if (!rc) {
		end_stop(c->end);
		rc = peer_run_finish(c->peer, c->stopped ? STOP_TIMEOUT_MS : FINISH_TIMEOUT_MS,
				     &theirs, err);
	}
	if (rc)
		end_cancel(c->end);
	tell_beats(c, true);
	end_stop(c->end);
	end_latency(c->end, c->idle_ns ? &c->run->idle : &(struct latency){ 0 }, &c->run->loaded);
	int finished = end_finish(c->end, e->mem, &c->run->ends[SIDE_LOCAL]);
	if (!rc && finished)
		rc = error_set(err, -finished, "cannot keep the run's result: %s",
			       strerror(-finished));
	if (!rc && c->iperf3)
		rc = keep_iperf3(&said, e, c->run, err);
	else if (!rc)
		rc = run_end_from_json(theirs, e->mem, &c->run->ends[SIDE_PEER], err);
	peer_results_free(&said);
	cJSON_Delete(theirs);
	if (!rc)
		remark_on_silence(c);
	/* Whatever else went wrong after it: an end that measured nothing yet, say. */
	if (c->stopped)
		rc = error_set(err, EINTR, "interrupted: what was measured before still counts");
	return rc;
}

static int drive(struct conduct *c, int64_t offset_ns, struct exam *e, struct error *err)
{
	size_t n = run_connections(&c->run->spec);
	int *fds = calloc(n, sizeof(*fds));

	if (!fds)
		return error_set(err, ENOMEM, "out of memory for %zu connections", n);
	int rc = peer_run_prepare(c->peer, &c->run->spec, fds, PREPARE_TIMEOUT_MS, err);
	if (!rc) {
		/* The server's limits may have lowered the rate: both ends load as agreed. */
		c->run->spec = *peer_run_spec(c->peer);
		tell_flows(c, fds, run_flows(&c->run->spec));
		rc = start_end(c, fds, offset_ns, err);
	}
	if (c->end) {
		if (!rc)
			rc = watch(c, err);
		rc = finish(c, e, rc, err);
	}
	beat_pairing_clear(&c->beats);
	free(fds);
	return rc;
}

int conduct_run(struct peer *peer, const struct conduct_options *o,
		const struct planned_run *planned, int64_t offset_ns, struct exam *e,
		struct error *err)
{
	const char *id = arena_printf(e->mem, "%zu-%s-%s", e->nruns + 1,
				      run_traffic_word(&planned->spec),
				      run_purpose_word(planned->purpose));
	void *rows = e->runs;
	struct run *r = arena_append_row(e->mem, &rows, &e->nruns, sizeof(*r));

	if (!id || !r)
		return error_set(err, ENOMEM, "out of memory for another run");
	e->runs = rows;
	r->id = nd_str(id);
	r->purpose = planned->purpose;
	r->spec = planned->spec;
	/* An amount is counted to the last byte anyhow. */
	r->spec.udp_marks = r->spec.protocol == RUN_UDP && !by_bytes(&r->spec) &&
			    !r->spec.udp_counters_32bit;
	r->status = RUN_FAILED;
	struct conduct c = { .peer = peer, .options = o, .planned = planned, .exam = e, .run = r,
			     .iperf3 = peer_dialect(peer) == PEER_IPERF3 };
	tell_phase(&c, EXAM_RUN_BEGINS);
	int rc = drive(&c, offset_ns, e, err);
	const char *text = rc ? arena_strdup(e->mem, err->text) : NULL;
	run_conclude(r, rc, text, e->mem);
	tell_phase(&c, EXAM_RUN_ENDED);
	return rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The client's half of a run. */
#include "src/peer/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "src/peer/dial.h"
#include "src/peer/wire.h"

static void forget_run(struct peer *p)
{
	p->run_id = 0;
	p->run_failed = 0;
	cJSON_Delete(p->run_end);
	p->run_end = NULL;
}

void peer_run_cancel(struct peer *p)
{
	cJSON *m;

	if (p->dialect == PEER_IPERF3)
		iperf3_run_cancel(p);
	if (p->run_id == 0)
		return;
	/* After the end there is nothing left to cancel. */
	if (peer_alive(p) && !p->run_end && !p->run_failed) {
		m = client_message("cancel", p->run_id);
		/* A failure breaks the channel, and the next call says so. */
		if (m)
			channel_send(&p->channel, m, deadline_in_ms(p->timing->bye_ms));
		cJSON_Delete(m);
	}
	forget_run(p);
}

int peer_run_cut(struct peer *p, struct error *err)
{
	if (p->run_id == 0)
		return error_set(err, EINVAL, "%s: no run is going on", p->label);
	if (p->run_end || p->run_failed)
		return 0;
	/* To the server the same: it reports what it has, and whether we listen is ours. */
	return client_send(p, client_message("cancel", p->run_id), err);
}

bool peer_run_over(const struct peer *p)
{
	return p->run_id == 0 || p->run_end || p->run_failed;
}

const struct run_spec *peer_run_spec(const struct peer *p)
{
	return &p->spec;
}

/*
 * The server's answer to prepare: one cookie a connection, and its say on the rate.  One that is
 * too old to answer requests has none for them.
 */
static int check_data_answer(struct peer *p, const cJSON *m, struct error *err)
{
	const cJSON *cookies = cJSON_GetObjectItemCaseSensitive(m, "cookies"), *c;
	uint64_t n = 0;
	bool ok = cJSON_IsArray(cookies) &&
		  json_get_u64(m, "pacing_bps", 0, INT64_MAX, &p->spec.pacing_bps) &&
		  json_get_u64(m, "rate_bps", 0, INT64_MAX, &p->spec.rate_bps);

	cJSON_ArrayForEach(c, cookies) {
		n++;
		/* Exactly 36 letters and the NUL: they go out as bytes. */
		ok = ok && cJSON_IsString(c) &&
		     strnlen(c->valuestring, PEER_COOKIE_BYTES) == PEER_COOKIE_BYTES - 1 &&
		     wire_cookie_begins(c->valuestring, PEER_COOKIE_BYTES);
	}
	p->spec.udp_marks &= cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(m, "udp_marks"));
	if (n == run_flows(&p->spec))
		p->spec.latency = false;
	if (ok && n == run_connections(&p->spec))
		return 0;
	return error_set(err, EBADMSG, "%s: its answer does not fit the run asked for", p->label);
}

static int ask_for_run(struct peer *p, uint64_t id, struct error *err)
{
	cJSON *m = client_message("prepare", id), *spec = run_spec_to_json(&p->spec);

	if (!m || !spec || !cJSON_AddItemToObject(m, "spec", spec)) {
		cJSON_Delete(spec);
		cJSON_Delete(m);
		m = NULL;
	}
	return client_send(p, m, err);
}

/* Waiting for our turn is the one timeout with a friendlier explanation. */
static int expect_data_answer(struct peer *p, struct client_wait *w, cJSON **m, struct error *err)
{
	int rc = client_expect(p, w, "data", m, err);

	if (rc == -ETIMEDOUT && w->queued && peer_alive(p))
		return error_set(err, EBUSY, "%s: busy with another client's run until our time "
				 "was up: try again later", p->label);
	return rc;
}

static int heed(const void *state, struct error *err)
{
	return client_heed(state, err);
}

/* The connection of the requests for latency, behind those of the flows. */
static int open_ping(const struct dial_data *d, int *fds, uint64_t deadline_ns, struct error *err)
{
	size_t at = run_flows(d->spec);
	const cJSON *cookie = cJSON_GetArrayItem(d->cookies, (int)at);
	int fd;

	if (!d->spec->latency)
		return 0;
	fd = dial_flow(d, at, cookie->valuestring, deadline_ns, err);
	if (fd < 0)
		return fd;
	fds[at] = fd;
	return 0;
}

static int open_data(struct peer *p, const cJSON *answer, int *fds, uint64_t deadline_ns,
		     struct error *err)
{
	struct dial_data d = {
		.remote = &p->remote,
		.local = p->bound ? &p->bind : NULL,
		.local_port = p->data_port,
		.spec = &p->spec,
		.cookies = cJSON_GetObjectItemCaseSensitive(answer, "cookies"),
		.label = p->label,
		.heed = heed,
		.state = p,
	};
	int rc = check_data_answer(p, answer, err);

	if (rc < 0)
		return rc;
	if (p->spec.protocol == RUN_TCP)
		rc = dial_data(&d, fds, deadline_ns, err);
	else	/* Sooner than the server gives up: our reason is the better one. */
		rc = dial_udp(&d, fds, deadline_earlier(deadline_ns,
							deadline_in_ms(p->timing->data_ms / 2)),
			      err);
	return rc ? rc : open_ping(&d, fds, deadline_ns, err);
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

int peer_run_prepare(struct peer *p, const struct run_spec *spec, int *fds, unsigned int timeout_ms,
		     struct error *err)
{
	struct client_wait w = {
		.id = p->next_id++,
		.deadline_ns = deadline_in_ms(timeout_ms),
		.silence_ms = p->timing->silence_ms,
		.silent_since_ns = monotonic_ns()
	};
	cJSON *answer = NULL;
	int rc;

	if (spec->streams == 0 || spec->streams > RUN_MAX_STREAMS ||
	    run_flows(spec) > RUN_MAX_STREAMS)
		return error_set(err, EINVAL, "a run has 1 to %d streams", RUN_MAX_STREAMS);
	peer_run_cancel(p);
	for (size_t i = 0; i < run_connections(spec); i++)
		fds[i] = -1;
	p->spec = *spec;
	/* An iperf3 knows no such requests. */
	p->spec.udp_marks &= p->dialect != PEER_IPERF3;
	p->spec.latency &= p->dialect != PEER_IPERF3;
	if (p->dialect == PEER_IPERF3)
		return iperf3_run_prepare(p, fds, timeout_ms, err);
	rc = ask_for_run(p, w.id, err);
	if (rc < 0)
		return rc;
	p->run_id = w.id;
	rc = expect_data_answer(p, &w, &answer, err);
	if (rc == 0)
		rc = open_data(p, answer, fds, w.deadline_ns, err);
	cJSON_Delete(answer);
	if (rc == 0) {
		w.silent_since_ns = monotonic_ns();
		rc = client_expect(p, &w, "ready", &answer, err);
		cJSON_Delete(answer);
	}
	if (rc < 0) {
		close_all(fds, run_connections(spec));
		peer_run_cancel(p);
	}
	return rc;
}

int peer_run_start(struct peer *p, const struct run_window *window, struct error *err)
{
	cJSON *m;
	int rc;

	/* It has started when the last stream had come. */
	if (p->dialect == PEER_IPERF3)
		return 0;
	if (p->run_id == 0)
		return error_set(err, EINVAL, "%s: no run is prepared", p->label);
	p->silent_ns = 0;
	m = client_message("start", p->run_id);
	if (m && (!json_add_u64(m, "from_ns", window->from_ns) ||
		  !json_add_u64(m, "to_ns", window->to_ns) ||
		  !json_add_u64(m, "stop_ns", window->stop_ns))) {
		cJSON_Delete(m);
		m = NULL;
	}
	rc = client_send(p, m, err);
	if (rc < 0)
		forget_run(p);
	return rc;
}

/* An answer during the run: *payload gets the member named like the message's type. */
static int receive_run(struct peer *p, unsigned int silence_ms, uint64_t deadline_ns, bool *end,
		       cJSON **payload, struct error *err)
{
	struct client_wait w = {
		.id = p->run_id,
		.deadline_ns = deadline_ns,
		.silence_ms = silence_ms
	};
	cJSON *m;
	int rc = client_receive(p, &w, &m, err);

	*payload = NULL;
	if (rc < 0)
		return rc;
	*end = strcmp(channel_message_type(m), "end") == 0;
	if (*end || strcmp(channel_message_type(m), "sample") == 0)
		*payload = cJSON_DetachItemFromObjectCaseSensitive(m, *end ? "end" : "sample");
	cJSON_Delete(m);
	if (cJSON_IsObject(*payload))
		return 0;
	bool nothing = *end && cJSON_IsNull(*payload);
	cJSON_Delete(*payload);
	*payload = NULL;
	if (nothing)
		return error_set(err, ENODATA, "%s: its end of the run measured nothing", p->label);
	channel_break(&p->channel, -EBADMSG);
	return error_set(err, EBADMSG, "%s: session lost: it answered a run with something else",
			 p->label);
}

/* The run is over on the other side, but the caller's clock is not: sleep, do not spin. */
static void sit_out(uint64_t deadline_ns)
{
	struct pollfd none = { .fd = -1 };

	poll(&none, 1, deadline_left_ms(deadline_ns));
}

int peer_run_poll(struct peer *p, unsigned int timeout_ms, cJSON **sample, struct error *err)
{
	uint64_t deadline = deadline_in_ms(timeout_ms);
	struct error e = { "" };
	cJSON *payload;
	bool end = false;
	int rc;

	*sample = NULL;
	if (p->dialect == PEER_IPERF3)
		return iperf3_run_poll(p, timeout_ms, err);
	if (p->run_id == 0)
		return error_set(err, EINVAL, "%s: no run is going on", p->label);
	if (p->run_end || p->run_failed) {
		sit_out(deadline);
		return 0;
	}
	rc = receive_run(p, p->timing->outage_ms, deadline, &end, &payload, &e);
	if (rc == 0 && end) {
		p->run_end = payload;
		sit_out(deadline);
		return 0;
	}
	*sample = payload;
	if (rc == 0 || (rc == -ETIMEDOUT && peer_alive(p)))
		return 0;
	if (!peer_alive(p))
		forget_run(p);
	else if (rc != -EINTR)
		p->run_failed = rc;
	p->run_error = e;
	return error_set(err, rc, "%s", e.text);
}

int peer_run_stop(struct peer *p, unsigned int timeout_ms, struct error *err)
{
	return p->dialect == PEER_IPERF3 ? iperf3_run_stop(p, timeout_ms, err) : 0;
}

int peer_run_exchange(struct peer *p, const struct peer_results *ours, unsigned int timeout_ms,
		      struct peer_results *theirs, struct error *err)
{
	memset(theirs, 0, sizeof(*theirs));
	if (p->dialect != PEER_IPERF3)
		return error_set(err, EINVAL, "%s: no iperf3 server", p->label);
	return iperf3_run_exchange(p, ours, timeout_ms, theirs, err);
}

int peer_run_finish(struct peer *p, unsigned int timeout_ms, cJSON **out, struct error *err)
{
	uint64_t deadline = deadline_in_ms(timeout_ms);
	bool end = false;
	int rc = 0;

	*out = NULL;
	if (p->run_id == 0)
		return error_set(err, EINVAL, "%s: no run is going on", p->label);
	if (p->run_failed) {
		rc = error_set(err, p->run_failed, "%s", p->run_error.text);
		forget_run(p);
		return rc;
	}
	if (p->run_end) {
		*out = p->run_end;
		p->run_end = NULL;
		forget_run(p);
		return 0;
	}
	while (rc == 0 && !end) {
		cJSON_Delete(*out);
		rc = receive_run(p, p->timing->silence_ms, deadline, &end, out, err);
	}
	if (rc < 0)
		peer_run_cancel(p);	/* a server that is late is told to stop */
	else
		forget_run(p);
	return rc;
}

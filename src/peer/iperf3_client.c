/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/iperf3_client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/peer/client.h"
#include "src/peer/dial.h"
#include "src/peer/iperf3_auth.h"
#include "src/peer/iperf3_wire.h"
#include "src/peer/wire.h"

enum {
	RETRY_MS = 100,
	/* After a test the server may need so long until it takes the next. */
	SETTLE_MS = 3000,
	/* Of a test both ways: until the server's come, and from a refusal until it hangs up. */
	FIRST_BYTES_MS = 1000,
	REFUSAL_MS = 100,
	FIRST_BODY_BYTES = 64 * 1024
};

void iperf3_client_begin(struct peer *p, const struct peer_login *login, int fd)
{
	p->dialect = PEER_IPERF3;
	p->iperf3 = (struct iperf3_client){ .fd = fd, .unused = fd >= 0, .login = login };
	/* It does not tell: what iperf3 allows where nothing else is configured. */
	p->limits = (struct peer_limits){
		.max_seconds = RUN_MAX_SECONDS,
		.max_streams = IPERF3_MAX_STREAMS
	};
}

int iperf3_client_token(const struct peer *p, const struct peer_login *login, char *out,
			size_t cap, struct error *err)
{
	(void)p;
	*out = '\0';
	return login ? iperf3_auth_token(login, out, cap, err) : 0;
}

static void drop_control(struct peer *p)
{
	if (p->iperf3.fd >= 0)
		close(p->iperf3.fd);
	p->iperf3.fd = -1;
	p->iperf3.unused = false;
}

void iperf3_run_cancel(struct peer *p)
{
	static const unsigned char goodbye = IPERF3_CLIENT_TERMINATE;

	/* Nothing to give up yet: it is for the first run. */
	if (p->iperf3.unused)
		return;
	if (p->iperf3.fd >= 0)
		wire_send(p->iperf3.fd, &goodbye, 1, deadline_in_ms(p->timing->bye_ms));
	drop_control(p);
}

void iperf3_client_end(struct peer *p)
{
	iperf3_run_cancel(p);
	drop_control(p);
}

/* ---- what the server says ---- */

int iperf3_client_refused(const struct peer *p, int fd, bool had_login, uint64_t deadline_ns,
			  struct error *err)
{
	uint64_t said = deadline_earlier(deadline_in_ms(p->timing->send_ms), deadline_ns);
	unsigned char codes[8];
	uint32_t code;

	if (wire_receive(fd, codes, sizeof(codes), said) < 0)
		return error_set(err, EPROTONOSUPPORT, "%s: its iperf3 refused, and broke off "
				 "before it said why", p->label);
	code = wire_get_be32(codes);
	if (p->iperf3.admitted)
		return error_set(err, EPROTONOSUPPORT, "%s: its iperf3 broke the test off with "
				 "error %" PRIu32 " (%s)", p->label, code, iperf3_error_text(code));
	/* To one without or with a wrong login the server sends whatever its last error was. */
	if (had_login)
		return error_set(err, EPROTONOSUPPORT, "%s: its iperf3 refused with error %" PRIu32
				 " (%s): are user, password, public key and padding right, and "
				 "both clocks?", p->label, code, iperf3_error_text(code));
	return error_set(err, EPROTONOSUPPORT, "%s: its iperf3 refused with error %" PRIu32
			 " (%s); if it wants a login, give --username and "
			 "--rsa-public-key-path", p->label, code, iperf3_error_text(code));
}

/* A state byte that is not the one that was due; always -errno. */
static int unexpected(struct peer *p, unsigned char state, uint64_t deadline_ns, struct error *err)
{
	switch (state) {
	case IPERF3_ACCESS_DENIED:
		return error_set(err, EBUSY, "%s: its iperf3 is busy with another client's test: "
				 "try again later", p->label);
	case IPERF3_SERVER_ERROR:
		return iperf3_client_refused(p, p->iperf3.fd, p->iperf3.login != NULL,
					     deadline_ns, err);
	case IPERF3_SERVER_TERMINATE:
		return error_set(err, ESHUTDOWN, "%s: its iperf3 was stopped", p->label);
	default:
		return error_set(err, EPROTO, "%s: its iperf3 sent state %u, which was not due",
				 p->label, state);
	}
}

static int gone(const struct peer *p, int rc, const char *when, struct error *err)
{
	switch (rc) {
	case -ETIMEDOUT:
		return error_set(err, rc, "%s: its iperf3 says nothing %s", p->label, when);
	case -ECONNRESET:
	case -EPIPE:
		return error_set(err, ECONNRESET, "%s: its iperf3 closed the connection %s",
				 p->label, when);
	case -EHOSTUNREACH:
		return error_set(err, rc, "%s: its iperf3 cannot be reached %s: cut off for long",
				 p->label, when);
	default:
		return error_set(err, rc, "%s: %s: %s", p->label, when, strerror(-rc));
	}
}

/* Waits for the control connection in slices, so that Ctrl-C is heeded: 0 readable. */
static int wait_control(const struct peer *p, uint64_t deadline_ns, const char *when,
			struct error *err)
{
	for (;;) {
		uint64_t slice = deadline_earlier(deadline_in_ms(CLIENT_HEED_MS), deadline_ns);
		struct pollfd w = { .fd = p->iperf3.fd, .events = POLLIN };
		int n = poll(&w, 1, deadline_left_ms(slice));
		int rc = client_heed(p, err);

		if (rc < 0)
			return rc;
		if (n > 0)
			return 0;
		if (monotonic_ns() >= deadline_ns)
			return gone(p, -ETIMEDOUT, when, err);
	}
}

/*
 * Reads exactly one byte: two states may arrive in one segment.  0 when it is this state.
 */
static int expect_state(struct peer *p, unsigned char want, uint64_t deadline_ns, const char *when,
			struct error *err)
{
	unsigned char state;
	int rc = wait_control(p, deadline_ns, when, err);

	if (rc < 0)
		return rc;
	rc = wire_receive(p->iperf3.fd, &state, 1, deadline_ns);
	if (rc < 0)
		return gone(p, rc, when, err);
	return state == want ? 0 : unexpected(p, state, deadline_ns, err);
}

/* ---- beginning a test ---- */

static int dial_again(struct peer *p, uint64_t deadline_ns, struct error *err)
{
	struct addrinfo a = {
		.ai_family = p->remote.ss.ss_family,
		.ai_addr = (struct sockaddr *)&p->remote.ss,
		.ai_addrlen = p->remote.len
	};
	int fd;

	if (p->iperf3.unused) {
		p->iperf3.unused = false;
		return 0;
	}
	fd = dial_control(&a, p->bound ? &p->bind : NULL, 0, deadline_ns);
	if (fd < 0)
		return error_set(err, fd, "%s: its iperf3 cannot be reached any more: %s",
				 p->label, strerror(-fd));
	p->iperf3.fd = fd;
	return 0;
}

/* Connection, cookie, and the 9 that makes us the server's client. */
static int attempt(struct peer *p, const char *cookie, uint64_t deadline_ns, struct error *err)
{
	int rc = dial_again(p, deadline_ns, err);

	if (rc < 0)
		return rc;
	/* Busy it says so: it has nothing to wait for. */
	deadline_ns = deadline_earlier(deadline_in_ms(p->timing->hello_ms), deadline_ns);
	rc = wire_send(p->iperf3.fd, cookie, PEER_COOKIE_BYTES, deadline_ns);
	if (rc < 0)
		rc = gone(p, rc, "at our cookie", err);
	else
		rc = expect_state(p, IPERF3_PARAM_EXCHANGE, deadline_ns, "in answer to our cookie",
				  err);
	if (rc < 0)
		drop_control(p);
	return rc;
}

static bool worth_another_try(int rc)
{
	return rc == -EBUSY || rc == -ECONNRESET || rc == -ECONNREFUSED;
}

static int become_client(struct peer *p, const char *cookie, uint64_t deadline_ns,
			 struct error *err)
{
	uint64_t settled = deadline_earlier(deadline_in_ms(SETTLE_MS), deadline_ns);
	int rc = attempt(p, cookie, deadline_ns, err);

	while (worth_another_try(rc) && monotonic_ns() < settled) {
		int heed = client_heed(p, err);

		if (heed < 0)
			return heed;
		poll(NULL, 0, RETRY_MS);
		rc = attempt(p, cookie, deadline_ns, err);
	}
	/* Busy, it is still there. */
	if (worth_another_try(rc) && rc != -EBUSY)
		p->iperf3.lost = true;
	return rc;
}

static int send_parameters(struct peer *p, uint64_t deadline_ns, struct error *err)
{
	struct iperf3_parameters parameters = {
		.spec = p->spec,
		.udp_64bit_counters = p->spec.protocol == RUN_UDP
	};
	unsigned char *frame;
	size_t len;
	int rc = iperf3_client_token(p, p->iperf3.login, parameters.token,
				     sizeof(parameters.token), err);

	if (rc < 0)
		return rc;
	rc = iperf3_format_parameters(&parameters, &frame, &len);
	if (rc < 0)
		return error_set(err, rc, "%s: out of memory", p->label);
	rc = wire_send(p->iperf3.fd, frame, len, deadline_ns);
	free(frame);
	return rc < 0 ? gone(p, rc, "at our parameters", err) : 0;
}

static int heed(const void *state, struct error *err)
{
	return client_heed(state, err);
}

/*
 * One after the other: the server numbers the streams as they come, and which of them carry
 * traffic the other way goes by that number.
 */
static int open_streams(struct peer *p, const char *cookie, int *fds, uint64_t deadline_ns,
			struct error *err)
{
	struct dial_data d = {
		.remote = &p->remote,
		.local = p->bound ? &p->bind : NULL,
		.local_port = p->data_port,
		.spec = &p->spec,
		.label = p->label,
		.heed = heed,
		.state = p
	};

	for (size_t i = 0; i < run_flows(&p->spec); i++) {
		int fd = client_heed(p, err);

		if (fd == 0 && p->spec.protocol == RUN_UDP)
			fd = dial_iperf3_udp(&d, i, deadline_ns, err);
		else if (fd == 0)
			fd = dial_flow(&d, i, cookie, deadline_ns, err);
		if (fd < 0)
			return fd;
		fds[i] = fd;
	}
	return 0;
}

static int one_way_alone(const struct peer *p, struct error *err)
{
	return error_set(err, EOPNOTSUPP, "%s: its iperf3 carries traffic one way at a time: both "
			 "at once takes 3.7 or newer", p->label);
}

/*
 * A server before 3.7 does not know the parameter: connections that are too many get a refusal of
 * one byte and are closed.  From one that does, data comes by the last of them as the test begins.
 */
static int check_both_ways(const struct peer *p, const int *fds, struct error *err)
{
	const short closed = POLLRDHUP | POLLHUP | POLLERR;
	struct pollfd w = { .events = POLLIN | POLLRDHUP };
	char bytes[2];

	if (!p->spec.bidirectional || p->spec.protocol != RUN_TCP)
		return 0;
	w.fd = fds[run_flows(&p->spec) - 1];
	poll(&w, 1, FIRST_BYTES_MS);
	if (!(w.revents & closed) && recv(w.fd, bytes, 2, MSG_PEEK | MSG_DONTWAIT) == 1) {
		w.events = POLLRDHUP;
		poll(&w, 1, REFUSAL_MS);
	}
	return w.revents & closed ? one_way_alone(p, err) : 0;
}

static int begin_test(struct peer *p, int *fds, uint64_t deadline_ns, struct error *err)
{
	char cookie[PEER_COOKIE_BYTES];
	int rc = wire_make_cookie(cookie);

	if (rc < 0)
		return error_set(err, rc, "%s: no random cookie: %s", p->label, strerror(-rc));
	p->iperf3.admitted = false;
	rc = become_client(p, cookie, deadline_ns, err);
	if (rc == 0)
		rc = send_parameters(p, deadline_ns, err);
	if (rc == 0)
		rc = expect_state(p, IPERF3_CREATE_STREAMS, deadline_ns,
				  "in answer to our parameters", err);
	p->iperf3.admitted = rc == 0;
	if (rc == 0)
		rc = open_streams(p, cookie, fds, deadline_ns, err);
	if (rc == 0)
		rc = expect_state(p, IPERF3_TEST_START, deadline_ns, "after our streams", err);
	if (rc == 0)
		rc = expect_state(p, IPERF3_TEST_RUNNING, deadline_ns, "after our streams", err);
	if (rc == 0)
		rc = check_both_ways(p, fds, err);
	return rc;
}

/* What this dialect cannot say. */
static int fit_spec(struct peer *p, struct error *err)
{
	struct run_spec *s = &p->spec;

	if (s->streams > IPERF3_MAX_STREAMS)
		return error_set(err, EINVAL, "%s: iperf3 takes 1 to %d streams", p->label,
				 IPERF3_MAX_STREAMS);
	if (s->protocol == RUN_TCP && s->block_bytes > IPERF3_MAX_TCP_BLOCK_BYTES)
		return error_set(err, EINVAL, "%s: iperf3 takes blocks of up to %d bytes",
				 p->label, IPERF3_MAX_TCP_BLOCK_BYTES);
	iperf3_round_amount(s);
	/* Its warm-up has whole seconds, and both ends must leave out the same. */
	s->warmup_ms = (s->warmup_ms + 999) / 1000 * 1000;
	return 0;
}

int iperf3_run_prepare(struct peer *p, int *fds, unsigned int timeout_ms, struct error *err)
{
	int rc = fit_spec(p, err);

	if (rc < 0)
		return rc;
	rc = begin_test(p, fds, deadline_in_ms(timeout_ms), err);
	if (rc == 0)
		return 0;
	for (size_t i = 0; i < run_flows(&p->spec); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	iperf3_run_cancel(p);
	return rc;
}

/* ---- while it runs, and its end ---- */

int iperf3_run_poll(struct peer *p, unsigned int timeout_ms, struct error *err)
{
	struct pollfd w = { .fd = p->iperf3.fd, .events = POLLIN };
	uint64_t deadline = deadline_in_ms(p->timing->send_ms);
	unsigned char state;
	int rc;

	if (p->iperf3.fd < 0)
		return error_set(err, EINVAL, "%s: no run is going on", p->label);
	if (poll(&w, 1, (int)timeout_ms) <= 0)
		return 0;
	/* During a test it has nothing to say but that something went wrong. */
	rc = wire_receive(p->iperf3.fd, &state, 1, deadline);
	rc = rc < 0 ? gone(p, rc, "in the middle of the run", err) :
		      unexpected(p, state, deadline, err);
	drop_control(p);
	return rc;
}

int iperf3_run_stop(struct peer *p, unsigned int timeout_ms, struct error *err)
{
	static const unsigned char end = IPERF3_TEST_END;
	uint64_t deadline = deadline_in_ms(timeout_ms);
	int rc;

	if (p->iperf3.fd < 0)
		return error_set(err, EINVAL, "%s: no run is going on", p->label);
	rc = wire_send(p->iperf3.fd, &end, 1, deadline);
	if (rc < 0)
		rc = gone(p, rc, "at the end of the run", err);
	else
		rc = expect_state(p, IPERF3_EXCHANGE_RESULTS, deadline, "at the end of the run",
				  err);
	if (rc < 0)
		iperf3_run_cancel(p);
	return rc;
}

/* A text of len bytes, its buffer growing as it comes.  The caller frees *out. */
static int receive_text(struct peer *p, size_t len, uint64_t deadline_ns, char **out)
{
	size_t got = 0;
	int rc = 0;

	*out = NULL;
	while (rc == 0 && got < len) {
		size_t n = got ? got : FIRST_BODY_BYTES;
		char *grown;

		if (n > len - got)
			n = len - got;
		grown = realloc(*out, got + n);
		if (!grown)
			return -ENOMEM;
		*out = grown;
		rc = wire_receive(p->iperf3.fd, *out + got, n, deadline_ns);
		got += n;
	}
	return rc;
}

/* Results of the one direction that a server before 3.7 knew of. */
static bool tells_one_way(const struct peer *p, const char *text, size_t len)
{
	struct peer_results results = { 0 };
	bool one_way = p->spec.bidirectional &&
		       iperf3_parse_results(text, len, (size_t)p->spec.streams, &results) == 0;

	peer_results_free(&results);
	return one_way;
}

static int receive_results(struct peer *p, uint64_t deadline_ns, struct peer_results *theirs,
			   struct error *err)
{
	unsigned char length[4];
	char *text = NULL;
	uint32_t len;
	int rc = wait_control(p, deadline_ns, "instead of its results", err);

	if (rc < 0)
		return rc;
	rc = wire_receive(p->iperf3.fd, length, sizeof(length), deadline_ns);
	if (rc < 0)
		return gone(p, rc, "instead of its results", err);
	len = wire_get_be32(length);
	if (len < 2 || len > IPERF3_MAX_RESULTS)
		return error_set(err, EBADMSG, "%s: its iperf3 announced results of %" PRIu32
				 " bytes", p->label, len);
	rc = receive_text(p, len, deadline_ns, &text);
	if (rc < 0)
		gone(p, rc, "in the middle of its results", err);
	else
		rc = iperf3_parse_results(text, len, run_flows(&p->spec), theirs);
	if (rc == -EINVAL && tells_one_way(p, text, len))
		rc = one_way_alone(p, err);
	else if (rc == -EINVAL)
		error_set(err, EBADMSG, "%s: the results of its iperf3 make no sense", p->label);
	free(text);
	return rc == -EINVAL ? -EBADMSG : rc;
}

int iperf3_run_exchange(struct peer *p, const struct peer_results *ours, unsigned int timeout_ms,
			struct peer_results *theirs, struct error *err)
{
	static const unsigned char done = IPERF3_DONE;
	bool sender = run_client_sends(&p->spec);
	uint64_t deadline = deadline_in_ms(timeout_ms);
	unsigned char *frame;
	size_t len;
	int rc;

	if (p->iperf3.fd < 0)
		return error_set(err, EINVAL, "%s: no run is going on", p->label);
	rc = iperf3_format_results(ours, sender, &frame, &len);
	if (rc < 0)
		return error_set(err, rc, "%s: out of memory", p->label);
	rc = wire_send(p->iperf3.fd, frame, len, deadline);
	free(frame);
	if (rc < 0)
		gone(p, rc, "at our results", err);
	else
		rc = receive_results(p, deadline, theirs, err);
	if (rc == 0)
		rc = expect_state(p, IPERF3_DISPLAY_RESULTS, deadline, "after the results", err);
	if (rc < 0) {
		iperf3_run_cancel(p);
		return rc;
	}
	/* All is here: a server that is gone by now has done its part. */
	wire_send(p->iperf3.fd, &done, 1, deadline_in_ms(p->timing->bye_ms));
	drop_control(p);
	return 0;
}

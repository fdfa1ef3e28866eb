/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The server's half of a run: check, queue, hand out cookies, collect the data
 * connections, start, watch, report.
 *
 * In every wait the client is listened to, so that one that has vanished gives
 * its turn up at once, and is sent signs of life.
 */
#include "src/peer/server.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/peer/protocol.h"
#include "src/peer/thread.h"
#include "src/peer/udp_door.h"


struct server_run {
	struct session *session;
	uint64_t id;
	struct run_spec spec;
	struct turn turn;
	int *fds;		/* run_connections() of them; -1: not ours (any more) */
	struct run_window window;
	struct udp_guest guest;	/* of a UDP run, until it starts */
	bool at_door;
	/* Data connections that have come, and when the last did or were asked for. */
	size_t ndata;
	uint64_t data_ns;

	/* While the service works: */
	pthread_t watcher;
	atomic_bool cancelled, over;
};

static void close_data(struct server_run *r)
{
	for (size_t i = 0; i < run_connections(&r->spec); i++) {
		if (r->fds[i] >= 0)
			close(r->fds[i]);
		r->fds[i] = -1;
	}
}

/* ---- limits ---- */

/* The reason against it, in text; false: nothing against it. */
static bool against_limits(const struct peer_server_options *o, const struct run_spec *spec,
			   char *text, size_t cap)
{
	uint64_t ms = spec->warmup_ms + spec->window_ms;

	if (spec->streams > o->max_streams) {
		snprintf(text, cap, "refused: %" PRIu64 " streams asked for, this server allows %u",
			 spec->streams, o->max_streams);
		return true;
	}
	if (ms > (uint64_t)o->max_seconds * 1000) {
		snprintf(text, cap, "refused: a run of %" PRIu64 ".%03" PRIu64 " s with its "
			 "warm-up asked for, this server allows %u s", ms / 1000, ms % 1000,
			 o->max_seconds);
		return true;
	}
	return false;
}

/* ---- waiting ---- */

static int sign_of_life(struct server_run *r)
{
	size_t ahead = turn_ahead(&r->session->server->turns, &r->turn);
	cJSON *m = session_message(ahead ? "queued" : "alive", r->id);

	if (m && ahead && !json_add_u64(m, "ahead", ahead)) {
		cJSON_Delete(m);
		m = NULL;
	}
	return session_send(r->session, m);
}

/*
 * Stopped, or cut off without a word, while others want its turn or its place.  By then it can
 * have said several times that it is alive, and to nobody else does its silence matter.  step_due:
 * it is to take one at once, and one of an older release, which gives no signs, would have too.
 */
static bool keeps_others_waiting(struct server_run *r, bool step_due)
{
	struct session *ss = r->session;
	struct peer_server *s = ss->server;
	uint64_t now = monotonic_ns(), long_ns = (uint64_t)s->timing->silence_ms * 1000000u;

	if ((!ss->gives_signs && !step_due) ||
	    now - channel_last_receive(&ss->channel) < long_ns || now - r->data_ns < long_ns)
		return false;
	if (turn_is_awaited(&s->turns, &r->turn))
		return true;
	pthread_mutex_lock(&s->lock);
	bool wanted = s->turned_away_ns && now - s->turned_away_ns < long_ns;
	pthread_mutex_unlock(&s->lock);
	return wanted;
}

/* Ends its session. */
static int give_up_on(struct server_run *r)
{
	struct session *ss = r->session;
	unsigned int alive_ms = ss->server->timing->alive_ms;
	cJSON *m;

	snprintf(ss->complaint, sizeof(ss->complaint), "the client gave no sign of life for %u ms, "
		 "and others wait", ss->server->timing->silence_ms);
	m = session_error_message(0, PROTOCOL_LATE, ss->complaint);
	if (m)
		channel_send(&ss->channel, m, deadline_in_ms(alive_ms));
	cJSON_Delete(m);
	channel_break(&ss->channel, -ECONNABORTED);
	return -ECONNABORTED;
}

/* What a message means while we wait for something else: 0 nothing, -ECANCELED, or the end. */
static int judge(struct server_run *r, const cJSON *m)
{
	const char *type = channel_message_type(m);
	uint64_t id = 0;

	json_get_u64(m, "id", 0, INT64_MAX, &id);
	if (strcmp(type, "alive") == 0) {
		r->session->gives_signs = true;
		return 0;
	}
	if (strcmp(type, "cancel") == 0)
		return id == r->id ? -ECANCELED : 0;
	if (strcmp(type, "error") == 0)
		return session_complaint(r->session, m);
	return strcmp(type, "bye") == 0 ? -ENOTCONN : -EBADMSG;
}

static bool turn_has_come(struct server_run *r)
{
	return turn_ahead(&r->session->server->turns, &r->turn) == 0;
}

/*
 * Waits until ready() says so, or, when that is NULL, for the start message.  0; -ECANCELED by
 * the client; -ETIMEDOUT; anything else ends the session.
 */
static int wait_for(struct server_run *r, bool (*ready)(struct server_run *), uint64_t deadline_ns,
		    cJSON **start)
{
	unsigned int alive_ms = r->session->server->timing->alive_ms;
	uint64_t next_sign = deadline_in_ms(alive_ms);

	while (!ready || !ready(r)) {
		cJSON *m = NULL;
		int rc = session_receive(r->session, deadline_earlier(deadline_ns, next_sign), &m);

		if (rc == 0 && start && strcmp(channel_message_type(m), "start") == 0) {
			*start = m;
			return 0;
		}
		if (rc == 0)
			rc = judge(r, m);
		cJSON_Delete(m);
		if (rc == -ETIMEDOUT && monotonic_ns() < deadline_ns) {
			rc = keeps_others_waiting(r, ready != turn_has_come) ? give_up_on(r)
									     : sign_of_life(r);
			next_sign = deadline_in_ms(alive_ms);
		}
		if (rc < 0 && rc != -EAGAIN)
			return rc;
		if (monotonic_ns() >= deadline_ns)
			return -ETIMEDOUT;
	}
	return 0;
}

static bool data_is_complete(struct server_run *r)
{
	size_t n = data_arrived(&r->session->server->data);

	if (n != r->ndata)
		r->data_ns = monotonic_ns();
	r->ndata = n;
	return n == run_connections(&r->spec);
}

/* ---- data connections ---- */

static int send_cookies(struct server_run *r, cJSON *cookies)
{
	cJSON *m = session_message("data", r->id);

	if (!m || !cJSON_AddItemToObject(m, "cookies", cookies)) {
		cJSON_Delete(cookies);
		cJSON_Delete(m);
		m = NULL;
	}
	if (m && (!json_add_u64(m, "pacing_bps", r->spec.pacing_bps) ||
		  !json_add_u64(m, "rate_bps", r->spec.rate_bps) ||
		  !cJSON_AddBoolToObject(m, "udp_marks", r->spec.udp_marks))) {
		cJSON_Delete(m);
		m = NULL;
	}
	return session_send(r->session, m);
}

static int set_data_options(struct server_run *r, struct error *why)
{
	/*
	 * After accept(): rcvbuf_bytes comes too late for the window scale, which the listener's
	 * own buffer has set; the kernel then offers no more window than the smaller allows.
	 */
	for (size_t i = 0; i < run_flows(&r->spec); i++) {
		int rc = load_prepare_socket(r->fds[i], &r->spec,
					     run_flow_role(&r->spec, run_server_role(&r->spec), i),
					     why);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int open_door(struct server_run *r, struct error *why)
{
	struct peer_server *s = r->session->server;
	int rc;

	r->guest = udp_door_cookies(&s->data);
	rc = udp_door_enter(s->door, &r->guest, r->session->channel.fd, why);
	r->at_door = rc == 0;
	return rc;
}

static void close_door(struct server_run *r)
{
	if (r->at_door)
		udp_door_leave(r->session->server->door, &r->guest);
	r->at_door = false;
}

static int collect_data(struct server_run *r)
{
	struct peer_server *s = r->session->server;
	uint64_t deadline = deadline_in_ms(s->timing->data_ms);
	cJSON *cookies;
	int rc = data_open(&s->data, &r->spec, r->session->wake_fd, deadline, &cookies);

	if (rc < 0)
		return rc;
	r->data_ns = monotonic_ns();
	rc = send_cookies(r, cookies);
	if (rc == 0)
		rc = wait_for(r, data_is_complete, deadline, NULL);
	return rc < 0 ? rc : data_take(&s->data, r->fds);
}

/* ---- the run itself ---- */

static bool window_makes_sense(struct server_run *r)
{
	const struct run_window *w = &r->window;
	uint64_t now = monotonic_ns();
	uint64_t longest = (r->spec.warmup_ms + r->spec.window_ms +
			    r->session->server->timing->margin_ms) * 1000000u;

	return w->from_ns < w->to_ns && w->to_ns <= w->stop_ns && w->stop_ns > now &&
	       w->stop_ns - now <= longest;
}

static bool read_window(struct server_run *r, const cJSON *start)
{
	return json_get_u64(start, "from_ns", 0, INT64_MAX, &r->window.from_ns) &&
	       json_get_u64(start, "to_ns", 0, INT64_MAX, &r->window.to_ns) &&
	       json_get_u64(start, "stop_ns", 0, INT64_MAX, &r->window.stop_ns) &&
	       window_makes_sense(r);
}

/*
 * The next word of the client's, judged.  After its cancel it has moved on: what it says then is
 * the session's next request, and stays where it is.
 */
static int hear(struct server_run *r, bool has_cancelled, uint64_t deadline_ns)
{
	struct pollfd wake = { .fd = r->session->wake_fd, .events = POLLIN };
	eventfd_t count;
	cJSON *m = NULL;
	int rc;

	if (has_cancelled) {
		poll(&wake, 1, deadline_left_ms(deadline_ns));
		eventfd_read(wake.fd, &count);
		return 0;
	}
	rc = session_listen(r->session, deadline_ns, &m);
	if (rc == 0)
		rc = judge(r, m);
	cJSON_Delete(m);
	return rc == -EAGAIN || rc == -ETIMEDOUT ? 0 : rc;
}

/* Listens to the client while the service works, whatever the service is busy with. */
static void *watch_client(void *arg)
{
	struct server_run *r = arg;
	struct session *ss = r->session;
	const struct peer_timing *timing = ss->server->timing;
	uint64_t quiet_ns = (uint64_t)timing->alive_ms * 1000000u;
	uint64_t latest = r->window.stop_ns + (uint64_t)timing->margin_ms * 1000000u;
	bool has_cancelled = false;

	while (!atomic_load(&r->over)) {
		int rc = hear(r, has_cancelled, deadline_in_ms(timing->alive_ms));

		if (rc == -ECANCELED) {
			has_cancelled = true;
			rc = 0;
		}
		if (has_cancelled || atomic_load(&ss->server->cutting) ||
		    monotonic_ns() > latest)
			atomic_store(&r->cancelled, true);
		/* No room is an outage, or a client that is stopped: neither must end the run. */
		if (rc == 0 && monotonic_ns() - channel_last_send(&ss->channel) >= quiet_ns &&
		    channel_has_room(&ss->channel))
			rc = sign_of_life(r);
		/* After its cancel nothing is read that would tell. */
		if (rc == 0 && !has_cancelled && keeps_others_waiting(r, false))
			rc = give_up_on(r);
		if (rc < 0) {
			/* Gone, or talking nonsense; the session's next receive must see it too. */
			channel_break(&ss->channel, rc);
			atomic_store(&r->cancelled, true);
			break;
		}
	}
	return NULL;
}

static bool hook_progress(void *state, cJSON *sample)
{
	struct server_run *r = state;
	cJSON *m = session_message("sample", r->id);
	int rc;

	if (!m || !sample || !cJSON_AddItemToObject(m, "sample", sample)) {
		cJSON_Delete(m);
		cJSON_Delete(sample);
		m = NULL;
	}
	/*
	 * A sample that cannot be made, or sent in an outage, is a gap; only a client that is not
	 * there for long ends a run.
	 */
	rc = atomic_load(&r->cancelled) || !m || !channel_has_room(&r->session->channel) ? 0 :
	     channel_send(&r->session->channel, m,
			  deadline_in_ms(r->session->server->timing->outage_ms));
	cJSON_Delete(m);
	if (rc < 0 && rc != -ENOMEM && rc != -EMSGSIZE)
		atomic_store(&r->cancelled, true);
	return !atomic_load(&r->cancelled);
}

static bool hook_cancelled(void *state)
{
	struct server_run *r = state;

	return atomic_load(&r->cancelled);
}

static int run_service(struct server_run *r, cJSON **end, struct error *why)
{
	struct peer_service *service = &r->session->server->service;
	struct peer_run_hooks hooks = {
		.state = r, .progress = hook_progress, .cancelled = hook_cancelled
	};
	int rc = thread_start(&r->watcher, watch_client, r);

	if (rc < 0)
		return error_set(why, rc, "no thread for the run: %s", strerror(-rc));
	rc = service->run(service->state, &r->session->info, &r->spec, r->fds, &r->window, &hooks,
			  end, why);
	/* They were the service's to close. */
	for (size_t i = 0; i < run_connections(&r->spec); i++)
		r->fds[i] = -1;
	atomic_store(&r->over, true);
	eventfd_write(r->session->wake_fd, 1);
	pthread_join(r->watcher, NULL);
	return rc;
}

/*
 * In an outage the kernel may hold so much for the client already that the end would not go out in
 * time.  Nobody else waits for that.
 */
static void await_room(struct server_run *r)
{
	const struct peer_timing *timing = r->session->server->timing;
	uint64_t deadline = deadline_in_ms(timing->outage_ms);

	while (!channel_has_room(&r->session->channel) && !keeps_others_waiting(r, true) &&
	       !atomic_load(&r->session->server->stopping) && monotonic_ns() < deadline) {
		struct pollfd room = { .fd = r->session->channel.fd, .events = POLLOUT };

		poll(&room, 1, (int)timing->alive_ms);
	}
}

static int report_end(struct server_run *r, int result, cJSON *end, const struct error *why)
{
	cJSON *m;
	int rc;

	if (result < 0) {
		cJSON_Delete(end);
		/* The goodbye that follows says why. */
		if (atomic_load(&r->session->server->cutting))
			return 0;
		return session_send_error(r->session, r->id, PROTOCOL_FAILED, why->text);
	}
	m = session_message("end", r->id);
	if (!m || !end || !cJSON_AddItemToObject(m, "end", end)) {
		cJSON_Delete(m);
		cJSON_Delete(end);
		m = NULL;
	}
	await_room(r);
	rc = session_send(r->session, m);
	if (rc == -EMSGSIZE || rc == -ENOMEM)
		return session_send_error(r->session, r->id, PROTOCOL_FAILED, rc == -ENOMEM ?
					  "out of memory" : "its report is too long to send");
	return rc;
}

static void announce(struct server_run *r)
{
	uint64_t ms = r->spec.warmup_ms + r->spec.window_ms;

	server_event(r->session->server, PEER_EVENT_RUN,
		     "%s: run: %" PRIu64 "%s stream%s, %s sends, %" PRIu64 ".%" PRIu64 " s",
		     r->session->info.address, r->spec.streams,
		     r->spec.protocol == RUN_UDP ? " UDP" : "", r->spec.streams == 1 ? "" : "s",
		     r->spec.direction == RUN_FORWARD ? "the client" : "this host", ms / 1000,
		     ms % 1000 / 100);
}

/* ---- one request ---- */

/* -ECANCELED and -ETIMEDOUT end the run, not the session; what other errors say is in *why. */
static int do_run(struct server_run *r, struct error *why)
{
	struct peer_server *s = r->session->server;
	cJSON *start = NULL, *end = NULL;
	int rc = 0;

	if (!turn_has_come(r)) {
		rc = sign_of_life(r);
		if (rc == 0)
			rc = wait_for(r, turn_has_come, UINT64_MAX, NULL);
	}
	/* Open when the first cookie is out. */
	if (rc == 0 && r->spec.protocol == RUN_UDP && open_door(r, why) < 0)
		return session_send_error(r->session, r->id, PROTOCOL_FAILED, why->text);
	if (rc == 0)
		rc = collect_data(r);
	if (rc == -ETIMEDOUT)
		error_set(why, ETIMEDOUT, "%zu of %zu data connections came in time",
			  data_arrived(&s->data), run_connections(&r->spec));
	if (rc < 0)
		return rc;
	rc = set_data_options(r, why);
	if (rc < 0)
		return session_send_error(r->session, r->id, PROTOCOL_FAILED, why->text);
	rc = session_send(r->session, session_message("ready", r->id));
	if (rc == 0)
		rc = wait_for(r, NULL, deadline_in_ms(s->timing->start_ms), &start);
	if (rc == -ETIMEDOUT)
		error_set(why, ETIMEDOUT, "the start did not come in time");
	if (rc < 0)
		return rc;
	if (!read_window(r, start)) {
		rc = session_send_error(r->session, r->id, PROTOCOL_REFUSED,
					"refused: a window that is over, turned round or too long");
	} else {
		close_door(r);
		announce(r);
		rc = run_service(r, &end, why);
		rc = report_end(r, rc, end, why);
	}
	cJSON_Delete(start);
	return rc;
}

int session_run(struct session *ss, const cJSON *request, uint64_t id)
{
	struct peer_server *s = ss->server;
	struct server_run r = { .session = ss, .id = id, .turn.wake_fd = ss->wake_fd };
	struct error why = { "" };
	char text[160];
	int rc;

	rc = run_spec_from_json(cJSON_GetObjectItemCaseSensitive(request, "spec"), &r.spec, &why);
	if (rc < 0)
		return session_send_error(ss, id, PROTOCOL_REFUSED, why.text);
	if (against_limits(&s->options, &r.spec, text, sizeof(text)))
		return session_send_error(ss, id, PROTOCOL_REFUSED, text);
	/* The sender keeps to it: in a forward run that is the client, which is told. */
	server_limit_rate(&s->options, &r.spec, r.spec.protocol == RUN_TCP);
	r.fds = malloc(run_connections(&r.spec) * sizeof(*r.fds));
	if (!r.fds)
		return session_send_error(ss, id, PROTOCOL_FAILED, "out of memory");
	for (size_t i = 0; i < run_connections(&r.spec); i++)
		r.fds[i] = -1;
	turn_join(&s->turns, &r.turn);
	rc = do_run(&r, &why);
	close_door(&r);
	if (turn_has_come(&r))
		data_close(&s->data);
	close_data(&r);
	turn_leave(&s->turns, &r.turn);
	free(r.fds);
	if (rc == -ETIMEDOUT && !channel_broken(&ss->channel))
		return session_send_error(ss, id, PROTOCOL_LATE, why.text);
	return rc == -ECANCELED ? 0 : rc;
}

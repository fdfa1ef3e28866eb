/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/peer/timing.h"
#include "src/peer/wire.h"

enum { FIRST_BODY_BYTES = 16 * 1024 };

void channel_init(struct channel *ch, int fd, struct tls *tls, size_t max_receive)
{
	memset(ch, 0, sizeof(*ch));
	pthread_mutex_init(&ch->lock, NULL);
	ch->fd = fd;
	ch->tls = tls;
	ch->max_receive = max_receive;
	ch->last_receive_ns = ch->last_send_ns = monotonic_ns();
}

void channel_free(struct channel *ch)
{
	tls_free(ch->tls);
	if (ch->fd >= 0)
		close(ch->fd);
	free(ch->body);
	pthread_mutex_destroy(&ch->lock);
}

void channel_break(struct channel *ch, int rc)
{
	pthread_mutex_lock(&ch->lock);
	if (!ch->broken)
		ch->broken = rc;
	pthread_mutex_unlock(&ch->lock);
}

void channel_shutdown(struct channel *ch)
{
	shutdown(ch->fd, SHUT_RDWR);
}

static uint64_t read_locked(struct channel *ch, const uint64_t *at)
{
	pthread_mutex_lock(&ch->lock);
	uint64_t v = *at;
	pthread_mutex_unlock(&ch->lock);
	return v;
}

uint64_t channel_last_send(struct channel *ch)
{
	return read_locked(ch, &ch->last_send_ns);
}

uint64_t channel_last_receive(struct channel *ch)
{
	return read_locked(ch, &ch->last_receive_ns);
}

int channel_broken(struct channel *ch)
{
	int v;

	pthread_mutex_lock(&ch->lock);
	v = ch->broken;
	pthread_mutex_unlock(&ch->lock);
	return v;
}

const char *channel_message_type(const cJSON *message)
{
	return cJSON_GetObjectItemCaseSensitive(message, "type")->valuestring;
}

/* 0 when fd is ready for events; -EAGAIN: wake_fd is readable. */
static int wait_ready(int fd, short events, int wake_fd, uint64_t deadline_ns)
{
	struct pollfd p[2] = {
		{ .fd = fd, .events = events },
		{ .fd = wake_fd, .events = POLLIN }	/* poll() skips a negative one */
	};
	int n = poll(p, 2, deadline_left_ms(deadline_ns));

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ETIMEDOUT;
	return p[0].revents ? 0 : -EAGAIN;
}

bool channel_has_room(const struct channel *ch)
{
	return wait_ready(ch->fd, POLLOUT, -1, 0) == 0;
}

/* Sends all of buf; on any failure the framing is lost, and with it the channel. */
static int send_bytes(struct channel *ch, const unsigned char *buf, size_t len,
		      uint64_t deadline_ns)
{
	while (len > 0) {
		short events = 0;
		ssize_t n = tls_write(ch->tls, buf, len, &events);

		if (n == -EAGAIN)
			n = wait_ready(ch->fd, events, -1, deadline_ns);
		if (n < 0)
			return (int)n;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* What was received made no sense, but the connection and what we send over it are whole. */
static bool can_speak(const struct channel *ch)
{
	return !ch->broken || ch->broken == -EMSGSIZE || ch->broken == -EBADMSG;
}

static int send_message(struct channel *ch, const cJSON *message, bool last, uint64_t deadline_ns)
{
	char *text = cJSON_PrintUnformatted(message);
	size_t len = text ? strlen(text) : 0;
	unsigned char *frame = NULL;
	int rc = -ENOMEM;

	if (!text)
		goto out;
	rc = -EMSGSIZE;
	if (len > PEER_MAX_MESSAGE)
		goto out;
	rc = -ENOMEM;
	/* One buffer: with TCP_NODELAY a header of its own would be a packet of its own. */
	frame = malloc(4 + len + 1);
	if (!frame)
		goto out;
	wire_put_be32(frame, (uint32_t)len);
	memcpy(frame + 4, text, len + 1);	/* its end stays here */
	pthread_mutex_lock(&ch->lock);
	rc = ch->broken && !(last && can_speak(ch)) ?
	     ch->broken : send_bytes(ch, frame, 4 + len, deadline_ns);
	if (rc == -ETIMEDOUT)
		rc = -EPIPE;	/* keeps -ETIMEDOUT free for a channel that is still good */
	if (rc < 0)
		ch->broken = rc;
	else
		ch->last_send_ns = monotonic_ns();
	pthread_mutex_unlock(&ch->lock);
out:
	free(frame);
	cJSON_free(text);
	return rc;
}

int channel_send(struct channel *ch, const cJSON *message, uint64_t deadline_ns)
{
	return send_message(ch, message, false, deadline_ns);
}

void channel_last_words(struct channel *ch, const cJSON *message, unsigned int ms)
{
	uint64_t deadline = deadline_in_ms(ms);
	char waste[16 * 1024];
	ssize_t n = 1;

	if (send_message(ch, message, true, deadline) < 0 || shutdown(ch->fd, SHUT_WR))
		return;
	while (n > 0 && monotonic_ns() < deadline) {
		/* Below TLS: nobody will look at it. */
		n = recv(ch->fd, waste, sizeof(waste), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			n = wait_ready(ch->fd, POLLIN, -1, deadline) == 0;
	}
}

/* Room for more of the body: at most twice what has arrived. */
static int grow_body(struct channel *ch)
{
	size_t cap = ch->body_cap ? 2 * ch->body_cap : FIRST_BODY_BYTES;
	char *p;

	if (ch->body_got < ch->body_cap)
		return 0;
	if (cap > ch->body_len)
		cap = ch->body_len;
	p = realloc(ch->body, cap);
	if (!p)
		return -ENOMEM;
	ch->body = p;
	ch->body_cap = cap;
	return 0;
}

static int take_header(struct channel *ch)
{
	ch->body_len = wire_get_be32(ch->header);
	ch->body_got = 0;
	/* The smallest message is {"type":""}. */
	return ch->body_len < 11 ? -EBADMSG : ch->body_len > ch->max_receive ? -EMSGSIZE : 0;
}

static int take_message(struct channel *ch, cJSON **message)
{
	cJSON *m = wire_parse_json(ch->body, ch->body_len);

	free(ch->body);
	ch->body = NULL;
	ch->body_cap = ch->header_got = 0;
	if (!m || !json_get_str(m, "type", CHANNEL_MAX_TYPE)) {
		cJSON_Delete(m);
		return -EBADMSG;
	}
	*message = m;
	return 0;
}

/* Reads what is there.  0 with *message set, -EAGAIN with events, or the end. */
static int receive_step(struct channel *ch, short *events, cJSON **message)
{
	for (;;) {
		bool header = ch->header_got < sizeof(ch->header);
		ssize_t n;
		int rc = header ? 0 : grow_body(ch);

		if (rc < 0)
			return rc;
		n = header ? tls_read(ch->tls, ch->header + ch->header_got,
				      sizeof(ch->header) - ch->header_got, events) :
			     tls_read(ch->tls, ch->body + ch->body_got,
				      ch->body_cap - ch->body_got, events);
		if (n < 0)
			return (int)n;
		ch->last_receive_ns = monotonic_ns();
		if (header) {
			ch->header_got += (size_t)n;
			rc = ch->header_got == sizeof(ch->header) ? take_header(ch) : 0;
			if (rc < 0)
				return rc;
			continue;
		}
		ch->body_got += (size_t)n;
		if (ch->body_got == ch->body_len)
			return take_message(ch, message);
	}
}

int channel_receive(struct channel *ch, int wake_fd, uint64_t deadline_ns, cJSON **message)
{
	*message = NULL;
	for (;;) {
		short events = 0;
		int rc;

		pthread_mutex_lock(&ch->lock);
		rc = ch->broken ? ch->broken : receive_step(ch, &events, message);
		if (rc < 0 && rc != -EAGAIN)
			ch->broken = rc;
		pthread_mutex_unlock(&ch->lock);
		if (rc != -EAGAIN)
			return rc;
		rc = wait_ready(ch->fd, events, wake_fd, deadline_ns);
		if (rc < 0)
			return rc;
	}
}

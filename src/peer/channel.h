/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A channel: length-prefixed JSON messages over an established struct tls.
 * Internal to src/peer.
 *
 * Two threads of one session may use it (a run sends samples while its watcher
 * listens): each step takes the lock.  A message comes whole or stays inside
 * for the next call; after a transport error every call returns that error.
 */
#ifndef ND_PEER_CHANNEL_H
#define ND_PEER_CHANNEL_H

#include <pthread.h>

#include "src/peer/tls.h"

struct channel {
	pthread_mutex_t lock;
	int fd;			/* owned */
	struct tls *tls;	/* owned */
	int broken;		/* 0 or the -errno that ended it */
	size_t max_receive;	/* bytes of one message from the other side */
	uint64_t last_receive_ns, last_send_ns;
	unsigned char header[4];
	size_t header_got;
	char *body;		/* grows with what has arrived, not with what was announced */
	size_t body_len, body_got, body_cap;
};

/* Takes fd and tls over, in any case. */
void channel_init(struct channel *ch, int fd, struct tls *tls, size_t max_receive);
void channel_free(struct channel *ch);

/*
 * 0; -EMSGSIZE or -ENOMEM with nothing sent; else the channel is broken: -EPIPE (not read in
 * time), -ECONNRESET, -EPROTO.  The message stays the caller's.
 */
int channel_send(struct channel *ch, const cJSON *message, uint64_t deadline_ns);

/*
 * The end of the channel from our side: a message that says why, also on a channel that what was
 * received has broken; then nothing more is sent, and what still comes is thrown away until the
 * other side closes or ms are over (closing with unread bytes would reset the connection, and the
 * message with it).
 */
void channel_last_words(struct channel *ch, const cJSON *message, unsigned int ms);

/*
 * The next message, an object with a string "type"; the caller frees it.  -EAGAIN: wake_fd (-1:
 * none) became readable first, -ETIMEDOUT: the deadline (which may be past: looks once); the
 * channel is still good after both.  Else it is broken: -ECONNRESET, -EMSGSIZE, -EBADMSG, -EPROTO,
 * -ENOMEM.
 */
int channel_receive(struct channel *ch, int wake_fd, uint64_t deadline_ns, cJSON **message);

/* Messages make no sense any more: later calls return rc, neither -EAGAIN nor -ETIMEDOUT. */
void channel_break(struct channel *ch, int rc);
/* For a fd that another thread polls: nothing more comes or goes.  Any thread. */
void channel_shutdown(struct channel *ch);
uint64_t channel_last_send(struct channel *ch);
uint64_t channel_last_receive(struct channel *ch);
/* The kernel takes more for the other end at once. */
bool channel_has_room(const struct channel *ch);
int channel_broken(struct channel *ch);

#define CHANNEL_MAX_TYPE 32
/* Of a message from channel_receive(): never NULL. */
const char *channel_message_type(const cJSON *message);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "src/peer/timing.h"
#include "src/peer/wire.h"

/* Three letters of five bits number the flow; the 33 behind them are 165 random bits. */
enum { INDEX_LETTERS = 3 };
_Static_assert(RUN_MAX_STREAMS < 1 << (5 * INDEX_LETTERS), "a flow's number fits its cookie");

void data_init(struct data_registry *r)
{
	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
}

static void close_locked(struct data_registry *r)
{
	for (size_t i = 0; r->slots && i < r->n; i++)
		if (r->slots[i].fd >= 0)
			close(r->slots[i].fd);
	free(r->slots);
	r->slots = NULL;
	r->n = r->arrived = 0;
}

void data_close(struct data_registry *r)
{
	pthread_mutex_lock(&r->lock);
	close_locked(r);
	pthread_mutex_unlock(&r->lock);
}

void data_destroy(struct data_registry *r)
{
	close_locked(r);
	pthread_mutex_destroy(&r->lock);
}

static void put_index(char *cookie, size_t index)
{
	for (int i = 0; i < INDEX_LETTERS; i++)
		cookie[i] = wire_cookie_letter((unsigned int)(index >> (5 * i)) & 31);
}

static size_t get_index(const char *cookie)
{
	size_t index = 0;

	for (int i = 0; i < INDEX_LETTERS; i++)
		index |= (size_t)(wire_cookie_value(cookie[i]) & 31) << (5 * i);
	return index;
}

static int make_slots(struct data_slot *slots, size_t n, cJSON *cookies)
{
	for (size_t i = 0; i < n; i++) {
		cJSON *item;
		int rc = wire_make_cookie(slots[i].cookie);

		if (rc < 0)
			return rc;
		put_index(slots[i].cookie, i);
		slots[i].fd = -1;
		item = cJSON_CreateString(slots[i].cookie);
		if (!item || !cJSON_AddItemToArray(cookies, item)) {
			cJSON_Delete(item);
			return -ENOMEM;
		}
	}
	return 0;
}

int data_open(struct data_registry *r, const struct run_spec *spec, int wake_fd,
	      uint64_t expires_ns, cJSON **cookies)
{
	size_t n = run_connections(spec);
	struct data_slot *slots = calloc(n, sizeof(*slots));
	int rc = -ENOMEM;

	*cookies = cJSON_CreateArray();
	if (slots && *cookies)
		rc = make_slots(slots, n, *cookies);
	if (rc < 0) {
		free(slots);
		cJSON_Delete(*cookies);
		*cookies = NULL;
		return rc;
	}
	for (size_t i = 0; i < run_flows(spec); i++)
		slots[i].protocol = spec->protocol;
	pthread_mutex_lock(&r->lock);
	close_locked(r);
	r->slots = slots;
	r->n = n;
	r->expires_ns = expires_ns;
	r->wake_fd = wake_fd;
	pthread_mutex_unlock(&r->lock);
	return 0;
}

static enum data_verdict look_locked(const struct data_registry *r, enum run_protocol protocol,
				     const char *cookie)
{
	size_t i = get_index(cookie);

	if (!r->slots || i >= r->n || r->slots[i].protocol != protocol ||
	    monotonic_ns() >= r->expires_ns)
		return DATA_UNKNOWN;
	if (CRYPTO_memcmp(r->slots[i].cookie, cookie, PEER_COOKIE_BYTES) != 0)
		return DATA_UNKNOWN;
	return r->slots[i].used ? DATA_REUSED : DATA_TAKEN;
}

static enum data_verdict offer_locked(struct data_registry *r, enum run_protocol protocol,
				      const char *cookie, int fd)
{
	enum data_verdict v = look_locked(r, protocol, cookie);
	struct data_slot *s;

	if (v != DATA_TAKEN)
		return v;
	s = &r->slots[get_index(cookie)];
	s->used = true;
	s->fd = fd;
	if (++r->arrived == r->n)
		eventfd_write(r->wake_fd, 1);
	return DATA_TAKEN;
}

enum data_verdict data_offer(struct data_registry *r, enum run_protocol protocol,
			     const char cookie[PEER_COOKIE_BYTES], int fd)
{
	enum data_verdict v;

	pthread_mutex_lock(&r->lock);
	v = offer_locked(r, protocol, cookie, fd);
	pthread_mutex_unlock(&r->lock);
	return v;
}

enum data_verdict data_look(struct data_registry *r, enum run_protocol protocol,
			    const char cookie[PEER_COOKIE_BYTES])
{
	enum data_verdict v;

	pthread_mutex_lock(&r->lock);
	v = look_locked(r, protocol, cookie);
	pthread_mutex_unlock(&r->lock);
	return v;
}

size_t data_arrived(struct data_registry *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->arrived;
	pthread_mutex_unlock(&r->lock);
	return n;
}

int data_take(struct data_registry *r, int *fds)
{
	int rc = -EAGAIN;

	pthread_mutex_lock(&r->lock);
	if (r->slots && r->arrived == r->n) {
		for (size_t i = 0; i < r->n; i++) {
			fds[i] = r->slots[i].fd;
			r->slots[i].fd = -1;
		}
		rc = 0;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

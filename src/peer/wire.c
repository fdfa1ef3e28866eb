/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "src/core/text.h"
#include "src/core/value.h"
#include "src/peer/timing.h"

/* The iperf3 release whose parameters we send; servers print it. */
#define CLAIMED_CLIENT_VERSION "3.12"

static const char cookie_alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

int wire_random(void *out, size_t len)
{
	unsigned char *p = out;

	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int wire_make_cookie(char out[PEER_COOKIE_BYTES])
{
	unsigned char random[PEER_COOKIE_BYTES - 1];
	int rc = wire_random(random, sizeof(random));

	if (rc < 0)
		return rc;
	/* 32 letters: masking keeps them equally likely. */
	for (size_t i = 0; i < sizeof(random); i++)
		out[i] = wire_cookie_letter(random[i]);
	out[PEER_COOKIE_BYTES - 1] = '\0';
	return 0;
}

char wire_cookie_letter(unsigned int value)
{
	return cookie_alphabet[value & 31];
}

int wire_cookie_value(char letter)
{
	if (letter >= 'a' && letter <= 'z')
		return letter - 'a';
	if (letter >= '2' && letter <= '7')
		return 26 + letter - '2';
	return -1;
}

bool wire_cookie_begins(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (i < PEER_COOKIE_BYTES - 1 ? wire_cookie_value(bytes[i]) < 0 : bytes[i] != '\0')
			return false;
	}
	return len <= PEER_COOKIE_BYTES;
}

void wire_cookie_answer(const char cookie[PEER_COOKIE_BYTES], char out[PEER_COOKIE_BYTES])
{
	for (size_t i = 0; i < PEER_COOKIE_BYTES - 1; i++)
		out[i] = cookie[PEER_COOKIE_BYTES - 2 - i];
	out[PEER_COOKIE_BYTES - 1] = '\0';
}

/* An upper bound of the values in a text, without looking at its grammar. */
static size_t count_values(const char *text, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return n;
}

cJSON *wire_parse_json(const char *text, size_t len)
{
	const char *end = NULL;
	cJSON *obj;

	if (len == 0 || count_values(text, len) > WIRE_MAX_VALUES)
		return NULL;
	obj = cJSON_ParseWithLengthOpts(text, len, &end, false);
	if (!obj)
		return NULL;
	while (end < text + len && strchr(" \t\r\n", *end) && *end)
		end++;
	if (end != text + len) {
		cJSON_Delete(obj);
		return NULL;
	}
	return obj;
}

int wire_parse_parameters(const char *text, size_t len, struct wire_parameters *out)
{
	cJSON *obj = wire_parse_json(text, len), *ours;
	const char *version;
	int rc = -EINVAL;

	memset(out, 0, sizeof(*out));
	if (!cJSON_IsObject(obj))
		goto out;
	version = json_get_str(obj, "client_version", sizeof(out->client_version) - 1);
	if (version) {
		memcpy(out->client_version, version, strlen(version) + 1);
		text_make_printable(out->client_version);
	}
	ours = cJSON_GetObjectItemCaseSensitive(obj, "netdoctor");
	if (ours) {
		if (!json_get_u64(ours, "version", 1, UINT32_MAX, &out->version))
			goto out;
		out->netdoctor = true;
	}
	rc = 0;
out:
	cJSON_Delete(obj);
	return rc;
}

/* What a plain iperf3 server needs to answer at all, and the key that it skips. */
static cJSON *make_parameters(uint64_t version, const char *token)
{
	cJSON *obj = cJSON_CreateObject(), *ours;

	if (obj && cJSON_AddTrueToObject(obj, "tcp") && json_add_u64(obj, "omit", 0) &&
	    json_add_u64(obj, "time", 1) && json_add_u64(obj, "parallel", 1) &&
	    json_add_u64(obj, "len", RUN_DEFAULT_BLOCK_BYTES) &&
	    (!*token || cJSON_AddStringToObject(obj, "authtoken", token)) &&
	    cJSON_AddStringToObject(obj, "client_version", CLAIMED_CLIENT_VERSION)) {
		ours = cJSON_AddObjectToObject(obj, "netdoctor");
		if (ours && json_add_u64(ours, "version", version))
			return obj;
	}
	cJSON_Delete(obj);
	return NULL;
}

int wire_format_parameters(uint64_t version, const char *token, unsigned char **out, size_t *len)
{
	cJSON *obj = make_parameters(version, token);
	char *text = obj ? cJSON_PrintUnformatted(obj) : NULL;
	size_t n = text ? strlen(text) : 0;
	int rc = -ENOMEM;

	*out = text ? malloc(4 + n) : NULL;
	if (*out) {
		wire_put_be32(*out, (uint32_t)n);
		memcpy(*out + 4, text, n);
		*len = 4 + n;
		rc = 0;
	}
	cJSON_free(text);
	cJSON_Delete(obj);
	return rc;
}

/* The kernel's giving up is no deadline of ours. */
static int connection_error(int error)
{
	switch (error) {
	case EPIPE:
		return -ECONNRESET;
	case ETIMEDOUT:
		return -EHOSTUNREACH;
	default:
		return -error;
	}
}

/* After a short read or write: 0 when it is worth another try. */
static int wait_for(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n = poll(&p, 1, deadline_left_ms(deadline_ns));

	if (n < 0 && errno != EINTR)
		return -errno;
	return monotonic_ns() >= deadline_ns && n <= 0 ? -ETIMEDOUT : 0;
}

int wire_send(int fd, const void *buf, size_t len, uint64_t deadline_ns)
{
	const char *p = buf;

	while (len > 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		int rc;

		if (n >= 0) {
			p += n;
			len -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return connection_error(errno);
		rc = wait_for(fd, POLLOUT, deadline_ns);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int wire_receive(int fd, void *buf, size_t len, uint64_t deadline_ns)
{
	char *p = buf;

	while (len > 0) {
		ssize_t n = recv(fd, p, len, MSG_DONTWAIT);
		int rc;

		if (n == 0)
			return -ECONNRESET;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return connection_error(errno);
		rc = wait_for(fd, POLLIN, deadline_ns);
		if (rc < 0)
			return rc;
	}
	return 0;
}

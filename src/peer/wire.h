/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes before anybody is authenticated: cookie, state byte, parameters.
 * Internal to src/peer.  Everything but the two stream functions and
 * wire_random() is pure.
 *
 * The opening is iperf3's, so that either side can tell an iperf3 from a
 * netdoctor and say so; from PEER_SWITCH on it is TLS.
 */
#ifndef ND_PEER_WIRE_H
#define ND_PEER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/peer/peer.h"

/* State bytes of iperf3's control connection that the opening can meet. */
enum wire_state {
	WIRE_PARAM_EXCHANGE = 9,
	WIRE_CREATE_STREAMS = 10,
	WIRE_CLIENT_TERMINATE = 12,
	WIRE_SERVER_ERROR = 0xfe,	/* int32 iperf3 error code and int32 errno follow */
	WIRE_ACCESS_DENIED = 0xff
};

enum {
	WIRE_IPERF3_AUTH_FAILED = 142,	/* IEAUTHTEST: the code closest to "not you" */
	WIRE_MAX_VALUES = 1 << 20	/* in one message's JSON: cJSON takes 64 bytes for each */
};

static inline void wire_put_be32(unsigned char out[4], uint32_t v)
{
	out[0] = (unsigned char)(v >> 24);
	out[1] = (unsigned char)(v >> 16);
	out[2] = (unsigned char)(v >> 8);
	out[3] = (unsigned char)v;
}

static inline uint32_t wire_get_be32(const unsigned char in[4])
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

int wire_random(void *out, size_t len);		/* the kernel's source; 0 or -errno */

/* 36 random characters of a-z2-7 and a NUL.  0 or -errno. */
int wire_make_cookie(char out[PEER_COOKIE_BYTES]);
/* The alphabet: letter of a number below 32, and back (-1: not one of its letters). */
char wire_cookie_letter(unsigned int value);
int wire_cookie_value(char letter);
/* The first len bytes of what could become a cookie; true for len 0. */
bool wire_cookie_begins(const char *bytes, size_t len);
/* What a server answers to a datagram with this cookie: its letters backwards, no echo. */
void wire_cookie_answer(const char cookie[PEER_COOKIE_BYTES], char out[PEER_COOKIE_BYTES]);

/*
 * Parses exactly len bytes of JSON holding at most WIRE_MAX_VALUES values; text may hold
 * anything and need not end in NUL.  NULL: not JSON, more behind it, too many values, no memory.
 */
cJSON *wire_parse_json(const char *text, size_t len);

struct wire_parameters {
	bool netdoctor;			/* the key is there */
	uint64_t version;		/* of the netdoctor protocol */
	char client_version[32];	/* printable; "" when not given */
};
/* 0 or -EINVAL: not a JSON object, or a netdoctor key that is none. */
int wire_parse_parameters(const char *text, size_t len, struct wire_parameters *out);
/* Length and JSON as the client sends them; token "": none; the caller frees *out.  0, -ENOMEM. */
int wire_format_parameters(uint64_t version, const char *token, unsigned char **out,
			   size_t *len);

/* All of it, on any socket: 0, -ETIMEDOUT, -ECONNRESET (also on EOF) or another -errno. */
int wire_send(int fd, const void *buf, size_t len, uint64_t deadline_ns);
int wire_receive(int fd, void *buf, size_t len, uint64_t deadline_ns);

#endif

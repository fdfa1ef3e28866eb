/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/iperf3_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/peer/iperf3_wire.h"
#include "src/peer/wire.h"

void say(int fd, unsigned char state)
{
	(void)!send(fd, &state, 1, MSG_NOSIGNAL);
}

unsigned char next_state(int fd)
{
	unsigned char state = 0;

	raw_read(fd, &state, 1, PATIENCE_MS);
	return state;
}

void say_text(int fd, uint32_t announced, const char *text)
{
	unsigned char header[4];

	wire_put_be32(header, announced);
	(void)!send(fd, header, sizeof(header), MSG_NOSIGNAL);
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

void assert_error_code(int fd, uint32_t code)
{
	unsigned char codes[8] = { 0 };

	assert_int_equal(raw_read(fd, codes, sizeof(codes), PATIENCE_MS), sizeof(codes));
	assert_int_equal(wire_get_be32(codes), code);
	assert_true(raw_closed(fd, PATIENCE_MS));
}

/* One of many: the state that answers its parameters, or its cookie. */
unsigned char one_asks(struct fixture *f, char letter, const char *parameters, int *fd)
{
	char cookie[PEER_COOKIE_BYTES] = RAW_COOKIE;

	cookie[0] = letter;
	*fd = raw_connect(f->port);
	assert_int_equal(send(*fd, cookie, sizeof(cookie), MSG_NOSIGNAL), sizeof(cookie));
	assert_int_equal(next_state(*fd), IPERF3_PARAM_EXCHANGE);
	say_text(*fd, (uint32_t)strlen(parameters), parameters);
	return next_state(*fd);
}

unsigned char one_of_many(struct fixture *f, char letter, int *fd)
{
	return one_asks(f, letter, "{\"tcp\":true,\"time\":1,\"len\":1000}", fd);
}

int stream_of(struct fixture *f, char letter)
{
	char cookie[PEER_COOKIE_BYTES] = RAW_COOKIE;
	int fd = raw_connect(f->port);

	cookie[0] = letter;
	assert_int_equal(send(fd, cookie, sizeof(cookie), MSG_NOSIGNAL), sizeof(cookie));
	return fd;
}

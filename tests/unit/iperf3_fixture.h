/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain iperf3 clients, word by word. */
#ifndef ND_TESTS_UNIT_IPERF3_FIXTURE_H
#define ND_TESTS_UNIT_IPERF3_FIXTURE_H

#include "tests/unit/peer_fixture.h"

void say(int fd, unsigned char state);
unsigned char next_state(int fd);	/* 0: none came */
void say_text(int fd, uint32_t announced, const char *text);
/* What follows IPERF3_SERVER_ERROR: this code, and the end. */
void assert_error_code(int fd, uint32_t code);
/* One of many: the state that answers its parameters, or its cookie. */
unsigned char one_asks(struct fixture *f, char letter, const char *parameters, int *fd);
unsigned char one_of_many(struct fixture *f, char letter, int *fd);
int stream_of(struct fixture *f, char letter);

#endif

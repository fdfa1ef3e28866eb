/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is said to ssh and the far shell, and what their words mean.  Pure: text in, text out;
 * remote.c runs the processes.
 */
#ifndef ND_CLI_REMOTE_WORDS_H
#define ND_CLI_REMOTE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/error.h"
#include "src/core/text.h"

#define REMOTE_SCHEME "ssh://"

enum {
	REMOTE_MAX_NAME = 255,	/* bytes of a host or user */
	REMOTE_MAX_NOISE = 65536	/* bytes that a login may say before netdoctor does */
};

/* ssh://[user@]host[:port]; port 0 and an empty user: what ssh's configuration says. */
struct remote_address {
	char user[REMOTE_MAX_NAME + 1], host[REMOTE_MAX_NAME + 1];
	uint16_t port;
};

bool remote_is_meant(const char *peer);		/* begins with ssh:// */
/* 0, or -EINVAL with the reason; nothing that ssh could take for an option passes. */
int remote_parse_address(const char *peer, struct remote_address *out, struct error *err);

/* Names a program that the far shell will find: not empty, no option, nothing unprintable. */
bool remote_command_makes_sense(const char *command);
/* The line for the far shell; port 0: any free one. */
void remote_add_command(struct text *t, const char *command, uint16_t port);

/* The port of serve's line "Listening on ..."; false: another line. */
bool remote_read_listening(const char *line, uint16_t *port);
/* The name that ssh connects to, of what `ssh -G` prints; false: not there, or nonsense. */
bool remote_read_hostname(const char *config, char *host, size_t cap);

/*
 * Why ssh ended with that wait status before netdoctor listened there: one line, negative errno.
 * last: its last line on standard error, "" for none; it came from the other machine.
 */
int remote_explain_end(const struct remote_address *a, const char *command, int status,
		       const char *last, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remote peer: a netdoctor server on another machine for the time of one
 * command, started over the ssh client.
 *
 * ssh carries the key, which is new each time, on the far server's standard input, and that is
 * also what holds the server: when it closes, even by our death, the server ends.  The session and
 * all traffic go straight to the far host, since ssh would be what is measured.
 */
#ifndef ND_CLI_REMOTE_H
#define ND_CLI_REMOTE_H

#include "src/cli/peer_options.h"

struct remote;

/*
 * Starts the server; target tells how to reach it (its strings belong to the remote peer, but for
 * s->bind).  Call from the main thread, whose end ends ssh, and before the terminal is a screen:
 * ssh may ask for a password.  0 or -errno with one line; -EINVAL: wrong usage.
 */
int remote_start(struct remote **out, const struct peer_settings *s, const char *peer,
		 struct peer_target *target, struct error *err);
/* Ends the server and ssh, and waits for ssh.  NULL is fine. */
void remote_stop(struct remote *r);

#endif

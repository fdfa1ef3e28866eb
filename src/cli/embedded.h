/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Embedded peer: a netdoctor server on this machine for `diagnose` without a
 * PEER and for `demo`.
 *
 * As root the server lives in a private network namespace joined to another,
 * in which we then live ourselves, by a veth pair.  Neither namespace has a name:
 * both, and the veth, go with the last process in them, however it ends.
 * Otherwise the server listens on loopback.
 */
#ifndef ND_CLI_EMBEDDED_H
#define ND_CLI_EMBEDDED_H

#include <stdbool.h>

#include "src/peer/peer.h"

struct embedded;

/*
 * Starts the server process; target tells how to reach it (strings are owned by the
 * embedded peer).  Call before any other thread is made: as root it moves this process
 * into the new namespace; and after stop_hold(), so that a Ctrl-C meanwhile is not silent.
 * 0 or -errno.
 */
int embedded_start(struct embedded **out, struct peer_target *target, struct error *err);
bool embedded_has_veth(const struct embedded *e);
/* Names of the pair's ends, ours first; NULL without a veth. */
const char *embedded_link(const struct embedded *e, bool far_end);
/*
 * Segmentation and receive offloads (TSO, GSO, GRO) of both ends of our own veth, on or
 * off.  0 or -errno; -ENOTSUP without a veth.
 */
int embedded_set_offloads(struct embedded *e, bool on, struct error *err);
/* Ends the server and waits for it.  NULL is fine. */
void embedded_stop(struct embedded *e);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owner: whoever holds the other end of our standard input.  When that closes,
 * however its holder ended, a server that was started for one is not wanted any more.
 */
#ifndef ND_CLI_OWNER_H
#define ND_CLI_OWNER_H

#include "src/cli/stop.h"

/*
 * A connection that is cut off without a word leaves our input open for hours: without a client for
 * that long the owner counts as gone.
 */
enum { OWNER_IDLE_MS = 10 * 60 * 1000 };

struct owner;

/* Waits in a thread that lives as long as the process, as *o does, and then asks to stop.  NULL:
 * failed. */
struct owner *owner_watch(struct stop *stop);
void owner_client_came(struct owner *o);
void owner_client_went(struct owner *o);

#endif

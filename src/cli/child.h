/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Child: another program at the other end of pipes. */
#ifndef ND_CLI_CHILD_H
#define ND_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct child { pid_t pid; int in, out, err; };	/* our ends of its standard streams; -1: closed */

/*
 * Runs argv[0], found by PATH.  The child shares our terminal, and is told by SIGTERM when this
 * thread ends; Ctrl-C and a hang-up are ours to pass on.  0 or -errno (of execvp() too).
 */
int child_start(struct child *c, char *const argv[]);
/* True when it has ended within that time and was waited for: *status. */
bool child_ends_within(struct child *c, int ms, int *status);
/* Closes its input and gives it a moment; then ends it in any case.  The child is waited for. */
void child_end(struct child *c);
/* Closes our ends of its output, too. */
void child_close(struct child *c);

/* Lines out of bytes that come in pieces; what is longer than a line should be is cut. */
struct lines { char line[400]; size_t len; size_t total; };

/* The next complete line of the bytes, which *used of are then done with; NULL: no more. */
const char *lines_next(struct lines *l, const char *bytes, size_t n, size_t *used);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stop: Ctrl-C, SIGTERM, SIGHUP, but those that were ignored from the start.  As
 * long as there is nothing to lose they end the process at once.  After
 * stop_gracefully() the first asks the command to end and report what it has; the
 * second ends the process.
 */
#ifndef ND_CLI_STOP_H
#define ND_CLI_STOP_H

#include <stdbool.h>

struct stop;

/*
 * Holds the signals back in this thread until stop_watch(), which then knows of those that came:
 * for what must be done before there may be another thread.  stop_release() is for its children.
 */
void stop_hold(void);
void stop_release(void);

/* Blocks the signals in this thread and all started later, and begins to wait for them.  NULL:
 * failed. */
struct stop *stop_watch(void);
void stop_gracefully(struct stop *s);
/* As the first signal does after stop_gracefully(), without one.  Any thread. */
void stop_ask(struct stop *s);
bool stop_asked(const struct stop *s);
int stop_fd(const struct stop *s);	/* readable once asked */
/* The signal that asked, 0: none has. */
int stop_signal(const struct stop *s);

#endif

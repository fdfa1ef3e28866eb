/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Serve screen: a server with the screen in the main thread.  Without one (not wanted, or no
 * terminal for it) all calls are fine and do nothing.
 */
#ifndef ND_CLI_SERVE_SCREEN_H
#define ND_CLI_SERVE_SCREEN_H

#include "src/cli/stop.h"
#include "src/exam/service.h"

struct serve_screen;

/* Before exam_service_callbacks().  NULL: there is no screen. */
struct serve_screen *serve_screen_new(struct exam_service *service);
/* Once the server is closed. */
void serve_screen_free(struct serve_screen *s);
/* False: no screen, complained why; lines instead. */
bool serve_screen_open(struct serve_screen *s);
/*
 * Serves in a thread until the user leaves or the server has ended, whichever is first; then the
 * terminal is given back and the server asked to stop.  As peer_server_run() otherwise.
 */
int serve_screen_run(struct serve_screen *s, struct peer_server *server, struct stop *stop,
		     const char *invitation, struct error *err);
/* An event of the server, from any thread.  False: the screen is not there (any more). */
bool serve_screen_event(struct serve_screen *s, enum peer_event event, const char *line);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Screen: a command's work in a thread of its own while the user watches.  Opened before other
 * threads are started.
 */
#ifndef ND_CLI_SCREEN_H
#define ND_CLI_SCREEN_H

#include "src/cli/output.h"
#include "src/cli/stop.h"
#include "src/exam/conduct.h"
#include "ui/stage.h"

struct screen;

#define PLAIN_OPTION(type_) \
	{ .name = "plain", .kind = OPTION_FLAG, .offset = offsetof(type_, plain), \
	  .help = "text instead of the screen, on a terminal too" }

enum screen_wish {
	SCREEN_UNWANTED,
	SCREEN_USUAL,		/* where there is a terminal for it */
	SCREEN_ASKED		/* by an option of its own */
};
/*
 * The terminal as a screen; NULL when it is not to be used (unwanted, a report for it that is not
 * text) or cannot be, which one line on standard error says then.  The usual wish is silent where
 * neither output is a terminal: in a pipe or a job nobody expects a screen.
 */
struct screen *screen_open(const struct output_settings *output, enum screen_wish wish);
/* Gives the terminal back.  NULL is fine. */
void screen_close(struct screen *s);

/*
 * Conducts while the user watches, and until the user leaves; leaving before the end cancels.
 * The terminal is given back when it returns.  peer: as the user wrote it, NULL: an embedded one.
 * 0, or a complaint's exit code.
 */
int screen_examine(struct screen *s, enum scene_mode mode, const struct conduct_options *o,
		   struct stop *stop, const char *peer, struct exam **exam);
/*
 * Shows what the stage gets until the user leaves or is asked to stop, then gives the terminal
 * back.  begun_s: loop_seconds_now() when its clock began.
 */
void screen_serve(struct screen *s, struct stop *stop, struct stage *stage, double begun_s,
		  const char *invitation);
/* One line on an empty screen, until there is more. */
void screen_say(const struct screen *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Shows what was recorded until the user leaves.  created_ns: when, for reports that are written
 * from there.  0 or a complaint's exit code.
 */
int screen_replay(struct screen *s, struct stop *stop, const char *file, const struct exam *e,
		  const struct diagnosis *d, uint64_t created_ns);

#endif

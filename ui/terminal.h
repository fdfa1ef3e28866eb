/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Terminal: shows canvases, reads keys, and always gives the terminal back.  The one file behind
 * it is the only one that knows curses.  One terminal, one thread; opened
 * before other threads are started, for they must not get its signals (SIGWINCH, SIGTSTP).
 */
#ifndef ND_UI_TERMINAL_H
#define ND_UI_TERMINAL_H

#include "src/core/error.h"
#include "ui/canvas.h"
#include "ui/key.h"

struct terminal;
struct terminal_options { bool no_colour; };

/* Why standard input and output are no terminal for a screen; NULL: they are. */
const char *terminal_unfit(void);
/* 0 or -errno with a one-line error; the terminal is then as it was. */
int terminal_open(const struct terminal_options *o, struct terminal **out, struct error *err);
void terminal_close(struct terminal *t);	/* NULL is fine */

void terminal_size(const struct terminal *t, unsigned int *columns, unsigned int *rows);
/* Writes the cells that differ from what is shown.  0 or -ENOMEM. */
int terminal_show(struct terminal *t, const struct canvas *c);

enum terminal_event { TERMINAL_TIMEOUT, TERMINAL_KEYS, TERMINAL_RESIZED, TERMINAL_WOKEN,
		      TERMINAL_GONE };
/*
 * Waits for keys, a new size, one of the fds to become readable, or the time (ms; < 0: none).
 * Stops the process when the user suspends it, and goes on here (as TERMINAL_RESIZED).
 */
enum terminal_event terminal_wait(struct terminal *t, const int *fds, size_t n, int timeout_ms);
/* The next key that was pressed; UI_KEY_NONE: no more. */
uint32_t terminal_key(struct terminal *t);
/* Whether clicks and the wheel are keys for us: then the terminal selects no text with them. */
void terminal_mouse(struct terminal *t, bool on);
/* Where the last UI_KEY_CLICK was. */
void terminal_clicked(const struct terminal *t, unsigned int *x, unsigned int *y);
/* To the clipboard, by OSC 52: not all terminals let us.  0 or -errno. */
int terminal_copy(struct terminal *t, const char *text);

#endif

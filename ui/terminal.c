/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "ui/crash.h"
#include "ui/palette.h"

enum { MAX_WAKE_FDS = 4, MAX_COPY_BYTES = 48 * 1024, ESCAPE_MS = 25, CTRL_L = 0x0c,
       ESCAPE = 0x1b };

struct terminal {
	SCREEN *screen;
	int signals;			/* signalfd */
	sigset_t mask_before;
	struct termios modes;		/* before us */
	enum palette_depth depth;
	bool mouse;
	unsigned int click_x, click_y;
	struct canvas shown;		/* what is on the terminal; columns 0: nothing known */
};

const char *terminal_unfit(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO))
		return "standard input is no terminal";
	if (!isatty(STDOUT_FILENO))
		return "standard output is no terminal";
	if (!term || !*term)
		return "TERM is not set";
	if (!strcmp(term, "dumb") || !strcmp(term, "unknown"))
		return "the terminal is dumb (TERM)";
	return NULL;
}

static void add_capability(char *to, size_t *n, const char *name)
{
	const char *s = tigetstr(name);
	size_t len = s && s != (const char *)-1 ? strlen(s) : 0;
	bool fits = *n + len < CRASH_MAX_BYTES;

	for (size_t i = 0; fits && i < len; i++)
		to[(*n)++] = s[i];
}

static bool has_capability(const char *name)
{
	const char *s = tigetstr(name);

	return s && s != (const char *)-1 && *s;
}

static const char mouse_off[] = "\033[?1006;1000l";

/* What endwin() would write, for when nothing may be called any more. */
static void guard(const struct terminal *t)
{
	char bytes[CRASH_MAX_BYTES];
	size_t n = 0;

	add_capability(bytes, &n, "sgr0");
	add_capability(bytes, &n, "rmcup");
	add_capability(bytes, &n, "cnorm");
	add_capability(bytes, &n, "rmkx");
	if (t->mouse && n + sizeof(mouse_off) - 1 < sizeof(bytes)) {
		memcpy(bytes + n, mouse_off, sizeof(mouse_off) - 1);
		n += sizeof(mouse_off) - 1;
	}
	crash_guard(STDOUT_FILENO, bytes, n, &t->modes);
}

static void choose_colours(struct terminal *t, const struct terminal_options *o)
{
	const char *no_colour = getenv("NO_COLOR");

	t->depth = PALETTE_NONE;
	if (o->no_colour || (no_colour && *no_colour) || !has_colors() || start_color() == ERR ||
	    use_default_colors() == ERR)
		return;
	t->depth = COLORS >= 256 ? PALETTE_256 : COLORS >= 16 ? PALETTE_16
		   : COLORS >= 8 ? PALETTE_8 : PALETTE_NONE;
	for (int ink = 0; ink < INKS && t->depth != PALETTE_NONE; ink++) {
		struct look look = palette_look(t->depth, (enum ink)ink);
		if (look.colour >= 0)
			init_pair((short)(ink + 1), look.colour, -1);
	}
}

/* A shell without job control, and nohup's kin, ignore it on purpose. */
static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

static int watch_signals(struct terminal *t)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	if (!is_ignored(SIGTSTP))
		sigaddset(&set, SIGTSTP);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (t->signals < 0)
		return -errno;
	pthread_sigmask(SIG_BLOCK, &set, &t->mask_before);
	return 0;
}

int terminal_open(const struct terminal_options *o, struct terminal **out, struct error *err)
{
	const char *unfit = terminal_unfit();
	struct terminal *t = calloc(1, sizeof(*t));

	if (!t || unfit) {
		free(t);
		return error_set(err, unfit ? ENOTTY : ENOMEM, "%s", unfit ? unfit : "no memory");
	}
	if (tcgetattr(STDOUT_FILENO, &t->modes) || watch_signals(t)) {
		int rc = error_set(err, errno, "cannot watch the terminal: %s", strerror(errno));
		free(t);
		return rc;
	}
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen || !tigetstr("cup")) {
		if (t->screen) {
			endwin();
			delscreen(t->screen);
		}
		pthread_sigmask(SIG_SETMASK, &t->mask_before, NULL);
		close(t->signals);
		free(t);
		return error_set(err, ENOTTY, "this kind of terminal is not known here (TERM)");
	}
	guard(t);
	set_escdelay(ESCAPE_MS);
	/* Not raw: Ctrl-C and Ctrl-Z stay signals. */
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	scrollok(stdscr, FALSE);
	leaveok(stdscr, TRUE);
	curs_set(0);
	choose_colours(t, o);
	*out = t;
	return 0;
}

void terminal_close(struct terminal *t)
{
	if (!t)
		return;
	terminal_mouse(t, false);
	/* Where no other screen comes back the shell writes into the last row. */
	if (!has_capability("rmcup")) {
		move(LINES - 1, 0);
		clrtoeol();
		refresh();
	}
	curs_set(1);
	endwin();
	crash_unguard();
	/* Ours to the last bit, whatever curses made of it. */
	tcsetattr(STDOUT_FILENO, TCSADRAIN, &t->modes);
	delscreen(t->screen);
	pthread_sigmask(SIG_SETMASK, &t->mask_before, NULL);
	close(t->signals);
	canvas_free(&t->shown);
	free(t);
}

void terminal_size(const struct terminal *t, unsigned int *columns, unsigned int *rows)
{
	int y = getmaxy(stdscr), x = getmaxx(stdscr);

	(void)t;
	*columns = x > 0 ? (unsigned int)x : 0;
	*rows = y > 0 ? (unsigned int)y : 0;
}

static void put_cell(const struct terminal *t, unsigned int x, unsigned int y, struct cell cell)
{
	struct look look = palette_look(t->depth, (enum ink)cell.ink);
	wchar_t text[2] = { (wchar_t)cell.c, 0 };
	attr_t attributes = A_NORMAL;
	cchar_t out;

	if (look.attributes & LOOK_BOLD)
		attributes |= A_BOLD;
	if (look.attributes & LOOK_DIM)
		attributes |= A_DIM;
	if (look.attributes & LOOK_UNDERLINE)
		attributes |= A_UNDERLINE;
	if (cell.marks & CELL_SELECTED)
		attributes |= A_REVERSE;
	if (setcchar(&out, text, attributes, (short)(look.colour >= 0 ? cell.ink + 1 : 0), NULL) ==
	    OK)
		mvadd_wch((int)y, (int)x, &out);
}

int terminal_show(struct terminal *t, const struct canvas *c)
{
	bool all = t->shown.columns != c->columns || t->shown.rows != c->rows;

	if (all) {
		canvas_free(&t->shown);
		if (canvas_init(&t->shown, c->columns, c->rows, c->utf8))
			return -ENOMEM;
		erase();
	}
	for (unsigned int y = 0; y < c->rows; y++)
		for (unsigned int x = 0; x < c->columns; x++) {
			const struct cell *cell = canvas_at(c, x, y);
			struct cell *old = &t->shown.cells[(size_t)y * c->columns + x];
			if (!all && old->c == cell->c && old->ink == cell->ink &&
			    old->marks == cell->marks)
				continue;
			*old = *cell;
			if (!(cell->marks & CELL_TAIL))
				put_cell(t, x, y, *cell);
		}
	refresh();
	return 0;
}

static void forget_shown(struct terminal *t)
{
	canvas_free(&t->shown);
	clearok(stdscr, TRUE);
}

static void take_size(struct terminal *t)
{
	struct winsize ws;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col)
		resizeterm(ws.ws_row, ws.ws_col);
	forget_shown(t);
}

/* Ctrl-Z: the shell gets its terminal, and we ours when it is our turn again. */
static void suspend(struct terminal *t)
{
	def_prog_mode();
	curs_set(1);
	endwin();
	tcsetattr(STDOUT_FILENO, TCSADRAIN, &t->modes);
	kill(getpid(), SIGSTOP);
	reset_prog_mode();
	curs_set(0);
	guard(t);
	take_size(t);
}

static bool take_signals(struct terminal *t)
{
	struct signalfd_siginfo info;
	bool stop = false, any = false;

	while (read(t->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		any = true;
		stop |= info.ssi_signo == SIGTSTP;
	}
	if (stop)
		suspend(t);
	else if (any)
		take_size(t);
	return any;
}

enum terminal_event terminal_wait(struct terminal *t, const int *fds, size_t n, int timeout_ms)
{
	struct pollfd p[2 + MAX_WAKE_FDS] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = t->signals, .events = POLLIN },
	};

	if (n > MAX_WAKE_FDS)
		n = MAX_WAKE_FDS;
	for (size_t i = 0; i < n; i++)
		p[2 + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (poll(p, (nfds_t)(2 + n), timeout_ms) < 0)
		return errno == EINTR ? TERMINAL_TIMEOUT : TERMINAL_GONE;
	if (p[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		return TERMINAL_GONE;
	if (p[1].revents && take_signals(t))
		return TERMINAL_RESIZED;
	if (p[0].revents)
		return TERMINAL_KEYS;
	for (size_t i = 0; i < n; i++)
		if (p[2 + i].revents)
			return TERMINAL_WOKEN;
	return TERMINAL_TIMEOUT;
}

static const struct { int from; uint32_t to; } special[] = {
	{ KEY_UP, UI_KEY_UP }, { KEY_DOWN, UI_KEY_DOWN }, { KEY_LEFT, UI_KEY_LEFT },
	{ KEY_RIGHT, UI_KEY_RIGHT }, { KEY_PPAGE, UI_KEY_PAGE_UP },
	{ KEY_NPAGE, UI_KEY_PAGE_DOWN }, { KEY_HOME, UI_KEY_HOME },
	{ KEY_END, UI_KEY_END }, { KEY_BTAB, UI_KEY_BACK_TAB },
	{ KEY_BACKSPACE, UI_KEY_BACKSPACE }, { KEY_ENTER, UI_KEY_ENTER },
};

void terminal_mouse(struct terminal *t, bool on)
{
	if (t->mouse == on)
		return;
	t->mouse = on;
	mouseinterval(0);
	mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
	guard(t);
}

void terminal_clicked(const struct terminal *t, unsigned int *x, unsigned int *y)
{
	*x = t->click_x;
	*y = t->click_y;
}

static uint32_t mouse_key(struct terminal *t)
{
	MEVENT e;

	if (getmouse(&e) == ERR || e.x < 0 || e.y < 0)
		return UI_KEY_NONE;
	if (e.bstate & BUTTON4_PRESSED)
		return UI_KEY_UP;
	if (e.bstate & BUTTON5_PRESSED)
		return UI_KEY_DOWN;
	if (!(e.bstate & BUTTON1_PRESSED))
		return UI_KEY_NONE;
	t->click_x = (unsigned int)e.x;
	t->click_y = (unsigned int)e.y;
	return UI_KEY_CLICK;
}

/* What follows an ESC at once is a key that curses does not know: none of its bytes is one. */
static uint32_t after_escape(void)
{
	int c = getch();

	if (c == ERR)
		return UI_KEY_ESCAPE;
	if (c == '[' || c == 'O')
		/* Parameters, up to the final byte (ECMA-48). */
		do
			c = getch();
		while (c != ERR && (c < 0x40 || c > 0x7e));
	return UI_KEY_NONE;
}

static uint32_t plain_key(struct terminal *t, int c)
{
	switch (c) {
	case CTRL_L:
		forget_shown(t);
		return UI_KEY_NONE;
	case ESCAPE:
		return after_escape();
	case '\n':
		return UI_KEY_ENTER;
	case 0x7f:
	case '\b':
		return UI_KEY_BACKSPACE;
	default:
		return c > 0 && c < 0x80 ? (uint32_t)c : UI_KEY_NONE;
	}
}

/*
 * Bytes, not characters: no key is beyond ASCII, and what is no character (half of one, another
 * encoding) makes get_wch() fail as if there were no more keys, so that those behind it would wait.
 */
uint32_t terminal_key(struct terminal *t)
{
	for (int c; (c = getch()) != ERR;) {
		uint32_t key = UI_KEY_NONE;
		if (c == KEY_MOUSE)
			key = mouse_key(t);
		else if (c < KEY_MIN)
			key = plain_key(t, c);
		for (size_t i = 0; c >= KEY_MIN && i < sizeof(special) / sizeof(special[0]); i++)
			if (special[i].from == c)
				key = special[i].to;
		if (key != UI_KEY_NONE)
			return key;
	}
	return UI_KEY_NONE;
}

static void base64(const unsigned char *in, size_t n, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)in[i] << 16;
		v |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
		v |= i + 2 < n ? in[i + 2] : 0;
		*out++ = digits[v >> 18 & 63];
		*out++ = digits[v >> 12 & 63];
		*out++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
		*out++ = i + 2 < n ? digits[v & 63] : '=';
	}
	*out = '\0';
}

static int write_all(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t done = write(fd, s, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -EIO;
		s += done;
		n -= (size_t)done;
	}
	return 0;
}

int terminal_copy(struct terminal *t, const char *text)
{
	static const char begin[] = "\033]52;c;", end[] = "\a";
	size_t n = strlen(text), len = sizeof(begin) - 1;
	char *out;

	(void)t;
	if (n > MAX_COPY_BYTES)
		return -E2BIG;
	out = malloc(sizeof(begin) + (n + 2) / 3 * 4 + sizeof(end));
	if (!out)
		return -ENOMEM;
	memcpy(out, begin, len);
	base64((const unsigned char *)text, n, out + len);
	len += (n + 2) / 3 * 4;
	memcpy(out + len, end, sizeof(end));
	/* Curses keeps nothing back between two refreshes. */
	int rc = write_all(STDOUT_FILENO, out, len + sizeof(end) - 1);
	free(out);
	return rc;
}

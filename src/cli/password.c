/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/password.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "src/cli/options.h"

/* A line from a terminal; false: none came, or it is too long. */
static bool read_line(int tty, char *out, size_t cap)
{
	size_t n = 0;
	char c;

	while (read(tty, &c, 1) == 1) {
		if (c == '\n') {
			out[n] = '\0';
			return true;
		}
		if (n + 1 == cap)
			return false;
		out[n++] = c;
	}
	return false;
}

static int ask(const char *prompt, char *out, size_t cap)
{
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios shown, hidden;
	bool ok = false;

	if (tty >= 0 && tcgetattr(tty, &shown) == 0) {
		hidden = shown;
		hidden.c_lflag &= ~(tcflag_t)ECHO;
		if (write(tty, prompt, strlen(prompt)) > 0 &&
		    tcsetattr(tty, TCSAFLUSH, &hidden) == 0) {
			ok = read_line(tty, out, cap);
			tcsetattr(tty, TCSAFLUSH, &shown);
			ok = write(tty, "\n", 1) == 1 && ok;
		}
	}
	if (tty >= 0)
		close(tty);
	return ok ? 0 : -1;
}

int password_get(const char *variable, const char *prompt, char *out, size_t cap)
{
	const char *given = getenv(variable);

	if (given && strlen(given) < cap) {
		memcpy(out, given, strlen(given) + 1);
		return 0;
	}
	if (given)
		return complain(-1, "%s: too long for a password", variable);
	if (ask(prompt, out, cap) == 0)
		return 0;
	return complain(-1, "no password: set %s, or run on a terminal to be asked", variable);
}

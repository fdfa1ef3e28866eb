/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Passwords: from the environment or the terminal, never from the command line. */
#ifndef ND_CLI_PASSWORD_H
#define ND_CLI_PASSWORD_H

#include <stddef.h>

/*
 * The value of the variable, else what is typed behind the prompt, without echo.  0, or -1 after a
 * complaint.
 */
int password_get(const char *variable, const char *prompt, char *out, size_t cap);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands; each is one const struct in its own file. */
#ifndef ND_CLI_COMMANDS_H
#define ND_CLI_COMMANDS_H

#include "src/cli/options.h"

extern const struct command command_diagnose, command_serve, command_check, command_explain,
	command_demo, command_show, command_test;

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/commands.h"

#include "src/core/value.h"

const struct command *const commands_table[] = {
	&command_diagnose,
	&command_test,
	&command_serve,
	&command_show,
	&command_check,
	&command_explain,
	&command_demo,
};
const size_t commands_count = ARRAY_SIZE(commands_table);

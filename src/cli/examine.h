/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Examine: conduct an exam with progress on the terminal and Ctrl-C understood. */
#ifndef ND_CLI_EXAMINE_H
#define ND_CLI_EXAMINE_H

#include "src/cli/output.h"
#include "src/cli/stop.h"
#include "src/exam/conduct.h"

/* Conducts; progress on stderr when that is a terminal and not quiet.  0, or a complaint's exit
 * code. */
int examine(const struct conduct_options *o, struct stop *stop, bool quiet,
	    struct exam **exam);
/* Diagnoses, writes the report, frees the exam; the diagnosis' exit code. */
int examine_report(struct exam *e, const struct output_settings *output);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress on a terminal: one line on standard error that is rewritten. */
#ifndef ND_CLI_PROGRESS_LINE_H
#define ND_CLI_PROGRESS_LINE_H

#include "src/exam/conduct.h"
#include "src/report/report.h"

struct progress_line {
	bool shown;			/* a terminal, and the user did not say -q */
	const char *peer;		/* as the user wrote it, NULL: embedded */
	struct report_options options;	/* what the terminal can show */
};

void progress_line_show(const struct progress_line *line, const struct exam_progress *p);
/* Clears the line, so that what follows starts at the margin. */
void progress_line_end(const struct progress_line *line);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress on a terminal: facts as soon as they are there, then one line that is rewritten. */
#ifndef ND_CLI_PROGRESS_LINE_H
#define ND_CLI_PROGRESS_LINE_H

#include "src/exam/conduct.h"

struct progress_line { bool shown; bool open; };

void progress_line_show(struct progress_line *line, const struct exam_progress *p);
/* Clears the line, so that what follows starts at the margin. */
void progress_line_end(struct progress_line *line);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/examine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/options.h"
#include "src/cli/progress_line.h"

struct watcher { struct stop *stop; const struct progress_line *line; };

static bool cancelled(void *state)
{
	const struct watcher *w = state;

	return stop_asked(w->stop);
}

/* What is known within the first second, while the runs still take their time. */
static void show_first_look(const struct progress_line *line, const struct exam *e)
{
	struct diagnosis *d = NULL;
	struct text t = TEXT_INIT;

	progress_line_end(line);
	if (!diagnose(e, &d) && !report_first_look(e, d, &line->options, &t) && !t.failed && t.data)
		fprintf(stderr, "%s", t.data);
	text_free(&t);
	diagnosis_free(d);
}

static void progress(void *state, const struct exam_progress *p)
{
	const struct watcher *w = state;

	/* From now on there is something to report. */
	if (p->phase == EXAM_RUN_GOES_ON)
		stop_gracefully(w->stop);
	if (p->phase == EXAM_FACTS_READ && w->line->shown)
		show_first_look(w->line, p->exam);
	progress_line_show(w->line, p);
}

static void remark(void *state, const char *text)
{
	const struct watcher *w = state;

	progress_line_end(w->line);
	complain(0, "%s", text);
}

int examine(const struct conduct_options *options, struct stop *stop, bool quiet,
	    struct exam **exam)
{
	struct progress_line line = { .shown = !quiet && isatty(STDERR_FILENO),
				      .options = output_terminal_options(STDERR_FILENO) };
	struct watcher w = { .stop = stop, .line = &line };
	struct conduct_options o = *options;
	struct error err = { "" };

	o.state = &w;
	o.progress = progress;
	o.cancelled = cancelled;
	o.remark = remark;
	int rc = exam_conduct(&o, exam, &err);
	progress_line_end(&line);
	if (rc)
		return complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	if ((*exam)->problem.k == ND_KNOWN)
		complain(0, "%s", (*exam)->problem.v);
	return 0;
}

int examine_report(struct exam *e, const struct output_settings *output)
{
	struct diagnosis *d = NULL;
	int rc = diagnose(e, &d);

	if (rc)
		rc = complain(EXIT_COULD_NOT_TELL, "cannot diagnose: %s", strerror(-rc));
	else
		rc = output_report(output, report_writers, e, d);
	if (!rc)
		rc = diagnosis_exit_code(d);
	diagnosis_free(d);
	exam_free(e);
	return rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports: an exam and its diagnosis as text, Markdown or HTML for people, JSON for programs.
 *
 * Pure: nothing here reads a clock, a terminal or the environment.  Names,
 * subjects and commands come from machines and peers and are escaped.  All
 * functions append to `out` and return 0 or -ENOMEM.
 */
#ifndef ND_REPORT_REPORT_H
#define ND_REPORT_REPORT_H

#include "src/core/error.h"
#include "src/core/json.h"
#include "src/core/text.h"
#include "src/diagnose/diagnosis.h"

#define REPORT_SCHEMA "netdoctor-report/1"

struct report_options {
	unsigned int width;	/* columns; 0: 80 */
	bool colour;		/* ANSI colours; never the only carrier of a meaning */
	bool utf8;		/* else ASCII */
	bool verbose;		/* inputs of ceilings, reasons for what was ruled out, references */
	bool redacted;		/* the exam was scrubbed: say so */
	uint64_t created_ns;	/* wall clock, since the epoch */
	const char *tool_version;
};

/* Top down: verdict, ladder, findings, plan, what was ruled out, what could not be seen. */
int report_text(const struct exam *e, const struct diagnosis *d, const struct report_options *o,
		struct text *out);

/* The same to be pasted into a ticket, and as one file for a browser; always in UTF-8. */
int report_markdown(const struct exam *e, const struct diagnosis *d,
		    const struct report_options *o, struct text *out);
int report_html(const struct exam *e, const struct diagnosis *d, const struct report_options *o,
		struct text *out);

/* Before any traffic: who is examined, and what their settings alone show, a line each. */
int report_first_look(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o, struct text *out);

/* As docs/schema/netdoctor-report-1.schema.json; also for `check`, then without runs. */
int report_json(const struct exam *e, const struct diagnosis *d, const struct report_options *o,
		struct text *out);
/* The same as an object that the caller deletes; NULL: no memory. */
cJSON *report_to_json(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o);

/*
 * The exam of a JSON report, to diagnose again, and when that was created, to be told again; 0
 * when it does not say.  created_ns may be NULL.  0, -EINVAL, -E2BIG, -ENOMEM.
 */
int report_read_json(const char *json, size_t len, struct exam **out, uint64_t *created_ns,
		     struct error *err);

/* One host, static rules: a checklist and what the host is (diagnose_static). */
int report_check_text(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o, struct text *out);
int report_check_markdown(const struct exam *e, const struct diagnosis *d,
			  const struct report_options *o, struct text *out);
int report_check_html(const struct exam *e, const struct diagnosis *d,
		      const struct report_options *o, struct text *out);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output: where and how a report is written. */
#ifndef ND_CLI_OUTPUT_H
#define ND_CLI_OUTPUT_H

#include "src/report/report.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_MARKDOWN, REPORT_HTML, REPORT_FORMATS };
extern const char *const report_format_names[];	/* for OPTION_CHOICE */

struct output_settings {
	unsigned int format;
	const char *file;	/* NULL: standard output */
	uint64_t created_ns;	/* of the report that is told again; 0: now */
	bool verbose, no_colour, ascii;
};

/* Option rows every reporting command shares; type_ has a member `output`. */
#define OUTPUT_OPTIONS(type_) \
	{ .name = "report", .kind = OPTION_CHOICE, .offset = offsetof(type_, output.format), \
	  .argument = "FORMAT", .help = "text (default), json, markdown or html", \
	  .choices = report_format_names }, \
	{ .letter = 'o', .name = "output", .kind = OPTION_TEXT, \
	  .offset = offsetof(type_, output.file), .argument = "FILE", \
	  .help = "write the report to FILE" }, \
	{ .letter = 'v', .name = "verbose", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, output.verbose), \
	  .help = "show inputs of ceilings, reasons and references" }, \
	{ .name = "no-color", .kind = OPTION_FLAG, .offset = offsetof(type_, output.no_colour), \
	  .help = "no colours (also: NO_COLOR in the environment)" }, \
	{ .name = "ascii", .kind = OPTION_FLAG, .offset = offsetof(type_, output.ascii), \
	  .help = "ASCII only (default by locale)" }

typedef int (*report_writer)(const struct exam *, const struct diagnosis *,
			     const struct report_options *, struct text *);
/* Of an exam, and of a check, in each format. */
extern const report_writer report_writers[REPORT_FORMATS], check_writers[REPORT_FORMATS];

/*
 * Before work that takes long: can the report be written to the file?  0, or a complaint's exit
 * code.  Changes nothing.
 */
int output_check(const struct output_settings *s);
/* Writes the report by the writer of the format.  0, or a complaint's exit code. */
int output_report(const struct output_settings *s, const report_writer writers[REPORT_FORMATS],
		  const struct exam *e, const struct diagnosis *d);
/*
 * Writes a report as s says, but to a file that must not exist yet, without a word, and in the
 * format that its name ends in: ".json", ".md", ".html", else text.  0 or -errno with the reason.
 */
int output_new_file(const struct output_settings *s, const char *file, const struct exam *e,
		    const struct diagnosis *d, struct error *err);
/* What standard output (or the file) can show. */
struct report_options output_options(const struct output_settings *s);
/* What the terminal behind fd can show, for progress. */
struct report_options output_terminal_options(int fd);
/* All of t to standard output; 0 or an exit code. */
int output_text(const struct text *t);

#endif

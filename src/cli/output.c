/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/output.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/cli/options.h"

const char *const report_format_names[] = {
	[REPORT_TEXT] = "text",
	[REPORT_JSON] = "json",
	[REPORT_MARKDOWN] = "markdown",
	[REPORT_HTML] = "html",
	[REPORT_FORMATS] = NULL,
};

const report_writer report_writers[REPORT_FORMATS] = {
	[REPORT_TEXT] = report_text,
	[REPORT_JSON] = report_json,
	[REPORT_MARKDOWN] = report_markdown,
	[REPORT_HTML] = report_html,
};

const report_writer check_writers[REPORT_FORMATS] = {
	[REPORT_TEXT] = report_check_text,
	[REPORT_JSON] = report_json,
	[REPORT_MARKDOWN] = report_check_markdown,
	[REPORT_HTML] = report_check_html,
};

/* Lines longer than this are hard to read, whatever the terminal's width. */
#define MAX_WIDTH 120

static unsigned int terminal_width(int fd)
{
	struct winsize ws;

	if (ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 40)
		return ws.ws_col > MAX_WIDTH ? MAX_WIDTH : ws.ws_col;
	return 80;
}

static bool locale_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

struct report_options output_options(const struct output_settings *s)
{
	bool terminal = !s->file && isatty(STDOUT_FILENO);
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	return (struct report_options){
		.width = terminal ? terminal_width(STDOUT_FILENO) : 80,
		.colour = terminal && !s->no_colour && !(no_colour && *no_colour) &&
			  term && *term && strcmp(term, "dumb") != 0,
		.utf8 = !s->ascii && locale_is_utf8(),
		.verbose = s->verbose,
		.created_ns = s->created_ns ? s->created_ns : wall_ns(),
		.tool_version = NETDOCTOR_VERSION,
	};
}

struct report_options output_terminal_options(int fd)
{
	/* One column less: a full last column wraps on some terminals. */
	return (struct report_options){ .width = terminal_width(fd) - 1, .utf8 = locale_is_utf8() };
}

static int write_all(FILE *f, const char *name, const struct text *t)
{
	if (t->failed)
		return complain(EXIT_COULD_NOT_TELL, "out of memory for the report");
	if (fwrite(t->data ? t->data : "", 1, t->len, f) != t->len || fflush(f))
		return complain(EXIT_COULD_NOT_TELL, "cannot write to %s: %s", name,
				strerror(errno));
	return 0;
}

int output_text(const struct text *t)
{
	return write_all(stdout, "standard output", t);
}

/* The folder that a file would be made in: its path up to the last slash, or ".". */
static int folder_is_writable(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : NULL;
	int rc = access(slash ? (folder ? folder : "") : ".", W_OK | X_OK);
	int saved = errno;

	free(folder);
	errno = saved;
	return rc;
}

int output_check(const struct output_settings *s)
{
	struct stat st = { .st_mode = 0 };
	int rc;

	if (!s->file)
		return 0;
	if (stat(s->file, &st))
		rc = errno == ENOENT ? folder_is_writable(s->file) : -1;
	else
		rc = access(s->file, W_OK);
	if (!rc && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		rc = -1;
	}
	return rc ? complain(EXIT_COULD_NOT_TELL, "cannot write %s: %s", s->file, strerror(errno))
		  : 0;
}

int output_report(const struct output_settings *s, const report_writer writers[REPORT_FORMATS],
		  const struct exam *e, const struct diagnosis *d)
{
	struct report_options o = output_options(s);
	struct text t = TEXT_INIT;
	int rc = writers[s->format](e, d, &o, &t);

	if (rc) {
		text_free(&t);
		return complain(EXIT_COULD_NOT_TELL, "cannot make the report: %s", strerror(-rc));
	}
	if (!s->file) {
		rc = output_text(&t);
		text_free(&t);
		return rc;
	}
	FILE *f = fopen(s->file, "we");
	if (!f)
		rc = complain(EXIT_COULD_NOT_TELL, "cannot write %s: %s", s->file, strerror(errno));
	else
		rc = write_all(f, s->file, &t);
	if (f && fclose(f) && !rc)
		rc = complain(EXIT_COULD_NOT_TELL, "cannot write %s: %s", s->file, strerror(errno));
	text_free(&t);
	return rc;
}

static enum report_format format_of_name(const char *file)
{
	static const struct { const char *ending; enum report_format format; } endings[] = {
		{ ".json", REPORT_JSON }, { ".md", REPORT_MARKDOWN },
		{ ".markdown", REPORT_MARKDOWN }, { ".html", REPORT_HTML }, { ".htm", REPORT_HTML },
	};
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(endings); i++)
		if (!strcasecmp(dot, endings[i].ending))
			return endings[i].format;
	return REPORT_TEXT;
}

int output_new_file(const struct output_settings *settings, const char *file,
		    const struct exam *e, const struct diagnosis *d, struct error *err)
{
	struct output_settings s = *settings;
	s.file = file;
	struct report_options o = output_options(&s);
	struct text t = TEXT_INIT;
	int rc = report_writers[format_of_name(file)](e, d, &o, &t);

	if (rc) {
		text_free(&t);
		return error_set(err, -rc, "cannot make the report: %s", strerror(-rc));
	}
	/* Typed in a hurry: what is there stays. */
	FILE *f = fopen(file, "wxe");
	if (!f)
		rc = error_set(err, errno, "cannot write %s: %s", file, strerror(errno));
	else if (fwrite(t.data ? t.data : "", 1, t.len, f) != t.len || fflush(f))
		rc = error_set(err, EIO, "cannot write %s: %s", file, strerror(errno));
	if (f)
		fclose(f);
	text_free(&t);
	return rc;
}

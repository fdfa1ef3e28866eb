/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/commands.h"
#include "src/cli/screen.h"

struct show_settings { struct output_settings output; bool plain; };

static const struct option_row show_options[] = {
	PLAIN_OPTION(struct show_settings),
	OUTPUT_OPTIONS(struct show_settings),
};

/* Reports of hundreds of cores and a long time take some MB. */
#define MAX_REPORT_BYTES ((size_t)256 << 20)

static int read_all(int fd, char *to, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t r = read(fd, to + got, n - got);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -EIO;
		got += (size_t)r;
	}
	return 0;
}

/* A regular file: a pipe or a device could keep us for ever. */
static int open_report(const char *file, size_t *len, struct error *err)
{
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0)
		return error_set(err, errno, "cannot read %s: %s", file, strerror(errno));
	if (fstat(fd, &st))
		rc = error_set(err, errno, "cannot read %s: %s", file, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = error_set(err, EINVAL, "cannot read %s: it is no regular file", file);
	else if ((uintmax_t)st.st_size > MAX_REPORT_BYTES)
		rc = error_set(err, E2BIG, "cannot read %s: reports have at most 256 MiB", file);
	else {
		*len = (size_t)st.st_size;
		return fd;
	}
	close(fd);
	return rc;
}

static int read_report(const char *file, char **out, size_t *len, struct error *err)
{
	int fd = open_report(file, len, err), rc;

	if (fd < 0)
		return fd;
	*out = malloc(*len + 1);
	rc = *out ? read_all(fd, *out, *len) : -ENOMEM;
	if (rc)
		error_set(err, -rc, "cannot read %s: %s", file, strerror(-rc));
	else
		(*out)[*len] = '\0';
	close(fd);
	return rc;
}

static int read_exam(const char *file, struct exam **e, uint64_t *created_ns, struct error *err)
{
	struct error why = { "" };
	char *json = NULL;
	size_t len = 0;
	int rc = read_report(file, &json, &len, err);

	if (!rc) {
		rc = report_read_json(json, len, e, created_ns, &why);
		if (rc)
			error_set(err, -rc, "%s is no report of ours: %s", file, why.text);
	}
	free(json);
	return rc;
}

static int show(const struct show_settings *s, const char *file, const struct exam *e,
		const struct diagnosis *d)
{
	bool unwanted = s->plain || s->output.file;
	struct screen *screen = screen_open(&s->output, unwanted ? SCREEN_UNWANTED : SCREEN_USUAL);

	if (!screen)
		return output_report(&s->output, report_writers, e, d);
	struct stop *stop = stop_watch();
	int rc = stop ? screen_replay(screen, stop, file, e, d) : -1;
	screen_close(screen);
	if (stop && !rc)
		return output_report(&s->output, report_writers, e, d);
	return stop ? rc : complain(EXIT_COULD_NOT_TELL, "cannot watch for Ctrl-C");
}

static int run(const struct command *self, int argc, char **argv)
{
	struct show_settings s = { 0 };
	struct diagnosis *d = NULL;
	struct exam *e = NULL;
	struct error err = { "" };
	const char *file = NULL;
	size_t n;
	int rc = options_parse(self, argc, argv, &s, &file, 1, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	if (!file)
		return complain(EXIT_USAGE, "show: which report? netdoctor show FILE");
	if (read_exam(file, &e, &s.output.created_ns, &err))
		return complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	rc = diagnose(e, &d);
	if (rc)
		rc = complain(EXIT_COULD_NOT_TELL, "cannot diagnose: %s", strerror(-rc));
	else
		rc = show(&s, file, e, d);
	if (!rc)
		rc = diagnosis_exit_code(d);
	diagnosis_free(d);
	exam_free(e);
	return rc;
}

const struct command command_show = {
	.name = "show",
	.arguments = "FILE",
	.summary = "look at a JSON report again: the screen, or its text",
	.description =
		"Shows a report that `diagnose --report json -o FILE` wrote, diagnosed by today's "
		"rules.\n"
		"On a terminal it plays the runs on the screen; elsewhere, and with --plain, it is "
		"text.",
	.options = show_options,
	.noptions = sizeof(show_options) / sizeof(show_options[0]),
	.run = run,
};

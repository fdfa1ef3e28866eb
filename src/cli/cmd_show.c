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
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;

	if (fd < 0 || fstat(fd, &st))
		rc = error_set(err, errno, "cannot read %s: %s", file, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = error_set(err, EINVAL, "cannot read %s: it is no regular file", file);
	else if ((uintmax_t)st.st_size > MAX_REPORT_BYTES)
		rc = error_set(err, E2BIG, "cannot read %s: reports have at most 256 MiB", file);
	else
		*len = (size_t)st.st_size;
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int read_report(int fd, const char *file, char **out, size_t len, struct error *err)
{
	*out = malloc(len + 1);
	int rc = *out ? read_all(fd, *out, len) : -ENOMEM;

	if (rc)
		return error_set(err, -rc, "cannot read %s: %s", file, strerror(-rc));
	(*out)[len] = '\0';
	return 0;
}

/* Takes over fd. */
static int read_exam(int fd, const char *file, size_t len, struct exam **e, uint64_t *created_ns,
		     struct error *err)
{
	struct error why = { "" };
	char *json = NULL;
	int rc = read_report(fd, file, &json, len, err);

	close(fd);
	if (!rc) {
		rc = report_read_json(json, len, e, created_ns, &why);
		if (rc)
			error_set(err, -rc, "%s is no report of ours: %s", file, why.text);
	}
	free(json);
	return rc;
}

static int replay(struct screen *screen, const char *file, const struct exam *e,
		  const struct diagnosis *d, uint64_t created_ns)
{
	struct stop *stop = stop_watch();

	if (!stop)
		return complain(EXIT_COULD_NOT_TELL, "cannot watch for Ctrl-C");
	return screen_replay(screen, stop, file, e, d, created_ns);
}

/* Takes over fd.  What is long to read is waited for on the screen. */
static int show(struct show_settings *s, int fd, const char *file, size_t len)
{
	bool unwanted = s->plain || s->output.file;
	struct screen *screen = screen_open(&s->output, unwanted ? SCREEN_UNWANTED : SCREEN_USUAL);
	struct diagnosis *d = NULL;
	struct exam *e = NULL;
	struct error err = { "" };
	int rc;

	if (screen)
		screen_say(screen, "reading %s", file);
	rc = read_exam(fd, file, len, &e, &s->output.created_ns, &err);
	if (!rc && (rc = diagnose(e, &d)))
		error_set(&err, -rc, "cannot diagnose: %s", strerror(-rc));
	if (!rc && screen)
		rc = replay(screen, file, e, d, s->output.created_ns);
	screen_close(screen);
	if (*err.text)
		rc = complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	if (!rc)
		rc = output_report(&s->output, report_writers, e, d);
	if (!rc)
		rc = diagnosis_exit_code(d);
	diagnosis_free(d);
	exam_free(e);
	return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct show_settings s = { 0 };
	struct error err = { "" };
	const char *file = NULL;
	size_t n, len = 0;
	int rc = options_parse(self, argc, argv, &s, &file, 1, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	if (!file)
		return complain(EXIT_USAGE, "show: which report? netdoctor show FILE");
	int fd = open_report(file, &len, &err);
	if (fd < 0)
		return complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	return show(&s, fd, file, len);
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

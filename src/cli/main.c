/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/options.h"

static void usage(FILE *to)
{
	fprintf(to, "netdoctor " NETDOCTOR_VERSION ": find out why a fast link is slow\n\n"
		    "Usage: netdoctor COMMAND [OPTIONS] ...\n\nCommands:\n");
	for (size_t i = 0; i < commands_count; i++) {
		const struct command *c = commands_table[i];
		char left[48];
		snprintf(left, sizeof(left), "%s%s%s", c->name, c->arguments ? " " : "",
			 c->arguments ? c->arguments : "");
		fprintf(to, "  %-24s %s\n", left, c->summary);
	}
	fprintf(to, "\nnetdoctor COMMAND --help tells more.  Start here:\n"
		    "  netdoctor serve                    on one machine; it prints the command "
		    "for the other\n"
		    "  netdoctor diagnose                 try it on this machine alone\n\n"
		    "Exit codes: 0 healthy or target met, 1 warnings, 2 critical findings, 3 could "
		    "not tell, "
		    "64 wrong usage.\n");
}

static const struct command *command_named(const char *name)
{
	for (size_t i = 0; i < commands_count; i++)
		if (!strcmp(name, commands_table[i]->name))
			return commands_table[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	return complain(EXIT_USAGE, "unknown command: %s (see netdoctor --help)", name);
}

static int help(const char *name)
{
	const struct command *c = name ? command_named(name) : NULL;

	if (name && !c)
		return unknown_command(name);
	if (c)
		command_help(c);
	else
		usage(stdout);
	return 0;
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(NULL);
	if (!strcmp(argv[1], "help"))
		return help(argv[2]);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("netdoctor " NETDOCTOR_VERSION "\n");
		return 0;
	}
	const struct command *c = command_named(argv[1]);
	return c ? c->run(c, argc - 1, argv + 1) : unknown_command(argv[1]);
}

/*
 * A closed standard descriptor would be the next socket's number, and text would go to the peer.
 * What stands in for it refuses to be written, as the closed one did.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	fill_standard_descriptors();
	/* Writing to a connection that the peer closed is an error code, not a death. */
	signal(SIGPIPE, SIG_IGN);
	int rc = run(argc, argv);
	/* Where a report is written it is flushed and complained about; this is for the rest. */
	if (fflush(stdout) && rc == 0)
		rc = complain(EXIT_COULD_NOT_TELL, "cannot write to standard output: %s",
			      strerror(errno));
	return rc;
}

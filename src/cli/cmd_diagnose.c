/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <net/if.h>
#include <string.h>

#include "src/cli/commands.h"
#include "src/cli/embedded.h"
#include "src/cli/examine.h"
#include "src/cli/output.h"
#include "src/cli/peer_options.h"
#include "src/cli/remote.h"
#include "src/cli/remote_words.h"
#include "src/cli/run_options.h"
#include "src/cli/screen.h"

struct diagnose_settings {
	struct peer_settings peer;
	struct run_settings run;
	struct output_settings output;
	bool quiet, plain;
};

static const struct option_row diagnose_options[] = {
	PEER_OPTIONS(struct diagnose_settings),
	RUN_OPTIONS(struct diagnose_settings),
	OUTPUT_OPTIONS(struct diagnose_settings),
	PLAIN_OPTION(struct diagnose_settings),
	{ .letter = 'q', .name = "quiet", .kind = OPTION_FLAG,
	  .offset = offsetof(struct diagnose_settings, quiet),
	  .help = "no screen and no progress on the terminal" },
};

/* On the screen, or with a line of progress; then the report as text. */
static int watch_and_report(const struct conduct_options *conduct,
			    const struct diagnose_settings *s, const char *peer, struct stop *stop)
{
	bool unwanted = s->plain || s->quiet;
	struct screen *screen = screen_open(&s->output, unwanted ? SCREEN_UNWANTED : SCREEN_USUAL);
	struct exam *e = NULL;
	int rc;

	if (screen)
		rc = screen_examine(screen, SCENE_DIAGNOSE, conduct, stop, peer, &e);
	else
		rc = examine(conduct, stop, s->quiet, &e);
	screen_close(screen);
	return rc ? rc : examine_report(e, &s->output);
}

/* With a far server of our own for as long as it takes, or an embedded one, or what is there. */
static int with_peer(struct conduct_options *conduct, const struct diagnose_settings *s,
		     const char *peer, struct peer_target *target)
{
	struct embedded *embedded = NULL;
	struct remote *remote = NULL;
	struct error err = { "" };
	struct stop *stop;
	int rc = 0;

	stop_hold();
	if (!peer && embedded_start(&embedded, target, &err))
		return complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	/* After the embedded peer, which needs us to have one thread. */
	stop = stop_watch();
	if (!stop)
		rc = complain(EXIT_COULD_NOT_TELL, "cannot watch for Ctrl-C");
	else if (peer && remote_is_meant(peer) &&
		 remote_start(&remote, &s->peer, peer, target, &err))
		rc = complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	conduct->target = target;
	if (!rc)
		rc = watch_and_report(conduct, s, peer, stop);
	remote_stop(remote);
	embedded_stop(embedded);
	return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct diagnose_settings s = { .run = RUN_SETTINGS_DEFAULTS };
	struct conduct_options conduct = { 0 };
	struct peer_target target = { 0 };
	const char *peer = NULL;
	char host[256];
	size_t n;
	int rc = options_parse(self, argc, argv, &s, &peer, 1, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	if (run_options_apply(&s.run, &conduct))
		return EXIT_USAGE;
	if (peer && peer_target_from(&s.peer, peer, host, sizeof(host), &target))
		return EXIT_USAGE;
	if (!peer && (s.peer.key || s.peer.key_file || s.peer.bind || s.peer.port ||
		      s.peer.data_port || s.peer.only_v4 || s.peer.only_v6 || s.peer.remote_port ||
		      s.peer.remote_command))
		return complain(EXIT_USAGE, "diagnose: --key, --key-file, --bind, --cport, --port, "
					    "-4, -6, --remote-port and --remote-command need a "
					    "PEER");
	if (s.run.iface && !if_nametoindex(s.run.iface))
		return complain(EXIT_COULD_NOT_TELL, "diagnose: no link named %s here",
				s.run.iface);
	rc = output_check(&s.output);
	return rc ? rc : with_peer(&conduct, &s, peer, &target);
}

const struct command command_diagnose = {
	.name = "diagnose",
	.arguments = "[PEER]",
	.summary = "name the cause of a slow path, with ranked fixes",
	.description =
		"Reads both machines, drives traffic between them in both directions, and names "
		"what\n"
		"limits the rate.  PEER is HOST or HOST:PORT of a running `netdoctor serve`, or\n"
		"ssh://[USER@]HOST[:PORT], where one is started for as long as it takes.  "
		"Without\n"
		"PEER an embedded peer on this machine is used: as root in private network "
		"namespaces\n"
		"joined by a veth pair, else on loopback.  Nothing on either machine is changed.",
	.options = diagnose_options,
	.noptions = sizeof(diagnose_options) / sizeof(diagnose_options[0]),
	.run = run,
};

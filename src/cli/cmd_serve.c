/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "src/cli/commands.h"
#include "src/cli/output.h"
#include "src/cli/owner.h"
#include "src/cli/peer_options.h"
#include "src/cli/serve_screen.h"
#include "src/cli/stop.h"
#include "src/exam/service.h"

struct serve_settings {
	const char *key_file, *bind, *allow, *private_key, *users;
	uint64_t port, max_sessions, max_seconds, max_rate, max_streams;
	unsigned int report;
	bool open, once, quiet, allow_iperf3, until_eof, pkcs1_padding, tui;
};

enum { SERVE_REPORT_NONE, SERVE_REPORT_TEXT, SERVE_REPORT_JSON };
static const char *const serve_report_names[] = { "none", "text", "json", NULL };

/* What on_event() has to know. */
struct serving {
	const struct serve_settings *s;
	struct owner *owner;
	struct stop *stop;
	struct serve_screen *screen;	/* NULL: there is none */
};

static const struct option_row serve_options[] = {
	{ .name = "key-file", .kind = OPTION_TEXT,
	  .offset = offsetof(struct serve_settings, key_file), .argument = "FILE",
	  .help = "take the key from the first line of FILE (-: standard input)" },
	{ .name = "open", .kind = OPTION_FLAG, .offset = offsetof(struct serve_settings, open),
	  .help = "no key: let anybody who reaches the port drive traffic" },
	{ .letter = 'B', .name = "bind", .kind = OPTION_TEXT,
	  .offset = offsetof(struct serve_settings, bind), .argument = "ADDRESS",
	  .help = "listen on this address only" },
	{ .letter = 'p', .name = "port", .kind = OPTION_NUMBER,
	  .offset = offsetof(struct serve_settings, port), .argument = "PORT",
	  .help = "listen on this port (default 5201; 0: any free one)", .max = 65535 },
	{ .letter = '1', .name = "once", .kind = OPTION_FLAG,
	  .offset = offsetof(struct serve_settings, once), .help = "end after the first client" },
	{ .name = "until-eof", .kind = OPTION_FLAG,
	  .offset = offsetof(struct serve_settings, until_eof),
	  .help = "end when standard input does: with whoever started it" },
	{ .name = "allow", .kind = OPTION_TEXT,
	  .offset = offsetof(struct serve_settings, allow), .argument = "CIDR",
	  .help = "only clients of these networks, e.g. 192.0.2.0/24,2001:db8::/32" },
	{ .name = "max-sessions", .kind = OPTION_NUMBER,
	  .offset = offsetof(struct serve_settings, max_sessions), .argument = "N",
	  .help = "clients at a time (default 8); their runs never overlap", .min = 1,
	  .max = 1000 },
	{ .name = "max-seconds", .kind = OPTION_NUMBER,
	  .offset = offsetof(struct serve_settings, max_seconds), .argument = "SECONDS",
	  .help = "longest run a client may ask for (default 120)", .min = 1,
	  .max = RUN_MAX_SECONDS },
	{ .name = "max-rate", .kind = OPTION_RATE,
	  .offset = offsetof(struct serve_settings, max_rate), .argument = "RATE",
	  .help = "most traffic of a run, e.g. 5G; those of iperf3 clients overlap", .min = 1000000,
	  .max = UINT64_C(100000000000000) },
	{ .name = "max-streams", .kind = OPTION_NUMBER,
	  .offset = offsetof(struct serve_settings, max_streams), .argument = "N",
	  .help = "most streams of a run (default 2048)", .min = 1, .max = RUN_MAX_STREAMS },
	{ .name = "allow-iperf3", .kind = OPTION_FLAG,
	  .offset = offsetof(struct serve_settings, allow_iperf3),
	  .help = "take plain iperf3 clients too, who need no key" },
	{ .name = "rsa-private-key-path", .kind = OPTION_TEXT,
	  .offset = offsetof(struct serve_settings, private_key), .argument = "FILE",
	  .help = "iperf3 clients must log in, encrypted for this key" },
	{ .name = "authorized-users-path", .kind = OPTION_TEXT,
	  .offset = offsetof(struct serve_settings, users), .argument = "FILE",
	  .help = "who may: lines of NAME,SHA256 as iperf3's" },
	{ .name = "use-pkcs1-padding", .kind = OPTION_FLAG,
	  .offset = offsetof(struct serve_settings, pkcs1_padding),
	  .help = "take logins as iperf3 before 3.17 encrypts them" },
	{ .name = "report", .kind = OPTION_CHOICE,
	  .offset = offsetof(struct serve_settings, report), .argument = "FORMAT",
	  .help = "diagnose each iperf3 client's test here: text, json",
	  .choices = serve_report_names },
	{ .letter = 'q', .name = "quiet", .kind = OPTION_FLAG,
	  .offset = offsetof(struct serve_settings, quiet),
	  .help = "no line for each client and run" },
	{ .name = "tui", .kind = OPTION_FLAG, .offset = offsetof(struct serve_settings, tui),
	  .help = "show clients and this host at work on the screen" },
};

/* An address the other side can probably use: the first global one of a link that is up. */
static void guess_own_address(char *buf, size_t cap)
{
	struct ifaddrs *list = NULL;
	bool found = false;

	buf[0] = '\0';
	if (getifaddrs(&list))
		return;
	for (int pass = 0; pass < 2 && !found; pass++) {
		for (struct ifaddrs *a = list; a && !found; a = a->ifa_next) {
			if (!a->ifa_addr || !(a->ifa_flags & IFF_UP) ||
			    (a->ifa_flags & IFF_LOOPBACK))
				continue;
			int family = pass ? AF_INET6 : AF_INET;
			if (a->ifa_addr->sa_family != family)
				continue;
			if (family == AF_INET6) {
				const struct sockaddr_in6 *six = (const void *)a->ifa_addr;
				if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
					continue;
			}
			socklen_t len = family == AF_INET ? sizeof(struct sockaddr_in)
							  : sizeof(struct sockaddr_in6);
			found = getnameinfo(a->ifa_addr, len, buf, (socklen_t)cap, NULL, 0,
					    NI_NUMERICHOST) == 0;
		}
	}
	freeifaddrs(list);
	if (!found)
		buf[0] = '\0';
}

/* Standard output is for the reports alone when a program reads them. */
static FILE *talk(const struct serve_settings *s)
{
	return s->report == SERVE_REPORT_JSON ? stderr : stdout;
}

/* The exact command for the other side. */
static void add_invitation(const struct serve_settings *s, const struct peer_key *key,
			   uint16_t port, struct text *out)
{
	char address[NI_MAXHOST], hex[2 * PEER_KEY_BYTES + 1];

	guess_own_address(address, sizeof(address));
	const char *host = s->bind ? s->bind : address[0] ? address : "127.0.0.1";
	text_printf(out,
		    "Listening on %s port %u.  On the other machine run:\n\n"
		    "  netdoctor diagnose %s",
		    s->bind ? s->bind : "all addresses,", port, host);
	if (port != PEER_DEFAULT_PORT)
		text_printf(out, " --port %u", port);
	if (s->key_file)
		text_add(out, " --key-file FILE    # a file with the same key");
	else if (!s->open) {
		peer_key_format(key, hex);
		text_printf(out, " --key %s", hex);
	}
	text_add(out, "\n\n");
	if (s->open)
		text_add(out, "WARNING: --open lets anybody who reaches this port read this "
			 "host's facts and drive traffic.\n");
	if (s->allow_iperf3 && !s->users)
		text_add(out, "WARNING: --allow-iperf3 lets anybody who reaches this port drive "
			 "traffic.\n");
}

static void on_event(void *state, enum peer_event event, const char *line)
{
	const struct serving *now = state;
	FILE *out = talk(now->s);

	if (now->owner && (event == PEER_EVENT_CLIENT || event == PEER_EVENT_TEST))
		owner_client_came(now->owner);
	if (now->owner && (event == PEER_EVENT_GONE || event == PEER_EVENT_TESTED))
		owner_client_went(now->owner);
	if (!line || serve_screen_event(now->screen, event, line) || now->s->quiet)
		return;
	fprintf(out, "%s\n", line);
	fflush(out);
}

static void add_report(const struct serve_settings *s, const struct exam *e,
		       const struct diagnosis *d, struct text *out)
{
	struct output_settings plain = { .format = REPORT_TEXT };
	struct report_options o = output_options(&plain);
	cJSON *obj;
	char *line;

	if (s->report == SERVE_REPORT_TEXT) {
		report_text(e, d, &o, out);
		return;
	}
	obj = report_to_json(e, d, &o);
	line = obj ? cJSON_PrintUnformatted(obj) : NULL;
	if (line)
		text_printf(out, "%s\n", line);
	cJSON_free(line);
	cJSON_Delete(obj);
}

/* From a thread of the server's, one at a time. */
static void on_test(void *state, const struct exam *e)
{
	struct diagnosis *d = NULL;
	struct text t = TEXT_INIT;

	if (diagnose(e, &d) == 0)
		add_report(state, e, d, &t);
	output_text(&t);
	text_free(&t);
	diagnosis_free(d);
}

/* Ctrl-C, a terminal that is gone, and an owner who is, mean now. */
static bool drains(void *state)
{
	const struct serving *now = state;

	return stop_signal(now->stop) == SIGTERM;
}

static int get_key(const struct serve_settings *s, struct peer_key *key)
{
	struct peer_settings p = { .key_file = s->key_file };

	if (s->open && s->key_file)
		return complain(-1, "serve: --open and --key-file exclude each other");
	if (s->open || s->key_file)
		return peer_key_from(&p, key);
	return peer_key_generate(key) ? complain(-1, "serve: cannot make a key") : 0;
}

/* Why these options make no sense together, NULL: they do. */
static const char *contradiction(const struct serve_settings *s)
{
	if (s->report != SERVE_REPORT_NONE && !s->allow_iperf3)
		return "--report is for the tests of iperf3 clients: it needs --allow-iperf3";
	if (s->tui && s->report != SERVE_REPORT_NONE)
		return "--tui and --report exclude each other: the screen shows each diagnosis";
	if (s->tui && s->until_eof)
		return "--tui and --until-eof exclude each other: both read standard input";
	return NULL;
}

static int serve_in_lines(struct serving *now, struct peer_server *server)
{
	struct error err = { "" };

	if (now->s->until_eof)
		now->owner = owner_watch(now->stop);
	if (now->s->until_eof && !now->owner)
		return complain(EXIT_COULD_NOT_TELL, "serve: cannot watch standard input");
	if (peer_server_run(server, stop_fd(now->stop), &err))
		return complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	return 0;
}

/* Says how to become a client, and serves. */
static int invite_and_serve(struct serving *now, struct peer_server *server,
			    const struct peer_key *key)
{
	struct text t = TEXT_INIT;
	struct error err = { "" };
	FILE *out = talk(now->s);
	int rc = 0;

	add_invitation(now->s, key, peer_server_port(server), &t);
	if (t.failed)
		rc = complain(EXIT_COULD_NOT_TELL, "serve: out of memory");
	/* With a key that somebody has already, what cannot be printed is no loss. */
	else if ((fputs(t.data, out) < 0 || fflush(out)) && !now->s->key_file && !now->s->open)
		rc = complain(EXIT_COULD_NOT_TELL, "serve: cannot write the key to standard "
			      "output: use --key-file FILE where nobody reads it");
	else if (!serve_screen_open(now->screen))
		rc = serve_in_lines(now, server);
	else if (serve_screen_run(now->screen, server, now->stop, t.data, &err))
		rc = complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	text_free(&t);
	return rc;
}

/* *out NULL: anybody may.  0 or -1, complained. */
static int get_users(const struct serve_settings *s, struct peer_users **out)
{
	const struct peer_user_files files = {
		.private_key_path = s->private_key, .users_path = s->users,
		.pkcs1_padding = s->pkcs1_padding
	};
	struct error err = { "" };

	*out = NULL;
	if (!s->private_key && !s->users && !s->pkcs1_padding)
		return 0;
	if (!s->private_key || !s->users || !s->allow_iperf3)
		return complain(-1, "serve: logins of iperf3 clients need --allow-iperf3, "
				"--rsa-private-key-path and --authorized-users-path");
	return peer_users_read(&files, out, &err) ? complain(-1, "serve: %s", err.text) : 0;
}

static int serve_with(const struct serve_settings *s, struct peer_users *users)
{
	struct serving now = { .s = s };
	struct peer_server_options o = {
		.bind_address = s->bind,
		.port = (uint16_t)s->port,
		.once = s->once,
		.max_sessions = (unsigned int)s->max_sessions,
		.max_seconds = (unsigned int)s->max_seconds,
		.max_bps = s->max_rate,
		.max_streams = (unsigned int)s->max_streams,
		.allow_iperf3 = s->allow_iperf3,
		.iperf3_users = users,
		.drains = drains,
		.on_event = on_event,
		.event_state = &now,
	};
	struct peer_server *server = NULL;
	struct error err = { "" };
	int rc = 0;

	if (contradiction(s))
		return complain(EXIT_USAGE, "serve: %s", contradiction(s));
	if (s->allow && peer_networks_parse(s->allow, o.allowed, &o.nallowed, &err))
		return complain(EXIT_USAGE, "serve: --allow: %s", err.text);
	if (get_key(s, &o.key))
		return EXIT_USAGE;
	struct stop *stop = stop_watch();
	struct exam_service *service = exam_service_new();
	if (!stop || !service) {
		exam_service_free(service);
		return complain(EXIT_COULD_NOT_TELL, "serve: out of memory");
	}
	now.stop = stop;
	stop_gracefully(stop);
	if (s->report != SERVE_REPORT_NONE)
		exam_service_on_test(service, on_test, (void *)s);
	now.screen = s->tui ? serve_screen_new(service) : NULL;
	struct peer_service callbacks = exam_service_callbacks(service);
	if (peer_server_open(&o, &callbacks, &server, &err))
		rc = complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	else
		rc = invite_and_serve(&now, server, &o.key);
	peer_server_close(server);
	exam_service_free(service);
	serve_screen_free(now.screen);
	return rc;
}

static int serve(const struct serve_settings *s)
{
	struct peer_users *users;
	int rc;

	if (get_users(s, &users))
		return EXIT_USAGE;
	rc = serve_with(s, users);
	peer_users_free(users);
	return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct serve_settings s = { .port = PEER_DEFAULT_PORT };
	size_t n;
	int rc = options_parse(self, argc, argv, &s, NULL, 0, &n);

	if (rc)
		return rc < 0 ? EXIT_USAGE : 0;
	return serve(&s);
}

const struct command command_serve = {
	.name = "serve",
	.summary = "be the peer of another machine's diagnose",
	.description =
		"Waits for clients on one TCP port, tells them about this host, and carries out "
		"this end\n"
		"of their runs.  Makes a key and prints the command for the other machine; nobody\n"
		"without the key gets in.",
	.options = serve_options,
	.noptions = sizeof(serve_options) / sizeof(serve_options[0]),
	.foreign = foreign_of_serve,
	.run = run,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "src/cli/commands.h"
#include "src/cli/peer_options.h"
#include "src/cli/stop.h"
#include "src/exam/service.h"

struct serve_settings {
	const char *key_file, *bind;
	uint64_t port, max_sessions, max_seconds, max_rate, max_streams;
	bool open, once, quiet;
};

static const struct option_row serve_options[] = {
	{ .name = "key-file", .kind = OPTION_TEXT,
	  .offset = offsetof(struct serve_settings, key_file), .argument = "FILE",
	  .help = "read the key from the first line of FILE instead of making one" },
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
	  .help = "most traffic of a run, e.g. 5G", .min = 1000000,
	  .max = UINT64_C(100000000000000) },
	{ .name = "max-streams", .kind = OPTION_NUMBER,
	  .offset = offsetof(struct serve_settings, max_streams), .argument = "N",
	  .help = "most streams of a run (default 2048)", .min = 1, .max = RUN_MAX_STREAMS },
	{ .letter = 'q', .name = "quiet", .kind = OPTION_FLAG,
	  .offset = offsetof(struct serve_settings, quiet),
	  .help = "no line for each client and run" },
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

/* The exact command for the other side. */
static void print_invitation(const struct serve_settings *s, const struct peer_key *key,
			     uint16_t port)
{
	char address[NI_MAXHOST], hex[2 * PEER_KEY_BYTES + 1];

	guess_own_address(address, sizeof(address));
	const char *host = s->bind ? s->bind : address[0] ? address : "127.0.0.1";
	printf("Listening on %s port %u.  On the other machine run:\n\n  netdoctor diagnose %s",
	       s->bind ? s->bind : "all addresses,", port, host);
	if (port != PEER_DEFAULT_PORT)
		printf(" --port %u", port);
	if (s->key_file)
		printf(" --key-file FILE    # a file with the same key");
	else if (!s->open) {
		peer_key_format(key, hex);
		printf(" --key %s", hex);
	}
	printf("\n\n");
	if (s->open)
		printf("WARNING: --open lets anybody who reaches this port read this host's facts "
		       "and drive "
		       "traffic.\n");
	fflush(stdout);
}

static void on_event(void *state, enum peer_event event, const char *line)
{
	(void)state;
	(void)event;
	printf("%s\n", line);
	fflush(stdout);
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

static int serve(const struct serve_settings *s)
{
	struct peer_server_options o = {
		.bind_address = s->bind,
		.port = (uint16_t)s->port,
		.once = s->once,
		.max_sessions = (unsigned int)s->max_sessions,
		.max_seconds = (unsigned int)s->max_seconds,
		.max_bps = s->max_rate,
		.max_streams = (unsigned int)s->max_streams,
		.on_event = s->quiet ? NULL : on_event,
	};
	struct peer_server *server = NULL;
	struct error err = { "" };
	int rc = 0;

	if (get_key(s, &o.key))
		return EXIT_USAGE;
	struct stop *stop = stop_watch();
	struct exam_service *service = exam_service_new();
	if (!stop || !service) {
		exam_service_free(service);
		return complain(EXIT_COULD_NOT_TELL, "serve: out of memory");
	}
	stop_gracefully(stop);
	struct peer_service callbacks = exam_service_callbacks(service);
	if (peer_server_open(&o, &callbacks, &server, &err)) {
		exam_service_free(service);
		return complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	}
	print_invitation(s, &o.key, peer_server_port(server));
	if (peer_server_run(server, stop_fd(stop), &err))
		rc = complain(EXIT_COULD_NOT_TELL, "%s", err.text);
	peer_server_close(server);
	exam_service_free(service);
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
	.run = run,
};

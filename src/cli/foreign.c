/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/foreign.h"

#include <stdbool.h>
#include <string.h>

#define REDIRECT "redirect the output, as in '> FILE'"
#define BACKGROUND "let the shell or systemd run it in the background"
#define STAMPS "pipe the output through ts(1)"
#define UNITS "JSON has plain numbers, bytes and bits per second; lines choose their units"
#define ALIVE "an end that is silent for 20 seconds is given up anyhow"
#define PROTOCOLS "there are TCP and UDP"

const struct foreign_option foreign_of_test[] = {
	{ .name = "version4", .same = "ipv4" },
	{ .name = "version6", .same = "ipv6" },
	{ .name = "bandwidth", .same = "bitrate" },
	{ .name = "linux-congestion", .same = "congestion" },
	{ .letter = 'V', .name = "verbose" },
	{ .name = "forceflush" },
	{ .name = "udp-counters-64bit" },
	{ .letter = 'c', .name = "client", .instead = "write the host alone: netdoctor test HOST" },
	{ .letter = 's', .name = "server", .instead = "run 'netdoctor serve'" },
	{ .letter = 'v', .name = "version", .instead = "run 'netdoctor --version'" },
	{ .letter = 'f', .name = "format", .instead = UNITS },
	{ .letter = 'T', .name = "title", .instead = "name the file of the output by it" },
	{ .name = "extra-data", .instead = "keep it beside the output, or add it with jq(1)" },
	{ .name = "logfile", .instead = REDIRECT },
	{ .name = "timestamps", .instead = STAMPS },
	{ .letter = 'I', .name = "pidfile", .instead = BACKGROUND },
	{ .letter = 'd', .name = "debug", .instead = "errors say why by themselves" },
	{ .name = "connect-timeout", .instead = "it gives up after 5 seconds without an answer" },
	{ .name = "rcv-timeout", .instead = ALIVE },
	{ .name = "snd-timeout", .instead = ALIVE },
	{ .name = "cntl-ka", .instead = ALIVE },
	{ .name = "pacing-timer", .instead = "-b RATE/BURST says how many blocks go in a row" },
	{ .name = "no-fq-socket-pacing", .instead = "without --fq-rate there is none" },
	{ .name = "dscp", .instead = "give --tos four times the DSCP: 46 (EF) is --tos 184" },
	{ .name = "bind-dev", .instead = "give --bind an address of that link" },
	{ .name = "gsro", .instead = "give --gso and --gro" },
	{ .letter = 'F', .name = "file", .instead = "data comes from memory and goes nowhere" },
	{ .name = "repeating-payload", .instead = "data are a fixed pattern, not random" },
	{ .name = "json-stream-full-output", .instead = "--json-stream ends with all sums" },
	{ .letter = 'm', .name = "mptcp", .instead = PROTOCOLS },
	{ .name = "sctp", .instead = PROTOCOLS },
	{ .letter = 'X', .name = "xbind", .instead = PROTOCOLS },
	{ .name = "nstreams", .instead = PROTOCOLS },
	{ .letter = 'D', .name = "daemon", .instead = "run 'netdoctor serve'" },
	{ .letter = '1', .name = "one-off", .instead = "run 'netdoctor serve --once'" },
	{ .name = NULL }
};

const struct foreign_option foreign_of_serve[] = {
	{ .name = "one-off", .same = "once" },
	{ .name = "server-max-duration", .same = "max-seconds" },
	{ .letter = 's', .name = "server" },
	{ .letter = 'V', .name = "verbose" },
	{ .name = "forceflush" },
	{ .letter = 'J', .name = "json", .instead = "--report json diagnoses each iperf3 client's "
	  "test; its numbers are the client's to print" },
	{ .name = "json-stream", .instead = "--report json has a line for each iperf3 client" },
	{ .letter = 'i', .name = "interval", .instead = "intervals are the client's to print" },
	{ .letter = 'D', .name = "daemon", .instead = BACKGROUND },
	{ .letter = 'I', .name = "pidfile", .instead = BACKGROUND },
	{ .name = "logfile", .instead = REDIRECT },
	{ .name = "timestamps", .instead = STAMPS },
	{ .letter = 'f', .name = "format", .instead = UNITS },
	{ .letter = 'd', .name = "debug", .instead = "errors say why by themselves" },
	{ .letter = 'v', .name = "version", .instead = "run 'netdoctor --version'" },
	{ .letter = '4', .name = "version4", .instead = "give --bind an IPv4 address" },
	{ .letter = '6', .name = "version6", .instead = "give --bind an IPv6 address" },
	{ .letter = 'c', .name = "client", .instead = "run 'netdoctor test HOST'" },
	{ .letter = 'A', .name = "affinity", .instead = "the client asks for it with -A N,M; "
	  "taskset(1) keeps all of it on some CPUs" },
	{ .name = "bind-dev", .instead = "give --bind an address of that link" },
	{ .name = "idle-timeout", .instead = "no client can hold it up; --until-eof ends it with "
	  "whoever started it" },
	{ .name = "rcv-timeout", .instead = ALIVE },
	{ .name = "server-bitrate-limit", .instead = "give --max-rate" },
	{ .name = "time-skew-threshold", .instead = "both clocks must agree within 10 seconds" },
	{ .name = NULL }
};

const struct foreign_option *foreign_find(const struct foreign_option *table, const char *word)
{
	bool is_long = strncmp(word, "--", 2) == 0;
	size_t len = is_long ? strcspn(word + 2, "=") : 0;

	for (; table && table->name; table++) {
		if (is_long && strlen(table->name) == len &&
		    strncmp(table->name, word + 2, len) == 0)
			return table;
		if (!is_long && table->letter && table->letter == word[1])
			return table;
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the traffic engine alone between two addresses, to compare its rate and
 * CPU time with other tools.  Not installed: make build/tests/bench/load_bench
 *
 *   load_bench receive PORT STREAMS SECONDS
 *   load_bench send HOST PORT STREAMS SECONDS CONGESTION_CONTROL
 *
 * Each prints its rate, the CPUs it used, bytes per call, and the share of time
 * its flows were blocked.  BLOCK=bytes sets the block size,
 * DISCARD=1 receives without copying, SEND=file and SEND=zerocopy send without.
 * UDP=1 sends datagrams, GSO=1 and GRO=1 leave cutting and merging them to the kernel,
 * RCVBUF, SNDBUF set buffers, RATE=bit/s is of each stream.
 * WARMUP=milliseconds run before they count (default 1000).
 * SAMPLE=n reads all counters n times a second, as an examination does.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/probe.h"
#include "src/core/background.h"
#include "src/core/text.h"
#include "src/load/load.h"

static int die(const char *what)
{
	fprintf(stderr, "load_bench: %s\n", what);
	return 1;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pause_seconds(double s)
{
	struct timespec t = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };

	nanosleep(&t, NULL);
}

static int listen_on(uint16_t port, int *fds, size_t n)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, (int)n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if ((fds[i] = accept(fd, NULL, NULL)) < 0)
			return -1;
	close(fd);
	return 0;
}

/* A port for each stream; who sends there first is the other end. */
static int wait_for_datagrams(uint16_t port, int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sockaddr_in a = { .sin_family = AF_INET,
					 .sin_port = htons((uint16_t)(port + i)) };
		socklen_t len = sizeof(a);
		char hello;

		fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
		if (bind(fds[i], (struct sockaddr *)&a, sizeof(a)) < 0)
			return -1;
		if (recvfrom(fds[i], &hello, 1, 0, (struct sockaddr *)&a, &len) < 0 ||
		    connect(fds[i], (struct sockaddr *)&a, len) < 0)
			return -1;
	}
	return 0;
}

static int send_datagrams_to(const char *host, uint16_t port, int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sockaddr_in a = { .sin_family = AF_INET,
					 .sin_port = htons((uint16_t)(port + i)) };

		inet_pton(AF_INET, host, &a.sin_addr);
		fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
		if (connect(fds[i], (struct sockaddr *)&a, sizeof(a)) < 0)
			return -1;
		if (send(fds[i], "", 1, 0) < 0)
			return -1;
		pause_seconds(0.01);
	}
	return 0;
}

static int connect_to(const char *host, uint16_t port, const struct run_spec *spec, int *fds,
		      size_t n, struct error *err)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, host, &a.sin_addr);
	for (size_t i = 0; i < n; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (load_prepare_socket(fds[i], spec, LOAD_SEND, err))
			return -1;
		if (connect(fds[i], (struct sockaddr *)&a, sizeof(a)) < 0)
			return -1;
	}
	return 0;
}

struct totals { double bytes, calls, blocked_us, switches, packets, lost, dropped; };

static struct totals totals_of(struct load *l)
{
	struct counters *c = counters_new(0);
	struct totals t = { 0 };

	if (c && load_sample(l, c) == 0) {
		for (size_t i = 0; i < c->nflows; i++) {
			t.bytes += (double)c->flows[i].bytes.v;
			t.calls += (double)c->flows[i].calls.v;
			t.blocked_us += (double)c->flows[i].blocked_us.v;
			t.packets += (double)c->flows[i].packets.v;
			t.lost += (double)c->flows[i].skipped.v -
				  (double)c->flows[i].out_of_order.v;
			t.dropped += (double)c->flows[i].socket_drops.v;
		}
		for (size_t i = 0; i < c->nworkers; i++)
			t.switches += (double)c->workers[i].voluntary_switches.v;
	}
	counters_free(c);
	return t;
}

/* A number in a variable. */
static uint64_t number(const char *name, uint64_t otherwise)
{
	uint64_t v;

	return getenv(name) && parse_u64(getenv(name), &v) == 0 ? v : otherwise;
}

/* Lets time pass, with samples if they are wanted. */
static void watch(struct load *l, double window)
{
	const double end = seconds(CLOCK_MONOTONIC) + window;
	const uint64_t rate = number("SAMPLE", 0);
	const struct probe_context ctx = { .peer_address = NULL };
	struct facts *facts = facts_new(0);
	struct source *src = NULL;

	background_begin();
	if (rate == 0 || !facts || source_open_live(&src) ||
	    probes_collect(src, &ctx, facts)) {
		pause_seconds(window);
	} else {
		for (uint64_t n = 1; seconds(CLOCK_MONOTONIC) < end; n++) {
			struct counters *c = counters_new(0);
			enum counter_rate kind = n % 5 ? COUNTER_EVERY_SAMPLE
						       : COUNTER_EVERY_SECOND;

			if (c && (probes_sample(src, facts, kind, c) || load_sample_in_turn(l, c)))
				fprintf(stderr, "load_bench: sample failed\n");
			counters_free(c);
			pause_seconds(1.0 / (double)rate);
		}
	}
	if (src)
		source_close(src);
	facts_free(facts);
}

static int run(const struct run_spec *spec, enum load_role role, const int *fds, double window)
{
	const struct load_config config = {
		.spec = spec, .role = role, .fds = fds, .n = spec->streams
	};
	struct error err = { "" };
	struct load *l;
	double wall, cpu, warmup = (double)number("WARMUP", 1000) / 1e3;
	struct totals before, after;

	if (load_create(&config, &l, &err) || load_start(l, &err))
		return die(err.text);
	pause_seconds(warmup);
	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	before = totals_of(l);
	watch(l, window);
	after = totals_of(l);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	if (role == LOAD_SEND)
		pause_seconds(0.2);	/* the receiver's window ends first */
	load_stop(l);
	printf("%s %.2f Gbit/s cpu %.2f bytes/call %.0f blocked %.2f sleeps/s %.0f\n",
	       role == LOAD_SEND ? "send" : "receive",
	       (after.bytes - before.bytes) * 8 / wall / 1e9, cpu / wall,
	       (after.bytes - before.bytes) / (after.calls - before.calls),
	       (after.blocked_us - before.blocked_us) / 1e6 / wall / (double)spec->streams,
	       (after.switches - before.switches) / wall);
	if (spec->protocol == RUN_UDP)
		printf("  packets/s %.0f lost %.2f %% socket drops %.0f\n",
		       (after.packets - before.packets) / wall,
		       (after.lost - before.lost) * 100 /
		       (after.lost - before.lost + after.packets - before.packets),
		       after.dropped - before.dropped);
	return 0;
}

int main(int argc, char **argv)
{
	struct run_spec spec = { .block_bytes = RUN_DEFAULT_BLOCK_BYTES, .window_ms = 1 };
	struct error err = { "" };
	const bool send = argc == 7 && strcmp(argv[1], "send") == 0;
	int fds[RUN_MAX_STREAMS];
	uint64_t port, window;

	if (!send && (argc != 5 || strcmp(argv[1], "receive") != 0))
		return die("see the comment at the top of its source");
	if (parse_u64(argv[send + 2], &port) || parse_u64(argv[send + 3], &spec.streams) ||
	    parse_u64(argv[send + 4], &window) || spec.streams > RUN_MAX_STREAMS)
		return die("not a number");
	if (getenv("BLOCK"))
		parse_u64(getenv("BLOCK"), &spec.block_bytes);
	if (getenv("UDP"))
		spec.protocol = RUN_UDP;
	if (getenv("RATE"))
		parse_u64(getenv("RATE"), &spec.rate_bps);
	spec.rcvbuf_bytes = number("RCVBUF", 0);
	spec.sndbuf_bytes = number("SNDBUF", 0);
	spec.udp_gso = getenv("GSO") != NULL;
	spec.udp_gro = getenv("GRO") != NULL;
	spec.discard_receive = getenv("DISCARD") != NULL;
	if (getenv("SEND"))
		spec.send_path = strcmp(getenv("SEND"), "file") == 0 ? RUN_SEND_FILE
								     : RUN_SEND_ZEROCOPY;
	if (!send && spec.protocol == RUN_UDP)
		return wait_for_datagrams((uint16_t)port, fds, spec.streams) ? die("bind") :
			run(&spec, LOAD_RECEIVE, fds, (double)window);
	if (!send)
		return listen_on((uint16_t)port, fds, spec.streams) ? die("listen") :
			run(&spec, LOAD_RECEIVE, fds, (double)window);
	snprintf(spec.congestion_control, sizeof(spec.congestion_control), "%s", argv[6]);
	if (spec.protocol == RUN_UDP)
		return send_datagrams_to(argv[2], (uint16_t)port, fds, spec.streams) ?
			die("connect") : run(&spec, LOAD_SEND, fds, (double)window);
	if (connect_to(argv[2], (uint16_t)port, &spec, fds, spec.streams, &err))
		return die(*err.text ? err.text : "connect");
	return run(&spec, LOAD_SEND, fds, (double)window);
}

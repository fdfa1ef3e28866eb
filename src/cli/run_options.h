/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run options: what traffic to drive; letters as in iperf3 where they mean the same. */
#ifndef ND_CLI_RUN_OPTIONS_H
#define ND_CLI_RUN_OPTIONS_H

#include "src/cli/options.h"
#include "src/exam/conduct.h"

struct run_settings {
	uint64_t streams, time_ms, warmup_ms, block_bytes, window_bytes, mss_bytes;
	uint64_t rate_bps;
	const char *congestion_control, *iface;
	uint64_t target_bps, link_speed_bps;
	bool udp, gso, gro;
	bool reverse_only, forward_only, both, latency, no_experiments;
};

/* Not on the command line. */
#define RUN_TIME_UNSET UINT64_MAX
#define RUN_RATE_UNSET UINT64_MAX

#define RUN_SETTINGS_DEFAULTS \
	{ .time_ms = RUN_TIME_UNSET, .warmup_ms = RUN_TIME_UNSET, .rate_bps = RUN_RATE_UNSET }

#define RUN_OPTIONS(type_) \
	{ .letter = 't', .name = "time", .kind = OPTION_SECONDS, \
	  .offset = offsetof(type_, run.time_ms), .argument = "SECONDS", \
	  .help = "measured seconds of each run (default 4)", .min = 500, .max = 600000 }, \
	{ .letter = 'O', .name = "omit", .kind = OPTION_SECONDS, \
	  .offset = offsetof(type_, run.warmup_ms), .argument = "SECONDS", \
	  .help = "warm-up of each run, not counted (default 1)", .max = 60000 }, \
	{ .letter = 'P', .name = "parallel", .kind = OPTION_NUMBER, \
	  .offset = offsetof(type_, run.streams), .argument = "N", \
	  .help = "streams (default: by both hosts' CPUs, 2 to 8)", .min = 1, \
	  .max = RUN_MAX_STREAMS }, \
	{ .letter = 'l', .name = "length", .kind = OPTION_SIZE, \
	  .offset = offsetof(type_, run.block_bytes), .argument = "BYTES", \
	  .help = "per send or receive call (default 128K); with -u a datagram (1448)", \
	  .min = 1, .max = RUN_MAX_BLOCK_BYTES }, \
	{ .letter = 'b', .name = "bitrate", .kind = OPTION_RATE, \
	  .offset = offsetof(type_, run.rate_bps), .argument = "RATE", \
	  .help = "of each stream, e.g. 1G (default no limit; 0: no limit)", \
	  .max = RUN_MAX_RATE_BPS }, \
	{ .letter = 'w', .name = "window", .kind = OPTION_SIZE, \
	  .offset = offsetof(type_, run.window_bytes), .argument = "BYTES", \
	  .help = "fix socket buffers (this turns the kernel's autotuning off)", .min = 1024, \
	  .max = (1U << 30) - 1 }, \
	{ .letter = 'M', .name = "set-mss", .kind = OPTION_NUMBER, \
	  .offset = offsetof(type_, run.mss_bytes), .argument = "BYTES", \
	  .help = "TCP maximum segment size", .min = 88, .max = 32767 }, \
	{ .letter = 'C', .name = "congestion", .kind = OPTION_TEXT, \
	  .offset = offsetof(type_, run.congestion_control), .argument = "ALGO", \
	  .help = "congestion control of our sockets on both ends" }, \
	{ .letter = 'u', .name = "udp", .kind = OPTION_FLAG, .offset = offsetof(type_, run.udp), \
	  .help = "UDP, not TCP; wants --bitrate" }, \
	{ .name = "gso", .kind = OPTION_FLAG, .offset = offsetof(type_, run.gso), \
	  .help = "with -u: the sender's kernel cuts large messages into datagrams" }, \
	{ .name = "gro", .kind = OPTION_FLAG, .offset = offsetof(type_, run.gro), \
	  .help = "with -u: the receiver's kernel joins datagrams" }, \
	{ .letter = 'R', .name = "reverse", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, run.reverse_only), .help = "only the peer sends" }, \
	{ .name = "forward", .kind = OPTION_FLAG, .offset = offsetof(type_, run.forward_only), \
	  .help = "only this host sends" }, \
	{ .name = "bidir", .kind = OPTION_FLAG, .offset = offsetof(type_, run.both), \
	  .help = "after each direction also both at once, to compare" }, \
	{ .name = "latency", .kind = OPTION_FLAG, .offset = offsetof(type_, run.latency), \
	  .help = "round trips of the idle path, and under load" }, \
	{ .name = "no-experiments", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, run.no_experiments), \
	  .help = "only measure; no A/B runs to prove a cause" }, \
	{ .name = "target", .kind = OPTION_RATE, .offset = offsetof(type_, run.target_bps), \
	  .argument = "RATE", .help = "the rate you need, e.g. 9.4G: reaching it is healthy", \
	  .min = 1, .max = UINT64_C(100000000000000) }, \
	{ .name = "link-speed", .kind = OPTION_RATE, \
	  .offset = offsetof(type_, run.link_speed_bps), .argument = "RATE", \
	  .help = "speed of a link that does not tell, e.g. 25G", .min = 1000000, \
	  .max = UINT64_C(100000000000000) }, \
	{ .name = "iface", .kind = OPTION_TEXT, .offset = offsetof(type_, run.iface), \
	  .argument = "NAME", .help = "also look at this link" }

/* Fills plan, wishes and links of o.  0, or -1 after a complaint. */
int run_options_apply(const struct run_settings *s, struct conduct_options *o);

#endif

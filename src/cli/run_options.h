/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run options: what traffic to drive; letters as in iperf3 where they mean the same. */
#ifndef ND_CLI_RUN_OPTIONS_H
#define ND_CLI_RUN_OPTIONS_H

#include "src/cli/options.h"
#include "src/exam/conduct.h"

struct run_settings {
	uint64_t streams, time_ms, warmup_ms, block_bytes, window_bytes, mss_bytes;
	const char *congestion_control, *iface;
	uint64_t target_bps, link_speed_bps;
	bool reverse_only, forward_only, no_experiments;
};

#define RUN_SETTINGS_DEFAULTS \
	{ .time_ms = 4000, .warmup_ms = 1000, .block_bytes = RUN_DEFAULT_BLOCK_BYTES }

#define RUN_OPTIONS(type_)                                                                         \
	{'t',                                                                                      \
	 "time",                                                                                   \
	 OPTION_SECONDS,                                                                           \
	 offsetof(type_, run.time_ms),                                                             \
	 "SECONDS",                                                                                \
	 "measured seconds of each run (default 4)",                                               \
	 500,                                                                                      \
	 600000,                                                                                   \
	 NULL},                                                                                    \
		{'O',                                                                              \
		 "omit",                                                                           \
		 OPTION_SECONDS,                                                                   \
		 offsetof(type_, run.warmup_ms),                                                   \
		 "SECONDS",                                                                        \
		 "warm-up of each run, not counted (default 1)",                                   \
		 0,                                                                                \
		 60000,                                                                            \
		 NULL},                                                                            \
		{'P',                                                                              \
		 "parallel",                                                                       \
		 OPTION_NUMBER,                                                                    \
		 offsetof(type_, run.streams),                                                     \
		 "N",                                                                              \
		 "streams (default: by both hosts' CPUs, 2 to 8)",                                 \
		 1,                                                                                \
		 RUN_MAX_STREAMS,                                                                  \
		 NULL},                                                                            \
		{'l',	      "length",                                                            \
		 OPTION_SIZE, offsetof(type_, run.block_bytes),                                    \
		 "BYTES",     "bytes per send or receive call (default 128K)",                     \
		 1,	      RUN_MAX_BLOCK_BYTES,                                                 \
		 NULL},                                                                            \
		{'w',	      "window",                                                            \
		 OPTION_SIZE, offsetof(type_, run.window_bytes),                                   \
		 "BYTES",     "fix socket buffers (this turns the kernel's autotuning off)",       \
		 1024,	      1U << 30,                                                            \
		 NULL},                                                                            \
		{'M',                                                                              \
		 "set-mss",                                                                        \
		 OPTION_NUMBER,                                                                    \
		 offsetof(type_, run.mss_bytes),                                                   \
		 "BYTES",                                                                          \
		 "TCP maximum segment size",                                                       \
		 88,                                                                               \
		 32767,                                                                            \
		 NULL},                                                                            \
		{'C',	      "congestion",                                                        \
		 OPTION_TEXT, offsetof(type_, run.congestion_control),                             \
		 "ALGO",      "congestion control of our sockets on both ends",                    \
		 0,	      0,                                                                   \
		 NULL},                                                                            \
		{'R',	      "reverse",                                                           \
		 OPTION_FLAG, offsetof(type_, run.reverse_only),                                   \
		 NULL,	      "only the peer sends",                                               \
		 0,	      0,                                                                   \
		 NULL},                                                                            \
		{0,	      "forward",                                                           \
		 OPTION_FLAG, offsetof(type_, run.forward_only),                                   \
		 NULL,	      "only this host sends",                                              \
		 0,	      0,                                                                   \
		 NULL},                                                                            \
		{0,	      "no-experiments",                                                    \
		 OPTION_FLAG, offsetof(type_, run.no_experiments),                                 \
		 NULL,	      "only measure; no A/B runs to prove a cause",                        \
		 0,	      0,                                                                   \
		 NULL},                                                                            \
		{0,	      "target",                                                            \
		 OPTION_RATE, offsetof(type_, run.target_bps),                                     \
		 "RATE",      "the rate you need, e.g. 9.4G: reaching it is healthy",              \
		 1,	      UINT64_C(100000000000000),                                           \
		 NULL},                                                                            \
		{0,	      "link-speed",                                                        \
		 OPTION_RATE, offsetof(type_, run.link_speed_bps),                                 \
		 "RATE",      "speed of a link that does not tell, e.g. 25G",                      \
		 1000000,     UINT64_C(100000000000000),                                           \
		 NULL},                                                                            \
	{                                                                                          \
		0, "iface", OPTION_TEXT, offsetof(type_, run.iface), "NAME",                       \
			"also look at this link", 0, 0, NULL                                       \
	}

/* Fills plan, wishes and links of o.  0, or -1 after a complaint. */
int run_options_apply(const struct run_settings *s, struct conduct_options *o);

#endif

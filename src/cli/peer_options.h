/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peer options: how to reach a peer, for every command that has one. */
#ifndef ND_CLI_PEER_OPTIONS_H
#define ND_CLI_PEER_OPTIONS_H

#include "src/cli/options.h"
#include "src/peer/peer.h"

struct peer_settings {
	const char *key, *key_file, *bind;
	uint64_t port;
	bool only_v4, only_v6;
};

#define PEER_OPTIONS(type_) \
	{ .name = "key", .kind = OPTION_TEXT, .offset = offsetof(type_, peer.key), \
	  .argument = "KEY", \
	  .help = "the key that serve printed; visible in process lists, see --key-file" }, \
	{ .name = "key-file", .kind = OPTION_TEXT, .offset = offsetof(type_, peer.key_file), \
	  .argument = "FILE", .help = "read the key from the first line of FILE" }, \
	{ .letter = 'p', .name = "port", .kind = OPTION_NUMBER, \
	  .offset = offsetof(type_, peer.port), .argument = "PORT", \
	  .help = "the peer's port (default 5201)", .min = 1, .max = 65535 }, \
	{ .letter = 'B', .name = "bind", .kind = OPTION_TEXT, \
	  .offset = offsetof(type_, peer.bind), .argument = "ADDRESS", \
	  .help = "our address for all connections" }, \
	{ .letter = '4', .name = "ipv4", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, peer.only_v4), .help = "IPv4 only" }, \
	{ .letter = '6', .name = "ipv6", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, peer.only_v6), .help = "IPv6 only" }

/*
 * Makes the target of PEER: host, host:port, [address]:port.  host_buffer receives the
 * host part and must outlive target.  0, or -1 after a complaint.
 */
int peer_target_from(const struct peer_settings *s, const char *peer, char *host_buffer, size_t cap,
		     struct peer_target *target);
/* --key or --key-file; without either: open.  0, or -1 after a complaint. */
int peer_key_from(const struct peer_settings *s, struct peer_key *key);

#endif

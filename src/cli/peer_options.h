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

#define PEER_OPTIONS(type_)                                                                        \
	{0,	      "key",                                                                       \
	 OPTION_TEXT, offsetof(type_, peer.key),                                                   \
	 "KEY",	      "the key that serve printed; visible in process lists, see --key-file",      \
	 0,	      0,                                                                           \
	 NULL},                                                                                    \
		{0,	      "key-file",                                                          \
		 OPTION_TEXT, offsetof(type_, peer.key_file),                                      \
		 "FILE",      "read the key from the first line of FILE",                          \
		 0,	      0,                                                                   \
		 NULL},                                                                            \
		{'p',                                                                              \
		 "port",                                                                           \
		 OPTION_NUMBER,                                                                    \
		 offsetof(type_, peer.port),                                                       \
		 "PORT",                                                                           \
		 "the peer's port (default 5201)",                                                 \
		 1,                                                                                \
		 65535,                                                                            \
		 NULL},                                                                            \
		{'B',	      "bind",                                                              \
		 OPTION_TEXT, offsetof(type_, peer.bind),                                          \
		 "ADDRESS",   "our address for all connections",                                   \
		 0,	      0,                                                                   \
		 NULL},                                                                            \
		{'4', "ipv4", OPTION_FLAG, offsetof(type_, peer.only_v4), NULL, "IPv4 only",       \
		 0,   0,      NULL},                                                               \
	{                                                                                          \
		'6', "ipv6", OPTION_FLAG, offsetof(type_, peer.only_v6), NULL, "IPv6 only", 0, 0,  \
			NULL                                                                       \
	}

/*
 * Makes the target of PEER: host, host:port, [address]:port.  host_buffer receives the
 * host part and must outlive target.  0, or -1 after a complaint.
 */
int peer_target_from(const struct peer_settings *s, const char *peer, char *host_buffer, size_t cap,
		     struct peer_target *target);
/* --key or --key-file; without either: open.  0, or -1 after a complaint. */
int peer_key_from(const struct peer_settings *s, struct peer_key *key);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peer options: how to reach a peer, for every command that has one. */
#ifndef ND_CLI_PEER_OPTIONS_H
#define ND_CLI_PEER_OPTIONS_H

#include "src/cli/options.h"
#include "src/peer/peer.h"

struct peer_settings {
	const char *key, *key_file, *bind, *remote_command;
	uint64_t port, remote_port, data_port;
	bool only_v4, only_v6;
	/* For an iperf3 server that asks who we are. */
	const char *user, *public_key;
	bool pkcs1_padding;
	char password[256];
	struct peer_login login;	/* of the three; filled by peer_target_from() */
};

#define PEER_OPTIONS(type_) \
	{ .name = "key", .kind = OPTION_TEXT, .offset = offsetof(type_, peer.key), \
	  .argument = "KEY", \
	  .help = "the key that serve printed; visible in process lists, see --key-file" }, \
	{ .name = "key-file", .kind = OPTION_TEXT, .offset = offsetof(type_, peer.key_file), \
	  .argument = "FILE", \
	  .help = "read the key from the first line of FILE; -: standard input" }, \
	{ .letter = 'p', .name = "port", .kind = OPTION_NUMBER, \
	  .offset = offsetof(type_, peer.port), .argument = "PORT", \
	  .help = "the peer's port (default 5201; with ssh:// any free one)", .min = 1, \
	  .max = 65535 }, \
	{ .name = "remote-port", .kind = OPTION_NUMBER, \
	  .offset = offsetof(type_, peer.remote_port), .argument = "PORT", \
	  .help = "with ssh://: the same as --port, which is not ssh's", .min = 1, \
	  .max = 65535 }, \
	{ .name = "remote-command", .kind = OPTION_TEXT, \
	  .offset = offsetof(type_, peer.remote_command), .argument = "PROGRAM", \
	  .help = "with ssh://: where netdoctor is there (default netdoctor)" }, \
	{ .letter = 'B', .name = "bind", .kind = OPTION_TEXT, \
	  .offset = offsetof(type_, peer.bind), .argument = "ADDRESS", \
	  .help = "our address for all connections" }, \
	{ .name = "cport", .kind = OPTION_NUMBER, .offset = offsetof(type_, peer.data_port), \
	  .argument = "PORT", \
	  .help = "our port of the first stream's data; the next has the next", .min = 1, \
	  .max = 65535 }, \
	{ .letter = '4', .name = "ipv4", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, peer.only_v4), .help = "IPv4 only" }, \
	{ .letter = '6', .name = "ipv6", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, peer.only_v6), .help = "IPv6 only" }, \
	{ .name = "username", .kind = OPTION_TEXT, .offset = offsetof(type_, peer.user), \
	  .argument = "NAME", .help = "our name at an iperf3 server that wants a login" }, \
	{ .name = "rsa-public-key-path", .kind = OPTION_TEXT, \
	  .offset = offsetof(type_, peer.public_key), .argument = "FILE", \
	  .help = "that server's public key" }, \
	{ .name = "use-pkcs1-padding", .kind = OPTION_FLAG, \
	  .offset = offsetof(type_, peer.pkcs1_padding), \
	  .help = "encrypt the login as iperf3 servers before 3.17 want it" }

/*
 * Makes the target of PEER: host, host:port, [address]:port.  host_buffer receives the
 * host part; it and s must outlive target.  Asks for a password when the settings call for one.
 * Of ssh://, which remote_start() makes a target of, only the options are checked.  0, or -1 after
 * a complaint.
 */
int peer_target_from(struct peer_settings *s, const char *peer, char *host_buffer, size_t cap,
		     struct peer_target *target);
/* --key or --key-file; without either: open.  0, or -1 after a complaint. */
int peer_key_from(const struct peer_settings *s, struct peer_key *key);

#endif

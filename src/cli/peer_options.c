/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/peer_options.h"

#include <string.h>
#include <unistd.h>

#include "src/cli/password.h"
#include "src/cli/remote_words.h"
#include "src/core/text.h"

#define IPERF3_SCHEME "iperf3://"

int peer_key_from(const struct peer_settings *s, struct peer_key *key)
{
	struct error err = { "" };

	memset(key, 0, sizeof(*key));
	if (s->key && s->key_file)
		return complain(-1, "--key and --key-file exclude each other");
	if (s->key_file && strcmp(s->key_file, "-") == 0)
		return peer_key_read(STDIN_FILENO, "-", key, &err) ? complain(-1, "%s", err.text)
								   : 0;
	if (s->key_file)
		return peer_key_read_file(s->key_file, key, &err) ? complain(-1, "%s", err.text)
								  : 0;
	if (!s->key) {
		key->open = true;
		return 0;
	}
	if (peer_key_parse(s->key, key))
		return complain(
			-1,
			"--key: not a key: want the 32 hex digits that netdoctor serve printed");
	return 0;
}

/* Splits off ":port" where that is unambiguous: "h:1", "[::1]:1"; a bare "::1" is all host. */
static int split_port(char *host, uint64_t *port)
{
	char *colon = strrchr(host, ':'), *end = NULL;

	if (host[0] == '[') {
		end = strchr(host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -1;
		colon = end[1] == ':' ? end + 1 : NULL;
		*end = '\0';
		memmove(host, host + 1, strlen(host));
	} else if (colon && strchr(host, ':') != colon) {
		return 0;
	}
	if (!colon)
		return 0;
	if (parse_u64(colon + 1, port) || *port < 1 || *port > 65535)
		return -1;
	if (!end)
		*colon = '\0';
	return 0;
}

/* *login NULL: none is wanted. */
static int get_login(struct peer_settings *s, const struct peer_login **login)
{
	*login = NULL;
	if (!s->user && !s->public_key && !s->pkcs1_padding)
		return 0;
	if (!s->user || !s->public_key)
		return complain(-1, "an iperf3 login needs both --username and "
				"--rsa-public-key-path");
	if (s->key || s->key_file)
		return complain(-1, "a login is for an iperf3 server, a key for a netdoctor: give "
				"one of them");
	if (password_get("IPERF3_PASSWORD", "iperf3 password: ", s->password, sizeof(s->password)))
		return -1;
	s->login = (struct peer_login){
		.user = s->user, .password = s->password, .public_key_path = s->public_key,
		.pkcs1_padding = s->pkcs1_padding
	};
	*login = &s->login;
	return 0;
}

static int check_remote(struct peer_settings *s, const char *peer)
{
	struct remote_address address;
	struct error err = { "" };

	if (remote_parse_address(peer, &address, &err))
		return complain(-1, "%s", err.text);
	if (s->key || s->key_file)
		return complain(-1, "ssh:// makes a key for itself: no --key and no --key-file");
	if (s->user || s->public_key || s->pkcs1_padding)
		return complain(-1, "a login is for an iperf3 server, not for ssh://");
	if (s->remote_command && !remote_command_makes_sense(s->remote_command))
		return complain(-1, "--remote-command %s: not the name of a program",
				s->remote_command);
	if (s->port && s->remote_port && s->port != s->remote_port)
		return complain(-1, "--port and --remote-port are the same thing: give one");
	if (!s->remote_port)
		s->remote_port = s->port;
	return 0;
}

int peer_target_from(struct peer_settings *s, const char *peer, char *host_buffer, size_t cap,
		     struct peer_target *target)
{
	uint64_t port = s->port ? s->port : PEER_DEFAULT_PORT;
	bool iperf3 = strncmp(peer, IPERF3_SCHEME, strlen(IPERF3_SCHEME)) == 0;

	if (iperf3)
		peer += strlen(IPERF3_SCHEME);
	if (s->only_v4 && s->only_v6)
		return complain(-1, "-4 and -6 exclude each other");
	if (remote_is_meant(peer))
		return check_remote(s, peer);
	if (s->remote_command || s->remote_port)
		return complain(-1, "--remote-command and --remote-port are for a PEER of "
				"ssh://HOST");
	if (strstr(peer, "://"))
		return complain(-1, "'%s': want HOST or HOST:PORT of a running netdoctor serve, "
				"ssh://[USER@]HOST[:PORT], or iperf3://HOST[:PORT]", peer);
	if (strlen(peer) >= cap)
		return complain(-1, "host name too long");
	memcpy(host_buffer, peer, strlen(peer) + 1);
	if (split_port(host_buffer, &port) || !host_buffer[0])
		return complain(-1, "'%s': want HOST, HOST:PORT or [ADDRESS]:PORT", peer);
	*target = (struct peer_target){
		.host = host_buffer,
		.port = (uint16_t)port,
		.bind_address = s->bind,
		.data_port = (uint16_t)s->data_port,
		.family = s->only_v4 ? AF_INET : s->only_v6 ? AF_INET6 : AF_UNSPEC,
		.dialect = iperf3 ? PEER_IPERF3 : PEER_ANY,
	};
	return peer_key_from(s, &target->key) ? -1 : get_login(s, &target->login);
}

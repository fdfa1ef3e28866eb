/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/remote_words.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "src/cli/options.h"

#define LISTENING "Listening on all addresses, port "
#define LISTENING_END ".  On the other machine run:"
#define OUR_PREFIX "netdoctor: "

/* Exit statuses: ssh's own, and those that POSIX shells give to what they cannot run. */
enum { SSH_FAILED = 255, SHELL_NOT_FOUND = 127, SHELL_NOT_EXECUTABLE = 126 };

bool remote_is_meant(const char *peer)
{
	return strncmp(peer, REMOTE_SCHEME, strlen(REMOTE_SCHEME)) == 0;
}

static bool is_plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f)
			return false;
	return true;
}

/* A part of the address: something, short enough, and no option of ssh's. */
static bool take_name(const char *s, size_t len, char out[REMOTE_MAX_NAME + 1])
{
	if (len == 0 || len > REMOTE_MAX_NAME || s[0] == '-' || !is_plain(s, len))
		return false;
	memcpy(out, s, len);
	out[len] = '\0';
	return true;
}

static bool take_port(const char *s, uint16_t *port)
{
	uint64_t v;

	if (s[0] < '0' || s[0] > '9' || parse_u64(s, &v) || v < 1 || v > 65535)
		return false;
	*port = (uint16_t)v;
	return true;
}

/* HOST, HOST:PORT, [ADDRESS], [ADDRESS]:PORT; colons without brackets are all host. */
static bool take_host(const char *s, struct remote_address *out)
{
	const char *colon = strchr(s, ':'), *end;

	if (s[0] == '[') {
		end = strchr(s, ']');
		return end && take_name(s + 1, (size_t)(end - s - 1), out->host) &&
		       (!end[1] || (end[1] == ':' && take_port(end + 2, &out->port)));
	}
	if (colon && !strchr(colon + 1, ':'))
		return take_name(s, (size_t)(colon - s), out->host) &&
		       take_port(colon + 1, &out->port);
	return take_name(s, strlen(s), out->host);
}

int remote_parse_address(const char *peer, struct remote_address *out, struct error *err)
{
	const char *s = peer + strlen(REMOTE_SCHEME), *at = strrchr(s, '@');

	memset(out, 0, sizeof(*out));
	if (at && memchr(s, ':', (size_t)(at - s)))
		return error_set(err, EINVAL, "ssh://: no password in it, please: ssh asks for one "
				 "when it needs it");
	if (strchr(s, '/') || (at && !take_name(s, (size_t)(at - s), out->user)) ||
	    !take_host(at ? at + 1 : s, out))
		return error_set(err, EINVAL, "'%s': want ssh://[USER@]HOST[:PORT]", peer);
	return 0;
}

bool remote_command_makes_sense(const char *command)
{
	for (const char *c = command; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return command[0] && command[0] != '-';
}

/* For any shell: no $'...', which not all know; what would need it has been refused. */
static void add_quoted(struct text *t, const char *s)
{
	text_add(t, "'");
	for (; *s; s++) {
		if (*s == '\'')
			text_add(t, "'\\''");
		else
			text_addn(t, s, 1);
	}
	text_add(t, "'");
}

void remote_add_command(struct text *t, const char *command, uint16_t port)
{
	/* In quotes the shell would not put the home directory in its place. */
	if (strncmp(command, "~/", 2) == 0 && command[2]) {
		text_add(t, "~/");
		command += 2;
	}
	add_quoted(t, command);
	text_printf(t, " serve --quiet --until-eof --key-file - --port %u", port);
}

bool remote_read_listening(const char *line, uint16_t *port)
{
	char digits[6];
	size_t len;

	if (strncmp(line, LISTENING, strlen(LISTENING)) != 0)
		return false;
	line += strlen(LISTENING);
	len = strspn(line, "0123456789");
	if (len == 0 || len >= sizeof(digits) || strcmp(line + len, LISTENING_END) != 0)
		return false;
	memcpy(digits, line, len);
	digits[len] = '\0';
	return take_port(digits, port);
}

bool remote_read_hostname(const char *config, char *host, size_t cap)
{
	static const char key[] = "hostname ";

	while (config) {
		size_t len = strcspn(config, "\n");

		if (strncmp(config, key, sizeof(key) - 1) == 0) {
			config += sizeof(key) - 1;
			len -= sizeof(key) - 1;
			if (len == 0 || len >= cap || !is_plain(config, len))
				return false;
			memcpy(host, config, len);
			host[len] = '\0';
			return true;
		}
		config = config[len] ? config + len + 1 : NULL;
	}
	return false;
}

/* csh has no exit status of its own for it. */
static bool is_not_found(int status, const char *last)
{
	return status == SHELL_NOT_FOUND ||
	       (status == 1 && strstr(last, "ommand not found") != NULL);
}

int remote_explain_end(const struct remote_address *a, const char *command, int status,
		       const char *last, struct error *err)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	bool ours = strncmp(last, OUR_PREFIX, strlen(OUR_PREFIX)) == 0;

	if (ours)
		last += strlen(OUR_PREFIX);
	if (code < 0)
		return error_set(err, EPIPE, "ssh to %s was ended by signal %d", a->host,
				 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (code == SSH_FAILED)
		return error_set(err, ECONNABORTED, "ssh to %s failed: %s", a->host,
				 *last ? last : "it does not say why");
	if (is_not_found(code, last))
		return error_set(err, ENOENT, "%s: no '%s' there: install netdoctor on it, or say "
				 "where it is with --remote-command", a->host, command);
	if (code == SHELL_NOT_EXECUTABLE)
		return error_set(err, EACCES, "%s: '%s' cannot be run there: %s", a->host, command,
				 *last ? last : "not permitted");
	if (code == EXIT_USAGE && ours)
		return error_set(err, EOPNOTSUPP, "%s: the netdoctor there is of another release "
				 "than this one, " NETDOCTOR_VERSION ", and refuses: %s: install "
				 "the same release on both", a->host, last);
	if (ours)
		return error_set(err, EREMOTEIO, "%s: netdoctor there: %s", a->host, last);
	return error_set(err, EPROTO, "%s: '%s' there ended with status %d before it listened%s%s: "
			 "is it netdoctor?", a->host, command, code, *last ? ": " : "", last);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said to ssh and the far shell, and what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/cli/child.h"
#include "src/cli/remote_words.h"

static void addresses(void **state)
{
	static const struct {
		const char *text, *user, *host;
		uint16_t port;
	} good[] = {
		{ .text = "ssh://h", .user = "", .host = "h" },
		{ .text = "ssh://h:22", .user = "", .host = "h", .port = 22 },
		{ .text = "ssh://me@h.example:2222", .user = "me", .host = "h.example",
		  .port = 2222 },
		{ .text = "ssh://me@[2001:db8::1]:2222", .user = "me", .host = "2001:db8::1",
		  .port = 2222 },
		{ .text = "ssh://[fe80::1%eth0]", .user = "", .host = "fe80::1%eth0" },
		{ .text = "ssh://2001:db8::1", .user = "", .host = "2001:db8::1" },
		{ .text = "ssh://me@corp@h", .user = "me@corp", .host = "h" },
	};
	static const char *const bad[] = {
		"ssh://", "ssh://@h", "ssh://me@", "ssh://:22", "ssh://h:", "ssh://h:0",
		"ssh://h:65536", "ssh://h:22x", "ssh://h: 22", "ssh://-oProxyCommand=x",
		"ssh://-l@h", "ssh://me:secret@h", "ssh://h/", "ssh://h/path", "ssh://[::1",
		"ssh://[]", "ssh://[::1]22", "ssh://[::1]:", "ssh://[-x]", "ssh://a b",
		"ssh://a\nb",
		"ssh://a\tb@h", "ssh://h\x7f"
	};
	struct remote_address a;
	struct error err;
	char longest[400] = "ssh://";

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(remote_parse_address(good[i].text, &a, &err), 0);
		assert_string_equal(a.user, good[i].user);
		assert_string_equal(a.host, good[i].host);
		assert_int_equal(a.port, good[i].port);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(remote_parse_address(bad[i], &a, &err), -EINVAL);
		assert_true(err.text[0]);
	}
	memset(longest + 6, 'h', 255);
	assert_int_equal(remote_parse_address(longest, &a, &err), 0);
	longest[6 + 255] = 'h';
	assert_int_equal(remote_parse_address(longest, &a, &err), -EINVAL);
	assert_true(remote_is_meant("ssh://"));
	assert_false(remote_is_meant("ssh:/h"));
	assert_false(remote_is_meant("iperf3://h"));
}

static void is_command(const char *command, uint16_t port, const char *want)
{
	struct text t = TEXT_INIT;

	remote_add_command(&t, command, port);
	assert_false(t.failed);
	assert_string_equal(t.data, want);
	text_free(&t);
}

#define SERVE " serve --quiet --until-eof --key-file - --port "

static void commands_are_quoted_for_any_shell(void **state)
{
	(void)state;
	is_command("netdoctor", 0, "'netdoctor'" SERVE "0");
	is_command("/opt/my $HOME/`x`", 5202, "'/opt/my $HOME/`x`'" SERVE "5202");
	is_command("it's", 0, "'it'\\''s'" SERVE "0");
	is_command("~/bin/nd", 0, "~/'bin/nd'" SERVE "0");
	is_command("~root/nd", 0, "'~root/nd'" SERVE "0");
	assert_true(remote_command_makes_sense("/a b/c"));
	assert_false(remote_command_makes_sense(""));
	assert_false(remote_command_makes_sense("-x"));
	assert_false(remote_command_makes_sense("a\nb"));
	assert_false(remote_command_makes_sense("a\033b"));
}

static void only_the_line_of_serve_is_taken(void **state)
{
	static const char *const others[] = {
		"", "Listening", "Listening on all addresses, port ",
		"Listening on all addresses, port 5201", "Listening on all addresses, port 5201.",
		"Listening on all addresses, port 0.  On the other machine run:",
		"Listening on all addresses, port 65536.  On the other machine run:",
		"Listening on all addresses, port 123456789.  On the other machine run:",
		"Listening on all addresses, port -1.  On the other machine run:",
		"Listening on all addresses, port 0x10.  On the other machine run:",
		"Listening on all addresses, port 5201.  On the other machine run: ",
		" Listening on all addresses, port 5201.  On the other machine run:",
		"Listening on 192.0.2.1 port 5201.  On the other machine run:"
	};
	uint16_t port = 0;

	(void)state;
	assert_true(remote_read_listening("Listening on all addresses, port 5201.  On the other "
					  "machine run:", &port));
	assert_int_equal(port, 5201);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(remote_read_listening(others[i], &port));
	assert_int_equal(port, 5201);
}

static void the_name_is_the_one_ssh_connects_to(void **state)
{
	char host[16];

	(void)state;
	assert_true(remote_read_hostname("user me\nhostname 192.0.2.1\nport 22\n", host,
					 sizeof(host)));
	assert_string_equal(host, "192.0.2.1");
	assert_true(remote_read_hostname("hostname h", host, sizeof(host)));
	assert_false(remote_read_hostname("", host, sizeof(host)));
	assert_false(remote_read_hostname("user hostname\nhost x\n", host, sizeof(host)));
	assert_false(remote_read_hostname("hostname \n", host, sizeof(host)));
	assert_false(remote_read_hostname("hostname a b\n", host, sizeof(host)));
	assert_false(remote_read_hostname("hostname longer-than-it-may-be\n", host, sizeof(host)));
}

static void an_end_is_explained(void **state)
{
	static const struct remote_address a = { .host = "far" };
	static const struct { int code; const char *last; int rc; const char *says; } ends[] = {
		{ .code = 255, .last = "Host key verification failed.", .rc = -ECONNABORTED,
		  .says = "ssh to far failed: Host key verification failed." },
		{ .code = 255, .last = "", .rc = -ECONNABORTED, .says = "does not say why" },
		{ .code = 127, .last = "sh: 1: nd: not found", .rc = -ENOENT,
		  .says = "no 'nd' there" },
		{ .code = 1, .last = "nd: Command not found.", .rc = -ENOENT,
		  .says = "no 'nd' there" },
		{ .code = 126, .last = "", .rc = -EACCES, .says = "cannot be run there: not per" },
		{ .code = 64, .last = "netdoctor: serve: unknown option --until-eof",
		  .rc = -EOPNOTSUPP, .says = "of another release" },
		{ .code = 64, .last = "usage: nd", .rc = -EPROTO, .says = "is it netdoctor?" },
		{ .code = 3, .last = "netdoctor: port 5201 is in use", .rc = -EREMOTEIO,
		  .says = "netdoctor there: port 5201" },
		{ .code = 0, .last = "", .rc = -EPROTO, .says = "status 0 before it listened: is" },
		{ .code = 1, .last = "a\033[2Jb", .rc = -EPROTO, .says = "a?[2Jb" },
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		assert_int_equal(remote_explain_end(&a, "nd", ends[i].code << 8, ends[i].last,
						    &err), ends[i].rc);
		assert_non_null(strstr(err.text, ends[i].says));
	}
	assert_int_equal(remote_explain_end(&a, "nd", 9, "", &err), -EPIPE);
	assert_non_null(strstr(err.text, "signal 9"));
}

static void lines_come_whole_and_bounded(void **state)
{
	static const char bytes[] = "one\r\ntwo\n\nth\0ree\nrest";
	static const char *const want[] = { "one", "two", "", "th?ree" };
	struct lines l = { .len = 0 };
	const char *line;
	size_t n = 0, used;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
		used = 0;
		line = lines_next(&l, bytes + i, 1, &used);
		assert_int_equal(used, 1);
		if (line) {
			assert_in_range(n, 0, 3);
			assert_string_equal(line, want[n++]);
		}
	}
	assert_int_equal(n, 4);
	assert_int_equal(l.total, sizeof(bytes) - 1);
	for (int i = 0; i < 1000; i++) {
		used = 0;
		assert_null(lines_next(&l, "0123456789", 10, &used));
	}
	used = 0;
	line = lines_next(&l, "\n", 1, &used);
	assert_non_null(line);
	assert_int_equal(strlen(line), sizeof(l.line) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(commands_are_quoted_for_any_shell),
		cmocka_unit_test(only_the_line_of_serve_is_taken),
		cmocka_unit_test(the_name_is_the_one_ssh_connects_to),
		cmocka_unit_test(an_end_is_explained),
		cmocka_unit_test(lines_come_whole_and_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

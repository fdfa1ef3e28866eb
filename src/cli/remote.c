/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/cli/child.h"
#include "src/cli/remote_words.h"
#include "src/core/clock.h"

enum {
	START_MS = 20000,	/* from ssh's start to the far server's; nobody is asked anything */
	START_ASKING_MS = 120000,	/* with a terminal: sshd gives that long to log in */
	CONFIG_MS = 10000,	/* ssh -G: it may resolve names and run commands of "Match exec" */
	LAST_WORDS_MS = 2000	/* from the end of ssh's output to its own */
};

struct remote {
	struct remote_address address;
	const char *command;
	struct child ssh;
	struct lines err;
	char last[400];		/* line that ssh said on standard error */
	char host[REMOTE_MAX_NAME + 1], hint[200];
	int quit_fd;		/* eventfd: the drain ends */
	pthread_t drain;
	bool draining;
};

static uint64_t now_ms(void)
{
	return monotonic_ns() / 1000000;
}

static int ms_until(uint64_t deadline_ms)
{
	uint64_t now = now_ms();

	return now >= deadline_ms ? 0 : (int)(deadline_ms - now);
}

/* ---- what to run ---- */

enum { MAX_ARGUMENTS = 40 };

struct ssh_arguments { char port[8]; char *argv[MAX_ARGUMENTS]; size_t n; };

static void add(struct ssh_arguments *a, const char *argument)
{
	/* execvp() takes them as char *, and changes nothing. */
	if (a->n < MAX_ARGUMENTS - 1)
		a->argv[a->n++] = (char *)argument;
	a->argv[a->n] = NULL;
}

static void add_destination(struct ssh_arguments *a, const struct remote *r,
			    const struct peer_settings *s)
{
	if (s->only_v4)
		add(a, "-4");
	if (s->only_v6)
		add(a, "-6");
	if (s->bind) {
		add(a, "-b");
		add(a, s->bind);
	}
	if (r->address.port) {
		snprintf(a->port, sizeof(a->port), "%u", r->address.port);
		add(a, "-p");
		add(a, a->port);
	}
	if (r->address.user[0]) {
		add(a, "-l");
		add(a, r->address.user);
	}
	add(a, "--");
	add(a, r->address.host);
}

/*
 * No terminal there, nothing forwarded, none of the user's commands for logins; a shared connection
 * may be used, but none is left behind.
 */
static void add_session_options(struct ssh_arguments *a)
{
	static const char *const options[] = {
		"-T", "-x", "-a", "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no",
		"-o", "RemoteCommand=none", "-o", "ControlMaster=no"
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		add(a, options[i]);
}

/* ---- the name ssh connects to ---- */

static size_t read_all(int fd, char *buf, size_t cap, uint64_t deadline_ms)
{
	size_t got = 0;

	while (got < cap - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, ms_until(deadline_ms)) <= 0)
			break;
		n = read(fd, buf + got, cap - 1 - got);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	buf[got] = '\0';
	return got;
}

/* An ssh too old for -G, or with a configuration it will complain of, leaves the name as it is. */
static int resolve(struct remote *r, const struct peer_settings *s)
{
	struct ssh_arguments a = { .n = 0 };
	struct child config;
	char *text = malloc(REMOTE_MAX_NOISE);
	int rc;

	if (!text)
		return -ENOMEM;
	add(&a, "ssh");
	add(&a, "-G");
	add_destination(&a, r, s);
	rc = child_start(&config, a.argv);
	if (rc == 0) {
		read_all(config.out, text, REMOTE_MAX_NOISE, now_ms() + CONFIG_MS);
		if (!remote_read_hostname(text, r->host, sizeof(r->host)))
			memcpy(r->host, r->address.host, sizeof(r->host));
		child_end(&config);
		child_close(&config);
	}
	free(text);
	return rc;
}

/* ---- starting ---- */

static void hear_errors(struct remote *r, const char *bytes, size_t n)
{
	const char *line;
	size_t used = 0;

	while ((line = lines_next(&r->err, bytes, n, &used)))
		if (*line)
			memcpy(r->last, line, strlen(line) + 1);
}

/* What stands in a pipe now; false at its end. */
static bool read_some(int *fd, char *buf, size_t cap, size_t *n)
{
	ssize_t got = read(*fd, buf, cap);

	*n = got > 0 ? (size_t)got : 0;
	if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)))
		return true;
	close(*fd);
	*fd = -1;
	return false;
}

static int no_listening(struct remote *r, struct error *err)
{
	struct pollfd p = { .fd = r->ssh.err, .events = POLLIN };
	char buf[1024];
	int status;
	size_t n;

	if (!child_ends_within(&r->ssh, LAST_WORDS_MS, &status))
		return error_set(err, EPROTO, "%s: '%s' there closed its output before it "
				 "listened: is it netdoctor?", r->address.host, r->command);
	/* A shared connection's master may hold standard error open: no waiting for its end. */
	while (p.fd >= 0 && poll(&p, 1, 0) > 0 && read_some(&r->ssh.err, buf, sizeof(buf), &n)) {
		hear_errors(r, buf, n);
		p.fd = r->ssh.err;
	}
	hear_errors(r, "\n", 1);
	return remote_explain_end(&r->address, r->command, status, r->last, err);
}

/* The far server's port, out of what it and the login before it say. */
static int wait_for_port(struct remote *r, unsigned int ms, uint16_t *port, struct error *err)
{
	uint64_t deadline_ms = now_ms() + ms;
	struct lines out = { .len = 0 };
	char buf[1024];
	size_t n;

	for (;;) {
		struct pollfd p[] = { { .fd = r->ssh.out, .events = POLLIN },
				      { .fd = r->ssh.err, .events = POLLIN } };
		int left = ms_until(deadline_ms);

		if (left == 0)
			return error_set(err, ETIMEDOUT, "ssh to %s: nothing listens there after "
					 "%u s%s%s", r->address.host, ms / 1000,
					 *r->last ? ": " : "", r->last);
		if (poll(p, 2, left) < 0 && errno != EINTR)
			return error_set(err, errno, "ssh: poll: %s", strerror(errno));
		if (p[1].revents && read_some(&r->ssh.err, buf, sizeof(buf), &n))
			hear_errors(r, buf, n);
		if (!p[0].revents)
			continue;
		if (!read_some(&r->ssh.out, buf, sizeof(buf), &n))
			return no_listening(r, err);
		const char *line;
		size_t used = 0;
		while ((line = lines_next(&out, buf, n, &used)))
			if (remote_read_listening(line, port))
				return 0;
		if (out.total > REMOTE_MAX_NOISE)
			return error_set(err, EPROTO, "%s: '%s' there says a lot, but not that it "
					 "listens: is it netdoctor?", r->address.host, r->command);
	}
}

static bool somebody_can_be_asked(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Should ssh have ended already, its output says why. */
static void hand_over(struct remote *r, const struct peer_key *key)
{
	char line[2 * PEER_KEY_BYTES + 2];

	peer_key_format(key, line);
	line[2 * PEER_KEY_BYTES] = '\n';
	if (write(r->ssh.in, line, sizeof(line) - 1) < 0) {
		close(r->ssh.in);
		r->ssh.in = -1;
	}
	explicit_bzero(line, sizeof(line));
}

static int log_in(struct remote *r, const struct peer_settings *s, const struct peer_key *key,
		  uint16_t *port, struct error *err)
{
	struct ssh_arguments a = { .n = 0 };
	struct text command = TEXT_INIT;
	unsigned int ms = somebody_can_be_asked() ? START_ASKING_MS : START_MS;
	int rc;

	add(&a, "ssh");
	add_session_options(&a);
	add_destination(&a, r, s);
	remote_add_command(&command, r->command, (uint16_t)s->remote_port);
	if (command.failed) {
		text_free(&command);
		return error_set(err, ENOMEM, "out of memory");
	}
	add(&a, command.data);
	rc = child_start(&r->ssh, a.argv);
	text_free(&command);
	if (rc)
		return error_set(err, -rc, "cannot run ssh: %s", strerror(-rc));
	hand_over(r, key);
	return wait_for_port(r, ms, port, err);
}

/* ---- while it serves ---- */

/* Reads what nobody wants to know, so that neither ssh nor the server ever waits for us. */
static void *drain(void *arg)
{
	struct remote *r = arg;
	char buf[4096];
	size_t n;

	while (r->ssh.out >= 0 || r->ssh.err >= 0) {
		struct pollfd p[] = { { .fd = r->quit_fd, .events = POLLIN },
				      { .fd = r->ssh.out, .events = POLLIN },
				      { .fd = r->ssh.err, .events = POLLIN } };

		if (poll(p, 3, -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		if (p[1].revents)
			read_some(&r->ssh.out, buf, sizeof(buf), &n);
		if (p[2].revents)
			read_some(&r->ssh.err, buf, sizeof(buf), &n);
	}
	return NULL;
}

static int start_drain(struct remote *r, struct error *err)
{
	sigset_t all, before;
	int rc;

	r->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->quit_fd < 0)
		return error_set(err, errno, "eventfd: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&r->drain, NULL, drain, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return error_set(err, rc, "no thread for ssh: %s", strerror(rc));
	r->draining = true;
	return 0;
}

int remote_start(struct remote **out, const struct peer_settings *s, const char *peer,
		 struct peer_target *target, struct error *err)
{
	struct remote *r = calloc(1, sizeof(*r));
	struct peer_key key = { .open = false };
	uint16_t port = 0;
	int rc;

	if (!r)
		return error_set(err, ENOMEM, "out of memory");
	r->quit_fd = -1;
	r->ssh = (struct child){ .pid = -1, .in = -1, .out = -1, .err = -1 };
	r->command = s->remote_command ? s->remote_command : "netdoctor";
	rc = remote_parse_address(peer, &r->address, err);
	if (rc)
		goto out;
	rc = resolve(r, s);
	if (rc == -ENOENT)
		error_set(err, ENOENT, "ssh is not installed here: install an OpenSSH client, or "
			  "start 'netdoctor serve' on %s by hand", r->address.host);
	else if (rc)
		error_set(err, -rc, "cannot run ssh: %s", strerror(-rc));
	if (!rc) {
		rc = peer_key_generate(&key);
		if (rc)
			error_set(err, -rc, "cannot make a key: %s", strerror(-rc));
	}
	if (!rc)
		rc = log_in(r, s, &key, &port, err);
	if (!rc)
		rc = start_drain(r, err);
	snprintf(r->hint, sizeof(r->hint), "netdoctor listens there, started over ssh, but TCP "
		 "port %u cannot be reached from here: open it in the firewall between, or choose "
		 "one that is open with --remote-port", port);
	*target = (struct peer_target){
		.host = r->host,
		.port = port,
		.key = key,
		.bind_address = s->bind,
		.data_port = (uint16_t)s->data_port,
		.family = s->only_v4 ? AF_INET : s->only_v6 ? AF_INET6 : AF_UNSPEC,
		.dialect = PEER_NETDOCTOR,
		.unreachable = r->hint,
	};
out:
	explicit_bzero(&key, sizeof(key));
	if (rc)
		remote_stop(r);
	else
		*out = r;
	return rc;
}

void remote_stop(struct remote *r)
{
	if (!r)
		return;
	child_end(&r->ssh);
	if (r->draining) {
		eventfd_write(r->quit_fd, 1);
		pthread_join(r->drain, NULL);
	}
	child_close(&r->ssh);
	if (r->quit_fd >= 0)
		close(r->quit_fd);
	free(r);
}

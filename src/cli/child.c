/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cli/stop.h"

enum {
	END_MS = 3000,		/* for a program whose input has closed */
	TERM_MS = 1000,		/* for one that was asked by SIGTERM */
	LOOK_MS = 10
};

struct pipes { int in[2], out[2], err[2], failed[2]; };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pipes(struct pipes *p)
{
	int *fds[] = { p->in, p->out, p->err, p->failed };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		close_fd(&fds[i][0]);
		close_fd(&fds[i][1]);
	}
}

static int open_pipes(struct pipes *p)
{
	*p = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (pipe2(p->in, O_CLOEXEC) || pipe2(p->out, O_CLOEXEC) || pipe2(p->err, O_CLOEXEC) ||
	    pipe2(p->failed, O_CLOEXEC)) {
		int rc = -errno;

		close_pipes(p);
		return rc;
	}
	return 0;
}

/* In the child, with nothing but what is safe after fork() beside other threads. */
static void become(const struct pipes *p, pid_t parent, char *const argv[])
{
	int failure;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	stop_release();
	/* The terminal sends them to all of us: the parent decides what they mean. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(p->in[0], STDIN_FILENO) >= 0 && dup2(p->out[1], STDOUT_FILENO) >= 0 &&
	    dup2(p->err[1], STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	failure = errno;
	if (write(p->failed[1], &failure, sizeof(failure)) < 0)
		_exit(2);
	_exit(1);
}

int child_start(struct child *c, char *const argv[])
{
	pid_t parent = getpid();
	struct pipes p;
	int rc = open_pipes(&p), failure = 0, status;

	*c = (struct child){ .pid = -1, .in = -1, .out = -1, .err = -1 };
	if (rc)
		return rc;
	c->pid = fork();
	if (c->pid == 0)
		become(&p, parent, argv);
	if (c->pid < 0) {
		rc = -errno;
		close_pipes(&p);
		return rc;
	}
	close_fd(&p.failed[1]);
	/* Closed by a successful execvp(). */
	while (read(p.failed[0], &failure, sizeof(failure)) < 0 && errno == EINTR)
		;
	if (failure) {
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
		c->pid = -1;
		close_pipes(&p);
		return -failure;
	}
	c->in = p.in[1];
	c->out = p.out[0];
	c->err = p.err[0];
	p.in[1] = p.out[0] = p.err[0] = -1;
	close_pipes(&p);
	return 0;
}

bool child_ends_within(struct child *c, int ms, int *status)
{
	pid_t rc = 0;

	if (c->pid < 0)
		return true;
	for (;;) {
		rc = waitpid(c->pid, status, WNOHANG);
		if (rc != 0 || ms <= 0)
			break;
		poll(NULL, 0, LOOK_MS);
		ms -= LOOK_MS;
	}
	if (rc == 0)
		return false;
	c->pid = -1;	/* may be anybody's from now on */
	return true;
}

void child_end(struct child *c)
{
	int status;

	close_fd(&c->in);
	if (!child_ends_within(c, END_MS, &status)) {
		kill(c->pid, SIGTERM);
		if (!child_ends_within(c, TERM_MS, &status)) {
			kill(c->pid, SIGKILL);
			while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
				;
			c->pid = -1;
		}
	}
}

void child_close(struct child *c)
{
	close_fd(&c->in);
	close_fd(&c->out);
	close_fd(&c->err);
}

const char *lines_next(struct lines *l, const char *bytes, size_t n, size_t *used)
{
	while (*used < n) {
		char byte = bytes[(*used)++];

		l->total++;
		if (byte == '\n') {
			if (l->len > 0 && l->line[l->len - 1] == '\r')
				l->len--;
			l->line[l->len] = '\0';
			l->len = 0;
			return l->line;
		}
		/* A NUL would hide what follows it. */
		if (l->len < sizeof(l->line) - 1)
			l->line[l->len++] = byte ? byte : '?';
	}
	return NULL;
}

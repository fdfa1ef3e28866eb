/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cli/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cli/stop.h"
#include "src/cli/veth.h"
#include "src/core/text.h"
#include "src/exam/service.h"

#define NEAR_LINK "nd0"
#define FAR_LINK "nd1"
/* RFC 5737 TEST-NET-1: never routed, and the namespaces are private anyway. */
#define NEAR_ADDRESS "192.0.2.1"
#define FAR_ADDRESS "192.0.2.2"
#define START_TIMEOUT_MS 5000

struct embedded {
	pid_t server;
	int keep_alive;		/* write end: its closing, even by our death, ends the server */
	int far_netns;		/* -1 on loopback */
};

/* What the parent tells the child, and back. */
struct pipes { int keep_alive[2], to_child[2], from_child[2]; };

static bool read_byte(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	return poll(&p, 1, timeout_ms) == 1 && read(fd, &c, 1) == 1;
}

static bool write_byte(int fd)
{
	return write(fd, "k", 1) == 1;
}

static int serve(const struct pipes *p, const struct peer_key *key, bool private_netns)
{
	struct peer_server_options o = {
		.bind_address = private_netns ? FAR_ADDRESS : "127.0.0.1",
		.port = private_netns ? PEER_DEFAULT_PORT : 0,
		.key = *key,
		.max_seconds = RUN_MAX_SECONDS,	/* the client is us */
	};
	struct exam_service *service = exam_service_new();
	struct peer_server *server = NULL;
	struct error err = { "" };

	if (!service)
		return 1;
	struct peer_service callbacks = exam_service_callbacks(service);
	if (peer_server_open(&o, &callbacks, &server, &err))
		return 1;
	uint16_t port = peer_server_port(server);
	if (write(p->from_child[1], &port, sizeof(port)) != sizeof(port))
		return 1;
	int rc = peer_server_run(server, p->keep_alive[0], &err);
	peer_server_close(server);
	exam_service_free(service);
	return rc ? 1 : 0;
}

/* The child: new namespace, wait for the veth, bring our end up, serve. */
static int child(const struct pipes *p, const struct peer_key *key, bool private_netns)
{
	close(p->keep_alive[1]);
	close(p->to_child[1]);
	close(p->from_child[0]);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_IGN); /* a Ctrl-C is for our parent, who then ends us in good order */
	stop_release();
	if (private_netns) {
		struct error err = { "" };
		if (unshare(CLONE_NEWNET) || !write_byte(p->from_child[1]) ||
		    !read_byte(p->to_child[0], START_TIMEOUT_MS) ||
		    veth_bring_up(FAR_LINK, FAR_ADDRESS, &err))
			return 1;
	}
	return serve(p, key, private_netns);
}

static int join_by_veth(struct embedded *e, const struct pipes *p, struct error *err)
{
	char path[64];

	if (!read_byte(p->from_child[0], START_TIMEOUT_MS))
		return error_set(err, EPERM,
				 "cannot make a network namespace for the embedded peer");
	struct text t = TEXT_INIT;
	text_printf(&t, "/proc/%d/ns/net", (int)e->server);
	path[0] = '\0';
	if (!t.failed && t.len < sizeof(path))
		memcpy(path, t.data, t.len + 1);
	text_free(&t);
	e->far_netns = open(path, O_RDONLY | O_CLOEXEC);
	if (e->far_netns < 0 || unshare(CLONE_NEWNET))
		return error_set(err, errno, "cannot make a network namespace: %s",
				 strerror(errno));
	int rc = veth_create(NEAR_LINK, FAR_LINK, e->server, err);
	if (!rc)
		rc = veth_bring_up(NEAR_LINK, NEAR_ADDRESS, err);
	if (!rc && !write_byte(p->to_child[1]))
		rc = error_set(err, EPIPE, "the embedded peer ended before it began");
	return rc;
}

static void close_pipes(struct pipes *p)
{
	int *fds = (int *)p;

	for (size_t i = 0; i < sizeof(*p) / sizeof(int); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int embedded_start(struct embedded **out, struct peer_target *target, struct error *err)
{
	struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	bool private_netns = geteuid() == 0;
	struct embedded *e = calloc(1, sizeof(*e));
	uint16_t port = 0;
	int rc;

	if (!e)
		return error_set(err, ENOMEM, "out of memory");
	e->far_netns = e->keep_alive = -1;
	rc = peer_key_generate(&target->key);
	if (rc || pipe2(p.keep_alive, O_CLOEXEC) || pipe2(p.to_child, O_CLOEXEC) ||
	    pipe2(p.from_child, O_CLOEXEC)) {
		rc = error_set(err, rc ? -rc : errno, "cannot prepare the embedded peer: %s",
			       strerror(rc ? -rc : errno));
		goto out;
	}
	e->server = fork();
	if (e->server == 0)
		_exit(child(&p, &target->key, private_netns));
	if (e->server < 0) {
		rc = error_set(err, errno, "cannot start the embedded peer: %s", strerror(errno));
		goto out;
	}
	e->keep_alive = p.keep_alive[1];
	p.keep_alive[1] = -1;
	close(p.from_child[1]);
	p.from_child[1] = -1;	/* so that its death reads as end of file */
	rc = private_netns ? join_by_veth(e, &p, err) : 0;
	struct pollfd ready = { .fd = p.from_child[0], .events = POLLIN };
	if (!rc && (poll(&ready, 1, START_TIMEOUT_MS) != 1 ||
		    read(p.from_child[0], &port, sizeof(port)) != sizeof(port)))
		rc = error_set(err, EIO, "the embedded peer did not start");
	target->host = private_netns ? FAR_ADDRESS : "127.0.0.1";
	target->port = port;
out:
	close_pipes(&p);
	if (rc)
		embedded_stop(e);
	else
		*out = e;
	return rc;
}

bool embedded_has_veth(const struct embedded *e)
{
	return e->far_netns >= 0;
}

const char *embedded_link(const struct embedded *e, bool far_end)
{
	if (!embedded_has_veth(e))
		return NULL;
	return far_end ? FAR_LINK : NEAR_LINK;
}

/* Namespaces belong to threads: a short-lived child enters the far one, we never leave ours. */
static int set_far_offloads(const struct embedded *e, bool on)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct error ignored;
		_exit(setns(e->far_netns, CLONE_NEWNET) ||
		      veth_set_offloads(FAR_LINK, on, &ignored));
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int embedded_set_offloads(struct embedded *e, bool on, struct error *err)
{
	if (!embedded_has_veth(e))
		return error_set(err, ENOTSUP, "no veth of our own to change");
	int rc = veth_set_offloads(NEAR_LINK, on, err);
	if (!rc && set_far_offloads(e, on))
		rc = error_set(err, EIO, "cannot change the offloads of %s", FAR_LINK);
	return rc;
}

/* True when the child has ended and was waited for: its pid may then be anybody's. */
static bool ends_within(pid_t pid, int ms)
{
	int status;
	pid_t rc = 0;

	for (; ms > 0 && rc == 0; ms -= 10) {
		rc = waitpid(pid, &status, WNOHANG);
		if (rc == 0)
			poll(NULL, 0, 10);
	}
	return rc != 0;
}

void embedded_stop(struct embedded *e)
{
	int status;

	if (!e)
		return;
	if (e->keep_alive >= 0)
		close(e->keep_alive);
	if (e->server > 0 && !ends_within(e->server, 3000)) {
		kill(e->server, SIGKILL);
		waitpid(e->server, &status, 0);
	}
	if (e->far_netns >= 0)
		close(e->far_netns);
	free(e);
}

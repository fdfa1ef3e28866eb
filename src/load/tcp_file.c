/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TCP out of the page cache: sendfile() from a file in memory that all flows share.
 * The kernel takes the file's pages as they are, so the sender copies nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>

#include "src/load/worker.h"

/* sendfile() has no MSG_DONTWAIT. */
static int open_file(struct flow *f, struct error *err)
{
	int flags = fcntl(f->fd, F_GETFL);

	if (flags < 0 || fcntl(f->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_set(err, errno, "O_NONBLOCK: %s", strerror(errno));
	return 0;
}

static enum turn send_file(struct worker *w, struct flow *f)
{
	const int file = f->common->file_fd;

	for (size_t i = 0; i < w->turn_calls; i++) {
		enum turn why = TURN_LATER;
		size_t want = flow_grant(f, w->block_bytes, &why);
		off_t at = 0;
		ssize_t n;

		if (want == 0)
			return why;
		n = sendfile(f->fd, file, &at, want);
		if (n < 0 && errno == EAGAIN)
			return TURN_WAIT;
		if (n < 0 && errno == EINTR)
			return TURN_READY;
		/* The file is sealed, so 0 would be no end of it: never try that for ever. */
		if (n <= 0)
			return worker_end_flow(w, f, n ? errno : EIO);
		flow_sent(f, (size_t)n);
		if ((size_t)n < want && !f->closing)
			return TURN_WAIT;
	}
	return TURN_READY;
}

const struct flow_ops tcp_send_file = {
	.name = "tcp_send_file",
	.events = EPOLLOUT, .end_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR,
	.open = open_file,
	.turn = send_file,
};

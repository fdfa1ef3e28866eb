/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of the live source, apart by what they talk to.  Private to
 * src/core/source_live*.c; everybody else opens it with source_open_live().
 */
#ifndef ND_CORE_SOURCE_LIVE_H
#define ND_CORE_SOURCE_LIVE_H

#include "src/core/source.h"

/* Netlink protocols are numbered below MAX_LINKS (32) in the kernel. */
#define LIVE_NETLINK_PROTOCOLS 32

/* Netlink sockets, one a protocol, opened at the first request. */
struct live_netlink {
	int fd[LIVE_NETLINK_PROTOCOLS];	/* -1: not open */
	uint32_t seq;
	unsigned char *buf;		/* one datagram */
	size_t cap;
};

void live_netlink_init(struct live_netlink *nl);
void live_netlink_close(struct live_netlink *nl);
/* See source_netlink(). */
int live_netlink_request(struct live_netlink *nl, int protocol, const void *req, size_t len,
			 struct bytes *replies);

/* One answer, while its datagrams come in. */
struct live_answer {
	struct bytes *replies;
	size_t start;		/* replies->len before this answer */
	uint32_t seq;		/* of the request */
	bool ended;		/* the ACK, an error or DONE has been seen */
	bool interrupted;	/* the tables changed during the dump */
};

/*
 * Takes the messages of one datagram of the kernel's into a->replies.  0, the errno that
 * the kernel answered, -EBADMSG (does not parse), -EFBIG, -ENOBUFS or -ENOMEM.
 */
int live_answer_take(struct live_answer *a, const unsigned char *data, size_t len);

/* *fd is the ioctl socket, opened when it is -1.  See source_ethtool(). */
int live_ethtool(int *fd, const char *ifname, void *cmd, size_t len);

#endif

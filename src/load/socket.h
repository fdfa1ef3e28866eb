/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Socket options of a flow.  Internal to src/load; load_prepare_socket() is in load.h.
 */
#ifndef ND_LOAD_SOCKET_H
#define ND_LOAD_SOCKET_H

#include <sys/socket.h>

#include "src/load/load.h"

/* What can still be set on a connected socket: not TCP_MAXSEG, not the flow label.  0 or -errno. */
int socket_set_options(int fd, const struct run_spec *spec, enum load_role role,
		       struct error *err);

#endif

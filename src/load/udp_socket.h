/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Socket options that only UDP flows need.  Internal to src/load. */
#ifndef ND_LOAD_UDP_SOCKET_H
#define ND_LOAD_UDP_SOCKET_H

#include "src/load/load.h"

/* Beyond what socket_set_options() has set for both protocols.  0 or -errno. */
int udp_set_options(int fd, const struct run_spec *spec, enum load_role role, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A veth pair of our own, for the embedded peer: the one thing netdoctor ever makes or changes
 * unasked. */
#ifndef ND_CLI_VETH_H
#define ND_CLI_VETH_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/core/error.h"

/* near_name in our network namespace, far_name in that of process far_pid.  0 or -errno. */
int veth_create(const char *near_name, const char *far_name, pid_t far_pid, struct error *err);
/* Gives a link of our namespace an IPv4 address (/24) and sets it and lo up. */
int veth_bring_up(const char *name, const char *address, struct error *err);
/* TSO, GSO and GRO of a link of our namespace. */
int veth_set_offloads(const char *name, bool on, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who may test here: the server's half of iperf3's login.  Internal to src/peer but for
 * what peer.h says of it.
 */
#ifndef ND_PEER_IPERF3_USERS_H
#define ND_PEER_IPERF3_USERS_H

#include <time.h>

#include "src/peer/peer.h"

enum { IPERF3_SKEW_S = 10 };	/* of the two clocks, either way */

/*
 * 0: this token names one of the users, with the password, at this time; name gets the user,
 * printable.  -EACCES otherwise: what exactly was wrong is nobody's business.  Any thread.
 */
int iperf3_users_check(const struct peer_users *u, const char *token, time_t now, char name[64]);

#endif

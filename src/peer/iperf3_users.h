/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who may test here: the server's half of iperf3's login.  Internal to src/peer but for
 * what peer.h says of it.
 */
#ifndef ND_PEER_IPERF3_USERS_H
#define ND_PEER_IPERF3_USERS_H

#include <time.h>

#include "src/peer/peer.h"

enum {
	IPERF3_SKEW_S = 10,		/* of the two clocks, either way */
	IPERF3_MAX_USER = 63,		/* bytes of a name that are told on */
	IPERF3_LOGINS_KEPT = 1024	/* a token is taken once; more in 20 s are refused */
};

/*
 * 0: this token names one of the users, with the password, at this time, and was not used before;
 * name gets the user, printable.  -EACCES otherwise: what exactly was wrong is nobody's business.
 * Any thread.
 */
int iperf3_users_check(struct peer_users *u, const char *token, time_t now,
		       char name[IPERF3_MAX_USER + 1]);

#endif

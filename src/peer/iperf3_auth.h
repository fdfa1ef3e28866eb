/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iperf3's login: user, password and time, encrypted with the server's RSA key.
 * Internal to src/peer.  It proves who asks for a test, and protects nothing else.
 */
#ifndef ND_PEER_IPERF3_AUTH_H
#define ND_PEER_IPERF3_AUTH_H

#include "src/peer/peer.h"

/* The token of this moment, base64, into out.  0 or -errno with the reason. */
int iperf3_auth_token(const struct peer_login *login, char *out, size_t cap, struct error *err);

#endif

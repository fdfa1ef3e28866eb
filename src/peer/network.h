/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks whose hosts a server lets in.  Pure.  Internal to src/peer, but for peer.h's part. */
#ifndef ND_PEER_NETWORK_H
#define ND_PEER_NETWORK_H

#include "src/peer/peer.h"

/* Is the numeric address (without port and zone) in one of them?  True of none given: no limit. */
bool networks_have(const struct peer_network *networks, size_t n, const char *address);

#endif

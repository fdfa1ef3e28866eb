/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an iperf3 client with --get-server-output prints of us.  Internal to src/peer. */
#ifndef ND_PEER_IPERF3_OUTPUT_H
#define ND_PEER_IPERF3_OUTPUT_H

#include "src/peer/peer.h"

/* Text that the caller frees; NULL: no memory.  Pure. */
char *iperf3_output(const struct run_spec *spec, const struct peer_results *ours,
		    const char *client);

#endif

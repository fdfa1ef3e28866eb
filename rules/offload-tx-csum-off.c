/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/offload.h"

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	offload_evaluate_sender(in, out, OFFLOAD_CHECKSUM);
}

const struct rule rule_offload_tx_csum_off = {
	.id = "offload-tx-csum-off",
	.title = "transmit checksum offload is off, and TSO with it",
	.scope = RULE_PER_SENDER,
	.reads = "tx-checksum-ip-generic, tx-checksum-ipv4 or -ipv6 of the sender's link and the "
		 "port below it; its cores and our threads under traffic; a run with half the "
		 "segment size",
	.fires_when = "none of them is on but the device has one, and a core of the sender is "
		      ">= 80 % busy, a thread of ours or all CPUs are full",
	.why = "The kernel turns scatter-gather, TSO and GSO off with the checksums: every packet "
	       "then goes through the stack by itself, copied and summed by a CPU.",
	.fix = "Turn transmit checksums on; TSO and GSO come back with them unless they were "
	       "turned off by themselves.",
	.not_when = "Turned off on purpose around a fault of a tunnel's checksums: fix that on "
		    "the tunnel's device (tx-checksum-ip-generic off) rather than on the port.",
	.references = "Linux net/core/dev.c netdev_fix_features()\n"
		      "Linux Documentation/networking/netdev-features.rst",
	.tcp = true,
	.evaluate = evaluate,
};

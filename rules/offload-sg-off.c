/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/offload.h"

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	offload_evaluate_sender(in, out, OFFLOAD_SCATTER_GATHER);
}

const struct rule rule_offload_sg_off = {
	.id = "offload-sg-off",
	.title = "scatter-gather is off, and TSO with it",
	.scope = RULE_PER_SENDER,
	.reads = "tx-scatter-gather of the sender's link and the port below it; its cores and our "
		 "threads under traffic; a run with half the segment size",
	.fires_when = "it is off but the device has it, and a core of the sender is >= 80 % busy, "
		      "a thread of ours or all CPUs are full",
	.why = "Without scatter-gather the device wants each packet in one piece: the kernel "
	       "copies it together, and turns TSO and GSO off, which need it.",
	.fix = "Turn scatter-gather on; TSO and GSO come back with it unless they were turned off "
	       "by themselves.",
	.not_when = "The checksum offload is off: then that is the root.",
	.references = "Linux net/core/dev.c netdev_fix_features()\n"
		      "Linux Documentation/networking/netdev-features.rst",
	.tcp = true,
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/offload.h"

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	offload_evaluate_sender(in, out, OFFLOAD_GSO);
}

const struct rule rule_offload_gso_off = {
	.id = "offload-gso-off",
	.title = "generic segmentation offload is off, and the sender's CPU pays for it",
	.scope = RULE_PER_SENDER,
	.reads = "tx-generic-segmentation and TSO of the sender's link and the port below it; its "
		 "cores and our threads under traffic; a run with half the segment size",
	.fires_when = "GSO and TSO are off, and a core of the sender is >= 80 % busy, a thread of "
		      "ours or all CPUs are full",
	.why = "GSO keeps up to 64 KB together until just before the driver. Without it, and "
	       "without TSO, TCP itself makes every packet and each crosses the whole stack.",
	.fix = "Turn GSO on; better, TSO as well where the device has it.",
	.not_when = "TSO is on: packets of TCP stay whole anyway.",
	.references = "Linux Documentation/networking/segmentation-offloads.rst\n"
		      "ethtool(8), -K",
	.tcp = true,
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/offload.h"

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	offload_evaluate_sender(in, out, OFFLOAD_TSO);
}

const struct rule rule_offload_tso_off = {
	.id = "offload-tso-off",
	.title = "TCP segmentation offload is off, and the sender's CPU pays for it",
	.scope = RULE_PER_SENDER,
	.reads = "tx-tcp-segmentation (tx-tcp6-segmentation) of the sender's link and the port "
		 "below it; its cores and our threads under traffic; a run with half the "
		 "segment size",
	.fires_when = "TSO is off but the device has it, and a core of the sender is >= 80 % "
		      "busy, a thread of ours or all CPUs are full (behind a veth pair: or the "
		      "receiver's); shown by experiment when half the segment size costs >= 1.15 "
		      "times the CPU per byte and lowers the rate",
	.why = "With TSO the stack passes up to 64 KB at once to the device, which cuts it into "
	       "packets. Without it every packet goes through the stack, the queueing discipline "
	       "and the driver by itself: 20 to 45 times as often.",
	.fix = "Turn TSO on (and GSO, should a device on the way lack TSO).",
	.not_when = "Devices whose driver leaves it off for a fault of the chip (r8169: transmit "
		    "timeouts): try it while you watch the kernel log. The wire is full anyway.",
	.references = "Linux Documentation/networking/segmentation-offloads.rst\n"
		      "ethtool(8), -K",
	.tcp = true,
	.evaluate = evaluate,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/tcp_static.h"
#include "rules/thresholds.h"

static void rates(const struct rule_input *in, const struct tcp_sender *s, double buffer,
		  double *low, double *high)
{
	tcp_receive_rates(in->facts, in->run, s, buffer, low, high);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_static w = {
		.member = "tcp_rmem_max", .kind = CEILING_WINDOW_RECEIVE,
		.factor = TCP_RCVBUF_FACTOR, .least = TCP_RMEM_MAX_DEFAULT, .rates = rates,
	};

	if (in->run->spec.rcvbuf_bytes || tcp_unscaled(in->run) ||
	    (in->facts && nd_u64_is(in->facts->sysctl.tcp_moderate_rcvbuf, 0))) {
		rule_not_applicable(out, "the receive buffers are not autotuned up to it");
		return;
	}
	if (in->facts) {
		w.limit = in->facts->sysctl.tcp_rmem_max;
		w.memory = tcp_receive_memory(&in->facts->sysctl);
	}
	tcp_static_evaluate(in, out, &w);
}

const struct rule rule_tcp_rmem_max_small = {
	.id = "tcp-rmem-max-small",
	.title = "tcp_rmem's maximum is too small for the path",
	.scope = RULE_PER_RECEIVER,
	.reads = "net.ipv4.tcp_rmem of the receiver, shortest round trip, line rate and PCIe of "
		 "both ends",
	.fires_when = "a round trip of 1 ms or more, over which all streams' windows from such "
		      "buffers carry < 0.9 of the path's lowest link, and the rate was below that",
	.why = "A window of rate x round trip must fit in the receive buffer, of which about half "
	       "is window. Autotuning stops at the third value of tcp_rmem.",
	.fix = "Raise the third value of net.ipv4.tcp_rmem on the receiver; new connections use "
	       "it.",
	.not_when = "Advice from arithmetic: with the window seen full it is tcp-rcvbuf-limit. "
		    "Below 1 ms the default is plenty.",
	.references = "Linux Documentation/networking/ip-sysctl.rst, tcp_rmem\n"
		      "ESnet fasterdata.es.net, host tuning",
	.tcp = true,
	.evaluate = evaluate,
};

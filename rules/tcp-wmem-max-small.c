/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/tcp_static.h"
#include "rules/thresholds.h"

static void rates(const struct rule_input *in, const struct tcp_sender *s, double buffer,
		  double *low, double *high)
{
	tcp_send_rates(in->run, s, buffer, low, high);
}

static void evaluate(const struct rule_input *in, struct rule_output *out)
{
	struct tcp_static w = {
		.member = "tcp_wmem_max", .kind = CEILING_WINDOW_SEND,
		.factor = TCP_SNDBUF_FACTOR, .least = TCP_WMEM_MAX_DEFAULT, .rates = rates,
	};

	if (in->run->spec.sndbuf_bytes) {
		rule_not_applicable(out, "the send buffers are not autotuned");
		return;
	}
	if (in->facts) {
		w.limit = in->facts->sysctl.tcp_wmem_max;
		w.memory = tcp_send_memory(&in->facts->sysctl);
	}
	tcp_static_evaluate(in, out, &w);
}

const struct rule rule_tcp_wmem_max_small = {
	.id = "tcp-wmem-max-small",
	.title = "tcp_wmem's maximum is too small for the path",
	.scope = RULE_PER_SENDER,
	.reads = "net.ipv4.tcp_wmem of the sender, shortest round trip, line rate and PCIe of both "
		 "ends",
	.fires_when = "a round trip of 1 ms or more, over which three quarters of all streams' "
		      "send buffers carry < 0.9 of the path's lowest link, and the rate was "
		      "below that",
	.why = "Sent data stays in the send buffer until it is acknowledged, a round trip later. "
	       "Autotuning stops at the third value of tcp_wmem: 4 MiB by default, which is "
	       "1.3 Gbit/s over 20 ms.",
	.fix = "Raise the third value of net.ipv4.tcp_wmem on the sender. New connections use it.",
	.not_when = "Advice from arithmetic: with the buffers seen full it is tcp-sndbuf-limit. "
		    "Below 1 ms the default is plenty.",
	.references = "Linux Documentation/networking/ip-sysctl.rst, tcp_wmem\n"
		      "ESnet fasterdata.es.net, host tuning",
	.tcp = true,
	.evaluate = evaluate,
};

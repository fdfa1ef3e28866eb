/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/softnet.h"

#include <math.h>

struct softnet_sum softnet_sum_of(const struct run_end *end)
{
	struct softnet_sum sum = { .k = ND_UNREAD };
	size_t i;

	if (!end->present || !end->window)
		return sum;
	for (i = 0; i < end->window->nsoftnet; i++) {
		const struct softnet_sample *s = &end->window->softnet[i];

		if (s->dropped.k != ND_KNOWN || s->processed.k != ND_KNOWN) {
			sum.k = s->dropped.k != ND_KNOWN ? s->dropped.k : s->processed.k;
			return sum;
		}
		sum.k = ND_KNOWN;
		sum.dropped += (double)s->dropped.v;
		sum.processed += (double)s->processed.v;
		if (s->received_rps.k == ND_KNOWN)
			sum.steered += (double)s->received_rps.v;
	}
	return sum;
}

const char *softnet_fact(struct rule_output *out, const struct run *run, enum side s,
			 const char *rest)
{
	return rule_text(out, "runs[%s].%s.softnet%s", run->id.k == ND_KNOWN ? run->id.v : "?",
			 side_word(s), rest);
}

double softnet_our_part(const struct run_end *end, const struct link_facts *port)
{
	struct softnet_sum sum = softnet_sum_of(end);
	const struct link_sample *link;

	if (sum.k != ND_KNOWN || !(sum.processed > 0) || !port || port->ifindex.k != ND_KNOWN)
		return 1;
	link = counters_link(end->window, port->ifindex.v);
	if (!link || link->rx_packets.k != ND_KNOWN)
		return 1;
	return fmin(1, (double)link->rx_packets.v / sum.processed);
}

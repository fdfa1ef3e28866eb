/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/peer/iperf3_output.h"

#include <inttypes.h>

#include "src/core/text.h"
#include "src/core/units.h"
#include "src/peer/iperf3_wire.h"

static void flow_line(struct text *t, int64_t id, const struct peer_flow_result *f, bool sends)
{
	char rate[48];

	format_rate(f->seconds > 0 ? (double)f->bytes * 8 / f->seconds : 0, rate, sizeof(rate));
	text_printf(t, "[%3" PRId64 "] 0.00-%.2f sec  %" PRIu64 " bytes  %s", id, f->seconds,
		    f->bytes, rate);
	if (sends && f->retransmits >= 0)
		text_printf(t, "  %" PRId64 " retransmits", f->retransmits);
	text_printf(t, "  %s\n", sends ? "sender" : "receiver");
}

char *iperf3_output(const struct run_spec *spec, const struct peer_results *ours,
		    const char *client)
{
	struct text t = TEXT_INIT;

	text_printf(&t, "netdoctor " NETDOCTOR_VERSION ", test with %s\n", client);
	for (size_t i = 0; i < ours->nflows; i++)
		flow_line(&t, iperf3_stream_id(i), &ours->flows[i],
			  run_flow_role(spec, run_server_role(spec), i) == LOAD_SEND);
	if (!t.failed)
		return t.data;
	text_free(&t);
	return NULL;
}

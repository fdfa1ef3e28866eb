/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/exam/suspicion.h"

#include <string.h>

/* Below this a path counts as stalled: a black hole passes a few small segments. */
#define STALLED_BPS 2e6
#define BUSY 0.85

bool suspect_large_packets(const struct run *r)
{
	const struct run_end *sender = &r->ends[run_sender(r->spec.direction)];
	struct nd_u64 mss = END_FLOW_MIN(sender, snd_mss);
	struct nd_u64 pmtu = END_FLOW_MIN(sender, pmtu);
	bool large = (mss.k == ND_KNOWN && mss.v > PLAN_SMALL_MSS) ||
		     (pmtu.k == ND_KNOWN && pmtu.v > PLAN_SMALL_MSS + 60);
	bool stalled = r->goodput_bps.k == ND_KNOWN && (double)r->goodput_bps.v < STALLED_BPS;

	return large && stalled && !r->spec.mss_bytes;
}

const char *suspect_congestion_control(const struct exam *e, const struct run *r,
				       const struct run_end *sender)
{
	const struct facts *f = e->facts[run_sender(r->spec.direction)];
	const char *now = end_congestion_control(sender);

	if (!now || !f || f->sysctl.tcp_available_congestion_control.k != ND_KNOWN)
		return NULL;
	if (!strcmp(now, "cubic") || !strcmp(now, "reno"))
		return NULL;	/* loss-based already */
	/* Without CAP_NET_ADMIN a socket may only take what the host allows everyone. */
	struct nd_str list = nd_is_true(f->host.net_admin)
				     ? f->sysctl.tcp_available_congestion_control
				     : f->sysctl.tcp_allowed_congestion_control;
	if (list.k != ND_KNOWN)
		return NULL;
	if (strstr(list.v, "cubic"))
		return "cubic";
	return strstr(list.v, "reno") ? "reno" : NULL;
}

static bool saturated(const struct run_end *end)
{
	struct nd_f64 worker = end_busiest_worker(end);
	const struct core_load *hot = end_hot_core(end);

	return (worker.k == ND_KNOWN && worker.v >= BUSY) || (hot && hot->busy.v >= BUSY);
}

static bool is_off(const struct exam *e, enum side side, const char *feature)
{
	const struct link_facts *link = exam_egress(e, side);

	return link && nd_is_false(facts_feature_active(e->facts[side], link->ifindex.v, feature));
}

bool suspect_packet_cost(const struct exam *e, const struct run *r)
{
	static const char *const sender_helpers[] = {
		"tx-tcp-segmentation", "tx-generic-segmentation", "tx-checksum-ip-generic",
		"tx-scatter-gather",
	};
	enum side tx = run_sender(r->spec.direction), rx = run_receiver(r->spec.direction);
	const struct link_facts *port = exam_port(e, rx);
	bool off = false;

	for (size_t i = 0; i < ARRAY_SIZE(sender_helpers); i++)
		off |= is_off(e, tx, sender_helpers[i]);
	/* Between virtual links packets arrive as large as they were sent: no GRO needed. */
	if (off || (port && nd_str_is(port->kind, "physical")))
		off |= is_off(e, rx, "rx-gro");
	return off && (saturated(&r->ends[SIDE_LOCAL]) || saturated(&r->ends[SIDE_PEER]));
}

bool suspect_receive_copy(const struct run *r)
{
	struct nd_f64 worker = end_busiest_worker(&r->ends[run_receiver(r->spec.direction)]);

	return worker.k == ND_KNOWN && worker.v >= 0.9;
}
